"""Charts in rows: scores, ranges of ranks, numbers in cells; no colour stands alone."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from grammeter.core import FloatArray, Ranked, display_width, format_number
from grammeter.rendering import figures as fig
from grammeter.rendering.page import Drawing

ACCENT, OTHER = fig.SERIES[:2]
STRONGEST = 0.45  # opacity of the strongest cell of a heat map: letters stay readable in all themes
_CENTRED = {"ha": "center", "va": "center_baseline"}
Numbers = FloatArray | Sequence[Sequence[float]]


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
