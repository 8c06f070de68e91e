"""TrueSkill's random games one run after the other, for a compiler.

The games of :mod:`grammeter.ranking.trueskill` are played side by side in all runs, and numpy is
called some fifty times for each: a hundred runs take a third of what a thousand take. Here a run
is a plain loop, which numba compiles where it is installed (extra ``fast``). Both draw the same
random numbers and agree to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from grammeter.core import BoolArray, FloatArray, require
from grammeter.ranking import game
from grammeter.ranking.game import correction

Play = Callable[
    [FloatArray, FloatArray, FloatArray, FloatArray, BoolArray, FloatArray, float, float, float],
    None,
]


def play_games(
    mean: FloatArray,
    variance: FloatArray,
    wins: FloatArray,
    decided: FloatArray,
    allowed: BoolArray,
    uniform: FloatArray,
    beta: float,
    tau: float,
    margin: float,
) -> None:
    """Play games of one run, one after the other; ratings are changed in place.

    Parameters
    ----------
    mean, variance
        Shape ``(n,)``, systems in descending order of their names; variance 0 where a system
        never plays.
    wins, decided
        Shares of the judgments of each pair that prefer the first, and that prefer either:
        shape ``(n, n)``.
    allowed
        Which pairs were compared, shape ``(n, n)``.
    uniform
        Two random numbers for each game, shape ``(games, 2)``.
    beta, tau, margin
        See :class:`~grammeter.ranking.game.GameModel`.
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
    inner: list[Any] = [
        game._hazard,  # pyright: ignore[reportPrivateUsage]
        game._draw_correction,  # pyright: ignore[reportPrivateUsage]
        correction,
    ]
    for function in inner:
        inlined(function)
    try:
        return njit(cache=True)(play_games)
    except RuntimeError:  # no folder to keep machine code in
        return njit(play_games)
