"""What all figures are made of: style, panels, names, hints; and drawings as SVG or PNG.

matplotlib draws them. What it writes is brought to what :mod:`grammeter.rendering.html` lets into a
page: presentation attributes, no style. Colours are variables of the page with a fallback. Equal
input gives equal bytes. Lengths are in points, 72 to an inch, of which a page makes pixels.
"""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from io import StringIO
from logging import ERROR, getLogger
from pathlib import Path
from typing import Any, cast
from warnings import catch_warnings, filterwarnings

from grammeter.core import UsageError, display_width, graphemes, runs_left
from grammeter.rendering.html import plain
from grammeter.rendering.page import Drawing

PAPER, INK, MUTED, LINE, BAND = "#ffffff", "#222222", "#5c5c5c", "#c8c8c8", "#f0f0f0"
SERIES = ("#0072b2", "#c85600", "#00795a", "#9c4f86", "#8a6a00", "#4a4f57")
"""Colours that readers with a colour vision deficiency can tell apart."""

MARKERS = "osDv^><"  # with SERIES 42 lines differ
FONT = 12  # height of letters
LETTER = 6.8  # about the width of a letter
LONGEST = 26  # columns that a name has room for; the rest is cut
GAP = 10
ROW = 22
PLOT = 360  # width of what lies between names and numbers; of a scatter plot, height, too

_NAMES = ("paper", "ink", "muted", "line", "surface", *(f"series-{n}" for n in range(1, 7)))
_COLOURS = dict(zip((PAPER, INK, MUTED, LINE, BAND, *SERIES), _NAMES, strict=True))
_STYLE = {
    "font.family": "DejaVu Sans", "font.size": FONT, "text.color": INK, "text.parse_math": False,
    "axes.facecolor": "none", "axes.grid": True, "axes.axisbelow": True, "grid.color": LINE,
    **{f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")},
    "axes.labelcolor": INK, "axes.titlelocation": "left", "axes.titlesize": FONT,
    "xtick.color": MUTED, "xtick.labelsize": FONT, "xtick.major.size": 0,
    "ytick.color": MUTED, "ytick.labelsize": FONT, "ytick.major.size": 0,
    "axes.unicode_minus": False, "legend.fontsize": FONT, "legend.frameon": False,
    "lines.markersize": 7, "svg.fonttype": "none", "svg.hashsalt": "grammeter",
}  # fmt: skip
_HINT = "hint:"


def shortened(content: str, columns: int = LONGEST) -> str:
    """Cut a name to so many columns, an ellipsis at its end; no control characters remain."""
    shown = short = plain(content)
    if display_width(shown) <= columns:
        return shown
    letters = graphemes(shown)
    while display_width(short) >= columns:
        short = "".join(letters := letters[:-1])
    return short + "…"


def hint(content: str) -> dict[str, str]:
    """Return what gives a part of a drawing a hint: whoever points at it reads this."""
    return {"gid": _HINT + plain(content)}


def panel(figure: Any, width: float, height: float) -> Any:
    """Add a panel, whose lines are so long; names and numbers stand around it."""
    return figure.add_axes((0, 0, width / 72, height / 72))


def drawing(
    *paints: Callable[[Any], object], title: str, caption: str = "", columns: int = 1
) -> Drawing:
    """Let each function add a panel to a figure, and arrange them row by row under a title.

    Who does not see the drawing reads the title and all hints.
    """
    with _styled("ignore"):
        from matplotlib.figure import Figure

        figure: Any = Figure(figsize=(1, 1), dpi=72)  # panels lie outside
        for paint in paints:
            paint(figure)
        boxes = [axes.get_tightbbox() for axes in figure.axes]
        width, height = (max(getattr(b, side) for b in boxes) for side in ("width", "height"))
        for place, (axes, box) in enumerate(zip(figure.axes, boxes, strict=True)):
            row, column = divmod(place, columns)
            left, bottom, *size = axes.get_position().bounds
            right, down = column * (width + 2 * GAP) - box.x0, row * (height + 2 * GAP) + box.y1
            axes.set_position((left + right / 72, bottom - down / 72, *size))
        figure.text(0, GAP / 72, shortened(title, 80), weight="bold", va="bottom")
        return Drawing(_markup(figure, plain(title)), caption or f"{title}.", figure)


@contextmanager
def _styled(what: Any) -> Generator[None]:
    """Draw in our style whatever the caller's is; ignore letters that no font has, or raise."""
    logger = getLogger("matplotlib")
    logger.setLevel(logger.level or ERROR)  # no word on where it keeps its list of fonts
    from matplotlib import style

    with style.context(["default", _STYLE]), catch_warnings():
        filterwarnings(what, message="Glyph")
        yield


def _markup(figure: Any, title: str) -> str:
    from defusedxml.ElementTree import fromstring, tostring

    stream, hints = StringIO(), dict[str, None]()
    figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None})
    root = cast("Any", fromstring(stream.getvalue()))
    root[:2] = [root.makeelement("title", {}), root.makeelement("desc", {})]  # were metadata, style
    for element in list(root.iter()):
        element.tag = element.tag.rpartition("}")[2]
        _to_attributes(element)
        name = element.attrib.pop("id", "") if element.tag == "g" else ""
        if name.startswith(_HINT):
            element.insert(0, element.makeelement("title", {}))
            element[0].text = name.removeprefix(_HINT)
            hints[element[0].text] = None
    root[0].text, root[1].text = title, "; ".join(hints)
    size = {key: root.get(key).removesuffix("pt") for key in ("width", "height", "viewBox")}
    look = {"role": "img", "font-family": "DejaVu Sans, sans-serif", "stroke-linejoin": "round"}
    root.attrib = {"xmlns": "http://www.w3.org/2000/svg"} | size | look
    return tostring(root, encoding="unicode")


def _to_attributes(element: Any) -> None:
    """Turn style into attributes, colours into variables, numbers into short ones."""
    style = element.attrib.pop("style", "")
    known = element.attrib | dict(pair.split(": ", 1) for pair in style.split("; ") if pair)
    element.attrib = {}
    for key, value in known.items():
        name, colour = key.rpartition("}")[2], _COLOURS.get(value)
        shown = f"var(--{colour}, {value})" if colour else re.sub(r"(\.\d\d)\d+", r"\1", value)
        if name != "font-family":
            element.set(name, value if name == "id" else shown)
    if runs_left(element.text or ""):
        element.set("unicode-bidi", "plaintext")


# --- files ----------------------------------------------------------------------------------
def check_figure(path: str | Path | None) -> None:
    """Refuse, before anything is computed, a name whose suffix is no figure's: UsageError."""
    if path and not str(path).lower().endswith((".svg", ".png")):
        raise UsageError(f"{path}: no name of a figure", fix="End it in .svg or .png.")


def save_figure(drawing: Drawing, path: str | Path) -> None:
    """Write SVG or PNG by suffix, reproducibly; UsageError also if the file cannot be written."""
    check_figure(path)
    try:
        if str(path).lower().endswith(".svg"):
            markup = re.sub(r"var\(--[\w-]+, (#\w+)\)", r"\1", drawing.svg)
            head = '<?xml version="1.0" encoding="UTF-8"?>\n'
            Path(path).write_text(f"{head}{markup}\n", encoding="utf-8")
            return
        with _styled("error"):
            size: dict[str, Any] = {"dpi": 150, "bbox_inches": "tight"}
            drawing.figure.savefig(path, metadata={"Software": None}, **size)
    except OSError as error:
        fault = f"cannot write {path}: {error.strerror}"
        raise UsageError(fault, fix="Name a file in a folder that exists.") from error
    except UserWarning as warning:
        fault = f"{path}: no font here can draw it: {warning}"
        raise UsageError(fault, fix="Take .svg: whatever shows it brings letters.") from warning
