"""``grammeter meta``: how good is a metric? One module for each question."""

from __future__ import annotations

import argparse
import importlib

QUESTIONS = {
    "system": "does it rank systems as humans do? correlations, intervals, Williams tests",
    "sentence": "does it order the outputs of one sentence as humans do?",
    "window": "does it tell systems apart that humans find close?",
    "beta": "which weight of recall agrees best with humans?",
    "maege": "does it order partial corrections by their number of gold edits?",
}
"""Question -> what it asks; the module is ``grammeter.cli.meta_QUESTION``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the questions and their arguments; nothing heavy is imported for it."""
    questions = parser.add_subparsers(dest="question", required=True, metavar="|".join(QUESTIONS))
    for question, help_ in QUESTIONS.items():
        module = importlib.import_module(f"grammeter.cli.meta_{question}")
        own = questions.add_parser(
            question,
            help=help_,
            description=help_,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(own)
        own.set_defaults(answer=module.run)


def run(args: argparse.Namespace) -> int:
    """Answer the question; return the exit code."""
    return int(args.answer(args))
