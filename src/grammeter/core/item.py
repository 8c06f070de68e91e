"""Items of a campaign: which outputs of one sentence somebody is to judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grammeter.core.errors import DataError
from grammeter.core.signature import Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Some distinct outputs of one sentence, to be ranked side by side.

    Attributes
    ----------
    segment
        Number of the sentence, from 1.
    systems
        One system for each output shown; it stands for all that wrote the same.
    groups
        All systems behind each output, in the order of ``systems``; left out, each system
        stands for itself.
    judges
        Who is to see it; empty if that is not planned.
    item
        The item's own name; a repeat has the name of what it repeats.
    repeat
        Whether the same judge has seen it before.
    distinct
        How many distinct outputs the sentence has, those not shown included.
    probability
        The expected share of all draws that fall on this sentence; one over it is the weight
        by which a ranking of these items becomes one of all sentences. ``None`` if unknown.
    signature
        Everything the selection depends on.

    Raises
    ------
    DataError
        If segment, systems, groups, counts or probability are impossible.
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

    def __post_init__(self) -> None:
        if not self.groups:
            object.__setattr__(self, "groups", tuple((name,) for name in self.systems))
        fault = self._fault()
        if fault:
            fix = "An item names one system for each distinct output, and each system once."
            raise DataError(f"item of segment {self.segment}: {fault}", fix=fix)

    def _fault(self) -> str | None:
        everyone = [name for group in self.groups for name in group]
        pairs = zip(self.systems, self.groups, strict=False)
        if self.segment < 1:
            return "segments count from 1"
        if not self.systems or not all(everyone):
            return "a system without a name, or none at all"
        if len(self.groups) != len(self.systems) or any(s not in group for s, group in pairs):
            return f"groups {_listed(self.groups)} do not fit systems {list(self.systems)}"
        if len(set(everyone)) != len(everyone):
            return f"a system comes twice: {everyone}"
        if len(set(self.judges)) != len(self.judges) or not all(self.judges):
            return f"a judge without a name, or one who comes twice: {list(self.judges)}"
        return self._fault_of_numbers()

    def _fault_of_numbers(self) -> str | None:
        if self.distinct is not None and self.distinct < len(self.systems):
            return f"{len(self.systems)} outputs shown of {self.distinct}"
        if self.probability is not None and not 0 < self.probability <= 1:
            return f"{self.probability} is no probability of something that was drawn"
        return None


def _listed(groups: Sequence[Sequence[str]]) -> list[list[str]]:
    return [list(group) for group in groups]
