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
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from grammeter import core, formats

NAME_LENGTH = 200  # most characters of a name in a database
MOST_POINTS = 11  # of a scale whose points are buttons
_FIX = 'Write a table for each criterion: [fluency], question = "...", scale = [1, 4].'


@dataclass(frozen=True, slots=True)
class RatingCriterion:
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


OVERALL = RatingCriterion("overall", 0, 100, "How good is this correction of the sentence?")
"""What the task ``direct`` asks about."""


@cache
def default_criteria() -> tuple[RatingCriterion, ...]:
    """Return grammaticality, fluency and meaning, from 1 to 4."""
    return read_criteria(Path(__file__).with_suffix(".toml"))


def read_criteria(path: str | Path) -> tuple[RatingCriterion, ...]:
    """Read a TOML file; raise :class:`DataError` with file and line if it is none, or impossible.

    Each scale has 2 to 11 points, and each anchor is one of them.
    """
    text, criteria = formats.read_text(path), list[RatingCriterion]()
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        where = f"{path}:{line[1]}" if line else str(path)
        raise core.DataError(f"no TOML: {error}", where=where, fix=_FIX) from None
    if not tables:
        raise core.DataError("no criterion", where=str(path), fix=_FIX)
    for name, table in tables.items():
        try:
            criteria.append(_criterion(name, table))
        except ValueError as error:
            head = re.search(rf"""^\s*\[?\s*["']?{re.escape(name)}\b""", text, re.MULTILINE)
            line = text[: head.end()].count("\n") + 1 if head else 1
            fault = f"criterion {name!r}: {error}"
            raise core.DataError(fault, where=f"{path}:{line}", fix=_FIX) from None
    return tuple(criteria)


def _criterion(name: str, table: object) -> RatingCriterion:
    """Return a criterion; raise ``ValueError`` if it is impossible."""
    if not name.strip() or not name.isprintable() or len(name) > NAME_LENGTH or name == "mean":
        raise ValueError("no good name; 'mean' stands for the mean of all")
    values = cast("dict[str, Any]", table) if isinstance(table, dict) else None
    if values is None or values.keys() - {"question", "scale", "anchors"}:
        raise ValueError("it is no table of question, scale and anchors")
    question, table = values.get("question", ""), values.get("anchors", {})
    known = isinstance(table, dict)
    anchors: dict[str, Any] = cast("dict[str, Any]", table) if known else {"": None}
    if not all(isinstance(text, str) for text in (question, *anchors.values())):
        raise ValueError("question and anchors are texts")
    if not all(re.fullmatch("-?[0-9]{1,4}", point) for point in anchors):
        raise ValueError("anchors stand at whole numbers")
    numbers = sorted(map(int, anchors))
    scale: Any = values.get("scale") or [*numbers[:1], *numbers[-1:]]
    ends = cast("list[Any]", scale) if isinstance(scale, list) else []
    whole = [*map(type, ends)] == [int, int]
    if not whole or not 2 <= ends[1] - ends[0] + 1 <= MOST_POINTS:
        raise ValueError(f"the scale {scale}; a scale has 2 to {MOST_POINTS} points: [1, 4]")
    low, high = ends
    if numbers and not low <= numbers[0] <= numbers[-1] <= high:
        raise ValueError(f"an anchor outside of the scale from {low} to {high}")
    if "scale" not in values and len(numbers) != high - low + 1:
        raise ValueError("a point without an anchor, and no scale")
    return RatingCriterion(name, low, high, question, anchors)
