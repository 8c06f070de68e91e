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
    """Declare the actions of a verb and their arguments, without heavy imports.

    Parameters
    ----------
    actions
        Action -> what it does; the module is ``grammeter.cli.VERB_ACTION``.
    listed
        Whether usage lines say ``ACTION``, and the help lists the actions.
    """
    chosen = (
        parser.add_subparsers(required=True, metavar="ACTION", title="actions")
        if listed
        else parser.add_subparsers(required=True, metavar="|".join(actions))
    )
    for name, help_ in actions.items():
        module = importlib.import_module(f"grammeter.cli.{verb}_{name.replace('-', '_')}")
        action = chosen.add_parser(
            name,
            help=help_,
            description=help_,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(action)
        action.set_defaults(answer=module.run)


def run_action(args: argparse.Namespace) -> int:
    """Run the chosen action; return the exit code."""
    return int(args.answer(args))
