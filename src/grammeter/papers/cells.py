"""Printed figures beside ours, with a verdict."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from grammeter.core import Column, Table, format_number, json_number

Verdict = Literal["equal", "within tolerance", "differs", "needs"]
"""Equal to the printed digits; within the table's tolerance; neither; one figure is missing."""

Value = float | str
"""A figure, or a text: a mark, a range of ranks such as ``2-4``."""

_RANGE = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Ours:
    """Our figure (NaN: none) and its note; with a model that ``stands_in``, it is never equal."""

    value: Value
    note: str = ""
    stands_in: str | None = None


Made = Mapping[tuple[str, str], Ours | Value]
"""Our figures by row and column, named as in the printed table."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Largest difference of a figure, in its unit, or of either end of a range; and the reason."""

    value: float
    reason: str


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed figure or text (``None``: nothing), its decimals, and a known reason to differ."""

    value: Value | None
    digits: int = 3
    slip: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell; ``published`` and ``ours`` may be ``None``; ``verdict`` and ``note`` compare them."""

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

    ``page``: its place, as printed; ``cells`` by row and column, in the order of the paper;
    ``origin`` of the figures: the paper's text, or a copy of it; ``transcribed``: whether they were
    available; ``data``, ``models``: what making it again needs; ``tolerances``, ``gaps`` (what
    missing figures would need): by row, by column, or ``*`` for all.
    """

    paper: str
    name: str
    title: str
    page: str
    origin: str
    transcribed: bool = True
    data: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict[str, Tolerance])
    gaps: Mapping[str, str] = field(default_factory=dict[str, str])
    cells: Mapping[tuple[str, str], Printed] = field(default_factory=dict[tuple[str, str], Printed])

    @property
    def figures(self) -> int:
        """Number of printed cells."""
        return sum(cell.value is not None for cell in self.cells.values())

    def tolerance(self, row: str, column: str) -> Tolerance | None:
        """Return the tolerance of a figure; ``None``: equal in all printed digits."""
        return _first(self.tolerances, row, column, "*")

    def gap(self, row: str, column: str) -> str | None:
        """Return what a missing figure would need, if that is known."""
        return _first(self.gaps, row, column, "*")


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
    """Return how far two figures, or the ends of two ranges, lie apart; infinity for texts."""
    theirs, ours = _ends(printed.value), _ends(value)
    if theirs is None or ours is None or isinstance(printed.value, str) != isinstance(value, str):
        return math.inf
    return max(abs(a - b) for a, b in zip(theirs, ours, strict=True))


def _ends(value: Value | None) -> tuple[float, float] | None:
    if not isinstance(value, str):
        return None if value is None else (value, value)
    match = _RANGE.fullmatch(value)
    return (int(match[1]), int(match[2] or match[1])) if match else None


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _plain(value: Value | None) -> Value | None:
    return json_number(value) if isinstance(value, float) else value


def _first(values: Mapping[str, Any], *keys: str) -> Any:
    return next((values[key] for key in keys if key in values), None)


@cache
def read_tables(paper: str) -> Mapping[str, PrintedTable]:
    """Return the tables of a paper by name, in the order of the paper.

    A file holds for each table the fields of :class:`PrintedTable`, but ``columns``, ``rows`` (a
    list of values by row, ``null`` where nothing is printed), ``digits`` (a number, or one by
    column) and ``slips`` (by ``row|column``, ``row|*`` or ``*|column``: known reason for another
    figure) for its cells, and tolerances in a list that names ``of`` which rows or columns.
    """
    text = files("grammeter.papers").joinpath("printed", f"{paper}.json").read_text("utf-8")
    tables: Mapping[str, Any] = json.loads(text)["tables"]
    return {name: _table(paper, name, dict(shape)) for name, shape in tables.items()}


def _table(paper: str, name: str, shape: dict[str, Any]) -> PrintedTable:
    columns: list[str] = shape.pop("columns")
    digits: int | Mapping[str, int] = shape.pop("digits", 3)
    slips: Mapping[str, str] = shape.pop("slips", {})
    cells: dict[tuple[str, str], Printed] = {}
    for row, values in shape.pop("rows").items():
        for column, value in zip(columns, values, strict=True):
            places = digits if isinstance(digits, int) else digits.get(column, 3)
            slip = _first(slips, f"{row}|{column}", f"{row}|*", f"*|{column}") or ""
            cells[row, column] = Printed(value, places, slip)
    shape["tolerances"] = {
        key: Tolerance(rule["value"], rule["reason"])
        for rule in shape.get("tolerances", ())
        for key in rule["of"]
    }
    for key in ("data", "models"):
        shape[key] = tuple(shape.get(key, ()))
    return PrintedTable(paper=paper, name=name, cells=cells, **shape)


def cells_table(printed: PrintedTable, cells: Sequence[Cell]) -> Table:
    """Lay out a paper's table, our figures with two more decimals beside the printed ones."""
    rows = [(*_figures(printed, cell), cell.verdict, cell.note) for cell in cells]
    numbers = Column.many("number", "published", "ours", "difference")
    title = f"{printed.paper}, {printed.page}: {printed.title}"
    columns = ("row", "column", *numbers, "verdict", "note")
    return Table.of(columns, rows, (f"published: {printed.origin}",), title=title)


def why_table(printed: PrintedTable, cells: Sequence[Cell]) -> Table:
    """Lay out cells that differ with the number of the reason; the reasons stand below."""
    reasons = list(dict.fromkeys(cell.note for cell in cells))
    rows = [(*_figures(printed, cell)[:4], 1 + reasons.index(cell.note)) for cell in cells]
    notes = (f"{number}: {reason}" for number, reason in enumerate(reasons, start=1))
    figures = Column.many("number", "published", "ours")
    title = f"{printed.paper}, {printed.page}: cells that differ"
    return Table.of(("row", "column", *figures, Column("why", "count")), rows, notes, title=title)


def _figures(printed: PrintedTable, cell: Cell) -> tuple[str, ...]:
    """Return row, column, and the published figure, ours and the difference as texts."""
    figure = printed.cells.get((cell.row, cell.column))
    digits = figure.digits if figure else 3
    finer = digits + 2 if digits else 0
    difference = cell.difference
    apart = "" if difference is None else format_number(difference, finer, sign=True)
    figures = (_text(cell.published, digits), _text(cell.ours, finer), apart)
    return (cell.row, cell.column, *figures)


def _text(value: Value | None, digits: int) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else format_number(value, digits)
