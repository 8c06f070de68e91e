"""``grammeter agree``: how far judges agree, with each other and with themselves."""

from __future__ import annotations

import argparse

from grammeter.cli import inputs
from grammeter.cli.flags import add_options, call
from grammeter.cli.output import (
    add_numbers,
    add_output,
    check_figures,
    emit,
)

WIDEST = 20
"""Judges that a matrix has room for."""

NONE = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Measure the agreement of judges: Cohen's kappa between and within judges and for each"
        " pair of them, Krippendorff's alpha of the ranks, and how much each judge did."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter agree judgments.xml\n"
        "  grammeter agree judgments.xml --judge ann bob\n"
        "  grammeter agree people.xml llms.jsonl\n"
        "  grammeter agree judgments.xml --correlate\n"
        "  grammeter agree judgments.xml --hyps out/* --format json -o agreement.json"
    )
    inputs.add_judgments(parser)
    add_options(parser, "verbs.agree", {
        "correlate": "correlate each judge's ranking of the systems with the others' instead",
        "kappa": "chance agreement as the script of Grundkiewicz et al. (2015) takes it, or with"
        " 'better' and 'worse' equally likely",
        **inputs.JUDGES,
        "resamples": "of the sentences, for intervals; 0: none",
        "seed": "where the random numbers start",
        "confidence": "share of the resamples that an interval covers",
    })  # fmt: skip
    parser.add_argument(
        "--figure", metavar="FILE", help="draw the kappa of each two judges: .svg or .png"
    )
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Measure and print; return the exit code."""
    from grammeter.core import check_home
    from grammeter.formats import read_outputs
    from grammeter.rendering import save_figures
    from grammeter.verbs import agree

    check_home(not args.correlate, "results other than --correlate's", figure=args.figure)
    check_figures(args.figure)
    judgments = inputs.judgments(args)
    outputs = read_outputs(args.hyps) if args.hyps else None
    result = call(args, agree, rankings=judgments, outputs=outputs)
    save_figures(result, dict.fromkeys(result.figures(), args.figure))
    emit(args, result)
    return 0
