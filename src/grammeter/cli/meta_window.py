"""``grammeter meta window``: correlations among systems that people find close."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from grammeter.cli import meta_arguments
from grammeter.cli.chance_arguments import add_confidence
from grammeter.cli.output import (
    add_numbers,
    add_output,
    check_figures,
    decimals,
    drawn,
    emit,
)

if TYPE_CHECKING:
    from grammeter.core import FloatArray
    from grammeter.meta import Coefficients, Window, Windows
    from grammeter.rendering import Table
    from grammeter.stats import CoefficientName


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; nothing heavy is imported for it."""
    parser.description = (
        "Correlate metrics with people in windows of N systems that follow each other in the"
        " human ranking, with intervals and, from a ranking, the clusters of each window."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter meta window scores.json ranking.json\n"
        "  grammeter meta window scores.json ranking.json --size 8 --systems base"
    )
    meta_arguments.add_inputs(parser)
    add = parser.add_argument
    add("-m", "--metrics", nargs="+", metavar="METRIC", help="default: all in the file")
    add("--size", type=int, default=4, metavar="N", help="systems a window; default: %(default)s")
    add_confidence(add)
    add("--figure", metavar="FILE", help="draw the correlations by window: .svg or .png")
    add_numbers(add, percent=False)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Correlate and print; return the exit code."""
    from grammeter.meta import correlate_windows

    check_figures(args.figure)
    inputs = meta_arguments.read_inputs(args, clusters=True)
    windows = correlate_windows(
        inputs.table,
        inputs.human.scores,
        size=args.size,
        clusters=inputs.human.clusters,
        systems=args.systems,
        drop=args.drop,
        metrics=args.metrics,
        confidence=args.confidence,
        human_name=inputs.human.name,
        notes=inputs.human.notes,
    )
    if args.figure:
        _save_figure(windows, args.figure)
    emit(args, windows.to_json(), lambda: _drawn(windows, args))
    return 0


def _save_figure(windows: Windows, path: str) -> None:
    import numpy as np

    from grammeter.rendering import figures, meta_figures

    def drawn(metric: str, kind: CoefficientName) -> FloatArray:
        correlations = (window.metrics[metric][kind] for window in windows)
        return np.array(
            [(correlation.value, correlation.low, correlation.high) for correlation in correlations]
        )

    kinds: tuple[CoefficientName, ...] = ("pearson", "spearman")
    curves = {kind: {name: drawn(name, kind) for name in windows.signatures} for kind in kinds}
    names = [f"{window.first}-{window.last}" for window in windows]
    alike = [window.one_cluster for window in windows]
    figures.save(meta_figures.window_curve(names, curves, alike=alike), path)


def window_table(windows: Windows, *, digits: int = 4, bounds: int = 2) -> Table:
    """Lay out windows for people: a row for each, with the interval of each coefficient.

    Of several metrics the one that correlates best in a window is marked. ``digits`` are those
    of coefficients, ``bounds`` those of intervals.
    """
    from grammeter.rendering import Table

    clustered = any(window.clusters is not None for window in windows)
    heads = ("pearson", "interval", "spearman", "interval")
    header = ("ranks", *(("clusters",) if clustered else ()))
    rows = tuple(
        (
            f"{window.first}-{window.last}",
            *((_clusters(window),) if clustered else ()),
            *(
                cell
                for coefficients in window.metrics.values()
                for cell in _cells(coefficients, digits, bounds)
            ),
            " ".join(window.systems),
        )
        for window in windows
    )
    columns = tuple(
        f"{name} {head}" if place % 2 == 0 else head
        for name in windows.signatures
        for place, head in enumerate(heads)
    )
    align = "l" * len(header) + "r" * len(columns) + "l"
    best = _best(windows, 1 + clustered, len(heads))
    return Table((*header, *columns, "systems"), rows, align, tuple(_notes(windows)), best)


def _best(windows: Windows, start: int, width: int) -> frozenset[tuple[int, int]]:
    """Return the best of several metrics in each window, by either coefficient."""
    from grammeter.rendering import best_rows

    if len(windows.signatures) < 2:
        return frozenset()
    kinds: tuple[CoefficientName, ...] = ("pearson", "spearman")
    return frozenset(
        (row, start + metric * width + 2 * place)
        for row, window in enumerate(windows)
        for place, kind in enumerate(kinds)
        for metric in best_rows(
            [coefficients[kind].value for coefficients in window.metrics.values()],
            higher_is_better=True,
        )
    )


def long_table(windows: Windows, *, digits: int = 6) -> Table:
    """Lay out windows for programs: a row for each window and metric."""
    from grammeter.rendering import Table

    figures = ("pearson", "pearson_low", "pearson_high", "spearman", "spearman_low")
    header = ("first", "last", "clusters", "metric", *figures, "spearman_high")
    rows = tuple(
        (
            str(window.first),
            str(window.last),
            _clusters(window),
            name,
            *_numbers(coefficients, digits),
        )
        for window in windows
        for name, coefficients in window.metrics.items()
    )
    return Table(header, rows, "rrll" + "r" * 6)


def _drawn(windows: Windows, args: argparse.Namespace) -> str:
    if args.format == "tsv":
        return drawn(args, long_table(windows, digits=decimals(args)))
    return drawn(args, window_table(windows, digits=decimals(args), bounds=decimals(args, 2)))


def _clusters(window: Window) -> str:
    if window.clusters is None:
        return ""
    first, last = min(window.clusters), max(window.clusters)
    return str(first) if first == last else f"{first}-{last}"


def _cells(coefficients: Coefficients, digits: int, bounds: int) -> Iterator[str]:
    from grammeter.rendering import format_number

    for correlation in coefficients.values():
        yield format_number(correlation.value, digits)
        low, high = format_number(correlation.low, bounds), format_number(correlation.high, bounds)
        yield "-" if math.isnan(correlation.low) else f"[{low}, {high}]"


def _numbers(coefficients: Coefficients, digits: int) -> Iterator[str]:
    from grammeter.rendering import format_number

    for correlation in coefficients.values():
        yield from (
            format_number(number, digits)
            for number in (correlation.value, correlation.low, correlation.high)
        )


def _notes(windows: Windows) -> Iterator[str]:
    yield "ranks and clusters are people's; intervals by Fisher's z"
    reasons = {
        f"{name}: {correlation.reason}"
        for window in windows
        for name, coefficients in window.metrics.items()
        for correlation in coefficients.values()
        if correlation.reason
    }
    yield from sorted(reasons)
    yield from (f"{name}: {signature}" for name, signature in windows.signatures.items())
