"""``grammeter meta beta``: which weight of recall agrees best with people."""

from __future__ import annotations

import argparse

from grammeter.cli import meta_arguments
from grammeter.cli.output import add_numbers, add_output, decimals, drawn, emit

BETAS = "0.01:1.0:0.01"
CHOICES = ("anew", "fixed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the question's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Score with all betas, and correlate with people's scores: which weight of recall agrees"
        " best with people? (Grundkiewicz et al. 2015, Figure 3: --choice fixed)"
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter meta beta scores.json ranking.json --beta 0.01:1.0:0.01\n"
        "  grammeter meta beta scores.json judgments.xml -m m2 --beta 0.1,0.25,0.5,1"
    )
    meta_arguments.add_inputs(parser)
    parser.add_argument(
        "-m", "--metric", metavar="METRIC", help="which metric of the file, if several have parts"
    )
    parser.add_argument(
        "--beta",
        default=BETAS,
        metavar="BETAS",
        help="FIRST:LAST:STEP, or betas between commas; default: %(default)s",
    )
    parser.add_argument(
        "--choice",
        choices=CHOICES,
        help="anew: the metric is scored again at each beta, its choice of annotators too; fixed: F"
        " of precision and recall as measured; default: anew where the file holds statistics",
    )
    parser.add_argument(
        "--figure", metavar="FILE", help="draw both correlations over beta: .svg or .png"
    )
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Sweep and print; return the exit code."""
    from grammeter.cli.meta_tables import beta_table
    from grammeter.verbs import meta_beta

    sweep = meta_arguments.call(args, meta_beta)
    emit(args, sweep.to_dict(), lambda: drawn(args, beta_table(sweep, decimals(args))))
    return 0
