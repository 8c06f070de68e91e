"""Verbs that have verbs of their own: ``meta system``, ``train impara``, ``campaign serve``."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping


def add_actions(
    parser: argparse.ArgumentParser,
    verb: str,
    actions: Mapping[str, str],
    *,
    listed: bool = False,
) -> None:
    """Declare the actions of a verb and their arguments; nothing heavy is imported for it.

    Parameters
    ----------
    actions
        Action -> what it does; the module is ``grammeter.cli.VERB_ACTION``.
    listed
        Whether usage lines say ``ACTION``, for there are many, and the help lists them apart.
    """
    chosen = (
        parser.add_subparsers(required=True, metavar="ACTION", title="actions")
        if listed
        else parser.add_subparsers(required=True, metavar="|".join(actions))
    )
    for name, help_ in actions.items():
        module = importlib.import_module(f"grammeter.cli.{verb}_{name.replace('-', '_')}")
        own = chosen.add_parser(
            name,
            help=help_,
            description=help_,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(own)
        own.set_defaults(answer=module.run)


def run_action(args: argparse.Namespace) -> int:
    """Do what was chosen; return the exit code."""
    return int(args.answer(args))
