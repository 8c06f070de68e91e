"""Figures of rankings and agreement, with the extra ``plot`` (matplotlib).

Every function returns a ``matplotlib.figure.Figure``; :func:`save` writes it as SVG or PNG, the
same figure as the same bytes. Nothing touches ``pyplot``, its global state, or the reader's
``matplotlibrc``. Colours are those of Okabe and Ito (2008), ``PuOr`` and ``cividis``, which
readers with a colour vision deficiency can tell apart; no colour stands without a number, a
place or a line style that says the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from grammeter.core import FloatArray, Ranked, UsageError, require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Axes = Any  # matplotlib leaves the types of its keyword arguments open

BLUE, ORANGE, GREY, BAND = "#0072B2", "#D55E00", "#555555", "#EBEBEB"

SUFFIXES = (".svg", ".png")

_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": 9.0,
    "text.parse_math": False,  # a name with two dollar signs is a name
    "svg.hashsalt": "grammeter",
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_DOTS_PER_INCH = 200


def rank_ranges(ranked: Ranked) -> Figure:
    """Draw each system's range of ranks, best on top; bands are clusters.

    The score stands at the right end, ``NaN`` where there is none.
    """
    rows = list(ranked.values())
    with open_figure(5.2, 1.1 + 0.26 * len(rows)) as (figure, axes):
        for place, row in enumerate(rows):
            axes.plot(row.ranks, (place, place), color=BLUE, linewidth=2.5, marker="|")
            if row.ranks[0] == row.ranks[1]:
                axes.plot(row.ranks[0], place, color=BLUE, marker="o", markersize=5)
            axes.annotate(
                f"{row.score:.3f}" if math.isfinite(row.score) else "NaN",
                (1.02, place),
                xycoords=("axes fraction", "data"),
                va="center",
            )
        _band_clusters(axes, [row.cluster for row in rows])
        axes.set_yticks(range(len(rows)), [row.system for row in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0.5, len(rows) + 0.5)
        axes.xaxis.set_major_locator(
            require("matplotlib.ticker", extra="plot").MaxNLocator(
                integer=True, steps=[1, 2, 5, 10]
            )
        )
        axes.set_xlabel(f"rank ({ranked.method})")
        axes.set_title("Rank ranges and clusters", loc="left")
    return figure


def head_to_head_map(
    systems: Sequence[str], shares: FloatArray, marks: Sequence[Sequence[str]] | None = None
) -> Figure:
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
    with open_figure(1.9 + 0.52 * len(systems), 1.4 + 0.4 * len(systems)) as (figure, axes):
        heat_map(axes, systems, shares, marks, colours="PuOr", bounds=(0.0, 1.0))
        axes.set_xlabel("share of decided comparisons won by this system …")
        axes.set_ylabel("… against this one")
        axes.set_title("Head to head", loc="left")
    return figure


def agreement_matrix(judges: Sequence[str], values: FloatArray, *, label: str = "kappa") -> Figure:
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
    lowest = min(0.0, float(np.min(values, initial=0.0, where=np.isfinite(values))))
    with open_figure(1.9 + 0.52 * len(judges), 1.4 + 0.4 * len(judges)) as (figure, axes):
        heat_map(axes, judges, values, None, colours="cividis", bounds=(lowest, 1.0))
        axes.set_title(f"Agreement of judges ({label})", loc="left")
    return figure


def learning_curve(
    sizes: Sequence[int],
    mean: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    tail: float = 0.05,
    target: float = 0.95,
) -> Figure:
    """Draw how a ranking settles: the correlation with the full ranking by number of items.

    Parameters
    ----------
    sizes
        Numbers of items, ascending.
    mean, low, high
        The mean over draws, and the quantiles ``tail`` and ``1 - tail``, for each size.
    target
        Where to draw a line.

    Raises
    ------
    UsageError
        If the columns differ in length.
    """
    if not len(sizes) == len(mean) == len(low) == len(high):
        raise UsageError("columns of different lengths", fix="Give one figure for each size.")
    with open_figure(5.2, 3.2) as (figure, axes):
        band = f"{1 - 2 * tail:.0%} of the draws"
        axes.fill_between(sizes, low, high, color=BLUE, alpha=0.2, linewidth=0, label=band)
        axes.plot(sizes, mean, color=BLUE, marker="o", markersize=3, label="mean")
        axes.axhline(target, color=ORANGE, linestyle="--", label=f"{target:g}")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
        axes.set_ylim(min(0.0, *low), 1.0)
        axes.set_xlabel("items judged")
        axes.set_ylabel("Spearman with the full ranking")
        axes.set_title("Learning curve", loc="left")
        axes.legend(loc="lower right", frameon=False)
    return figure


def check_name(path: str | Path) -> None:
    """Refuse, before anything is computed, a figure that could not be drawn in the end.

    Raises
    ------
    UsageError
        If the name's suffix is no figure's.
    MissingResourceError
        If matplotlib is not installed.
    """
    if not str(path).lower().endswith(SUFFIXES):
        raise UsageError(f"{path}: no name of a figure", fix=f"End it in {' or '.join(SUFFIXES)}.")
    require("matplotlib", extra="plot")


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as SVG or PNG, by the name's suffix; no date, no version, no random ids.

    Raises
    ------
    UsageError
        If the suffix is another, or the file cannot be written.
    """
    check_name(path)
    title = figure.get_suptitle() or figure.axes[0].get_title(loc="left")
    own = {"Creator": "grammeter", "Date": None} if _is_svg(path) else {"Software": None}
    write = cast("Any", figure).savefig
    try:
        with _style():
            write(path, dpi=_DOTS_PER_INCH, metadata={"Title": title, **own})
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}", fix="Name a file in a folder that exists."
        ) from error


@contextmanager
def open_figure(width: float, height: float) -> Generator[tuple[Figure, Axes], None, None]:
    """Open a figure of so many inches with one plot; what is drawn inside has our style."""
    with open_grid(width, height) as (figure, plots):
        yield figure, plots[0]


@contextmanager
def open_grid(
    width: float, height: float, *, rows: int = 1, columns: int = 1, title: str = ""
) -> Generator[tuple[Figure, list[Axes]], None, None]:
    """Open a figure with a grid of plots, row by row, and a title above all of them."""
    make = require("matplotlib.figure", extra="plot").Figure
    with _style():
        figure: Figure = make(figsize=(width, height), layout="constrained")
        figure.subplots(rows, columns)
        if title:
            cast("Any", figure).suptitle(title)
        yield figure, list[Axes](figure.axes)


@contextmanager
def _style() -> Generator[None, None, None]:
    with require("matplotlib.style", extra="plot").context(["default", _STYLE]):
        yield


def _band_clusters(axes: Axes, clusters: Sequence[int]) -> None:
    """Shade every second cluster and name each at its first system."""
    for place, cluster in enumerate(clusters):
        if cluster % 2 == 0:
            axes.axhspan(place - 0.5, place + 0.5, color=BAND, linewidth=0, zorder=0)
        if place == 0 or clusters[place - 1] != cluster:
            axes.axhline(place - 0.5, color=GREY, linewidth=0.6, zorder=1)
            axes.annotate(
                f"cluster {cluster}",
                (1.14, place),
                xycoords=("axes fraction", "data"),
                color=GREY,
                va="center",
            )


def heat_map(
    axes: Axes,
    names: Sequence[str],
    values: FloatArray,
    marks: Sequence[Sequence[str]] | None,
    *,
    colours: str,
    bounds: tuple[float, float],
    form: Callable[[float], str] = "{:.2f}".format,
) -> None:
    """Draw a square of numbers with their names, in no colour and without a number where NaN."""
    size = len(names)
    if values.shape != (size, size) or (marks and {len(marks), *map(len, marks)} != {size}):
        raise UsageError(f"cells {values.shape} of {size} names", fix="One row and column each.")
    image = axes.imshow(values, cmap=colours, vmin=bounds[0], vmax=bounds[1], aspect="auto")
    axes.set_xticks(range(size), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(size), names)
    for row, column in product(range(size), repeat=2):
        value = float(values[row, column])
        if math.isfinite(value):
            text = form(value).replace("0.", ".") + (marks[row][column] if marks else "")
            dark = _is_dark(image.cmap(image.norm(value)))
            axes.text(column, row, text, ha="center", va="center", color="w" if dark else "k")
    axes.figure.colorbar(image, ax=axes)


def _is_dark(colour: Sequence[float]) -> bool:
    """Whether white letters are easier to read on it than black ones (WCAG 2, luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True)) < 0.179


def _is_svg(path: str | Path) -> bool:
    return str(path).lower().endswith(".svg")
