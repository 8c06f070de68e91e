"""The arguments of verbs in which chance plays: how often is drawn, from which seed."""

from __future__ import annotations

import argparse
from collections.abc import Callable

Add = Callable[..., argparse.Action]


def add_resamples(add: Add, *, default: int | None = 1000, help_: str = "") -> None:
    """Declare how many resamples are drawn; both of its names are understood by every verb."""
    add(
        "--resamples",
        "--bootstrap",
        type=int,
        default=default,
        metavar="N",
        help=help_ or "default: %(default)s",
    )


def add_seed(add: Add, *, help_: str = "") -> None:
    """Declare where all draws start."""
    add("--seed", type=int, default=1, metavar="N", help=help_ or "default: %(default)s")


def add_confidence(add: Add, *, help_: str = "") -> None:
    """Declare how wide intervals are."""
    add(
        "--confidence",
        type=float,
        default=0.95,
        metavar="C",
        help=help_ or "default: %(default)s",
    )
