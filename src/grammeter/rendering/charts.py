"""What results draw: rows of systems, numbers in cells, points, and curves.

No colour stands alone.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from grammeter.core import Figure, FloatArray, Ranked, Result, display_width, format_number
from grammeter.rendering import figures as fig
from grammeter.rendering.page import Drawing

ACCENT, OTHER = fig.SERIES[:2]
STRONGEST = 0.45  # opacity of the strongest cell of a heat map: letters stay readable in all themes
_CENTRED = {"ha": "center", "va": "center_baseline"}
Numbers = FloatArray | Sequence[Sequence[float]]
FLAT = 220  # height of the plot of a curve
MARKED = 20  # points of a series up to which each is marked
_WIDEST = 60  # letters that a line below one plot has room for
_Line = tuple[str, Any, Any, dict[str, Any]]  # name, x, y, look


# --- a row for each system ------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Dot:
    """A score with its interval, NaN where there is none; ``mark`` stands behind the number."""

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    mark: str = ""

    def __str__(self) -> str:
        """Write name, score and interval."""
        value = f"{self.name}: {format_number(self.value)}"
        if not math.isfinite(self.low + self.high):
            return value
        return f"{value} [{format_number(self.low)}, {format_number(self.high)}]"


def dot_plot(dots: Sequence[Dot], *, title: str, caption: str) -> Drawing:
    """Draw scores as dots and intervals as lines, a system a row; ``NaN`` without a score."""

    def paint(figure: Any) -> None:
        axes = _row_panel(figure, [row.name for row in dots])
        for y, row in enumerate(dots):
            look = {"color": ACCENT, **fig.hint(str(row))}
            if math.isfinite(row.low + row.high):
                axes.plot([row.low, row.high], [y, y], "|-", **look)
            axes.plot(row.value, y, "o" if math.isfinite(row.value) else "", **look)
            _put_behind(axes, y, f"{format_number(row.value)} {row.mark}".rstrip())

    return fig.drawing(paint, title=title, caption=caption)


def rank_ranges(ranked: Ranked) -> Drawing:
    """Draw ranges of ranks, best on top, scores at the right (or ``NaN``), clusters as bands."""
    rows = list(ranked.values())
    wide: dict[str, Any] = {"xmin": -0.4, "xmax": 1.4, "clip_on": False, "zorder": 0}

    def paint(figure: Any) -> None:
        axes = _row_panel(figure, [row.system for row in rows])
        axes.set_xlim(0.5, len(rows) + 0.5)
        axes.xaxis.get_major_locator().set_params(integer=True)
        _put_behind(axes, -1, ranked.method, fig.MUTED)
        for y, row in enumerate(rows):
            first, last = row.ranks
            told = fig.hint(f"{row.system}: ranks {first} to {last}, cluster {row.cluster}")
            if row.cluster % 2 == 0:
                axes.axhspan(y - 0.5, y + 0.5, color=fig.BAND, linewidth=0, **wide)
            if y and rows[y - 1].cluster != row.cluster:
                axes.axhline(y - 0.5, color=fig.MUTED, linewidth=1, **wide)
            axes.plot(row.ranks, [y, y], "o-", color=ACCENT, linewidth=3, **told)
            _put_behind(axes, y, f"{format_number(row.score, 3)}  cluster {row.cluster}", fig.MUTED)

    caption = f"Ranges of ranks by {ranked.method}; a line between two systems parts clusters."
    return fig.drawing(paint, title="Rank ranges and clusters", caption=caption)


def _row_panel(figure: Any, names: Sequence[str]) -> Any:
    axes = fig.panel(figure, fig.PLOT, fig.ROW * len(names))
    axes.set_yticks(range(len(names)), map(fig.shortened, names))
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.grid(visible=False, axis="y")
    return axes


def _put_behind(axes: Any, y: float, words: str, colour: str | None = None) -> None:
    place = {"va": "center", "transform": axes.get_yaxis_transform()}
    axes.text(1 + fig.GAP / fig.PLOT, y, fig.shortened(words), color=colour, **place)


# --- numbers in cells -----------------------------------------------------------------------
def heat_map(
    rows: Sequence[str], columns: Sequence[str], values: Numbers, *, title: str, caption: str
) -> Drawing:
    """Draw numbers in cells, a dash for NaN."""
    cells = partial(_cells, rows=rows, columns=columns, values=values)
    return fig.drawing(cells, title=title, caption=caption)


def head_to_head_map(
    systems: Sequence[str], shares: FloatArray, marks: Sequence[Sequence[str]] | None = None
) -> Drawing:
    """Draw how often the system of a column beats that of a row.

    ``shares`` have shape ``(systems, systems)``: the column's share of the decided comparisons, 0
    to 1, NaN where there is none; ``marks`` are printed after the numbers.
    """
    below = "share of the decided comparisons that\nthe column's system won against the row's"
    of: dict[str, Any] = {"rows": systems, "columns": systems, "values": shares, "marks": marks}
    cells = partial(_cells, form=_share, neutral=0.5, below=below, **of)
    return fig.drawing(cells, title="Head to head")


def agreement_matrix(judges: Sequence[str], values: FloatArray, *, label: str = "kappa") -> Drawing:
    """Draw the agreement of each two judges; on the diagonal, of each with itself.

    ``values`` have shape ``(judges, judges)``, at most 1, NaN where there is none; ``label`` says
    what they are.
    """
    of: dict[str, Any] = {"rows": judges, "columns": judges, "values": values}
    cells = partial(_cells, form=_share, neutral=0.0, **of)
    return fig.drawing(cells, title=f"Agreement of judges ({label})")


def williams_map(metrics: Sequence[str], pvalues: Mapping[str, FloatArray]) -> Drawing:
    """Draw whether the metric of a row correlates better than that of a column; one-sided.

    As Figure 2 of Chollampatt and Ng (2018): the darker, the surer. By coefficient, such as
    ``pearson``, p-values of shape ``(metrics, metrics)``; NaN where the row's metric correlates no
    better, or the test is undefined.
    """
    look: dict[str, Any] = {"rows": metrics, "columns": metrics, "form": _pvalue, "neutral": 0.5}
    below = "{}, one-sided p: the row's metric\ncorrelates better than the column's"
    cells = [
        partial(_cells, values=values, below=below.format(kind), **look)
        for kind, values in pvalues.items()
    ]
    return fig.drawing(*cells, title="Williams' test", columns=len(pvalues))


def _share(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".")


def _pvalue(value: float) -> str:
    return "<.001" if value < 0.0005 else f"{value:.3f}".replace("0.", ".")


def _cells(
    figure: Any, rows: Sequence[str], columns: Sequence[str], values: Numbers,
    *, form: Callable[[float], str] = "{:.2f}".format, marks: Sequence[Sequence[str]] | None = None,
    neutral: float | None = None, below: str = "",
) -> None:  # fmt: skip
    """Add a panel of cells; ``neutral`` is the number without colour, by default the least."""
    from matplotlib.patches import Rectangle

    finite = [float(value) for row in values for value in row if math.isfinite(value)]
    neutral = min(finite, default=0.0) if neutral is None else neutral
    most = max((abs(value - neutral) for value in finite), default=0.0)
    places = [*product(range(len(rows)), range(len(columns)))]
    shown = {(y, x): form(values[y][x]) + (marks[y][x] if marks else "") for y, x in places}
    width = fig.LETTER * max(map(display_width, shown.values()), default=0) + fig.GAP
    axes = fig.panel(figure, width * len(columns), fig.ROW * len(rows))
    axes.set_yticks(range(len(rows)), map(fig.shortened, rows))
    upward = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"}  # long names have room
    axes.set_xticks(range(len(columns)), map(fig.shortened, columns), **upward)
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(max(len(rows), 1) - 0.5, -0.5))
    axes.set_title(below, y=0, pad=-fig.GAP, va="top")
    axes.xaxis.tick_top()
    axes.grid(visible=False)
    for (y, x), words in shown.items():
        value, where = float(values[y][x]), f"{rows[y]}, {columns[x]}"
        if not math.isfinite(value):
            axes.text(x, y, "–", color=fig.MUTED, **_CENTRED, **fig.hint(f"{where}: none"))
            continue
        share = (value - neutral) / most if most else 1.0
        fill, told = (ACCENT if share >= 0 else OTHER), fig.hint(f"{where}: {value:.4f}")
        corner, size = (x - 0.5, y - 0.5), (1 - 1 / width, 1 - 1 / fig.ROW)
        box = axes.add_patch(Rectangle(corner, *size, linewidth=0))
        box.set(facecolor=(fill, STRONGEST * abs(share)), **told)
        axes.text(x, y, words, **_CENTRED, **told)


# --- points ---------------------------------------------------------------------------------
def metric_scatters(
    human: Mapping[str, float], metrics: Mapping[str, Mapping[str, float]],
    *, human_label: str = "human score", captions: Mapping[str, str] | None = None,
) -> Drawing:  # fmt: skip
    """Draw scores by metrics against scores by people, a plot for each metric.

    As Figure 1 of Chollampatt and Ng (2018). Systems without a finite score on both sides are
    named below the plot instead; ``captions`` stand there, too, such as correlations by metric.
    """
    paints = [
        partial(_points, human, scores, human_label, name, (captions or {}).get(name, ""))
        for name, scores in metrics.items()
    ]
    return fig.drawing(*paints, title="Metrics against people", columns=3)


def _points(
    people: Mapping[str, float], metric: Mapping[str, float], x_label: str, y_label: str,
    caption: str, figure: Any,
) -> None:  # fmt: skip
    """Draw systems, and their names where they lie on as little else as can be."""
    from matplotlib.transforms import Bbox

    axes = _plot(figure, fig.PLOT, x_label, y_label)
    known = [name for name, x in people.items() if math.isfinite(x + metric[name])]
    missing = ", ".join(name for name in people if name not in known)
    below = [caption, *wrap(missing and f"no score: {missing}", _WIDEST)]
    words, place = "\n".join(map(fig.plain, below)), {"transform": axes.transAxes, "va": "top"}
    axes.text(0, -3 * fig.FONT / fig.PLOT, words, **place)
    spots = [(people[name], metric[name]) for name in known]
    for x, y in spots:
        axes.plot(x, y, "o", color=fig.SERIES[0])
    axes.autoscale_view()
    shown = [axes.transData.transform(spot) for spot in spots]
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in shown]
    for name, spot, (x, y) in zip(known, spots, shown, strict=True):
        width, height = fig.LETTER * display_width(fig.shortened(name)), fig.FONT
        shifts = [*product((8, -8 - width), (0, height, -height, 2 * height, -2 * height))]
        middle = y - height / 2
        boxes = [Bbox.from_bounds(x + dx, middle + dy, width, height) for dx, dy in shifts]
        covered = [box.count_overlaps(taken) for box in boxes]
        best = covered.index(min(covered))
        taken.append(boxes[best])
        hint = fig.hint(f"{name}: {', '.join(map(format_number, spot))}")
        look = {"textcoords": "offset points", "va": "center_baseline", **hint}
        axes.annotate(fig.shortened(name), spot, shifts[best], **look)


# --- curves ---------------------------------------------------------------------------------
def learning_curve(
    sizes: Sequence[int], mean: Sequence[float], low: Sequence[float], high: Sequence[float],
    *, tail: float = 0.05, target: float = 0.95,
) -> Drawing:  # fmt: skip
    """Draw how a ranking settles: the correlation with the full ranking by number of items.

    For each size, ascending, the mean over draws, and the quantiles ``tail`` and ``1 - tail``;
    a line is drawn at ``target``.
    """
    start, end = sizes[0] / 1.1, sizes[-1] * 1.1
    name = f"mean, and {1 - 2 * tail:.0%} of the draws"
    goal = [start, end], [target, target]
    lines = [(name, sizes, mean, _look(0)), (f"{target:g}", *goal, _look(1, "--", marked=False))]

    def paint(figure: Any) -> None:
        from matplotlib.ticker import LogLocator

        axes = _curves(figure, "items judged", "Spearman with the full ranking", lines)
        axes.fill_between(sizes, low, high, color=fig.SERIES[0], alpha=0.2, linewidth=0)
        axes.set(xscale="log", xlim=(start, end), ylim=(min(0.0, *low), 1.02))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()

    return fig.drawing(paint, title="Learning curve")


def series_curves(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], *, x_label: str, title: str
) -> Drawing:
    """Draw named series of points ``(x, y)``, a panel for each quantity of the upward axis."""
    paints: list[partial[Any]] = []
    for y_label, named in panels.items():
        lines: list[_Line] = []
        for number, (name, points) in enumerate(named.items()):
            look = _look(number, "--" if number % 2 else "-", marked=len(points) < MARKED)
            lines.append((name, [x for x, _ in points], [y for _, y in points], look))
        paints.append(partial(_curves, x_label=x_label, y_label=y_label, lines=lines))
    return fig.drawing(*paints, title=title)


def window_curve(
    windows: Sequence[str], correlations: Mapping[str, Mapping[str, FloatArray]],
    *, alike: Sequence[bool] = (),
) -> Drawing:  # fmt: skip
    """Draw correlations in windows of the human ranking, each with its interval.

    ``windows``: their names, such as ranks ``1-4``, from the best systems down. ``correlations``:
    by coefficient and metric, shape ``(windows, 3)``: value, lower and upper end; NaN: none.
    ``alike``: for each window whether people tell none of its systems apart; those are shaded.
    """
    note = "; shaded: one cluster of people's" if any(alike) else ""
    width, places = max(fig.PLOT, 44 * len(windows)), np.arange(len(windows))

    def paint(figure: Any, kind: str) -> None:
        metrics = correlations[kind]
        step, lines = 0.7 / len(metrics), list[_Line]()
        for number, (name, rows) in enumerate(metrics.items()):
            x = places + step * (number - (len(metrics) - 1) / 2)
            lines.append((name, x, rows[:, 0], _look(number)))
        axes = _curves(figure, f"human ranks of the window{note}", kind, lines, width=width)
        axes.set(xlim=(-0.5, len(windows) - 0.5), ylim=(-1.05, 1.05))
        axes.set_xticks(places, windows)
        for place in np.flatnonzero(alike):
            axes.axvspan(place - 0.5, place + 0.5, color=fig.BAND, linewidth=0, zorder=0)
        for (_, x, _, look), rows in zip(lines, metrics.values(), strict=True):
            for at, (_, low, high) in zip(x, rows, strict=True):
                if math.isfinite(low + high):
                    axes.plot([at, at], [low, high], color=look["color"], linewidth=1)

    paints = [partial(paint, kind=kind) for kind in correlations]
    return fig.drawing(*paints, title="Correlation with people by window")


def _plot(figure: Any, height: float, x_label: str, y_label: str, width: float = fig.PLOT) -> Any:
    axes = fig.panel(figure, width, height)
    axes.set_xlabel(fig.shortened(x_label, 60))
    axes.set_title(fig.shortened(y_label, 60))
    return axes


def _look(number: int, dashes: str = "-", *, marked: bool = True) -> dict[str, Any]:
    """Return the look of a series, which has its own colour and marker."""
    marker = fig.MARKERS[number % len(fig.MARKERS)] if marked else ""
    colour = fig.SERIES[number % len(fig.SERIES)]
    return {"color": colour, "linestyle": dashes, "marker": marker}


def _curves(
    figure: Any, x_label: str, y_label: str, lines: Sequence[_Line], *, width: float = fig.PLOT
) -> Any:
    """Add a panel of lines, with gaps where not finite; their names stand at the right."""
    axes = _plot(figure, FLAT, x_label, y_label, width=width)
    hints = [fig.hint(f"{y_label} by {x_label}: {name}") for name, *_ in lines]
    drawn = [
        axes.plot(x, y, **look, **hint)[0]
        for (_, x, y, look), hint in zip(lines, hints, strict=True)
    ]
    names = [fig.shortened(name) for name, *_ in lines]
    axes.legend(drawn, names, loc="upper left", bbox_to_anchor=(1, 1))
    return axes


# --- the figures of results ------------------------------------------------------------------
_MAPS = (agreement_matrix, head_to_head_map, rank_ranges, williams_map)
_CURVES = (learning_curve, metric_scatters, series_curves, window_curve)
CHARTS: Mapping[str, Callable[..., Drawing]] = {draw.__name__: draw for draw in (*_MAPS, *_CURVES)}


def draw(figure: Figure) -> Drawing:
    """Draw a figure that a result offers."""
    return CHARTS[figure.chart](**figure.data)


def save_figures(result: Result, paths: Mapping[str, str | Path | None]) -> None:
    """Draw figures of a result, by name, into files; those without a path are left out."""
    for name, path in paths.items():
        if path:
            fig.save_figure(draw(result.figures()[name]), path)
