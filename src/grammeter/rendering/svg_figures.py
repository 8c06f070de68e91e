"""The figures of a report as SVG: scores, error types, metrics against people, ranks.

No colour stands alone: numbers, names and places say the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from grammeter.core import Ranked
from grammeter.rendering.page import Drawing
from grammeter.rendering.svg import (
    ACCENT,
    BAND,
    FONT,
    LETTER,
    MUTED,
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
STRONGEST = 0.45
"""The opacity of the largest cell of a heat map: letters stay readable in all themes."""

_BESIDE = (0, -FONT, FONT, -2 * FONT, 2 * FONT)
"""How far above or below its dot a name may stand, the best first."""

Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Dot:
    """A score with its interval, NaN where there is none; ``mark`` stands behind the number."""

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    mark: str = ""


def dot_plot(dots: Sequence[Dot], *, title: str, caption: str) -> Drawing:
    """Draw scores as dots and their intervals as lines, one system below the other.

    A missing score has no dot and the word ``NaN``.
    """
    left = GAP + label_width(each.name for each in dots) + GAP
    values = [number for each in dots for number in (each.value, each.low, each.high)]
    scale = Scale.around(values, left, left + PLOT)
    marks = max((display_width(each.mark) for each in dots), default=0)
    width = left + PLOT + GAP + LETTER * (9 + marks)
    height = HEAD + ROW * len(dots) + GAP
    parts = [*_axis_above(scale, height - GAP)]
    for place, each in enumerate(dots):
        parts.append(_dot_row(each, HEAD + ROW * (place + 0.5), left, scale))
    told = "; ".join(_told(each) for each in dots)
    return Drawing(drawing(width, height, title=title, told=told, parts=parts), caption)


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    *,
    title: str,
    caption: str,
    form: Callable[[float], str] = "{:.2f}".format,
) -> Drawing:
    """Draw numbers in cells, the more colour the greater; a cell that is NaN has a dash.

    Raises
    ------
    ValueError
        If there is not one row and column of values for each name.
    """
    if len(values) != len(rows) or any(len(row) != len(columns) for row in values):
        raise ValueError(f"values do not fit {len(rows)} rows and {len(columns)} columns")
    finite = [value for row in values for value in row if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    left = GAP + label_width(rows) + GAP
    top = GAP + 0.75 * label_width(columns) + GAP
    cell = max((LETTER * display_width(form(value)) for value in finite), default=0) + GAP
    parts = [
        _column_name(left + cell * (x + 0.5), top - 6, column) for x, column in enumerate(columns)
    ]
    for y, row in enumerate(rows):
        parts.append(label(left - GAP / 2, top + ROW * (y + 0.5), row))
    for (y, row), (x, column) in product(enumerate(rows), enumerate(columns)):
        value = values[y][x]
        share = (value - low) / (high - low) if high > low else 1.0
        box = left + cell * x, top + ROW * y, cell, float(ROW)
        parts.append(_cell(box, f"{row}, {column}", value, share, form))
    told = f"{len(rows)} rows ({', '.join(rows)}), {len(columns)} columns ({', '.join(columns)})"
    width = left + cell * len(columns) + GAP + 0.75 * label_width(columns[-1:])
    height = top + ROW * len(rows) + GAP
    return Drawing(drawing(width, height, title=title, told=told, parts=parts), caption)


@dataclass(frozen=True, slots=True)
class Point:
    """A system: its score by people (to the right) and by a metric (upward)."""

    name: str
    x: float
    y: float


def scatter(
    points: Sequence[Point], *, title: str, caption: str, x_label: str, y_label: str
) -> Drawing:
    """Draw points with their names beside them; those without two finite scores are left out.

    The caption names what is left out.
    """
    drawn = [point for point in points if math.isfinite(point.x + point.y)]
    left, top, right, bottom = 64.0, 2.0 * GAP, 64.0 + PLOT, 2.0 * GAP + PLOT
    across = Scale.around([point.x for point in drawn], left, right)
    upward = Scale.around([point.y for point in drawn], bottom, top)
    spots = [(across.at(point.x), upward.at(point.y)) for point in drawn]
    frame: Box = (left, top, right + 80, bottom)
    parts = [*_grid(across, upward, frame, x_label, y_label)]
    places = _label_places([point.name for point in drawn], spots, frame)
    for point, (x, y), place in zip(drawn, spots, places, strict=True):
        told = f"{point.name}: {format_number(point.x)}, {format_number(point.y)}"
        parts.append(element("g", {}, hint(told), dot(x, y), text(*place, shortened(point.name))))
    missing = [point.name for point in points if not math.isfinite(point.x + point.y)]
    lacking = f" Without a score: {', '.join(missing)}." if missing else ""
    told = "; ".join(f"{p.name}: {format_number(p.x)}, {format_number(p.y)}" for p in drawn)
    svg = drawing(right + 90, bottom + 46, title=title, told=told, parts=parts)
    return Drawing(svg, caption + lacking)


def rank_ranges(ranked: Ranked, *, title: str, caption: str) -> Drawing:
    """Draw each system's range of ranks, best on top; bands are clusters, which have numbers."""
    rows = list(ranked.values())
    left = GAP + label_width(row.system for row in rows) + GAP
    scale = Scale(0.5, len(rows) + 0.5, left, left + PLOT)
    width, height = left + PLOT + GAP + 18 * LETTER, HEAD + ROW * len(rows) + GAP
    parts: list[str] = []
    for place, row in enumerate(rows):
        top = HEAD + ROW * place
        if row.cluster % 2 == 0:
            parts.append(rectangle(0, top, width, ROW, BAND))
        if place and rows[place - 1].cluster != row.cluster:
            parts.append(line(0, top, width, top, MUTED))
    parts += _axis_above(scale, height - GAP, whole=True)
    for place, row in enumerate(rows):
        y, (first, last) = HEAD + ROW * (place + 0.5), row.ranks
        told = f"{row.system}: ranks {first} to {last}, cluster {row.cluster}"
        ends = [dot(scale.at(rank), y) for rank in dict.fromkeys((first, last))]
        span = line(scale.at(first), y, scale.at(last), y, ACCENT, 3)
        shown = f"{format_number(row.score, 3)}  cluster {row.cluster}"
        parts.append(
            element(
                "g", {}, hint(told), label(left - GAP, y, row.system), span, *ends,
                text(left + PLOT + GAP, y, shown, colour=MUTED),
            )
        )  # fmt: skip
    told = "; ".join(f"{r.system}: {r.ranks[0]} to {r.ranks[1]}" for r in rows)
    return Drawing(drawing(width, height, title=title, told=told, parts=parts), caption)


# --- parts ---------------------------------------------------------------------------------


def _told(each: Dot) -> str:
    value = format_number(each.value)
    if not math.isfinite(each.low + each.high):
        return f"{each.name}: {value}"
    return f"{each.name}: {value} [{format_number(each.low)}, {format_number(each.high)}]"


def _axis_above(scale: Scale, bottom: float, *, whole: bool = False) -> Iterator[str]:
    for value, shown in scale.labelled(whole=whole):
        x = scale.at(value)
        yield line(x, HEAD - 8, x, bottom)
        yield text(x, HEAD - 16, shown, anchor="middle", colour=MUTED)


def _dot_row(each: Dot, y: float, left: float, scale: Scale) -> str:
    parts = [hint(_told(each)), label(left - GAP, y, each.name)]
    if math.isfinite(each.low + each.high):
        low, high = scale.at(each.low), scale.at(each.high)
        parts.append(line(low, y, high, y, ACCENT, 2))
        parts += [line(x, y - 4, x, y + 4, ACCENT, 2) for x in (low, high)]
    if math.isfinite(each.value):
        parts.append(dot(scale.at(each.value), y))
    shown = f"{format_number(each.value)} {each.mark}".rstrip()
    parts.append(text(scale.end + GAP, y, shown))
    return element("g", {}, *parts)


def _column_name(x: float, y: float, column: str) -> str:
    """Write a name upward to the right, so that long ones have room."""
    turned = {"transform": f"rotate(-45 {x:.2f} {y:.2f})"}
    return element("g", turned, label(x, y, column, anchor="start"))


def _cell(box: Box, where: str, value: float, share: float, form: Callable[[float], str]) -> str:
    x, y, width, height = box
    middle = x + width / 2, y + height / 2
    if not math.isfinite(value):
        return element(
            "g", {}, hint(f"{where}: none"), text(*middle, "–", anchor="middle", colour=MUTED)
        )
    fill = rectangle(x, y, width - 1, height - 1, ACCENT, fill_opacity=STRONGEST * share)
    return element(
        "g", {}, hint(f"{where}: {value:.4f}"), fill, text(*middle, form(value), anchor="middle")
    )


def _grid(across: Scale, upward: Scale, frame: Box, x_label: str, y_label: str) -> Iterator[str]:
    left, top, right, bottom = frame
    for value, shown in across.labelled():
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
    for each, (x, y) in zip(names, spots, strict=True):
        width = LETTER * display_width(shortened(each))
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
