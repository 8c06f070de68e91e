"""Correlations of metrics with people's scores of systems, as cells of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grammeter.core import ScoreTable
from grammeter.meta import TESTED, Design, SystemMeta, correlate_systems

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
