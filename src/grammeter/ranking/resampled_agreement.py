"""Intervals of agreement from resampled sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from grammeter.core import FloatArray, IntArray, UsageError
from grammeter.stats import Coincidences, Interval, kappa_values, resample_counts

LEAST_SENTENCES = 10
"""Fewer sentences give no interval: a 95% interval would hold the truth in less than 90%."""

_MOST_UNDEFINED = 0.05
"""The share of resamples in which a figure may not exist."""


@dataclass(frozen=True, kw_only=True)
class Resamples:
    """Number of resamples of the sentences, seed, and the share that intervals cover.

    Raises
    ------
    UsageError
        If a number is out of range.
    """

    runs: int = 1000
    seed: int = 1
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if min(self.runs, self.seed) < 0 or not 0 < self.confidence < 1:
            raise UsageError(
                f"{self.runs} resamples, seed {self.seed}, confidence {self.confidence}",
                fix="Counts and seed are 0 or more, the confidence lies between 0 and 1.",
            )

    def shown(self) -> dict[str, object]:
        """Return the settings for a signature."""
        shown: dict[str, object] = {"resamples": self.runs}
        if self.runs:
            shown |= {"seed": self.seed, "confidence": f"{self.confidence:.10g}"}
        return shown


def kappa_interval(
    rows: Sequence[IntArray], alike: Sequence[int], resamples: Resamples
) -> Interval:
    """Return the interval of a mean kappa, weighted by comparisons.

    Parameters
    ----------
    rows
        For each kappa of the mean, shape ``(sentences, 2 + categories)``, from
        :func:`grammeter.stats.agreement.between_rows`.
    alike
        See :func:`grammeter.stats.agreement.kappa`.
    """
    if not rows:
        return Interval(np.nan, np.nan)  # the mean has a reason of its own
    table = np.stack(rows, axis=1).astype(np.float64)

    def mean(sums: FloatArray) -> FloatArray:
        kappas = kappa_values(sums.reshape(len(sums), *table.shape[1:]), alike=alike)
        weights = np.where(np.isnan(kappas), 0, sums.reshape(len(sums), *table.shape[1:])[..., 1])
        with np.errstate(invalid="ignore"):
            values: FloatArray = (np.nan_to_num(kappas) * weights).sum(axis=1) / weights.sum(axis=1)
        return values

    return _interval(table.reshape(len(table), -1), mean, resamples)


def alpha_interval(values: FloatArray, segments: IntArray, resamples: Resamples) -> Interval:
    """Return the interval of Krippendorff's alpha (ordinal).

    Parameters
    ----------
    values, segments
        Shape ``(units, observers)``, and the sentence of each unit.
    """
    coincidences = Coincidences.of(values, segments)
    size = len(coincidences.known)
    if size < 2:
        return Interval(np.nan, np.nan)  # alpha has a reason of its own
    table = np.concatenate(
        [coincidences.totals, coincidences.pairs.reshape(len(coincidences.pairs), -1)], axis=1
    )

    def alpha(sums: FloatArray) -> FloatArray:
        return coincidences.alpha(sums[:, :size], sums[:, size:].reshape(-1, size, size))

    return _interval(table, alpha, resamples)


def _interval(
    table: FloatArray, values_of: Callable[[FloatArray], FloatArray], resamples: Resamples
) -> Interval:
    """Resample the rows of sentences that hold anything; ``values_of`` maps sums to values."""
    chosen = table[table.any(axis=1)]
    if not resamples.runs:
        return _none("no resamples were asked for")
    if len(chosen) < LEAST_SENTENCES:
        return _none(f"an interval takes {LEAST_SENTENCES} sentences, here are {len(chosen)}")
    drawn = resample_counts(
        len(chosen), resamples.runs, seed=resamples.seed, width=4 * chosen.shape[1]
    )
    values = np.concatenate([values_of(counts @ chosen) for counts in drawn])
    values = values[~np.isnan(values)]
    if len(values) < (1 - _MOST_UNDEFINED) * resamples.runs:
        return _none("not defined in many of the resamples")
    tail = (1 - resamples.confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail]).tolist()
    if np.isclose(low, high, rtol=0, atol=1e-12):
        return _none("all resamples are equal, which gives no interval")
    return Interval(low, high)


def _none(reason: str) -> Interval:
    return Interval(np.nan, np.nan, reason)
