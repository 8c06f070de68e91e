"""What organisers write for a campaign: criteria of ratings, and items with a known answer.

Criteria: a TOML file with a table for each, in the order in which they are asked::

    [fluency]
    question = "Would a fluent writer put it this way?"
    scale = [1, 4]          # default: from the first anchor to the last

    [fluency.anchors]       # a text for each point; with a scale, some may be left out
    1 = "Nobody would write this."
    4 = "Natural throughout."

Tutorial and attention items (checks): one JSON object a line (here on two)::

    {"source": "He go home .", "outputs": ["He goes home .", "He go to home ."], "ranks": [1, 2],
     "explanation": "The verb agrees with its subject .", "loud": true, "before": "", "after": ""}

``ranks`` is a right answer; outputs with equal ranks here may be ranked in any way.
``task`` is the item's own task, default: that of the campaign; it is one whose answers are in an
order (``ranking``, ``edits``, ``best-worst``, ``direct``).
``explanation`` is shown after a wrong answer, in the tutorial after every answer. ``loud`` asks
again after a wrong answer; the default is true for tutorial items, false for attention items.
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
LARGEST = 2**20  # most characters of a file of checks
_TYPES = {  # of the fields of a check
    **{"source": str, "outputs": list, "ranks": list, "explanation": str, "loud": bool},
    **{"before": str, "after": str, "task": str},
}
_FIX_CHECK = 'Write {"source": "...", "outputs": ["...", "..."], "ranks": [1, 2]} on one line.'
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
    values: dict[str, Any] = cast("Any", table) if isinstance(table, dict) else {"": table}
    if values.keys() - {"question", "scale", "anchors"}:
        raise ValueError("it is no table of question, scale and anchors")
    question, given = values.get("question", ""), values.get("anchors", {})
    anchors: dict[str, Any] = cast("Any", given) if isinstance(given, dict) else {"": None}
    if not all(isinstance(text, str) for text in (question, *anchors.values())):
        raise ValueError("question and anchors are texts")
    if not all(re.fullmatch("-?[0-9]{1,4}", point) for point in anchors):
        raise ValueError("anchors stand at whole numbers")
    numbers = sorted(map(int, anchors))
    scale: Any = values.get("scale") or [*numbers[:1], *numbers[-1:]]
    whole = isinstance(scale, list) and [*map(type, cast("list[Any]", scale))] == [int, int]
    if not whole or not 2 <= scale[1] - scale[0] + 1 <= MOST_POINTS:
        raise ValueError(f"the scale {scale}; a scale has 2 to {MOST_POINTS} points: [1, 4]")
    low, high = cast("list[int]", scale)
    if not {*numbers} <= {*range(low, high + 1)}:
        raise ValueError(f"an anchor outside of the scale from {low} to {high}")
    if "scale" not in values and len(numbers) != high - low + 1:
        raise ValueError("a point without an anchor, and no scale")
    return RatingCriterion(name, low, high, question, anchors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """An item with a known answer; see the module."""

    source: str
    outputs: tuple[str, ...]
    ranks: tuple[int, ...]
    explanation: str = ""
    loud: bool = False
    before: str = ""
    after: str = ""
    task: str = ""  # of the item; empty: that of the campaign


def read_checks(path: str | Path, *, loud: bool) -> tuple[Check, ...]:
    """Read a file of items with a known answer, ``loud`` unless they say it."""
    text, checks = formats.read_text(path), list[Check]()
    if len(text) > LARGEST:
        fault = f"{len(text)} characters"
        raise core.DataError(fault, where=str(path), fix=f"Items with answers have {LARGEST}.")
    for at, line in enumerate(formats.checked_lines(text, str(path)), start=1):
        try:
            with formats.placed(f"{path}:{at}"):
                data = formats.parse_line(line, _FIX_CHECK, [*_TYPES])
            checks.append(_check({"loud": loud, **data}))
        except ValueError as error:
            raise core.DataError(str(error), where=f"{path}:{at}", fix=_FIX_CHECK) from None
    return tuple(checks)


def _check(data: dict[str, Any]) -> Check:
    wrong = [key for key, value in data.items() if type(value) is not _TYPES[key]]
    if wrong or not data.get("source"):
        raise ValueError(f"wrong or missing: {', '.join(wrong) or 'source'}")
    for key, of in (("outputs", str), ("ranks", int)):
        if {*map(type, data.get(key, ()))} != {of}:
            raise ValueError(f"{key} is a list of {of.__name__}")
    outputs: tuple[str, ...] = tuple(text.strip() for text in data["outputs"])
    ranks: tuple[int, ...] = tuple(data["ranks"])
    if len(set(outputs)) < max(2, len(outputs)):
        raise ValueError("it takes two different outputs at least")
    if len(ranks) != len(outputs) or min(ranks) < 1 or len(set(ranks)) < 2:
        raise ValueError("each output has a rank from 1 on, and not all of them the same")
    fields: dict[str, Any] = {**data, "outputs": outputs, "ranks": ranks}
    return Check(**fields)
