"""Bootstrap over sufficient statistics: sums are resampled, the data are never counted again.

A score that is a function of sums over units (sentences) needs only those sums for a
resample. One matrix of counts, how often each resample holds each unit, serves all samples
(systems) and all statistics (metrics): ``counts @ rows``. Sharing it is also what makes the
comparison *paired*.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from grammeter.core import FloatArray, tell

CELLS = 2**21
"""Most numbers in one working array, so that memory is bounded."""


@dataclass(frozen=True, eq=False)
class PairedSamples:
    """Several samples of the same units, and a statistic that is a function of their sums.

    Attributes
    ----------
    rows
        Shape ``(samples, units, k)``; row ``u`` of every sample belongs to the same unit.
        Kept as :func:`on_grid` rounds them.
    value_of
        Maps sums of rows, shape ``(..., k)``, to values, shape ``(...)``.
    """

    rows: FloatArray
    value_of: Callable[[FloatArray], FloatArray]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", on_grid(self.rows))

    @property
    def observed(self) -> FloatArray:
        """The statistic of each whole sample, shape ``(samples,)``."""
        return self.value_of(self.rows.sum(axis=1))

    def sums(self, weights: FloatArray) -> FloatArray:
        """Weight units and add them up: ``(resamples, units)`` to ``(resamples, samples, k)``."""
        samples, units, k = self.rows.shape
        flat = self.rows.transpose(1, 0, 2).reshape(units, samples * k)
        with np.errstate(invalid="ignore"):  # a NaN stays in its own column
            return (weights @ flat).reshape(len(weights), samples, k)


def on_grid(rows: FloatArray) -> FloatArray:
    """Round rows so that all their resampled sums are exact, in any order of addition.

    That order depends on the number of threads and on the processor, and the last digits of
    float sums on that order. Each column gets a power of two as its grid, which leaves 52 bits
    for the largest sum possible: whole numbers stay as they are, others change by less than
    ``units * 2**-52`` of the largest row.

    Parameters
    ----------
    rows
        Shape ``(samples, units, k)``; resamples give the units a total weight of ``units``.
    """
    finite = np.isfinite(rows)
    largest = np.max(np.abs(rows), axis=(0, 1), where=finite, initial=0.0) * rows.shape[1]
    _, exponent = np.frexp(largest)
    grid: FloatArray = np.ldexp(1.0, exponent.astype(np.int64) - 52)
    return np.rint(rows / grid) * grid


def generator(seed: int) -> np.random.Generator:
    """Return the random numbers of a seed: PCG64, independent of numpy's global state."""
    return np.random.Generator(np.random.PCG64(seed))


def count_units(groups: Sequence[PairedSamples]) -> int:
    """Return the number of units that all groups share.

    Raises
    ------
    ValueError
        If there is no unit, or the groups differ.
    """
    sizes = {group.rows.shape[1] for group in groups}
    if len(sizes) != 1 or 0 in sizes:
        raise ValueError(f"paired samples need the same units, at least one; found {sizes}")
    return sizes.pop()


def chunks(resamples: int, width: int) -> Iterator[int]:
    """Split a number of resamples so that an array of ``width`` columns stays small."""
    at_once = max(1, CELLS // max(width, 1))
    for start in range(0, resamples, at_once):
        yield min(at_once, resamples - start)


def resample_counts(
    units: int, resamples: int, *, seed: int, width: int = 1
) -> Iterator[FloatArray]:
    """Draw bootstrap resamples: how often each holds each unit.

    Parameters
    ----------
    units, resamples
        Each resample draws ``units`` units with replacement, all equally likely.
    seed
        The same seed gives the same counts, in however many chunks they come.
    width
        Columns of the widest array that the caller makes of a chunk.

    Yields
    ------
    FloatArray
        Shape ``(some resamples, units)``; rows add up to ``units``.
    """
    random = generator(seed)
    for size in chunks(resamples, max(units, width)):
        drawn = random.integers(0, units, size=(size, units))
        drawn += np.arange(size)[:, None] * units
        counts = np.bincount(drawn.ravel(), minlength=size * units)
        yield counts.reshape(size, units).astype(np.float64)


def bootstrap(groups: Sequence[PairedSamples], *, resamples: int, seed: int) -> list[FloatArray]:
    """Compute each group's statistic on the same resamples (Efron & Tibshirani 1993, ch. 6).

    Returns
    -------
    list
        For each group, shape ``(samples, resamples)``; column ``r`` is the same resample in
        every row of every group.

    Raises
    ------
    ValueError
        If the groups have no or different units.
    """
    if not groups:
        return []
    width = max(group.rows.shape[0] * group.rows.shape[2] for group in groups)
    values = [np.empty((len(group.rows), resamples)) for group in groups]
    done = 0
    for counts in resample_counts(count_units(groups), resamples, seed=seed, width=width):
        part = slice(done, done + len(counts))
        for group, of_group in zip(groups, values, strict=True):
            of_group[:, part] = group.value_of(group.sums(counts)).T
        done += len(counts)
        tell("resamples", done, resamples)
    return values


def percentile_interval(values: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return the percentile interval (Efron & Tibshirani 1993, ch. 13).

    Parameters
    ----------
    values
        Shape ``(..., resamples)``.
    confidence
        Between 0 and 1; 0.95 takes the quantiles 0.025 and 0.975, interpolated linearly.

    Returns
    -------
    low, high
        Shape ``(...)``; NaN where one resample has no finite value.
    """
    tail = (1 - confidence) / 2
    finite = np.where(np.isfinite(values), values, np.nan)
    low, high = np.quantile(finite, [tail, 1 - tail], axis=-1)
    return low, high


def bca_interval(
    values: FloatArray, observed: float, jackknife: FloatArray, confidence: float
) -> tuple[float, float]:
    """Return the bias-corrected and accelerated interval (Efron 1987; Efron & Tibshirani ch. 14).

    With z the normal quantile of ``(1 - confidence) / 2``, the lower end is the quantile of the
    resamples at ``Phi(z0 + (z0 + z) / (1 - a (z0 + z)))``, the upper end that with ``-z``. The bias
    z0 is the normal quantile of the share of resamples below the observed value, equal ones by
    half; with d the mean of the jackknife values less each of them, the acceleration a is
    ``sum(d**3) / (6 sum(d**2)**1.5)``.

    Parameters
    ----------
    values
        Shape ``(resamples,)``, all finite.
    observed
        The statistic of the data themselves.
    jackknife
        Shape ``(units,)``: the statistic without each unit.
    confidence
        Between 0 and 1.

    Returns
    -------
    low, high
        NaN where all resamples lie on one side of the observed value, or the jackknife has no
        spread or no value somewhere.
    """
    share = float(np.mean(values < observed) + np.mean(values <= observed)) / 2
    away = jackknife.mean() - jackknife
    spread = float((away**2).sum())
    if not 0 < share < 1 or not spread > 0:
        return math.nan, math.nan
    normal = NormalDist()
    acceleration = float((away**3).sum()) / (6 * spread**1.5)
    bias, tail = normal.inv_cdf(share), normal.inv_cdf((1 - confidence) / 2)
    shifted = [bias + end for end in (tail, -tail)]
    at = [normal.cdf(bias + by / (1 - acceleration * by)) for by in shifted]
    low, high = np.quantile(values, at)
    return float(low), float(high)


def t_interval(values: Sequence[float], *, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of the mean of independent runs, by Student's t.

    Parameters
    ----------
    values
        One figure for each run.
    level
        0 to 1.

    Returns
    -------
    tuple of float
        Low and high end; NaN for fewer than two runs.
    """
    if len(values) < 2:
        return math.nan, math.nan
    from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs]

    quantile = float(stdtrit(len(values) - 1, 0.5 + level / 2))
    half = quantile * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    mean = float(np.mean(values))
    return mean - half, mean + half
