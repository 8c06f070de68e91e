"""Printed figures beside ours, with a verdict."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from grammeter.core import json_number

Verdict = Literal["equal", "within tolerance", "differs", "needs"]
"""Equal to the printed digits; within the recipe's tolerance; neither; one figure is missing."""

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
        What a reader must know about it.
    stands_in
        Model of the paper that is missing, if another model replaces it: such a figure is shown,
        but is never called equal.
    """

    value: Value
    note: str = ""
    stands_in: str | None = None


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Largest difference of a figure, in its own unit, and the reason for it.

    For ranges of ranks, such as ``2-4``, it holds for either end; other texts are equal or not.
    """

    value: float
    reason: str


@dataclass(frozen=True, slots=True)
class Printed:
    """A figure as a paper prints it.

    Attributes
    ----------
    value
        The figure or text; ``None`` where the paper prints nothing.
    digits
        Number of printed decimals.
    slip
        Known reason for another figure of ours; empty if there is none.
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
        Result of the comparison, and the reason.
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
        """Our figure minus the published one; ``None`` unless both are numbers."""
        if isinstance(self.published, int | float) and isinstance(self.ours, int | float):
            return self.ours - self.published
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape of a cell."""
        return {**asdict(self), "published": _plain(self.published), "ours": _plain(self.ours)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedTable:
    """A table or figure of a paper.

    Attributes
    ----------
    paper, name
        Such as ``grundkiewicz2015`` and ``table3b``.
    title, page
        What it shows; its place, as printed or as a section.
    cells
        By row and column, in the order of the paper.
    origin
        Origin of the figures: the paper's text, or a copy of it.
    transcribed
        Whether its figures were available.
    """

    paper: str
    name: str
    title: str
    page: str
    origin: str
    transcribed: bool = True
    cells: Mapping[tuple[str, str], Printed] = field(default_factory=dict[tuple[str, str], Printed])

    @property
    def figures(self) -> int:
        """Number of printed cells."""
        return sum(cell.value is not None for cell in self.cells.values())


def judge(printed: Printed, ours: Ours | None, tolerance: Tolerance | None) -> tuple[Verdict, str]:
    """Return the verdict on a figure, and its note; the caller says what a figure needs."""
    if ours is None or (isinstance(ours.value, float) and math.isnan(ours.value)):
        return "needs", ours.note if ours else ""
    if ours.stands_in:
        need = f"needs {ours.stands_in}; ours is of another model"
        return "needs", f"{need}: {ours.note}" if ours.note else need
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
    # a figure halfway between two printed ones may be printed as either
    return abs(value - printed.value) <= 0.5 * 10.0**-printed.digits + 1e-9


def _distance(printed: Printed, value: Value) -> float:
    if isinstance(printed.value, str) and isinstance(value, str):
        return _range_distance(printed.value, value)
    if isinstance(printed.value, str) or isinstance(value, str) or printed.value is None:
        return math.inf
    return abs(value - printed.value)


def _range_distance(printed: str, ours: str) -> float:
    """Return the larger distance between the ends of two ranges; infinity for other texts."""
    theirs, our_ends = _ends(printed), _ends(ours)
    if theirs is None or our_ends is None:
        return math.inf
    return max(abs(theirs[0] - our_ends[0]), abs(theirs[1] - our_ends[1]))


def _ends(text: str) -> tuple[int, int] | None:
    match = _RANGE.fullmatch(text)
    return (int(match[1]), int(match[2] or match[1])) if match else None


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _plain(value: Value | None) -> Value | None:
    return json_number(value) if isinstance(value, float) else value


@cache
def read_tables(paper: str) -> Mapping[str, PrintedTable]:
    """Return the tables of a paper by name, in the order of the paper.

    A file holds for each table ``title``, ``page``, ``origin``, ``columns``, ``rows`` (a list of
    values by row, ``null`` where nothing is printed), ``digits`` (a number, or one by column),
    ``slips`` (by ``row|column``, ``row|*`` or ``*|column``: known reason for another figure) and
    ``transcribed``, false if its figures were not available.
    """
    text = files("grammeter.papers").joinpath("printed", f"{paper}.json").read_text("utf-8")
    tables: Mapping[str, Any] = json.loads(text)["tables"]
    return {name: _table(paper, name, shape) for name, shape in tables.items()}


def _table(paper: str, name: str, shape: Mapping[str, Any]) -> PrintedTable:
    columns: list[str] = shape["columns"]
    digits: int | Mapping[str, int] = shape.get("digits", 3)
    slips: Mapping[str, str] = shape.get("slips", {})
    cells: dict[tuple[str, str], Printed] = {}
    for row, values in shape["rows"].items():
        for column, value in zip(columns, values, strict=True):
            places = digits if isinstance(digits, int) else digits.get(column, 3)
            keys = (f"{row}|{column}", f"{row}|*", f"*|{column}")
            slip = next((slips[key] for key in keys if key in slips), "")
            cells[row, column] = Printed(value, places, slip)
    return PrintedTable(
        paper=paper,
        name=name,
        **{key: shape[key] for key in ("title", "page", "origin")},
        transcribed=shape.get("transcribed", True),
        cells=cells,
    )
