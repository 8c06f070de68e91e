"""What metrics with an F-measure over edits share: counts, and the choice of an annotator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from grammeter.core import (
    CorpusChoice,
    Counts,
    Explanation,
    FloatArray,
    Grid,
    IntArray,
    JudgedEdit,
    Score,
    SegmentScores,
    Signature,
    Statistics,
    f_fraction,
    f_measure,
)
from grammeter.errant import choose
from grammeter.metrics.base import Metric, SentenceMean, mean_of

COLUMNS = ("correct", "proposed", "gold")
"""Counts of one sentence against one annotator, or weights of the edits that are counted."""


@dataclass(frozen=True, kw_only=True)
class EditF(Metric):
    """Base of metrics whose rows are counts of edits, one slot per annotator or reference.

    Attributes
    ----------
    beta
        Weight of recall in F; 0.5 prefers precision.
    """

    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    reference: ClassVar[str] = "reference"
    """What a slot is called in explanations."""

    beta: float = 0.5

    def choose(self, statistics: Statistics) -> IntArray:
        """Return the slot of each sentence's annotator or reference, by running totals."""
        return self._best(_without_nan(self.counts(statistics)), running=True)

    def choose_alone(self, statistics: Statistics) -> IntArray:
        """Return the slot of the annotator or reference that is best for each sentence alone."""
        return self._best(_without_nan(self.counts(statistics)), running=False)

    def _best(self, counts: Statistics, *, running: bool) -> IntArray:
        return m2_choice(counts, self.beta, running=running)

    @property
    def reads_corpus(self) -> bool:
        """Whether the corpus score chooses by running totals."""
        return True

    def counts(self, statistics: Statistics) -> Statistics:
        """Return the rows from which F is made, with no other columns than :data:`COLUMNS`."""
        return statistics

    def score(self, statistics: Statistics) -> Score:
        """Score a corpus by the sums of its chosen rows."""
        rows = chosen_rows(self.counts(statistics), self.choose(statistics))
        return corpus_score(rows, self.beta, self.signature())

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Score each sentence by the annotator that is best for it alone."""
        alone = self._scored(statistics, self.choose_alone(statistics))
        if not self.reads_corpus or statistics.slots < 2:
            return alone
        chosen = self._scored(statistics, self.choose(statistics))
        return replace(alone, in_corpus=CorpusChoice(chosen.chosen, chosen.values))

    def _scored(self, statistics: Statistics, slots: IntArray) -> SegmentScores:
        """Score each sentence by the counts of a slot."""
        rows = chosen_rows(self.counts(statistics), slots)
        correct, proposed, gold = np.moveaxis(rows, -1, 0)
        return SegmentScores(
            values=f_of_counts(rows, self.beta),
            chosen=np.array(statistics.labels, dtype=np.int64)[slots],
            parts={"tp": correct, "fp": proposed - correct, "fn": gold - correct},
        )

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return the chosen counts."""
        return chosen_rows(self.counts(statistics), self.choose(statistics)).astype(np.float64)

    def value_of(self, sums: FloatArray) -> FloatArray:
        """Return F of summed counts."""
        return f_of_counts(sums, self.beta)

    def explained_by(
        self, statistics: Statistics, edits_against: Callable[[int], Iterable[JudgedEdit]]
    ) -> Explanation:
        """Explain the sentence of these statistics.

        Parameters
        ----------
        statistics
            One row.
        edits_against
            Returns the edits with verdicts against an annotator or reference, by its number.
        """
        scores, counts = self.sentences(statistics), self.counts(statistics)
        edits = edits_against(int(scores.chosen[0]))
        shown = ".4f" if counts.rows.dtype.kind == "f" else "d"
        rows = tuple(
            (str(number), *(f"{n:{shown}}" for n in row), f"{f_of_counts(row, self.beta):.4f}")
            for number, row, present in zip(
                counts.labels, counts.rows[0], counts.present[0], strict=True
            )
            if present
        )
        columns = (self.reference, *COLUMNS, f"F{self.beta:g}")
        grid = Grid(f"{self.reference.capitalize()}s", columns, rows)
        explained = self.explained(scores, edits, [grid])
        parts = dict(explained.parts)
        f_parts = Counts(parts["tp"], parts["fp"], parts["fn"]).parts()
        return replace(explained, parts=f_parts | parts)


@dataclass(frozen=True, kw_only=True)
class SentenceF(SentenceMean, EditF):
    """Turns such a metric into the mean of its sentence scores; stands before it as a base."""

    def choose(self, statistics: Statistics) -> IntArray:
        """Return the slots of :meth:`choose_alone`: the mean has no choice of its own."""
        return self.choose_alone(statistics)

    @property
    def reads_corpus(self) -> bool:
        """Whether the corpus score chooses by running totals: it does not."""
        return False

    def score(self, statistics: Statistics) -> Score:
        """Return the mean of the sentence scores, and the sums of their parts."""
        scores = self.sentences(statistics)
        sums = {key: column.sum().item() for key, column in scores.parts.items()}
        counts = Counts(sums["tp"], sums["fp"], sums["fn"])
        mean = mean_of(scores.values, self.signature(), scores.reason)
        return replace(mean, parts=counts.parts() | sums)


def f_of_counts(rows: FloatArray | IntArray, beta: float) -> FloatArray:
    """Return F of ``correct, proposed, gold`` in the last axis.

    Precision is 1 where nothing is proposed, recall 1 where there is nothing to find, F is 0
    where it is undefined.
    """
    counts: FloatArray = np.asarray(rows, dtype=np.float64)
    correct, proposed, gold = counts[..., 0], counts[..., 1], counts[..., 2]
    wanted = np.where(gold == 0, correct, gold)
    parts: tuple[FloatArray, FloatArray] = f_fraction(correct, proposed, wanted, beta)
    above, below = parts
    undefined = below == 0
    return np.where(undefined, wanted == 0, above / np.where(undefined, 1.0, below))


def m2_choice(statistics: Statistics, beta: float, *, running: bool) -> IntArray:
    """Choose an annotator for each sentence as the M2 scorer does, shape ``(segments,)``.

    In the order of the sentences, the annotator whose counts give the best F, ``running``
    together with all counts chosen so far; among equals the one with more correct edits, then
    with the smaller ``proposed + beta**2 * gold``, then the first. The result is the slot, not
    the number.
    """
    total_c = total_p = total_g = 0
    chosen: list[int] = []
    for slots, present in zip(statistics.rows.tolist(), statistics.present.tolist(), strict=True):
        sums = [
            (total_c + c, total_p + p, total_g + g) if there else None
            for (c, p, g), there in zip(slots, present, strict=True)
        ]
        chosen.append(_best(sums, beta))
        if running:
            total_c, total_p, total_g = sums[chosen[-1]] or (total_c, total_p, total_g)
    return np.array(chosen, dtype=np.int64)


def errant_choice(
    statistics: Statistics, beta: float, *, digits: int | None, running: bool
) -> IntArray:
    """Choose a reference for each sentence as :func:`grammeter.errant.compare.choose` does."""
    correct, proposed, gold = np.moveaxis(statistics.rows, -1, 0)
    counts = np.stack([correct, proposed - correct, gold - correct], axis=-1)
    rows = [
        [tuple(row) if there else None for row, there in zip(slots, present, strict=True)]
        for slots, present in zip(counts.tolist(), statistics.present.tolist(), strict=True)
    ]
    return np.array(choose(rows, beta=beta, digits=digits, running=running), dtype=np.int64)


def chosen_rows(statistics: Statistics, slots: IntArray) -> npt.NDArray[Any]:
    """Return the counts of the chosen slots, shape ``(segments, columns)``."""
    return statistics.rows[np.arange(len(statistics)), slots]


def corpus_score(rows: npt.NDArray[Any], beta: float, signature: Signature) -> Score:
    """Score a corpus by the sums of its chosen rows; sums of whole numbers stay whole."""
    correct, proposed, gold = rows.sum(axis=0).tolist()
    counts = Counts(correct, proposed - correct, gold - correct)
    return Score(value=counts.f(beta), signature=signature, n=len(rows), parts=counts.parts())


def _without_nan(statistics: Statistics) -> Statistics:
    return replace(statistics, rows=np.nan_to_num(statistics.rows))


def _best(sums: Sequence[tuple[float, ...] | None], beta: float) -> int:
    """Return the position of the best counts; ``None`` does not compete."""
    best_f, best_c, best_size, best = -1.0, -1.0, 0.0, 0
    for position, counts in enumerate(sums):
        if counts is None:
            continue
        correct, proposed, gold = counts
        # ties are compared exactly; recall is 1 where all of gold weighs nothing
        f = f_measure(correct, proposed, gold, beta)
        size = f_fraction(correct, proposed, gold, beta)[1]
        better_tie = f == best_f and (correct > best_c or (correct == best_c and size < best_size))
        if f > best_f or better_tie:
            best_f, best_c, best_size, best = f, correct, size, position
    return best
