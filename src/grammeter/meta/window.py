"""Windows: correlations among systems that people find close.

Correlations over all systems are carried by the far ends of a ranking. Kobayashi et al. 2024
correlate N systems that follow each other in the human ranking, window by window. So few systems
give correlations that say little, the less so where people themselves cannot tell the systems
apart; so an interval and the human clusters stand beside each window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from grammeter.core import MetricScores, ScoreTable, Signature, UsageError, json_number
from grammeter.meta.sides import best_first, select_systems
from grammeter.meta.system import constant, correlations, oriented
from grammeter.meta.system_values import TESTED, Correlation, Design, direction, few_systems
from grammeter.stats import CoefficientName
from grammeter.version import __version__

KIND = "meta-window"

SIZE = 4
"""Systems of a window, as in the figures of Kobayashi et al. 2024."""

Coefficients = Mapping[CoefficientName, Correlation]
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
        data: dict[str, Any] = {"ranks": [self.first, self.last], "systems": list(self.systems)}
        if self.clusters is not None:
            data |= {"clusters": list(self.clusters), "one_cluster": self.one_cluster}
        return data | {"metrics": {name: _flat(figures) for name, figures in self.metrics.items()}}


def _flat(coefficients: Coefficients) -> dict[str, Any]:
    data: dict[str, Any] = {kind: json_number(c.value) for kind, c in coefficients.items()}
    for kind, c in coefficients.items():
        low, high = json_number(c.low), json_number(c.high)
        data[f"{kind}_interval"] = None if low is None else [low, high]
    reasons = dict.fromkeys(c.reason for c in coefficients.values() if c.reason)
    return data | ({"reason": "; ".join(reasons)} if reasons else {})


@dataclass(frozen=True)
class Windows(Sequence[Window]):
    """All windows of one size, from the best systems down.

    ``systems`` are all who took part, best by people first; ``signatures`` are by metric.
    """

    size: int
    systems: tuple[str, ...]
    signatures: Mapping[str, Signature]
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
    table, human, systems, drop, metrics, notes
        See :func:`correlate_systems`. Systems with equal human scores stand in the order of their
        names.
    size
        How many systems a window has, two at least.
    clusters
        By system, from a ranking.
    confidence
        Of the intervals, by Fisher's z; there is none around a correlation of 1 or -1, nor with
        fewer than four systems.
    human_name
        What the human scores are, for the signature.

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
    design = Design(confidence=confidence)
    spans = [chosen[start : start + size] for start in range(len(chosen) - size + 1)]
    windows = tuple(
        Window(
            place,
            span,
            tuple(clusters[name] for name in span) if clusters is not None else None,
            {name: _in_window(column, span, human, design) for name, column in columns.items()},
        )
        for place, span in enumerate(spans, start=1)
    )
    shown = {"meta-human": human_name, "meta-systems": len(chosen), "meta-window": size}
    shown |= {"meta-interval": "fisher", "meta-confidence": confidence}
    signatures = {
        name: column.signature.extended({**shown, **direction(column)})
        for name, column in columns.items()
    }
    alike = sum(window.one_cluster for window in windows)
    alike_note = f"people tell no two systems apart in {alike} of {len(windows)} windows"
    said = (*table.notes_on(columns), *notes, *([alike_note] if alike else []), *few_systems(size))
    return Windows(size, chosen, signatures, windows, tuple(dict.fromkeys(said)))


def _in_window(
    column: MetricScores, systems: Sequence[str], human: Mapping[str, float], design: Design
) -> dict[CoefficientName, Correlation]:
    scores, criterion = oriented(column, systems), np.array([human[name] for name in systems])
    undefined = "a system here has no score by the metric"
    if np.isfinite(scores).all():
        undefined = constant(scores, criterion, "all systems here")
    return correlations(scores, criterion, design, undefined, kinds=TESTED)
