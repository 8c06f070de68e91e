"""Correlations of observations that are resampled in whole units, such as sentences, or by row.

What a coefficient needs is computed once; each resample is a product of matrices.
"""

import numpy as np

from grammeter.core import BoolArray, FloatArray, IntArray
from grammeter.stats.correlation import KINDS, CoefficientName, coefficients, weighted_pearson

_BLOCK = 2**21  # signs of pairs in one working array

Coefficients = dict[CoefficientName, FloatArray]


def clustered_coefficients(
    x: FloatArray, y: FloatArray, units: IntArray, counts: FloatArray
) -> Coefficients:
    """Return Pearson's r, Spearman's rho and Kendall's tau-b of resamples, each ``(resamples,)``.

    NaN where a variable is constant in a resample. ``x``, ``y`` and ``units``, shape
    ``(observations,)``, are finite values and the number of the unit, from 0 on; ``counts``, shape
    ``(resamples, units)``, say how often each resample holds each unit: a row of ones is the data.
    """
    if not len(x):
        return {kind: np.full(len(counts), np.nan) for kind in KINDS}
    weights = counts[:, units]
    by_rank = weighted_pearson(_ranks(x, weights), _ranks(y, weights), weights)
    values = weighted_pearson(x, y, weights), by_rank, _kendall(x, y, units, counts)
    return dict(zip(KINDS, values, strict=True))


def _ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return average ranks, shape ``(resamples, observations)``, by one sort for all resamples."""
    distinct, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(distinct)))
    equal = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks: FloatArray = np.cumsum(equal, axis=1) - (equal - 1) / 2
    return ranks[:, place]


def _kendall(x: FloatArray, y: FloatArray, units: IntArray, counts: FloatArray) -> FloatArray:
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


def row_coefficients(x: FloatArray, y: FloatArray) -> tuple[Coefficients, tuple[BoolArray, ...]]:
    """Correlate each row of two tables, shape ``(rows, columns)``, where both are finite.

    Coefficients have shape ``(rows,)``, NaN where undefined. Beside them whether a row is undefined
    because it has fewer than two columns, else because ``y`` is constant, else because ``x`` is.
    """
    there = np.isfinite(x) & np.isfinite(y)
    count = there.sum(axis=1)
    first = np.argsort(~there, axis=1, kind="stable")
    x, y = (np.take_along_axis(of, first, axis=1) for of in (x, y))
    values: Coefficients = {kind: np.full(len(x), np.nan) for kind in KINDS}
    constant = np.zeros((2, len(x)), dtype=np.bool_)
    for size in np.unique(count[count > 1]):
        rows = np.flatnonzero(count == size)
        sides = [of[rows, :size] for of in (y, x)]
        constant[:, rows] = [of.max(axis=1) == of.min(axis=1) for of in sides]
        for kind, of in values.items():
            of[rows] = coefficients(kind)(sides[1], sides[0])
    few = count < 2
    return values, (few, constant[0], constant[1] & ~constant[0])
