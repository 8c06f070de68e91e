"""Criteria of ratings: what is asked about each correction, and the points of its scale.

A TOML file has a table for each criterion, in the order in which they are asked::

    [fluency]
    question = "Would a fluent writer put it this way?"
    scale = [1, 4]          # default: from the first anchor to the last

    [fluency.anchors]       # a text for each point; with a scale, some may be left out
    1 = "Nobody would write this."
    4 = "Natural throughout."
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from grammeter import core, formats
from grammeter.campaign.choices import NAME_LENGTH

MOST_POINTS = 11  # of a scale whose points are buttons
DEFAULTS = Path(__file__).with_suffix(".toml")
_FIX = 'Write a table for each criterion: [fluency], question = "...", scale = [1, 4].'


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion: scores are whole numbers from ``low`` to ``high``."""

    name: str
    low: int
    high: int
    question: str = ""
    anchors: Mapping[str, str] = field(default_factory=dict[str, str])  # point -> its text

    @property
    def points(self) -> range:
        """All points of the scale."""
        return range(self.low, self.high + 1)

    @property
    def scale(self) -> list[int]:
        """The scale as files have it."""
        return [self.low, self.high]


OVERALL = Criterion("overall", 0, 100, "How good is this correction of the sentence?")
"""What the task ``direct`` asks about."""


@cache
def default_criteria() -> tuple[Criterion, ...]:
    """Return grammaticality, fluency and meaning, from 1 to 4."""
    return read_criteria(DEFAULTS)


def read_criteria(path: str | Path) -> tuple[Criterion, ...]:
    """Read a TOML file; raise :class:`DataError` with file and line if it is none, or impossible.

    Each scale has 2 to 11 points, and each anchor is one of them.
    """
    text = formats.read_text(path)
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        where = f"{path}:{line[1]}" if line else str(path)
        raise core.DataError(f"no TOML: {error}", where=where, fix=_FIX) from None
    if not tables:
        raise core.DataError("no criterion", where=str(path), fix=_FIX)
    lines = text.splitlines()
    return tuple(_criterion(name, table, path, lines) for name, table in tables.items())


def _criterion(name: str, table: object, path: str | Path, lines: list[str]) -> Criterion:
    head = re.compile(rf"""\s*\[?\s*["']?{re.escape(name)}\b""")
    line = next((at for at, text in enumerate(lines, start=1) if head.match(text)), 1)
    known = cast("dict[str, Any]", table) if isinstance(table, dict) else None
    values: dict[str, Any] = {"": table} if known is None else known
    if fault := next(_faults(name, values), None):
        raise core.DataError(f"criterion {name!r}: {fault}", where=f"{path}:{line}", fix=_FIX)
    anchors: dict[str, str] = values.get("anchors", {})
    low, high = values.get("scale") or (min(map(int, anchors)), max(map(int, anchors)))
    return Criterion(name, low, high, values.get("question", ""), anchors)


def _faults(name: str, values: dict[str, Any]) -> Iterator[str]:
    if not name.strip() or not name.isprintable() or len(name) > NAME_LENGTH or name == "mean":
        yield "no good name; 'mean' stands for the mean of all"
    if unknown := [key for key in values if key not in ("question", "scale", "anchors")]:
        yield f"{unknown[0]!r} is unknown" if unknown[0] else "it is no table"
    anchors: Any = values.get("anchors", {})
    texts: list[Any] = [values.get("question", "")]
    texts += anchors.values() if isinstance(anchors, dict) else [None]
    if not all(isinstance(text, str) for text in texts):
        yield "question and anchors are texts"
        return
    points: list[str] = [*anchors]
    if not all(re.fullmatch(r"-?[0-9]{1,9}", point) for point in points):
        yield "anchors stand at whole numbers"
        return
    numbers = [*map(int, points)]
    scale: Any = values.get("scale") or [min(numbers, default=0), max(numbers, default=0)]
    if not isinstance(scale, list) or [*map(type, cast("list[Any]", scale))] != [int, int]:
        yield "a scale is two whole numbers"
        return
    low, high = cast("list[int]", scale)
    if not 2 <= high - low + 1 <= MOST_POINTS:
        yield f"a scale from {low} to {high}; it has 2 to {MOST_POINTS} points"
    if not all(low <= number <= high for number in numbers):
        yield f"an anchor outside of the scale from {low} to {high}"
    if "scale" not in values and len(numbers) != high - low + 1:
        yield "a point without an anchor, and no scale"
