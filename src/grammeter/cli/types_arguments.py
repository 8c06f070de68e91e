"""``--types``: what kind of error types, one meaning in all verbs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def add_types(add: Callable[..., Any], help_: str) -> None:
    """Declare ``--types [operation|main|full]``; alone it is ``True``."""
    add(
        "--types",
        nargs="?",
        const=True,
        default=False,
        choices=("operation", "main", "full"),
        metavar="operation|main|full",
        help=f"{help_}: R, NOUN:NUM or, by default, R:NOUN:NUM",
    )
