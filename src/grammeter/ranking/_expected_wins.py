"""Expected Wins: how often a system is preferred to an opponent, averaged over opponents.

Bojar et al. 2011 in the form of Sakaguchi et al. 2014; for grammatical error correction
Grundkiewicz et al. 2015, section 5.1. Ties are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from grammeter.core import BoolArray, FloatArray, IntArray, UnknownNameError
from grammeter.ranking.bootstrap import Resampling, Unit, resampled_counts
from grammeter.ranking.pairs import Pairs

Divisor = Literal["all-opponents", "beaten-opponents", "met-opponents"]
"""The divisor of the sum over opponents.

``all-opponents`` is the formula of the paper and of its Tables 3b and 5; the script behind its
Tables 6 and 7 averages over the opponents that were beaten at least once. ``met-opponents``
averages over those with whom a comparison was decided, for judgments that do not pit every
system against every other.
"""

DIVISORS: tuple[Divisor, ...] = get_args(Divisor)


def expected_wins(wins: IntArray | FloatArray, *, divisor: Divisor = "all-opponents") -> FloatArray:
    """Score systems by Expected Wins.

    Parameters
    ----------
    wins
        Shape ``(..., n, n)``: how often the row beat the column; weights are allowed.
    divisor
        With ``all-opponents`` an opponent without a decided comparison counts as 0, as in the
        original, and with ``met-opponents`` it is left out; with ``beaten-opponents`` one that
        was never beaten is.

    Returns
    -------
    FloatArray
        Shape ``(..., n)``, 0 to 1; NaN for a system without a decided comparison, and under
        ``beaten-opponents`` for one that never won.
    """
    decided = wins + wins.swapaxes(-1, -2)
    share = np.divide(wins, decided, out=np.zeros(wins.shape), where=decided > 0)
    if divisor == "all-opponents":
        opponents = np.where(decided.any(axis=-1), wins.shape[-1] - 1, 0)
    else:
        opponents = ((wins if divisor == "beaten-opponents" else decided) > 0).sum(axis=-1)
    total: FloatArray = share.sum(axis=-1)
    return np.divide(total, opponents, out=np.full(total.shape, np.nan), where=opponents > 0)


@dataclass(frozen=True, kw_only=True)
class ExpectedWins:
    """Expected Wins as a method of ranking."""

    name: ClassVar[str] = "expected-wins"
    unit: ClassVar[Unit | None] = "sentence"

    divisor: Divisor = "all-opponents"

    def __post_init__(self) -> None:
        if self.divisor not in DIVISORS:
            raise UnknownNameError("divisor", self.divisor, DIVISORS)

    def settings(self, comparisons: int) -> Mapping[str, object]:
        """Return the settings for a signature."""
        return {"divisor": self.divisor, "ties": "ignored"}

    def score(self, wins: IntArray, ties: IntArray) -> FloatArray:
        """Score the systems on all the data, shape ``(n,)``."""
        return expected_wins(wins, divisor=self.divisor)

    def runs(self, pairs: Pairs, resampling: Resampling) -> FloatArray:
        """Score the systems on each resample, shape ``(runs, n)``."""
        scored = [self.score(wins, ties) for wins, ties in resampled_counts(pairs, resampling)]
        return np.concatenate(scored)

    def missing(self, wins: IntArray, ties: IntArray) -> tuple[BoolArray, str]:
        """Return the opponents that a score does not rest on, and how to describe them."""
        if self.divisor == "beaten-opponents":
            return wins == 0, "never beaten, so left out of the mean"
        left_out = self.divisor == "met-opponents"
        meaning = "left out of the mean" if left_out else "counted as 0"
        return wins + wins.T == 0, f"no decided comparison, {meaning}"
