"""Tables of ``grammeter compare``, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grammeter.rendering import (
    Column,
    Table,
    best_rows,
    format_number,
    of_columns,
    pvalue_text,
    score_notes,
    six_digits,
    span,
)

if TYPE_CHECKING:
    from grammeter.verbs import Comparison, Difference, MetricComparison, SystemResult

LONG = ("value", "low", "high", "difference", "pvalue", "pvalue_raw", "letters")
"""Columns of a table for programs, behind those that say what a row is about."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a comparison is printed.

    Attributes
    ----------
    percent, digits
        As for :func:`~grammeter.report.tables.format_number`; of scores, not of p-values.
    raised
        Letters stand behind the values as marks, not in a column of their own.
    """

    percent: bool = False
    digits: int = 4
    raised: bool = False

    def number(self, value: float | None, *, sign: bool = False) -> str:
        """Write a score, a bound, or with ``sign`` a difference; nothing if there is none."""
        if value is None:
            return ""
        return format_number(value, self.digits, percent=self.percent, sign=sign)

    def interval(self, low: float, high: float) -> str:
        """Write an interval; nothing if there is none."""
        return "" if math.isnan(low) else f"[{self.number(low)}, {self.number(high)}]"


def comparison_tables(comparison: Comparison, style: Style) -> Iterator[Table]:
    """Lay out a row for each system, best by the first metric on top; then error types.

    Each metric has its value and interval, then either the difference from the baseline with
    its p-value or the letters.
    """
    names = _best_first(comparison)
    columns = [Column("system", names, "l")]
    for metric, results in comparison.items():
        columns += _metric_columns(metric, results, names, comparison, style)
    yield of_columns(columns, _notes(comparison))
    for metric, results in comparison.items():
        if results.types:
            yield _types_table(metric, results, comparison, style)


def comparison_rows(comparison: Comparison, style: Style) -> Iterator[Table]:
    """Lay out a row for each metric and system, then also for each type, for programs.

    P-values have six digits; what does not apply is empty.
    """
    rows = tuple(
        (system, metric, *_row(result, style))
        for metric, results in comparison.items()
        for system, result in results.items()
    )
    yield Table(("system", "metric", *LONG), rows, "ll" + "r" * 6 + "l")
    typed = tuple(
        (system, metric, kind, f"{result.gold:g}", *_row(result, style))
        for metric, results in comparison.items()
        for kind, systems in results.types.items()
        for system, result in systems.items()
        if result.gold is not None
    )
    if typed:
        yield Table(("system", "metric", "type", "gold", *LONG), typed, "lll" + "r" * 7 + "l")


def difference_table(result: Difference, style: Style, *, named: bool = True) -> Table:
    """Lay out a row for each sentence or type: both scores and the difference, by metric.

    ``named``: the heads name the systems.
    """
    labels = [str(result.label(at)) for at in result.order]
    columns = [Column("segment", labels) if result.types is None else Column("type", labels, "l")]
    systems = (result.first, result.second) if named else ("first", "second")
    for name, values in result.values.items():
        for head, row in zip((*systems, "difference"), values, strict=True):
            cells = [style.number(float(row[at])) for at in result.order]
            columns.append(Column(f"{name} {head}", cells))
    return of_columns(columns, [score_notes(name, c)[0] for name, c in result.columns.items()])


def _row(result: SystemResult, style: Style) -> tuple[str, ...]:
    scores = (result.value, result.low, result.high, result.difference)
    pvalues = (six_digits(result.pvalue), six_digits(result.pvalue_raw))
    return (*map(style.number, scores), *pvalues, result.letters or "")


def _best_first(comparison: Comparison) -> list[str]:
    """Return all systems, those with the best value of the first metric first, NaN last."""
    names = list(dict.fromkeys(name for results in comparison.values() for name in results))
    first = next(iter(comparison.values()), None)
    if first is None:
        return names
    sign = -1 if first.higher_is_better else 1
    values = {name: sign * result.value for name, result in first.items()}
    return sorted(
        names, key=lambda n: values[n] if math.isfinite(values.get(n, math.nan)) else math.inf
    )


def _metric_columns(
    metric: str, results: MetricComparison, names: list[str], comparison: Comparison, style: Style
) -> Iterator[Column]:
    baseline, level = comparison.design.baseline, comparison.design.level
    listed = [results.systems.get(name) for name in names]
    values = [math.nan if r is None else r.value for r in listed]
    letters = ["" if r is None else r.letters or "" for r in listed]
    yield Column(
        metric,
        ["" if r is None else style.number(r.value) for r in listed],
        best=best_rows(values, higher_is_better=results.higher_is_better),
        marks={row: text for row, text in enumerate(letters) if style.raised and text},
    )
    intervals = ["" if r is None else style.interval(r.low, r.high) for r in listed]
    yield Column(f"{comparison.design.confidence * 100:g}% interval", intervals)
    if baseline is None:
        if not style.raised:
            yield Column("letters", letters, "l")
        return
    others = [None if name == baseline else r for name, r in zip(names, listed, strict=True)]
    differences = ["" if r is None else style.number(r.difference, sign=True) for r in others]
    yield Column("diff", differences)
    pvalues = [None if r is None else r.pvalue for r in others]
    stars = {row: " *" for row, p in enumerate(pvalues) if p is not None and p <= level}
    yield Column("p", ["" if p is None else pvalue_text(p) for p in pvalues], "l", marks=stars)


def _types_table(
    metric: str, results: MetricComparison, comparison: Comparison, style: Style
) -> Table:
    """Lay out a row for each error type, the commonest on top, and a column for each system."""
    baseline, level = comparison.design.baseline, comparison.design.level
    gold = {
        kind: [result.gold or 0 for result in systems.values()]
        for kind, systems in results.types.items()
    }
    kinds = sorted(gold, key=lambda kind: (-max(gold[kind]), kind))
    spans = [span((min(gold[kind]), max(gold[kind]))) for kind in kinds]
    columns = [Column(f"{metric} by type", kinds, "l"), Column("gold", spans)]
    values = [[results.types[kind][system].value for system in results] for kind in kinds]
    best = [[x for x in best_rows(row, higher_is_better=True) if row[x]] for row in values]
    for at, system in enumerate(results):
        listed = [results.types[kind][system] for kind in kinds]
        marks = {row: _mark(result, level) for row, result in enumerate(listed)}
        columns.append(
            Column(
                system,
                ["" if math.isnan(r.value) else style.number(r.value) for r in listed],
                "l" if baseline is None else "r",
                [row for row, winners in enumerate(best) if at in winners],
                {row: mark for row, mark in marks.items() if mark},
            )
        )
    meaning = (
        f"Systems that share a letter in a row do not differ significantly (level {level:g})."
        if baseline is None
        else f"* p <= {level:g} against {baseline}"
    )
    return of_columns(
        columns,
        [
            "gold: edits of this type in the chosen references (tp + fn)",
            meaning,
            f"by type: {next(iter(results.types.values())).signature}",
        ],
    )


def _mark(result: SystemResult, level: float) -> str:
    if result.difference is None:
        return f" {result.letters}" if result.letters else ""
    return " *" if result.pvalue is not None and result.pvalue <= level else ""


def _notes(comparison: Comparison) -> Iterator[str]:
    level = comparison.design.level
    if comparison.design.baseline is not None:
        yield f"diff, p: against {comparison.design.baseline}; * p <= {level:g}"
    elif any(results.lettered for results in comparison.values()):
        yield f"Systems that share a letter do not differ significantly (level {level:g})."
    for metric, results in comparison.items():
        lower = "" if results.higher_is_better else " (lower is better)"
        yield f"{metric}{lower}: {results.signature}"
        for name, result in results.items():
            if missing := _missing(result):
                yield f"{metric}, {name}: {missing}: {result.reason}"


def _missing(result: SystemResult) -> str:
    """Name the figure that a system lacks, if it does."""
    if math.isnan(result.value):
        return "NaN"
    if math.isnan(result.low):
        return "no interval"
    return "no p-value" if result.difference and math.isnan(result.pvalue or 0) else ""
