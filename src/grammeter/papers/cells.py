"""Printed figures beside ours, with a verdict."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from grammeter.core import Column, Figure, MissingResourceError, Table, format_number, plain

Verdict = Literal[
    "equal", "within tolerance", "differs", "consistent", "stored", "other model", "needs"
]
"""What comes out beside the printed figure.

``equal``: its digits, from data; ``within tolerance``: as near as chance or an unknown pipeline
lets it come; ``consistent``: its digits, but from other printed figures alone, so that the paper
agrees with itself; ``stored``: its digits, from figures that the authors stored one step before;
``other model``: made with a model in the place of the paper's; ``needs``: one figure is missing;
``differs``: none of these.
"""

Basis = Literal["data", "print", "stored"]
"""What a figure of ours is made from: data, other printed figures, or the authors' stored ones."""

_EQUAL: Mapping[Basis, Verdict] = {"data": "equal", "print": "consistent", "stored": "stored"}
Value = float | str  # a figure, or a text: a mark, a range of ranks such as `2-4`
_NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_RANGE = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Largest difference of a figure, in its unit, or of either end of a range; and the reason."""

    value: float
    reason: str


@dataclass(frozen=True, slots=True)
class Ours:
    """Our figure and what must be known of it.

    ``value``: NaN for none; ``basis``: what it is made from; ``stands_in``: the paper's model whose
    place another has taken; ``tolerance``: in place of the table's; ``outcomes``: how often each
    value came up over seeds, of a figure that chance decides.
    """

    value: Value
    note: str = ""
    basis: Basis = "data"
    stands_in: str | None = None
    tolerance: Tolerance | None = None
    outcomes: Mapping[Value, int] = field(default_factory=dict[Value, int])

    @classmethod
    def missing(cls, error: MissingResourceError) -> "Ours":
        """Return a figure that cannot be made, for the reason of an error."""
        return cls(math.nan, f"{error.message}: {error.fix}" if error.fix else error.message)

    def of(self, value: Value) -> "Ours":
        """Return another value that was made in the same way."""
        return replace(self, value=value)

    @classmethod
    def over_seeds(cls, values: Iterable[Value]) -> "Ours":
        """Return the most frequent of the values that seeds gave, with the others beside it."""
        outcomes = Counter(values)
        ((value, _),) = outcomes.most_common(1)
        return cls(value=value, outcomes=outcomes)


Made = Mapping[tuple[str, str], Ours | Value]
"""Our figures by row and column, named as in the printed table."""

Cells = dict[tuple[str, str], Ours]  # the same while it is made


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed value (``None``: none), its decimals (``None``: a count); print may cut them."""

    value: Value | None
    digits: int | None = 3
    cut: bool = False

    def write(self, value: Value | None, *, finer: bool = False) -> str:
        """Write a value with the printed digits; ``finer``: with two more."""
        if value is None or isinstance(value, str):
            return value or ""
        more = 2 if finer and self.digits else 0
        return f"{value:.9g}" if self.digits is None else format_number(value, self.digits + more)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell; ``published`` and ``ours`` may be ``None``; ``verdict`` and ``note`` compare them.

    ``digits`` is ``cut`` where the figures are equal because print cut its digits.
    """

    paper: str
    table: str
    row: str
    column: str
    published: Value | None
    ours: Value | None
    verdict: Verdict
    note: str = ""
    digits: Literal["cut"] | None = None

    @property
    def difference(self) -> float | None:
        """Our figure minus the published one; ``None`` unless both are numbers."""
        if isinstance(self.published, int | float) and isinstance(self.ours, int | float):
            return self.ours - self.published
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape of a cell."""
        data = plain(asdict(self))
        return data if self.digits else {k: v for k, v in data.items() if k != "digits"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedTable:
    """A table or figure of a paper.

    ``page``: its place, as printed; ``cells`` by row and column, in the order of the paper;
    ``origin`` of the figures: the paper's text, or a copy of it; ``transcribed``: whether they were
    available; ``how``: the call or command behind ours; ``data``: the data sets it needs;
    ``tolerances``, ``gaps`` (what missing figures would need): by row, by column, or ``*`` for all;
    ``reasons`` (why another figure comes out): by ``row|column``, ``row|*`` or ``*|column``;
    ``settings``: figures of ours that nothing is computed for;
    ``doubts``: what is not clear in the print; ``axes``: the names of x and y, of a drawing.
    """

    paper: str
    name: str
    title: str
    page: str
    origin: str
    transcribed: bool = True
    how: str = ""
    data: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict[str, Tolerance])
    gaps: Mapping[str, str] = field(default_factory=dict[str, str])
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    settings: Cells = field(default_factory=dict[tuple[str, str], Ours])
    cells: Mapping[tuple[str, str], Printed] = field(default_factory=dict[tuple[str, str], Printed])

    @property
    def figures(self) -> int:
        """Number of printed cells."""
        return sum(cell.value is not None for cell in self.cells.values())

    def tolerance(self, row: str, column: str) -> Tolerance | None:
        """Return the tolerance of a figure; ``None``: equal in all printed digits."""
        return _first(self.tolerances, row, column, "*")

    def reason(self, row: str, column: str) -> str:
        """Return why another figure than the printed one comes out, if that is known."""
        return _first(self.reasons, f"{row}|{column}", f"{row}|*", f"*|{column}") or ""

    def gap(self, row: str, column: str) -> str | None:
        """Return what a missing figure would need, if that is known."""
        return _first(self.gaps, row, column, "*")


def judge(
    printed: Printed, ours: Ours | None, tolerance: Tolerance | None = None, reason: str = ""
) -> tuple[Verdict, str]:
    """Return the verdict on a figure, and its note; the caller says what a figure needs."""
    if ours is None or (isinstance(ours.value, float) and math.isnan(ours.value)):
        return "needs", ours.note if ours else ""
    if printed.value is None:
        return "needs", _joined("a figure of ours, the paper prints none", reason, ours.note)
    if ours.stands_in:
        return "other model", _joined(f"ours is not of {ours.stands_in}", ours.note)
    if is_rounded(printed, ours.value) or is_cut(printed, ours.value):
        return _EQUAL[ours.basis], ours.note
    if (near := _nearness(printed, ours, ours.tolerance or tolerance)) is not None:
        return "within tolerance", _joined(ours.note, near)
    why = _joined(reason, ours.note, _chance(printed, ours))
    return "differs", why or "the reason is not known"


def _nearness(printed: Printed, ours: Ours, tolerance: Tolerance | None) -> str | None:
    """Return why another figure is near enough: a tolerance or, of ranges of ranks, chance."""
    if isinstance(printed.value, str) and (chance := _chance(printed, ours)):
        return chance
    if tolerance and _distance(printed, ours.value) <= tolerance.value:
        return tolerance.reason
    return None


def _chance(printed: Printed, ours: Ours) -> str:
    often = 0 if printed.value is None else ours.outcomes.get(printed.value, 0)
    seeds = sum(ours.outcomes.values())
    return f"by chance: as printed with {often} of {seeds} seeds" if often else ""


def is_rounded(printed: Printed, value: Value) -> bool:
    """Tell whether a value, rounded, is the printed one."""
    if isinstance(printed.value, str) or isinstance(value, str) or printed.value is None:
        return printed.value == value
    # a figure halfway between two printed ones may be printed as either
    half = 0.0 if printed.digits is None else 0.5 * 10.0**-printed.digits
    return abs(value - printed.value) <= half + 1e-9


def is_cut(printed: Printed, value: Value) -> bool:
    """Tell whether a value, cut after the printed digits, is the printed one, if print cuts.

    One digit more is rounded before, as programs do that print percentages.
    """
    if not printed.cut or isinstance(printed.value, str | None) or isinstance(value, str):
        return False
    unit = 10 ** (printed.digits or 0)
    return math.trunc(round(value * 10 * unit) / 10) == round(printed.value * unit)


def _distance(printed: Printed, value: Value) -> float:
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


def _first(values: Mapping[str, Any], *keys: str) -> Any:
    return next((values[key] for key in keys if key in values), None)


@cache
def read_paper(paper: str) -> Mapping[str, Any]:
    """Return the file of a paper: title, reference, slips, tables, and data of its recipes.

    Slips, in the order of the paper, say where, what is printed and ours, which figure proves it,
    and the ``command`` that shows it.
    """
    text = files("grammeter.papers").joinpath("printed", f"{paper}.json").read_text("utf-8")
    return json.loads(text)


@cache
def read_tables(paper: str) -> Mapping[str, PrintedTable]:
    """Return the tables of a paper by name, in the order of the paper.

    A file holds for each table the fields of :class:`PrintedTable`, but for its cells ``columns``,
    ``rows`` (a list of values by row, ``null`` where nothing is printed), ``digits`` (a number,
    ``null``, or one by column) and ``cut`` (columns whose digits are cut, not rounded), and
    tolerances in a list that names ``of`` which rows or columns. ``settings`` are a list, too, of
    ``figures`` by row, in the only column, with their ``note``.
    """
    tables: Mapping[str, Any] = read_paper(paper)["tables"]
    return {name: _table(paper, name, dict(shape)) for name, shape in tables.items()}


def _table(paper: str, name: str, shape: dict[str, Any]) -> PrintedTable:
    columns: list[str] = shape.pop("columns")
    digits: int | Mapping[str, int | None] | None = shape.pop("digits", 3)
    cut: Sequence[str] = shape.pop("cut", ())
    cells: dict[tuple[str, str], Printed] = {}
    for row, values in shape.pop("rows").items():
        for column, value in zip(columns, values, strict=True):
            places = digits.get(column, 3) if isinstance(digits, Mapping) else digits
            cells[row, column] = Printed(value, places, column in cut)
    rules = shape.get("tolerances", ())
    values = ((rule["of"], Tolerance(rule["value"], rule["reason"])) for rule in rules)
    shape["tolerances"] = {key: tolerance for of, tolerance in values for key in of}
    shape["settings"] = {
        (row, columns[0]): Ours(value, rule["note"], "print")
        for rule in shape.get("settings", ())
        for row, value in rule["figures"].items()
    }
    for key in ("data", "doubts", "axes"):
        shape[key] = tuple(shape.get(key, ()))
    return PrintedTable(paper=paper, name=name, cells=cells, **shape)


def cells_table(printed: PrintedTable, cells: Sequence[Cell]) -> Table:
    """Lay out a paper's table, our figures with two more decimals beside the printed ones."""
    rows = [(*_figures(printed, cell), cell.verdict, cell.note) for cell in cells]
    numbers = Column.many("number", "published", "ours", "difference")
    title = f"{printed.paper}, {printed.page}: {printed.title}"
    columns = ("row", "column", *numbers, "verdict", "note")
    return Table.of(columns, rows, (f"published: {printed.origin}",), title=title)


def printed_table(printed: PrintedTable, cells: Sequence[Cell]) -> Table:
    """Lay out a table as the paper does: its figures; where it has none, ours in brackets."""
    texts = {(c.row, c.column): _as_printed(printed, c) for c in cells}
    rows, columns = (list(dict.fromkeys(key[at] for key in texts)) for at in (0, 1))
    lines = [(row, *(texts.get((row, column)) for column in columns)) for row in rows]
    title = f"{printed.paper}, {printed.page}: {printed.title}"
    note = "[x]: ours, where the paper prints none"
    return Table.of(("", *columns), lines, (note,), title=title)


def _as_printed(printed: PrintedTable, cell: Cell) -> str:
    of_column = (p for (_, column), p in printed.cells.items() if column == cell.column)
    form = printed.cells.get((cell.row, cell.column), next(of_column, Printed(None, None)))
    if cell.published is not None:
        return form.write(cell.published)
    return f"[{form.write(cell.ours)}]" if cell.ours is not None else ""


def figure_of(printed: PrintedTable, cells: Sequence[Cell]) -> Figure:
    """Return our figures of a drawing: curves, or the scores of systems by metrics and people.

    In curves a row is a series, and the number in the column's name is x; where there is one
    column, x stands in the name of the row. What follows a comma in a row's name is what is
    measured.
    """
    x_label, y_label = printed.axes
    values = {(c.row, c.column): float(c.ours) for c in cells if isinstance(c.ours, int | float)}
    rows = dict.fromkeys(row for row, _ in values)
    if x_label in (column for _, column in values):
        scores = {column: {r: values[r, column] for r in rows} for _, column in values}
        people = scores.pop(x_label)
        metrics = {name: of for name, of in scores.items() if name not in ("EW", "TS")}
        data = {"human": people, "metrics": metrics, "human_label": x_label}
        return Figure("metric_scatters", data)
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for (row, column), value in values.items():
        if match := _NUMBER.search(column) or _NUMBER.match(row):
            series, _, kind = (row if _NUMBER.search(column) else "").partition(", ")
            points = panels.setdefault(kind or y_label, {}).setdefault(series or column, [])
            points.append((float(match[0]), value))
    title = f"{printed.paper}, {printed.page}"
    return Figure("series_curves", {"panels": panels, "x_label": x_label, "title": title})


def slips_table(paper: str) -> Table:
    """Lay out the slips of a paper: where, what is printed, ours, the proof, the command."""
    slips: Sequence[Mapping[str, str]] = read_paper(paper)["slips"]
    rows = [list(slip.values()) for slip in slips]
    return Table.of(slips[0], rows, title=f"{paper}: slips and ambiguities")


def _figures(printed: PrintedTable, cell: Cell) -> tuple[str, ...]:
    figure = printed.cells.get((cell.row, cell.column), Printed(None))
    difference, finer = cell.difference, figure.digits + 2 if figure.digits else 0
    apart = "" if difference is None else format_number(difference, finer, sign=True)
    figures = (figure.write(cell.published), figure.write(cell.ours, finer=True), apart)
    return (cell.row, cell.column, *figures)
