"""The argument by which metrics are named, shared by the verbs that run them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def add_metrics(add: Callable[..., Any]) -> None:
    """Add ``-m`` by a parser's or a group's method ``add_argument``."""
    add(
        "-m",
        "--metrics",
        nargs="+",
        required=True,
        metavar="METRIC",
        help="spellings such as m2 or \"gleu(order=3)\"; 'grammeter list' shows all",
    )
