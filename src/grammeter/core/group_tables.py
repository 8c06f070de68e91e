"""Tables of scores by group of sentences, from the block ``groups`` of a score table."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from grammeter.core import metric_scores, tables

MACRO = "macro"
"""The mean over groups, beside them."""

FEW = 30  # with fewer sentences than these a group's score says little


def group_value(scores: Mapping[str, Any], system: str) -> float:
    """Return a system's value among the scores of a group; NaN if there is none."""
    value = scores.get(system, {}).get("value")
    return math.nan if value is None else value


def tables_by_group(
    block: Mapping[str, Any], columns: Mapping[str, metric_scores.MetricScores]
) -> Iterator[tables.Table]:
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
        rows: list[list[tables.Cell]] = []
        for system, score in column.items():
            values = {group: group_value(scores, system) for group, scores in by_group.items()}
            figures = [values[group] for group in block["order"]]
            rows.append([system, *figures, score.value, values[MACRO]])
        missing = [
            f"{name}, {system}, {group}: no score: {score['reason']}"
            for group, scores in by_group.items()
            for system, score in scores.items()
            if score["value"] is None
        ]
        figures = tables.Column.many("score", *heads, tsv=4, best=best)
        yield tables.Table.of((f"{name} by {block['by']}", *figures), rows, [*notes, *missing])


def long_group_tables(block: Mapping[str, Any]) -> Iterator[tables.Table]:
    """Yield a table for programs: a row a system, metric and group."""
    sizes = {**block["segments"], MACRO: sum(block["segments"].values())}
    rows = [
        (system, metric, group, sizes[group], group_value(scores, system))
        for metric, by_group in block["metrics"].items()
        for group, scores in by_group.items()
        for system in scores
    ]
    count, value = tables.Column("segments", "count"), tables.Column("value", "score", tsv=4)
    yield tables.Table.of(("system", "metric", "group", count, value), rows)
