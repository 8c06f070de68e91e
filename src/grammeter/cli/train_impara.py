"""``grammeter train impara``: a quality estimator from parallel data alone."""

from __future__ import annotations

import argparse

from grammeter.cli.output import add_output
from grammeter.cli.train_arguments import (
    add_encoder,
    add_fitting,
    add_parallel,
    add_running,
    at_work,
    print_card,
    reading,
    settings,
)


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


def add_preference(parser: argparse.ArgumentParser, *, seeds: bool = False) -> None:
    """Declare pairs, encoder and fitting of a quality estimator; ``seeds``: of several."""
    group = parser.add_argument_group("pairs")
    group.add_argument(
        "--pairs",
        type=int,
        default=4096,
        metavar="N",
        help="for training, validation and test, 8:1:1; default: %(default)s",
    )
    group.add_argument(
        "--parallel-only",
        action="store_true",
        help="only pairs of source and correction: the paper's ablation",
    )
    group.add_argument(
        "--loss",
        choices=["sigmoid", "logistic"],
        default="sigmoid",
        help="equation 4 of the paper, or the logistic ranking loss; default: %(default)s",
    )
    add_encoder(parser)
    add_fitting(parser, rate=1e-5, decay="none", warmup=0.0, seeds=seeds)
    add_running(parser)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Declare where the model goes."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="folder of the model and its card"
    )
    group.add_argument(
        "--resume", action="store_true", help="go on where an interrupted training stopped"
    )
    add_output(parser, formats=("table", "json"), file=None)


def run(args: argparse.Namespace) -> int:
    """Train and print the card; return the exit code."""
    from grammeter.verbs import train_impara

    with at_work(args):
        card = train_impara(
            args.parallel,
            args.output,
            settings=settings(args),
            pairs=args.pairs,
            loss=args.loss,
            parallel_only=args.parallel_only,
            reading=reading(args),
            resume=args.resume,
        )
    print_card(args, card)
    return 0
