"""A recipe: how to make the figures of one table from data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from grammeter.core import ScoreTable
from grammeter.meta import TESTED, Design, SystemMeta, correlate_systems
from grammeter.papers.cells import Ours, Tolerance, Value
from grammeter.papers.materials import Materials

Made = Mapping[tuple[str, str], Ours | Value]
"""Our figures by row and column, named as in the printed table."""


def _nothing(materials: Materials) -> Made:
    """Return no figures."""
    del materials
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to make one table again.

    Attributes
    ----------
    table
        Its name, as in the file of printed figures.
    make
        Makes the figures; default: none. Missing ones stay open, for the reason in ``gaps``;
        those that are not printed become rows beside the paper's.
    data
        Data sets that it reads, as in ``grammeter data list``.
    models
        Models that it cannot do without.
    tolerances
        Tolerances by row, by column, or ``*`` for all.
    gaps
        What missing figures would need, by row, by column, or ``*``.
    """

    table: str
    make: Callable[[Materials], Made] = _nothing
    data: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict[str, Tolerance])
    gaps: Mapping[str, str] = field(default_factory=dict[str, str])

    def tolerance(self, row: str, column: str) -> Tolerance | None:
        """Return the tolerance of a figure; ``None``: equal in all printed digits."""
        keys = (row, column, "*")
        return next((self.tolerances[key] for key in keys if key in self.tolerances), None)

    def gap(self, row: str, column: str) -> str | None:
        """Return what a missing figure would need, if the recipe says so."""
        return next((self.gaps[key] for key in (row, column, "*") if key in self.gaps), None)


People = Mapping[str, Mapping[str, float]]
"""People's scores by a short name of the ranking (``EW``, ``TS``), then by system."""

COLUMNS = ("EW Pearson", "EW Spearman", "TS Pearson", "TS Spearman")


def correlated(
    table: ScoreTable, people: People, *, drop: Sequence[str] = ()
) -> dict[str, SystemMeta]:
    """Correlate metrics with each ranking, without intervals."""
    design = Design(interval="none")
    return {
        who: correlate_systems(table, human, design=design, drop=drop)
        for who, human in people.items()
    }


def correlation_cells(
    table: ScoreTable, rows: Mapping[str, str], people: People, *, drop: Sequence[str] = ()
) -> dict[tuple[str, str], float]:
    """Return coefficients by row and column, such as ``EW Pearson``.

    Parameters
    ----------
    table
        Scores of all systems that people scored.
    rows
        The name of each metric's row, by its spelling.
    drop
        Systems to leave out.
    """
    return {
        (row, f"{who} {kind.capitalize()}"): result[spelling][kind].value
        for who, result in correlated(table, people, drop=drop).items()
        for spelling, row in rows.items()
        for kind in TESTED
    }
