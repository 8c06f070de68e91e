"""Correlations between two variables: Pearson's r, Spearman's rho, Kendall's tau.

The coefficients are vectorised: :func:`pearson`, :func:`spearman` and :func:`coefficients` take
arrays whose last axis are the units and give one coefficient for each row, NaN where it is
undefined. :func:`correlate` adds a p-value and says why a coefficient is undefined;
:func:`fisher_interval` and :func:`bootstrap_coefficients` say how uncertain it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from grammeter.core import BoolArray, FloatArray
from grammeter.stats.pvalues import kendall_pvalue, pearson_pvalue, spearman_pvalue
from grammeter.stats.resample import percentile_interval, resample_counts

CoefficientName = Literal["pearson", "spearman", "kendall"]
KINDS: tuple[CoefficientName, ...] = get_args(CoefficientName)

TiePolicy = Literal["tau-a", "tau-b", "tau-c", "gamma"]
"""The divisor of C - D, the concordant less the discordant pairs.

``tau-a``: all pairs. ``tau-b`` (Kendall 1945): the geometric mean of the pairs not tied in
either variable. ``tau-c`` (Stuart 1953): what is possible with so few distinct values.
``gamma`` (Goodman and Kruskal 1954): C + D, ties left out.
"""
TIE_POLICIES: tuple[TiePolicy, ...] = get_args(TiePolicy)

Coefficient = Callable[[FloatArray, FloatArray], FloatArray]
"""Two variables, shapes that broadcast to ``(..., n)``, to coefficients, shape ``(...)``."""

ROUNDING = 4e-16
"""A coefficient this near to 1 or -1, for each unit, is exactly that; its p-value depends on it."""


FEWEST_FISHER: Mapping[CoefficientName, int] = {"pearson": 4, "spearman": 4, "kendall": 5}
"""Units that an interval by Fisher's z needs."""

SAME = "all resamples give the same value"
"""The reason for no interval where it would have no width."""


@dataclass(frozen=True, slots=True)
class Result:
    """A statistic, its two-sided p-value and the number of units.

    ``statistic`` and ``pvalue`` are NaN, with a ``reason``, where they are undefined.
    """

    statistic: float
    pvalue: float
    n: int
    reason: str | None = None


# --- coefficients --------------------------------------------------------------------------


def pearson(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Pearson's product-moment coefficients.

    Parameters
    ----------
    x, y
        Shapes that broadcast to ``(..., n)``.

    Returns
    -------
    FloatArray
        Shape ``(...)``, -1 to 1; NaN where a variable is constant, holds a NaN or has fewer
        than two units.
    """
    return _weighted_pearson(x, y, _once(x))


def spearman(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Spearman's rank coefficients, Pearson's of :func:`average_ranks`.

    Shapes and NaN as for :func:`pearson`.
    """
    return pearson(average_ranks(x), average_ranks(y))


def average_ranks(values: FloatArray) -> FloatArray:
    """Rank along the last axis, from 1; equal values share the mean of their ranks.

    All ranks of a row that holds a NaN are NaN.
    """
    return _weighted_ranks(values, _once(values))


def coefficients(kind: CoefficientName, *, ties: TiePolicy = "tau-b") -> Coefficient:
    """Return the function of this kind; ``ties`` concerns Kendall's only.

    Kendall's is NaN where a variable holds a NaN, or what ``C - D`` is divided by is 0.
    """
    weighted = _weighted(kind, ties)

    def coefficient(x: FloatArray, y: FloatArray) -> FloatArray:
        return weighted(x, y, _once(x))

    return coefficient


_Weighted = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def _once(values: FloatArray) -> FloatArray:
    """Return weights that count every unit once."""
    return np.ones(np.asarray(values).shape[-1:], dtype=np.float64)


def _weighted(kind: CoefficientName, ties: TiePolicy) -> _Weighted:
    """Return the function that counts unit ``u`` as if it stood there ``weights[u]`` times."""
    if kind == "pearson":
        return _weighted_pearson
    if kind == "kendall":
        return lambda x, y, weights: _weighted_kendall(x, y, weights, ties)
    return lambda x, y, weights: _weighted_pearson(
        _weighted_ranks(x, weights), _weighted_ranks(y, weights), weights
    )


def _weighted_pearson(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    dx, dy = _unit_deviations(x, weights), _unit_deviations(y, weights)
    coefficient: FloatArray = (weights * dx * dy).sum(axis=-1)
    perfect = np.abs(np.abs(coefficient) - 1) < ROUNDING * np.shape(dx)[-1]
    return np.where(perfect, np.sign(coefficient), coefficient)


def _unit_deviations(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return deviations from the mean, of length 1; NaN where all values are equal."""
    values, weights = np.broadcast_arrays(np.asarray(values, dtype=np.float64), weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weights * values).sum(axis=-1, keepdims=True) / weights.sum(axis=-1, keepdims=True)
        away = values - mean
        away = away / np.max(np.abs(away), axis=-1, keepdims=True, initial=0.0)  # squares may be 0
        length = np.sqrt((weights * away * away).sum(axis=-1, keepdims=True))
        scaled: FloatArray = away / length
    return np.where(_constant(values, weights)[..., None], np.nan, scaled)


def _constant(values: FloatArray, weights: FloatArray) -> BoolArray:
    """Whether the units present have one value; compared as they are, for a mean is rounded."""
    present = weights > 0
    lowest = np.min(np.where(present, values, np.inf), axis=-1, initial=np.inf)
    highest = np.max(np.where(present, values, -np.inf), axis=-1, initial=-np.inf)
    return ~(highest > lowest)


def _weighted_ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return average ranks; a unit of weight 2 takes two ranks and has their mean."""
    values = np.asarray(values, dtype=np.float64)
    column, row = values[..., :, None], values[..., None, :]
    below = ((row < column) * weights[..., None, :]).sum(axis=-1)
    equal = ((row == column) * weights[..., None, :]).sum(axis=-1)
    ranks = below + (equal + 1) / 2
    return np.where(np.isnan(values).any(axis=-1, keepdims=True), np.nan, ranks)


def _weighted_kendall(
    x: FloatArray, y: FloatArray, weights: FloatArray, ties: TiePolicy
) -> FloatArray:
    counts = _pair_counts(x, y, weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        coefficient: FloatArray = counts.balance / counts.divisor(ties)
    return np.where(counts.defined, np.clip(coefficient, -1.0, 1.0), np.nan)


@dataclass(frozen=True, slots=True)
class _PairCounts:
    """Pairs of units, each of shape ``(...)``; ``balance`` is C - D, ``decided`` C + D.

    ``x_ties`` and ``y_ties`` are pairs with equal values there, in both variables or in one;
    ``fewest`` is the smaller number of distinct values, ``n`` the number of units.
    """

    balance: FloatArray
    decided: FloatArray
    x_ties: FloatArray
    y_ties: FloatArray
    fewest: FloatArray
    n: FloatArray
    defined: BoolArray

    @property
    def all(self) -> FloatArray:
        return self.n * (self.n - 1) / 2

    def divisor(self, ties: TiePolicy) -> FloatArray:
        """Return what C - D is divided by; 0 divided by 0 is NaN."""
        if ties == "gamma":
            return self.decided
        if ties == "tau-c":
            return self.n**2 * (self.fewest - 1) / (2 * self.fewest)
        constant = (self.x_ties == self.all) | (self.y_ties == self.all)
        if ties == "tau-a":
            return np.where(constant, 0.0, self.all)
        return np.sqrt((self.all - self.x_ties) * (self.all - self.y_ties))


def _pair_counts(x: FloatArray, y: FloatArray, weights: FloatArray) -> _PairCounts:
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    order = _signs(x) * _signs(y)
    return _PairCounts(
        balance=_pairs_where(order, weights) / 2,
        decided=_pairs_where(np.abs(order), weights) / 2,
        x_ties=_tied_pairs(x, weights),
        y_ties=_tied_pairs(y, weights),
        fewest=np.minimum(_distinct(x, weights), _distinct(y, weights)),
        n=weights.sum(axis=-1),
        defined=np.asarray(~(np.isnan(x).any(axis=-1) | np.isnan(y).any(axis=-1))),
    )


def _signs(values: FloatArray) -> FloatArray:
    row, column = values[..., None, :], values[..., :, None]
    return (row < column).astype(np.float64) - (row > column)


def _pairs_where(chosen: FloatArray, weights: FloatArray) -> FloatArray:
    """Add up a matrix over ordered pairs of units, each as often as its units stand there."""
    total: FloatArray = ((chosen @ weights[..., :, None])[..., 0] * weights).sum(axis=-1)
    return total


def _tied_pairs(values: FloatArray, weights: FloatArray) -> FloatArray:
    equal = (values[..., None, :] == values[..., :, None]).astype(np.float64)
    return (_pairs_where(equal, weights) - weights.sum(axis=-1)) / 2


def _distinct(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the number of distinct values among the units present."""
    equal = values[..., None, :] == values[..., :, None]
    size: FloatArray = (equal * (weights > 0)[..., None, :]).sum(axis=-1).astype(np.float64)
    count: FloatArray = np.rint(((weights > 0) / np.maximum(size, 1.0)).sum(axis=-1))
    return count


# --- p-values ------------------------------------------------------------------------------


def correlate(
    x: FloatArray, y: FloatArray, kind: CoefficientName = "pearson", *, ties: TiePolicy = "tau-b"
) -> Result:
    """Correlate two variables and test whether they are unrelated.

    The tests are those of :mod:`grammeter.stats.pvalues`: exact for ranks of fewer than ten
    units, and never 0.

    Parameters
    ----------
    x, y
        Shape ``(n,)``.

    Returns
    -------
    Result
        NaN with a reason for fewer than two units, missing values, and constant variables.

    Raises
    ------
    ValueError
        If the two differ in length.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"two variables of one length are due, not {x.shape} and {y.shape}")
    reason = _undefined(x, y)
    if reason:
        return Result(math.nan, math.nan, len(x), reason)
    value = float(coefficients(kind, ties=ties)(x, y))
    if math.isnan(value):
        return Result(value, value, len(x), "every pair is tied in one of the variables")
    return Result(value, _pvalue(x, y, kind, value), len(x))


def _pvalue(x: FloatArray, y: FloatArray, kind: CoefficientName, value: float) -> float:
    if kind == "kendall":
        return kendall_pvalue(x, y)
    if kind == "spearman":
        return spearman_pvalue(average_ranks(x), average_ranks(y), value)
    return pearson_pvalue(x, y, value)


def _undefined(x: FloatArray, y: FloatArray) -> str | None:
    if len(x) < 2:
        return f"a correlation needs 2 units at least, here are {len(x)}"
    missing = int((~np.isfinite(x) | ~np.isfinite(y)).sum())
    if missing:
        return f"{missing} of {len(x)} units have no value"
    for name, values in (("first", x), ("second", y)):
        if np.min(values) == np.max(values):
            return f"the {name} variable is constant"
    return None


# --- intervals -----------------------------------------------------------------------------


def fisher_interval(
    coefficient: float, n: int, kind: CoefficientName = "pearson", *, confidence: float = 0.95
) -> tuple[float, float]:
    """Return an interval by Fisher's z, ``tanh(atanh(r) +- q * e)``.

    The standard error e is ``sqrt(1 / (n - 3))`` for Pearson's coefficient (Fisher 1921),
    ``sqrt((1 + r**2 / 2) / (n - 3))`` for Spearman's (Bonett & Wright 2000) and
    ``sqrt(0.437 / (n - 4))`` for Kendall's (Fieller, Hartley & Pearson 1957).

    Returns
    -------
    low, high
        NaN if the coefficient is, if it is 1 or -1, whose interval would have no width, or if
        there are fewer units than :data:`FEWEST_FISHER`.
    """
    if math.isnan(coefficient) or abs(coefficient) == 1 or n < FEWEST_FISHER[kind]:
        return math.nan, math.nan
    degrees = n - FEWEST_FISHER[kind] + 1
    variance = {"pearson": 1.0, "spearman": 1 + coefficient**2 / 2, "kendall": 0.437}[kind]
    half = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(variance / degrees)
    centre = math.atanh(coefficient)
    return math.tanh(centre - half), math.tanh(centre + half)


def bootstrap_coefficients(
    x: FloatArray,
    y: FloatArray,
    kind: CoefficientName = "pearson",
    *,
    resamples: int,
    seed: int,
    ties: TiePolicy = "tau-b",
) -> FloatArray:
    """Correlate bootstrap resamples of the units (Efron & Tibshirani 1993, section 6.1).

    Parameters
    ----------
    x, y
        Shape ``(n,)``.

    Returns
    -------
    FloatArray
        Shape ``(resamples,)``; NaN where a resample is constant in one variable. The same seed
        draws the same units for any kind.
    """
    weighted = _weighted(kind, ties)
    counts = resample_counts(len(x), resamples, seed=seed, width=len(x) ** 2)
    return np.concatenate([weighted(x, y, drawn) for drawn in counts])


def defined_interval(values: FloatArray, confidence: float) -> tuple[float, float, str | None]:
    """Return the percentile interval of the resamples that have a value.

    Returns
    -------
    low, high, reason
        NaN, with the reason, where a share of more than ``1 - confidence`` of the resamples has
        no value, so that they say little of the data, and where all have the same.
    """
    there = values[np.isfinite(values)]
    lost = len(values) - len(there)
    if not len(there) or lost > (1 - confidence) * len(values):
        return math.nan, math.nan, f"undefined in {lost} of {len(values)} resamples"
    low, high = percentile_interval(there, confidence)
    if low == high:
        return math.nan, math.nan, SAME
    return float(low), float(high), None
