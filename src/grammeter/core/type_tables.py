"""Tables of scores by error type, and by group of sentences."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grammeter.core.metric_scores import ByType, MetricScores
from grammeter.core.score import Score
from grammeter.core.tables import Cell, Column, Table, best_rows

MACRO = "macro"
"""The mean over groups, beside them."""

FEW = 30  # with fewer sentences than these a group's score says little

COUNTS = ("tp", "fp", "fn")
SHARES = ("precision", "recall")
ALL = "all types"  # the last row: the metric's own score
RARE = 10  # with fewer edits in the references, one edit changes recall by more than 0.1


def group_value(scores: Mapping[str, Any], system: str) -> float:
    """Return a system's value among the scores of a group; NaN if there is none."""
    value = scores.get(system, {}).get("value")
    return math.nan if value is None else value


def tables_by_group(
    block: Mapping[str, Any], columns: Mapping[str, MetricScores]
) -> Iterator[Table]:
    """Yield a table for each metric: a row a system, a column a group, then all and the mean."""
    sizes: dict[str, int] = block["segments"]
    few = {group for group, size in sizes.items() if size < FEW}
    counts = ", ".join(f"{group}{' *' * (group in few)} {size}" for group, size in sizes.items())
    notes = [f"sentences: {counts}; macro: the mean over groups"]
    notes += [f"* fewer than {FEW} sentences: such a score says little"] if few else []
    for name, by_group in block["metrics"].items():
        column = columns[name]
        best = "high" if column.higher_is_better else "low"
        heads = [*(f"{g}{' *' * (g in few)}" for g in block["order"]), "all", MACRO]
        rows: list[list[Cell]] = []
        for system, score in column.items():
            *figures, mean = (group_value(by_group[g], system) for g in (*block["order"], MACRO))
            rows.append([system, *figures, score.value, mean])
        missing = [
            f"{name}, {system}, {group}: no score: {score['reason']}"
            for group, scores in by_group.items()
            for system, score in scores.items()
            if score["value"] is None
        ]
        figures = Column.many("score", *heads, tsv=4, best=best)
        yield Table.of((f"{name} by {block['by']}", *figures), rows, [*notes, *missing])


def long_group_tables(block: Mapping[str, Any]) -> Iterator[Table]:
    """Yield a table for programs: a row a system, metric and group."""
    sizes = {**block["segments"], MACRO: sum(block["segments"].values())}
    rows = [
        (system, metric, group, sizes[group], group_value(scores, system))
        for metric, by_group in block["metrics"].items()
        for group, scores in by_group.items()
        for system in scores
    ]
    count, value = Column("segments", "count"), Column("value", "score", tsv=4)
    yield Table.of(("system", "metric", "group", count, value), rows)


def part_of(score: Score | None, part: str | None) -> float | None:
    """Return a part of a score, with ``None`` its value."""
    return None if score is None else score.value if part is None else score.parts.get(part)


def types_tables(columns: Mapping[str, MetricScores], parts: Sequence[str]) -> Iterator[Table]:
    """Lay out scores by type: a row a type, a column a system; for several only ``parts``."""
    for name, column in columns.items():
        if column.types:
            chosen = parts or ((*COUNTS, *SHARES) if len(column.types) == 1 else ())
            yield _pivot(f"{name} by type", column, column.types, chosen)
        if column.gold_types:
            yield _pivot(f"{name}, recall by gold type", column, column.gold_types, ())


def long_types_tables(columns: Mapping[str, MetricScores]) -> Iterator[Table]:
    """Lay out scores by type for programs: a row a metric, system and type."""
    for head, types, parts, value in (
        ("type", {n: c.types for n, c in columns.items()}, (*COUNTS, *SHARES), "f"),
        ("gold_type", {n: c.gold_types for n, c in columns.items()}, ("tp", "fn"), "recall"),
    ):
        rows = [
            (system, name, kind, *(part_of(score, part) for part in (*parts, None)))
            for name, by_type in types.items()
            for system, scores in by_type.items()
            for kind, score in scores.items()
        ]
        if rows:
            figures = (*(_column(part, part) for part in parts), _column(value, None))
            yield Table.of(("system", "metric", head, *figures), rows)


def gold_ranges(types: ByType) -> dict[str, tuple[float, float]]:
    """Return the least and the largest number of edits of each type in the systems' references.

    The types that are the most frequent there come first.
    """
    kinds = sorted({kind for scores in types.values() for kind in scores})
    sizes = ([_gold(of[kind]) if kind in of else 0 for of in types.values()] for kind in kinds)
    ranges = {kind: (min(of), max(of)) for kind, of in zip(kinds, sizes, strict=True)}
    return dict(sorted(ranges.items(), key=lambda each: -each[1][1]))


def _column(head: str, part: str | None) -> Column:
    return Column(head, "count" if part in COUNTS else "score", tsv=4)


def _pivot(title: str, column: MetricScores, types: ByType, parts: Sequence[str]) -> Table:
    ranges = gold_ranges(types)
    cells = [(system, part) for system in types for part in (*parts, None)]
    rows: list[tuple[Cell, ...]] = [
        (kind, ends, *(part_of(types[system].get(kind), part) for system, part in cells))
        for kind, ends in ranges.items()
    ]
    if types is column.types:
        sizes = [_gold(column[system]) for system in types]
        whole = (part_of(column[system], part) for system, part in cells)
        rows.append((ALL, (min(sizes), max(sizes)), *whole))
    heads = [_column(" ".join(filter(None, cell)), cell[1]) for cell in cells]
    columns = (Column(title), Column("gold", "count"), *heads)
    best = _best([*ranges], types, cells)
    return Table(columns, tuple(rows), tuple(_notes([*ranges.values()])), best=best)


def _best(
    kinds: Sequence[str], types: ByType, cells: Sequence[tuple[str, str | None]]
) -> frozenset[tuple[int, int]]:
    """Return the cells of the best systems of each type; none for a single system."""
    places = [place for place, (_, part) in enumerate(cells, start=2) if part is None]
    best: set[tuple[int, int]] = set()
    for row, kind in enumerate(kinds if len(places) > 1 else ()):
        values = [scores[kind].value if kind in scores else 0.0 for scores in types.values()]
        top = best_rows(values, higher_is_better=True) if any(values) else ()
        best |= {(row, places[at]) for at in top}
    return frozenset(best)


def _notes(ranges: Sequence[tuple[float, float]]) -> Iterator[str]:
    by_system = ", which differ by system" if any(low != high for low, high in ranges) else ""
    yield f"gold: edits of this type in the chosen references (tp + fn){by_system}"
    if rare := sum(high < RARE for _, high in ranges):
        yield f"{rare} of {len(ranges)} types have fewer than {RARE}: their figures say little"


def _gold(score: Score) -> float:
    return score.parts["tp"] + score.parts["fn"]
