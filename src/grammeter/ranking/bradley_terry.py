"""Bradley-Terry with ties: abilities by maximum likelihood.

Davidson 1970, "On extending the Bradley-Terry model to accommodate ties in paired comparison
experiments". With abilities theta and d the difference of two of them::

    P(first wins) : P(tie) : P(second wins) = exp(d / 2) : nu : exp(-d / 2)

The logarithm of the likelihood is concave in theta and log(nu); Newton's method finds its
maximum. Without any tie nu is 0 and the model that of Bradley and Terry 1952.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from grammeter.core import BoolArray, DataError, FloatArray, IntArray, UsageError
from grammeter.ranking.bootstrap import Resampling, Unit, resampled_counts
from grammeter.ranking.pairs import Pairs

ITERATIONS = 100
_TOLERANCE = 1e-10
_LONGEST_STEP = 1.0
_FARTHEST = 30.0
"""Abilities that are this far apart (odds of 1e13) diverge."""


@dataclass(frozen=True, eq=False)
class Abilities:
    """A fitted model.

    Attributes
    ----------
    values
        Shape ``(n,)``: theta, natural logarithms of odds; their mean is 0.
    errors
        Shape ``(n,)``: standard errors, as if all comparisons were independent. Comparisons of
        one item are not, and true errors are larger: take the ranges of a bootstrap.
    tie
        nu: how likely a tie between equals is beside either win; 0 without ties.
    iterations
        How many steps it took.
    """

    values: FloatArray
    errors: FloatArray
    tie: float
    iterations: int


@dataclass(frozen=True, kw_only=True)
class BradleyTerry:
    """Bradley-Terry as a method of ranking.

    Attributes
    ----------
    prior
        Wins to be added in both directions for each pair of systems that was compared. Above 0,
        abilities are finite even of a system that never lost.

    Raises
    ------
    UsageError
        If the prior is negative or no number.
    """

    name: ClassVar[str] = "bradley-terry"
    unit: ClassVar[Unit | None] = "sentence"

    prior: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.prior < np.inf:
            raise UsageError(f"prior={self.prior} is not possible", fix="Give 0 or more.")

    def settings(self, comparisons: int) -> Mapping[str, object]:
        """Return the settings for a signature."""
        return {"prior": f"{self.prior:.10g}", "ties": "davidson"}

    def score(self, wins: IntArray, ties: IntArray) -> FloatArray:
        """Return the abilities on all the data, shape ``(n,)``; NaN for a system never compared."""
        there = (wins + wins.T + ties).any(axis=1)
        values = np.full(len(wins), np.nan)
        chosen = np.ix_(there, there)
        values[there] = fit_bradley_terry(wins[chosen], ties[chosen], prior=self.prior).values
        return values

    def runs(self, pairs: Pairs, resampling: Resampling) -> FloatArray:
        """Return the abilities on each resample, shape ``(runs, n)``.

        Raises
        ------
        DataError
            If the abilities of a resample are not finite.
        """
        wins, ties = pairs.counts()
        there = (wins + wins.T + ties).any(axis=1)
        values = np.full((resampling.runs, len(pairs.systems)), np.nan)
        values[:, there] = np.concatenate(
            [
                self._fitted(some_wins[:, there][..., there], some_ties[:, there][..., there])
                for some_wins, some_ties in resampled_counts(pairs, resampling)
            ]
        )
        return values

    def _fitted(self, wins: IntArray, ties: IntArray) -> FloatArray:
        newton = _Newton(*_with_prior(wins, ties, self.prior))
        newton.climb(ITERATIONS)
        if lost := int((~newton.converged).sum()):
            raise DataError(
                f"Bradley-Terry: {lost} of {len(wins)} resamples have no finite abilities after"
                f" {ITERATIONS} iterations",
                fix="In a resample some system never loses, or never wins. Take a prior above 0,"
                " or --by expected-wins.",
            )
        return newton.theta

    def missing(self, wins: IntArray, ties: IntArray) -> tuple[BoolArray, str]:
        """Return the opponents that a score does not rest on, and how to describe them."""
        return wins + wins.T + ties == 0, "never compared"


def fit_bradley_terry(
    wins: IntArray | FloatArray,
    ties: IntArray | FloatArray,
    *,
    prior: float = 0.0,
    iterations: int = ITERATIONS,
) -> Abilities:
    """Fit abilities and the frequency of ties.

    Parameters
    ----------
    wins, ties
        Shape ``(n, n)``: how often the row beat the column, and how often they tied.
    prior
        See :class:`BradleyTerry`.
    iterations
        The most steps to take.

    Raises
    ------
    DataError
        If nothing is decided, some systems were never compared with the others even by way of
        further ones, or the likelihood has no maximum that can be reached.
    """
    if not wins.any():
        raise DataError("no comparison is decided", fix="Bradley-Terry needs wins.")
    _check_connected(wins + wins.T + ties > 0)
    newton = _Newton(*_with_prior(wins[None], ties[None], prior))
    steps = newton.climb(iterations)
    if not newton.converged[0]:
        raise _no_maximum(wins, steps)
    return Abilities(newton.theta[0], newton.errors()[0], float(np.exp(newton.log_tie[0])), steps)


def _with_prior(
    wins: IntArray | FloatArray, ties: IntArray | FloatArray, prior: float
) -> tuple[FloatArray, FloatArray]:
    compared = wins + wins.swapaxes(-1, -2) + ties > 0
    return wins + prior * compared, ties.astype(np.float64)


class _Newton:
    """Newton's method for many tables at once; arrays have a row for each.

    ``theta`` has shape ``(tables, n)``, ``log_tie`` and ``converged`` ``(tables,)``.
    """

    def __init__(self, wins: FloatArray, ties: FloatArray) -> None:
        self._wins, self._ties = wins, ties
        self._judged = wins + wins.swapaxes(1, 2) + ties
        self._tied: BoolArray = np.any(ties, axis=(1, 2))
        self.theta: FloatArray = np.zeros(wins.shape[:2])
        self.log_tie = np.where(self._tied, 0.0, -np.inf)
        self.converged: BoolArray = np.zeros(len(wins), dtype=np.bool_)
        self._open: BoolArray = np.any(wins, axis=(1, 2))  # without wins there is no maximum

    def climb(self, iterations: int) -> int:
        """Take steps until each table has converged or diverges; return their number."""
        for number in range(1, iterations + 1):
            at = np.flatnonzero(self._open)
            if not len(at):
                return number - 1
            self._step(at)
        return iterations

    def errors(self) -> FloatArray:
        """Return the standard errors of the abilities, shape ``(tables, n)``."""
        n = self.theta.shape[1]
        _, information = self._derivatives(np.arange(len(self.theta)))
        inverse = np.linalg.inv(information)[:, :n, :n]
        return np.sqrt(np.diagonal(inverse, axis1=1, axis2=2) - 1 / n)  # less the fixed mean

    def _step(self, at: IntArray) -> None:
        gradient, information = self._derivatives(at)
        try:
            step = np.linalg.solve(information, gradient[..., None])[..., 0]
        except np.linalg.LinAlgError:  # at least one table has no curvature left
            step = np.stack([_solved(*table) for table in zip(information, gradient, strict=True)])
        largest = np.abs(step).max(axis=1)
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(largest, _TOLERANCE))[:, None]
        self.theta[at] += step[:, :-1]
        self.log_tie[at] += step[:, -1]
        self.converged[at] = largest < _TOLERANCE
        spread = np.ptp(self.theta[at], axis=1)
        self._open[at] = ~self.converged[at] & (spread < _FARTHEST)

    def _derivatives(self, at: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and information, the last coordinate being the logarithm of nu.

        A rank-one term fixes the mean of the abilities; without ties the last coordinate is
        left where it is.
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
        """Return the probability that the row wins, and that it ties with the column."""
        half = (self.theta[at, :, None] - self.theta[at, None, :]) / 2
        tie = self.log_tie[at, None, None]
        top = np.maximum(np.abs(half), tie)
        won, lost, tied = np.exp(half - top), np.exp(-half - top), np.exp(tie - top)
        total = won + lost + tied
        return won / total, tied / total


def _solved(information: FloatArray, gradient: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.lstsq(information, gradient, rcond=None)[0], dtype=np.float64)


def _check_connected(compared: BoolArray) -> None:
    joined = compared | np.eye(len(compared), dtype=np.bool_)
    for _ in range(len(joined).bit_length()):
        joined = joined @ joined  # along paths twice as long
    groups, sizes = np.unique(joined, axis=0, return_counts=True)
    if len(groups) > 1:
        raise DataError(
            f"{len(groups)} groups of systems, of {', '.join(map(str, sizes[::-1]))}, were never"
            " compared with each other",
            fix="Bradley-Terry needs comparisons between the groups; rank each by itself.",
        )


def _no_maximum(wins: IntArray | FloatArray, steps: int) -> DataError:
    never_won, never_lost = (int((~wins.any(axis=axis)).sum()) for axis in (1, 0))
    return DataError(
        f"Bradley-Terry found no finite abilities in {steps} iterations",
        fix=f"{never_lost} of {len(wins)} systems never lost and {never_won} never won; one group"
        " of systems may never lose to the others. Take a prior above 0.",
    )
