"""``grammeter train``: fit learned metrics. One module for each metric."""

from __future__ import annotations

import argparse
import importlib

METRICS = {
    "impara": "IMPARA's quality estimator, from parallel data alone",
    "some": "SOME's three regressors, from human scores",
    "cross-domain": "IMPARA trained on each of several corpora, tested on each",
    "impacts": "which error types, and which edits, have the greatest impact",
}
"""What is trained or looked at -> in a few words; the module is ``grammeter.cli.train_NAME``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the metrics and their arguments; nothing heavy is imported for it."""
    metrics = parser.add_subparsers(dest="what", required=True, metavar="|".join(METRICS))
    for name, help_ in METRICS.items():
        module = importlib.import_module(f"grammeter.cli.train_{name.replace('-', '_')}")
        own = metrics.add_parser(
            name,
            help=help_,
            description=help_,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(own)
        own.set_defaults(answer=module.run)


def run(args: argparse.Namespace) -> int:
    """Train; return the exit code."""
    return int(args.answer(args))
