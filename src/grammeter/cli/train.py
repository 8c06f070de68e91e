"""``grammeter train``: fit learned metrics. One module for each metric."""

from __future__ import annotations

import argparse

from grammeter.cli.actions import add_actions, run_action

METRICS = {
    "impara": "IMPARA's quality estimator, from parallel data alone",
    "some": "SOME's three regressors, from human scores",
    "cross-domain": "IMPARA trained on each of several corpora, tested on each",
    "impacts": "which error types, and which edits, have the greatest impact",
}
"""What is trained or looked at -> in a few words; the module is ``grammeter.cli.train_NAME``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the metrics and their arguments; nothing heavy is imported for it."""
    add_actions(parser, "train", METRICS)


def run(args: argparse.Namespace) -> int:
    """Train; return the exit code."""
    return run_action(args)
