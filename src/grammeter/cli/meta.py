"""``grammeter meta``: how good is a metric? One module for each question."""

from __future__ import annotations

import argparse

from grammeter.cli.actions import add_actions, run_action

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
    add_actions(parser, "meta", QUESTIONS)


def run(args: argparse.Namespace) -> int:
    """Answer the question; return the exit code."""
    return run_action(args)
