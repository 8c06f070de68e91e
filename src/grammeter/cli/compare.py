"""``grammeter compare``: paired significance between systems from stored scores."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from grammeter.cli.chance_arguments import add_confidence, add_resamples, add_seed
from grammeter.cli.meta_arguments import add_metrics, call
from grammeter.cli.output import add_numbers, add_output, decimals, drawn, emit, progress
from grammeter.cli.types_arguments import add_types

if TYPE_CHECKING:
    from grammeter.verbs import Comparison, Difference

TESTS = ("bootstrap", "randomisation")
CORRECTIONS = ("none", "holm", "bonferroni", "benjamini-hochberg")


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
    add_metrics(add)
    add_types(add, "also compare by error type, if 'score --types -o FILE' stored them")
    add(
        "--difference",
        nargs=2,
        metavar=("A", "B"),
        help="list sentences instead, with --types error types, sorted by A's score minus B's under"
        " the first metric",
    )
    help_ = "with --difference: how many from either end, 0: all; default: %(default)s"
    add("--show", type=int, default=10, metavar="N", help=help_)
    add_numbers(add)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Compare and print; return the exit code."""
    from grammeter.verbs import compare

    with progress(args):
        result = call(args, compare, table=args.scores)
    emit(args, result.to_dict(), lambda: _drawn(result, args))
    return 0


def _drawn(result: Comparison | Difference, args: argparse.Namespace) -> str:
    from grammeter.cli.compare_tables import (
        Style,
        comparison_rows,
        comparison_tables,
        difference_table,
    )
    from grammeter.verbs import Difference

    style = Style(args.percent, decimals(args, percent=args.percent), raised=args.format == "latex")
    long = args.format == "tsv"
    if isinstance(result, Difference):
        return drawn(args, difference_table(result, style, named=not long))
    return drawn(args, *(comparison_rows if long else comparison_tables)(result, style))
