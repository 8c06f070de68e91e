"""``grammeter explain``: why one output got its scores."""

from __future__ import annotations

import argparse

from grammeter.cli import model_arguments
from grammeter.cli.chance_arguments import add_seed
from grammeter.cli.output import add_numbers, add_output, decimals, emit, progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.epilog = (
        "examples:\n"
        "  grammeter explain scores.json --system AMU --line 17\n"
        "  grammeter explain scores.json --system AMU --line 17 -m gleu --attribution shapley"
    )
    parser.add_argument("scores", metavar="SCORES", help="what 'grammeter score -o' wrote")
    parser.add_argument("--system", required=True, metavar="NAME", help="whose output")
    parser.add_argument(
        "--line", required=True, type=int, metavar="N", help="number of the sentence, from 1"
    )
    parser.add_argument(
        "-m", "--metrics", nargs="+", metavar="METRIC", help="default: all in SCORES"
    )
    add_numbers(parser.add_argument, tsv=4, percent=False)
    _add_attribution(parser)
    model_arguments.add_models(parser)
    add_output(parser, formats=("table", "json"))


def _add_attribution(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("attribution")
    group.add_argument(
        "--attribution",
        choices=["shapley", "leave-one-out"],
        help="also say what each edit contributes to the sentence score",
    )
    add_seed(
        group.add_argument,
        help_="where random orders of many edits start; default: %(default)s",
    )
    group.add_argument(
        "--limit",
        type=int,
        default=65_536,
        metavar="TOKENS",
        help="tokens that may be scored, in all partial outputs together; more make Shapley values"
        " of many edits more precise; default: %(default)s",
    )
    group.add_argument(
        "--pipeline",
        metavar="NAME",
        help="a spaCy pipeline, by name or folder, or 'neutral', to extract the edits",
    )


def run(args: argparse.Namespace) -> int:
    """Explain and print; return the exit code."""
    from grammeter.models import using

    with using(model_arguments.runtime(args)):
        return _explain(args)


def _explain(args: argparse.Namespace) -> int:
    from grammeter.formats import read_scores
    from grammeter.metrics import metric
    from grammeter.rendering import explanation_text
    from grammeter.verbs import explain

    scores = read_scores(args.scores)
    names = [scores[name].metric if name in scores else name for name in args.metrics or scores]
    model_arguments.remark_unused(args, [metric(name) for name in names])
    with progress(args):
        explained = explain(
            scores,
            system=args.system,
            line=args.line,
            metrics=args.metrics,
            attribution=args.attribution,
            seed=args.seed,
            limit=args.limit,
            pipeline=args.pipeline,
        )
    emit(args, explained.to_dict(), lambda: explanation_text(explained, digits=decimals(args)))
    return 0
