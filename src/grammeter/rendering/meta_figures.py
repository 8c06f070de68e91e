"""Figures of meta-evaluation: metrics against people.

They are drawings as those of :mod:`grammeter.rendering.figures`, whose ``save`` writes them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import wrap

import numpy as np

from grammeter.core import FloatArray, UsageError
from grammeter.rendering.figures import FLAT
from grammeter.rendering.page import Drawing
from grammeter.rendering.svg import Scale, drawing
from grammeter.rendering.svg_figures import (
    PLOT,
    Panel,
    Point,
    Series,
    cell_panel,
    curve_panel,
    point_panel,
)

_WIDEST = 60
"""Letters that a line below one plot has room for."""


def scatter(
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


def _pvalue(value: float) -> str:
    return "<.001" if value < 0.0005 else f"{value:.3f}".replace("0.", ".")
