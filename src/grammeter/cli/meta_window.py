"""``grammeter meta window``: correlations among systems that people find close."""

from __future__ import annotations

import argparse

from grammeter.cli import meta_arguments
from grammeter.cli.chance_arguments import add_confidence
from grammeter.cli.output import add_numbers, add_output, decimals


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
    meta_arguments.add_metrics(add)
    add("--size", type=int, default=4, metavar="N", help="systems a window; default: %(default)s")
    add_confidence(add)
    add("--figure", metavar="FILE", help="draw the correlations by window: .svg or .png")
    add_numbers(add, percent=False)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Correlate and print; return the exit code."""
    from grammeter.cli.meta_tables import window_rows, window_table
    from grammeter.verbs import meta_window

    windows, digits = meta_arguments.call(args, meta_window), decimals(args)
    return meta_arguments.show(
        args,
        windows,
        lambda: [window_table(windows, digits, decimals(args, 2))],
        lambda: window_rows(windows, digits),
    )
