"""Scores by error type as tables."""

from __future__ import annotations

from collections.abc import Mapping

from grammeter.core.score import Score
from grammeter.core.table import ScoreTable
from grammeter.report.tables import Table, format_number

COUNTS = ("tp", "fp", "fn")
SHARES = ("precision", "recall")


def types_tables(table: ScoreTable, *, percent: bool = False, digits: int = 4) -> list[Table]:
    """Return a table for each metric and system that has scores by error type."""
    return [
        _table(name, system, types, percent, digits)
        for name, column in table.items()
        for system, types in column.types.items()
    ]


def _table(name: str, system: str, types: Mapping[str, Score], percent: bool, digits: int) -> Table:
    rows = tuple(
        (
            system,
            name,
            kind,
            *(f"{score.parts[key]:g}" for key in COUNTS),
            *(format_number(score.parts[key], digits, percent=percent) for key in SHARES),
            format_number(score.value, digits, percent=percent),
        )
        for kind, score in types.items()
    )
    return Table(("system", "metric", "type", *COUNTS, *SHARES, "f"), rows, "lllrrrrrr")
