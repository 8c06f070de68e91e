"""Curves: how a ranking settles, correlations by beta and by window."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from grammeter.core import FloatArray, UsageError
from grammeter.rendering.charts import GAP, PLOT, ROW, Box, grid
from grammeter.rendering.page import Drawing
from grammeter.rendering.svg import (
    BAND,
    SERIES,
    Panel,
    Scale,
    drawing,
    label_width,
    line,
    marker,
    polygon,
    polyline,
    rectangle,
    shortened,
    text,
)

FLAT = 220
"""Height of the plot of a curve."""


def learning_curve(
    sizes: Sequence[int],
    mean: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    tail: float = 0.05,
    target: float = 0.95,
) -> Drawing:
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
    start, end = sizes[0] / 1.1, sizes[-1] * 1.1
    band = list(zip(sizes, low, high, strict=True))
    goal = [(start, target), (end, target)]
    panel = curve_panel(
        [
            Series(f"{1 - 2 * tail:.0%} of the draws", 0, spans=band),
            Series("mean", 0, list(zip(sizes, mean, strict=True))),
            Series(f"{target:g}", 1, goal, dashes="6 4", marked=False),
        ],
        Scale(start, end, 64, 64 + PLOT, log=True),
        Scale(min(0.0, *low), 1.02, 20 + FLAT, 20),
        x_label="items judged",
        y_label="Spearman with the full ranking",
    )
    return drawing(panel, title="Learning curve")


def beta_curve(
    betas: Sequence[float], pearson: Sequence[float], spearman: Sequence[float]
) -> Drawing:
    """Draw how F-measures correlate with people's scores, by beta; the best are marked.

    As Figure 3 of Grundkiewicz et al. (2015). Where a correlation is NaN its line has a gap.

    Raises
    ------
    UsageError
        If the columns differ in length.
    """
    if not len(betas) == len(pearson) == len(spearman):
        raise UsageError("columns of different lengths", fix="Give one figure for each beta.")
    series: list[Series] = []
    for number, (kind, values) in enumerate((("Pearson", pearson), ("Spearman", spearman))):
        points = list(zip(betas, values, strict=True))
        series.append(Series(kind, number, points, dashes="6 4" * number, marked=len(points) == 1))
        if np.isfinite(values).any():
            beta, greatest = points[int(np.nanargmax(values))]
            series.append(Series(f"best: {greatest:.3f} at {beta:g}", number, [(beta, greatest)]))
    panel = curve_panel(
        series,
        Scale.around(betas, 64, 64 + PLOT),
        Scale.around([*pearson, *spearman], 20 + FLAT, 20),
        x_label="beta",
        y_label="correlation with people",
    )
    return drawing(panel, title="Correlation by beta")


def window_curve(
    windows: Sequence[str],
    correlations: Mapping[str, Mapping[str, FloatArray]],
    *,
    alike: Sequence[bool] = (),
) -> Drawing:
    """Draw correlations in windows of the human ranking, each with its interval.

    Parameters
    ----------
    windows
        What each is called, such as its ranks ``1-4``, from the best systems down.
    correlations
        By coefficient and metric, shape ``(windows, 3)``: value, lower and upper end. A NaN is
        not drawn.
    alike
        For each window whether people tell none of its systems apart; those are shaded.

    Raises
    ------
    UsageError
        If the shapes do not fit, or there is nothing to draw.
    """
    shapes = {rows.shape for metrics in correlations.values() for rows in metrics.values()}
    if shapes != {(len(windows), 3)} or len(alike) not in (0, len(windows)):
        raise UsageError(
            f"correlations {sorted(shapes)} for {len(windows)} windows",
            fix="Give three figures for each window.",
        )
    across = Scale(-0.5, len(windows) - 0.5, 64, 64 + max(PLOT, 44.0 * len(windows)))
    note = "; shaded: one cluster of people's" if any(alike) else ""
    panels = [
        curve_panel(
            _beside(metrics),
            across,
            Scale(-1.05, 1.05, 20 + FLAT, 20),
            x_label=f"human ranks of the window{note}",
            y_label=kind,
            ticks=list(enumerate(windows)),
            shaded=[(at - 0.5, at + 0.5) for at, same in enumerate(alike) if same],
        )
        for kind, metrics in correlations.items()
    ]
    return drawing(*panels, title="Correlation with people by window")


def _beside(metrics: Mapping[str, FloatArray]) -> list[Series]:
    """Return a line for each metric, the metrics beside each other in every window."""
    step = 0.7 / len(metrics)
    series: list[Series] = []
    for number, (name, rows) in enumerate(metrics.items()):
        shift = step * (number - (len(metrics) - 1) / 2)
        points = [(at + shift, value) for at, value in enumerate(rows[:, 0].tolist())]
        spans = [
            (at + shift, low, high)
            for at, (value, low, high) in enumerate(rows.tolist())
            if math.isfinite(value + low + high)
        ]
        series.append(Series(name, number, points, spans))
    return series


# --- parts ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Series:
    """Values along an axis; ``number`` settles colour and marker.

    A line joins the points whose value is finite, with a gap where it is not. ``spans`` are
    ``(x, low, high)``: intervals, or one area if there are no points.
    """

    name: str
    number: int
    points: Sequence[tuple[float, float]] = ()
    spans: Sequence[tuple[float, float, float]] = ()
    dashes: str = ""
    marked: bool = True

    def __str__(self) -> str:
        """Write the name."""
        return self.name


def curve_panel(
    series: Sequence[Series],
    across: Scale,
    upward: Scale,
    *,
    x_label: str,
    y_label: str,
    ticks: Sequence[tuple[float, str]] = (),
    shaded: Iterable[tuple[float, float]] = (),
) -> Panel:
    """Draw series with their legend to the right.

    Parameters
    ----------
    ticks
        What is written below the plot, and where; default: round numbers.
    shaded
        Stretches of the axis with a darker ground.
    """
    frame: Box = (across.start, upward.end, across.end, upward.start)
    parts = [
        rectangle(across.at(low), frame[1], across.at(high) - across.at(low),
                  frame[3] - frame[1], BAND)
        for low, high in shaded
    ]  # fmt: skip
    parts += grid(across, upward, frame, x_label, y_label, ticks)
    x = across.end + GAP
    for place, curve in enumerate(series):
        y = upward.end + ROW * (place + 0.5)
        parts += [*_curve(curve, across, upward), *_sample(curve, x, y)]
        parts.append(text(x + 30, y, shortened(curve.name)))
    width = x + 30 + label_width(curve.name for curve in series) + GAP
    height = max(upward.start + 46, upward.end + ROW * len(series) + GAP)
    return Panel(width, height, parts, f"{y_label} by {x_label}: {', '.join(map(str, series))}")


def _curve(series: Series, across: Scale, upward: Scale) -> Iterator[str]:
    colour = SERIES[series.number % len(SERIES)]
    spans = [(across.at(x), upward.at(a), upward.at(b)) for x, a, b in series.spans]
    if not series.points:
        corners = [(x, low) for x, low, _ in spans] + [(x, high) for x, _, high in spans[::-1]]
        yield polygon(corners, colour, 0.2)
    else:
        yield from (line(x, low, x, high, colour) for x, low, high in spans)
    for known, run in groupby(series.points, key=lambda point: math.isfinite(point[1])):
        if known:
            spots = [(across.at(x), upward.at(y)) for x, y in run]
            yield polyline(spots, colour, series.dashes)
            yield from (marker(*spot, series.number) for spot in spots if series.marked)


def _sample(series: Series, x: float, y: float) -> Iterator[str]:
    """Draw what a series looks like, for the legend."""
    colour = SERIES[series.number % len(SERIES)]
    if not series.points:
        yield rectangle(x, y - 5, 24, 10, colour, fill_opacity=0.2)
        return
    if len(series.points) > 1:
        yield polyline([(x, y), (x + 24, y)], colour, series.dashes)
    if series.marked:
        yield marker(x + 12, y, series.number)
