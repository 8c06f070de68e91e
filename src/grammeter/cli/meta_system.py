"""``grammeter meta system``: whether a metric ranks systems as people do."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from grammeter.cli import meta_arguments
from grammeter.cli.chance_arguments import add_confidence, add_resamples, add_seed
from grammeter.cli.homes import remark_idle
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
    from grammeter.meta import Correlation, MetricMeta, Pair, SystemMeta
    from grammeter.rendering import Table

INTERVALS = ("fisher", "systems", "systems-bca", "sentences", "none")
TIES = ("tau-a", "tau-b", "tau-c", "gamma")
AGGREGATES = ("mean", "expected-wins", "trueskill", "bradley-terry")
OUTLIER_CUTOFF = 2.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the question's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Correlate metrics with people's scores of the same systems (Pearson, Spearman,"
        " Kendall), and test by Williams whether one metric correlates better than another."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter meta system scores.json ranking.json\n"
        "  grammeter meta system scores.json judgments.xml --by trueskill --drop INPUT\n"
        "  grammeter meta system scores.json --benchmark seeda-e --systems base\n"
        "  grammeter meta system scores.json ranking.json --interval sentences --top-k"
    )
    meta_arguments.add_inputs(parser)
    _add_statistics(parser)
    _add_robustness(parser)
    _add_figures(parser)
    add_numbers(parser.add_argument, usual=3, percent=False)
    add_output(parser)


def _add_statistics(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("statistics")
    add = group.add_argument
    add("-m", "--metrics", nargs="+", metavar="METRIC", help="default: all in the file")
    add(
        "--aggregate",
        nargs="+",
        choices=AGGREGATES,
        default=[],
        help="also make system scores from sentence scores: their mean, or a ranking method",
    )
    add(
        "--interval",
        choices=INTERVALS,
        default="fisher",
        help="Fisher's z, or a bootstrap over systems (bca: corrected for bias and skew) or"
        " sentences; default: %(default)s",
    )
    add_resamples(add)
    add_seed(add)
    add_confidence(add)
    add("--ties", choices=TIES, default="tau-b", help="of Kendall's tau; default: %(default)s")


def _add_robustness(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("fewer systems")
    add = group.add_argument
    add("--leave-one-out", action="store_true", help="correlate again without each system")
    add("--top-k", action="store_true", help="correlate again for the best K by people")
    add(
        "--drop-outliers",
        type=float,
        nargs="?",
        const=OUTLIER_CUTOFF,
        metavar="CUTOFF",
        help="leave out systems whose human score is further from the median, in scaled median"
        " absolute deviations; default: %(const)s",
    )


def _add_figures(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("figures, .svg or .png")
    add = group.add_argument
    add("--figure", metavar="FILE", help="draw each metric's scores against people's")
    add("--figure-williams", metavar="FILE", help="draw the p-values of Williams' test")


def run(args: argparse.Namespace) -> int:
    """Correlate and print; return the exit code."""
    from grammeter.meta import Design
    from grammeter.verbs import correlate

    check_figures(args.figure, args.figure_williams)
    _remark_idle(args)
    inputs = meta_arguments.read_inputs(args)
    result = correlate(
        inputs.table,
        inputs.human.scores,
        metrics=args.metrics,
        aggregate=args.aggregate,
        design=Design(
            human=inputs.human.name,
            interval=args.interval,
            confidence=args.confidence,
            resamples=args.resamples,
            seed=args.seed,
            ties=args.ties,
        ),
        notes=inputs.human.notes,
        systems=args.systems,
        drop=args.drop,
        outlier_cutoff=args.drop_outliers,
        leave_one_out=args.leave_one_out,
        top_k=args.top_k,
    )
    _save_figures(result, args)
    emit(args, result.to_json(), lambda: _drawn(result, args))
    return 0


def _remark_idle(args: argparse.Namespace) -> None:
    """Say which options about intervals do nothing for this one."""
    if args.interval in ("fisher", "none"):
        why = f"--interval {args.interval} draws nothing; systems, systems-bca and sentences do"
        remark_idle(args, why, "--resamples", "--bootstrap", "--seed")
    if args.interval == "none":
        remark_idle(args, "there is no interval", "--confidence")


def _save_figures(result: SystemMeta, args: argparse.Namespace) -> None:
    if not args.figure and not args.figure_williams:
        return
    from grammeter.rendering import figures, meta_figures

    if args.figure:
        scores = {name: metric.scores for name, metric in result.items()}
        captions = {name: _caption(metric) for name, metric in result.items()}
        label = result.design.human.partition("|")[0]  # of a signature only the method
        drawn = meta_figures.scatter(result.human, scores, human_label=label, captions=captions)
        figures.save(drawn, args.figure)
    if args.figure_williams:
        figures.save(
            meta_figures.williams_map(tuple(result), _pvalues(result)), args.figure_williams
        )


def _caption(metric: MetricMeta) -> str:
    from grammeter.rendering import format_number

    kinds = ("pearson", "spearman")
    caption = ", ".join(f"{kind} {format_number(metric[kind].value, 3)}" for kind in kinds)
    return caption + (", sign turned" if "meta-direction" in dict(metric.signature) else "")


def _pvalues(result: SystemMeta) -> dict[str, FloatArray]:
    """Return the p-values by kind as squares; NaN where there is no cell."""
    import numpy as np

    return {
        kind: np.array(
            [
                [row[second].pvalue if second in row else math.nan for second in result]
                for row in (rows[first] for first in result)
            ]
        )
        for kind, rows in result.williams.items()
    }


# --- tables --------------------------------------------------------------------------------


def correlation_table(result: SystemMeta, *, digits: int = 3) -> Table:
    """Lay out correlations for people: a row for each metric, the best of each kind marked."""
    from grammeter.rendering import Table, best_rows, format_number

    kinds = ("pearson", "spearman", "kendall")
    share = f"{result.design.confidence * 100:g}%"
    header = [*(cell for kind in kinds for cell in (kind, share, "p")), "pairwise"]
    rows = tuple(
        (
            name,
            *(cell for kind in kinds for cell in _cells(metric[kind], digits)),
            format_number(metric.pairwise.value, digits),
        )
        for name, metric in result.items()
    )
    best = {
        (row, 1 + 3 * place)
        for place, kind in enumerate(kinds)
        for row in best_rows([m[kind].value for m in result.values()], higher_is_better=True)
    }
    accuracies = [metric.pairwise.value for metric in result.values()]
    best |= {(row, len(header)) for row in best_rows(accuracies, higher_is_better=True)}
    align = "l" + "r" * len(header)
    return Table(("metric", *header), rows, align, tuple(_notes(result)), frozenset(best))


def williams_table(result: SystemMeta, kind: str) -> Table:
    """Lay out one-sided p-values: whether the row's metric correlates better than the column's."""
    from grammeter.rendering import Table

    cells = next(rows for name, rows in result.williams.items() if name == kind)
    rows = tuple(
        (first, *(_pvalue(cells[first][s].pvalue) if s in cells[first] else "-" for s in result))
        for first in result
    )
    note = f"Williams' test ({kind}): p that the row's metric correlates better (one-sided)"
    return Table((f"better ({kind})", *result), rows, "l" + "r" * len(result), (note,))


def long_table(result: SystemMeta, *, digits: int = 6) -> Table:
    """Lay out the result for programs: a row for each metric and coefficient or accuracy."""
    from grammeter.rendering import Table, format_number

    header = ("metric", "correlation", "value", "low", "high", "pvalue", "n")
    rows: list[tuple[str, ...]] = []
    for name, metric in result.items():
        for kind, correlation in metric.items():
            figures = (
                format_number(x, digits)
                for x in (correlation.value, correlation.low, correlation.high)
            )
            pvalue = "NaN" if math.isnan(correlation.pvalue) else f"{correlation.pvalue:.6g}"
            rows.append((name, kind, *figures, pvalue, str(correlation.n)))
        accuracy, none = metric.pairwise, ("NaN",) * 3
        share = format_number(accuracy.value, digits)
        rows.append((name, "pairwise-accuracy", share, *none, str(accuracy.pairs)))
    return Table(header, tuple(rows), "llrrrrr")


def _drawn(result: SystemMeta, args: argparse.Namespace) -> str:
    digits = decimals(args, 3)
    if args.format == "tsv":
        return drawn(args, long_table(result, digits=digits))
    tables = [correlation_table(result, digits=digits)]
    if len(result) > 1:
        tables += [williams_table(result, kind) for kind in result.williams]
    if args.leave_one_out:
        tables += [_without_table(result, digits)]
    if args.top_k:
        tables += [_top_table(result, digits)]
    return drawn(args, *tables)


def _without_table(result: SystemMeta, digits: int) -> Table:
    rows = {
        system: [metric.leave_one_out[system] for metric in result.values()]
        for system in result.systems
    }
    return _pairs_table(result, "without", rows, digits)


def _top_table(result: SystemMeta, digits: int) -> Table:
    sizes = sorted({k for metric in result.values() for k in metric.top})
    rows = {str(k): [metric.top[k] for metric in result.values()] for k in sizes}
    return _pairs_table(result, "best K", rows, digits)


def _pairs_table(
    result: SystemMeta, what: str, rows: Mapping[str, Sequence[Pair]], digits: int
) -> Table:
    """Lay out two coefficients of each metric in each row."""
    from grammeter.rendering import Table, format_number

    kinds = list(result.williams)
    header = (what, *(f"{name} {kind}" for name in result for kind in kinds))
    cells = tuple(
        (label, *(format_number(pair[kind], digits) for pair in pairs for kind in kinds))
        for label, pairs in rows.items()
    )
    return Table(header, cells, "l" + "r" * (len(header) - 1))


def _cells(correlation: Correlation, digits: int) -> Iterator[str]:
    from grammeter.rendering import format_number

    low, high = (format_number(bound, digits) for bound in (correlation.low, correlation.high))
    yield format_number(correlation.value, digits)
    none = math.isnan(correlation.low) or math.isnan(correlation.high)
    yield "" if none else f"[{low}, {high}]"
    yield _pvalue(correlation.pvalue)


def _pvalue(pvalue: float) -> str:
    from grammeter.rendering import format_number

    return "<0.0001" if pvalue < 0.00005 else format_number(pvalue)


def _notes(result: SystemMeta) -> Iterator[str]:
    yield f"{len(result.systems)} systems against {result.design.human}"
    yield "pairwise: share of the pairs of systems that people tell apart, ordered as by people"
    for name, metric in result.items():
        yield f"{name}: {metric.signature}"
        reasons = {correlation.reason for correlation in metric.values() if correlation.reason}
        yield from (f"{name}: NaN: {reason}" for reason in sorted(reasons))
