"""Metrics against people, how a ranking settles, correlations by beta, window.

Functions that draw raise UsageError if figures and names differ in number, or there are none.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from grammeter.core import Figure, FloatArray, Result, UsageError, display_width, format_number
from grammeter.rendering import charts
from grammeter.rendering import figures as fig
from grammeter.rendering.page import Drawing

FLAT = 220  # height of the plot of a curve
MARKED = 20  # points of a series up to which each is marked
_WIDEST = 60  # letters that a line below one plot has room for


# --- points ---------------------------------------------------------------------------------
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
    """Draw named points; the caption names those left out for want of two finite scores."""
    missing = _missing(points)
    lacking = f" Without a score: {missing}." if missing else ""
    paint = partial(_points, points=points, x_label=x_label, y_label=y_label)
    return fig.drawing(paint, title=title, caption=caption + lacking)


def metric_scatters(
    human: Mapping[str, float], metrics: Mapping[str, Mapping[str, float]],
    *, human_label: str = "human score", captions: Mapping[str, str] | None = None,
) -> Drawing:  # fmt: skip
    """Draw scores by metrics against scores by people, a plot for each metric.

    As Figure 1 of Chollampatt and Ng (2018). Systems without a finite score on both sides are
    named below the plot instead; ``captions`` stand there, too, such as correlations by metric.
    """
    if not metrics or any(set(scores) != set(human) for scores in metrics.values()):
        fault = "no scores to draw, or scores of other systems than people's"
        raise UsageError(fault, fix="Give one metric at least, and each a score of each system.")
    paints: list[Callable[[Any], object]] = []
    for name, scores in metrics.items():
        points = [Point(system, human[system], scores[system]) for system in human]
        missing, caption = _missing(points), (captions or {}).get(name, "")
        below = [caption, *wrap(missing and f"no score: {missing}", _WIDEST)]
        axes = {"x_label": human_label, "y_label": name}
        paints.append(partial(_points, points=points, below=below, **axes))
    return fig.drawing(*paints, title="Metrics against people", columns=3)


def _missing(points: Iterable[Point]) -> str:
    return ", ".join(point.name for point in points if not math.isfinite(point.x + point.y))


def _points(
    figure: Any, points: Sequence[Point], x_label: str, y_label: str, below: Iterable[str] = ()
) -> None:
    """Draw points, and their names where they lie on as little else as can be."""
    from matplotlib.transforms import Bbox

    axes = _plot(figure, fig.PLOT, x_label, y_label)
    words, place = "\n".join(map(fig.plain, below)), {"transform": axes.transAxes, "va": "top"}
    axes.text(0, -3 * fig.FONT / fig.PLOT, words, **place)
    points = [point for point in points if math.isfinite(point.x + point.y)]
    axes.plot([p.x for p in points], [p.y for p in points], "o", color=fig.SERIES[0])
    axes.autoscale_view()
    spots = [axes.transData.transform((point.x, point.y)) for point in points]
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in spots]
    for point, (x, y) in zip(points, spots, strict=True):
        name = fig.shortened(point.name)
        width, height = fig.LETTER * display_width(name), fig.FONT
        shifts = [*product((8, -8 - width), (0, height, -height, 2 * height, -2 * height))]
        middle = y - height / 2
        boxes = [Bbox.from_bounds(x + dx, middle + dy, width, height) for dx, dy in shifts]
        covered = [box.count_overlaps(taken) for box in boxes]
        best = covered.index(min(covered))
        taken.append(boxes[best])
        look = {"textcoords": "offset points", "va": "center_baseline", **fig.hint(str(point))}
        axes.annotate(name, (point.x, point.y), shifts[best], **look)


# --- curves ---------------------------------------------------------------------------------
def learning_curve(
    sizes: Sequence[int], mean: Sequence[float], low: Sequence[float], high: Sequence[float],
    *, tail: float = 0.05, target: float = 0.95,
) -> Drawing:  # fmt: skip
    """Draw how a ranking settles: the correlation with the full ranking by number of items.

    For each size, ascending, the mean over draws, and the quantiles ``tail`` and ``1 - tail``;
    a line is drawn at ``target``.
    """
    _check_lengths("size", sizes, mean, low, high)

    def paint(figure: Any) -> None:
        from matplotlib.ticker import LogLocator

        axes = _plot(figure, FLAT, "items judged", "Spearman with the full ranking")
        series = [
            axes.fill_between(sizes, low, high, color=fig.SERIES[0], alpha=0.2, linewidth=0),
            *axes.plot(sizes, mean, **_look(0)),
            axes.axhline(target, color=fig.SERIES[1], linestyle="--"),
        ]
        axes.set(xscale="log", xlim=(sizes[0] / 1.1, sizes[-1] * 1.1), ylim=(min(0.0, *low), 1.02))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
        _legend(axes, series, [f"{1 - 2 * tail:.0%} of the draws", "mean", f"{target:g}"])

    return fig.drawing(paint, title="Learning curve")


def beta_curve(
    betas: Sequence[float], pearson: Sequence[float], spearman: Sequence[float]
) -> Drawing:
    """Draw correlations by beta, as Figure 3 of Grundkiewicz et al. (2015); gaps where NaN."""
    _check_lengths("beta", betas, pearson, spearman)

    def paint(figure: Any) -> None:
        axes = _plot(figure, FLAT, "beta", "correlation with people")
        series, names = list[Any](), list[str]()
        for number, (kind, values) in enumerate((("Pearson", pearson), ("Spearman", spearman))):
            look = _look(number, dashed=bool(number), marked=len(betas) == 1)
            series += axes.plot(betas, values, **look)
            names.append(kind)
            if np.isfinite(values).any():
                best = int(np.nanargmax(values))
                look = _look(number) | {"linestyle": ""}
                series += axes.plot(betas[best], values[best], **look)
                names.append(f"best: {values[best]:.3f} at {betas[best]:g}")
        _legend(axes, series, names)

    return fig.drawing(paint, title="Correlation by beta")


def series_curves(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], *, x_label: str, title: str
) -> Drawing:
    """Draw named series of points ``(x, y)``, a panel for each quantity of the upward axis."""

    def paint(figure: Any, y_label: str) -> None:
        axes, series = _plot(figure, FLAT, x_label, y_label), list[Any]()
        for number, points in enumerate(panels[y_label].values()):
            look = _look(number, dashed=bool(number % 2), marked=len(points) < MARKED)
            series += axes.plot(*zip(*points, strict=True), **look)
        _legend(axes, series, panels[y_label])

    return fig.drawing(*(partial(paint, y_label=name) for name in panels), title=title)


def window_curve(
    windows: Sequence[str], correlations: Mapping[str, Mapping[str, FloatArray]],
    *, alike: Sequence[bool] = (),
) -> Drawing:  # fmt: skip
    """Draw correlations in windows of the human ranking, each with its interval.

    ``windows``: their names, such as ranks ``1-4``, from the best systems down. ``correlations``:
    by coefficient and metric, shape ``(windows, 3)``: value, lower and upper end; NaN: none.
    ``alike``: for each window whether people tell none of its systems apart; those are shaded.
    """
    shapes = {rows.shape for metrics in correlations.values() for rows in metrics.values()}
    if shapes != {(len(windows), 3)} or len(alike) not in (0, len(windows)):
        fault = f"correlations {sorted(shapes)} for {len(windows)} windows"
        raise UsageError(fault, fix="Give three figures for each window.")
    note = "; shaded: one cluster of people's" if any(alike) else ""
    width, places = max(fig.PLOT, 44 * len(windows)), np.arange(len(windows))

    def paint(figure: Any, kind: str) -> None:
        axes = _plot(figure, FLAT, f"human ranks of the window{note}", kind, width=width)
        metrics, series = correlations[kind], list[Any]()
        axes.set(xlim=(-0.5, len(windows) - 0.5), ylim=(-1.05, 1.05))
        axes.set_xticks(places, windows)
        for place in np.flatnonzero(alike):
            axes.axvspan(place - 0.5, place + 0.5, color=fig.BAND, linewidth=0, zorder=0)
        for number, rows in enumerate(metrics.values()):
            x, look = places + 0.7 * ((number + 0.5) / len(metrics) - 0.5), _look(number)
            known = np.isfinite(rows).all(axis=1)
            axes.vlines(x[known], *rows[known, 1:].T, color=look["color"], linewidth=1)
            series += axes.plot(x, rows[:, 0], **look)
        _legend(axes, series, metrics)

    paints = [partial(paint, kind=kind) for kind in correlations]
    return fig.drawing(*paints, title="Correlation with people by window")


def _check_lengths(what: str, *columns: Sequence[float]) -> None:
    if len(set(map(len, columns))) > 1:
        raise UsageError("columns of different lengths", fix=f"Give one figure for each {what}.")


def _plot(figure: Any, height: float, x_label: str, y_label: str, width: float = fig.PLOT) -> Any:
    axes = fig.panel(figure, width, height)
    axes.set_xlabel(fig.shortened(x_label, 60))
    axes.set_title(fig.shortened(y_label, 60))
    return axes


def _look(number: int, *, dashed: bool = False, marked: bool = True) -> dict[str, Any]:
    """Return the look of a series, which has its own colour and marker."""
    marker = fig.MARKERS[number % len(fig.MARKERS)] if marked else ""
    colour = fig.SERIES[number % len(fig.SERIES)]
    return {"color": colour, "linestyle": "--" if dashed else "-", "marker": marker}


def _legend(axes: Any, series: Sequence[Any], names: Iterable[str]) -> None:
    """Name series at the right and in hints."""
    for artist, name in zip(series, names, strict=True):
        artist.set(**fig.hint(f"{axes.get_title('left')} by {axes.get_xlabel()}: {name}"))
    axes.legend(series, map(fig.shortened, names), loc="upper left", bbox_to_anchor=(1, 1))


# --- the figures of results ------------------------------------------------------------------
_MAPS = (charts.agreement_matrix, charts.head_to_head_map, charts.rank_ranges, charts.williams_map)
_CURVES = (beta_curve, learning_curve, metric_scatters, series_curves, window_curve)
CHARTS: Mapping[str, Callable[..., Drawing]] = {draw.__name__: draw for draw in (*_MAPS, *_CURVES)}


def draw(figure: Figure) -> Drawing:
    """Draw a figure that a result offers."""
    return CHARTS[figure.chart](**figure.data)


def save_figures(result: Result, paths: Mapping[str, str | Path | None]) -> None:
    """Draw figures of a result, by name, into files; those without a path are left out."""
    for name, path in paths.items():
        if path:
            fig.save_figure(draw(result.figures()[name]), path)
