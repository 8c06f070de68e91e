r"""Two-player games with draws: their assumptions, and the corrections that update two ratings.

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

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from statistics import NormalDist

import numpy as np

from grammeter.core import BoolArray, FloatArray, UsageError, require

Play = Callable[..., None]  # as `play_games`
_DEEP = 20.0
_FRACTIONS = 20


@dataclass(frozen=True)
class GameModel:
    """The assumptions of TrueSkill (Herbrich, Minka and Graepel 2006), for two players.

    ``sigma`` is the standard deviation of a rating before the first of ``games`` games, its mean 0;
    ``beta`` that of a performance around the rating; ``tau`` what a rating's deviation gains before
    each game; ``draw_probability``, of two equal players, sets the draw margin.
    """

    sigma: float
    beta: float
    tau: float
    draw_probability: float
    games: int

    def __post_init__(self) -> None:
        possible = min(self.sigma, self.beta) > 0 and self.tau >= 0 and self.games >= 1
        finite = all(map(math.isfinite, (self.sigma, self.beta, self.tau)))
        if not (possible and finite and 0 < self.draw_probability < 1):
            fix = "sigma, beta, games are above 0, tau is not below, the draw probability 0 to 1."
            raise UsageError(f"TrueSkill with {self}", fix=fix)

    @cached_property
    def margin(self) -> float:
        """How near two performances of a draw are, in units of the ratings."""
        return NormalDist().inv_cdf((self.draw_probability + 1) / 2) * math.sqrt(2) * self.beta


def corrections(t: FloatArray, margin: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``v`` and ``w`` for arrays of games, shape ``(3, *t.shape)``; see :func:`correction`.

    They are for a draw, the first winning, and the second: an outcome of -1, 0 or 1 is the index.
    """
    v, w = np.empty((3, *t.shape)), np.empty((3, *t.shape))
    x = np.empty((2, *t.shape))
    np.subtract(t, margin, out=x[0])
    np.subtract(-t, margin, out=x[1])
    hazard = 1 / _mills(x)
    np.multiply(hazard, hazard + x, out=w[1:])
    v[1] = hazard[0]
    np.negative(hazard[1], out=v[2])
    near, far = -x.max(axis=0), x.min(axis=0)
    ratio = np.exp(-2 * margin * np.abs(t))  # of the densities at the two bounds
    mass = _mills(near) - ratio * _mills(far)
    draw = (ratio - 1) / mass
    np.copysign(draw, -t, out=v[0])
    np.add(draw * draw, (near - ratio * far) / mass, out=w[0])
    return v, w


def _mills(x: FloatArray) -> FloatArray:
    from scipy.special import erfcx  # pyright: ignore[reportMissingTypeStubs]

    return np.asarray(erfcx(x / -math.sqrt(2))) * math.sqrt(math.pi / 2)


def correction(t: float, margin: float, outcome: int) -> tuple[float, float]:
    """Return ``v`` and ``w`` for one game, exact to rounding however surprising the result.

    ``t`` and ``margin`` are in deviations of the difference of the means, first less second;
    ``outcome`` is 1 if the first won, -1 if the second did, 0 for a draw.
    """
    if outcome:
        hazard, gap = _hazard(outcome * t - margin)
        return outcome * hazard, hazard * gap
    # all is scaled by the density at the nearer bound, so that nothing vanishes
    near, far = margin - abs(t), -margin - abs(t)
    ratio = math.exp(-2 * margin * abs(t))  # of the densities at the two bounds
    mass = 1 / _hazard(near)[0] - ratio / _hazard(far)[0]
    v = (ratio - 1) / mass
    return math.copysign(v, -t), v * v + (near - ratio * far) / mass


def _hazard(x: float) -> tuple[float, float]:
    """Return ``phi(x) / Phi(x)`` and the same plus ``x``, which is small far to the left."""
    if x > -_DEEP:
        hazard = math.exp(-0.5 * x * x) / (math.sqrt(math.pi / 2) * math.erfc(-x / math.sqrt(2)))
        return hazard, hazard + x
    gap = 0.0
    for number in range(_FRACTIONS, 0, -1):  # Laplace's continued fraction of the Mills ratio
        gap = number / (gap - x)
    return gap - x, gap


def play_games(
    mean: FloatArray, variance: FloatArray, wins: FloatArray, decided: FloatArray,
    allowed: BoolArray, uniform: FloatArray, beta: float, tau: float, margin: float,
) -> None:  # fmt: skip
    """Play games of one run, one after the other; ratings are changed in place.

    In :mod:`grammeter.ranking.trueskill` numpy plays all runs side by side. Here a run is a plain
    loop, which numba compiles where it is installed (extra ``fast``). Both draw the same random
    numbers and agree to rounding.

    Systems stand in descending order of their names; ``mean`` and ``variance``, shape ``(n,)``, the
    latter 0 where a system never plays. ``wins`` and ``decided``, shape ``(n, n)``, are the shares
    of the judgments of each pair that prefer the first, and either; ``allowed`` says which pairs
    were compared; ``uniform``, shape ``(games, 2)``, has two random numbers for each game.
    """
    n = len(mean)
    sums = np.empty(n)
    for for_opponent, for_outcome in uniform:
        first = 0
        for system in range(1, n):
            if variance[system] > variance[first]:
                first = system
        total = 0.0
        for system in range(n):
            if allowed[first, system]:
                total += math.exp(-abs(mean[system] - mean[first]))
            sums[system] = total
        second = 0
        while sums[second] < (1 - for_opponent) * total:
            second += 1
        outcome = 0
        if for_outcome < wins[first, second]:
            outcome = 1
        elif for_outcome < decided[first, second]:
            outcome = -1
        one, other = variance[first] + tau**2, variance[second] + tau**2
        spread = math.sqrt(2 * beta**2 + one + other)
        v, w = correction((mean[first] - mean[second]) / spread, margin / spread, outcome)
        mean[first] += one * v / spread
        mean[second] -= other * v / spread
        variance[first] = one * (1 - one * w / spread**2)
        variance[second] = other * (1 - other * w / spread**2)


@cache
def compiled() -> Play | None:
    """Return :func:`play_games` as machine code; ``None`` where numba is not installed."""
    if find_spec("numba") is None:
        return None
    njit = require("numba", extra="fast").njit
    inlined = require("numba.extending", extra="fast").register_jitable
    for function in (_hazard, correction):
        inlined(function)
    try:
        return njit(cache=True)(play_games)
    except RuntimeError:  # no folder to keep machine code in
        return njit(play_games)
