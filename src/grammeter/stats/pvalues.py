"""P-values of correlations: how often unrelated variables would agree so well.

Unrelated means that every order of the one variable is equally likely beside the other. Up to
:data:`EXACT` units every order is tried, ties and all; beyond, Student's t and the normal
approximation stand in, except at a coefficient of 1 or -1, of which they know nothing.
"""

from __future__ import annotations

import math
import sys
from functools import cache

import numpy as np
import numpy.typing as npt

from grammeter.core import FloatArray, IntArray

EXACT = 9
"""Up to so many units the p-values of rank coefficients are exact, with ties, too."""

EXACT_KENDALL = 33
"""Up to so many units without ties Kendall's p-value is exact; beyond, it is normal."""

SMALLEST = sys.float_info.min
"""The least p-value: none is 0, even where no float is small enough."""


def pearson_pvalue(x: FloatArray, y: FloatArray, coefficient: float) -> float:
    """Return the two-sided p-value of Pearson's coefficient.

    Student's t with n - 2 degrees of freedom. At 1 or -1 it would be 0; there it is the share of
    the orders of ``y`` that reach so much.
    """
    if abs(coefficient) == 1:
        return _perfect_pvalue(x)
    return _t_pvalue(coefficient, len(x))


def spearman_pvalue(x: FloatArray, y: FloatArray, coefficient: float) -> float:
    """Return the two-sided p-value of Spearman's coefficient; ``x`` and ``y`` are average ranks.

    Exact up to :data:`EXACT` units: the share of the orders with a coefficient at least so far
    from 0. Beyond, as :func:`pearson_pvalue`.
    """
    if len(x) > EXACT:
        return pearson_pvalue(x, y, coefficient)
    # twice the ranks less their mean: whole numbers, so that equal sums are equal
    ours, theirs = ((2 * ranks - len(x) - 1).astype(np.int64) for ranks in (x, y))
    return _share(theirs[_orders(len(x))] @ ours, int(ours @ theirs))


def kendall_pvalue(x: FloatArray, y: FloatArray) -> float:
    """Return the two-sided p-value of C - D, the concordant less the discordant pairs.

    Exact up to :data:`EXACT_KENDALL` units without ties and up to :data:`EXACT` with ties; else
    normal, the variance corrected for ties (Kendall 1970, chapter 4).
    """
    n = len(x)
    rows, columns = np.triu_indices(n, 1)
    ours, theirs = (np.sign(v[columns] - v[rows]).astype(np.int64) for v in (x, y))
    balance = int(ours @ theirs)
    if ours.all() and theirs.all() and n <= EXACT_KENDALL:
        return _exact_kendall((n * (n - 1) // 2 - abs(balance)) // 2, n)
    if n <= EXACT:
        return _share(_balances(ours, y), balance)
    below = math.sqrt(2 * _kendall_variance(x, y))
    return max(math.erfc(abs(balance) / below), SMALLEST) if below else 1.0


def _t_pvalue(coefficient: float, n: int) -> float:
    """Return ``P(|t| >= ...)``."""
    from scipy.special import betainc  # pyright: ignore[reportMissingTypeStubs]

    return max(float(betainc((n - 2) / 2, 0.5, 1 - coefficient**2)), SMALLEST)


def _perfect_pvalue(values: FloatArray) -> float:
    """Return the share of the orders of these values that lie on one line with them.

    Only equal values may change places, and all may be turned round where their distances read
    the same from both ends: then the line falls.
    """
    ordered = np.sort(values)
    middle = (ordered[0] + ordered[-1]) / 2
    turned = np.allclose(ordered - middle, middle - ordered[::-1], rtol=1e-9, atol=0)
    ties = np.unique(values, return_counts=True)[1].tolist()
    log = sum(math.lgamma(size + 1) for size in ties) - math.lgamma(len(values) + 1)
    return min(max(math.exp(log) * (1 + turned), SMALLEST), 1.0)


def _share(of_orders: IntArray, observed: int) -> float:
    """Return the share of all orders whose figure lies as far from 0 as the observed one."""
    return float(np.mean(np.abs(of_orders) >= abs(observed)))


@cache
def _orders(n: int) -> npt.NDArray[np.int8]:
    """Return all orders of n units, shape ``(n!, n)``, a byte a number."""
    orders: npt.NDArray[np.int8] = np.zeros((1, 1), dtype=np.int8)
    for size in range(2, n + 1):
        longer = [np.insert(orders, place, size - 1, axis=1) for place in range(size)]
        orders = np.concatenate(longer)
    return orders


def _balances(signs: IntArray, y: FloatArray) -> IntArray:
    """Return C - D for every order of ``y``; ``signs`` are those of the pairs of ``x``."""
    orders, n = _orders(len(y)), len(y)
    table = np.sign(y[None, :] - y[:, None]).astype(np.int8)
    balances = np.zeros(len(orders), dtype=np.int64)
    for sign, row, column in zip(signs.tolist(), *np.triu_indices(n, 1), strict=True):
        if sign:
            balances += sign * table[orders[:, row], orders[:, column]]
    return balances


def _exact_kendall(inversions: int, n: int) -> float:
    """Return twice the share of permutations with at most so many inversions, 1 at most."""
    shares = np.ones(1)
    for size in range(2, n + 1):
        shares = np.convolve(shares, np.full(size, 1 / size))
    return min(1.0, 2 * float(shares[: inversions + 1].sum()))


def _kendall_variance(x: FloatArray, y: FloatArray) -> float:
    """Return the variance of C - D of unrelated variables with these ties."""
    n = len(x)
    tx, ty = (np.unique(v, return_counts=True)[1].astype(np.float64) for v in (x, y))
    plain = n * (n - 1) * (2 * n + 5)
    plain -= sum(float((t * (t - 1) * (2 * t + 5)).sum()) for t in (tx, ty))
    pairs = float((tx * (tx - 1)).sum() * (ty * (ty - 1)).sum()) / (2 * n * (n - 1))
    triples = float((tx * (tx - 1) * (tx - 2)).sum() * (ty * (ty - 1) * (ty - 2)).sum())
    return plain / 18 + pairs + (triples / (9 * n * (n - 1) * (n - 2)) if n > 2 else 0.0)
