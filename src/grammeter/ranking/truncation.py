r"""What one game tells: the corrections by which TrueSkill updates two ratings.

The difference of two performances is Gaussian. A result says on which side of a margin it lies,
and the mean and variance of the truncated Gaussian follow (Herbrich, Minka and Graepel 2006,
TrueSkill, figure 2). With ``t`` the difference of the two means and ``margin`` the draw margin,
both in units of the deviation of the difference, :math:`\varphi` and :math:`\Phi` density and
distribution function of the normal distribution::

    first wins    x = t - margin     v = phi(x) / Phi(x)       w = v (v + x)
    second wins   x = -t - margin    v = -phi(x) / Phi(x)      w = v (v - x)
    draw          the interval from -margin to margin

The mean of the first moves up by ``v`` and that of the second down, each by its own share; ``w``
is the loss of variance, 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from grammeter.core import FloatArray

_LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)
_DEEP = 20.0
_FRACTIONS = 20
_SIZES = (8, 16, 32, 64, 128)
_ACCURACY = 1e-14

LONGEST_REACH = 2.5
"""Beyond this many deviations the probability of a draw, as a difference, loses digits."""


def correction(t: float, margin: float, outcome: int) -> tuple[float, float]:
    """Return ``v`` and ``w`` for one game, exact to rounding however surprising the result.

    Parameters
    ----------
    t
        Difference of the means, first less second, in deviations of the difference.
    margin
        Draw margin, likewise; above 0.
    outcome
        1 if the first won, -1 if the second won, 0 for a draw.
    """
    if outcome:
        hazard, gap = _hazard(outcome * t - margin)
        return outcome * hazard, hazard * gap
    return _draw_correction(t, margin)


def _draw_correction(t: float, margin: float) -> tuple[float, float]:
    """Scale everything by the density at the nearer bound, so that nothing vanishes."""
    near, far = margin - abs(t), -margin - abs(t)
    ratio = math.exp(-2 * margin * abs(t))  # of the densities at the two bounds
    mass = 1 / _hazard(near)[0] - ratio / _hazard(far)[0]
    v = (ratio - 1) / mass
    return math.copysign(v, -t), v * v + (near - ratio * far) / mass


def _hazard(x: float) -> tuple[float, float]:
    """Return ``phi(x) / Phi(x)`` and the same plus ``x``, which is small far to the left."""
    if x > -_DEEP:
        hazard = math.exp(-0.5 * x * x - _LOG_ROOT_TWO_PI) / (0.5 * math.erfc(-x / math.sqrt(2)))
        return hazard, hazard + x
    gap = 0.0
    for number in range(_FRACTIONS, 0, -1):  # Laplace's continued fraction of the Mills ratio
        gap = number / (gap - x)
    return gap - x, gap


def log_cdf(x: float) -> float:
    """Return the logarithm of the normal distribution function; ``x`` above -37."""
    if x > 0:
        return math.log1p(-0.5 * math.erfc(x / math.sqrt(2)))
    return math.log(0.5 * math.erfc(-x / math.sqrt(2)))


class CorrectionCurves:
    """The corrections for arrays of games, from numpy alone.

    The logarithm of the distribution function is a Chebyshev series over the range that the
    games need, from the exact function. The range is narrow where ratings differ little beside
    the noise of a game, and four terms do; games outside it are computed one by one. Both agree
    with :func:`correction` to 1e-14 for narrow ranges and, for margins of .05 or more, to 1e-10.

    Parameters
    ----------
    reach
        The largest ``|t|`` that the series serves; at most :data:`LONGEST_REACH`.
    least_margin, largest_margin
        Range of the margins.
    """

    def __init__(self, reach: float, least_margin: float, largest_margin: float) -> None:
        self.reach: float = min(reach, LONGEST_REACH)
        low, high = -largest_margin - self.reach, -least_margin + self.reach
        self._middle: float = (low + high) / 2
        self._half: float = (high - low) / 2

    def __call__(self, t: FloatArray, margin: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``v`` and ``w`` for each outcome.

        Parameters
        ----------
        t, margin
            Of the same shape; see :func:`correction`.

        Returns
        -------
        v, w
            Shape ``(3, *t.shape)``: for a draw, for the first winning, for the second winning,
            so that an outcome of -1, 0 or 1 is the index.
        """
        far = np.abs(t) > self.reach
        some_far = bool(far.any())
        v, w = self._inside(np.where(far, 0.0, t) if some_far else t, margin)
        if some_far:
            for at in zip(*np.nonzero(far), strict=True):
                for outcome in (0, 1, -1):
                    exact = correction(float(t[at]), float(margin[at]), outcome)
                    v[outcome, *at], w[outcome, *at] = exact
        return v, w

    def _inside(self, t: FloatArray, margin: FloatArray) -> tuple[FloatArray, FloatArray]:
        v, w = np.empty((3, *t.shape)), np.empty((3, *t.shape))
        x = np.empty((2, *t.shape))
        np.subtract(t, margin, out=x[0])
        np.subtract(-t, margin, out=x[1])
        log_cdf = _summed(self._series, (x - self._middle) / self._half)
        hazard = np.exp(-0.5 * x * x - _LOG_ROOT_TWO_PI - log_cdf)
        np.multiply(hazard, hazard + x, out=w[1:])
        v[1] = hazard[0]
        np.negative(hazard[1], out=v[2])
        cdf = np.exp(log_cdf)
        density = hazard * cdf
        draw = 1 - cdf[0] - cdf[1]
        np.divide(density[1] - density[0], draw, out=v[0])
        x *= density
        np.subtract(v[0] * v[0], (x[0] + x[1]) / draw, out=w[0])
        return v, w

    @cached_property
    def _series(self) -> list[float]:
        def exact(z: FloatArray) -> FloatArray:
            return np.array([log_cdf(self._middle + self._half * each) for each in z.tolist()])

        series: list[float] = _interpolated(exact).tolist()
        return [*series, 0.0] if len(series) == 1 else series


def _summed(series: Sequence[float], z: FloatArray) -> FloatArray:
    """Return a Chebyshev series of two terms or more at some places (Clenshaw's recurrence).

    As numpy's ``chebval``, to the last bit, without what that does before it begins.
    """
    *rest, low, high = series
    twice, sums = 2 * z, (np.asarray(low), np.asarray(high))
    for coefficient in reversed(rest):
        sums = coefficient - sums[1], sums[0] + sums[1] * twice
    return sums[0] + sums[1] * z


def _interpolated(function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return a Chebyshev series on -1 to 1, no longer than the accuracy needs."""
    for size in _SIZES:
        angles = (np.arange(size) + 0.5) * (math.pi / size)
        values = function(np.cos(angles))
        base = float(values.mean())  # apart, so that no rounding error of it spreads
        cosines = np.cos(np.outer(np.arange(size), angles))
        series: FloatArray = (cosines * (values - base)).sum(axis=1) * (2 / size)
        series[0] = series[0] / 2 + base
        least = _ACCURACY * np.abs(series).max()
        if np.abs(series[-3:]).max() < least:
            return series[: int(np.flatnonzero(np.abs(series) >= least)[-1]) + 1]
    raise AssertionError(f"no series of {_SIZES[-1]} terms: the range is too wide")
