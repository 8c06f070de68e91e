"""Weights of edits: how far one alone moves a sentence towards its reference or away from it.

Gong et al. (2022), section 4.2: with S the source, R the source with all edits of an annotator,
and S+e the source with the edit e alone, e weighs ``|score(S+e, R) - score(S, R)|``.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import NamedTuple

from grammeter import core
from grammeter.alignment.arcs import Proposal

NOISE = 1e-6  # smaller differences come from single precision: such an edit weighs nothing
WEIGHTS = ("correct", "proposed", "gold")
"""Weight sums of the edits that agree, of the hypothesis's edits, of the annotator's edits."""

COUNTS = ("correct_edits", "proposed_edits", "gold_edits", "edits", "weightless")
"""Their numbers; the number of all edits; the number of those that weigh nothing."""

COLUMNS = (*WEIGHTS, *COUNTS, "truncated")
"""Of one sentence against one annotator; the last one: whether a model read only a part."""


class Member(NamedTuple):
    """An edit of a hypothesis or of an annotator."""

    edit: core.Edit
    original: str  # the words that it replaces
    text: str  # the sentence with this edit alone
    verdict: core.EditVerdict | None  # `None`: only met by another correction
    gold: bool  # whether it is the annotator's, by the first correction


@dataclass(frozen=True, slots=True)
class Union:
    """The edits of a hypothesis, then of one annotator; identical ones are one."""

    source: str  # tokens joined by one blank
    reference: str  # what the annotator makes of it
    members: tuple[Member, ...]

    def pairs(self) -> list[tuple[str, str]]:
        """Return the (text, reference) pairs whose scores make the weights, the source first."""
        texts = (self.source, *(member.text for member in self.members))
        return [(text, self.reference) for text in texts if self.members]


@dataclass(frozen=True, slots=True)
class Weighed:
    """Edits with weights, 0 or more, NaN where unknown."""

    union: Union
    weights: Sequence[float]
    weightless: int = 0  # number of those of weight 0, before inversion too
    truncated: bool = False  # a model cut a text

    @classmethod
    def of(cls, union: Union, figures: Sequence[Sequence[float]], *, inverse: bool) -> "Weighed":
        """Make weights from the score of each of :meth:`Union.pairs`, and whether it was cut."""
        weights = weights_of([score for score, _ in figures])
        weightless = weights.count(0.0)
        truncated = any(cut for _, cut in figures)
        return cls(union, inverted(weights) if inverse else weights, weightless, truncated)

    def row(self) -> list[float]:
        """Return what :data:`COLUMNS` names; sums do not depend on the order of the edits."""
        edits = self.union.members
        matched = [edit.verdict == "matched" for edit in edits]
        proposed = [edit.verdict in ("matched", "spurious") for edit in edits]
        groups = (matched, proposed, [edit.gold for edit in edits])
        sums = [math.fsum(compress(self.weights, group)) for group in groups]
        numbers = (*map(sum, groups), len(edits), self.weightless, self.truncated)
        return [*sums, *map(float, numbers)]

    def judged(self, *, alike: bool) -> tuple[core.JudgedEdit, ...]:
        """Return the edits in sentence order; if all weigh 0, ``alike`` ones weigh 1 in all."""
        weights = self.weights
        if alike and 0 < self.weightless == len(weights):
            weights = [1 / len(weights)] * len(weights)
        rows = zip(self.union.members, weights, strict=True)
        edits = [core.JudgedEdit(*m[:2], m.verdict, w) for m, w in rows if m.verdict]
        return tuple(sorted(edits, key=lambda judged: (judged.edit.start, judged.edit.end)))


def united(
    source: Sequence[str], proposed: Mapping[Proposal, str], gold: Iterable[core.Edit]
) -> Union:
    """Put together the edits of a hypothesis, with their types, and those of one annotator.

    The first correction of each gold edit makes the reference, unless it overlaps an earlier edit;
    an edit of the hypothesis may agree with any of its corrections.
    """
    wanted: dict[Proposal, core.Edit] = {}
    for edit in gold:
        if not edit.is_noop:
            old = " ".join(source[edit.start : edit.end])
            wanted.setdefault(Proposal(edit.start, edit.end, old, edit.correction), edit)
    agreeing = {
        proposal: [target for target, edit in wanted.items() if proposal.matches(edit, source)]
        for proposal in proposed
    }
    met = set(chain.from_iterable(agreeing.values()))
    members: list[Member] = []
    for e in dict.fromkeys([*proposed, *wanted]):
        edit, verdict = wanted.get(e), None if e in met else "missed"
        if e in proposed:
            kind = wanted[agreeing[e][0]].type if agreeing[e] else proposed[e]
            edit = core.Edit(e.start, e.end, e.correction, kind)
            verdict = "matched" if agreeing[e] else "spurious"
        assert edit is not None
        members.append(Member(edit, e.original, _with_one(source, e), verdict, e in wanted))
    reference = " ".join(core.apply(source, core.without_overlaps(wanted.values())[0]))
    return Union(" ".join(source), reference, tuple(members))


def check_references(segments: Iterable[core.Segment]) -> None:
    """Raise DataError if a reference is not what the gold edits beside it make.

    Texts and edits belong together where there are as many texts as annotators. Edits that only
    detect may have been applied to a text or not: published texts differ in that.
    """
    by_gold = {id(segment.gold): segment for segment in segments}
    annotators = sorted({number for segment in by_gold.values() for number in segment.gold})
    for segment in by_gold.values():
        if len(segment.references) != len(annotators):
            continue
        for number, edits in segment.gold.items():
            text = segment.references[annotators.index(number)]
            sure = [edit for edit in edits if edit.type not in core.DETECTION_ONLY]
            source = segment.source.split()
            made = [core.apply(source, core.without_overlaps(some)[0]) for some in (edits, sure)]
            if text is not None and text.split() not in made:
                fault = f"the reference text of {segment.source[:60]!r} is not what the gold edits"
                fault += f" of annotator {number} make: {text[:60]!r}"
                fix = "Give texts that belong to the edits, in the order of the annotators, or"
                raise core.DataError(fault, fix=f"{fix} the edits alone.")


def as_proposals(source: Sequence[str], edits: Iterable[core.Edit]) -> dict[Proposal, str]:
    """Return edits in the form of M2's, and the type of each."""
    olds = ((e, " ".join(source[e.start : e.end])) for e in edits)
    return {Proposal(e.start, e.end, old, e.correction): e.type for e, old in olds}


def _with_one(source: Sequence[str], edit: Proposal) -> str:
    old = edit.original.split()
    start = edit.start
    if old and list(source[start : start + len(old)]) != old:
        start = 0  # only before the first token do offsets not fit the words: see Row0
    return " ".join([*source[:start], *edit.correction.split(), *source[start + len(old) :]])


def weights_of(scores: Sequence[float]) -> list[float]:
    """Return the weights from the scores of :meth:`Union.pairs`; NaN where a score is no number."""
    if not scores:
        return []
    base, *others = scores
    moves = [abs(score - base) for score in others]
    return [0.0 if move < NOISE else move if move < math.inf else math.nan for move in moves]


def inverted(weights: Sequence[float]) -> list[float]:
    """Return 1 / weight; an edit that weighs nothing gets the largest of these, or stays at 0."""
    largest = max((1 / weight for weight in weights if weight), default=0.0)
    return [1 / weight if weight else largest for weight in weights]
