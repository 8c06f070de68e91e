"""``grammeter train some``: three regressors from human scores."""

from __future__ import annotations

import argparse
import sys

from grammeter.cli.output import print_json
from grammeter.cli.train import add_encoder, add_fitting, add_run, add_running, at_work, options

CRITERIA = ("grammaticality", "fluency", "meaning")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "example:\n"
        "  grammeter train some --scores tmu-gfm-dataset.csv --encoder bert-base-cased -o my-some\n"
        '  grammeter score -s src.txt -m "some(model=my-some)" --hyps out/*'
    )
    add = parser.add_argument_group("data").add_argument
    add(
        "--scores",
        required=True,
        metavar="FILE",
        help="a table with the columns source, output and ave_g, ave_f, ave_m"
        " (or grammaticality, fluency, meaning)",
    )
    add(
        "--criteria",
        nargs="+",
        choices=CRITERIA,
        default=CRITERIA,
        metavar="NAME",
        help=f"which regressors; default: {' '.join(CRITERIA)}",
    )
    add_encoder(parser)
    add_fitting(parser, rate=3e-5, decay="linear", warmup=0.1)
    add_running(parser)
    add_run(parser)


def run(args: argparse.Namespace) -> int:
    """Train and print the cards; return the exit code."""
    from grammeter.training import card_page
    from grammeter.verbs import train_some

    with at_work(args):
        cards = train_some(args.scores, args.output, **options(args, train_some))
    if args.format == "json":
        print_json({"kind": "training-cards", "cards": cards})
    else:
        sys.stdout.write("\n".join(card_page(card) for card in cards.values()))
    return 0
