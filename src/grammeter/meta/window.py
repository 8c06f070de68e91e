"""Windows: correlations among systems that people find close.

Correlations over all systems are carried by the far ends of a ranking. Kobayashi et al. 2024
correlate N systems that follow each other in the human ranking, window by window. So few systems
give correlations that say little, the less so where people themselves cannot tell the systems
apart; so an interval and the human clusters stand beside each window.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, overload

import numpy as np

from grammeter import core, stats
from grammeter.meta.sides import best_first, select_systems
from grammeter.meta.system import chosen_columns, constant, correlations, oriented
from grammeter.meta.system_values import TESTED, Correlation, Design, direction, few_systems
from grammeter.ranking import plain

KIND = "meta-window"
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
        return plain(data | {"metrics": metrics})


@dataclass(frozen=True, repr=False)
class Windows(core.Result, Sequence[Window], kind=KIND):
    """All windows of one size, from the best systems down.

    ``systems`` are all who took part, best by people first; ``signatures`` are by metric.
    """

    size: int
    systems: tuple[str, ...]
    signatures: Mapping[str, core.Signature]
    windows: tuple[Window, ...]
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)

    @overload
    def __getitem__(self, index: int) -> Window: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Window, ...]: ...
    def __getitem__(self, index: int | slice) -> Window | tuple[Window, ...]:
        return self.windows[index]

    def __len__(self) -> int:
        return len(self.windows)

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
    said = (*table.notes_on(columns), *notes, *([alike_note] if alike else []), *few_systems(size))
    return Windows(size, chosen, signatures, tuple(windows), tuple(dict.fromkeys(said)))


def _clusters(clusters: tuple[int, ...] | None) -> str:
    return "-".join(map(str, sorted({min(clusters), max(clusters)}))) if clusters else ""
