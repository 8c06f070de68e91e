"""``grammeter train impara``: a quality estimator from parallel data alone."""

from __future__ import annotations

import argparse
import sys

from grammeter.cli.output import print_json
from grammeter.cli.train import add_parallel, add_preference, add_run, at_work, options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "example:\n"
        "  grammeter train impara --parallel train.m2 --encoder bert-base-cased -o my-impara\n"
        '  grammeter score -s src.txt -m "impara(model=my-impara)" --hyps out/*'
    )
    add_parallel(parser)
    add_preference(parser)
    add_run(parser)


def run(args: argparse.Namespace) -> int:
    """Train and print the card; return the exit code."""
    from grammeter.training import card_page
    from grammeter.verbs import train_impara

    with at_work(args):
        card = train_impara(args.parallel, args.output, **options(args, train_impara))
    if args.format == "json":
        print_json(card)
    else:
        sys.stdout.write(card_page(card))
    return 0
