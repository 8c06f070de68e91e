"""A recipe: how the figures of one table are made again from data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from grammeter.papers.cells import Ours, Tolerance, Value
from grammeter.papers.materials import Materials

Made = Mapping[tuple[str, str], Ours | Value]
"""Our figures by row and column, named as in the printed table."""


def _no_tolerances() -> Mapping[str, Tolerance]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one table is made again.

    Attributes
    ----------
    table
        Its name, as in the file of printed figures.
    make
        Makes the figures; rows and columns that it leaves out are left open, for the reason in
        ``gaps``. Those that are not printed become rows of ours beside the paper's.
    data
        The data sets that it reads, as ``grammeter data list`` names them.
    models
        Models without which it cannot run at all.
    tolerances
        By row, by column, or ``*`` for all: how near a figure must come, and why no nearer.
    gaps
        What the figures that are not made would need, by row, by column, or ``*``.
    """

    table: str
    make: Callable[[Materials], Made]
    data: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tolerances: Mapping[str, Tolerance] = field(default_factory=_no_tolerances)
    gaps: Mapping[str, str] = field(default_factory=dict[str, str])

    def tolerance(self, row: str, column: str) -> Tolerance | None:
        """Return how near a figure must come, if not to all printed digits."""
        keys = (row, column, "*")
        return next((self.tolerances[key] for key in keys if key in self.tolerances), None)

    def gap(self, row: str, column: str) -> str | None:
        """Return what a figure that is not made would need, if the recipe says it."""
        return next((self.gaps[key] for key in (row, column, "*") if key in self.gaps), None)
