"""``grammeter meta system``: whether a metric ranks systems as people do."""

from __future__ import annotations

import argparse

from grammeter.cli import meta_arguments
from grammeter.cli.chance_arguments import add_confidence, add_resamples, add_seed
from grammeter.cli.homes import remark_idle
from grammeter.cli.output import add_numbers, add_output, decimals

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
    meta_arguments.add_metrics(add)
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
    from grammeter.cli.meta_tables import system_rows, system_tables
    from grammeter.verbs import meta_system

    if args.interval in ("fisher", "none"):
        why = f"--interval {args.interval} draws nothing; systems, systems-bca and sentences do"
        remark_idle(args, why, "--resamples", "--bootstrap", "--seed")
    if args.interval == "none":
        remark_idle(args, "there is no interval", "--confidence")
    result, digits = meta_arguments.call(args, meta_system), decimals(args, 3)
    return meta_arguments.show(
        args, result, lambda: system_tables(result, digits), lambda: system_rows(result, digits)
    )
