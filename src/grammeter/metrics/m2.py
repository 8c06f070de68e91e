"""M2 (MaxMatch) and SentM2."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np

from grammeter import core
from grammeter.alignment import Proposal, Row0, matcher
from grammeter.metrics import base, edit_f, kinds

ByAnnotator = Mapping[int, tuple[int, int, int]]  # correct, proposed and gold edits by annotator
_NO_GOLD: core.GoldEdits = {0: ()}
_MOST = 1000  # above this, F is recall to the last digit that matters
M2Beta = Annotated[float, base.Limit(f"beta is above 0, {_MOST} at most.", above=0, most=_MOST)]
"""Weight of recall in F; 0.5 prefers precision."""


@dataclass(frozen=True, kw_only=True)
class M2(edit_f.EditF):
    """F-measure over edits that are extracted so as to agree best with gold edits.

    - ``beta``: weight of recall in F; 0.5 prefers precision.
    - ``max_unchanged``: unchanged words that an edit may hold.
    - ``ignore_case``: drop proposed edits that change only white space or case.
    - ``row0``: offsets of insertions before the first token: ``3.2``, the release that papers
      use, or ``head``, the later development version.
    - ``sort_gold``: sort gold edits by span; the scorer keeps the order of the file and loses
      matches where that is not sorted.
    """

    name = "m2"
    title = "MaxMatch F-measure over edits (Dahlmeier & Ng 2012)"
    needs = "gold"
    extracts = True
    judges_edits = True
    citation = base.cited("dahlmeier-ng-2012-better")
    resampling = "annotators fixed"
    counted_as = "m2"
    after_counting = ("beta", "annotator")
    reference = "annotator"

    beta: M2Beta = 0.5
    max_unchanged: Annotated[int, base.Limit("It is 0 or greater.", least=0)] = 2
    ignore_case: bool = False
    row0: Row0 = "3.2"
    sort_gold: bool = False

    def statistics(self, segments: Sequence[core.Segment]) -> core.Statistics:
        """Count correct, proposed and gold edits, one slot per annotator."""
        pairs = ((_Sentence(self, s), s.hypothesis) for s in core.track(segments, self.name))
        counts = [sentence.counted(sentence.edits(text)) for sentence, text in pairs]
        return kinds.by_label(counts, edit_f.COLUMNS)

    def matches(self, segments: base.Segments) -> list[dict[int, base.Matches]]:
        """Hold the edits that agree best with each annotator's against these."""
        track = core.track(segments, self.name)
        return [_Sentence(self, segment).held(segment.hypothesis) for segment in track]

    def edits(self, segment: core.Segment) -> dict[int, tuple[Proposal, ...]]:
        """Return the proposed edits that agree best with each annotator's."""
        return _Sentence(self, segment).edits(segment.hypothesis)

    def found_edits(
        self, segments: Sequence[core.Segment], *, types: bool = False
    ) -> list[tuple[core.Edit, ...]]:
        """Return the untyped edits proposed without gold edits; ``row0`` has no effect here."""
        free = replace(self, row0="head")
        proposed = (free.edits(replace(segment, gold=_NO_GOLD))[0] for segment in segments)
        return [tuple(core.Edit(e.start, e.end, e.correction) for e in edits) for edits in proposed]

    def explain(self, segment: core.Segment) -> core.Explanation:
        """Return the edits against the chosen annotator, and the counts against each."""
        sentence = _Sentence(self, segment)
        proposed = sentence.edits(segment.hypothesis)  # matched once: it is most of the work
        return self.explained_by(
            kinds.by_label([sentence.counted(proposed)], edit_f.COLUMNS),
            lambda number: sentence.judged(number, proposed.get(number, ())),
        )


@dataclass(frozen=True, kw_only=True)
class SentM2(edit_f.SentenceF, M2):
    """Mean over sentences of the F of one annotator.

    - ``annotator``: ``best``: the one with the best F; ``last``: the last one listed, as in the
      sentence scores published by Chollampatt & Ng (2018); or an annotator's number.
    """

    name = "sentm2"
    title = "mean of sentence-level MaxMatch F-measures (Gong et al. 2022)"

    annotator: Literal["best", "last"] | int = "best"

    def choose(self, statistics: core.Statistics, *, running: bool) -> core.IntArray:
        """Return the slot of the annotator of each sentence."""
        if self.annotator == "best":
            return super().choose(statistics, running=running)
        if self.annotator == "last":
            return statistics.slots - 1 - np.argmax(statistics.present[:, ::-1], axis=1)
        if self.annotator not in statistics.labels:
            fix = f"The gold edits are by {', '.join(map(str, statistics.labels))}."
            raise core.UsageError(f"{self}: there is no annotator {self.annotator}", fix=fix)
        return np.full(len(statistics), statistics.labels.index(self.annotator), dtype=np.int64)

    @property
    def _lacking(self) -> str:
        return f"annotator {self.annotator} is not listed for the sentence"

    def scored(self, statistics: core.Statistics, slots: core.IntArray) -> core.SegmentScores:
        """Score each sentence; NaN where the wanted annotator is not listed for it."""
        scores = super().scored(statistics, slots)
        lacking = ~statistics.present[np.arange(len(statistics)), slots]
        if not lacking.any():
            return scores
        values = np.where(lacking, np.nan, scores.values)
        return replace(scores, values=values, reason=self._lacking)

    def explain(self, segment: core.Segment) -> core.Explanation:
        """Return the edits against the chosen annotator; NaN where there is no such annotator."""
        if isinstance(self.annotator, int) and self.annotator not in segment.gold:
            return core.Explanation(value=float("nan"), reason=self._lacking)
        return super().explain(segment)


class _Sentence:
    def __init__(self, metric: M2, segment: core.Segment) -> None:
        self._metric = metric
        self._source = segment.source.split()
        self._gold: core.GoldEdits = segment.gold
        if metric.sort_gold:
            self._gold = {
                number: tuple(sorted(edits, key=lambda e: (e.start, e.end)))
                for number, edits in segment.gold.items()
            }
        # an edit that replaces words by themselves attracts unchanged words: see edits.lattice
        self._trim = not any(
            self._text(edit) in edit.corrections for edits in self._gold.values() for edit in edits
        )

    def counted(self, proposed: Mapping[int, Sequence[Proposal]]) -> ByAnnotator:
        rows = [(number, self._gold[number], edits) for number, edits in proposed.items()]
        matched = [sum(map(len, self._matches(gold, edits))) for _, gold, edits in rows]
        counts = zip(rows, matched, strict=True)
        return {number: (n, len(edits), len(gold)) for (number, gold, edits), n in counts}

    def held(self, hypothesis: str) -> dict[int, base.Matches]:
        """Return the gold edits that proposed ones match, and the proposed ones that match none."""
        rows: dict[int, base.Matches] = {}
        for number, proposed in self.edits(hypothesis).items():
            places = self._matches(gold := self._gold[number], proposed)
            met = frozenset(x for at in places for x in at)
            unmet = (e for e, at in zip(proposed, places, strict=True) if not at)
            wrong = frozenset((e.start, e.end, e.correction) for e in unmet)
            rows[number] = base.Matches(len(gold), met, wrong)
        return rows

    def edits(self, hypothesis: str) -> dict[int, tuple[Proposal, ...]]:
        words = hypothesis.split()
        if words == self._source:
            return dict.fromkeys(self._gold, ())
        most, row0 = self._metric.max_unchanged, self._metric.row0
        lattice = matcher(self._source, words, max_unchanged=most, row0=row0, trim=self._trim)
        proposed = {number: lattice.edits(gold) for number, gold in self._gold.items()}
        if not self._metric.ignore_case:
            return proposed
        return {
            number: tuple(e for e in edits if _letters(e.original) != _letters(e.correction))
            for number, edits in proposed.items()
        }

    def _matches(self, gold: Sequence[core.Edit], proposed: Iterable[Proposal]) -> list[list[int]]:
        """Return, for each proposed edit, the positions of the gold edits it matches.

        Gold edits are passed once, in the order of the file, and never looked at again; there is
        no stop at the first match, so that a doubled gold edit counts twice: as in the scorer.
        """
        passed = 0
        matches: list[list[int]] = []
        for edit in proposed:
            places = [x for x in range(passed, len(gold)) if edit.matches(gold[x], self._source)]
            passed = places[-1] + 1 if places else passed
            matches.append(places)
        return matches

    def judged(self, number: int, proposed: Sequence[Proposal]) -> list[core.JudgedEdit]:
        """Return the system's edits and the missed ones in the order of the sentence."""
        gold = self._gold.get(number, ())
        matches = self._matches(gold, proposed)
        judged: list[core.JudgedEdit] = []
        for edit, places in zip(proposed, matches, strict=True):
            kind = gold[places[0]].type if places else ""
            typed = core.Edit(edit.start, edit.end, edit.correction, kind)
            verdict: core.EditVerdict = "matched" if places else "spurious"
            judged.append(core.JudgedEdit(typed, edit.original, verdict))
        seen = {x for places in matches for x in places}
        missed = [edit for x, edit in enumerate(gold) if x not in seen]
        judged += [core.JudgedEdit(edit, self._text(edit), "missed") for edit in missed]
        return sorted(judged, key=lambda j: (j.edit.start, j.edit.end))

    def _text(self, edit: core.Edit) -> str:
        return " ".join(self._source[edit.start : edit.end])


def _letters(text: str) -> str:
    return text.replace(" ", "").lower()
