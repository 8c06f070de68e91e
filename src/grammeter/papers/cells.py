"""One printed figure beside ours, and what is to be said of the two."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from grammeter.core import json_number

Verdict = Literal["equal", "within tolerance", "differs", "needs"]
"""Equal as printed; as near as the recipe says it must come; neither; one of the two is missing."""

Value = float | str
"""A figure, or a text: a mark, a range of ranks such as ``2-4``."""

_RANGE = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Ours:
    """A figure of ours.

    Attributes
    ----------
    value
        The figure; NaN where there is none.
    note
        What a reader must know of it.
    stands_in
        The model of the paper that could not be had, if another took its place: such a figure is
        shown, yet never said to be equal.
    """

    value: Value
    note: str = ""
    stands_in: str | None = None


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How near a figure must come, in its own unit, and why no nearer can be asked for.

    Of ranges of ranks, such as ``2-4``, it is how far either end may lie away; other texts are
    equal or not.
    """

    value: float
    reason: str


@dataclass(frozen=True, slots=True)
class Printed:
    """A figure as a paper has it.

    Attributes
    ----------
    value
        The figure or text; ``None`` where the paper prints nothing.
    digits
        How many decimals of it are printed.
    slip
        Why it is known to come out otherwise; empty if it is not.
    """

    value: Value | None
    digits: int = 3
    slip: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a paper's table.

    Attributes
    ----------
    published, ours
        ``None`` where there is none.
    verdict, note
        What is to be said of the two, and why.
    """

    paper: str
    table: str
    row: str
    column: str
    published: Value | None
    ours: Value | None
    verdict: Verdict
    note: str = ""

    @property
    def difference(self) -> float | None:
        """Ours less the published figure; ``None`` where one of them is no number."""
        if isinstance(self.published, int | float) and isinstance(self.ours, int | float):
            return self.ours - self.published
        return None

    def to_json(self) -> dict[str, Any]:
        """Return the public shape of a cell."""
        return {
            "paper": self.paper,
            "table": self.table,
            "row": self.row,
            "column": self.column,
            "published": _plain(self.published),
            "ours": _plain(self.ours),
            "verdict": self.verdict,
            "note": self.note,
        }


def _no_printed() -> Mapping[tuple[str, str], Printed]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedTable:
    """A table or figure of a paper.

    Attributes
    ----------
    paper, name
        Such as ``grundkiewicz2015`` and ``table3b``.
    title, page
        What it shows; where it stands, as printed or as a section.
    cells
        By row and column, in the order of the paper.
    origin
        How the figures came here: from the paper's text, or from somebody's copy of it.
    transcribed
        Whether its figures were at hand at all.
    """

    paper: str
    name: str
    title: str
    page: str
    origin: str
    transcribed: bool = True
    cells: Mapping[tuple[str, str], Printed] = field(default_factory=_no_printed)

    @property
    def figures(self) -> int:
        """How many of the cells are printed."""
        return sum(cell.value is not None for cell in self.cells.values())


def judge(printed: Printed, ours: Ours | None, tolerance: Tolerance | None) -> tuple[Verdict, str]:
    """Return the verdict on a figure, and its note.

    Without ``ours`` the figure needs something; the caller says what.
    """
    if ours is None or (isinstance(ours.value, float) and math.isnan(ours.value)):
        return "needs", ours.note if ours else ""
    if ours.stands_in:
        told = f"needs {ours.stands_in}; ours is of another model"
        return "needs", f"{told}: {ours.note}" if ours.note else told
    if printed.value is None:
        return "needs", _joined("a figure of ours, the paper prints none", printed.slip, ours.note)
    if _is_equal(printed, ours.value):
        return "equal", ours.note
    if tolerance and _distance(printed, ours.value) <= tolerance.value:
        return "within tolerance", _joined(ours.note, tolerance.reason)
    return "differs", _joined(printed.slip, ours.note) or "the reason is not known"


def _is_equal(printed: Printed, value: Value) -> bool:
    if isinstance(printed.value, str) or isinstance(value, str) or printed.value is None:
        return printed.value == value
    # a figure that lies on the border of two printed ones may be printed as either
    return abs(value - printed.value) <= 0.5 * 10.0**-printed.digits + 1e-9


def _distance(printed: Printed, value: Value) -> float:
    if isinstance(printed.value, str) and isinstance(value, str):
        return _range_distance(printed.value, value)
    if isinstance(printed.value, str) or isinstance(value, str) or printed.value is None:
        return math.inf
    return abs(value - printed.value)


def _range_distance(printed: str, ours: str) -> float:
    """Return how far the ends of two ranges lie apart at most; infinity for other texts."""
    theirs, own = _ends(printed), _ends(ours)
    if theirs is None or own is None:
        return math.inf
    return max(abs(theirs[0] - own[0]), abs(theirs[1] - own[1]))


def _ends(text: str) -> tuple[int, int] | None:
    found = _RANGE.fullmatch(text)
    return (int(found[1]), int(found[2] or found[1])) if found else None


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _plain(value: Value | None) -> Value | None:
    return json_number(value) if isinstance(value, float) else value
