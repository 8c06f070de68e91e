"""``grammeter compare``: paired significance between systems from stored scores."""

from __future__ import annotations

import argparse

from grammeter.cli.flags import add_options, call
from grammeter.cli.inputs import TIERS
from grammeter.cli.output import add_numbers, add_output, emit, progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Compare systems on the same sentences: percentile intervals and two-sided p-values,"
        " against a baseline or, without one, every pair with significance letters."
    )
    parser.add_argument(
        "scores",
        help="what 'grammeter score ... -o FILE' wrote, or TSV with the header 'metric system"
        " segment value', or judgments; - is standard input",
    )
    add_options(parser, "verbs.compare", {
        "baseline": "compare all systems with this one",
        "test": "where p-values come from",
        "resamples": "default: 1000; with a correction at least 80 for each comparison, or, where"
        " that takes more than seconds, Benjamini-Hochberg in its place",
        "seed": "where the draws start",
        "confidence": "of the intervals; one less it is the level of the letters",
        "correction": "for all comparisons under one metric",
        "metrics": "default: all in the file",
        "types": f"also compare by error type, if 'score --types -o FILE' stored them: {TIERS}",
        "difference": "list sentences instead, with --types error types, sorted by A's score minus"
        " B's under the first metric",
        "show": "with --difference: how many from either end, 0: all",
    }, difference={"nargs": 2, "metavar": ("A", "B")})  # fmt: skip
    add_numbers(parser.add_argument)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Compare and print; return the exit code."""
    from grammeter.verbs import compare

    with progress(args):
        result = call(args, compare, table=args.scores)
    emit(args, result)
    return 0
