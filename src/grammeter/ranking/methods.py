"""The ways to score systems from judgments.

Expected Wins (Bojar et al. 2011 in the form of Sakaguchi et al. 2014; for grammatical error
correction Grundkiewicz et al. 2015, section 5.1) is how often a system is preferred to an opponent,
averaged over opponents; ties are left out. Bradley-Terry gives abilities by maximum likelihood,
with ties as in Davidson 1970, "On extending the Bradley-Terry model to accommodate ties in paired
comparison experiments". With abilities theta and d the difference of two of them::

    P(first wins) : P(tie) : P(second wins) = exp(d / 2) : nu : exp(-d / 2)

The logarithm of the likelihood is concave in theta and log(nu); Newton's method finds its
maximum. Without any tie nu is 0 and the model that of Bradley and Terry 1952.
"""
# ruff: noqa: D102 - Method describes its methods

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, get_args

import numpy as np
from numpy.linalg import matrix_power

from grammeter.core import BoolArray, DataError, FloatArray, IntArray, UnknownNameError, UsageError
from grammeter.ranking.game import GameModel
from grammeter.ranking.pairs import Pairs, Resampling, Unit, resampled_counts
from grammeter.ranking.trueskill import mean_field, play

Divisor = Literal["all-opponents", "beaten-opponents", "met-opponents"]
"""The divisor of the sum over opponents.

``all-opponents`` is the formula of the paper and of its Tables 3b and 5; the script behind its
Tables 6 and 7 averages over the opponents that were beaten at least once. ``met-opponents``
averages over those with whom a comparison was decided: not every two systems need to meet.
"""

ITERATIONS = 100
_TOLERANCE = 1e-10
_LONGEST_STEP = 1.0
_FARTHEST = 30.0  # abilities that are this far apart (odds of 1e13) diverge


class Method(Protocol):
    """A way to score systems from judgments; a frozen value whose fields are its settings."""

    name: ClassVar[str]
    unit: ClassVar[Unit | None]
    """The default unit of resampling; ``None``: the runs differ by themselves."""

    def settings(self, comparisons: int) -> Mapping[str, object]:
        """Return the settings for a signature."""
        ...

    def score(self, wins: IntArray, ties: IntArray) -> FloatArray:
        """Score the systems on all the data: counts ``(n, n)`` to ``(n,)``; NaN for none."""
        ...

    def runs(self, pairs: Pairs, resampling: Resampling) -> FloatArray:
        """Score the systems on each resample, shape ``(runs, n)``."""
        scored = [self.score(wins, ties) for wins, ties in resampled_counts(pairs, resampling)]
        return np.concatenate(scored)

    def missing(self, wins: IntArray, ties: IntArray) -> tuple[BoolArray, str]:
        """Return the opponents, ``(n, n)``, that a score does not rest on, and what that means."""
        return wins + wins.T + ties == 0, "never compared"


def expected_wins(wins: IntArray | FloatArray, *, divisor: Divisor = "all-opponents") -> FloatArray:
    """Score systems by Expected Wins.

    ``wins``, shape ``(..., n, n)``, says how often the row beat the column; weights are allowed.
    With ``all-opponents`` an opponent without a decided comparison counts as 0, as in the original,
    and with ``met-opponents`` it is left out; with ``beaten-opponents`` one that was never beaten
    is. The scores, ``(..., n)``, lie from 0 to 1; NaN for a system without a decided comparison,
    and under ``beaten-opponents`` for one that never won.
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
class ExpectedWins(Method):
    """Expected Wins as a :class:`Method`."""

    name: ClassVar[str] = "expected-wins"
    unit: ClassVar[Unit | None] = "sentence"
    divisor: Divisor = "all-opponents"

    def __post_init__(self) -> None:
        UnknownNameError.check("divisor", self.divisor, get_args(Divisor))

    def settings(self, comparisons: int) -> Mapping[str, object]:
        return {"divisor": self.divisor, "ties": "ignored"}

    def score(self, wins: IntArray, ties: IntArray) -> FloatArray:
        return expected_wins(wins, divisor=self.divisor)

    def missing(self, wins: IntArray, ties: IntArray) -> tuple[BoolArray, str]:
        if self.divisor == "beaten-opponents":
            return wins == 0, "never beaten, so left out of the mean"
        left_out = self.divisor == "met-opponents"
        meaning = "left out of the mean" if left_out else "counted as 0"
        return wins + wins.T == 0, f"no decided comparison, {meaning}"


@dataclass(frozen=True, kw_only=True)
class BradleyTerry(Method):
    """Bradley-Terry as a :class:`Method`.

    ``prior`` is the number of wins to be added in both directions for each pair of systems that
    was compared. Above 0, abilities are finite even of a system that never lost.
    """

    name: ClassVar[str] = "bradley-terry"
    unit: ClassVar[Unit | None] = "sentence"
    prior: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.prior < np.inf:
            raise UsageError(f"prior={self.prior} is not possible", fix="Give 0 or more.")

    def settings(self, comparisons: int) -> Mapping[str, object]:
        return {"prior": f"{self.prior:.10g}", "ties": "davidson"}

    def score(self, wins: IntArray, ties: IntArray) -> FloatArray:
        """See :class:`Method`: abilities; raises where they are not finite, or not comparable."""
        there, values = _compared(wins, ties), np.full(len(wins), np.nan)
        chosen = np.ix_(there, there)
        met = (wins + wins.T + ties)[chosen] + np.eye(int(there.sum())) > 0
        groups, sizes = np.unique(matrix_power(met, len(met)), axis=0, return_counts=True)
        if len(groups) > 1:
            fault = f"{len(groups)} groups of systems, of {', '.join(map(str, sizes[::-1]))}"
            fix = "Bradley-Terry needs comparisons between the groups; rank each by itself."
            raise DataError(f"{fault}, were never compared with each other", fix=fix)
        (values[there],) = self._fitted(wins[chosen][None], ties[chosen][None])
        return values

    def runs(self, pairs: Pairs, resampling: Resampling) -> FloatArray:
        """See :class:`Method`; raises where the abilities of a resample are not finite."""
        there = _compared(*pairs.counts())
        values = np.full((resampling.runs, len(pairs.systems)), np.nan)
        drawn = resampled_counts(pairs, resampling)
        fitted = (self._fitted(*(table[:, there][..., there] for table in both)) for both in drawn)
        values[:, there] = np.concatenate(list(fitted))
        return values

    def _fitted(self, wins: IntArray, ties: IntArray) -> FloatArray:
        newton = Newton(wins, ties, self.prior)
        newton.climb(ITERATIONS)
        if lost := int((~newton.converged).sum()):
            where = "" if len(wins) == 1 else f": {lost} of {len(wins)} resamples have none"
            fault = f"Bradley-Terry found no finite abilities in {ITERATIONS} iterations{where}"
            fix = "A system, or a group, never loses to the others. Take a prior above 0"
            raise DataError(fault, fix=f"{fix}, or --by expected-wins.")
        return newton.theta


@dataclass(frozen=True, kw_only=True)
class TrueSkill(Method):
    """TrueSkill as a method of ranking; the defaults are those of the 2015 ranking.

    ``sigma`` is the deviation of a rating before the first game, ``tau`` what it gains before each
    game, ``draw_probability`` that of two equal systems. A run has so many ``games``; default: one
    more than comparisons. ``beta`` is the deviation of a performance around the rating; default:
    ``sigma * games / 40``, so large that a game moves a mean by about 1e-4.
    """

    name: ClassVar[str] = "trueskill"
    unit: ClassVar[Unit | None] = None
    sigma: float = 0.5
    tau: float = 0.0
    draw_probability: float = 0.25
    beta: float | None = None
    games: int | None = None

    def model(self, comparisons: int) -> GameModel:
        """Return the settings for so many comparisons."""
        games = comparisons + 1 if self.games is None else self.games
        beta = self.sigma * games / 40 if self.beta is None else self.beta
        return GameModel(self.sigma, beta, self.tau, self.draw_probability, games)

    def settings(self, comparisons: int) -> Mapping[str, object]:
        model = self.model(comparisons)
        numbers = (model.sigma, model.beta, model.tau, model.draw_probability)
        texts = (f"{number:.10g}" for number in numbers)
        shown = dict(zip(("sigma", "beta", "tau", "draw"), texts, strict=True))
        return {"score": "mean-field", **shown, "games": model.games, "ties": "draws"}

    def score(self, wins: IntArray, ties: IntArray) -> FloatArray:
        """See :class:`Method`: the expected means after all games."""
        return mean_field(wins, ties, self.model(int(wins.sum() + ties.sum() // 2)))

    def runs(self, pairs: Pairs, resampling: Resampling) -> FloatArray:
        """See :class:`Method`: the means after each run."""
        return play(pairs, self.model(len(pairs)), resampling)


METHODS: Mapping[str, type[ExpectedWins] | type[TrueSkill] | type[BradleyTerry]] = {
    method.name: method for method in (ExpectedWins, TrueSkill, BradleyTerry)
}


def method_of(
    by: str | Method, *, divisor: Divisor | None = None, prior: float | None = None
) -> Method:
    """Return the method of a name, with a setting of Expected Wins or of Bradley-Terry."""
    if not isinstance(by, str):
        return by
    UnknownNameError.check("ranking method", by, METHODS)
    if divisor is not None:
        return ExpectedWins(divisor=divisor)
    return METHODS[by]() if prior is None else BradleyTerry(prior=prior)


def _compared(wins: IntArray, ties: IntArray) -> BoolArray:
    return np.asarray(np.any(wins + wins.T + ties, axis=1))


class Newton:
    """Newton's method for many tables at once; arrays have a row for each.

    ``theta``, shape ``(tables, n)``, are natural logarithms of odds, their mean 0; ``log_tie`` is
    the logarithm of nu: how likely a tie between equals is beside either win.
    """

    def __init__(self, wins: IntArray, ties: IntArray, prior: float) -> None:
        self._wins: FloatArray = wins + prior * (wins + wins.swapaxes(1, 2) + ties > 0)
        self._ties = ties
        self._judged = self._wins + self._wins.swapaxes(1, 2) + ties
        self._tied: BoolArray = np.any(ties, axis=(1, 2))
        self.theta: FloatArray = np.zeros(wins.shape[:2])
        self.log_tie = np.where(self._tied, 0.0, -np.inf)
        self.converged: BoolArray = np.zeros(len(wins), dtype=np.bool_)
        self._open: BoolArray = np.any(self._wins, axis=(1, 2))  # without wins: no maximum

    def climb(self, iterations: int) -> None:
        """Take so many steps at most, until each table has converged or diverges."""
        for _ in range(iterations):
            if self._open.any():
                self._step(np.flatnonzero(self._open))

    def _step(self, at: IntArray) -> None:
        gradient, information = self._derivatives(at)
        try:
            step = np.linalg.solve(information, gradient[..., None])[..., 0]
        except np.linalg.LinAlgError:  # at least one table has no curvature left
            tables = zip(information, gradient, strict=True)
            solved: list[FloatArray] = [np.linalg.lstsq(*of, rcond=None)[0] for of in tables]
            step = np.stack(solved)
        largest = np.abs(step).max(axis=1)
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(largest, _TOLERANCE))[:, None]
        self.theta[at] += step[:, :-1]
        self.log_tie[at] += step[:, -1]
        self.converged[at] = largest < _TOLERANCE
        self._open[at] = ~self.converged[at] & (np.ptp(self.theta[at], axis=1) < _FARTHEST)

    def _derivatives(self, at: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and information, the last coordinate being the logarithm of nu.

        A rank-one term fixes the mean of the abilities; without ties the last one stays.
        """
        n, judged = self.theta.shape[1], self._judged[at]
        won, tied = self._chances(at)
        lost = won.swapaxes(1, 2)
        gradient = np.zeros((len(at), n + 1))
        gradient[:, :n] = (self._wins[at] - judged * won).sum(axis=2) / 2
        gradient[:, :n] -= (self._wins[at].swapaxes(1, 2) - judged * lost).sum(axis=2) / 2
        gradient[:, n] = (self._ties[at] - judged * tied).sum(axis=(1, 2)) / 2
        information = np.zeros((len(at), n + 1, n + 1))
        weight = judged * (won + lost - (won - lost) ** 2) / 4
        information[:, :n, :n] = 1 / n - weight
        information[:, range(n), range(n)] += weight.sum(axis=2)
        information[:, :n, n] = (judged * (lost - won) * tied).sum(axis=2) / 2
        information[:, n, :n] = information[:, :n, n]
        both = (judged * tied * (1 - tied)).sum(axis=(1, 2)) / 2
        information[:, n, n] = np.where(self._tied[at], both, 1.0)
        return gradient, information

    def _chances(self, at: IntArray) -> tuple[FloatArray, FloatArray]:
        half = (self.theta[at, :, None] - self.theta[at, None, :]) / 2
        tie = self.log_tie[at, None, None]
        top = np.maximum(np.abs(half), tie)
        won, lost, tied = np.exp(half - top), np.exp(-half - top), np.exp(tie - top)
        total = won + lost + tied
        return won / total, tied / total
