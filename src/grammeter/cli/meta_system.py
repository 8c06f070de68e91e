"""``grammeter meta system``."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""


def run(args: argparse.Namespace) -> int:
    """Answer the question."""
    raise NotImplementedError
