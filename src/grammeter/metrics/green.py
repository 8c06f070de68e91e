"""GREEN: n-grams that were rightly kept, inserted and deleted, against those that were not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from grammeter.alignment import Batch, Shared, Unit, ngrams
from grammeter.core import (
    Explanation,
    FloatArray,
    Grid,
    IntArray,
    Segment,
    SegmentScores,
    Statistics,
    f_fraction,
)
from grammeter.metrics.base import Needs, SumScore, ratio

REGIONS = ("TK", "TD", "TI", "OD", "OI", "UD", "UI")
"""Truly kept, deleted, inserted; over-deleted, over-inserted; under-deleted, under-inserted."""

_TOKENS = {"word": "whitespace", "char": "characters of the line"}


@dataclass(frozen=True, kw_only=True)
class Green(SumScore):
    """GREEN, an F-measure over n-grams of source, hypothesis and reference; 0 to 1.

    Attributes
    ----------
    order
        The longest n-grams; precision and recall are geometric means over orders 1 to ``order``.
    beta
        Recall weighs ``beta`` times as much as precision.
    empty
        Precision and recall of an order without n-grams: ``authors``, 1 and 0, as the authors'
        program has it; ``one``, both 1, and among references with equal F the first is chosen.
    unit
        ``word`` or ``char``; characters are those of the whole line, spaces included.
    """

    name: ClassVar[str] = "green"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    title: ClassVar[str] = (
        "F-measure of n-grams kept, deleted and inserted as in the reference (Koyama et al. 2024)"
    )
    needs: ClassVar[Needs] = "texts"
    citation: ClassVar[str] = """\
@inproceedings{koyama-etal-2024-n-gram,
    title = "n-gram {F}-score for Evaluating Grammatical Error Correction",
    author = "Koyama, Shota and Nagata, Ryo and Takamura, Hiroya and Okazaki, Naoaki",
    booktitle = "Proceedings of the 17th International Natural Language Generation Conference",
    year = "2024",
    pages = "303--313",
}"""

    after_counting: ClassVar[tuple[str, ...]] = ("beta", "empty")

    order: int = 4
    beta: float = 2.0
    empty: Literal["authors", "one"] = "authors"
    unit: Unit = "word"

    def check_fields(self) -> None:
        """Refuse an order below 1 and a beta that is not above 0."""
        self.refuse_unless(self.order >= 1, "order", fix="Use 1 or more.")
        self.refuse_unless(0 < self.beta < float("inf"), "beta", fix="Use more than 0.")

    def settings(self) -> dict[str, object]:
        """Return the tokenisation."""
        return {"tok": _TOKENS[self.unit]}

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Count n-grams against each reference.

        Columns are ``tp1 fp1 fn1 tp2 ...`` by order: kept, deleted or inserted as in the
        reference; deleted or inserted against it; to be deleted or inserted, but not. Whole
        numbers.
        """
        regions = self.regions(segments)
        counts = np.stack(
            [regions[..., :3].sum(-1), regions[..., 3:5].sum(-1), regions[..., 5:].sum(-1)], axis=-1
        )
        rows = counts.reshape(*counts.shape[:2], 3 * self.order)
        present = ngrams.reference_slots(segments)
        columns = [f"{kind}{n}" for n in range(1, self.order + 1) for kind in ("tp", "fp", "fn")]
        return Statistics(rows, present, tuple(range(present.shape[1])), tuple(columns))

    def regions(self, segments: Sequence[Segment]) -> IntArray:
        """Count the n-grams in each of :data:`REGIONS`.

        Shape ``(segments, slots, order, 7)``; an absent reference has zeros.
        """
        present = ngrams.reference_slots(segments)
        counts = np.zeros((*present.shape, self.order, len(REGIONS)), dtype=np.int64)
        for batch in ngrams.batches(segments, unit=self.unit, strip=False):
            for n, shared in enumerate(batch.by_order(self.order), 1):
                counts[batch.rows, :, n - 1] = _regions(batch, shared, n)
        counts[~present] = 0
        return counts

    def parts(self, sums: FloatArray) -> dict[str, float]:
        """Return precision and recall over all orders.

        Each segment takes the reference with which it scores best alone.
        """
        precision, recall = self._means(sums)
        return {"precision": precision[-1].item(), "recall": recall[-1].item()}

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Score each segment alone, against its best reference; parts ``precision recall``."""
        chosen = self._chosen(statistics)
        counts = self.summands(statistics)
        precision, recall = self._means(counts)
        parts = {"precision": precision[..., -1], "recall": recall[..., -1]}
        labels = np.append(np.array(statistics.labels, dtype=np.int64), -1)
        return SegmentScores(
            self.value_of(counts), labels[chosen], parts, ngrams.gap(statistics.present)
        )

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return the counts against the chosen reference; NaN where a segment has none."""
        chosen = self._chosen(statistics)
        counts = np.full((len(statistics), 3 * self.order), np.nan)
        known = np.flatnonzero(chosen >= 0)
        counts[known] = statistics.rows[known, chosen[known]]
        return counts

    def value_of(self, sums: FloatArray) -> FloatArray:
        """Return the F-measure of summed counts."""
        return self._f(sums)[..., -1]

    def explain(self, segment: Segment) -> Explanation:
        """Show the seven regions, precision and recall by order for the chosen reference."""
        statistics = self.statistics([segment])
        scores = self.sentences(statistics)
        chosen = int(scores.chosen[0])
        if chosen < 0:
            return self.explained(scores)
        grids = self._grid(segment, statistics, chosen), self._f_grid(statistics)
        return self.explained(scores, grids=grids)

    def _ratios(self, sums: npt.NDArray[np.number]) -> tuple[FloatArray, FloatArray]:
        """Return precision and recall by order: shape ``(..., k)`` to two of ``(..., order)``."""
        tp, fp, fn = (np.asarray(sums[..., kind::3], dtype=np.float64) for kind in range(3))
        recall = 1.0 if self.empty == "one" else 0.0
        return ratio(tp, tp + fp, 1.0), ratio(tp, tp + fn, recall)

    def _means(self, sums: npt.NDArray[np.number]) -> tuple[FloatArray, FloatArray]:
        """Return geometric means of precision and recall over orders 1, 1 to 2, 1 to 3 ..."""
        precision, recall = self._ratios(sums)
        root = 1.0 / np.arange(1, self.order + 1)
        return np.cumprod(precision, axis=-1) ** root, np.cumprod(recall, axis=-1) ** root

    def _f(self, sums: npt.NDArray[np.number]) -> FloatArray:
        """Return F of orders 1, 1 to 2, 1 to 3 ...: shape ``(..., k)`` to ``(..., order)``.

        Of order 1 alone it is a fraction of counts, so that equal fractions are equal numbers.
        """
        f = self._f_of_means(sums)
        tp, fp, fn = (np.asarray(sums[..., kind], dtype=np.float64) for kind in range(3))
        above, below = f_fraction(tp, tp + fp, tp + fn, self.beta)
        f[..., 0] = np.divide(above, below, out=f[..., 0].copy(), where=below != 0)
        return f

    def _f_of_means(self, sums: npt.NDArray[np.number]) -> FloatArray:
        precision, recall = self._means(sums)
        share = 1.0 / (1.0 + self.beta**2)
        undefined = (precision == 0) | (recall == 0)
        below = share / np.where(undefined, 1.0, precision)
        below += (1.0 - share) / np.where(undefined, 1.0, recall)
        return np.where(undefined, 0.0, 1.0 / below)

    def _chosen(self, statistics: Statistics) -> IntArray:
        """Choose a slot for each segment, -1 where none is present.

        The greatest F wins, among equals that of fewer orders, down to order 1; then the first.
        """
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

    def _grid(self, segment: Segment, statistics: Statistics, chosen: int) -> Grid:
        regions = self.regions([segment])[0, chosen]
        counts = statistics.rows[0, chosen]
        precision, recall = self._ratios(counts)
        rows = [
            (
                str(n + 1),
                *map(str, regions[n].tolist()),
                *map(str, counts[3 * n : 3 * n + 3].tolist()),
                f"{precision[n]:.4f}",
                f"{recall[n]:.4f}",
            )
            for n in range(self.order)
        ]
        columns = ("n", *REGIONS, "TP", "FP", "FN", "precision", "recall")
        return Grid(f"n-grams against reference {chosen}", columns, tuple(rows))

    def _f_grid(self, statistics: Statistics) -> Grid:
        f = self._f(statistics.rows)[0]
        columns = ("reference", *(f"F of orders 1 to {n}" for n in range(1, self.order + 1)))
        rows = [
            (str(slot), *(f"{value:.4f}" for value in f[slot]))
            for slot in np.flatnonzero(statistics.present[0]).tolist()
        ]
        return Grid("choice of the reference", columns, tuple(rows))


def _regions(batch: Batch, shared: Shared, order: int) -> IntArray:
    """Count the regions of one order by inclusion and exclusion: ``(segments, slots, 7)``."""
    src, sc, rc = _intersections(shared, batch.reference_lengths.shape)
    sr = shared.source_in_references()
    s, c, r = (
        np.maximum(lengths + 1 - order, 0)
        for lengths in (
            batch.source_lengths[:, None],
            batch.hypothesis_lengths[:, None],
            batch.reference_lengths,
        )
    )
    deleted, inserted, missed = s - sr - sc + src, c - sc - rc + src, r - sr - rc + src
    return np.stack([src, deleted, rc - src, sr - src, inserted, sc - src, missed], axis=-1)


def _intersections(shared: Shared, shape: tuple[int, ...]) -> tuple[IntArray, IntArray, IntArray]:
    """Sum the minima of all three, source and hypothesis, reference and hypothesis."""
    of_source = np.minimum(shared.source, shared.hypothesis)
    in_source = shared.total(of_source)[:, None]
    in_all = np.zeros(shape, dtype=np.int64)
    in_reference = np.zeros(shape, dtype=np.int64)
    for slot, reference in enumerate(shared.references):
        in_all[:, slot] = shared.total(np.minimum(of_source, reference))
        in_reference[:, slot] = shared.total(np.minimum(reference, shared.hypothesis))
    return in_all, in_source, in_reference
