"""``grammeter explain``: why one output got its scores."""

from __future__ import annotations

import argparse

from grammeter.cli.output import add_output, emit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.epilog = "example:\n  grammeter explain scores.json --system AMU --line 17"
    parser.add_argument("scores", metavar="SCORES", help="what 'grammeter score -o' wrote")
    parser.add_argument("--system", required=True, metavar="NAME", help="whose output")
    parser.add_argument(
        "--line", required=True, type=int, metavar="N", help="number of the sentence, from 1"
    )
    parser.add_argument(
        "-m", "--metrics", nargs="+", metavar="METRIC", help="default: all in SCORES"
    )
    parser.add_argument(
        "--digits",
        type=int,
        choices=range(18),
        default=4,
        metavar="N",
        help="decimals, default: %(default)s",
    )
    add_output(parser, formats=("table", "json"))


def run(args: argparse.Namespace) -> int:
    """Explain and print; return the exit code."""
    from grammeter.api import explain
    from grammeter.corpus.scores import read_scores
    from grammeter.report.explain import explanation_text

    explained = explain(
        read_scores(args.scores), system=args.system, line=args.line, metrics=args.metrics
    )
    emit(args, explained.to_json(), lambda: explanation_text(explained, digits=args.digits))
    return 0
