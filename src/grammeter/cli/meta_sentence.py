"""``grammeter meta sentence``: does a metric order the outputs of one sentence as humans do?"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; nothing heavy is imported for it."""


def run(args: argparse.Namespace) -> int:
    """Measure and print; return the exit code."""
    return 2
