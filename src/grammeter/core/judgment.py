"""Judgments: what one judge said of the outputs of one sentence."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grammeter.core.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """One judge's ranking of the distinct outputs of one sentence.

    Attributes
    ----------
    judge
        Who judged.
    segment
        Number of the sentence, from 1.
    groups
        The systems behind each distinct output shown; systems of one group wrote the same.
    ranks
        The rank of each group, 1 is best; equal ranks are ties. Empty if skipped.
    skipped
        The judge passed on this item; it stays in the data.
    seconds
        How long it took, if known.
    item
        The item's own name in its file, if it has one; equal names mean the same sentence
        with the same outputs shown.
    document
        The name of the document that the item belongs to, if its file tells.
    scores
        A judge's score of each group, if the judge gave scores; higher is better, ``None`` where
        one is missing.
    replies
        What a language model answered, as :mod:`grammeter.verbs._judge` stores it.

    Raises
    ------
    DataError
        If groups and ranks or scores do not fit, a rank is below 1, a score is not finite, or a
        system stands in two groups.
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
        if self.scores is not None and not self._fits(self.scores):
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
        return DataError(
            f"judgment by {self.judge!r} of segment {self.segment}: {message}",
            fix="Each distinct output has one rank, 1 or worse, and each system one output.",
        )

    def _fits(self, scores: tuple[float | None, ...]) -> bool:
        finite = all(score is None or math.isfinite(score) for score in scores)
        return finite and len(scores) == len(self.groups)

    @property
    def systems(self) -> tuple[str, ...]:
        """All systems judged, group by group."""
        return tuple(system for group in self.groups for system in group)

    def with_systems(self, names: Collection[str]) -> Ranking:
        """Take other systems out, and groups that lose all theirs with their ranks and scores."""
        groups = [tuple(name for name in group if name in names) for group in self.groups]
        left = [place for place, group in enumerate(groups) if group]
        return replace(
            self,
            groups=tuple(groups[place] for place in left),
            ranks=tuple(self.ranks[place] for place in left) if self.ranks else (),
            scores=None if self.scores is None else tuple(self.scores[place] for place in left),
        )

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
