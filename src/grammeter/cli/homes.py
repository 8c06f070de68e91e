"""Options that do something only beside others: elsewhere they are refused, or said to be idle."""

from __future__ import annotations

import argparse

from grammeter.cli.output import remark

NO_FAULTS = "there was nothing to pass over"
"""Why ``--lenient`` has no effect."""


def check_home(args: argparse.Namespace, at_home: bool, home: str, *options: str) -> None:
    """Refuse options that would change nothing here.

    Parameters
    ----------
    at_home
        Whether the options do something in this run.
    home
        The option beside which they do, for the message.
    options
        Long names.

    Raises
    ------
    UsageError
        If one of them was written and this is not its home.
    """
    from grammeter.core import UsageError

    for option in () if at_home else options:
        if option in _asked(args):
            raise UsageError(f"{option} belongs to {home}", fix=f"Leave out {option}.")


def remark_idle(args: argparse.Namespace, why: str, *options: str) -> None:
    """Say, ``--quiet`` or not, which of some options were written and do nothing, and why."""
    idle = [option for option in options if option in _asked(args)]
    if idle:
        has = "has" if len(idle) == 1 else "have"
        remark([f"{', '.join(idle)} {has} no effect: {why}"])


def _asked(args: argparse.Namespace) -> frozenset[str]:
    """Return the options that were written; none where a verb is called without its parser."""
    return frozenset(getattr(args, "asked", ()))
