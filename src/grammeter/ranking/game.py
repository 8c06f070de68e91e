"""The assumptions about two-player games with draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

from grammeter.core import UsageError


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
