"""Weights of edits: how far one alone moves a sentence towards its reference or away from it.

Gong et al. (2022), section 4.2: with S the source, R the source with all edits of an annotator,
and S+e the source with the edit e alone, e weighs ``|score(S+e, R) - score(S, R)|``.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress

from grammeter import core
from grammeter.alignment.arcs import Proposal

NOISE = 1e-6  # smaller differences come from single precision: such an edit weighs nothing
WEIGHTS = ("correct", "proposed", "gold")
"""Weight sums of the edits that agree, of the hypothesis's edits, of the annotator's edits."""

COUNTS = ("correct_edits", "proposed_edits", "gold_edits", "edits", "weightless")
"""Their numbers; the number of all edits; the number of those that weigh nothing."""

COLUMNS = (*WEIGHTS, *COUNTS, "truncated")
"""Of one sentence against one annotator; the last one: whether a model read only a part."""


@dataclass(frozen=True, slots=True)
class Union:
    """The edits of a hypothesis, then of one annotator; identical ones are one."""

    source: str  # tokens joined by one blank
    reference: str  # what the annotator makes of it
    edits: tuple[core.Edit, ...]
    originals: tuple[str, ...]  # the words that each edit replaces
    texts: tuple[str, ...]  # the sentence with each edit alone
    verdicts: tuple[core.EditVerdict | None, ...]  # `None`: only met by another correction
    gold: tuple[bool, ...]  # whether it is the annotator's, by the first correction

    def pairs(self) -> list[tuple[str, str]]:
        """Return the (text, reference) pairs whose scores make the weights, the source first."""
        return [(text, self.reference) for text in (self.source, *self.texts) if self.edits]


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
        union = self.union
        matched = [verdict == "matched" for verdict in union.verdicts]
        proposed = [verdict in ("matched", "spurious") for verdict in union.verdicts]
        members = (matched, proposed, union.gold)
        sums = [math.fsum(compress(self.weights, group)) for group in members]
        numbers = (*map(sum, members), len(union.edits), self.weightless, self.truncated)
        return [*sums, *map(float, numbers)]

    def judged(self, *, alike: bool) -> tuple[core.JudgedEdit, ...]:
        """Return the edits in sentence order; if all weigh 0, ``alike`` ones weigh 1 in all."""
        union, weights = self.union, self.weights
        if alike and 0 < self.weightless == len(weights):
            weights = [1 / len(weights)] * len(weights)
        rows = zip(union.edits, union.originals, union.verdicts, weights, strict=True)
        edits = [core.JudgedEdit(e, old, verdict, w) for e, old, verdict, w in rows if verdict]
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
    union = list(dict.fromkeys([*proposed, *wanted]))
    verdicts: dict[Proposal, core.EditVerdict | None] = {
        **{e: None if e in met else "missed" for e in wanted},
        **{e: "matched" if targets else "spurious" for e, targets in agreeing.items()},
    }
    met_by = [[wanted[target] for target in agreeing.get(e, [e])] for e in union]
    edits = zip(union, met_by, strict=True)
    return Union(
        source=" ".join(source),
        reference=" ".join(core.apply(source, core.without_overlaps(wanted.values())[0])),
        edits=tuple(_edit(e, proposed, gold) for e, gold in edits),
        originals=tuple(e.original for e in union),
        texts=tuple(_with_one(source, e) for e in union),
        verdicts=tuple(verdicts[e] for e in union),
        gold=tuple(e in wanted for e in union),
    )


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


def _edit(edit: Proposal, proposed: Mapping[Proposal, str], gold: Sequence[core.Edit]) -> core.Edit:
    """Return an edit of the hypothesis, with the type of a gold edit that it meets, or that one."""
    if edit not in proposed:
        return gold[0]
    kind = gold[0].type if gold else proposed[edit]
    return core.Edit(edit.start, edit.end, edit.correction, kind)


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
