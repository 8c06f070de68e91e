"""Pearson's r, Spearman's rho and Kendall's tau, and how uncertain they are.

Units stand along the last axis; there is one coefficient for each row, NaN where it is undefined.
Observations may be resampled in whole units, such as sentences: what a coefficient needs is
computed once, and each resample is a product of matrices.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from grammeter.core import BoolArray, FloatArray, IntArray
from grammeter.stats.resample import percentile_interval, resample_counts

CoefficientName = Literal["pearson", "spearman", "kendall"]
KINDS: tuple[CoefficientName, ...] = get_args(CoefficientName)
TiePolicy = Literal["tau-a", "tau-b"]
"""The divisor of C - D, the concordant less the discordant pairs.

``tau-a``: all pairs. ``tau-b`` (Kendall 1945): the geometric mean of the pairs not tied in
either variable.
"""
TIE_POLICIES: tuple[TiePolicy, ...] = get_args(TiePolicy)
Coefficient = Callable[..., FloatArray]
"""Two variables, shapes that broadcast to ``(..., n)``, to coefficients, shape ``(...)``; with
weights as a third argument, unit ``u`` counts as if it stood there ``weights[u]`` times."""

ROUNDING = 4e-16  # so near to 1 or -1, for each unit, a coefficient is exactly that
FEWEST_FISHER: Mapping[CoefficientName, int] = {"pearson": 4, "spearman": 4, "kendall": 5}
"""Units that an interval by Fisher's z needs."""

_BLOCK = 2**21  # signs of pairs in one working array
SAME = "all resamples give the same value"  # the reason for no interval: it has no width


def pearson(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Pearson's product-moment coefficients, -1 to 1, shape ``(...)``.

    NaN where a variable is constant, holds a NaN or has fewer than two units; ``x`` and ``y`` have
    shapes that broadcast to ``(..., n)``.
    """
    return weighted_pearson(x, y, np.ones(np.shape(x)[-1:]))


def spearman(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Spearman's rank coefficients, Pearson's of :func:`average_ranks`."""
    return pearson(average_ranks(x), average_ranks(y))


def average_ranks(values: FloatArray) -> FloatArray:
    """Rank along the last axis, from 1, equal values by their mean; rows with a NaN are all NaN."""
    return _ranks(values, np.ones(np.shape(values)[-1:]))


def coefficients(kind: CoefficientName, *, ties: TiePolicy = "tau-b") -> Coefficient:
    """Return the function of this kind; ``ties`` concerns Kendall's only.

    Kendall's is NaN where a variable holds a NaN, or what ``C - D`` is divided by is 0.
    """
    kinds: dict[str, Coefficient] = {"pearson": weighted_pearson, "spearman": _spearman}
    of = kinds.get(kind, partial(_kendall, ties=ties))

    def coefficient(x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        return of(x, y, np.ones(np.shape(x)[-1:]) if weights is None else weights)

    return coefficient


def weighted_pearson(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return :func:`pearson` of units that count as often as ``weights``, ``(..., n)``, say."""
    dx, dy = _unit_deviations(x, weights), _unit_deviations(y, weights)
    coefficient: FloatArray = (weights * dx * dy).sum(axis=-1)
    perfect = np.abs(np.abs(coefficient) - 1) < ROUNDING * np.shape(dx)[-1]
    return np.where(perfect, np.sign(coefficient), coefficient)


def _spearman(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    return weighted_pearson(_ranks(x, weights), _ranks(y, weights), weights)


def _unit_deviations(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return deviations from the mean, of length 1; NaN where all values are equal."""
    values, weights = np.broadcast_arrays(np.asarray(values, dtype=np.float64), weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weights * values).sum(axis=-1, keepdims=True) / weights.sum(axis=-1, keepdims=True)
        away = values - mean
        away = away / np.max(np.abs(away), axis=-1, keepdims=True, initial=0.0)  # squares may be 0
        scaled: FloatArray = away / np.sqrt((weights * away * away).sum(axis=-1, keepdims=True))
    present = weights > 0
    lowest = np.min(np.where(present, values, np.inf), axis=-1, initial=np.inf)
    highest = np.max(np.where(present, values, -np.inf), axis=-1, initial=-np.inf)
    return np.where((~(highest > lowest))[..., None], np.nan, scaled)


def _ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    values = np.asarray(values, dtype=np.float64)
    column, row = values[..., :, None], values[..., None, :]
    below = ((row < column) * weights[..., None, :]).sum(axis=-1)
    equal = ((row == column) * weights[..., None, :]).sum(axis=-1)
    ranks = below + (equal + 1) / 2
    return np.where(np.isnan(values).any(axis=-1, keepdims=True), np.nan, ranks)


def _kendall(x: FloatArray, y: FloatArray, weights: FloatArray, ties: TiePolicy) -> FloatArray:
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    signs = _signs(x) * _signs(y)
    with np.errstate(invalid="ignore", divide="ignore"):
        coefficient: FloatArray = _pairs(signs, weights) / _tau_divisor(x, y, weights, ties)
    undefined = np.isnan(x).any(axis=-1) | np.isnan(y).any(axis=-1)
    return np.where(undefined, np.nan, np.clip(coefficient, -1.0, 1.0))


def _tau_divisor(x: FloatArray, y: FloatArray, weights: FloatArray, ties: TiePolicy) -> FloatArray:
    """Return what C - D is divided by; 0 divided by 0 is NaN."""
    untied_x, untied_y = (_pairs(np.abs(_signs(values)), weights) for values in (x, y))
    if ties == "tau-a":
        n = weights.sum(axis=-1)
        return np.where((untied_x == 0) | (untied_y == 0), 0.0, n * (n - 1) / 2)
    return np.sqrt(untied_x * untied_y)


def _signs(values: FloatArray) -> FloatArray:
    row, column = values[..., None, :], values[..., :, None]
    return (row < column).astype(np.float64) - (row > column)


def _pairs(matrix: FloatArray, weights: FloatArray) -> FloatArray:
    """Add up a symmetric matrix over pairs of units, each as often as its units stand there."""
    total: FloatArray = ((matrix @ weights[..., :, None])[..., 0] * weights).sum(axis=-1)
    return total / 2


def fisher_interval(
    coefficient: float, n: int, kind: CoefficientName = "pearson", *, confidence: float = 0.95
) -> tuple[float, float]:
    """Return an interval by Fisher's z, ``tanh(atanh(r) +- q * e)``.

    The standard error e is ``sqrt(1 / (n - 3))`` for Pearson's coefficient (Fisher 1921),
    ``sqrt((1 + r**2 / 2) / (n - 3))`` for Spearman's (Bonett & Wright 2000) and
    ``sqrt(0.437 / (n - 4))`` for Kendall's (Fieller, Hartley & Pearson 1957).

    NaN if the coefficient is, if it is 1 or -1, whose interval would have no width, or if there are
    fewer units than :data:`FEWEST_FISHER`.
    """
    if math.isnan(coefficient) or abs(coefficient) == 1 or n < FEWEST_FISHER[kind]:
        return math.nan, math.nan
    degrees = n - FEWEST_FISHER[kind] + 1
    variance = {"pearson": 1.0, "spearman": 1 + coefficient**2 / 2, "kendall": 0.437}[kind]
    half = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(variance / degrees)
    centre = math.atanh(coefficient)
    return math.tanh(centre - half), math.tanh(centre + half)


def bootstrap_coefficients(
    x: FloatArray, y: FloatArray, kind: CoefficientName = "pearson",
    *, resamples: int, seed: int, ties: TiePolicy = "tau-b",
) -> FloatArray:  # fmt: skip
    """Correlate bootstrap resamples of the units (Efron & Tibshirani 1993, section 6.1).

    Shape ``(resamples,)``; NaN where a resample is constant in one variable. The same seed draws
    the same units for any kind.
    """
    weighted = coefficients(kind, ties=ties)
    counts = resample_counts(len(x), resamples, seed=seed, width=len(x) ** 2)
    return np.concatenate([weighted(x, y, drawn) for drawn in counts])


def defined_interval(values: FloatArray, confidence: float) -> tuple[float, float, str | None]:
    """Return the percentile interval of the resamples that have a value.

    Low and high are NaN, with a reason, where a share of more than ``1 - confidence`` of the
    resamples has no value, so that they say little of the data, and where all have the same.
    """
    there = values[np.isfinite(values)]
    lost = len(values) - len(there)
    if not len(there) or lost > (1 - confidence) * len(values):
        return math.nan, math.nan, f"undefined in {lost} of {len(values)} resamples"
    low, high = percentile_interval(there, confidence)
    if np.isclose(low, high, rtol=0, atol=1e-12):
        return math.nan, math.nan, SAME
    return float(low), float(high), None


def clustered_coefficients(
    x: FloatArray, y: FloatArray, units: IntArray, counts: FloatArray
) -> Mapping[CoefficientName, FloatArray]:
    """Return Pearson's r, Spearman's rho and Kendall's tau-b of resamples, each ``(resamples,)``.

    NaN where a variable is constant in a resample. ``x``, ``y`` and ``units``, shape
    ``(observations,)``, are finite values and the number of the unit, from 0 on; ``counts``, shape
    ``(resamples, units)``, say how often each resample holds each unit: a row of ones is the data.
    """
    if not len(x):
        return {kind: np.full(len(counts), np.nan) for kind in KINDS}
    weights = counts[:, units]
    by_rank = weighted_pearson(weighted_ranks(x, weights), weighted_ranks(y, weights), weights)
    values = weighted_pearson(x, y, weights), by_rank, _unit_kendall(x, y, units, counts)
    return dict(zip(KINDS, values, strict=True))


def weighted_ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return average ranks, shape ``(resamples, observations)``, by one sort for all resamples."""
    distinct, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(distinct)))
    equal = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks: FloatArray = np.cumsum(equal, axis=1) - (equal - 1) / 2
    return ranks[:, place]


def _unit_kendall(x: FloatArray, y: FloatArray, units: IntArray, counts: FloatArray) -> FloatArray:
    """Add up the signs of all pairs of observations by their two units, once for all resamples."""
    order = np.argsort(units, kind="stable")
    present, starts = np.unique(units[order], return_index=True)
    ends = np.append(starts[1:], len(x))
    drawn, values = counts[:, present], (x[order], y[order])
    sums = np.zeros((3, len(counts)))
    step = max(1, _BLOCK * len(present) // len(x) ** 2)
    for first in range(0, len(present), step):
        some = starts[first : first + step]
        rows = slice(some[0], ends[first : first + step][-1])
        left, right = (np.sign(of[rows, None] - of) for of in values)
        for at, signs in enumerate((left * right, left * left, right * right)):
            by_unit = np.add.reduceat(np.add.reduceat(signs, starts, axis=1), some - some[0])
            sums[at] += (drawn[:, first : first + step] @ by_unit * drawn).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau: FloatArray = sums[0] / np.sqrt(sums[1] * sums[2])
    return np.clip(tau, -1.0, 1.0)


def row_coefficients(
    x: FloatArray, y: FloatArray
) -> tuple[dict[CoefficientName, FloatArray], tuple[BoolArray, ...]]:
    """Correlate each row of two tables, shape ``(rows, columns)``, where both are finite.

    Coefficients have shape ``(rows,)``, NaN where undefined. Beside them whether a row is undefined
    because it has fewer than two columns, else because ``y`` is constant, else because ``x`` is.
    """
    there = np.isfinite(x) & np.isfinite(y)
    few = there.sum(axis=1) < 2
    highest = [np.max(of, axis=1, where=there, initial=-np.inf) for of in (x, y)]
    lowest = [np.min(of, axis=1, where=there, initial=np.inf) for of in (x, y)]
    x_same, y_same = (~few & (low == high) for low, high in zip(lowest, highest, strict=True))
    known = [np.where(there, of, low[:, None]) for of, low in zip((x, y), lowest, strict=True)]
    weights = there.astype(np.float64)
    values: dict[CoefficientName, FloatArray] = {}
    for kind in KINDS:
        values[kind] = np.where(few, np.nan, coefficients(kind)(*known, weights))
    return values, (few, y_same, x_same & ~y_same)
