"""Points and curves: metrics against people, how a ranking settles, correlations by beta, window.

Functions that draw raise UsageError if figures and names differ in number, or there are none.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path
from textwrap import wrap

import numpy as np

from grammeter.core import Figure, FloatArray, Result, UsageError, display_width, format_number
from grammeter.rendering import charts, svg
from grammeter.rendering.page import Drawing
from grammeter.rendering.svg import FONT, GAP, LETTER, PLOT, ROW, Panel, Scale, drawing

FLAT = 220  # height of the plot of a curve
_WIDEST = 60  # letters that a line below one plot has room for
Box = tuple[float, float, float, float]  # left, top, right, bottom
MARKED = 20  # points of a series up to which each is marked


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
    drawn, missing = _drawn(points)
    lacking = f" Without a score: {missing}." if missing else ""
    return drawing(_point_panel(drawn, x_label, y_label), title=title, caption=caption + lacking)


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
    panels: list[Panel] = []
    for name, scores in metrics.items():
        drawn, missing = _drawn([Point(system, human[system], scores[system]) for system in human])
        below = [(captions or {}).get(name, ""), *wrap(missing and f"no score: {missing}", _WIDEST)]
        panels.append(_point_panel(drawn, human_label, name, below))
    return drawing(*panels, title="Metrics against people", columns=3)


def _drawn(points: Sequence[Point]) -> tuple[list[Point], str]:
    drawn = [point for point in points if math.isfinite(point.x + point.y)]
    return drawn, ", ".join(point.name for point in points if point not in drawn)


def _point_panel(
    points: Sequence[Point], x_label: str, y_label: str, below: Sequence[str] = ()
) -> Panel:
    left, top, right, bottom = 64.0, 2.0 * GAP, 64.0 + PLOT, 2.0 * GAP + PLOT
    across = Scale.around([point.x for point in points], left, right)
    upward = Scale.around([point.y for point in points], bottom, top)
    frame: Box = (left, top, right + 80, bottom)
    parts = [*_grid(across, upward, frame, x_label, y_label)]
    spots = [(across.at(point.x), upward.at(point.y)) for point in points]
    names = [svg.shortened(point.name) for point in points]
    places = _label_places(names, spots, frame)
    for point, name, spot, place in zip(points, names, spots, places, strict=True):
        parts.append(svg.hinted(str(point), svg.dot(*spot), svg.text(*place, name)))
    foot = bottom + 32
    step, summary = charts.LINE, "; ".join(map(str, points))
    parts += [svg.text(left, foot + step * n, words) for n, words in enumerate(below, start=1)]
    return Panel(right + 90, bottom + 46 + step * len(below), parts, summary)


def _label_places(
    names: Sequence[str], spots: Sequence[tuple[float, float]], frame: Box
) -> list[tuple[float, float]]:
    """Return where each name starts: beside its dot, on top of as little else as can be."""
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in spots]
    places: list[tuple[float, float]] = []
    for name, (x, y) in zip(names, spots, strict=True):
        width = LETTER * display_width(name)
        shifts = product((0, -FONT, FONT, -2 * FONT, 2 * FONT), (8, -8 - width, -width / 2))
        tries = [(x + dx, y + dy) for dy, dx in shifts if dx != -width / 2 or dy]
        boxes = [(a, b - FONT / 2, a + width, b + FONT / 2) for a, b in tries]
        costs = [_cost(box, taken, frame) for box in boxes]
        best = costs.index(min(costs))
        taken.append(boxes[best])
        places.append(tries[best])
    return places


def _cost(box: Box, taken: Sequence[Box], frame: Box) -> int:
    outside = box[0] < frame[0] or box[2] > frame[2] or box[1] < frame[1] or box[3] > frame[3]
    return 10 * outside + sum(
        box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
        for other in taken
    )


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
    start, end = sizes[0] / 1.1, sizes[-1] * 1.1
    band = list(zip(sizes, low, high, strict=True))
    goal = [(start, target), (end, target)]
    series = [
        _Series(f"{1 - 2 * tail:.0%} of the draws", 0, spans=band),
        _Series("mean", 0, list(zip(sizes, mean, strict=True))),
        _Series(f"{target:g}", 1, goal, dashes="6 4", marked=False),
    ]
    across = Scale(start, end, 64, 64 + PLOT, log=True)
    axes = across, Scale(min(0.0, *low), 1.02, 20 + FLAT, 20)
    label = "Spearman with the full ranking"
    panel = _curve_panel(series, *axes, x_label="items judged", y_label=label)
    return drawing(panel, title="Learning curve")


def beta_curve(
    betas: Sequence[float], pearson: Sequence[float], spearman: Sequence[float]
) -> Drawing:
    """Draw correlations by beta, as Figure 3 of Grundkiewicz et al. (2015); gaps where NaN."""
    _check_lengths("beta", betas, pearson, spearman)
    series: list[_Series] = []
    for number, (kind, values) in enumerate((("Pearson", pearson), ("Spearman", spearman))):
        points = list(zip(betas, values, strict=True))
        series.append(_Series(kind, number, points, dashes="6 4" * number, marked=len(points) == 1))
        if np.isfinite(values).any():
            beta, greatest = points[int(np.nanargmax(values))]
            series.append(_Series(f"best: {greatest:.3f} at {beta:g}", number, [(beta, greatest)]))
    axes = Scale.around(betas, 64, 64 + PLOT), Scale.around([*pearson, *spearman], 20 + FLAT, 20)
    panel = _curve_panel(series, *axes, x_label="beta", y_label="correlation with people")
    return drawing(panel, title="Correlation by beta")


def series_curves(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], *, x_label: str, title: str
) -> Drawing:
    """Draw named series of points ``(x, y)``, a panel for each quantity of the upward axis."""
    drawn: list[Panel] = []
    for y_label, named in panels.items():
        x, y = zip(*(point for points in named.values() for point in points), strict=True)
        series = [
            _Series(name, number, points, dashes="6 4" * (number % 2), marked=len(points) < MARKED)
            for number, (name, points) in enumerate(named.items())
        ]
        axes = Scale.around(x, 64, 64 + PLOT), Scale.around(y, 20 + FLAT, 20)
        drawn.append(_curve_panel(series, *axes, x_label=x_label, y_label=y_label))
    return drawing(*drawn, title=title)


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
    across = Scale(-0.5, len(windows) - 0.5, 64, 64 + max(PLOT, 44.0 * len(windows)))
    note = "; shaded: one cluster of people's" if any(alike) else ""
    axes, label = (across, Scale(-1.05, 1.05, 20 + FLAT, 20)), f"human ranks of the window{note}"
    shaded = [(at - 0.5, at + 0.5) for at, same in enumerate(alike) if same]
    ticks = list(enumerate(windows))
    panels = [
        _curve_panel(_beside(of), *axes, x_label=label, y_label=kind, ticks=ticks, shaded=shaded)
        for kind, of in correlations.items()
    ]
    return drawing(*panels, title="Correlation with people by window")


def _check_lengths(what: str, *columns: Sequence[float]) -> None:
    if len(set(map(len, columns))) > 1:
        raise UsageError("columns of different lengths", fix=f"Give one figure for each {what}.")


@dataclass(frozen=True, slots=True)
class _Series:
    """Values along an axis; ``number`` settles colour and marker."""

    name: str
    number: int
    points: Sequence[tuple[float, float]] = ()  # joined by a line, with gaps where not finite
    spans: Sequence[tuple[float, float, float]] = ()  # intervals; one area if there are no points
    dashes: str = ""
    marked: bool = True

    @property
    def colour(self) -> str:
        return svg.SERIES[self.number % len(svg.SERIES)]


def _beside(metrics: Mapping[str, FloatArray]) -> list[_Series]:
    step = 0.7 / len(metrics)
    series: list[_Series] = []
    for number, (name, rows) in enumerate(metrics.items()):
        shift = step * (number - (len(metrics) - 1) / 2)
        shifted = [(at + shift, *row) for at, row in enumerate(rows.tolist())]
        points = [(x, value) for x, value, _, _ in shifted]
        spans = [(x, a, b) for x, value, a, b in shifted if math.isfinite(value + a + b)]
        series.append(_Series(name, number, points, spans))
    return series


def _curve_panel(
    series: Sequence[_Series], across: Scale, upward: Scale,
    *, x_label: str, y_label: str, ticks: Sequence[tuple[float, str]] = (),
    shaded: Iterable[tuple[float, float]] = (),
) -> Panel:  # fmt: skip
    frame: Box = (across.start, upward.end, across.end, upward.start)
    height = frame[3] - frame[1]
    ends = [(across.at(low), across.at(high)) for low, high in shaded]
    parts = [svg.rectangle(low, frame[1], high - low, height, svg.BAND) for low, high in ends]
    parts += _grid(across, upward, frame, x_label, y_label, ticks)
    x = across.end + GAP
    for place, curve in enumerate(series):
        y = upward.end + ROW * (place + 0.5)
        parts += [*_curve(curve, across, upward), *_sample(curve, x, y)]
        parts.append(svg.text(x + 30, y, svg.shortened(curve.name)))
    width = x + 30 + svg.label_width(curve.name for curve in series) + GAP
    height = max(upward.start + 46, upward.end + ROW * len(series) + GAP)
    names = ", ".join(curve.name for curve in series)
    return Panel(width, height, parts, f"{y_label} by {x_label}: {names}")


def _curve(series: _Series, across: Scale, upward: Scale) -> Iterator[str]:
    spans = [(across.at(x), upward.at(a), upward.at(b)) for x, a, b in series.spans]
    if not series.points:
        corners = [(x, low) for x, low, _ in spans] + [(x, high) for x, _, high in spans[::-1]]
        yield svg.polygon(corners, series.colour, 0.2)
    else:
        yield from (svg.line(x, low, x, high, series.colour) for x, low, high in spans)
    for known, run in groupby(series.points, key=lambda point: math.isfinite(point[1])):
        if known:
            spots = [(across.at(x), upward.at(y)) for x, y in run]
            yield svg.polyline(spots, series.colour, series.dashes)
            yield from (svg.marker(*spot, series.number) for spot in spots if series.marked)


def _sample(series: _Series, x: float, y: float) -> Iterator[str]:
    if not series.points:
        yield svg.rectangle(x, y - 5, 24, 10, series.colour, 0.2)
        return
    if len(series.points) > 1:
        yield svg.polyline([(x, y), (x + 24, y)], series.colour, series.dashes)
    if series.marked:
        yield svg.marker(x + 12, y, series.number)


def _grid(
    across: Scale, upward: Scale, frame: Box, x_label: str, y_label: str,
    ticks: Sequence[tuple[float, str]] = (),
) -> Iterator[str]:  # fmt: skip
    """Yield the lines, numbers and names of both axes; ``ticks`` replace round numbers."""
    left, top, right, bottom = frame
    for value, shown in ticks or across.labelled():
        x = across.at(value)
        yield svg.line(x, top, x, bottom)
        yield svg.text(x, bottom + 12, shown, anchor="middle", colour=svg.MUTED)
    for value, shown in upward.labelled():
        y = upward.at(value)
        yield svg.line(left, y, right, y)
        yield svg.text(left - 6, y, shown, anchor="end", colour=svg.MUTED)
    yield svg.text((left + right) / 2, bottom + 32, svg.shortened(x_label, 60), anchor="middle")
    yield svg.text(6, top - GAP, svg.shortened(y_label, 60))


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
            svg.save_figure(draw(result.figures()[name]), path)
