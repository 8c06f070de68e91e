"""What metrics with an F-measure over edits share: counts, and the choice of an annotator."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from grammeter import core, errant
from grammeter.metrics import base, kinds

COLUMNS = ("correct", "proposed", "gold")
"""Counts of one sentence against one annotator, or weights of the edits that are counted."""


@dataclass(frozen=True, kw_only=True)
class EditF(kinds.Choosing):
    """Base of metrics whose rows are counts of edits, one slot per annotator or reference."""

    bounds = (0.0, 1.0)
    reference: ClassVar[str] = "reference"
    """What a slot is called in explanations."""
    tok = "whitespace"
    lacking: ClassVar[str | None] = None  # why counts may be NaN

    beta: base.FBeta = 0.5

    def choose(self, statistics: core.Statistics, *, running: bool) -> core.IntArray:
        """Return the slot of the best annotator or reference, shape ``(segments,)``."""
        counts = self.counts(statistics)
        return self._best(replace(counts, rows=np.nan_to_num(counts.rows)), running=running)

    def _best(self, counts: core.Statistics, *, running: bool) -> core.IntArray:
        return m2_choice(counts, self.beta, running=running)

    def counts(self, statistics: core.Statistics) -> core.Statistics:
        """Return the rows from which F is made, with no other columns than :data:`COLUMNS`."""
        return statistics

    def further(
        self, statistics: core.Statistics, slots: core.IntArray
    ) -> dict[str, core.IntArray]:
        """Return the counts of each sentence against a slot that parts show besides."""
        return {}

    def score(self, statistics: core.Statistics) -> core.Score:
        """Score a corpus by the sums of its chosen rows."""
        slots = self.chosen(statistics)
        rows = chosen_rows(self.counts(statistics), slots)
        counts = summed(rows)
        odd = int(np.isnan(rows).any(axis=1).sum())
        reason = f"{odd} of {len(rows)} segments have no weights: {self.lacking}" if odd else None
        further = self.further(statistics, slots)
        more = {name: int(column.sum()) for name, column in further.items()}
        parts = counts.parts() | more
        return core.Score(counts.f(self.beta), self.signature(), len(rows), parts, reason)

    def scored(self, statistics: core.Statistics, slots: core.IntArray) -> core.SegmentScores:
        """Score each sentence by the counts of a slot; parts ``tp fp fn``."""
        rows = chosen_rows(self.counts(statistics), slots)
        correct, proposed, gold = np.moveaxis(rows, -1, 0)
        parts = {"tp": correct, "fp": proposed - correct, "fn": gold - correct}
        parts |= self.further(statistics, slots)
        chosen = np.array(statistics.labels, dtype=np.int64)[slots]
        return core.SegmentScores(f_of_counts(rows, self.beta), chosen, parts, self.lacking)

    def summands(self, statistics: core.Statistics) -> core.FloatArray:
        """Return the chosen counts."""
        return chosen_rows(self.counts(statistics), self.chosen(statistics)).astype(np.float64)

    def value_of(self, sums: core.FloatArray) -> core.FloatArray:
        """Return F of summed counts."""
        return f_of_counts(sums, self.beta)

    def explained_by(
        self, statistics: core.Statistics, edits_against: Callable[[int], Iterable[core.JudgedEdit]]
    ) -> core.Explanation:
        """Explain the only sentence of these statistics, by its edits against a number."""
        scores, counts = self.sentences(statistics), self.counts(statistics)
        columns = {
            self.reference: counts.labels,
            **dict(zip(COLUMNS, counts.rows[0].T, strict=True)),
            f"F{self.beta:g}": f_of_counts(counts.rows[0], self.beta),
        }
        grid = base.grid_of(f"{self.reference.capitalize()}s", columns, counts.present[0])
        explained = self.explained(scores, edits_against(int(scores.chosen[0])), [grid])
        tp, fp, fn = (explained.parts[name] for name in ("tp", "fp", "fn"))
        return replace(explained, parts={**core.Counts(tp, fp, fn).parts(), **explained.parts})


@dataclass(frozen=True, kw_only=True)
class SentenceF(kinds.SentenceMean, EditF):
    """Turns such a metric into the mean of its sentence scores; stands before it as a base."""

    in_turn = False  # each sentence chooses for itself

    def score(self, statistics: core.Statistics) -> core.Score:
        """Return the mean of the sentence scores, and the sums of their parts."""
        scores = self.sentences(statistics)
        sums = {key: column.sum().item() for key, column in scores.parts.items()}
        counts = core.Counts(sums["tp"], sums["fp"], sums["fn"])
        mean = kinds.mean_of(scores.values, self.signature(), scores.reason)
        return replace(mean, parts=counts.parts() | sums)


def f_of_counts(rows: core.FloatArray | core.IntArray, beta: float) -> core.FloatArray:
    """Return F of ``correct, proposed, gold`` in the last axis; 0 where it is undefined.

    Precision is 1 where nothing is proposed, recall 1 where there is nothing to find.
    """
    counts: core.FloatArray = np.asarray(rows, dtype=np.float64)
    correct, proposed, gold = counts[..., 0], counts[..., 1], counts[..., 2]
    wanted = np.where(gold == 0, correct, gold)
    return kinds.ratio(*core.f_fraction(correct, proposed, wanted, beta), wanted == 0)


def m2_choice(statistics: core.Statistics, beta: float, *, running: bool) -> core.IntArray:
    """Choose an annotator for each sentence as the M2 scorer does, shape ``(segments,)``.

    In the order of the sentences, the annotator whose counts give the best F, ``running`` together
    with all counts chosen so far; among equals the one with more correct edits, then with the
    smaller ``proposed + beta**2 * gold``, then the first. The result is the slot, not the number.
    """

    def rank(sums: Sequence[float], _row: Sequence[float]) -> tuple[float, ...]:
        # ties are compared exactly; recall is 1 where all of gold weighs nothing
        correct, proposed, gold = sums
        below = core.f_fraction(correct, proposed, gold, beta)[1]
        return core.f_measure(correct, proposed, gold, beta), correct, -below

    rows = kinds.candidates(statistics.rows, statistics.present)
    return np.array(errant.best_in_turn(rows, rank, running=running), dtype=np.int64)


def errant_choice(
    statistics: core.Statistics, beta: float, *, digits: int | None, running: bool
) -> core.IntArray:
    """Choose a reference for each sentence as :func:`grammeter.errant.compare.choose` does."""
    correct, proposed, gold = np.moveaxis(statistics.rows, -1, 0)
    counts = np.stack([correct, proposed - correct, gold - correct], axis=-1)
    rows = kinds.candidates(counts, statistics.present)
    return np.array(errant.choose(rows, beta=beta, digits=digits, running=running), dtype=np.int64)


def chosen_rows(statistics: core.Statistics, slots: core.IntArray) -> npt.NDArray[Any]:
    """Return the counts of the chosen slots, shape ``(segments, columns)``."""
    return statistics.rows[np.arange(len(statistics)), slots]


def summed(rows: npt.NDArray[Any]) -> core.Counts:
    """Add up chosen rows; sums of whole numbers stay whole."""
    correct, proposed, gold = rows.sum(axis=0).tolist()
    return core.Counts(correct, proposed - correct, gold - correct)


def judged_in_order(
    source: Sequence[str], verdicts: Iterable[tuple[core.Edit, core.EditVerdict]]
) -> list[core.JudgedEdit]:
    """Put edits with verdicts into the order of the sentence."""
    ordered = sorted(verdicts, key=lambda pair: (pair[0].start, pair[0].end))
    return [
        core.JudgedEdit(edit, " ".join(source[edit.start : edit.end]), verdict)
        for edit, verdict in ordered
    ]
