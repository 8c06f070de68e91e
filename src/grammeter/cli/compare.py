"""``grammeter compare``: paired significance between systems from stored scores."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from grammeter.cli.output import add_output, emit, notice

if TYPE_CHECKING:
    from grammeter.comparison import Comparison, MetricComparison, SystemResult
    from grammeter.report.tables import Table

TESTS = ("bootstrap", "randomisation")
CORRECTIONS = ("none", "holm", "bonferroni", "benjamini-hochberg")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Compare systems on the same sentences: percentile intervals and two-sided p-values,"
        " against a baseline or, without one, every pair with significance letters."
    )
    add = parser.add_argument
    add("scores", help="what 'grammeter score ... -o FILE' wrote; - is standard input")
    add("--baseline", metavar="SYSTEM", help="compare all systems with this one")
    add("--test", choices=TESTS, default="bootstrap", help="default: %(default)s")
    add("--resamples", type=int, default=1000, metavar="N", help="default: %(default)s")
    add("--seed", type=int, default=1, metavar="N", help="default: %(default)s")
    add("--confidence", type=float, default=0.95, metavar="C", help="default: %(default)s")
    add(
        "--correction",
        choices=CORRECTIONS,
        default="none",
        help="for all comparisons under one metric; default: %(default)s",
    )
    add("-m", "--metrics", nargs="+", metavar="METRIC", help="default: all in the file")
    add("--percent", action="store_true", help="multiply scores by 100 in tables")
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Compare and print; return the exit code."""
    from grammeter.comparison import compare_systems
    from grammeter.corpus.scores import read_scores

    comparison = compare_systems(
        read_scores(args.scores),
        baseline=args.baseline,
        test=args.test,
        resamples=args.resamples,
        seed=args.seed,
        confidence=args.confidence,
        correction=args.correction,
        metrics=args.metrics,
    )
    for text in comparison.notices:
        notice(args, text)
    emit(args, comparison.to_json(), lambda: _drawn(comparison, args))
    return 0


def comparison_table(comparison: Comparison, *, percent: bool = False) -> Table:
    """Lay out a comparison for people: a row for each system, best by the first metric on top.

    Each metric has its value and interval, then either the difference from the baseline with
    its p-value or the letters.
    """
    from grammeter.report.tables import Table

    names = _order(comparison)
    every_pair = comparison.design.baseline is None
    own = (f"{comparison.design.confidence * 100:g}% interval",)
    own += ("letters",) if every_pair else ("diff", "p")
    header = tuple(head for metric in comparison for head in (metric, *own))
    rows = tuple(
        (
            name,
            *(c for found in comparison.values() for c in _cells(comparison, found, name, percent)),
        )
        for name in names
    )
    align = "l" + ("rrl" if every_pair else "rrrl") * len(comparison)
    best = _best(comparison, names, 1 + len(own))
    return Table(("system", *header), rows, align, tuple(_notes(comparison)), best)


def long_table(comparison: Comparison, *, percent: bool = False) -> Table:
    """Lay out a comparison for programs: a row for each metric and system.

    Six decimals, p-values six digits; what does not apply is empty.
    """
    from grammeter.report.tables import Table

    header = ("system", "metric", "value", "low", "high", "difference", "pvalue", "pvalue_raw")
    rows = tuple(
        (
            name,
            metric,
            *(_decimals(number, percent) for number in (r.value, r.low, r.high, r.difference)),
            *(_digits(number) for number in (r.pvalue, r.pvalue_raw)),
            r.letters or "",
        )
        for metric, found in comparison.items()
        for name, r in found.items()
    )
    return Table((*header, "letters"), rows, "ll" + "r" * 6 + "l")


def _drawn(comparison: Comparison, args: argparse.Namespace) -> str:
    from grammeter.report.tables import render

    if args.format == "tsv":
        return render(long_table(comparison, percent=args.percent), "tsv")
    table = comparison_table(comparison, percent=args.percent)
    return render(table, args.format, bold_best=args.format == "latex")


def _order(comparison: Comparison) -> list[str]:
    """Return all systems, those with the best value of the first metric first, NaN last."""
    names = list(dict.fromkeys(name for found in comparison.values() for name in found))
    first = next(iter(comparison.values()), None)
    if first is None:
        return names
    sign = -1 if first.higher_is_better else 1
    values = {name: result.value for name, result in first.items()}
    known = [name for name in names if not math.isnan(values.get(name, math.nan))]
    known.sort(key=lambda name: sign * values[name])
    return known + [name for name in names if name not in known]


def _cells(
    comparison: Comparison, found: MetricComparison, name: str, percent: bool
) -> Iterator[str]:
    from grammeter.report.tables import format_number

    every_pair = comparison.design.baseline is None
    if name not in found.systems:
        yield from [""] * (3 if every_pair else 4)
        return
    result = found[name]
    low, high = (format_number(bound, percent=percent) for bound in (result.low, result.high))
    yield format_number(result.value, percent=percent)
    yield f"[{low}, {high}]"
    if every_pair:
        yield result.letters or ""
    elif name == comparison.design.baseline:
        yield from ("", "")
    else:
        yield from _tested_cells(result, comparison.design.level, percent)


def _tested_cells(result: SystemResult, level: float, percent: bool) -> Iterator[str]:
    from grammeter.report.tables import format_number

    assert result.difference is not None
    assert result.pvalue is not None
    yield format_number(result.difference, percent=percent, sign=True)
    pvalue = "<0.0001" if result.pvalue < 0.00005 else format_number(result.pvalue)
    yield pvalue + (" *" if result.pvalue <= level else "")


def _notes(comparison: Comparison) -> Iterator[str]:
    level = comparison.design.level
    if comparison.design.baseline is None:
        yield f"Systems that share a letter do not differ significantly (level {level:g})."
    else:
        yield f"diff, p: against {comparison.design.baseline}; * p <= {level:g}"
    for metric, found in comparison.items():
        lower = "" if found.higher_is_better else " (lower is better)"
        yield f"{metric}{lower}: {found.signature}"
        for name, result in found.items():
            if result.reason and name != comparison.design.baseline:
                yield f"{metric}, {name}: NaN: {result.reason}"


def _best(comparison: Comparison, names: list[str], width: int) -> frozenset[tuple[int, int]]:
    from grammeter.report.tables import best_rows

    found: set[tuple[int, int]] = set()
    for number, column in enumerate(comparison.values()):
        values = [column[n].value if n in column.systems else math.nan for n in names]
        rows = best_rows(values, higher_is_better=column.higher_is_better)
        found |= {(row, 1 + number * width) for row in rows}
    return frozenset(found)


def _decimals(number: float | None, percent: bool) -> str:
    from grammeter.report.tables import format_number

    return "" if number is None else format_number(number, 6, percent=percent)


def _digits(pvalue: float | None) -> str:
    return "" if pvalue is None else "NaN" if math.isnan(pvalue) else f"{pvalue:.6g}"
