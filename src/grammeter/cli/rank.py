"""``grammeter rank``: judgments to a ranking with rank ranges and clusters."""

from __future__ import annotations

import argparse

from grammeter.cli import inputs
from grammeter.cli.flags import add_options, call, one_of
from grammeter.cli.output import (
    add_numbers,
    add_output,
    check_figures,
    emit,
    notice,
    progress,
)

METHODS = ("expected-wins", "trueskill", "bradley-terry")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Rank systems by human judgments: scores, the range of ranks of each system over"
        " resampled judgments, and clusters of systems that the judgments do not tell apart."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter rank judgments.xml\n"
        "  grammeter rank judgments.xml --by trueskill --resamples 100\n"
        "  grammeter rank judgments.xml --head-to-head\n"
        "  grammeter rank judgments.xml --validate 100 --unit pair"
    )
    inputs.add_judgments(parser)
    _add_options(parser)
    add_numbers(parser.add_argument)
    parser.add_argument(
        "--figure",
        metavar="FILE",
        help="draw the ranges of ranks, with --head-to-head the shares, with --learning-curve the"
        " curve: .svg or .png",
    )
    add_output(parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("instead of a ranking").add_mutually_exclusive_group()
    add_options(group, "verbs.rank", {
        "head_to_head": "each system's share of wins against each other, with an exact sign test",
        "validate": "cross-validated accuracy: how well do rankings predict judgments held out?",
        "learning_curve": "how the ranking by expected wins settles with more items, and how many"
        " more each two neighbours need",
    })  # fmt: skip
    group = parser.add_argument_group("method")
    add_options(group, "verbs.rank", {
        "by": "default: %(default)s",
        "unit": "what is resampled as a whole; default: sentence. TrueSkill's runs differ by their"
        " random games; with a unit, their judgments are resampled, too",
        "resamples": "",
        "seed": "",
        "confidence": "share of the resamples that a range covers",
        "divisor": "of expected wins: average over all opponents, over those beaten at least once"
        " as in tables 6 and 7 of Grundkiewicz et al. (2015), or over those with whom a comparison"
        " was decided; default: all-opponents",
        "prior": "of bradley-terry: wins added in both directions for each pair; default: 0",
        "training": "of --validate: all other folds, or the leaking procedure published with the"
        " paper; default: held-out",
        "zeros": "of --head-to-head: no wins beside some losses count as one win, as in the"
        " original, or as none; default: one",
        "processes": "for trueskill; same result",
    }, by=one_of(METHODS))  # fmt: skip
    group = parser.add_argument_group("judgments that count")
    add_options(group, "verbs.rank", inputs.WHO | inputs.EXTRACTION)


def run(args: argparse.Namespace) -> int:
    """Rank and print; return the exit code."""
    from grammeter.core import UsageError
    from grammeter.rendering import save_figures
    from grammeter.verbs import rank

    if args.figure and args.validate is not None:
        raise UsageError("--figure belongs to results other than --validate's", fix="Leave it out.")
    check_figures(args.figure)
    if args.processes != 1 and args.by != "trueskill":
        notice(args, "--processes changes nothing here: only runs of TrueSkill are shared out")
    judgments = inputs.judgments(args)
    with progress(args):
        result = call(args, rank, rankings=judgments)
    save_figures(result, dict.fromkeys(result.figures(), args.figure))
    emit(args, result)
    return 0
