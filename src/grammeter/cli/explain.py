"""``grammeter explain``: why one output got its scores."""

from __future__ import annotations

import argparse

from grammeter.cli import models
from grammeter.cli.flags import add_options, call
from grammeter.cli.output import add_numbers, add_output, emit, progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.epilog = (
        "examples:\n"
        "  grammeter explain scores.json --system AMU --line 17\n"
        "  grammeter explain scores.json --system AMU --line 17 -m gleu --attribution shapley"
    )
    parser.add_argument("scores", metavar="SCORES", help="what 'grammeter score -o' wrote")
    add_options(parser, "verbs.explain", {
        "system": "", "line": "", "metrics": "default: all in SCORES",
    })  # fmt: skip
    add_numbers(parser.add_argument, tsv=4, percent=False)
    group = parser.add_argument_group("attribution")
    add_options(group, "verbs.explain", {
        "attribution": "also say what each edit contributes to the sentence score",
        "seed": "where random orders of many edits start",
        "limit": "tokens that may be scored, in all partial outputs together; more make Shapley"
        " values of many edits more precise",
        "pipeline": "a spaCy pipeline, by name or folder, or 'neutral', to extract the edits",
    })  # fmt: skip
    models.add_models(parser)
    add_output(parser, formats=("table", "json"))


def run(args: argparse.Namespace) -> int:
    """Explain and print; return the exit code."""
    from grammeter.models import using

    with using(models.runtime(args)):
        return _explain(args)


def _explain(args: argparse.Namespace) -> int:
    from grammeter.formats import read_scores
    from grammeter.metrics import metric
    from grammeter.verbs import explain

    scores = read_scores(args.scores)
    names = [scores[name].metric if name in scores else name for name in args.metrics or scores]
    models.remark_unused(args, [metric(name) for name in names])
    with progress(args):
        explained = call(args, explain, scores=scores)
    emit(args, explained)
    return 0
