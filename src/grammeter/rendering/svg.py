"""SVG elements, texts, axes and panels: what all figures are made of; and drawings as files.

Only what :mod:`grammeter.rendering.html` lets into a page: presentation attributes, no style, no
references. Colours are variables of the page with a fallback. Equal input gives equal bytes.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from warnings import catch_warnings, filterwarnings

from grammeter.core import UsageError, display_width, graphemes, require, runs_left, terminal
from grammeter.rendering.html import escaped
from grammeter.rendering.page import Drawing

INK = "var(--ink, #222222)"
MUTED = "var(--muted, #5c5c5c)"
LINE = "var(--line, #c8c8c8)"
BAND = "var(--surface, #f0f0f0)"
ACCENT = "var(--accent, #0072b2)"
_COLOURS = ("#0072b2", "#c85600", "#00795a", "#9c4f86", "#8a6a00", "#4a4f57")
SERIES = tuple(f"var(--series-{number}, {colour})" for number, colour in enumerate(_COLOURS, 1))
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

FONT = 12  # height of letters, in units of a drawing; all lengths are
LETTER = 6.8  # about the width of a letter
LONGEST = 26  # columns that a name has room for; the rest is cut, and stands in a hint
GAP = 10
ROW = 22
PLOT = 360  # width of what lies between names and numbers; of a scatter plot, height, too
Points = Iterable[tuple[float, float]]


# --- elements -------------------------------------------------------------------------------
def element(tag: str, *children: str, **attributes: str | float | None) -> str:
    """Write an element of markup ``children``; in names of attributes ``_`` is a hyphen."""
    known = {key.replace("_", "-"): value for key, value in attributes.items() if value is not None}
    texts = {key: escaped(x) if isinstance(x, str) else _number(x) for key, x in known.items()}
    written = "".join(f' {key}="{value}"' for key, value in texts.items())
    return f"<{tag}{written}>{''.join(children)}</{tag}>" if children else f"<{tag}{written}/>"


def plain(content: str) -> str:
    """Return a text that is only text in SVG: no markup, no control or bidirectional characters."""
    return escaped(terminal(content))


def text(
    x: float, y: float, content: str,
    *, anchor: str | None = None, colour: str = INK, weight: str | None = None,
) -> str:  # fmt: skip
    """Write a text, ``y`` its middle; ``anchor``: ``middle`` or ``end`` if it does not start."""
    place = {"x": x, "y": y + 0.35 * FONT}
    look = {"fill": colour, "text_anchor": anchor, "font_weight": weight}
    look["unicode_bidi"] = "plaintext" if runs_left(content) else None
    return element("text", plain(content), **place, **look)


def label(x: float, y: float, content: str, *, anchor: str | None = "end") -> str:
    """Write a name, cut where it is long; whoever points at it reads it in full."""
    short = text(x, y, shortened(content), anchor=anchor)
    return short if shortened(content) == terminal(content) else hinted(content, short)


def shortened(content: str, columns: int = LONGEST) -> str:
    """Cut a name to so many columns, an ellipsis at its end."""
    shown = short = terminal(content)
    if display_width(shown) <= columns:
        return shown
    letters = graphemes(shown)
    while display_width(short) >= columns:
        short = "".join(letters := letters[:-1])
    return short + "…"


def label_width(names: Iterable[str]) -> float:
    """Return the room that names take, cut where they are long."""
    return LETTER * max((display_width(shortened(name)) for name in names), default=0)


def hinted(content: str, *parts: str) -> str:
    """Group elements, and say what they are."""
    return element("g", element("title", plain(content)), *parts)


def line(x1: float, y1: float, x2: float, y2: float, colour: str = LINE, width: float = 1) -> str:
    """Draw a line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=width)


def rectangle(
    x: float, y: float, width: float, height: float, colour: str, opacity: float | None = None
) -> str:
    """Draw a rectangle."""
    box = {"x": x, "y": y, "width": width, "height": height}
    return element("rect", **box, fill=colour, fill_opacity=opacity)


def polyline(points: Points, colour: str, dashes: str = "") -> str:
    """Draw a line through points."""
    look = {"stroke": colour, "stroke_width": 1.5, "stroke_dasharray": dashes or None}
    return element("polyline", points=_points(points), fill="none", **look)


def polygon(points: Points, colour: str, opacity: float = 1) -> str:
    """Draw a filled area with these corners."""
    return element("polygon", points=_points(points), fill=colour, fill_opacity=opacity)


def dot(x: float, y: float, radius: float = 4, colour: str = ACCENT) -> str:
    """Draw a dot."""
    return element("circle", cx=x, cy=y, r=radius, fill=colour)


def marker(x: float, y: float, number: int) -> str:
    """Draw the marker of a series, which has its own colour and shape."""
    corners, colour = MARKERS[number % len(MARKERS)], SERIES[number % len(SERIES)]
    if corners is None:
        return dot(x, y, 3.5, colour)
    return polygon([(x + 3.5 * dx, y + 3.5 * dy) for dx, dy in corners], colour)


def _points(points: Points) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


# --- panels and scales ----------------------------------------------------------------------
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
    summary = "; ".join(panel.summary for panel in panels)
    parts = [element("title", plain(title)), element("desc", plain(summary))]
    for place, panel in enumerate(panels):
        x, y = width * (place % columns), height * (place // columns)
        shift = f"translate({_number(x)} {_number(y)})"
        parts += [element("g", *panel.parts, transform=shift)] if place else panel.parts
    box = f"0 0 {_number(whole[0])} {_number(whole[1])}"
    head = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": box, "width": whole[0]}
    look = {"role": "img", "font_family": "system-ui, sans-serif", "font_size": FONT}
    svg = element("svg", *parts, **head, height=whole[1], **look)
    return Drawing(svg, caption or f"{title}.")


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from ``low`` to ``high`` on ``start`` to ``end``; ``log``: above 0, by ratio."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float) -> "Scale":
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
        """Return at most ``most`` round numbers with labels, twice as many if ``whole`` (short)."""
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


# --- files ----------------------------------------------------------------------------------
SUFFIXES = (".svg", ".png")
TITLE_ROOM = 2 * FONT  # what the title takes above a drawing in a file
_VARIABLE = re.compile(r"var\(--[\w-]+, (#\w+)\)")
_STYLE = {"font.family": "DejaVu Sans", "text.parse_math": False}  # the same on every machine
_plotting: Callable[[str], Any] = partial(require, extra="plot")
_POINT = 0.75  # points in a unit of a drawing
_SMALLER = 0.9  # DejaVu Sans is so much wider than what browsers show


def check_figure(path: str | Path) -> None:
    """Refuse, before anything is computed, a figure that could not be written in the end.

    Raises :class:`UsageError` if the name's suffix is no figure's; :class:`MissingResourceError` if
    it is a PNG, and matplotlib is not installed.
    """
    if not str(path).lower().endswith(SUFFIXES):
        raise UsageError(f"{path}: no name of a figure", fix=f"End it in {' or '.join(SUFFIXES)}.")
    if str(path).lower().endswith(".png"):
        require("matplotlib", extra="plot")


def save_figure(figure: Drawing, path: str | Path) -> None:
    """Write SVG or PNG by suffix, reproducibly; UsageError also if the file cannot be written."""
    check_figure(path)
    root = _parsed(figure.svg)
    width, height = float(root.get("width")), float(root.get("height")) + TITLE_ROOM
    box = f'viewBox="0 {-TITLE_ROOM} {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    ground = f'<rect x="0" y="{-TITLE_ROOM}" width="{width:g}" height="{height:g}" fill="#ffffff"/>'
    heading = text(10, -FONT, root[0].text, weight="bold")
    head, body = figure.svg.split("</desc>", maxsplit=1)
    head = re.sub(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"', box, head)
    whole = f"{head}</desc>{ground}{heading}{body}\n"
    markup = '<?xml version="1.0" encoding="UTF-8"?>\n' + _VARIABLE.sub(r"\1", whole)
    try:
        if str(path).lower().endswith(".svg"):
            Path(path).write_text(markup, encoding="utf-8")
        else:
            _write_png(markup, path)
    except OSError as error:
        fault = f"cannot write {path}: {error.strerror}"
        raise UsageError(fault, fix="Name a file in a folder that exists.") from error


def _parsed(svg: str) -> Any:
    from defusedxml.ElementTree import fromstring

    return fromstring(svg)


def _write_png(markup: str, path: str | Path) -> None:
    root = _parsed(markup.partition("\n")[2])
    left, top, width, height = map(float, root.get("viewBox").split())
    with _plotting("matplotlib.style").context(["default", _STYLE]):
        size = (_POINT * width / 72, _POINT * height / 72)
        figure = _plotting("matplotlib.figure").Figure(figsize=size)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(left, left + width), ylim=(top + height, top))
        axes.set_axis_off()
        place = _plotting("matplotlib.transforms").Affine2D()
        for order, (shape, moved, turned) in zip(count(1), _placed(root, place, 0.0)):
            _paint(axes, shape, moved, turned, order)
        fix = "Take .svg: whatever shows it brings letters and their order."
        texts = [shape.text or "" for shape in root.iter() if shape.tag.endswith("text")]
        if left := next(filter(runs_left, texts), None):
            raise UsageError(f"{path}: PNG has no right-to-left letters: {left}", fix=fix)
        try:
            with catch_warnings():
                filterwarnings("error", message="Glyph")
                figure.savefig(path, dpi=200, metadata={"Title": root[0].text, "Software": None})
        except UserWarning as warning:
            raise UsageError(f"{path}: no font here can draw it: {warning}", fix=fix) from warning


def _placed(parent: Any, place: Any, turned: float) -> Iterator[tuple[Any, Any, float]]:
    """Yield all elements, each with what moves its points and the degrees that turn its text."""
    for child in parent:
        moved, angle = _plotting("matplotlib.transforms").Affine2D(), turned
        kind, _, numbers = child.get("transform", "").rstrip(")").partition("(")
        if kind == "translate":
            moved.translate(*map(float, numbers.split()))
        elif kind == "rotate":
            angle, x, y = map(float, numbers.split())
            moved.rotate_deg_around(x, y, angle)
        yield child, moved + place, angle
        yield from _placed(child, moved + place, angle)


def _paint(axes: Any, shape: Any, moved: Any, turned: float, order: int) -> None:
    patches = _plotting("matplotlib.patches")
    points = [tuple(map(float, pair.split(","))) for pair in shape.get("points", "").split()]

    def numbers(*keys: str) -> list[float]:
        return [float(shape.get(key)) for key in keys]

    match shape.tag.rpartition("}")[2]:
        case "line" | "polyline" as tag:
            ends = [numbers("x1", "y1"), numbers("x2", "y2")] if tag == "line" else points
            dashes = "--" if shape.get("stroke-dasharray") else "-"
            colour, (width,) = shape.get("stroke"), numbers("stroke-width")
            axes.plot(
                *zip(*ends, strict=True), color=colour, linewidth=_POINT * width, linestyle=dashes,
                transform=moved + axes.transData, zorder=order,
            )  # fmt: skip
            return
        case "text":
            align = {"middle": "center", "end": "right"}.get(shape.get("text-anchor"), "left")
            axes.text(
                *moved.transform(numbers("x", "y")), shape.text, color=shape.get("fill"),
                ha=align, va="baseline", rotation=-turned, rotation_mode="anchor", zorder=order,
                size=_POINT * _SMALLER * FONT, weight=shape.get("font-weight", "normal"),
            )  # fmt: skip
            return
        case "rect":
            patch = patches.Rectangle(numbers("x", "y"), *numbers("width", "height"))
        case "circle":
            patch = patches.Circle(numbers("cx", "cy"), *numbers("r"))
        case "polygon":
            patch = patches.Polygon(points)
        case _:
            return
    colour, opacity = shape.get("fill"), float(shape.get("fill-opacity", 1))
    patch.set(linewidth=0, facecolor=colour, alpha=opacity, zorder=order)
    patch.set_transform(moved + axes.transData)
    axes.add_patch(patch)
