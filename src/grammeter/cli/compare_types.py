"""The tables of ``grammeter compare --types``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grammeter.rendering import Table
    from grammeter.verbs import Comparison, MetricComparison, SystemResult


def types_tables(comparison: Comparison, number: Callable[[float], str]) -> Iterator[Table]:
    """Lay out comparisons by error type: a row a type, the commonest on top, a column a system.

    ``number`` writes a score.
    """
    from grammeter.rendering import Table, best_rows, span

    baseline = comparison.design.baseline
    for name, metric in comparison.items():
        if not metric.types:
            continue
        sizes = {kind: _gold(systems) for kind, systems in metric.types.items()}
        kinds = sorted(sizes, key=lambda kind: (-sizes[kind][1], kind))
        results = [[metric.types[kind][system] for system in metric] for kind in kinds]
        rows = tuple(
            (
                kind,
                span(sizes[kind]),
                *(_cell(result, number) for result in systems),
            )
            for kind, systems in zip(kinds, results, strict=True)
        )
        marks = {
            (row, place): mark
            for row, systems in enumerate(results)
            for place, result in enumerate(systems, start=2)
            if (mark := _mark(result, comparison.design.level))
        }
        best = {
            (row, place + 2)
            for row, systems in enumerate(results)
            for place in best_rows([result.value for result in systems], higher_is_better=True)
            if systems[place].value
        }
        side = "l" if baseline is None else "r"
        yield Table(
            (f"{name} by type", "gold", *metric),
            rows,
            "lr" + side * len(metric),
            tuple(_notes(metric, baseline, comparison.design.level)),
            frozenset(best),
            marks,
        )


def long_types_table(
    comparison: Comparison, heads: tuple[str, ...], cells: Callable[[SystemResult], tuple[str, ...]]
) -> Table:
    """Lay out comparisons by error type for programs: a row a system, metric and type."""
    from grammeter.rendering import Table

    rows = tuple(
        (system, name, kind, f"{result.gold:g}", *cells(result))
        for name, results in comparison.items()
        for kind, systems in results.types.items()
        for system, result in systems.items()
        if result.gold is not None
    )
    header = ("system", "metric", "type", "gold", *heads)
    return Table(header, rows, "lll" + "r" * (len(heads)) + "l")


def _cell(result: SystemResult, number: Callable[[float], str]) -> str:
    return "" if math.isnan(result.value) else number(result.value)


def _gold(metric: MetricComparison) -> tuple[float, float]:
    sizes = [result.gold or 0 for result in metric.values()]
    return min(sizes), max(sizes)


def _mark(result: SystemResult, level: float) -> str:
    if result.difference is None:
        return f" {result.letters}" if result.letters else ""
    return " *" if result.pvalue is not None and result.pvalue <= level else ""


def _notes(metric: MetricComparison, baseline: str | None, level: float) -> Iterator[str]:
    yield "gold: edits of this type in the chosen references (tp + fn)"
    if baseline is None:
        yield f"Systems that share a letter in a row do not differ significantly (level {level:g})."
    else:
        yield f"* p <= {level:g} against {baseline}"
    yield f"by type: {next(iter(metric.types.values())).signature}"
