"""``grammeter meta maege``: whether a metric orders partial corrections by their gold edits."""

from __future__ import annotations

import argparse

from grammeter.cli import corpus_arguments, meta_arguments, model_arguments
from grammeter.cli.chance_arguments import add_seed
from grammeter.cli.homes import remark_idle
from grammeter.cli.metric_arguments import add_metrics
from grammeter.cli.output import add_numbers, add_output, decimals, progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; nothing heavy is imported for it."""
    parser.description = (
        "MAEGE (Choshen & Abend 2018): apply gold edits one after the other, and ask whether a"
        " metric follows. Needs no human judgments and no system outputs."
    )
    parser.epilog = "example:\n  grammeter meta maege -s src.txt -r gold.m2 -m m2 gleu --seed 1"
    corpus_arguments.add_corpus(parser)
    add_metrics(parser.add_argument)
    _add_design(parser)
    model_arguments.add_models(parser)
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def _add_design(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("partial corrections")
    add_seed(group.add_argument)
    group.add_argument(
        "--chains",
        type=int,
        default=1,
        metavar="N",
        help="orders of each annotator's edits; all, where there are fewer; default: %(default)s",
    )
    group.add_argument(
        "--given",
        choices=["source", "random", "reference"],
        default="source",
        help="what metrics are given as the source: the sentence, a random text of the same"
        " chain as in the public program, or the corrected text; default: %(default)s",
    )
    group.add_argument(
        "--against",
        choices=["others", "all", "given"],
        default="others",
        help="what texts are held against: the edits of the other annotators, of all, or the"
        " texts given with -r beside the M2; default: %(default)s",
    )
    group.add_argument(
        "--ties",
        choices=["half", "concordant", "drop"],
        default="half",
        help="pairs that a metric ties, inside chains; default: %(default)s",
    )
    group.add_argument(
        "--pseudo",
        choices=["released", "intended"],
        default="released",
        help="worth of a sentence without edits; default: %(default)s",
    )
    group.add_argument(
        "--target",
        choices=["nominal", "applied"],
        default="nominal",
        help="what corpus scores are held against: 0 to 10, or the mean number of edits that"
        " were applied; default: %(default)s",
    )


def run(args: argparse.Namespace) -> int:
    """Measure and print; return the exit code."""
    from grammeter.models import using

    with using(model_arguments.runtime(args)):
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    from grammeter.cli.meta_tables import maege_rows, maege_table
    from grammeter.core import UsageError
    from grammeter.metrics import metric
    from grammeter.verbs import meta_maege

    if args.hyps or args.names:
        raise UsageError(
            "MAEGE makes its outputs from the gold edits", fix="Leave --hyps and --names out."
        )
    metrics = [metric(name) for name in args.metrics]
    corpus = corpus_arguments.read(args, noted=True)
    if corpus.gold:
        why = "MAEGE makes texts from gold edits by rules of its own"
        remark_idle(args, why, "--um", "--missing-annotator")
    model_arguments.remark_unused(args, metrics)
    with progress(args):
        result = meta_arguments.call(args, meta_maege, corpus=corpus)
    digits = decimals(args)
    return meta_arguments.show(
        args, result, lambda: [maege_table(result, digits)], lambda: maege_rows(result, digits)
    )
