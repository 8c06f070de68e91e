"""GLEU: n-grams shared with the references, less those wrongly kept from the source."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from grammeter.alignment import Shared, Unit, ngrams
from grammeter.core import FloatArray, Grid, IntArray, Score, Segment, SegmentScores, Statistics
from grammeter.metrics import base, kinds

_DRAWS = 1 << 24  # drawn references held in memory together; 32 MB
Variant = Literal["original", "multiset", "paper"]


class _SharedNgrams(base.Metric):
    """Base of metrics that count the n-grams of a hypothesis against source and references."""

    needs = "texts"
    bounds = (0.0, 1.0)
    citation = base.cited("napoles-etal-2015-ground", "napoles-etal-2016-gleu")

    shows_std: ClassVar[bool] = False
    order: base.Positive
    variant: Variant
    references: Any
    unit: Unit

    def settings(self) -> dict[str, object]:
        """Return the tokenisation."""
        return {"tok": ngrams.described(self.unit, strip=True)}

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Count lengths, matches less penalties, and n-grams, against each reference.

        Columns are ``c r num1 den1 num2 den2 ...``: lengths of hypothesis and reference, then per
        order what was matched less what was penalised, and the hypothesis' n-grams. The former is
        at least 0, but with ``variant=paper``.
        """
        present = ngrams.reference_slots(segments)
        rows = np.zeros((*present.shape, 2 + 2 * self.order), dtype=np.int64)
        for batch in ngrams.batches(segments, unit=self.unit, strip=True):
            counts = np.empty((len(batch.rows), *rows.shape[1:]), dtype=np.int64)
            length = batch.lengths[:, -1:]
            counts[..., 0], counts[..., 1] = length, batch.lengths[:, 1:-1]
            for n, shared in enumerate(batch.by_order(self.order), 1):
                for slot, reference in enumerate(shared.references):
                    counts[:, slot, 2 * n] = self._gain(shared, reference)
                counts[..., 2 * n + 1] = np.maximum(length + 1 - n, 0)
            rows[batch.rows] = counts if self.variant == "paper" else np.maximum(counts, 0)
        rows[~present] = 0
        names = [f"{kind}{n}" for n in range(1, self.order + 1) for kind in ("num", "den")]
        return kinds.of_references(rows, present, ("c", "r", *names))

    @property
    @abstractmethod
    def smoothed(self) -> bool:
        """Whether zero statistics of a sentence count as 1 in its score."""

    def by_reference(self, statistics: Statistics) -> FloatArray:
        """Score each segment against each reference: shape ``(segments, slots)``."""
        if self.smoothed:
            return _gleu(np.where(statistics.rows <= 0, 1, statistics.rows))
        return np.exp(_logarithms(statistics.rows).mean(axis=-1))

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Score segments by the mean over references, or by the best of them.

        Zero statistics count as 1 if :attr:`smoothed`. Of the mean :class:`Gleu` shows ``std``.
        """
        scores, present = self.by_reference(statistics), statistics.present
        if self.references == "best":
            slots = kinds.best_slot(scores, present) if self.smoothed else _best(statistics)
            return SegmentScores(kinds.pick(scores, slots), slots, {}, ngrams.gap(present))
        mean = _mean_over(scores, present)
        std = np.sqrt(_mean_over((scores - mean[:, None]) ** 2, present))
        parts = {"std": std} if self.shows_std else {}
        return SegmentScores(mean, kinds.no_choice(len(mean)), parts, ngrams.gap(present))

    def tables(self, segment: Segment, statistics: Statistics, chosen: int) -> base.Grids:
        """Show the statistics by reference, and the n-grams that made them."""
        yield from super().tables(segment, statistics, chosen)
        yield self._ngram_grid(segment)

    def _gain(self, shared: Shared, reference: IntArray) -> IntArray:
        """Return the numerators: matches of n-grams less penalties."""
        below = 1 if self.variant == "original" else shared.before + 1  # what frees from penalty
        penalised = (shared.before < shared.source) & (reference < below)
        return shared.total(shared.before < reference) - shared.total(penalised)

    def _ngram_grid(self, segment: Segment) -> Grid:
        """Name what was gained over the source, and what was penalised."""
        rows: list[tuple[str, ...]] = []
        for slot, text in enumerate(segment.references):
            for n in range(1, self.order + 1) if text is not None else ():
                h, s, r = (
                    ngrams.counts(ngrams.tokenise(side, self.unit, strip=True), n)
                    for side in (segment.hypothesis, segment.source, text or "")
                )
                there = dict.fromkeys(r, h.total()) if self.variant == "original" else r
                matches, lost = h & r, (h & s) - Counter(there)
                sums = slot, n, matches.total(), lost.total(), h.total()
                rows.append((*map(str, sums), self._shown(matches - s), self._shown(lost)))
        columns = "reference", "n", "matches", "penalty", "n-grams", "matched, not in source"
        return Grid("n-grams by reference and order", (*columns, "penalised"), tuple(rows))

    def _shown(self, counts: Counter[tuple[str, ...]]) -> str:
        glue = " " if self.unit == "word" else ""
        return ", ".join(
            f"{glue.join(ngram)!r}" + (f" x{count}" if count > 1 else "")
            for ngram, count in counts.items()
        )


@dataclass(frozen=True, kw_only=True)
class Gleu(_SharedNgrams, kinds.SumScore):
    """GLEU in its 2016 form, without tuning (Napoles et al. 2016); 0 to 1.

    - ``order``: the longest n-grams; the geometric mean is over orders 1 to ``order``.
    - ``iterations``: how many times one reference per segment is drawn.
    - ``variant``: what is penalised in an n-gram that hypothesis and source share: ``original``,
      all of it if the reference lacks the n-gram altogether; ``multiset``, what exceeds the
      reference; ``paper``, the same, and a sentence's numerators may be negative, as in the
      formula of the paper.
    - ``references``: ``sampled``: the mean over draws, as the authors do it. ``expected``: the
      score of the expected statistics, without chance. ``best``: the score against the best
      reference of each sentence, as ``sent-gleu(references=best)`` chooses it.
    - ``unit``: ``word``, ``char`` (the stripped line's code points, spaces included) or
      ``grapheme`` (what readers take for its characters, whatever marks they have).
    """

    name = "gleu"
    title = (
        "n-gram precision that rewards agreement with the references and penalises errors left"
        " from the source (Napoles et al. 2015, 2016)"
    )
    after_counting = ("iterations", "references")
    shows_std = True

    order: base.Positive = 4
    iterations: base.Positive = 500
    variant: Variant = "original"
    references: Literal["sampled", "expected", "best"] = "sampled"
    unit: Unit = "word"

    @property
    def resampling(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How resampled scores treat the choice among references."""
        return "chosen references fixed" if self.references == "best" else "expected statistics"

    @property
    def smoothed(self) -> bool:
        """Whether zero statistics of a sentence count as 1: unless they choose the reference."""
        return self.references != "best"

    def settings(self) -> dict[str, object]:
        """Return the tokenisation and, where references are drawn, the rule of the seeds."""
        seeds = {"seeds": "101*j"} if self.references == "sampled" else {}
        return super().settings() | seeds

    def score(self, statistics: Statistics) -> Score:
        """Score a corpus; parts are ``std low high`` where references are drawn.

        ``std`` is the population deviation over the draws, ``low`` and ``high`` are 1.96 of it
        away from the mean.
        """
        if self.references != "sampled" or ngrams.gap(statistics.present):
            return super().score(statistics)
        values = self.value_of(_drawn_sums(statistics, self.iterations))
        mean, std = float(values.mean()), float(values.std())
        parts = {"std": std, "low": mean - 1.96 * std, "high": mean + 1.96 * std}
        return Score(value=mean, signature=self.signature(), n=len(statistics), parts=parts)

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return statistics in the mean over references, or of the best one; NaN if none."""
        if self.references == "best":
            return kinds.pick(statistics.rows, _best(statistics))
        return _mean_over(statistics.rows, statistics.present[..., None])

    def value_of(self, sums: FloatArray) -> FloatArray:
        """Score sums of the statistics; 0 where one of them is 0 or less."""
        return _gleu(sums)


@dataclass(frozen=True, kw_only=True)
class SentGleu(_SharedNgrams, kinds.SentenceMean):
    """Mean over sentences of GLEU, each sentence as a corpus of one; 0 to 1.

    An order without n-grams counts as precision 1. ``order``, ``variant`` and ``unit`` are those of
    :class:`Gleu`.

    - ``references``: ``mean`` over the references of a sentence, or the ``best`` of them.
    - ``smooth``: ``none``: a sentence without a common n-gram of an order scores 0. ``one``: zero
      statistics count as 1, as in the sentence scores of :class:`Gleu`.
    """

    name = "sent-gleu"
    title = "mean of sentence-level GLEU (as Gong et al. 2022 use it)"
    after_counting = ("references", "smooth")

    order: base.Positive = 4
    variant: Variant = "original"
    references: Literal["mean", "best"] = "mean"
    smooth: Literal["one"] | None = None
    unit: Unit = "word"

    @property
    def smoothed(self) -> bool:
        """Whether zero statistics of a sentence count as 1."""
        return self.smooth == "one"


def _gleu(sums: FloatArray | IntArray) -> FloatArray:
    """Score sums of the statistics; 0 where one of them is 0 or less."""
    counts = np.asarray(sums, dtype=np.float64)
    undefined: npt.NDArray[np.bool_] = np.any(counts <= 0, axis=-1)
    counts = np.where(undefined[..., None], 1.0, counts)
    logs = np.log(counts[..., 2::2] / counts[..., 3::2])
    brevity = np.minimum(0.0, 1.0 - counts[..., 1] / counts[..., 0])
    return np.where(undefined, 0.0, np.exp(brevity + logs.sum(axis=-1) / logs.shape[-1]))


def _logarithms(rows: IntArray) -> FloatArray:
    """Return logarithms of brevity penalty times precision: shape ``(..., orders)``.

    An order without n-grams has precision 1; an empty hypothesis has factor 0, but 1 if the
    reference is empty, too.
    """
    length, wanted, in_all = rows[..., 0], rows[..., 1], rows[..., 3::2]
    gained = np.maximum(rows[..., 2::2], 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.log(np.where(in_all == 0, 1.0, gained / in_all))
        brevity = np.minimum(0.0, 1.0 - np.where(wanted == length, 1.0, wanted / length))
    return brevity[..., None] + precision


def _best(statistics: Statistics) -> IntArray:
    """Return the slot with the greatest unsmoothed score, shape ``(segments,)``; -1 if none is.

    Of equal ones the greatest in the longest n-grams, then in the next shorter ones; the first.
    """
    logs = _logarithms(statistics.rows)
    keys = [np.exp(logs.mean(axis=-1)), *np.moveaxis(np.exp(logs), -1, 0)[::-1]]
    best = statistics.present
    for key in keys:
        left = np.where(best, key, -1.0)
        best = best & (left == left.max(axis=1, initial=-1.0, keepdims=True))
    return kinds.best_slot(best.astype(np.float64), best)


def _mean_over(values: npt.NDArray[np.number], present: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the mean over axis 1 of what is present; NaN where nothing is."""
    number = present.sum(axis=1).astype(np.float64)
    sums = np.where(present, values, 0).sum(axis=1)
    return sums / np.where(number == 0, np.nan, number)


def _drawn_sums(statistics: Statistics, iterations: int) -> FloatArray:
    """Sum the statistics of one drawn reference per segment, shape ``(iterations, columns)``."""
    first_present = np.argsort(~statistics.present, axis=1, kind="stable")
    rows = np.take_along_axis(statistics.rows, first_present[..., None], axis=1).astype(np.float64)
    number = statistics.present.sum(axis=1)
    if number.max(initial=0) == 1:
        return rows[:, 0].sum(axis=0)[None]
    more = [rows[:, place] - rows[:, 0] for place in range(1, int(number.max()))]
    sums = [
        sum(((drawn == place) @ row for place, row in enumerate(more, 1)), start=rows[:, 0].sum(0))
        for drawn in _draws(number, iterations)
    ]
    return np.concatenate(sums)


def _draws(number: IntArray, iterations: int) -> Iterator[npt.NDArray[np.int16]]:
    """Draw one of ``number`` references per segment, a block of iterations at a time."""
    step = max(1, _DRAWS // len(number))
    counts = number.astype(np.int16).tobytes()
    for first in range(0, iterations, step):
        yield _drawn(first, min(first + step, iterations), counts)


@lru_cache(maxsize=2)
def _drawn(first: int, last: int, counts: bytes) -> npt.NDArray[np.int16]:
    """Draw as the authors' program does, shape ``(last - first, segments)``.

    Iteration j seeds the Mersenne twister with 101 * j and takes ``int(random() * count)`` per
    segment, which is what ``randint`` of Python 2 did. This numpy generator is frozen for good
    and, seeded by a list, has the stream of :class:`random.Random`.
    """
    number = np.frombuffer(counts, dtype=np.int16)
    drawn = np.empty((last - first, len(number)), dtype=np.int16)
    stream = np.random.RandomState(0)
    for j in range(first, last):
        stream.seed([101 * j])
        drawn[j - first] = stream.random_sample(len(number)) * number
    drawn.flags.writeable = False
    return drawn
