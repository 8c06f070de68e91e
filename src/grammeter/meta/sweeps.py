"""Correlations many times over: in windows of the human ranking, and over weights of recall.

Correlations over all systems are carried by the far ends of a ranking. Kobayashi et al. 2024
correlate N systems that follow each other in the human ranking, window by window. So few systems
give correlations that say little, the less so where people themselves cannot tell the systems
apart; so an interval and the human clusters stand beside each window.

Which weight of recall agrees best with people? A metric of all betas is held against their scores.
Scored anew, a metric is at each beta what it would be if it had been asked with that beta: M2
chooses its annotators by it, a sentence metric averages other F-measures. With fixed precision and
recall, measured once at the metric's own beta, F alone is made again: this is what Grundkiewicz et
al. 2015 did in Table 5 and Figure 3.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import Any, Literal, get_args

import numpy as np

from grammeter import core, stats
from grammeter.meta.sides import best_first, check_judged, select_systems
from grammeter.meta.system import chosen_columns, constant, correlations, oriented
from grammeter.meta.system_values import TESTED, Correlation, Design, direction
from grammeter.ranking import notes_of_few_systems

SIZE = 4  # systems of a window, as in the figures of Kobayashi et al. 2024

Coefficients = Mapping[stats.CoefficientName, Correlation]
"""Pearson's and Spearman's correlation; NaN with a reason where one is undefined."""


@dataclass(frozen=True)
class Window:
    """Systems that follow each other in the human ranking, best first; ``first``: from this rank.

    ``clusters`` are people's, ``None`` where unknown; ``metrics`` correlations by metric and kind.
    """

    first: int
    systems: tuple[str, ...]
    clusters: tuple[int, ...] | None
    metrics: Mapping[str, Coefficients]

    @property
    def last(self) -> int:
        """Human rank of the last system; the x axis of the published figure."""
        return self.first + len(self.systems) - 1

    @property
    def one_cluster(self) -> bool:
        """Whether people cannot tell any of these systems apart, as far as is known."""
        return self.clusters is not None and len(set(self.clusters)) == 1

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape; NaN is ``None`` with a reason beside it."""
        data: dict[str, Any] = {"ranks": [self.first, self.last], "systems": self.systems}
        if self.clusters is not None:
            data |= {"clusters": self.clusters, "one_cluster": self.one_cluster}
        metrics: dict[str, dict[str, Any]] = {}
        for name, of in self.metrics.items():
            ends = {f"{kind}_interval": None if math.isnan(c.low) else (c.low, c.high)
                    for kind, c in of.items()}  # fmt: skip
            reasons = dict.fromkeys(c.reason for c in of.values() if c.reason)
            metrics[name] = {kind: c.value for kind, c in of.items()} | ends
            metrics[name] |= {"reason": "; ".join(reasons)} if reasons else {}
        return core.plain(data | {"metrics": metrics})


@dataclass(frozen=True, repr=False)
class Windows(core.Result, kind="meta-window"):
    """All windows of one size, from the best systems down.

    ``systems`` are all who took part, best by people first; ``signatures`` are by metric.
    """

    size: int
    systems: tuple[str, ...]
    signatures: Mapping[str, core.Signature]
    windows: tuple[Window, ...]
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)

    def __iter__(self) -> Iterator[Window]:
        return iter(self.windows)

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each window, the best of several metrics marked."""
        return [self._long_table() if long else self._main_table()]

    def figures(self) -> Mapping[str, core.Figure]:
        """Return correlations by window; windows that people cannot tell apart are marked."""
        curves: dict[str, dict[str, core.FloatArray]] = {kind: {} for kind in TESTED}
        for kind, name in product(TESTED, self.signatures):
            curves[kind][name] = np.array([c.figures for c in self._row(name, kind)])
        names = [f"{window.first}-{window.last}" for window in self]
        alike = [window.one_cluster for window in self]
        data = {"windows": names, "correlations": curves, "alike": alike}
        return {"windows": core.Figure("window_curve", data)}

    def _row(self, metric: str, kind: stats.CoefficientName) -> list[Correlation]:
        return [window.metrics[metric][kind] for window in self.windows]

    def _main_table(self) -> core.Table:
        columns: list[tuple[core.Column | str, Sequence[core.Cell]]]
        columns = [("ranks", [f"{w.first}-{w.last}" for w in self])]
        if any(window.clusters is not None for window in self):
            columns.append(("clusters", [_clusters(window.clusters) for window in self]))
        best: set[tuple[int, int]] = set()
        for name, kind in product(self.signatures, TESTED):
            row = self._row(name, kind)
            rivals = [[c.value for c in self._row(n, kind)] for n in self.signatures]
            top = [np.nanmax([*values, -np.inf]) for values in zip(*rivals, strict=True)]
            if len(rivals) > 1:
                best |= {(y, len(columns)) for y, c in enumerate(row) if c.value == top[y]}
            columns.append((core.Column(f"{name} {kind}", "number"), [c.value for c in row]))
            columns.append((core.Column("interval", "number", 2), [(c.low, c.high) for c in row]))
        columns.append(("systems", [" ".join(window.systems) for window in self]))
        return replace(core.Table.side_by_side(columns, self._remarks()), best=frozenset(best))

    def _long_table(self) -> core.Table:
        heads = (kind + end for kind in TESTED for end in ("", "_low", "_high"))
        rows: list[tuple[core.Cell, ...]] = []
        for window in self:
            place = (window.first, window.last, _clusters(window.clusters))
            for name, of in window.metrics.items():
                rows.append((*place, name, *(x for kind in TESTED for x in of[kind].figures)))
        ranks = (core.Column("first", "count"), core.Column("last", "count"))
        figures = core.Column.many("number", *heads)
        return core.Table.of((*ranks, "clusters", "metric", *figures), rows)

    def _remarks(self) -> Iterator[str]:
        yield "ranks and clusters are people's; intervals by Fisher's z"
        reasons: set[str] = set()
        for name, kind in product(self.signatures, TESTED):
            reasons |= {f"{name}: {c.reason}" for c in self._row(name, kind) if c.reason}
        yield from sorted(reasons)
        yield from (f"{name}: {signature}" for name, signature in self.signatures.items())


def correlate_windows(
    table: core.ScoreTable, human: Mapping[str, float],
    *, size: int = SIZE, clusters: Mapping[str, int] | None = None,
    systems: Sequence[str] | None = None, drop: Sequence[str] = (),
    metrics: Sequence[str] | None = None, confidence: float = 0.95,
    human_name: str = "human scores", notes: Sequence[str] = (),
) -> Windows:  # fmt: skip
    """Correlate metrics with people in each window of the human ranking.

    A window has ``size`` systems, two at least; those with equal human scores stand in the order of
    their names. The ``confidence`` is that of intervals by Fisher's z: none around a correlation of
    1 or -1, nor with fewer than four systems. ``clusters`` are by system, from a ranking,
    ``human_name`` says what the human scores are, for the signature; for the other options and
    errors see :func:`correlate_systems`. It is a UsageError if there is no window of this size.
    """
    columns = chosen_columns(table, metrics)
    chosen = select_systems(table.systems, human, systems=systems, drop=drop)
    chosen = best_first(sorted(chosen), human)  # so that no window depends on a file's order
    if not 2 <= size <= len(chosen) or not 0 < confidence < 1:
        fault = f"windows of {size} among {len(chosen)} systems, confidence {confidence:g}"
        fix = f"Take a size from 2 to {len(chosen)}, and a confidence between 0 and 1."
        raise core.UsageError(fault, fix=fix)
    design = Design(confidence=confidence)
    spans = [chosen[start : start + size] for start in range(len(chosen) - size + 1)]
    windows: list[Window] = []
    for first, span in enumerate(spans, start=1):
        of_span = None if clusters is None else tuple(clusters[name] for name in span)
        criterion, figures = np.array([human[name] for name in span]), dict[str, Coefficients]()
        for name, column in columns.items():
            scores, undefined = oriented(column, span), "a system here has no score by the metric"
            if np.isfinite(scores).all():
                undefined = constant(scores, criterion, "all systems here")
            figures[name] = correlations(scores, criterion, design, undefined, kinds=TESTED)
        windows.append(Window(first, span, of_span, figures))
    shown: dict[str, object] = {"meta-human": human_name, "meta-systems": len(chosen)}
    shown |= {"meta-window": size, "meta-interval": "fisher", "meta-confidence": confidence}
    signatures = {n: of.signature.extended(shown | direction(of)) for n, of in columns.items()}
    alike = sum(window.one_cluster for window in windows)
    alike_note = f"people tell no two systems apart in {alike} of {len(windows)} windows"
    more = (*([alike_note] if alike else []), *notes_of_few_systems(size))
    said = (*table.notes_on(columns), *notes, *more)
    return Windows(size, chosen, signatures, tuple(windows), tuple(dict.fromkeys(said)))


def _clusters(clusters: tuple[int, ...] | None) -> str:
    return "-".join(map(str, sorted({min(clusters), max(clusters)}))) if clusters else ""


PARTS = ("precision", "recall")
MOST_BETAS = 10_000

Choice = Literal["anew", "fixed"]
"""Whether the metric chooses among annotators again at each beta, or precision and recall stay."""

Rescorer = Callable[[core.MetricScores, Sequence[str], float], core.FloatArray | None]
"""Scores systems anew with another beta; ``None`` if the scores do not hold what that needs."""

_NEAR = 1e-6  # F made from stored precision and recall may differ from the stored score by so much


@dataclass(frozen=True, eq=False, repr=False)
class BetaSweep(core.Result, kind="meta-beta"):
    """Correlations of F-measures with people's scores.

    Shape ``(betas,)``: ``betas``, how many times as much as precision recall weighs; ``pearson``
    and ``spearman``, NaN where all systems have the same F. ``f``, shape ``(betas, systems)``, is
    the negative for a metric of which less is better.
    """

    metric: str
    human: str
    systems: tuple[str, ...]
    signature: core.Signature
    choice: Choice
    betas: core.FloatArray
    f: core.FloatArray
    pearson: core.FloatArray
    spearman: core.FloatArray
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)

    def best(self, kind: str) -> tuple[float, float]:
        """Return the smallest beta with the greatest coefficient, and that coefficient."""
        values: core.FloatArray = getattr(self, kind)
        if np.isnan(values).all():
            return math.nan, math.nan
        at = int(np.nanargmax(values))
        return float(self.betas[at]), float(values[at])

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each beta."""
        best = [(kind, *self.best(kind)) for kind in TESTED]
        notes = [f"best {kind}: {value:.4f} at beta {beta:g}" for kind, beta, value in best]
        notes.append(f"{len(self.systems)} systems against {self.human}")
        figures = core.Column.many("number", *TESTED, best="high")
        rows = np.column_stack([self.betas, *(getattr(self, kind) for kind in TESTED)])
        remarks = (*notes, f"{self.metric}: {self.signature}")
        return [core.Table.of((core.Column("beta", "count"), *figures), rows.tolist(), remarks)]

    def figures(self) -> Mapping[str, core.Figure]:
        """Return both correlations over beta."""
        series: dict[str, list[tuple[float, float]]] = {}
        for kind in TESTED:
            series[kind] = list(zip(self.betas.tolist(), getattr(self, kind).tolist(), strict=True))
            beta, best = self.best(kind)
            if math.isfinite(best):
                series[f"best: {best:.3f} at {beta:g}"] = [(beta, best)]
        panels = {"correlation with people": series}
        data = {"panels": panels, "x_label": "beta", "title": "Correlation by beta"}
        return {"betas": core.Figure("series_curves", data)}

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape; a NaN is ``None`` with a reason beside it."""
        best = {kind: dict(zip(("beta", "value"), self.best(kind), strict=True)) for kind in TESTED}
        undefined = np.isnan(self.pearson).any()
        reason = "all systems have the same F, or people's same score" if undefined else None
        return core.public_shape(self._kind, self, f=None, best=best, reason=reason)


def parse_betas(text: str) -> tuple[float, ...]:
    """Read ``FIRST:LAST:STEP``, both ends included, or betas between commas, as exact decimals.

    UsageError if it is neither, a beta is below 0, or there are more than :data:`MOST_BETAS`.
    """
    try:
        if ":" in text:
            first, last, step = (Decimal(part) for part in text.split(":"))
            count = int((last - first) / step) + 1 if step > 0 and last >= first >= 0 else 0
            betas = [first + step * number for number in range(min(count, MOST_BETAS + 1))]
        else:
            betas = [Decimal(part) for part in text.split(",")]
    except (InvalidOperation, ValueError, OverflowError):
        betas = []
    fits = all(beta.is_finite() and beta >= 0 for beta in betas)
    if not 0 < len(betas) <= MOST_BETAS or not fits:
        fix = "Write 0.01:1.0:0.01, or 0.25,0.5,1; at least 0."
        raise core.UsageError(f"{text!r} names no betas", fix=fix)
    return tuple(float(beta) for beta in betas)


def sweep_beta(
    column: core.MetricScores, human: Mapping[str, float], betas: Sequence[float],
    *, metric: str | None = None, human_name: str = "human scores",
    systems: Sequence[str] | None = None, drop: Sequence[str] = (), choice: Choice | None = None,
    rescorer: Rescorer | None = None, notes: Sequence[str] = (),
) -> BetaSweep:  # fmt: skip
    """Correlate a metric of all betas, at least 0, with people's scores.

    The metric's scores have statistics, or the parts ``precision`` and ``recall``. For ``human``,
    ``systems`` and ``drop`` see :func:`correlate_systems`; ``metric`` and ``human_name`` are what
    the two are called in the answer. Where the ``choice`` is open, the metric is scored anew if the
    scores hold their statistics, by a ``rescorer`` such as :func:`grammeter.verbs.rescored`.

    It is a DataError if a system stands on one side only, or has no precision, recall or human
    score; if the metric is to be scored anew and cannot, or is no F of its precision and recall and
    must be.
    """
    if choice is not None:
        core.UnknownNameError.check("choice", choice, get_args(Choice))
    name = metric or column.metric
    chosen = select_systems(tuple(column), human, systems=systems, drop=drop)
    check_judged(chosen, human)
    criterion = np.array([human[system] for system in chosen])
    weights = np.array(betas, dtype=np.float64)
    anew: core.FloatArray | None = None
    if choice != "fixed" and rescorer is not None:
        rows = [rescorer(column, chosen, beta) for beta in betas]
        sign = 1.0 if column.higher_is_better else -1.0
        anew = None if any(row is None for row in rows) else np.array(rows) * sign
    if anew is None and choice == "anew":
        fault = f"{name} cannot be scored anew: the file holds no statistics of it, or no beta"
        fix = "Score with 'grammeter score -o FILE', or keep precision and recall fixed."
        raise core.DataError(fault, fix=fix)
    done: Choice = "fixed" if anew is None else "anew"
    f = _fixed(name, column, chosen, weights) if anew is None else anew
    settings = {"meta-human": human_name, "meta-systems": len(chosen), "meta-betas": len(weights)}
    signature = column.signature.extended({**settings, "meta-choice": done})
    figures = (weights, f, stats.pearson(f, criterion), stats.spearman(f, criterion))
    said = (*notes, *_beta_notes(name, column, f, done))
    return BetaSweep(name, human_name, chosen, signature, done, *figures, said)


def f_measures(
    precision: core.FloatArray, recall: core.FloatArray, betas: core.FloatArray
) -> core.FloatArray:
    """Return F-measures, shape ``(betas, systems)``; 0 where undefined."""
    squared = (betas**2)[:, None]
    below = squared * precision + recall
    above = (1 + squared) * precision * recall
    return np.divide(above, below, out=np.zeros(below.shape), where=below > 0)


def swept_metric(table: core.ScoreTable) -> str:
    """Return the only metric of a table that can be swept.

    It is the one with precision and recall, or, if none has these, the one with a beta. If there
    is none this raises DataError, if there are several UsageError.
    """
    names = [n for n, c in table.items() if any(set(PARTS) <= set(s.parts) for s in c.values())]
    names = names or [n for n, c in table.items() if c.statistics and "beta" in dict(c.signature)]
    if not names:
        fix = "Score with one that has, such as m2, or add the columns 'precision recall'."
        raise core.DataError("no metric of this file has precision and recall", fix=fix)
    if len(names) > 1:
        fault = f"several metrics have a weight of recall: {', '.join(names)}"
        raise core.UsageError(fault, fix="Say which: -m METRIC")
    return names[0]


def _fixed(
    name: str, column: core.MetricScores, systems: Sequence[str], betas: core.FloatArray
) -> core.FloatArray:
    """Make F from precision and recall as they were measured, shape ``(betas, systems)``."""
    parts = [[column[system].parts.get(part, math.nan) for system in systems] for part in PARTS]
    for part, values in zip(PARTS, parts, strict=True):
        for system, value in zip(systems, values, strict=True):
            if not math.isfinite(value):
                fix = "Give the scores of a metric that has precision and recall, such as m2."
                raise core.DataError(f"{name}: no {part} of {system!r}", fix=fix)
    precision, recall = map(np.array, parts)
    beta = dict(column.signature).get("beta")
    if beta is not None:
        values = np.array([column[system].value for system in systems])
        made = f_measures(precision, recall, np.array([float(beta)]))
        if not np.allclose(made, values, 0, _NEAR):
            fault = f"{name} is no F of its precision and recall: at its own beta {beta} F differs"
            fix = "Score with 'grammeter score -o FILE' and let the metric be scored anew at each"
            fix += " beta (--choice anew)."
            raise core.DataError(fault, fix=fix)
    return f_measures(precision, recall, betas)


def _beta_notes(
    name: str, column: core.MetricScores, f: core.FloatArray, choice: Choice
) -> Iterator[str]:
    """Say how the figures may differ from those of the metric at each beta."""
    if choice == "fixed":
        beta = dict(column.signature).get("beta")
        at = f"beta {beta}" if beta else "its own beta"
        yield (f"F is made from precision and recall as measured at {at}; {name} scored at another"
               " beta may choose other annotators or average other F-measures")  # fmt: skip
    elif len(f) > 1 and (f == f[0]).all():
        yield f"beta has no effect on {name}: its scores are the same at all"
    yield from notes_of_few_systems(f.shape[1])
    if len(f) > 1:
        yield "the best beta was chosen on the very systems that its coefficient is reported for"
