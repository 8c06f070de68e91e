"""Charts in rows: scores, ranges of ranks, numbers in cells; no colour stands alone."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from grammeter.core import FloatArray, Ranked, UsageError, display_width, format_number
from grammeter.rendering import svg
from grammeter.rendering.page import Drawing
from grammeter.rendering.svg import GAP, LETTER, PLOT, ROW, Panel, Scale, drawing

HEAD = 30  # what stands above the first row: the axis and its numbers
LINE = 1.4 * svg.FONT  # from one line of text to the next
STRONGEST = 0.45  # opacity of the strongest cell of a heat map: letters stay readable in all themes
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
    left = _left(row.name for row in dots)
    values = [number for row in dots for number in (row.value, row.low, row.high)]
    scale = Scale.around(values, left, left + PLOT)
    marks = max((display_width(row.mark) for row in dots), default=0)
    height = HEAD + ROW * len(dots) + GAP
    parts = [*_axis_above(scale, height - GAP)]
    parts += [_dot_row(row, HEAD + ROW * (at + 0.5), scale) for at, row in enumerate(dots)]
    width = left + PLOT + GAP + LETTER * (9 + marks)
    panel = Panel(width, height, parts, "; ".join(map(str, dots)))
    return drawing(panel, title=title, caption=caption)


def _dot_row(row: Dot, y: float, scale: Scale) -> str:
    parts = [svg.label(scale.start - GAP, y, row.name)]
    if math.isfinite(row.low + row.high):
        low, high = scale.at(row.low), scale.at(row.high)
        parts.append(svg.line(low, y, high, y, svg.ACCENT, 2))
        parts += [svg.line(x, y - 4, x, y + 4, svg.ACCENT, 2) for x in (low, high)]
    if math.isfinite(row.value):
        parts.append(svg.dot(scale.at(row.value), y))
    parts.append(svg.text(scale.end + GAP, y, f"{format_number(row.value)} {row.mark}".rstrip()))
    return svg.hinted(str(row), *parts)


def rank_ranges(ranked: Ranked) -> Drawing:
    """Draw ranges of ranks, best on top, scores at the right (or ``NaN``), clusters as bands."""
    rows = list(ranked.values())
    left = _left(row.system for row in rows)
    scale = Scale(0.5, len(rows) + 0.5, left, left + PLOT)
    width, height = left + PLOT + GAP + 18 * LETTER, HEAD + ROW * len(rows) + GAP
    bands: list[str] = []
    ranges: list[str] = []
    for place, row in enumerate(rows):
        top, (first, last) = HEAD + ROW * place, row.ranks
        y, score = top + ROW / 2, f"{format_number(row.score, 3)}  cluster {row.cluster}"
        if row.cluster % 2 == 0:
            bands.append(svg.rectangle(0, top, width, ROW, svg.BAND))
        if place and rows[place - 1].cluster != row.cluster:
            bands.append(svg.line(0, top, width, top, svg.MUTED))
        parts = [svg.label(left - GAP, y, row.system)]
        parts.append(svg.line(scale.at(first), y, scale.at(last), y, svg.ACCENT, 3))
        parts += [svg.dot(scale.at(rank), y) for rank in dict.fromkeys(row.ranks)]
        parts.append(svg.text(scale.end + GAP, y, score, colour=svg.MUTED))
        hint = f"{row.system}: ranks {first} to {last}, cluster {row.cluster}"
        ranges.append(svg.hinted(hint, *parts))
    summary = "; ".join(f"{row.system}: {row.ranks[0]} to {row.ranks[1]}" for row in rows)
    axis = _axis_above(scale, height - GAP, whole=True)
    method = svg.text(scale.end + GAP, HEAD - 16, ranked.method, colour=svg.MUTED)
    panel = Panel(width, height, [*bands, *axis, method, *ranges], summary)
    caption = f"Ranges of ranks by {ranked.method}; a line between two systems parts clusters."
    return drawing(panel, title="Rank ranges and clusters", caption=caption)


def _left(names: Iterable[str]) -> float:
    return GAP + svg.label_width(names) + GAP


def _axis_above(scale: Scale, bottom: float, *, whole: bool = False) -> Iterator[str]:
    for value, shown in scale.labelled(whole=whole):
        x = scale.at(value)
        yield svg.line(x, HEAD - 8, x, bottom)
        yield svg.text(x, HEAD - 16, shown, anchor="middle", colour=svg.MUTED)


# --- numbers in cells -----------------------------------------------------------------------
def heat_map(
    rows: Sequence[str], columns: Sequence[str], values: Numbers, *, title: str, caption: str
) -> Drawing:
    """Draw numbers in cells, a dash for NaN; maps raise UsageError if values misfit the names."""
    return drawing(_cell_panel(rows, columns, values), title=title, caption=caption)


def head_to_head_map(
    systems: Sequence[str], shares: FloatArray, marks: Sequence[Sequence[str]] | None = None
) -> Drawing:
    """Draw how often the system of a column beats that of a row.

    ``shares`` have shape ``(systems, systems)``: the column's share of the decided comparisons, 0
    to 1, NaN where there is none; ``marks`` are printed after the numbers.
    """
    below = "share of the decided comparisons that the column's system won against the row's"
    panel = _cell_panel(
        systems, systems, shares, form=_share, marks=marks, neutral=0.5, below=[below]
    )
    return drawing(panel, title="Head to head")


def agreement_matrix(judges: Sequence[str], values: FloatArray, *, label: str = "kappa") -> Drawing:
    """Draw the agreement of each two judges; on the diagonal, of each with itself.

    ``values`` have shape ``(judges, judges)``, at most 1, NaN where there is none; ``label`` says
    what they are.
    """
    panel = _cell_panel(judges, judges, values, form=_share, neutral=0.0)
    return drawing(panel, title=f"Agreement of judges ({label})")


def williams_map(metrics: Sequence[str], pvalues: Mapping[str, FloatArray]) -> Drawing:
    """Draw whether the metric of a row correlates better than that of a column; one-sided.

    As Figure 2 of Chollampatt and Ng (2018): the darker, the surer. By coefficient, such as
    ``pearson``, p-values of shape ``(metrics, metrics)``; NaN where the row's metric correlates no
    better, or the test is undefined.
    """
    if not pvalues:
        raise UsageError("no p-values to draw", fix="Give those of one coefficient at least.")
    second = "correlates better than the column's"
    panels: list[Panel] = []
    for kind, of in pvalues.items():
        below = [f"{kind}, one-sided p: the row's metric", second]
        panels.append(_cell_panel(metrics, metrics, of, form=_pvalue, neutral=0.5, below=below))
    return drawing(*panels, title="Williams' test", columns=len(panels))


def _share(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".")


def _pvalue(value: float) -> str:
    return "<.001" if value < 0.0005 else f"{value:.3f}".replace("0.", ".")


def _cell_panel(
    rows: Sequence[str], columns: Sequence[str], values: Numbers,
    *, form: Callable[[float], str] = "{:.2f}".format, marks: Sequence[Sequence[str]] | None = None,
    neutral: float | None = None, below: Sequence[str] = (),
) -> Panel:  # fmt: skip
    """Make the panel of a map; ``neutral`` is the number without colour, by default the least."""
    for table in (values, marks):
        if table is not None and [*map(len, table)] != [len(columns)] * len(rows):
            fault = f"cells do not fit {len(rows)} rows and {len(columns)} columns"
            raise UsageError(fault, fix="Give one row and column each.")
    finite = [float(value) for row in values for value in row if math.isfinite(value)]
    neutral = min(finite, default=0.0) if neutral is None else neutral
    most = max((abs(value - neutral) for value in finite), default=0.0)
    left, top = _left(rows), GAP + 0.75 * svg.label_width(columns) + GAP
    places = [*product(range(len(rows)), range(len(columns)))]
    shown = {(y, x): form(values[y][x]) + (marks[y][x] if marks else "") for y, x in places}
    shown |= {(y, x): "–" for y, x in places if not math.isfinite(values[y][x])}
    cell = LETTER * max(map(display_width, shown.values()), default=0) + GAP
    parts: list[str] = []
    for x, column in enumerate(columns):  # upward to the right, so that long names have room
        at = left + cell * (x + 0.5), top - 6
        name = svg.label(*at, column, anchor=None)
        parts.append(svg.element("g", name, transform=f"rotate(-45 {at[0]:.2f} {at[1]:.2f})"))
    parts += [svg.label(left - GAP / 2, top + ROW * (y + 0.5), row) for y, row in enumerate(rows)]
    for (y, x), words in shown.items():
        value, corner = float(values[y][x]), (left + cell * x, top + ROW * y)
        share = (value - neutral) / most if most else 1.0
        parts.append(_cell(corner, cell, f"{rows[y]}, {columns[x]}", value, share, words))
    bottom = top + ROW * len(rows) + GAP
    parts += [svg.text(GAP, bottom + LINE * n, words) for n, words in enumerate(below, start=1)]
    width = left + cell * len(columns) + GAP + 0.75 * svg.label_width(columns[-1:])
    width = max([width, *(2 * GAP + LETTER * display_width(words) for words in below)])
    summary = f"{len(rows)} rows ({', '.join(rows)}), {len(columns)} columns ({', '.join(columns)})"
    return Panel(width, bottom + LINE * (len(below) + bool(below)), parts, summary)


def _cell(
    corner: tuple[float, float], width: float, where: str, value: float, share: float, shown: str
) -> str:
    x, y = corner
    finite = math.isfinite(value)
    ink = svg.INK if finite else svg.MUTED
    text = svg.text(x + width / 2, y + ROW / 2, shown, anchor="middle", colour=ink)
    if not finite:
        return svg.hinted(f"{where}: none", text)
    colour = svg.ACCENT if share >= 0 else svg.SERIES[1]
    fill = svg.rectangle(x, y, width - 1, ROW - 1, colour, STRONGEST * abs(share))
    return svg.hinted(f"{where}: {value:.4f}", fill, text)
