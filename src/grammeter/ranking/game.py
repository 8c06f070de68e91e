"""Two-player games with draws: what they are assumed to be, and the update of two ratings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

from grammeter.core import UsageError
from grammeter.ranking.truncation import CorrectionCurves, correction

_SPREAD = 4
"""Means are expected to lie within so many prior deviations of each other; others take longer."""


class Rating(NamedTuple):
    """A Gaussian belief about a system: mean and standard deviation."""

    mean: float
    deviation: float


@dataclass(frozen=True, kw_only=True)
class GameModel:
    """The assumptions of TrueSkill (Herbrich, Minka and Graepel 2006), for two players.

    Attributes
    ----------
    sigma
        Standard deviation of a rating before the first game; its mean is 0.
    beta
        Standard deviation of a performance around the rating.
    tau
        Deviation that a rating gains before each game.
    draw_probability
        Of two equal players, between 0 and 1; it sets the draw margin.
    games
        How many games are played.

    Raises
    ------
    UsageError
        If a value is out of range.
    """

    sigma: float
    beta: float
    tau: float
    draw_probability: float
    games: int

    def __post_init__(self) -> None:
        numbers = (self.sigma, self.beta, self.tau)
        possible = min(self.sigma, self.beta) > 0 and self.tau >= 0 and self.games >= 1
        if (
            not possible
            or not 0 < self.draw_probability < 1
            or not all(map(math.isfinite, numbers))
        ):
            raise UsageError(
                f"TrueSkill with {self}",
                fix="sigma, beta and games must be above 0, tau at least 0, and the draw"
                " probability between 0 and 1.",
            )

    @cached_property
    def margin(self) -> float:
        """How near two performances of a draw are, in units of the ratings."""
        return NormalDist().inv_cdf((self.draw_probability + 1) / 2) * math.sqrt(2) * self.beta

    def rate(self, first: Rating, second: Rating, outcome: int) -> tuple[Rating, Rating]:
        """Update two ratings after a game.

        Parameters
        ----------
        first, second
            Before the game; their deviations grow by ``tau`` first.
        outcome
            1 if the first won, -1 if the second won, 0 for a draw.
        """
        variances = [each.deviation**2 + self.tau**2 for each in (first, second)]
        total = 2 * self.beta**2 + sum(variances)
        spread = math.sqrt(total)
        v, w = correction((first.mean - second.mean) / spread, self.margin / spread, outcome)
        moved = (first.mean + variances[0] / spread * v, second.mean - variances[1] / spread * v)
        left = [math.sqrt(variance * (1 - variance / total * w)) for variance in variances]
        return Rating(moved[0], left[0]), Rating(moved[1], left[1])

    def curves(self) -> CorrectionCurves:
        """Return the corrections for arrays of such games."""
        least = math.sqrt(2) * self.beta
        most_variance = self.sigma**2 + self.games * self.tau**2
        most = math.sqrt(2 * (self.beta**2 + most_variance))
        return CorrectionCurves(
            _SPREAD * self.sigma / least, self.margin / most, self.margin / least
        )
