"""``grammeter meta sentence``: metrics that order the outputs of one sentence as people do."""

from __future__ import annotations

import argparse

from grammeter.cli import judgment_arguments, meta_arguments
from grammeter.cli.chance_arguments import add_confidence, add_resamples, add_seed
from grammeter.cli.output import add_numbers, add_output, decimals

TIE_RULES = ("no-ties", "h-ties", "three-way", "seeda-script", "half", "drop", "wrong")
UNITS = ("sentence", "ranking", "pair")
MISSING = ("refuse", "drop")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; nothing heavy is imported for it."""
    parser.description = (
        "Hold the sentence scores of metrics against judgments of the same sentences: Kendall's"
        " tau and accuracy over all pairs of outputs, with every count that they are made of."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter meta sentence scores.json judgments.xml --ties h-ties\n"
        "  grammeter meta sentence scores.json judgments.xml --extraction unexpanded --unit pair\n"
        "  grammeter meta sentence scores.tsv judgments.xml --drop IPN --permutations 1000\n"
        "  grammeter meta sentence gpt.jsonl people.xml --scores scores.json"
    )
    _add_inputs(parser)
    _add_question(parser)
    _add_chance(parser)
    _add_selection(parser)
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Measure and print; return the exit code."""
    from grammeter.cli.meta_tables import sentence_rows, sentence_tables
    from grammeter.verbs import meta_sentence

    result = meta_arguments.call(args, meta_sentence, scores=[args.scores, *args.more])
    digits = decimals(args)
    return meta_arguments.show(
        args,
        result,
        lambda: sentence_tables(result, digits),
        lambda: sentence_rows(result, digits),
    )


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the scores, and the judgments that they are held against."""
    parser.add_argument(
        "scores",
        metavar="SCORES",
        help="what 'grammeter score -o FILE' wrote, TSV with the header 'metric system segment"
        " value', or a judge in the place of a metric: judgments, as of 'grammeter judge -o'",
    )
    judgment_arguments.add_judgments(parser)
    parser.add_argument(
        "--scores",
        dest="more",
        nargs="+",
        default=[],
        metavar="SCORES",
        help="more files of scores, or of judgments in the place of scores",
    )


def _add_question(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is counted")
    judgment_arguments.add_extraction(group.add_argument)
    group.add_argument(
        "--ties",
        choices=TIE_RULES,
        default="no-ties",
        help="no-ties, h-ties: Chollampatt & Ng (2018); three-way, seeda-script: the two rules"
        " beside SEEDA; half, drop, wrong: a tie of the metric is half right, left out, a"
        " mistake; default: %(default)s",
    )
    group.add_argument(
        "--missing",
        choices=MISSING,
        default="refuse",
        help="a metric that lacks a judged output's score has no value, or is measured without"
        " these pairs; default: %(default)s",
    )


def _add_chance(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("intervals and tests")
    add = group.add_argument
    add_resamples(add, help_="for the intervals, 0 for none; default: %(default)s")
    add(
        "--unit",
        choices=UNITS,
        default="sentence",
        help="what is drawn as a whole; pair is that of Chollampatt & Ng (2018) and makes"
        " intervals too narrow; default: %(default)s",
    )
    add_seed(add)
    add_confidence(add)
    add(
        "--permutations",
        type=int,
        default=0,
        metavar="N",
        help="test the difference of every two metrics by N rounds of swaps, and give the soft"
        " pairwise accuracy; default: no test",
    )


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("who and what")
    add = group.add_argument
    meta_arguments.add_metrics(add)
    add(
        "--systems",
        nargs="+",
        metavar="NAME",
        help="use these alone; base, +input, +fluent are the sets of SEEDA; default: all",
    )
    add("--drop", nargs="+", default=[], metavar="NAME", help="leave these systems out")
    add("--judge", nargs="+", metavar="NAME", help="only these judges'")
    add("--by-judge", action="store_true", help="measure each judge's pairs apart, too")
