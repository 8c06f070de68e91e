"""M2 (MaxMatch) and SentM2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from grammeter.alignment import Proposal, Row0, matcher
from grammeter.core import (
    Edit,
    Explanation,
    GoldEdits,
    IntArray,
    JudgedEdit,
    Segment,
    SegmentScores,
    Statistics,
    UsageError,
    track,
)
from grammeter.metrics.base import Needs, by_label
from grammeter.metrics.edit_f import COLUMNS, EditF, SentenceF

ByAnnotator = Mapping[int, tuple[int, int, int]]
"""Correct, proposed and gold edits by annotator."""

_NO_GOLD: GoldEdits = {0: ()}

MOST_BETA = 1000
"""Above this, F is recall to the last digit that matters."""


@dataclass(frozen=True, kw_only=True)
class M2(EditF):
    """F-measure over edits that are extracted so as to agree best with gold edits.

    Attributes
    ----------
    beta
        Weight of recall in F; 0.5 prefers precision.
    max_unchanged
        Unchanged words that an edit may hold.
    ignore_case
        Drop proposed edits that change only white space or case.
    row0
        Offsets of insertions before the first token: ``3.2``, the release that papers use, or
        ``head``, the later development version.
    sort_gold
        Sort gold edits by span; the scorer keeps the order of the file and loses matches where
        that is not sorted.
    """

    name: ClassVar[str] = "m2"
    title: ClassVar[str] = "MaxMatch F-measure over edits (Dahlmeier & Ng 2012)"
    needs: ClassVar[Needs] = "gold"
    extracts: ClassVar[bool] = True
    judges_edits: ClassVar[bool] = True
    citation: ClassVar[str] = """@inproceedings{dahlmeier-ng-2012-better,
  title = {Better Evaluation for Grammatical Error Correction},
  author = {Dahlmeier, Daniel and Ng, Hwee Tou},
  booktitle = {Proceedings of NAACL-HLT 2012},
  pages = {568--572},
  year = {2012},
  url = {https://aclanthology.org/N12-1067}
}"""
    resampling: ClassVar[str] = "annotators fixed"
    reference: ClassVar[str] = "annotator"

    max_unchanged: int = 2
    ignore_case: bool = False
    row0: Row0 = "3.2"
    sort_gold: bool = False

    def check_fields(self) -> None:
        """Refuse a weight or a number of words out of range."""
        fix = f"beta is above 0, {MOST_BETA} at most."
        self.refuse_unless(0 < self.beta <= MOST_BETA, "beta", fix=fix)
        self.refuse_unless(self.max_unchanged >= 0, "max_unchanged", fix="It is 0 or greater.")

    def settings(self) -> dict[str, object]:
        """Return the tokenisation."""
        return {"tok": "whitespace"}

    def counting(self) -> object:
        """Return what the counts depend on: neither F nor the choice of an annotator matters."""
        return "m2", self.max_unchanged, self.ignore_case, self.row0, self.sort_gold

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Count correct, proposed and gold edits, one slot per annotator."""
        sentences: dict[tuple[str, int], _Sentence] = {}
        counts: list[ByAnnotator] = []
        for segment in track(segments, self.name):
            key = segment.source, id(segment.gold)
            sentence = sentences.get(key)
            if sentence is None:
                sentence = sentences[key] = _Sentence(self, segment)
            counts.append(sentence.counts(segment.hypothesis))
        return by_label(counts, COLUMNS)

    def edits(self, segment: Segment) -> dict[int, tuple[Proposal, ...]]:
        """Return the proposed edits that agree best with each annotator's."""
        return _Sentence(self, segment).edits(segment.hypothesis)

    def found_edits(
        self, segments: Sequence[Segment], *, types: bool = False
    ) -> list[tuple[Edit, ...]]:
        """Return the edits of each hypothesis as the scorer proposes them without gold edits.

        Insertions before the first token stand there, whatever ``row0`` says; there are no types.
        """
        free = replace(self, row0="head")
        return [
            tuple(
                Edit(edit.start, edit.end, edit.correction)
                for edit in free.edits(replace(segment, gold=_NO_GOLD))[0]
            )
            for segment in segments
        ]

    def explain(self, segment: Segment) -> Explanation:
        """Return the edits against the chosen annotator, and the counts against each."""
        sentence = _Sentence(self, segment)
        proposed = sentence.edits(segment.hypothesis)  # matched once: it is most of the work
        source, gold = segment.source.split(), sentence.gold
        return self.explained_by(
            by_label([sentence.counted(proposed)], COLUMNS),
            lambda number: _judged(source, proposed.get(number, ()), gold.get(number, ())),
        )


@dataclass(frozen=True, kw_only=True)
class SentM2(SentenceF, M2):
    """Mean over sentences of the F of one annotator.

    Attributes
    ----------
    annotator
        ``best``: the one with the best F; ``last``: the last one listed, as in the sentence
        scores published by Chollampatt & Ng (2018); or an annotator's number.
    """

    name: ClassVar[str] = "sentm2"
    title: ClassVar[str] = "mean of sentence-level MaxMatch F-measures (Gong et al. 2022)"

    annotator: Literal["best", "last"] | int = "best"

    def choose_alone(self, statistics: Statistics) -> IntArray:
        """Return the slot of the annotator of each sentence."""
        if self.annotator == "best":
            return super().choose_alone(statistics)
        if self.annotator == "last":
            return statistics.slots - 1 - np.argmax(statistics.present[:, ::-1], axis=1)
        if self.annotator not in statistics.labels:
            raise UsageError(
                f"{self}: there is no annotator {self.annotator}",
                fix=f"The gold edits are by {', '.join(map(str, statistics.labels))}.",
            )
        slot = statistics.labels.index(self.annotator)
        return np.full(len(statistics), slot, dtype=np.int64)

    def _scored(self, statistics: Statistics, slots: IntArray) -> SegmentScores:
        """Score each sentence; NaN where the wanted annotator is not listed for it."""
        scores = super()._scored(statistics, slots)
        lacking = ~statistics.present[np.arange(len(statistics)), slots]
        if not lacking.any():
            return scores
        reason = f"annotator {self.annotator} is not listed for the sentence"
        return replace(scores, values=np.where(lacking, np.nan, scores.values), reason=reason)

    def explain(self, segment: Segment) -> Explanation:
        """Return the edits against the chosen annotator; NaN where there is no such annotator."""
        if isinstance(self.annotator, int) and self.annotator not in segment.gold:
            reason = f"annotator {self.annotator} is not listed for the sentence"
            return Explanation(value=float("nan"), reason=reason)
        return super().explain(segment)


class _Sentence:
    """One source sentence with its gold edits; equal hypotheses are matched once."""

    def __init__(self, metric: M2, segment: Segment) -> None:
        self._metric = metric
        self._source = segment.source.split()
        self.gold: GoldEdits = segment.gold
        if metric.sort_gold:
            self.gold = {
                number: tuple(sorted(edits, key=lambda e: (e.start, e.end)))
                for number, edits in segment.gold.items()
            }
        # an edit that replaces words by themselves attracts unchanged words: see edits.lattice
        self._trim = not any(
            " ".join(self._source[edit.start : edit.end]) in edit.corrections
            for edits in self.gold.values()
            for edit in edits
        )
        self._known: dict[tuple[str, ...], ByAnnotator] = {}

    def counts(self, hypothesis: str) -> ByAnnotator:
        """Return correct, proposed and gold counts by annotator."""
        words = tuple(hypothesis.split())
        if words not in self._known:
            self._known[words] = self.counted(self.edits(hypothesis))
        return self._known[words]

    def counted(self, proposed: Mapping[int, Sequence[Proposal]]) -> ByAnnotator:
        """Count edits that :meth:`edits` proposed."""
        return {number: self._count(edits, self.gold[number]) for number, edits in proposed.items()}

    def _count(self, proposed: Sequence[Proposal], gold: Sequence[Edit]) -> tuple[int, int, int]:
        matches = _matches(self._source, proposed, gold)
        return sum(map(len, matches)), len(proposed), len(gold)

    def edits(self, hypothesis: str) -> dict[int, tuple[Proposal, ...]]:
        """Return the proposed edits by annotator."""
        words = hypothesis.split()
        if words == self._source:
            return dict.fromkeys(self.gold, ())
        lattice = matcher(
            self._source,
            words,
            max_unchanged=self._metric.max_unchanged,
            row0=self._metric.row0,
            trim=self._trim,
        )
        proposed = {number: lattice.edits(gold) for number, gold in self.gold.items()}
        if not self._metric.ignore_case:
            return proposed
        return {
            number: tuple(edit for edit in edits if not _same_letters(edit))
            for number, edits in proposed.items()
        }


def _same_letters(edit: Proposal) -> bool:
    original, correction = edit.original.replace(" ", ""), edit.correction.replace(" ", "")
    return original.lower() == correction.lower()


def _matches(
    source: Sequence[str], proposed: Iterable[Proposal], gold: Sequence[Edit]
) -> list[list[int]]:
    """Return, for each proposed edit, the positions of the gold edits it matches.

    Gold edits are passed once, in the order of the file, and never looked at again; there is no
    stop at the first match, so that a doubled gold edit counts twice: as in the scorer.
    """
    passed = 0
    matches: list[list[int]] = []
    for edit in proposed:
        places = [x for x in range(passed, len(gold)) if edit.matches(gold[x], source)]
        passed = places[-1] + 1 if places else passed
        matches.append(places)
    return matches


def _judged(
    source: Sequence[str], proposed: Sequence[Proposal], gold: Sequence[Edit]
) -> list[JudgedEdit]:
    """Return the system's edits and the missed ones in the order of the sentence."""
    matches = _matches(source, proposed, gold)
    judged: list[JudgedEdit] = []
    for edit, places in zip(proposed, matches, strict=True):
        kind = gold[places[0]].type if places else ""
        judged.append(
            JudgedEdit(
                Edit(edit.start, edit.end, edit.correction, kind),
                edit.original,
                "matched" if places else "spurious",
            )
        )
    seen = {x for places in matches for x in places}
    for x, edit in enumerate(gold):
        if x not in seen:
            judged.append(JudgedEdit(edit, " ".join(source[edit.start : edit.end]), "missed"))
    return sorted(judged, key=lambda j: (j.edit.start, j.edit.end))
