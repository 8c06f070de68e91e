"""SVG elements, texts, axes and panels: what all figures are made of.

Only what :mod:`grammeter.rendering.html` lets into a page: presentation attributes, no style, no
references. Colours are variables of the page with a fallback, so that a drawing follows the
theme and stands alone, too. Equal input gives equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grammeter.rendering.html import escaped
from grammeter.rendering.page import Drawing
from grammeter.rendering.tables import display_width, terminal

INK = "var(--ink, #222222)"
MUTED = "var(--muted, #5c5c5c)"
LINE = "var(--line, #c8c8c8)"
BAND = "var(--surface, #f0f0f0)"
ACCENT = "var(--accent, #0072b2)"
SERIES = tuple(
    f"var(--series-{number}, {colour})"
    for number, colour in enumerate(
        ("#0072b2", "#c85600", "#00795a", "#9c4f86", "#8a6a00", "#4a4f57"), start=1
    )
)
"""Colours that readers with a colour vision deficiency can tell apart."""

MARKERS = (
    None,
    ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    ((0, -1.2), (1.2, 1), (-1.2, 1)),
    ((-1.2, -1), (1.2, -1), (0, 1.2)),
    ((-1, -1.2), (1.2, 0), (-1, 1.2)),
    ((1, -1.2), (-1.2, 0), (1, 1.2)),
)
"""Corners around a point; ``None``: a dot. With :data:`SERIES` 42 lines differ."""

FONT = 12
"""Height of letters, in units of a drawing; all lengths are."""
LETTER = 6.8
"""About the width of a letter."""
LONGEST = 26
"""Columns that a name has room for; the rest is cut, and stands in a hint."""

Attributes = Mapping[str, str | float]


def element(tag: str, attributes: Attributes, *children: str) -> str:
    """Write an element; ``children`` are markup already."""
    written = "".join(f' {key}="{_attribute(value)}"' for key, value in attributes.items())
    return f"<{tag}{written}>{''.join(children)}</{tag}>" if children else f"<{tag}{written}/>"


def plain(content: str) -> str:
    """Return a text that is only text in SVG: no markup, no control or bidirectional characters."""
    return escaped(terminal(content))


def text(
    x: float,
    y: float,
    content: str,
    *,
    anchor: str = "start",
    colour: str = INK,
    bold: bool = False,
) -> str:
    """Write a text, ``y`` its middle; ``anchor``: whether it starts, centres or ends at ``x``."""
    attributes: dict[str, str | float] = {"x": x, "y": y + 0.35 * FONT, "fill": colour}
    if anchor != "start":
        attributes["text-anchor"] = anchor
    if bold:
        attributes["font-weight"] = "bold"
    return element("text", attributes, plain(content))


def label(x: float, y: float, content: str, *, anchor: str = "end") -> str:
    """Write a name, cut where it is long; whoever points at it reads it in full."""
    short = shortened(content)
    if short == terminal(content):
        return text(x, y, content, anchor=anchor)
    return element("g", {}, hint(content), text(x, y, short, anchor=anchor))


def shortened(content: str, columns: int = LONGEST) -> str:
    """Cut a name to so many columns, an ellipsis at its end."""
    shown = short = terminal(content)
    if display_width(shown) <= columns:
        return shown
    while display_width(short) >= columns:
        short = short[:-1]
    return short + "…"


def label_width(names: Iterable[str]) -> float:
    """Return the room that names take, cut where they are long."""
    return LETTER * max((display_width(shortened(name)) for name in names), default=0)


def hint(content: str) -> str:
    """Say what the element around it is."""
    return element("title", {}, plain(content))


def line(x1: float, y1: float, x2: float, y2: float, colour: str = LINE, width: float = 1) -> str:
    """Draw a line."""
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    return element("line", {**ends, "stroke": colour, "stroke-width": width})


def rectangle(x: float, y: float, width: float, height: float, colour: str, **more: float) -> str:
    """Draw a rectangle; ``more`` are further attributes, ``_`` for a hyphen."""
    others = {key.replace("_", "-"): value for key, value in more.items()}
    box = {"x": x, "y": y, "width": width, "height": height}
    return element("rect", {**box, "fill": colour, **others})


def polyline(points: Iterable[tuple[float, float]], colour: str, dashes: str = "") -> str:
    """Draw a line through points."""
    attributes: dict[str, str | float] = {
        "points": _points(points),
        "fill": "none",
        "stroke": colour,
        "stroke-width": 1.5,
    }
    if dashes:
        attributes["stroke-dasharray"] = dashes
    return element("polyline", attributes)


def polygon(points: Iterable[tuple[float, float]], colour: str, opacity: float = 1) -> str:
    """Draw a filled area with these corners."""
    attributes = {"points": _points(points), "fill": colour, "fill-opacity": opacity}
    return element("polygon", attributes)


def dot(x: float, y: float, radius: float = 4, colour: str = ACCENT) -> str:
    """Draw a dot."""
    return element("circle", {"cx": x, "cy": y, "r": radius, "fill": colour})


def marker(x: float, y: float, number: int) -> str:
    """Draw the marker of a series, which has its own colour and shape."""
    corners, colour = MARKERS[number % len(MARKERS)], SERIES[number % len(SERIES)]
    if corners is None:
        return dot(x, y, 3.5, colour)
    return polygon([(x + 3.5 * dx, y + 3.5 * dy) for dx, dy in corners], colour)


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of a drawing: its size, elements within, and what it shows in words."""

    width: float
    height: float
    parts: Sequence[str]
    summary: str


def drawing(*panels: Panel, title: str, caption: str = "", columns: int = 1) -> Drawing:
    """Lay out panels row by row; ``title`` is for readers who do not see the drawing."""
    width, height = max(p.width for p in panels), max(p.height for p in panels)
    columns = min(columns, len(panels))
    whole = width * columns, height * math.ceil(len(panels) / columns)
    attributes: dict[str, str | float] = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {_number(whole[0])} {_number(whole[1])}",
        "width": whole[0],
        "height": whole[1],
        "role": "img",
        "font-family": "system-ui, sans-serif",
        "font-size": FONT,
    }
    summary = "; ".join(panel.summary for panel in panels)
    parts = [element("title", {}, plain(title)), element("desc", {}, plain(summary))]
    for place, panel in enumerate(panels):
        x, y = width * (place % columns), height * (place // columns)
        shift = {"transform": f"translate({_number(x)} {_number(y)})"}
        parts += [element("g", shift, *panel.parts)] if place else panel.parts
    return Drawing(element("svg", attributes, *parts), caption or f"{title}.")


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from ``low`` to ``high``, laid out from ``start`` to ``end``.

    ``log``: equal ratios are equally long; all numbers are above 0.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float) -> Scale:
        """Return a scale with room for all finite values, a little more than they take."""
        finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        room = 0.04 * (high - low) or 0.1 * abs(high) or 1.0
        return cls(low - room, high + room, start, end)

    def at(self, value: float) -> float:
        """Return where a number lies."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def labelled(self, most: int = 6, *, whole: bool = False) -> list[tuple[float, str]]:
        """Return round numbers within, so many at most, as they are written on the axis.

        ``whole``: none but whole numbers, which are short: twice as many.
        """
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            numbers = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
            return [(n, f"{n:g}") for n in numbers if self.low <= n <= self.high]
        rough = (self.high - self.low) / (2 * most if whole else most)
        magnitude = 10.0 ** math.floor(math.log10(rough))
        step = next(n * magnitude for n in (1, 2, 5, 10) if n * magnitude >= rough * (1 - 1e-9))
        step = max(step, 1.0) if whole else step
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(n * step, f"{n * step:.{digits}f}") for n in range(first, last + 1)]


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _attribute(value: str | float) -> str:
    return escaped(value) if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"
