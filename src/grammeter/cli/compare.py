"""``grammeter compare``: paired significance between systems from stored scores."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grammeter.cli.chance_arguments import add_confidence, add_resamples, add_seed
from grammeter.cli.compare_difference import SHOWN, add_difference, run_difference
from grammeter.cli.compare_types import long_types_table, types_tables
from grammeter.cli.output import add_numbers, add_output, decimals, drawn, emit, notice, progress
from grammeter.cli.types_arguments import add_types

if TYPE_CHECKING:
    from grammeter.rendering import Table
    from grammeter.verbs import Comparison, MetricComparison, SystemResult

TESTS = ("bootstrap", "randomisation")
CORRECTIONS = ("none", "holm", "bonferroni", "benjamini-hochberg")

LONG = ("value", "low", "high", "difference", "pvalue", "pvalue_raw", "letters")
"""Columns of a table for programs, behind those that say what a row is about."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Compare systems on the same sentences: percentile intervals and two-sided p-values,"
        " against a baseline or, without one, every pair with significance letters."
    )
    add = parser.add_argument
    add(
        "scores",
        help="what 'grammeter score ... -o FILE' wrote, or TSV with the header 'metric system"
        " segment value', or judgments; - is standard input",
    )
    add("--baseline", metavar="SYSTEM", help="compare all systems with this one")
    add("--test", choices=TESTS, default="bootstrap", help="default: %(default)s")
    add_resamples(
        add,
        default=None,
        help_="default: 1000; with a correction at least 80 for each comparison, or, where that"
        " takes more than seconds, Benjamini-Hochberg in its place",
    )
    add_seed(add)
    add_confidence(add)
    add(
        "--correction",
        choices=CORRECTIONS,
        default="none",
        help="for all comparisons under one metric; default: %(default)s",
    )
    add("-m", "--metrics", nargs="+", metavar="METRIC", help="default: all in the file")
    add_types(add, "also compare by error type, if 'score --types -o FILE' stored them")
    add_difference(add)
    add_numbers(add)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Compare and print; return the exit code."""
    from grammeter.core import UsageError
    from grammeter.formats import metric_name, read_any_scores
    from grammeter.verbs import as_table, systems

    scores = read_any_scores(args.scores)
    for text in getattr(scores, "notices", ()):
        notice(args, text)
    table = as_table(scores, metric_name(args.scores), judged_only=not args.difference)
    if args.difference:
        return run_difference(args, table)
    if args.show != SHOWN:
        raise UsageError("--show has no effect without --difference", fix="Leave it out.")
    with progress(args):
        comparison = systems.compare(
            table,
            baseline=args.baseline,
            test=args.test,
            resamples=args.resamples,
            seed=args.seed,
            confidence=args.confidence,
            correction=args.correction,
            metrics=args.metrics,
            types=args.types,
        )
    emit(args, comparison.to_json(), lambda: _drawn(comparison, args))
    return 0


@dataclass(frozen=True, slots=True)
class Style:
    """How a comparison is printed.

    Attributes
    ----------
    percent, digits
        As for :func:`~grammeter.rendering.tables.format_number`; of scores, not of p-values.
    raised
        Letters stand behind the values as marks, not in a column of their own.
    """

    percent: bool = False
    digits: int = 4
    raised: bool = False

    def number(self, value: float, *, sign: bool = False) -> str:
        """Write a score, a bound, or with ``sign`` a difference."""
        from grammeter.rendering import format_number

        return format_number(value, self.digits, percent=self.percent, sign=sign)


def comparison_table(comparison: Comparison, style: Style) -> Table:
    """Lay out a comparison for people: a row for each system, best by the first metric on top.

    Each metric has its value and interval, then either the difference from the baseline with
    its p-value or the letters.
    """
    from grammeter.rendering import Table

    names = _order(comparison)
    heads, align = _columns(comparison, style)
    width = 1 + len(heads)
    header = tuple(head for metric in comparison for head in (metric, *heads))
    rows = tuple(
        (
            name,
            *(
                cell
                for metric in comparison.values()
                for cell in _cells(comparison, metric, name, style)[:width]
            ),
        )
        for name in names
    )
    return Table(
        ("system", *header),
        rows,
        "l" + align * len(comparison),
        tuple(_notes(comparison)),
        _best(comparison, names, width),
        _marks(comparison, names, width, style),
    )


def long_table(comparison: Comparison, style: Style) -> Table:
    """Lay out a comparison for programs: a row for each metric and system.

    P-values have six digits; what does not apply is empty.
    """
    from grammeter.rendering import Table

    rows = tuple(
        (name, metric, *_long_cells(result, style))
        for metric, results in comparison.items()
        for name, result in results.items()
    )
    return Table(("system", "metric", *LONG), rows, "ll" + "r" * 6 + "l")


def _long_cells(result: SystemResult, style: Style) -> tuple[str, ...]:
    scores = result.value, result.low, result.high, result.difference
    return (
        *("" if score is None else style.number(score) for score in scores),
        *(_digits(number) for number in (result.pvalue, result.pvalue_raw)),
        result.letters or "",
    )


def _drawn(comparison: Comparison, args: argparse.Namespace) -> str:
    style = Style(args.percent, decimals(args, percent=args.percent), raised=args.format == "latex")
    long = args.format == "tsv"
    tables = [long_table(comparison, style) if long else comparison_table(comparison, style)]
    if args.types and long:
        tables.append(long_types_table(comparison, LONG, lambda r: _long_cells(r, style)))
    elif args.types:
        tables += types_tables(comparison, style.number)
    return drawn(args, *tables)


def _columns(comparison: Comparison, style: Style) -> tuple[tuple[str, ...], str]:
    """Return the heads beside that of each metric, and how its columns are aligned."""
    interval = f"{comparison.design.confidence * 100:g}% interval"
    if comparison.design.baseline is not None:
        return (interval, "diff", "p"), "rrrl"
    return ((interval,), "rr") if style.raised else ((interval, "letters"), "rrl")


def _order(comparison: Comparison) -> list[str]:
    """Return all systems, those with the best value of the first metric first, NaN last."""
    names = list(dict.fromkeys(name for metric in comparison.values() for name in metric))
    first = next(iter(comparison.values()), None)
    if first is None:
        return names
    sign = -1 if first.higher_is_better else 1
    values = {name: result.value for name, result in first.items()}
    known = [name for name in names if not math.isnan(values.get(name, math.nan))]
    known.sort(key=lambda name: sign * values[name])
    return known + [name for name in names if name not in known]


def _cells(
    comparison: Comparison, metric: MetricComparison, name: str, style: Style
) -> tuple[str, ...]:
    if name not in metric.systems:
        return ("",) * 4
    result = metric[name]
    bounds = f"[{style.number(result.low)}, {style.number(result.high)}]"
    cells = style.number(result.value), "" if math.isnan(result.low) else bounds
    if comparison.design.baseline is None:
        return *cells, result.letters or ""
    if name == comparison.design.baseline:
        return *cells, "", ""
    assert result.difference is not None
    assert result.pvalue is not None
    return *cells, style.number(result.difference, sign=True), _pvalue(result.pvalue)


def _pvalue(pvalue: float) -> str:
    from grammeter.rendering import format_number

    return "<0.0001" if pvalue < 0.00005 else format_number(pvalue)


def _marks(
    comparison: Comparison, names: list[str], width: int, style: Style
) -> dict[tuple[int, int], str]:
    """Return a star behind each p-value that is low enough, or the letters, if raised."""
    level, baseline = comparison.design.level, comparison.design.baseline
    marks: dict[tuple[int, int], str] = {}
    for number, metric in enumerate(comparison.values()):
        first = 1 + number * width
        for row, name in enumerate(names):
            result = metric.systems.get(name)
            if result is None:
                continue
            if style.raised and result.letters:
                marks[row, first] = result.letters
            if name != baseline and result.pvalue is not None and result.pvalue <= level:
                marks[row, first + width - 1] = " *"
    return marks


def _notes(comparison: Comparison) -> Iterator[str]:
    level = comparison.design.level
    if comparison.design.baseline is None and any(
        results.lettered for results in comparison.values()
    ):
        yield f"Systems that share a letter do not differ significantly (level {level:g})."
    elif comparison.design.baseline is not None:
        yield f"diff, p: against {comparison.design.baseline}; * p <= {level:g}"
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


def _best(comparison: Comparison, names: list[str], width: int) -> frozenset[tuple[int, int]]:
    from grammeter.rendering import best_rows

    best: set[tuple[int, int]] = set()
    for number, column in enumerate(comparison.values()):
        values = [column[n].value if n in column.systems else math.nan for n in names]
        rows = best_rows(values, higher_is_better=column.higher_is_better)
        best |= {(row, 1 + number * width) for row in rows}
    return frozenset(best)


def _digits(pvalue: float | None) -> str:
    return "" if pvalue is None else "NaN" if math.isnan(pvalue) else f"{pvalue:.6g}"
