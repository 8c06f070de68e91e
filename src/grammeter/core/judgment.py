"""Items, which outputs of one sentence somebody is to judge, and what judges say of them.

A judge ranks outputs, rates them by numbers, or calls single edits valid or not.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from grammeter.core.errors import DataError
from grammeter.core.signature import Signature


def _check(
    what: str, segment: int, groups: Iterable[Iterable[str]], further: Iterable[str], fix: str
) -> None:
    """Raise DataError for the first fault: of sentence and systems, or a ``further`` one."""
    everyone = [*chain(*groups)]
    fault = next(iter(further), "")
    if segment < 1:
        fault = "segments count from 1"
    elif not all(everyone) or len({*everyone}) < len(everyone):
        fault = f"a system without a name or in two groups: {everyone}"
    if fault:
        raise DataError(f"{what} of segment {segment}: {fault}", fix=fix)


def _is_probability(value: float | None) -> bool:
    return value is None or 0 < value <= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Some distinct outputs of one sentence, to be ranked side by side.

    ``segment`` is the number of the sentence, from 1. ``systems`` has one system for each output
    shown, ``groups`` all that wrote this output; left out, each system stands for itself.
    ``judges`` are to see it; empty if that is not planned. ``item`` is its own name; a ``repeat``,
    which the same judge has seen before, has the name of what it repeats. ``distinct`` counts the
    sentence's distinct outputs, those not shown included. ``probability`` is the expected share of
    all draws that fall on this sentence; one over it is the weight by which a ranking of these
    items becomes one of all sentences. ``signature`` is everything the selection depends on.
    ``task`` is what a campaign asks about it, its own task by default.
    DataError if segment, systems, groups, counts or probability are impossible.
    """

    segment: int
    systems: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...] = ()
    judges: tuple[str, ...] = ()
    item: str | None = None
    repeat: bool = False
    distinct: int | None = None
    probability: float | None = None
    signature: Signature | None = None
    task: str | None = None

    def __post_init__(self) -> None:
        if not self.groups:
            object.__setattr__(self, "groups", tuple((name,) for name in self.systems))
        fix = "An item names one system for each distinct output, and each system once."
        _check("item", self.segment, self.groups, self._faults(), fix)

    def _faults(self) -> Iterator[str]:
        pairs = zip(self.systems, self.groups, strict=False)
        if not self.systems:
            yield "no system"
        if len(self.groups) != len(self.systems) or any(s not in group for s, group in pairs):
            yield f"groups {[*map(list, self.groups)]} do not fit systems {list(self.systems)}"
        if len(set(self.judges)) != len(self.judges) or not all(self.judges):
            yield f"a judge without a name, or one who comes twice: {list(self.judges)}"
        if self.distinct is not None and self.distinct < len(self.systems):
            yield f"{len(self.systems)} outputs shown of {self.distinct}"
        if not _is_probability(self.probability):
            yield f"{self.probability} is no probability of something that was drawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """One judge's ranking of the distinct outputs of one sentence.

    ``segment`` is the number of the sentence, from 1; ``groups`` are the systems behind each
    distinct output shown; ``ranks`` has the rank of each group: 1 is best, equal ranks are ties. A
    judge who ``skipped`` the item passed on it: it stays in the data, without ranks. ``item`` is
    its own name in its file, if it has one: equal names mean the same sentence with the same
    outputs shown; ``document`` names its document, if its file tells. ``scores`` are a judge's of
    each group, if the judge gave scores; higher is better, ``None`` where one is missing.
    ``replies`` are what a language model answered, as :mod:`grammeter.verbs._judge` stores it.
    DataError if groups and ranks or scores do not fit, a rank is below 1, a score is not finite, or
    a system stands in two groups.
    """

    judge: str
    segment: int
    groups: tuple[tuple[str, ...], ...]
    ranks: tuple[int, ...] = ()
    skipped: bool = False
    seconds: float | None = None
    item: str | None = None
    document: str | None = None
    scores: tuple[float | None, ...] | None = None
    replies: tuple[Mapping[str, Any], ...] = field(default=(), hash=False, repr=False)

    def __post_init__(self) -> None:
        fix = "Each distinct output has one rank, 1 or worse, and one finite score or none; each"
        fix += " system has one output."
        what = f"judgment by {self.judge!r}"
        _check(what, self.segment, self.groups, self._faults(), fix)
        if not self.scores:
            object.__setattr__(self, "scores", None)  # of no group; as files have it

    def _faults(self) -> Iterator[str]:
        wanted = 0 if self.skipped and not self.ranks else len(self.groups)
        if len(self.ranks) != wanted:
            yield f"{len(self.ranks)} ranks for {len(self.groups)} groups"
        if any(rank < 1 for rank in self.ranks):
            yield f"a rank below 1: {list(self.ranks)}"
        finite = all(score is None or math.isfinite(score) for score in self.scores or ())
        if self.scores is not None and not (finite and len(self.scores) == len(self.groups)):
            yield f"{len(self.groups)} groups, but scores {list(self.scores)}"

    @property
    def systems(self) -> tuple[str, ...]:
        """All systems judged, group by group."""
        return tuple(system for group in self.groups for system in group)

    def with_systems(self, names: Collection[str]) -> "Ranking":
        """Take other systems out, and groups that lose all theirs with their ranks and scores."""
        groups = [tuple(name for name in group if name in names) for group in self.groups]
        left = [place for place, group in enumerate(groups) if group]
        ranks = tuple(self.ranks[place] for place in left) if self.ranks else ()
        scores = None if self.scores is None else tuple(self.scores[place] for place in left)
        chosen = tuple(groups[place] for place in left)
        return replace(self, groups=chosen, ranks=ranks, scores=scores)

    @property
    def document_name(self) -> str | None:
        """The document less the item's name, which some files add: ``a-24`` of item 24 is ``a``."""
        if self.document is None or self.item is None:
            return self.document
        return self.document.removesuffix(f"-{self.item}")


def with_sentence_numbers(rankings: Sequence[Ranking]) -> Sequence[Ranking]:
    """Give each sentence a number of its own.

    A number that stands in several documents means several sentences: then all are numbered
    anew, in the order of numbers and documents. Else the rankings stay as they are.
    """
    repeated = repeated_segments(rankings)
    if not repeated:
        return rankings
    keys = [
        (ranking.segment, ranking.document_name or "" if ranking.segment in repeated else "")
        for ranking in rankings
    ]
    numbers = {key: number for number, key in enumerate(sorted({*keys}), start=1)}
    return [replace(r, segment=numbers[key]) for r, key in zip(rankings, keys, strict=True)]


def repeated_segments(rankings: Iterable[Ranking]) -> dict[int, list[str]]:
    """Return the segments that stand in several documents, and the names of these."""
    documents: dict[int, set[str]] = {}
    for ranking in rankings:
        if ranking.document_name is not None:
            documents.setdefault(ranking.segment, set()).add(ranking.document_name)
    return {segment: sorted(names) for segment, names in documents.items() if len(names) > 1}


EditKey = tuple[int, int, int, str]
"""A distinct edit: segment from 1, start and end in tokens of the source from 0, correction."""


@dataclass(frozen=True, slots=True)
class EditJudgment:
    """An edit of one shown output, and whether the judge calls it valid; ``None``: no verdict.

    ``start`` and ``end`` count tokens of the source from 0, half-open; ``start == end`` inserts,
    an empty ``correction`` deletes.
    """

    start: int
    end: int
    correction: str
    verdict: bool | None = None

    @property
    def operation(self) -> str:
        """``M`` (missing: an insertion), ``U`` (unnecessary: a deletion), or ``R``."""
        return "M" if self.start == self.end else "R" if self.correction else "U"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditItem:
    """One judge's verdicts on the edits of the distinct outputs of one sentence.

    ``segment`` is the number of the sentence, from 1; ``shown`` has the systems behind each output,
    ``edits`` the edits of each. ``item`` is its name in its file, if it has one. ``marked`` are
    spans of the source, ``(start, end)``, that the judge calls wrong and left unrepaired.
    ``probability`` is how likely the item was to be drawn, if it was drawn with known chances; one
    over it is its weight. DataError if outputs and edits do not fit, an edit comes twice in an
    output, a span is impossible, or a system stands in two outputs.
    """

    judge: str
    segment: int
    shown: tuple[tuple[str, ...], ...]
    edits: tuple[tuple[EditJudgment, ...], ...]
    item: str | None = None
    marked: tuple[tuple[int, int], ...] = ()
    probability: float | None = None

    def __post_init__(self) -> None:
        fix = "Each output has its systems and its edits, each edit once."
        what = f"edits judged by {self.judge!r}"
        _check(what, self.segment, self.shown, self._faults(), fix)

    def _faults(self) -> Iterator[str]:
        if len(self.shown) != len(self.edits):
            yield f"{len(self.shown)} outputs, but edits of {len(self.edits)}"
        if not all(self.shown):
            yield "an output of no system"
        for group, edits in zip(self.shown, self.edits, strict=False):
            keys = [(edit.start, edit.end, edit.correction) for edit in edits]
            if twice := next((key for key in keys if keys.count(key) > 1), None):
                yield f"the edit {twice} comes twice in the output of {group[0]}"
        spans = [(edit.start, edit.end) for edits in self.edits for edit in edits]
        spans += self.marked
        if bad := [s for s in spans if len(s) != 2 or not 0 <= s[0] <= s[1]]:
            yield f"{bad[0]} is no span of tokens"
        if not _is_probability(self.probability):
            yield f"{self.probability} is no probability of something that was drawn"

    def occurrences(self) -> Iterator[tuple[tuple[str, ...], EditJudgment]]:
        """Yield each edit of each output with the output's systems."""
        for group, edits in zip(self.shown, self.edits, strict=True):
            yield from ((group, edit) for edit in edits)

    def key(self, edit: EditJudgment) -> EditKey:
        """Return the distinct edit of a judged one."""
        return self.segment, edit.start, edit.end, edit.correction


MEAN = "mean"
"""The criterion that averages all others, each mapped from its scale to 0..1."""

Scale = tuple[float, float]
"""The least and the largest score of a criterion."""


@dataclass(frozen=True, slots=True)
class Rating:
    """One judge's score of one output of a sentence for one criterion; higher is better.

    ``segment`` is the number of the sentence, from 1. ``systems`` wrote the output; it was rated
    once for all of them. ``score`` is ``None`` where the judge gave none. ``turn`` counts, from 0,
    how often the same judge has rated this output before, where a file has repetitions. DataError
    if a name is missing, a system comes twice, or the score is not finite.
    """

    judge: str
    segment: int
    systems: tuple[str, ...]
    criterion: str
    score: float | None
    turn: int = 0

    def __post_init__(self) -> None:
        fix = "A rating has a judge, a segment from 1, systems, a criterion and a number."
        what = f"rating by {self.judge!r}"
        _check(what, self.segment, [self.systems], self._faults(), fix)

    def _faults(self) -> Iterator[str]:
        if not all((self.judge, self.criterion, self.systems)):
            yield "a judge, system or criterion without a name"
        if self.score is not None and not math.isfinite(self.score):
            yield f"a score of {self.score}"

    @property
    def output(self) -> tuple[int, tuple[str, ...], int]:
        """What was rated: equal for ratings of several judges and criteria."""
        return self.segment, self.systems, self.turn


def mean_ratings(
    ratings: Sequence[Rating], scales: Mapping[str, Scale]
) -> list[tuple[int, Rating]]:
    """Average all criteria of each output by each judge, scales mapped to 0..1.

    The mean is missing unless all criteria of ``scales`` are there. Each comes with the place of
    the first rating that it is made of. DataError if a scale has no width.
    """
    if flat := next((name for name, (low, high) in scales.items() if not low < high), None):
        fault = f"the scale of {flat!r} has no width: all its scores are equal"
        raise DataError(fault, fix="Name the scale: --scale LO-HI, or a column 'scale'.")
    places: dict[object, int] = {}
    scores: dict[int, dict[str, float]] = {}
    for place, rating in enumerate(ratings):
        first = places.setdefault((rating.judge, *rating.output), place)
        low, high = scales[rating.criterion]
        of = scores.setdefault(first, {})
        if rating.score is not None:
            of[rating.criterion] = (rating.score - low) / (high - low)
    wanted = len(scales)
    means = (
        (at, sum(of.values()) / wanted if len(of) == wanted else None) for at, of in scores.items()
    )
    return [(at, replace(ratings[at], criterion=MEAN, score=mean)) for at, mean in means]
