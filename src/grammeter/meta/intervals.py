"""Intervals of correlations between metrics and people."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from grammeter.core import FloatArray, IntArray, MetricScores
from grammeter.meta.judged import MEAN, JudgedScores
from grammeter.meta.system_values import Design
from grammeter.stats import (
    FEWEST_FISHER,
    SAME,
    CoefficientName,
    PairedSamples,
    bca_interval,
    bootstrap,
    bootstrap_coefficients,
    coefficients,
    defined_interval,
    fisher_interval,
)

Sampler = Callable[[MetricScores, Sequence[str]], PairedSamples | None]
"""Gathers the summable rows of some systems; ``None`` where the scores have no rows."""

FEWEST_RESAMPLED = 5
"""Systems that a bootstrap over systems needs: four allow only 35 different resamples."""

Interval = tuple[float, float, str | None]
"""The two ends, and why they are NaN if they are."""


def fisher(value: float, n: int, kind: CoefficientName, confidence: float) -> Interval:
    """Return the interval by Fisher's z."""
    if n < FEWEST_FISHER[kind]:
        return _none(_too_few(FEWEST_FISHER[kind], n))
    if abs(value) == 1:
        return _none("Fisher's z gives no interval around 1 or -1")
    return *fisher_interval(value, n, kind, confidence=confidence), None


def interval(
    value: float,
    scores: FloatArray,
    human: FloatArray,
    kind: CoefficientName,
    design: Design,
    resampled: FloatArray | str | None,
) -> Interval:
    """Return the interval that the design asks for.

    Parameters
    ----------
    value
        The coefficient of all systems.
    scores, human
        Shape ``(systems,)``.
    resampled
        What :func:`resampled_scores` gave for this metric.
    """
    if design.interval == "none":
        return _none("no interval was asked for")
    if design.interval == "fisher":
        return fisher(value, len(scores), kind, design.confidence)
    if isinstance(resampled, str):
        return _none(resampled)
    if resampled is not None:
        again = coefficients(kind, ties=design.ties)(resampled, human)
        return defined_interval(again, design.confidence)
    return _over_systems(value, scores, human, kind, design)


def _over_systems(
    value: float, scores: FloatArray, human: FloatArray, kind: CoefficientName, design: Design
) -> Interval:
    if len(scores) < FEWEST_RESAMPLED:
        return _none(_too_few(FEWEST_RESAMPLED, len(scores)))
    again = bootstrap_coefficients(
        scores, human, kind, resamples=design.resamples, seed=design.seed, ties=design.ties
    )
    if design.interval == "systems":
        return defined_interval(again, design.confidence)
    return _bca(value, scores, human, kind, design, again)


def resampled_scores(
    columns: Mapping[str, MetricScores],
    systems: Sequence[str],
    design: Design,
    sampler: Sampler | None,
) -> dict[str, FloatArray | str]:
    """Score all systems on resampled sentences, the same for all metrics.

    Returns shape ``(resamples, systems)`` by metric, or why there is nothing to resample.
    """
    if design.interval != "sentences":
        return {}
    groups = {name: _samples(column, systems, sampler) for name, column in columns.items()}
    there = {name: group for name, group in groups.items() if group is not None}
    drawn = bootstrap(list(there.values()), resamples=design.resamples, seed=design.seed)
    nothing = "no statistics and no segment scores to resample"
    scores: dict[str, FloatArray | str] = dict.fromkeys(columns, nothing)
    for name, values in zip(there, drawn, strict=True):
        scores[name] = values.T * (1.0 if columns[name].higher_is_better else -1.0)
    return scores


def without_each(n: int) -> IntArray:
    """Return the numbers of the other units for each of n, shape ``(n, n - 1)``."""
    return np.array([np.delete(np.arange(n), out) for out in range(n)])


def _bca(
    value: float,
    scores: FloatArray,
    human: FloatArray,
    kind: CoefficientName,
    design: Design,
    again: FloatArray,
) -> Interval:
    """Correct a bootstrap over systems; where it has no interval, nor has the corrected one."""
    low, high, reason = defined_interval(again, design.confidence)
    if reason is not None:
        return low, high, reason
    others = without_each(len(scores))
    jackknife = coefficients(kind, ties=design.ties)(scores[others], human[others])
    there = again[np.isfinite(again)]
    low, high = bca_interval(there, value, jackknife, design.confidence)
    if math.isnan(low):
        return _none("the correction is undefined: a bias or an acceleration without bounds")
    return (low, high, None) if low < high else _none(SAME)


def _samples(
    column: MetricScores, systems: Sequence[str], sampler: Sampler | None
) -> PairedSamples | None:
    if sampler is not None and all(name in column.statistics for name in systems):
        return sampler(column, systems)
    by_rank = isinstance(column, JudgedScores) and column.by != MEAN  # no mean of its sentences
    if by_rank or not all(name in column.segments for name in systems):
        return None
    values = np.array([column.segments[name].values for name in systems])
    there = np.isfinite(values) | (not isinstance(column, JudgedScores))
    rows = np.stack([np.where(there, values, 0.0), there.astype(np.float64)], axis=-1)
    return PairedSamples(rows, lambda sums: sums[..., 0] / np.maximum(sums[..., 1], 1))


def _too_few(fewest: int, n: int) -> str:
    return f"an interval needs {fewest} systems at least, here are {n}"


def _none(reason: str) -> Interval:
    return math.nan, math.nan, reason
