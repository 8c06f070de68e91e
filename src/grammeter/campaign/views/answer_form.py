"""Read an answer from a form."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from django.core import signing

from grammeter.core import DataError

Action = Literal["draft", "submit", "skip"]
VERDICTS = ("valid", "invalid")
_SALT = "grammeter.campaign.served"
_LONGEST = 30 * 24 * 3600
"""Longest time in seconds between serving a page and its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as it was sent; the service checks it.

    Attributes
    ----------
    verdicts
        Of each edit of each output in the order shown; ``None`` where missing.
    wall_seconds
        Seconds since the page was served, by the page's own clock where it has one.
    """

    action: Action
    key: str
    ranks: tuple[int | None, ...]
    verdicts: tuple[tuple[str | None, ...], ...]
    reason: str
    comment: str
    active_seconds: float | None
    wall_seconds: float | None


def served_now() -> str:
    """Return the signed time of serving: the clock of pages without script."""
    return signing.dumps(round(time.time(), 2), salt=_SALT)


def read_answer(sent: Mapping[str, str], edits: Sequence[int]) -> Answer:
    """Read the fields of a form; ``edits`` is the number of edits of each output shown.

    Raises
    ------
    DataError
        If a field cannot be read.
    """
    action = sent.get("action") or "submit"
    if action not in get_args(Action):
        raise DataError("an answer that asks for something unknown", fix="Load the page again.")
    active, wall = _seconds(sent.get("active", "")), _wall(sent)
    return Answer(
        action=cast("Action", action),
        key=sent.get("key", ""),
        ranks=tuple(_rank(sent.get(f"rank-{place}", "")) for place in range(len(edits))),
        verdicts=tuple(
            tuple(_verdict(sent.get(f"edit-{place}-{edit}", "")) for edit in range(count))
            for place, count in enumerate(edits)
        ),
        reason=sent.get("reason", ""),
        comment=sent.get("comment", ""),
        active_seconds=min(active, wall) if active is not None and wall is not None else active,
        wall_seconds=wall,
    )


def _rank(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 4):
        raise DataError("a rank that is no number", fix="Load the page again.")
    return int(text)


def _verdict(text: str) -> str | None:
    if text and text not in VERDICTS:
        raise DataError("a verdict that is unknown", fix="Load the page again.")
    return text or None


def _seconds(text: str) -> float | None:
    if not text:
        return None
    try:
        seconds = float(text[:40])
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds) or seconds < 0:
        raise DataError("a time that is no number of seconds", fix="Load the page again.")
    return seconds


def _wall(sent: Mapping[str, str]) -> float | None:
    seconds = _seconds(sent.get("wall", ""))
    if seconds is not None:
        return seconds
    try:
        served = float(signing.loads(sent.get("served", ""), salt=_SALT))
    except (signing.BadSignature, TypeError, ValueError):
        return None
    wall = time.time() - served
    # outside of these bounds the clock was set meanwhile; the signed time is rounded
    return max(0.0, wall) if -1 <= wall <= _LONGEST else None
