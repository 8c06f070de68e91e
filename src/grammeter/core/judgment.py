"""Items, which outputs of one sentence somebody is to judge, and judgments, what a judge said."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grammeter.core.errors import DataError
from grammeter.core.signature import Signature


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
        if fault := next(self._faults(), None):
            fix = "An item names one system for each distinct output, and each system once."
            raise DataError(f"item of segment {self.segment}: {fault}", fix=fix)

    def _faults(self) -> Iterator[str]:
        everyone = [name for group in self.groups for name in group]
        pairs = zip(self.systems, self.groups, strict=False)
        if self.segment < 1:
            yield "segments count from 1"
        if not self.systems or not all(everyone):
            yield "a system without a name, or none at all"
        if len(self.groups) != len(self.systems) or any(s not in group for s, group in pairs):
            yield f"groups {[*map(list, self.groups)]} do not fit systems {list(self.systems)}"
        if len(set(everyone)) != len(everyone):
            yield f"a system comes twice: {everyone}"
        if len(set(self.judges)) != len(self.judges) or not all(self.judges):
            yield f"a judge without a name, or one who comes twice: {list(self.judges)}"
        if self.distinct is not None and self.distinct < len(self.systems):
            yield f"{len(self.systems)} outputs shown of {self.distinct}"
        if self.probability is not None and not 0 < self.probability <= 1:
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
        wanted = 0 if self.skipped and not self.ranks else len(self.groups)
        if len(self.ranks) != wanted:
            raise self._fault(f"{len(self.ranks)} ranks for {len(self.groups)} groups")
        if any(rank < 1 for rank in self.ranks):
            raise self._fault(f"a rank below 1: {list(self.ranks)}")
        finite = all(score is None or math.isfinite(score) for score in self.scores or ())
        if self.scores is not None and not (finite and len(self.scores) == len(self.groups)):
            fault = self._fault(f"{len(self.groups)} groups, but scores {list(self.scores)}")
            raise DataError(fault.message, fix="Give one finite number or None for each output.")
        if self.segment < 1:
            raise self._fault(f"there is no segment {self.segment}")
        if not self.scores:
            object.__setattr__(self, "scores", None)  # of no group; as files have it
        systems = self.systems
        if len(set(systems)) != len(systems) or not all(systems):
            raise self._fault(f"a system without a name or in two groups: {list(systems)}")

    def _fault(self, message: str) -> DataError:
        fix = "Each distinct output has one rank, 1 or worse, and each system one output."
        fault = f"judgment by {self.judge!r} of segment {self.segment}: {message}"
        return DataError(fault, fix=fix)

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
