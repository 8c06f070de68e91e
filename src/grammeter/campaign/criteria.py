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

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, cast

from grammeter import formats
from grammeter.core import DataError

NAME_LENGTH = 200  # most characters of a name in a database
MOST_POINTS = 11  # of a scale whose points are buttons
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
    except tomllib.TOMLDecodeError as error:  # which names the line
        raise DataError(f"no TOML: {error}", where=str(path), fix=_FIX) from None
    if not tables:
        raise DataError("no criterion", where=str(path), fix=_FIX)
    for name, table in tables.items():
        line = text[: text.find(name)].count("\n") + 1
        with formats.placed(f"{path}:{line}"):
            criteria.append(_criterion(name, table))
    return tuple(criteria)


@dataclass(frozen=True)
class _Table:
    """What a file says of a criterion."""

    question: str = ""
    scale: tuple[int, ...] = ()
    anchors: Mapping[str, str] = field(default_factory=dict[str, str])


def _criterion(name: str, table: Any) -> RatingCriterion:
    if not name.strip() or not name.isprintable() or len(name) > NAME_LENGTH or name == "mean":
        raise DataError(f"{name!r} is no good name; 'mean' stands for the mean of all", fix=_FIX)
    if not isinstance(table, dict) or cast("Any", table).keys() - {
        of.name for of in fields(_Table)
    }:
        raise DataError(f"{name!r} is no table of question, scale and anchors", fix=_FIX)
    given = formats.made(_Table, cast("Any", table), _FIX)
    numbers = sorted(int(point) for point in given.anchors if point.lstrip("-").isdecimal())
    ends = given.scale or (*numbers[:1], *numbers[-1:])
    points = [*map(str, range(ends[0], ends[1] + 1)[: MOST_POINTS + 1])] if len(ends) == 2 else ()
    if not 2 <= len(points) <= MOST_POINTS or not {*given.anchors} <= {*points}:
        fault = f"the scale of {name!r}; a scale has 2 to {MOST_POINTS} points, [1, 4], and anchors"
        raise DataError(f"{fault} stand at some of them", fix=_FIX)
    if not given.scale and len(numbers) != len(points):
        raise DataError(f"a point of {name!r} without an anchor, and no scale", fix=_FIX)
    return RatingCriterion(name, ends[0], ends[1], given.question, given.anchors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """An item with a known answer; see the module."""

    source: str
    outputs: Sequence[str]
    ranks: Sequence[int]
    explanation: str = ""
    loud: bool = False
    before: str = ""
    after: str = ""
    task: str = ""  # of the item; empty: that of the campaign

    def __post_init__(self) -> None:
        """Raise :class:`DataError` if the answer is impossible."""
        if len({text.strip() for text in self.outputs}) < max(2, len(self.outputs)):
            raise DataError("it takes two different outputs at least", fix=_FIX_CHECK)
        ranks = self.ranks
        if len(ranks) != len(self.outputs) or min(ranks) < 1 or len(set(ranks)) < 2:
            fault = "each output has a rank from 1 on, and not all of them the same"
            raise DataError(fault, fix=_FIX_CHECK)


def read_checks(path: str | Path, *, loud: bool) -> tuple[Check, ...]:
    """Read a file of items with a known answer, ``loud`` unless they say it."""
    checks, keys = list[Check](), [of.name for of in fields(Check)]
    for at, line in enumerate(formats.checked_lines(formats.read_text(path), path), start=1):
        with formats.placed(f"{path}:{at}"):
            data = formats.parse_line(line, _FIX_CHECK, keys)
            checks.append(formats.made(Check, {"loud": loud, **data}, _FIX_CHECK))
    return tuple(checks)
