"""Figures of judges and metrics, and drawings as files.

:func:`save_figure` writes a drawing as SVG, or as PNG with the extra ``plot`` (matplotlib); the
same drawing is the same bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from textwrap import wrap
from typing import Any

from grammeter.core import FloatArray, UsageError, require
from grammeter.rendering.charts import Point, cell_panel, point_panel
from grammeter.rendering.page import Drawing
from grammeter.rendering.svg import FONT, Panel, drawing, text

_WIDEST = 60
"""Letters that a line below one plot has room for."""

SUFFIXES = (".svg", ".png")
TITLE_ROOM = 2 * FONT
"""What the title takes above a drawing in a file."""

_VARIABLE = re.compile(r"var\(--[\w-]+, (#\w+)\)")
_STYLE = {"font.family": "DejaVu Sans", "text.parse_math": False}  # the same on every machine
_POINT = 0.75
"""Points in a unit of a drawing."""
_SMALLER = 0.9
"""DejaVu Sans is so much wider than what browsers show."""


def head_to_head_map(
    systems: Sequence[str], shares: FloatArray, marks: Sequence[Sequence[str]] | None = None
) -> Drawing:
    """Draw how often the system of a column beats that of a row.

    Parameters
    ----------
    systems
        Names, in the order of rows and columns.
    shares
        Shape ``(systems, systems)``: the column's share of the decided comparisons, 0 to 1;
        NaN where there is none.
    marks
        For each cell, what is printed after the number.

    Raises
    ------
    UsageError
        If the shapes do not fit.
    """
    below = "share of the decided comparisons that the column's system won against the row's"
    panel = cell_panel(
        systems, systems, shares, form=_share, marks=marks, neutral=0.5, below=[below]
    )
    return drawing(panel, title="Head to head")


def agreement_matrix(judges: Sequence[str], values: FloatArray, *, label: str = "kappa") -> Drawing:
    """Draw the agreement of each two judges; on the diagonal, of each with itself.

    Parameters
    ----------
    judges
        Names, in the order of rows and columns.
    values
        Shape ``(judges, judges)``, at most 1; NaN where there is none.
    label
        What the values are.

    Raises
    ------
    UsageError
        If the shapes do not fit.
    """
    panel = cell_panel(judges, judges, values, form=_share, neutral=0.0)
    return drawing(panel, title=f"Agreement of judges ({label})")


def _share(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".")


def metric_scatters(
    human: Mapping[str, float],
    metrics: Mapping[str, Mapping[str, float]],
    *,
    human_label: str = "human score",
    captions: Mapping[str, str] | None = None,
) -> Drawing:
    """Draw scores by metrics against scores by people, a plot for each metric.

    As Figure 1 of Chollampatt and Ng (2018). Systems without a finite score on both sides are
    named below the plot instead.

    Parameters
    ----------
    human
        Scores by system.
    metrics
        By metric, scores by system, of the same systems as ``human``.
    captions
        By metric, what stands below its plot, such as its correlation.

    Raises
    ------
    UsageError
        If there is no metric, or one has scores of other systems.
    """
    if not metrics or any(set(scores) != set(human) for scores in metrics.values()):
        raise UsageError(
            "no scores to draw, or scores of other systems than people's",
            fix="Give one metric at least, and each a score of each system.",
        )
    panels: list[Panel] = []
    for name, scores in metrics.items():
        points = [Point(system, human[system], scores[system]) for system in human]
        drawn = [point for point in points if math.isfinite(point.x + point.y)]
        missing = ", ".join(point.name for point in points if point not in drawn)
        below = [(captions or {}).get(name, ""), *wrap(missing and f"no score: {missing}", _WIDEST)]
        panels.append(point_panel(drawn, x_label=human_label, y_label=name, below=below))
    return drawing(*panels, title="Metrics against people", columns=3)


def williams_map(metrics: Sequence[str], pvalues: Mapping[str, FloatArray]) -> Drawing:
    """Draw whether the metric of a row correlates better than that of a column; one-sided.

    As Figure 2 of Chollampatt and Ng (2018): the darker, the surer.

    Parameters
    ----------
    metrics
        Names, in the order of rows and columns.
    pvalues
        By coefficient, such as ``pearson``, p-values of shape ``(metrics, metrics)``; NaN where
        the row's metric correlates no better, or the test is undefined.

    Raises
    ------
    UsageError
        If the shapes do not fit, or there is no coefficient.
    """
    if not pvalues:
        raise UsageError("no p-values to draw", fix="Give those of one coefficient at least.")
    second = "correlates better than the column's"
    panels = [
        cell_panel(
            metrics, metrics, values, form=_pvalue, neutral=0.5,
            below=[f"{kind}, one-sided p: the row's metric", second],
        )
        for kind, values in pvalues.items()
    ]  # fmt: skip
    return drawing(*panels, title="Williams' test", columns=len(panels))


def _pvalue(value: float) -> str:
    return "<.001" if value < 0.0005 else f"{value:.3f}".replace("0.", ".")


# --- files ----------------------------------------------------------------------------------


def check_figure(path: str | Path) -> None:
    """Refuse, before anything is computed, a figure that could not be written in the end.

    Raises
    ------
    UsageError
        If the name's suffix is no figure's.
    MissingResourceError
        If it is a PNG, and matplotlib is not installed.
    """
    if not str(path).lower().endswith(SUFFIXES):
        raise UsageError(f"{path}: no name of a figure", fix=f"End it in {' or '.join(SUFFIXES)}.")
    if str(path).lower().endswith(".png"):
        require("matplotlib", extra="plot")


def save_figure(figure: Drawing, path: str | Path) -> None:
    """Write a drawing as SVG or PNG, by the name's suffix; no date, no version, no random ids.

    Raises
    ------
    UsageError
        If the suffix is another, or the file cannot be written.
    MissingResourceError
        If it is a PNG, and matplotlib is not installed.
    """
    check_figure(path)
    markup = standalone(figure.svg)
    try:
        if str(path).lower().endswith(".svg"):
            Path(path).write_text(markup, encoding="utf-8")
        else:
            _write_png(markup, path)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}", fix="Name a file in a folder that exists."
        ) from error


def standalone(svg: str) -> str:
    """Return a drawing as a file of its own: its title above it, on white, in plain colours."""
    root = _parsed(svg)
    width, height = float(root.get("width")), float(root.get("height")) + TITLE_ROOM
    box = f'viewBox="0 {-TITLE_ROOM} {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    ground = f'<rect x="0" y="{-TITLE_ROOM}" width="{width:g}" height="{height:g}" fill="#ffffff"/>'
    heading = text(10, -FONT, root[0].text, bold=True)
    head, body = svg.split("</desc>", maxsplit=1)
    head = re.sub(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"', box, head)
    whole = f"{head}</desc>{ground}{heading}{body}\n"
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + _VARIABLE.sub(r"\1", whole)


def _parsed(svg: str) -> Any:
    from defusedxml.ElementTree import fromstring

    return fromstring(svg)


def _write_png(markup: str, path: str | Path) -> None:
    """Draw the elements of our SVG with matplotlib, which touches no setting of the reader's."""
    root = _parsed(markup.partition("\n")[2])
    left, top, width, height = map(float, root.get("viewBox").split())
    make = require("matplotlib.figure", extra="plot").Figure
    place = require("matplotlib.transforms", extra="plot").Affine2D()
    with require("matplotlib.style", extra="plot").context(["default", _STYLE]):
        figure = make(figsize=(_POINT * width / 72, _POINT * height / 72))
        axes = figure.add_axes((0, 0, 1, 1), xlim=(left, left + width), ylim=(top + height, top))
        axes.set_axis_off()
        for order, (element, moved, turned) in zip(count(1), _placed(root, place, 0.0)):
            _paint(axes, element, moved, turned, order)
        figure.savefig(path, dpi=200, metadata={"Title": root[0].text, "Software": None})


def _placed(element: Any, place: Any, turned: float) -> Iterator[tuple[Any, Any, float]]:
    """Yield all elements, each with what moves its points and the degrees that turn its text."""
    affine = require("matplotlib.transforms", extra="plot").Affine2D
    for child in element:
        moved, angle = place, turned
        kind, _, numbers = child.get("transform", "").rstrip(")").partition("(")
        if kind == "translate":
            moved = affine().translate(*map(float, numbers.split())) + place
        elif kind == "rotate":
            angle, x, y = map(float, numbers.split())
            moved = affine().rotate_deg_around(x, y, angle) + place
        yield child, moved, angle
        yield from _placed(child, moved, angle)


def _paint(axes: Any, element: Any, moved: Any, turned: float, order: int) -> None:
    """Draw one element; ``order`` keeps later ones above earlier ones."""
    patches: Any = require("matplotlib.patches", extra="plot")
    shared = {"transform": moved + axes.transData, "zorder": order}
    points = [tuple(map(float, pair.split(","))) for pair in element.get("points", "").split()]

    def numbers(*keys: str) -> list[float]:
        return [float(element.get(key)) for key in keys]

    match element.tag.rpartition("}")[2]:
        case "line" | "polyline" as tag:
            x1, y1, x2, y2 = numbers("x1", "y1", "x2", "y2") if tag == "line" else (0, 0, 0, 0)
            axes.plot(
                *zip(*points or [(x1, y1), (x2, y2)], strict=True),
                color=element.get("stroke"),
                linewidth=_POINT * float(element.get("stroke-width")),
                linestyle="--" if element.get("stroke-dasharray") else "-",
                **shared,
            )
            return
        case "text":
            align = {"middle": "center", "end": "right"}.get(element.get("text-anchor"), "left")
            axes.text(
                *moved.transform(numbers("x", "y")), element.text, color=element.get("fill"),
                ha=align, va="baseline", rotation=-turned, rotation_mode="anchor", zorder=order,
                size=_POINT * _SMALLER * FONT, weight=element.get("font-weight", "normal"),
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
    patch.set(linewidth=0, facecolor=element.get("fill"), **shared)
    patch.set_alpha(float(element.get("fill-opacity", 1)))
    axes.add_patch(patch)
