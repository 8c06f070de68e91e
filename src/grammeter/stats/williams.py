"""Williams' test of whether one variable correlates better with a third than another does.

The two correlations share the third variable and the units, so they are not independent
(Williams 1959; Steiger 1980, equation 7; for metrics Graham & Baldwin 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grammeter.core import BoolArray, DataError, FloatArray
from grammeter.stats.correlation import CoefficientName, average_ranks, pearson
from grammeter.stats.pvalues import SMALLEST

FEWEST = 4
"""Units that the test needs: it has n - 3 degrees of freedom."""

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class WilliamsMatrix:
    """Tests between every two variables: row against column, whether the row is better.

    Attributes
    ----------
    correlations
        Shape ``(variables,)``: with the criterion.
    between
        Shape ``(variables, variables)``: with each other.
    t, pvalue
        Shape ``(variables, variables)``; one-sided. NaN where the row's correlation with the
        criterion is not the greater one, or the test is undefined.
    """

    correlations: FloatArray
    between: FloatArray
    t: FloatArray
    pvalue: FloatArray


def williams_test(
    first: FloatArray, second: FloatArray, between: FloatArray, n: int
) -> tuple[FloatArray, FloatArray]:
    """Test whether the first correlation is greater than the second.

    With ``R = 1 - f**2 - s**2 - b**2 + 2fsb`` and ``m = (f + s) / 2``::

        t = (f - s) * sqrt((n - 1)(1 + b) / (2R(n - 1) / (n - 3) + m**2 (1 - b)**3))

    Parameters
    ----------
    first, second
        Correlations of two variables with a criterion, any shapes that broadcast.
    between
        The correlation of the two with each other.
    n
        Number of units.

    Returns
    -------
    t, pvalue
        ``pvalue`` is one-sided, ``P(t(n - 3) > t)``: above one half where the first is the
        smaller one, and never 0. NaN where a correlation is, where the two variables agree or
        oppose perfectly, and where t would be infinite.

    Raises
    ------
    DataError
        If there are fewer than 4 units.
    """
    if n < FEWEST:
        raise DataError(
            f"Williams' test needs {FEWEST} units at least, here are {n}",
            fix="Give more of them, or do without the test.",
        )
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    spread = 2 * np.maximum(determinant, 0.0) * (n - 1) / (n - 3)  # rounding may go below 0
    mean = (first + second) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = (n - 1) * (1 + between) / (spread + mean**2 * (1 - between) ** 3)
        t: FloatArray = np.where(first == second, 0.0, (first - second) * np.sqrt(scale))
    undefined = np.isnan(first + second + between) | perfect(between) | np.isinf(t)
    t = np.where(undefined, np.nan, t)
    return t, upper_tail(t, n - 3)


def perfect(between: FloatArray) -> BoolArray:
    """Whether two variables are one up to scale and sign: there is nothing to test."""
    return np.abs(between) > 1 - _ROUNDING


def williams_matrix(
    criterion: FloatArray, variables: FloatArray, kind: CoefficientName = "pearson"
) -> WilliamsMatrix:
    """Test every variable against every other.

    Only the signed condition counts: a variable that correlates at -0.9 is worse than one at
    0.1. For Spearman's coefficients the same formula is used, as in Chollampatt & Ng 2018.

    Parameters
    ----------
    criterion
        Shape ``(n,)``.
    variables
        Shape ``(variables, n)``.
    kind
        ``pearson`` or ``spearman``.

    Raises
    ------
    DataError
        If there are fewer than 4 units.
    ValueError
        For Kendall's coefficient, for which the test is not derived.
    """
    if kind == "kendall":
        raise ValueError("Williams' test is for Pearson's and Spearman's coefficients")
    rows = np.vstack([criterion, variables]).astype(np.float64)
    rows = average_ranks(rows) if kind == "spearman" else rows
    matrix = pearson(rows[:, None], rows[None, :])
    correlations, between = matrix[0, 1:], matrix[1:, 1:]
    first, second = correlations[:, None], correlations[None, :]
    t, pvalue = williams_test(first, second, between, rows.shape[1])
    better = first > second
    return WilliamsMatrix(
        correlations, between, np.where(better, t, np.nan), np.where(better, pvalue, np.nan)
    )


def upper_tail(t: FloatArray, degrees: int) -> FloatArray:
    """Return ``P(T > t)`` of Student's distribution, at least the smallest positive float."""
    from scipy.special import stdtr  # pyright: ignore[reportMissingTypeStubs]

    tail: FloatArray = np.maximum(np.asarray(stdtr(degrees, -t)), SMALLEST)
    return tail
