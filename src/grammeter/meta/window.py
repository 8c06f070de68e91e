"""Windows: correlations among systems that people find close.

Correlations over all systems are carried by the far ends of a ranking. Kobayashi et al. 2024
correlate N systems that follow each other in the human ranking, window by window. So few systems
give correlations that say little, the less so where people themselves cannot tell the systems
apart; so an interval and the human clusters stand beside each window.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from grammeter.core import FloatArray, MetricScores, ScoreTable, Signature, UsageError, json_number
from grammeter.meta.intervals import fisher
from grammeter.meta.selection import best_first, select_systems
from grammeter.meta.system_values import TESTED, Correlation, few_systems
from grammeter.stats import CoefficientName, correlate
from grammeter.version import __version__

KIND = "meta-window"

SIZE = 4
"""Systems of a window, as in the figures of Kobayashi et al. 2024."""

Coefficients = Mapping[CoefficientName, Correlation]
"""Pearson's and Spearman's correlation; NaN with a reason where one is undefined."""


@dataclass(frozen=True)
class Window:
    """Systems that follow each other in the human ranking.

    Attributes
    ----------
    first
        Human rank of the first system, from 1.
    systems
        Best by people first.
    clusters
        The human cluster of each, ``None`` where it is unknown.
    metrics
        Correlations by metric and kind.
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
        data: dict[str, Any] = {"ranks": [self.first, self.last], "systems": list(self.systems)}
        if self.clusters is not None:
            data |= {"clusters": list(self.clusters), "one_cluster": self.one_cluster}
        return data | {
            "metrics": {name: _flat(coefficients) for name, coefficients in self.metrics.items()}
        }


@dataclass(frozen=True)
class Windows(Sequence[Window]):
    """All windows of one size, from the best systems down.

    Attributes
    ----------
    systems
        Who took part, best by people first.
    signatures
        By metric.
    """

    size: int
    systems: tuple[str, ...]
    signatures: Mapping[str, Signature]
    windows: tuple[Window, ...]
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)
    """What was noticed while files were read."""

    @overload
    def __getitem__(self, index: int) -> Window: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Window, ...]: ...
    def __getitem__(self, index: int | slice) -> Window | tuple[Window, ...]:
        return self.windows[index]

    def __len__(self) -> int:
        return len(self.windows)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        return {
            "kind": KIND,
            "grammeter": __version__,
            "size": self.size,
            "systems": list(self.systems),
            "signatures": {name: str(signature) for name, signature in self.signatures.items()},
            "windows": [window.to_dict() for window in self.windows],
            "notes": [*self.notes],
        }


def correlate_windows(
    table: ScoreTable,
    human: Mapping[str, float],
    *,
    size: int = SIZE,
    clusters: Mapping[str, int] | None = None,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    metrics: Sequence[str] | None = None,
    confidence: float = 0.95,
    human_name: str = "human scores",
    notes: Sequence[str] = (),
) -> Windows:
    """Correlate metrics with people in each window of the human ranking.

    Parameters
    ----------
    table, human
        Scores by metrics and by people; higher human scores are better. A metric that is
        better when lower has its sign turned. Systems with equal human scores stand in the
        order of their names.
    size
        How many systems a window has, two at least.
    clusters
        By system, from a ranking.
    systems, drop
        Who takes part, see :func:`~grammeter.meta.selection.select_systems`.
    metrics
        Spellings, all in the table by default.
    confidence
        Of the intervals, by Fisher's z; there is none around a correlation of 1 or -1, nor with
        fewer than four systems.
    human_name
        What the human scores are, for the signature.
    notes
        What the reader of ``human`` must know.

    Raises
    ------
    DataError
        If a system stands on one side only, or people gave one that takes part no score.
    UsageError
        If there is no such metric, or no window of this size.
    """
    columns = {name: table[name] for name in (table if metrics is None else metrics)}
    chosen = select_systems(table.systems, human, systems=systems, drop=drop)
    chosen = best_first(sorted(chosen), human)  # so that no window depends on a file's order
    if not 2 <= size <= len(chosen) or not 0 < confidence < 1:
        raise UsageError(
            f"windows of {size} among {len(chosen)} systems, confidence {confidence:g}",
            fix=f"Take a size from 2 to {len(chosen)}, and a confidence between 0 and 1.",
        )
    shown = {"meta-human": human_name, "meta-systems": len(chosen), "meta-window": size}
    shown |= {"meta-interval": "fisher", "meta-confidence": confidence}
    spans = [chosen[start : start + size] for start in range(len(chosen) - size + 1)]
    windows = tuple(
        Window(
            place,
            span,
            tuple(clusters[name] for name in span) if clusters is not None else None,
            {name: _in_window(column, span, human, confidence) for name, column in columns.items()},
        )
        for place, span in enumerate(spans, start=1)
    )
    signatures = {name: _signature(column, shown) for name, column in columns.items()}
    alike = sum(window.one_cluster for window in windows)
    alike_note = f"people tell no two systems apart in {alike} of {len(windows)} windows"
    said = (*table.notes_on(columns), *notes, *([alike_note] if alike else []), *few_systems(size))
    return Windows(size, chosen, signatures, windows, tuple(dict.fromkeys(said)))


def _signature(column: MetricScores, shown: Mapping[str, object]) -> Signature:
    turned = {} if column.higher_is_better else {"meta-direction": "sign turned, lower is better"}
    return column.signature.extended({**shown, **turned})


def _in_window(
    column: MetricScores, systems: Sequence[str], human: Mapping[str, float], confidence: float
) -> dict[CoefficientName, Correlation]:
    sign = 1.0 if column.higher_is_better else -1.0
    values = [column[name].value if name in column.scores else math.nan for name in systems]
    scores, criterion = sign * np.array(values), np.array([human[name] for name in systems])
    return {kind: _correlation(scores, criterion, kind, confidence) for kind in TESTED}


def _correlation(
    scores: FloatArray, human: FloatArray, kind: CoefficientName, confidence: float
) -> Correlation:
    result = correlate(scores, human, kind)
    low, high, none = fisher(result.statistic, result.n, kind, confidence)
    reason = _undefined(scores, human) or result.reason or none
    return Correlation(result.statistic, low, high, result.pvalue, result.n, reason)


def _undefined(scores: FloatArray, human: FloatArray) -> str | None:
    """Say in words of the trade why there is no correlation."""
    if not np.isfinite(scores).all():
        return "a system here has no score by the metric"
    if np.min(scores) == np.max(scores):
        return "the metric gives all systems here the same score"
    return "people give all systems here the same score" if human[0] == human[-1] else None


def _flat(coefficients: Coefficients) -> dict[str, Any]:
    return dict(_flat_items(coefficients))


def _flat_items(coefficients: Coefficients) -> Iterator[tuple[str, Any]]:
    for kind, correlation in coefficients.items():
        yield kind, json_number(correlation.value)
    for kind, correlation in coefficients.items():
        low, high = json_number(correlation.low), json_number(correlation.high)
        yield f"{kind}_interval", None if low is None else [low, high]
    reasons = dict.fromkeys(
        correlation.reason for correlation in coefficients.values() if correlation.reason
    )
    if reasons:
        yield "reason", "; ".join(reasons)
