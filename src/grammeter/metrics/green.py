"""GREEN: n-grams that were rightly kept, inserted and deleted, against those that were not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt

from grammeter.alignment import Batch, Shared, Unit, ngrams
from grammeter.core import FloatArray, IntArray, Segment, SegmentScores, Statistics, f_fraction
from grammeter.metrics import base, kinds


@dataclass(frozen=True, kw_only=True)
class Green(kinds.SumScore):
    """GREEN, an F-measure over n-grams of source, hypothesis and reference; 0 to 1.

    - ``order``: the longest n-grams; precision and recall are geometric means over orders 1 to
      ``order``.
    - ``beta``: recall weighs ``beta`` times as much as precision.
    - ``empty``: precision and recall of an order without n-grams: ``authors``, 1 and 0, as the
      authors' program has it; ``one``, both 1, and among references with equal F the first is
      chosen.
    - ``unit``: ``word``, ``char`` (the whole line's code points, spaces included) or ``grapheme``
      (what readers take for its characters, whatever marks they have).
    """

    name = "green"
    bounds = (0.0, 1.0)
    title = (
        "F-measure of n-grams kept, deleted and inserted as in the reference (Koyama et al. 2024)"
    )
    needs = "texts"
    citation = base.cited("koyama-etal-2024-n-gram")

    after_counting = ("beta", "empty")

    order: base.Positive = 4
    beta: Annotated[float, base.Limit("Use more than 0.", above=0)] = 2.0
    empty: Literal["authors", "one"] = "authors"
    unit: Unit = "word"

    def settings(self) -> dict[str, object]:
        """Return the tokenisation."""
        return {"tok": ngrams.described(self.unit, strip=False)}

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Count n-grams against each reference.

        Columns are ``tp1 fp1 fn1 tp2 ...`` by order: kept, deleted or inserted as in the
        reference; deleted or inserted against it; to be deleted or inserted, but not.
        """
        present = ngrams.reference_slots(segments)
        rows = np.zeros((*present.shape, 3 * self.order), dtype=np.int64)
        for batch in ngrams.batches(segments, unit=self.unit, strip=False):
            by_order = enumerate(batch.by_order(self.order), 1)
            counts = [_counts(batch, shared, order) for order, shared in by_order]
            rows[batch.rows] = np.concatenate(counts, axis=-1)
        rows[~present] = 0
        columns = [f"{kind}{n}" for n in range(1, self.order + 1) for kind in ("tp", "fp", "fn")]
        return kinds.of_references(rows, present, columns)

    def parts(self, sums: FloatArray) -> dict[str, float]:
        """Return precision and recall over all orders, each segment's best reference chosen."""
        precision, recall = self._means(sums)
        return {"precision": precision[-1].item(), "recall": recall[-1].item()}

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Score each segment alone, against its best reference; parts ``precision recall``."""
        counts = self.summands(statistics)
        precision, recall = self._means(counts)
        parts = {"precision": precision[..., -1], "recall": recall[..., -1]}
        chosen, reason = self._chosen(statistics), ngrams.gap(statistics.present)
        return SegmentScores(self.value_of(counts), chosen, parts, reason)

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return the counts against the chosen reference; NaN where a segment has none."""
        return kinds.pick(statistics.rows, self._chosen(statistics))

    def value_of(self, sums: FloatArray) -> FloatArray:
        """Return the F-measure of summed counts."""
        return self._f(sums)[..., -1]

    def _ratios(self, sums: npt.NDArray[np.number]) -> tuple[FloatArray, FloatArray]:
        """Return precision and recall by order: shape ``(..., k)`` to two of ``(..., order)``."""
        tp, fp, fn = (np.asarray(sums[..., kind::3], dtype=np.float64) for kind in range(3))
        recall = 1.0 if self.empty == "one" else 0.0
        return kinds.ratio(tp, tp + fp, 1.0), kinds.ratio(tp, tp + fn, recall)

    def _means(self, sums: npt.NDArray[np.number]) -> tuple[FloatArray, FloatArray]:
        """Return geometric means of precision and recall over orders 1, 1 to 2, 1 to 3 ..."""
        precision, recall = self._ratios(sums)
        root = 1.0 / np.arange(1, self.order + 1)
        return np.cumprod(precision, axis=-1) ** root, np.cumprod(recall, axis=-1) ** root

    def _f(self, sums: npt.NDArray[np.number]) -> FloatArray:
        """Return F of orders 1, 1 to 2 ...: ``(..., k)`` to ``(..., order)``; exact for order 1."""
        precision, recall = self._means(sums)
        share = 1.0 / (1.0 + self.beta**2)
        undefined = (precision == 0) | (recall == 0)
        below = share / np.where(undefined, 1.0, precision)
        below += (1.0 - share) / np.where(undefined, 1.0, recall)
        f = np.where(undefined, 0.0, 1.0 / below)
        tp, fp, fn = (np.asarray(sums[..., kind], dtype=np.float64) for kind in range(3))
        above, below = f_fraction(tp, tp + fp, tp + fn, self.beta)
        f[..., 0] = np.divide(above, below, out=f[..., 0].copy(), where=below != 0)
        return f

    def _chosen(self, statistics: Statistics) -> IntArray:
        """Choose slots by greatest F, then F of fewer orders, then the first; -1: none present."""
        f = self._f(statistics.rows)
        chosen = np.full(len(statistics), -1, dtype=np.int64)
        best = np.full((len(statistics), self.order), -1.0)
        levels = range(self.order) if self.empty == "authors" else [self.order - 1]
        for slot in range(statistics.slots):
            better = np.zeros(len(statistics), dtype=np.bool_)
            for level in levels:  # the last one, the longest, has the last word
                ours, theirs = f[:, slot, level], best[:, level]
                better = (ours > theirs) | ((ours == theirs) & better)
            better &= statistics.present[:, slot]
            chosen[better], best[better] = slot, f[better, slot]
        return chosen


def _counts(batch: Batch, shared: Shared, order: int) -> IntArray:
    """Count ``tp fp fn`` of one order, from what two or all texts share: ``(segments, slots, 3)``.

    Of the n-grams s, c and r of source, hypothesis and reference, those rightly kept are src, those
    rightly deleted s - sr - sc + src, rightly inserted rc - src; and so on.
    """
    in_source = shared.before < shared.source
    src, sr, rc = (np.zeros_like(batch.lengths[:, 1:-1]) for _ in range(3))
    for slot, in_reference in enumerate(shared.before < shared.references):
        src[:, slot] = shared.total(in_source & in_reference)
        sr[:, slot], rc[:, slot] = shared.total(in_reference, 0), shared.total(in_reference)
    sizes = np.maximum(batch.lengths + 1 - order, 0)
    s, r, c = sizes[:, :1], sizes[:, 1:-1], sizes[:, -1:]
    sc = shared.total(in_source)[:, None]
    return np.stack([s - sr - sc + rc + src, sr + c - sc - rc, sc + r - sr - rc], axis=-1)
