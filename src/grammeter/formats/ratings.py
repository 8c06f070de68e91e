"""Human scores of single outputs: tables such as TMU-GFM's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grammeter.core import DataError
from grammeter.formats.columns import Columns, read_columns

COLUMNS = {
    "grammaticality": ("ave_g", "grammaticality"),
    "fluency": ("ave_f", "fluency"),
    "meaning": ("ave_m", "meaning"),
}
"""Criterion -> the columns that may hold its mean score, the first that is there; TMU-GFM's
``fluency`` and ``meaning`` hold single ratings, and stand behind its means."""

OUTPUTS = ("output", "hypothesis")


@dataclass(frozen=True, slots=True)
class Rating:
    """An output, and its mean human score by criterion."""

    source: str
    output: str
    scores: Mapping[str, float]


def read_ratings(path: str | Path) -> list[Rating]:
    """Read a table with ``source``, ``output`` and mean scores.

    The scores stand in ``ave_g``, ``ave_f``, ``ave_m``, as in TMU-GFM, or in columns named
    ``grammaticality``, ``fluency``, ``meaning``; one of the three is enough.

    Raises
    ------
    DataError
        With file and line: no such column, a cell that is no text or number, no row.
    """
    table = read_columns(path)
    sources = table.texts("source")
    outputs = table.texts(table.first_of(OUTPUTS) or OUTPUTS[0])
    scores = _scores(table)
    if not scores:
        raise DataError(
            "no column with human scores",
            where=str(path),
            fix="Name the columns grammaticality, fluency, meaning, or ave_g, ave_f, ave_m.",
        )
    return [
        Rating(source, output, {criterion: column[row] for criterion, column in scores.items()})
        for row, (source, output) in enumerate(zip(sources, outputs, strict=True))
    ]


def _scores(table: Columns) -> dict[str, list[float]]:
    named = {criterion: table.first_of(names) for criterion, names in COLUMNS.items()}
    return {criterion: table.numbers(name) for criterion, name in named.items() if name}
