"""Scores by error type as tables: types by systems for people, long rows for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grammeter.core import MetricScores, Score, ScoreTable
from grammeter.rendering.tables import Table, best_rows, format_number

COUNTS = ("tp", "fp", "fn")
SHARES = ("precision", "recall")
ALL = "all types"
"""The last row: the metric's own score."""

RARE = 10
"""With fewer edits in the references, one edit changes recall by more than 0.1."""

ByType = Mapping[str, Mapping[str, Score]]
"""Scores by system and error type."""


@dataclass(frozen=True, slots=True)
class Style:
    """How numbers are written; see :func:`~grammeter.rendering.tables.format_number`."""

    percent: bool = False
    digits: int = 4

    def write(self, score: Score | None, part: str | None) -> str:
        """Write the value of a score or a part of it; counts as they are, ``None`` as nothing."""
        value = None if score is None else score.value if part is None else score.parts.get(part)
        if value is None:
            return ""
        if part in COUNTS:
            return f"{value:g}"
        return format_number(value, self.digits, percent=self.percent)


def types_tables(table: ScoreTable, style: Style, parts: Sequence[str] = ()) -> Iterator[Table]:
    """Lay out scores by error type for people: a row a type, a column a system.

    The most frequent types of the references come first. A single system has all parts; several
    systems have only ``parts``.
    """
    for name, column in table.items():
        if column.types:
            shown = parts or ((*COUNTS, *SHARES) if len(column.types) == 1 else ())
            yield _pivot(f"{name} by type", column, column.types, style, shown)
        if column.gold_types:
            yield _pivot(f"{name}, recall by gold type", column, column.gold_types, style, ())


def long_types_tables(table: ScoreTable, style: Style) -> Iterator[Table]:
    """Lay out scores by error type for programs: a row a metric, system and type."""
    for head, types, parts, value in (
        ("type", {n: c.types for n, c in table.items()}, (*COUNTS, *SHARES), "f"),
        ("gold_type", {n: c.gold_types for n, c in table.items()}, ("tp", "fn"), "recall"),
    ):
        rows = tuple(
            (
                system,
                name,
                kind,
                *(style.write(score, part) for part in parts),
                style.write(score, None),
            )
            for name, by_type in types.items()
            for system, scores in by_type.items()
            for kind, score in scores.items()
        )
        if rows:
            header = ("system", "metric", head, *parts, value)
            yield Table(header, rows, "lll" + "r" * (len(parts) + 1))


def gold_range(kind: str, types: ByType) -> tuple[float, float]:
    """Return the least and the largest number of edits of a type in the systems' references."""
    sizes = [_gold(scores[kind]) if kind in scores else 0 for scores in types.values()]
    return min(sizes), max(sizes)


def commonest_first(types: ByType) -> list[str]:
    """Return all types, the most frequent in the references first."""
    kinds = {kind for scores in types.values() for kind in scores}
    return sorted(kinds, key=lambda kind: (-gold_range(kind, types)[1], kind))


def _pivot(
    title: str, column: MetricScores, types: ByType, style: Style, parts: Sequence[str]
) -> Table:
    kinds = commonest_first(types)
    cells = [(system, part) for system in types for part in (*parts, None)]
    rows: list[tuple[str, ...]] = [
        (
            kind,
            span(gold_range(kind, types)),
            *(style.write(types[system].get(kind), part) for system, part in cells),
        )
        for kind in kinds
    ]
    if types is column.types:
        rows.append(_whole(column, style, cells))
    heads = [system if part is None else f"{system} {part}" for system, part in cells]
    notes = tuple(_notes(kinds, types))
    best = _best(kinds, types, cells)
    return Table((title, "gold", *heads), tuple(rows), "lr" + "r" * len(cells), notes, best)


def _whole(
    column: MetricScores, style: Style, cells: Sequence[tuple[str, str | None]]
) -> tuple[str, ...]:
    sizes = [_gold(column[system]) for system in column.types]
    values = (style.write(column[system], part) for system, part in cells)
    return (ALL, span((min(sizes), max(sizes))), *values)


def _best(
    kinds: Sequence[str], types: ByType, cells: Sequence[tuple[str, str | None]]
) -> frozenset[tuple[int, int]]:
    """Return the cells of the best systems of each type; none for a single system."""
    places = [place for place, (_, part) in enumerate(cells, start=2) if part is None]
    if len(places) < 2:
        return frozenset()
    values = [
        [scores[kind].value if kind in scores else 0.0 for scores in types.values()]
        for kind in kinds
    ]
    return frozenset(
        (row, places[at])
        for row, scores in enumerate(values)
        if any(scores)
        for at in best_rows(scores, higher_is_better=True)
    )


def _notes(kinds: Sequence[str], types: ByType) -> Iterator[str]:
    several = any(low != high for low, high in (gold_range(kind, types) for kind in kinds))
    by_system = ", which differ by system" if several else ""
    yield f"gold: edits of this type in the chosen references (tp + fn){by_system}"
    rare = sum(gold_range(kind, types)[1] < RARE for kind in kinds)
    if rare:
        yield f"{rare} of {len(kinds)} types have fewer than {RARE}: their figures say little"


def _gold(score: Score) -> float:
    return score.parts["tp"] + score.parts["fn"]


def span(sizes: tuple[float, float]) -> str:
    """Write a range of numbers: ``7-8``, or one number."""
    low, high = sizes
    return f"{high:g}" if low == high else f"{low:g}-{high:g}"
