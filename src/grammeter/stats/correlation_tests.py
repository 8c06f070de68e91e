"""Tests of correlations: is one different from 0, and does one variable correlate better.

Unrelated means that every order of the one variable is equally likely beside the other. Up to
:data:`EXACT` units every order is tried, ties and all; beyond, Student's t and the normal
approximation stand in, except at a coefficient of 1 or -1, of which they know nothing.
"""

import math
import sys
from dataclasses import dataclass
from functools import cache
from itertools import chain, permutations

import numpy as np
import numpy.typing as npt

from grammeter.core import BoolArray, FloatArray
from grammeter.stats.correlation import CoefficientName, TiePolicy, average_ranks, coefficients

EXACT = 9  # up to so many units the p-values of rank coefficients are exact, with ties, too
EXACT_KENDALL = 33  # up to so many units without ties Kendall's p-value is exact, then normal
SMALLEST = sys.float_info.min  # the least p-value: none is 0, even where no float is small enough
FEWEST = 4  # units that Williams' test needs: it has n - 3 degrees of freedom
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Result:
    """A statistic, its two-sided p-value and the number of units; NaN with a ``reason``."""

    statistic: float
    pvalue: float
    n: int
    reason: str | None = None


def correlate(
    x: FloatArray, y: FloatArray, kind: CoefficientName = "pearson", *, ties: TiePolicy = "tau-b"
) -> Result:
    """Correlate two variables, shape ``(n,)``, and test whether they are unrelated.

    The test is exact for ranks of fewer than ten units, and its p-value never 0. The result is
    NaN with a reason for fewer than two units, missing values, and constant variables.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if reason := _undefined(x, y):
        return Result(math.nan, math.nan, len(x), reason)
    value = float(coefficients(kind, ties=ties)(x, y))
    if math.isnan(value):
        return Result(value, value, len(x), "every pair is tied in one of the variables")
    if kind == "kendall":
        pvalue = _kendall_pvalue(x, y)
    elif kind == "spearman" and len(x) <= EXACT:
        # twice the ranks less their mean: whole numbers, so that equal sums are equal
        one, other = (2 * average_ranks(v) - len(x) - 1 for v in (x, y))
        one, other = one.astype(np.int64), other.astype(np.int64)
        pvalue = _share(other[_orders(len(x))] @ one, int(one @ other))
    elif abs(value) == 1:
        pvalue = _perfect_pvalue(x if kind == "pearson" else average_ranks(x))
    else:  # P(|t| >= ...) of Student's t with n - 2 degrees of freedom
        from scipy.special import betainc  # pyright: ignore[reportMissingTypeStubs]

        pvalue = max(float(betainc((len(x) - 2) / 2, 0.5, 1 - value**2)), SMALLEST)
    return Result(value, pvalue, len(x))


def _undefined(x: FloatArray, y: FloatArray) -> str | None:
    if len(x) < 2:
        return f"a correlation needs 2 units at least, here are {len(x)}"
    if missing := int((~np.isfinite(x) | ~np.isfinite(y)).sum()):
        return f"{missing} of {len(x)} units have no value"
    constant = [name for name, of in (("first", x), ("second", y)) if of.min() == of.max()]
    return f"the {constant[0]} variable is constant" if constant else None


def _kendall_pvalue(x: FloatArray, y: FloatArray) -> float:
    """Return the two-sided p-value of C - D, the concordant less the discordant pairs.

    Exact up to :data:`EXACT_KENDALL` units without ties and up to :data:`EXACT` with ties; else
    normal, the variance corrected for ties (Kendall 1970, chapter 4).
    """
    n = len(x)
    rows, columns = np.triu_indices(n, 1)
    signs, others = (np.sign(v[columns] - v[rows]).astype(np.int64) for v in (x, y))
    balance = int(signs @ others)
    if signs.all() and others.all() and n <= EXACT_KENDALL:
        shares = np.ones(1)  # of permutations, by their inversions
        for size in range(2, n + 1):
            shares = np.convolve(shares, np.full(size, 1 / size))
        fewest = (n * (n - 1) // 2 - abs(balance)) // 2
        return min(1.0, 2 * float(shares[: fewest + 1].sum()))
    if n <= EXACT:
        # of every order of y; a balance of so few units fits into a byte
        of = np.unique(y, return_inverse=True)[1].astype(np.int8)[_orders(n)]
        return _share(np.sign(of[:, columns] - of[:, rows]) @ signs.astype(np.int8), balance)
    below = math.sqrt(2 * _kendall_variance(x, y))
    return max(math.erfc(abs(balance) / below), SMALLEST) if below else 1.0


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


def _share(of_orders: npt.NDArray[np.integer], observed: int) -> float:
    return float(np.mean(np.abs(of_orders) >= abs(observed)))


@cache
def _orders(n: int) -> npt.NDArray[np.int8]:
    return np.fromiter(chain.from_iterable(permutations(range(n))), np.int8).reshape(-1, n)


def _kendall_variance(x: FloatArray, y: FloatArray) -> float:
    """Return the variance of C - D of unrelated variables with these ties."""
    n = len(x)
    tx, ty = (np.unique(v, return_counts=True)[1].astype(np.float64) for v in (x, y))
    plain = n * (n - 1) * (2 * n + 5)
    plain -= sum(float((t * (t - 1) * (2 * t + 5)).sum()) for t in (tx, ty))
    pairs = float((tx * (tx - 1)).sum() * (ty * (ty - 1)).sum()) / (2 * n * (n - 1))
    triples = float((tx * (tx - 1) * (tx - 2)).sum() * (ty * (ty - 1) * (ty - 2)).sum())
    return plain / 18 + pairs + (triples / (9 * n * (n - 1) * (n - 2)) if n > 2 else 0.0)


@dataclass(frozen=True, eq=False)
class WilliamsMatrix:
    """Tests between every two variables: row against column, whether the row is better.

    All have shape ``(variables, variables)``: the correlations ``between`` the variables, ``t``,
    and the one-sided ``pvalue``, ``P(t(n - 3) > t)``, never 0. The latter two are NaN where the
    row's correlation is not the greater one, the two agree or oppose perfectly, or t is infinite.
    """

    between: FloatArray
    t: FloatArray
    pvalue: FloatArray


def williams_matrix(
    criterion: FloatArray, variables: FloatArray, kind: CoefficientName = "pearson"
) -> WilliamsMatrix:
    """Test every variable, shape ``(variables, n)``, against every other.

    Williams' test (Williams 1959; Steiger 1980, equation 7; for metrics Graham & Baldwin 2014) is
    for two correlations f and s that share a criterion, shape ``(n,)``, and the units. With b that
    between the two, ``R = 1 - f**2 - s**2 - b**2 + 2fsb`` and ``m = (f + s) / 2``::

        t = (f - s) * sqrt((n - 1)(1 + b) / (2R(n - 1) / (n - 3) + m**2 (1 - b)**3))

    Only the signed condition counts: a variable that correlates at -0.9 is worse than one at 0.1.
    For Spearman's coefficients the same formula is used, as in Chollampatt & Ng 2018; for Kendall's
    the test is not derived. It takes :data:`FEWEST` units at least.
    """
    from scipy.special import stdtr  # pyright: ignore[reportMissingTypeStubs]

    rows, n = np.vstack([criterion, variables]).astype(np.float64), len(criterion)
    matrix = coefficients(kind)(rows[:, None], rows[None, :])
    first, second, between = matrix[1:, :1], matrix[:1, 1:], matrix[1:, 1:]
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    spread = 2 * np.maximum(determinant, 0.0) * (n - 1) / (n - 3)  # rounding may go below 0
    mean = (first + second) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = (n - 1) * (1 + between) / (spread + mean**2 * (1 - between) ** 3)
        t: FloatArray = (first - second) * np.sqrt(scale)
    t = np.where((first > second) & ~perfect(between) & ~np.isinf(t), t, np.nan)
    return WilliamsMatrix(between, t, np.maximum(np.asarray(stdtr(n - 3, -t)), SMALLEST))


def perfect(between: FloatArray) -> BoolArray:
    """Whether two variables are one up to scale and sign: there is nothing to test."""
    return np.abs(between) > 1 - _ROUNDING
