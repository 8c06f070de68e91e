"""Charts: scores, numbers in cells, metrics against people, ranges of ranks.

Each is a panel, so that several can stand in one drawing. No colour stands alone: numbers, names,
places and markers say the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from grammeter.core import FloatArray, Ranked, RankedSystem, UsageError
from grammeter.rendering.page import Drawing
from grammeter.rendering.svg import (
    ACCENT,
    BAND,
    FONT,
    LETTER,
    MUTED,
    SERIES,
    Panel,
    Scale,
    dot,
    drawing,
    element,
    hint,
    label,
    label_width,
    line,
    rectangle,
    shortened,
    text,
)
from grammeter.rendering.tables import display_width, format_number

ROW = 22
PLOT = 360
"""Width of what lies between names and numbers; of a scatter plot, height, too."""
GAP = 10
HEAD = 30
"""What stands above the first row: the axis and its numbers."""
LINE = 1.4 * FONT
"""From one line of text to the next."""
STRONGEST = 0.45
"""The opacity of the strongest cell of a heat map: letters stay readable in all themes."""

Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Dot:
    """A score with its interval, NaN where there is none; ``mark`` stands behind the number."""

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    mark: str = ""

    def __str__(self) -> str:
        """Write name, score and interval."""
        value = f"{self.name}: {format_number(self.value)}"
        if not math.isfinite(self.low + self.high):
            return value
        return f"{value} [{format_number(self.low)}, {format_number(self.high)}]"


def dot_plot(dots: Sequence[Dot], *, title: str, caption: str) -> Drawing:
    """Draw scores as dots and their intervals as lines, one system below the other.

    A missing score has no dot and the word ``NaN``.
    """
    left = GAP + label_width(row.name for row in dots) + GAP
    values = [number for row in dots for number in (row.value, row.low, row.high)]
    scale = Scale.around(values, left, left + PLOT)
    marks = max((display_width(row.mark) for row in dots), default=0)
    height = HEAD + ROW * len(dots) + GAP
    parts = [*_axis_above(scale, height - GAP)]
    for place, row in enumerate(dots):
        parts.append(_dot_row(row, HEAD + ROW * (place + 0.5), left, scale))
    width = left + PLOT + GAP + LETTER * (9 + marks)
    panel = Panel(width, height, parts, "; ".join(map(str, dots)))
    return drawing(panel, title=title, caption=caption)


def _dot_row(row: Dot, y: float, left: float, scale: Scale) -> str:
    parts = [hint(str(row)), label(left - GAP, y, row.name)]
    if math.isfinite(row.low + row.high):
        low, high = scale.at(row.low), scale.at(row.high)
        parts.append(line(low, y, high, y, ACCENT, 2))
        parts += [line(x, y - 4, x, y + 4, ACCENT, 2) for x in (low, high)]
    if math.isfinite(row.value):
        parts.append(dot(scale.at(row.value), y))
    parts.append(text(scale.end + GAP, y, f"{format_number(row.value)} {row.mark}".rstrip()))
    return element("g", {}, *parts)


def rank_ranges(ranked: Ranked) -> Drawing:
    """Draw each system's range of ranks, best on top; bands are clusters, which have numbers.

    The score stands at the right end, ``NaN`` where there is none.
    """
    rows = list(ranked.values())
    left = GAP + label_width(row.system for row in rows) + GAP
    scale = Scale(0.5, len(rows) + 0.5, left, left + PLOT)
    width, height = left + PLOT + GAP + 18 * LETTER, HEAD + ROW * len(rows) + GAP
    bands: list[str] = []
    ranges: list[str] = []
    for place, row in enumerate(rows):
        top = HEAD + ROW * place
        if row.cluster % 2 == 0:
            bands.append(rectangle(0, top, width, ROW, BAND))
        if place and rows[place - 1].cluster != row.cluster:
            bands.append(line(0, top, width, top, MUTED))
        ranges.append(_range(row, left - GAP, top + ROW / 2, scale))
    summary = "; ".join(f"{row.system}: {row.ranks[0]} to {row.ranks[1]}" for row in rows)
    axis = _axis_above(scale, height - GAP, whole=True)
    method = text(scale.end + GAP, HEAD - 16, ranked.method, colour=MUTED)
    return drawing(
        Panel(width, height, [*bands, *axis, method, *ranges], summary),
        title="Rank ranges and clusters",
        caption=f"Ranges of ranks by {ranked.method}; a line between two systems parts clusters.",
    )


def _range(row: RankedSystem, left: float, y: float, scale: Scale) -> str:
    first, last = row.ranks
    score = f"{format_number(row.score, 3)}  cluster {row.cluster}"
    return element(
        "g",
        {},
        hint(f"{row.system}: ranks {first} to {last}, cluster {row.cluster}"),
        label(left, y, row.system),
        line(scale.at(first), y, scale.at(last), y, ACCENT, 3),
        *(dot(scale.at(rank), y) for rank in dict.fromkeys((first, last))),
        text(scale.end + GAP, y, score, colour=MUTED),
    )


def _axis_above(scale: Scale, bottom: float, *, whole: bool = False) -> Iterator[str]:
    for value, shown in scale.labelled(whole=whole):
        x = scale.at(value)
        yield line(x, HEAD - 8, x, bottom)
        yield text(x, HEAD - 16, shown, anchor="middle", colour=MUTED)


# --- numbers in cells ----------------------------------------------------------------------


Numbers = FloatArray | Sequence[Sequence[float]]


def heat_map(
    rows: Sequence[str], columns: Sequence[str], values: Numbers, *, title: str, caption: str
) -> Drawing:
    """Draw numbers in cells, the more colour the greater; a cell that is NaN has a dash."""
    return drawing(cell_panel(rows, columns, values), title=title, caption=caption)


def cell_panel(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Numbers,
    *,
    form: Callable[[float], str] = "{:.2f}".format,
    marks: Sequence[Sequence[str]] | None = None,
    neutral: float | None = None,
    below: Sequence[str] = (),
) -> Panel:
    """Make the panel of a heat map.

    Parameters
    ----------
    form
        Writes a number.
    marks
        What stands behind each number.
    neutral
        The number without colour; numbers below it have another colour. Default: the least.
    below
        Lines of text below the cells.

    Raises
    ------
    UsageError
        If there is not one row and column of values, and of marks, for each name.
    """
    for table in (values, marks):
        if table is not None and [*map(len, table)] != [len(columns)] * len(rows):
            raise UsageError(
                f"cells do not fit {len(rows)} rows and {len(columns)} columns",
                fix="Give one row and column each.",
            )
    finite = [float(value) for row in values for value in row if math.isfinite(value)]
    neutral = min(finite, default=0.0) if neutral is None else neutral
    most = max((abs(value - neutral) for value in finite), default=0.0)
    left = GAP + label_width(rows) + GAP
    top = GAP + 0.75 * label_width(columns) + GAP
    behind = marks or [[""] * len(columns)] * len(rows)
    shown = [
        [form(v) + mark if math.isfinite(v) else "–" for v, mark in zip(*pair, strict=True)]
        for pair in zip(values, behind, strict=True)
    ]
    cell = LETTER * max((display_width(words) for row in shown for words in row), default=0) + GAP
    parts = [
        _column_name(left + cell * (x + 0.5), top - 6, column) for x, column in enumerate(columns)
    ]
    for y, row in enumerate(rows):
        parts.append(label(left - GAP / 2, top + ROW * (y + 0.5), row))
    for (y, row), (x, column) in product(enumerate(rows), enumerate(columns)):
        value = float(values[y][x])
        share = (value - neutral) / most if most else 1.0
        box = left + cell * x, top + ROW * y, cell, float(ROW)
        parts.append(_cell(box, f"{row}, {column}", value, share, shown[y][x]))
    bottom = top + ROW * len(rows) + GAP
    parts += [text(GAP, bottom + LINE * n, words) for n, words in enumerate(below, start=1)]
    width = left + cell * len(columns) + GAP + 0.75 * label_width(columns[-1:])
    width = max([width, *(2 * GAP + LETTER * display_width(words) for words in below)])
    summary = f"{len(rows)} rows ({', '.join(rows)}), {len(columns)} columns ({', '.join(columns)})"
    return Panel(width, bottom + LINE * (len(below) + bool(below)), parts, summary)


def _column_name(x: float, y: float, column: str) -> str:
    """Write a name upward to the right, so that long ones have room."""
    turned = {"transform": f"rotate(-45 {x:.2f} {y:.2f})"}
    return element("g", turned, label(x, y, column, anchor="start"))


def _cell(box: Box, where: str, value: float, share: float, shown: str) -> str:
    x, y, width, height = box
    middle = x + width / 2, y + height / 2
    if not math.isfinite(value):
        dash = text(*middle, shown, anchor="middle", colour=MUTED)
        return element("g", {}, hint(f"{where}: none"), dash)
    colour, opacity = ACCENT if share >= 0 else SERIES[1], STRONGEST * abs(share)
    fill = rectangle(x, y, width - 1, height - 1, colour, fill_opacity=opacity)
    return element(
        "g", {}, hint(f"{where}: {value:.4f}"), fill, text(*middle, shown, anchor="middle")
    )


# --- points and curves ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """A system: its score by people (to the right) and by a metric (upward)."""

    name: str
    x: float
    y: float

    def __str__(self) -> str:
        """Write name and both scores."""
        return f"{self.name}: {format_number(self.x)}, {format_number(self.y)}"


def scatter(
    points: Sequence[Point], *, title: str, caption: str, x_label: str, y_label: str
) -> Drawing:
    """Draw points with their names beside them; those without two finite scores are left out.

    The caption names what is left out.
    """
    drawn = [point for point in points if math.isfinite(point.x + point.y)]
    missing = [point.name for point in points if point not in drawn]
    lacking = f" Without a score: {', '.join(missing)}." if missing else ""
    panel = point_panel(drawn, x_label=x_label, y_label=y_label)
    return drawing(panel, title=title, caption=caption + lacking)


def point_panel(
    points: Sequence[Point], *, x_label: str, y_label: str, below: Sequence[str] = ()
) -> Panel:
    """Make the panel of :func:`scatter`, of points with two finite scores."""
    left, top, right, bottom = 64.0, 2.0 * GAP, 64.0 + PLOT, 2.0 * GAP + PLOT
    across = Scale.around([point.x for point in points], left, right)
    upward = Scale.around([point.y for point in points], bottom, top)
    frame: Box = (left, top, right + 80, bottom)
    parts = [*grid(across, upward, frame, x_label, y_label)]
    spots = [(across.at(point.x), upward.at(point.y)) for point in points]
    places = _label_places([point.name for point in points], spots, frame)
    for point, spot, place in zip(points, spots, places, strict=True):
        shown = dot(*spot), text(*place, shortened(point.name))
        parts.append(element("g", {}, hint(str(point)), *shown))
    parts += [text(left, bottom + 32 + LINE * n, words) for n, words in enumerate(below, start=1)]
    return Panel(right + 90, bottom + 46 + LINE * len(below), parts, "; ".join(map(str, points)))


def grid(
    across: Scale,
    upward: Scale,
    frame: Box,
    x_label: str,
    y_label: str,
    ticks: Sequence[tuple[float, str]] = (),
) -> Iterator[str]:
    """Yield the lines, numbers and names of both axes; ``ticks`` replace round numbers."""
    left, top, right, bottom = frame
    for value, shown in ticks or across.labelled():
        x = across.at(value)
        yield line(x, top, x, bottom)
        yield text(x, bottom + 12, shown, anchor="middle", colour=MUTED)
    for value, shown in upward.labelled():
        y = upward.at(value)
        yield line(left, y, right, y)
        yield text(left - 6, y, shown, anchor="end", colour=MUTED)
    yield text((left + right) / 2, bottom + 32, shortened(x_label, 60), anchor="middle")
    yield text(6, top - GAP, shortened(y_label, 60))


def _label_places(
    names: Sequence[str], spots: Sequence[tuple[float, float]], frame: Box
) -> list[tuple[float, float]]:
    """Return where each name starts: beside its dot, on top of as little else as can be."""
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in spots]
    places: list[tuple[float, float]] = []
    for name, (x, y) in zip(names, spots, strict=True):
        width = LETTER * display_width(shortened(name))
        tries = [
            (x + dx, y + dy)
            for dy, dx in product(
                (0, -FONT, FONT, -2 * FONT, 2 * FONT), (8, -8 - width, -width / 2)
            )
            if dx != -width / 2 or dy
        ]
        boxes = [(a, b - FONT / 2, a + width, b + FONT / 2) for a, b in tries]
        costs = [_cost(box, taken, frame) for box in boxes]
        best = costs.index(min(costs))
        taken.append(boxes[best])
        places.append(tries[best])
    return places


def _cost(box: Box, taken: Sequence[Box], frame: Box) -> int:
    outside = box[0] < frame[0] or box[2] > frame[2] or box[1] < frame[1] or box[3] > frame[3]
    return 10 * outside + sum(_overlap(box, other) for other in taken)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
