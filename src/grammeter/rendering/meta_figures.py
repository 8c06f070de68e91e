"""Figures of meta-evaluation: metrics against people, with the extra ``plot`` (matplotlib).

They look and behave as those of :mod:`grammeter.rendering.figures`, whose ``save`` writes them. A
line is told by its marker, too, not by its colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from grammeter.core import FloatArray, UsageError
from grammeter.rendering.figures import (
    BAND,
    BLUE,
    GREY,
    ORANGE,
    Axes,
    heat_map,
    open_figure,
    open_grid,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX<>"
"""Their number has no divisor in common with that of the colours: 63 lines differ."""

PANEL = 3.6
"""Inches of one plot of a grid."""
_LINE = 44
"""Letters that a line below one plot has room for."""
_LETTER = 7.0
"""Points of a system's name."""

Box = tuple[float, float, float, float]  # left, bottom, right, top, in points


def scatter(
    human: Mapping[str, float],
    metrics: Mapping[str, Mapping[str, float]],
    *,
    human_label: str = "human score",
    captions: Mapping[str, str] | None = None,
) -> Figure:
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
        By metric, what stands beside its name, such as its correlation.

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
    columns = min(3, len(metrics))
    rows = math.ceil(len(metrics) / columns)
    size = PANEL * columns, PANEL * rows + 0.3
    title = "Metrics against people"
    with open_grid(*size, rows=rows, columns=columns, title=title) as (figure, plots):
        for axes in plots[len(metrics) :]:
            axes.set_axis_off()
        for axes, (name, scores) in zip(plots, metrics.items(), strict=False):
            _draw_points(axes, human, scores)
            axes.set_ylabel(name)
            axes.set_title((captions or {}).get(name, ""), loc="left", fontsize=8)
            missing = [s for s in human if not math.isfinite(human[s] + scores[s])]
            below = [f"no score: {', '.join(missing)}"] if missing else []
            axes.set_xlabel("\n".join(fill(text, _LINE) for text in (human_label, *below)))
    return figure


def williams_map(metrics: Sequence[str], pvalues: Mapping[str, FloatArray]) -> Figure:
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
    width, height = 2.4 + 0.56 * len(metrics), max(3.2, 1.7 + 0.4 * len(metrics))
    size = width * len(pvalues), height
    with open_grid(*size, columns=len(pvalues), title="Williams' test") as (figure, plots):
        for axes, (kind, values) in zip(plots, pvalues.items(), strict=True):
            heat_map(axes, metrics, values, None, colours="cividis", bounds=(0, 0.5), form=_pvalue)
            axes.set_xlabel("… than this one")
            axes.set_ylabel("this metric correlates better …")
            axes.set_title(f"{kind}, one-sided p", loc="left")
    return figure


def beta_curve(
    betas: Sequence[float], pearson: Sequence[float], spearman: Sequence[float]
) -> Figure:
    """Draw how F-measures correlate with people's scores, by beta; the best are marked.

    As Figure 3 of Grundkiewicz et al. (2015). Where a correlation is NaN its line has a gap.

    Raises
    ------
    UsageError
        If the columns differ in length.
    """
    if not len(betas) == len(pearson) == len(spearman):
        raise UsageError("columns of different lengths", fix="Give one figure for each beta.")
    kinds = (("Pearson", pearson, BLUE, "-", "o"), ("Spearman", spearman, ORANGE, "--", "s"))
    with open_figure(5.2, 3.2) as (figure, axes):
        for kind, values, colour, line, marker in kinds:
            alone = marker if len(betas) == 1 else ""
            axes.plot(betas, values, color=colour, linestyle=line, marker=alone, label=kind)
            if np.isfinite(values).any():
                at = int(np.nanargmax(values))
                best = f"best: {values[at]:.3f} at {betas[at]:g}"
                axes.plot(betas[at], values[at], color=colour, linestyle="", marker=marker,
                          label=best)  # fmt: skip
        axes.set_xlabel("beta")
        axes.set_ylabel("correlation with people")
        axes.set_title("Correlation by beta", loc="left")
        axes.legend(loc="best", frameon=False)
    return figure


def window_curve(
    windows: Sequence[str],
    correlations: Mapping[str, Mapping[str, FloatArray]],
    *,
    alike: Sequence[bool] = (),
) -> Figure:
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
    shapes = {found.shape for kind in correlations.values() for found in kind.values()}
    if shapes != {(len(windows), 3)} or len(alike) not in (0, len(windows)):
        raise UsageError(
            f"correlations {sorted(shapes)} for {len(windows)} windows",
            fix="Give three figures for each window.",
        )
    size = 1.6 + max(3.6, 0.45 * len(windows)), 0.5 + 2.4 * len(correlations)
    title = "Correlation with people by window"
    with open_grid(*size, rows=len(correlations), title=title) as (figure, plots):
        for axes, (kind, metrics) in zip(plots, correlations.items(), strict=True):
            _shade(axes, alike)
            _draw_windows(axes, metrics)
            axes.set_xticks(range(len(windows)), windows)
            axes.set_xlim(-0.5, len(windows) - 0.5)
            axes.set_ylim(-1.05, 1.05)
            axes.set_ylabel(kind)
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        shaded = "; shaded: one cluster of people's" if any(alike) else ""
        plots[-1].set_xlabel(f"human ranks of the window{shaded}")
    return figure


def _draw_points(axes: Axes, human: Mapping[str, float], scores: Mapping[str, float]) -> None:
    names = [name for name in human if math.isfinite(human[name] + scores[name])]
    x, y = [human[name] for name in names], [scores[name] for name in names]
    axes.plot(x, y, color=BLUE, linestyle="", marker="o", markersize=4, gid="systems")
    axes.margins(0.12)
    for name, point, (shift, align) in zip(
        names, zip(x, y, strict=True), _labels(names, x, y), strict=True
    ):
        axes.annotate(
            name, point, xytext=shift, textcoords="offset points", ha=align, va="center",
            fontsize=_LETTER, color=GREY,
        )  # fmt: skip


def _labels(
    names: Sequence[str], x: Sequence[float], y: Sequence[float]
) -> Iterator[tuple[tuple[float, float], str]]:
    """Choose where each name stands, as an offset in points: where it covers least.

    Widths are estimates, so that the same names stand at the same places everywhere.
    """
    side = PANEL * 72 * 0.78  # of the plot inside its panel
    points = list(zip(_spread(x, side), _spread(y, side), strict=True))
    taken: list[Box] = [(left - 2, low - 2, left + 2, low + 2) for left, low in points]
    for name, (left, low) in zip(names, points, strict=True):
        width = 0.6 * _LETTER * len(name)
        places = (
            ((5.0, 0.0), "left"), ((-5.0, 0.0), "right"), ((0.0, 8.0), "center"),
            ((0.0, -8.0), "center"), ((5.0, 7.0), "left"), ((5.0, -7.0), "left"),
            ((-5.0, 7.0), "right"), ((-5.0, -7.0), "right"),
        )  # fmt: skip
        boxes = [_box(left + dx, low + dy, width, align) for (dx, dy), align in places]
        costs = [
            sum(_overlap(box, other) for other in taken) + _outside(box, side) for box in boxes
        ]
        best = costs.index(min(costs))
        taken.append(boxes[best])
        yield places[best]


def _spread(values: Sequence[float], side: float) -> list[float]:
    """Return where values stand on an axis of this length, with its margins."""
    if not values:
        return []
    low, high = min(values), max(values)
    return [
        side * (0.1 + 0.8 * (value - low) / (high - low)) if high > low else side / 2
        for value in values
    ]


def _box(x: float, y: float, width: float, align: str) -> Box:
    left = x - {"left": 0.0, "center": width / 2, "right": width}[align]
    return left, y - _LETTER / 2, left + width, y + _LETTER / 2


def _overlap(one: Box, other: Box) -> float:
    """Return the area that both cover."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, width) * max(0.0, height)


def _outside(box: Box, side: float) -> float:
    """Return how much of a box stands outside the plot."""
    return (box[2] - box[0]) * (box[3] - box[1]) - _overlap(box, (0.0, 0.0, side, side))


def _shade(axes: Axes, alike: Sequence[bool]) -> None:
    for place, same in enumerate(alike):
        if same:
            axes.axvspan(place - 0.5, place + 0.5, color=BAND, linewidth=0, zorder=0)


def _draw_windows(axes: Axes, metrics: Mapping[str, FloatArray]) -> None:
    """Draw a line for each metric, the metrics beside each other in every window."""
    axes.axhline(0.0, color=GREY, linewidth=0.6)
    step = 0.7 / len(metrics)
    for number, (name, found) in enumerate(metrics.items()):
        places = np.arange(len(found)) + step * (number - (len(metrics) - 1) / 2)
        colour = COLOURS[number % len(COLOURS)]
        known = np.isfinite(found).all(axis=1)
        axes.vlines(places[known], found[known, 1], found[known, 2], color=colour, linewidth=1)
        axes.plot(
            places, found[:, 0], color=colour, marker=MARKERS[number % len(MARKERS)],
            markersize=4, linewidth=0.8, label=name,
        )  # fmt: skip


def _pvalue(value: float) -> str:
    return "<.001" if value < 0.0005 else f"{value:.3f}"
