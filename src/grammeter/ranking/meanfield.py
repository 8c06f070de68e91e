r"""TrueSkill without chance: what the means tend to when many random games are averaged.

With the noise of one game large beside the ratings, each game moves a mean a little, and the
average over runs follows a differential equation in the number of games. A game's first system
is the one with the largest variance. As variances only ever fall, that rule keeps them equal; so
the share q of games in which a system comes first is the one that makes all expected losses of
variance equal. Its opponent is drawn with probability P proportional to exp(-difference of the
means), and the outcome from the judgments of the pair. With G = q P + (q P)^T the rate of games
of each pair, the means and variances change by G times their expected updates. Heun's method
solves this from the prior on.

Where a system is drawn as an opponent so often that it loses more than the others without ever
coming first (the middle of a star of comparisons), its share is 0 and the others' are equal.

This limit stands in none of the papers; the tests hold it against the simulation. From the
published scores of 2015 it differs by at most .0010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grammeter.core import BoolArray, FloatArray, IntArray
from grammeter.ranking.game import GameModel, corrections

STEPS = 100
"""Errors fall with the square: 3e-8 on the judgments of 2015 with these, 1e-6 on those of SEEDA."""

_TOLERANCE = 1e-9
_PORTIONS = 200


def mean_field(
    wins: IntArray, ties: IntArray, model: GameModel, *, steps: int = STEPS
) -> FloatArray:
    """Compute the expected means after all games.

    Parameters
    ----------
    wins, ties
        Shape ``(n, n)``: how often the row beat the column, and how often they tied.
    model
        Settings of the games.
    steps
        How many steps of Heun's method.

    Returns
    -------
    FloatArray
        Shape ``(n,)``, in units of the ratings; NaN for a system that was never compared.
    """
    judged = wins + wins.T + ties
    there = judged.any(axis=1)
    means = np.full(len(wins), np.nan)
    if there.any():
        field = _Field.of(wins[np.ix_(there, there)], ties[np.ix_(there, there)], model, steps)
        means[there] = field.solve(steps)
    return means


@dataclass(frozen=True, eq=False)
class _Field:
    """What does not change during the games.

    ``outcomes`` has shape ``(3, n, n)``: the share of draws, of wins of the row and of the
    column among a pair's judgments, in the order of ``corrections``; ``allowed`` whether the
    pair was compared; ``stride`` the number of games in a step.
    """

    outcomes: FloatArray
    allowed: BoolArray
    model: GameModel
    stride: float

    @classmethod
    def of(cls, wins: IntArray, ties: IntArray, model: GameModel, steps: int) -> _Field:
        judged = wins + wins.T + ties
        counts = np.stack((ties, wins, wins.T))
        shares = np.divide(counts, judged, out=np.zeros(counts.shape), where=judged > 0)
        return cls(shares, judged > 0, model, model.games / steps)

    def solve(self, steps: int) -> FloatArray:
        state = np.zeros((2, len(self.allowed)))  # means, variances
        state[1] = self.model.sigma**2
        for _ in range(steps):
            slope = self._slope(state)
            ahead = self._slope(state + self.stride * slope)
            state = state + self.stride / 2 * (slope + ahead)
        return state[0]

    def _slope(self, state: FloatArray) -> FloatArray:
        """Return the expected change of means and variances per game."""
        mean, variance = state
        rise, fall = self._updates(mean, variance + self.model.tau**2)
        chance = np.exp(-np.abs(mean[:, None] - mean)) * self.allowed
        chance /= chance.sum(axis=1, keepdims=True)
        first = _first_shares(chance, fall, variance, self.stride)
        games = first[:, None] * chance
        games += games.T
        return np.stack(((games * rise).sum(axis=1), -(games * fall).sum(axis=1)))

    def _updates(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gain in mean and the loss of variance of the row in a game with the column."""
        total = 2 * self.model.beta**2 + variance[:, None] + variance
        spread = np.sqrt(total)
        v, w = corrections((mean[:, None] - mean) / spread, self.model.margin / spread)
        expected_v, expected_w = (self.outcomes * v).sum(axis=0), (self.outcomes * w).sum(axis=0)
        rise = variance[:, None] / spread * expected_v
        fall = variance[:, None] ** 2 / total * expected_w - self.model.tau**2
        return rise, fall


def _first_shares(
    chance: FloatArray, fall: FloatArray, variance: FloatArray, stride: float
) -> FloatArray:
    """Return how often each system comes first, so that variances are equal after the step.

    That cannot be where some systems are in so many games as opponents that they lose more than
    the others without ever coming first. Who does come first is then found by always taking the
    largest variance, in small portions of the step.
    """
    losses = chance.T * fall + np.diag((chance * fall).sum(axis=1))
    scale = np.abs(losses).mean()
    losses, excess = losses / scale, (variance - variance.max()) / (stride * scale)
    shares = _equal_losses(losses, excess)
    if shares is not None:
        return shares
    shares = _greedy_shares(losses, excess)
    first = np.flatnonzero(shares)
    exact = _equal_losses(losses[np.ix_(first, first)], excess[first])
    if exact is not None:
        shares[first] = exact
    return shares


def _equal_losses(losses: FloatArray, excess: FloatArray) -> FloatArray | None:
    """Solve ``losses @ shares - excess = the same for all``, the shares adding up to 1.

    ``None`` if there is no solution without negative shares.
    """
    size = len(excess)
    system = np.ones((size + 1, size + 1))
    system[:size, :size], system[size, size] = losses, 0.0
    wanted = np.append(excess, 1.0)
    solution = np.linalg.lstsq(system, wanted, rcond=None)[0]  # there may be many solutions
    amiss = np.abs(system @ solution - wanted).max() > _TOLERANCE * np.abs(wanted).max()
    return (
        None
        if amiss or solution[:size].min() < 0
        else np.asarray(solution[:size], dtype=np.float64)
    )


def _greedy_shares(losses: FloatArray, excess: FloatArray) -> FloatArray:
    shares = np.zeros(len(excess))
    left = excess.copy()
    for _ in range(_PORTIONS):
        largest = int(left.argmax())
        shares[largest] += 1 / _PORTIONS
        left -= losses[:, largest] / _PORTIONS
    return shares
