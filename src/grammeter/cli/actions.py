"""Verbs that have verbs of their own: ``meta system``, ``train impara``, ``campaign serve``."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping
from typing import Any


def add_actions(parser: argparse.ArgumentParser, verb: str, actions: Mapping[str, str]) -> None:
    """Declare the actions of a verb and their arguments, without heavy imports.

    ``actions``: action -> what it does; the module is ``grammeter.cli.VERB_ACTION``.
    """
    subparsers = parser.add_subparsers(required=True, metavar="|".join(actions))
    for name, help_ in actions.items():
        module = importlib.import_module(f"grammeter.cli.{verb}_{name.replace('-', '_')}")
        action = add_action(subparsers, name, help_)
        module.add_arguments(action)
        action.set_defaults(answer=module.run)


def add_action(subparsers: Any, name: str, help_: str) -> argparse.ArgumentParser:
    """Add the parser of one action."""
    return subparsers.add_parser(
        name,
        help=help_,
        description=help_,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def run_action(args: argparse.Namespace) -> int:
    """Run the chosen action; return the exit code."""
    return int(args.answer(args))
