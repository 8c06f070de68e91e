"""Which items tell most about the ranking: those that compare systems whose order is uncertain.

The order of two systems is uncertain as far as it turns round when the judgments are resampled:
with ``p`` the share of bootstrap samples of rankings in which the first one has more Expected
Wins, the uncertainty is ``2 * min(p, 1 - p)``, 0 to 1; 1 for systems that were not compared. An
item weighs the sum of that over all pairs of systems that it tells apart. It is drawn with ::

    (1 - EVEN) * weight / sum of weights + EVEN / number of items

so that every item can be drawn, and a ranking can be weighted back by one over the probability.
As long as a system has less than half of the mean number of comparisons, items that show it
take the place of the heavy ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grammeter.core import BoolArray, FloatArray, Ranking
from grammeter.ranking import ExpectedWins, Resampling, extract_pairs

EVEN = 0.2
"""The share of the uniform distribution."""

RESAMPLES = 200
STARVED = 0.5

Groups = Sequence[Sequence[str]]
"""The systems behind each output that an item shows."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """What is known of the ranking so far.

    Attributes
    ----------
    systems
        All of the campaign, in alphabetical order.
    uncertainty
        Shape ``(systems, systems)``, symmetric, 0 to 1; 0 on the diagonal.
    starved
        Shape ``(systems,)``: who was compared less than half as often as the mean.
    """

    systems: tuple[str, ...]
    uncertainty: FloatArray
    starved: BoolArray


def outlook(systems: Sequence[str], rankings: Sequence[Ranking], *, seed: int = 1) -> Outlook:
    """Say of which systems the order is uncertain.

    Parameters
    ----------
    systems
        All of the campaign; some may not have been judged yet.
    rankings
        The judgments so far.
    """
    names = tuple(sorted(systems))
    uncertainty = 1.0 - np.eye(len(names))
    compared = np.zeros(len(names))
    pairs = extract_pairs(rankings)
    if len(pairs):
        places = np.array([names.index(name) for name in pairs.systems])
        wins, ties = pairs.counts()
        compared[places] = (wins + wins.T + ties).sum(axis=1)
        runs = ExpectedWins().runs(pairs, Resampling(unit="ranking", runs=RESAMPLES, seed=seed))
        uncertainty[np.ix_(places, places)] = _turned(runs)
    return Outlook(names, uncertainty, compared < STARVED * compared.mean())


@dataclass(frozen=True, eq=False)
class Appeal:
    """How much each item tells.

    Attributes
    ----------
    weights
        Shape ``(items,)``: the uncertainty of all pairs of systems that an item tells apart.
    hungry
        Shape ``(items,)``: whether it shows a system that is starved.
    """

    weights: FloatArray
    hungry: BoolArray

    def probabilities(self, rows: Sequence[int]) -> FloatArray:
        """Return how likely each of some items is to be drawn; they add up to 1."""
        weights, hungry = self.weights[list(rows)], self.hungry[list(rows)]
        if hungry.any():
            weights = hungry.astype(np.float64)
        even = np.full(len(rows), 1 / len(rows))
        total = weights.sum()
        return (1 - EVEN) * weights / total + EVEN * even if total > 0 else even


def weigh(found: Outlook, items: Sequence[Groups]) -> Appeal:
    """Say how much each item tells; ``items`` holds the systems behind each output shown."""
    place = {name: number for number, name in enumerate(found.systems)}
    shown = np.zeros((len(items), len(place)), dtype=np.bool_)
    weights = np.zeros(len(items))
    for row, groups in enumerate(items):
        numbers = [[place[name] for name in group] for group in groups]
        member = np.zeros((len(groups), len(place)))
        for group, own in enumerate(numbers):
            member[group, own] = 1
        apart = member @ found.uncertainty @ member.T
        weights[row] = (apart.sum() - np.trace(apart)) / 2
        shown[row, [number for own in numbers for number in own]] = True
    hungry: BoolArray = np.asarray(shown[:, found.starved].any(axis=1))
    return Appeal(weights, hungry)


def _turned(runs: FloatArray) -> FloatArray:
    """Return how uncertain the order of each two columns is; NaN is a score below all others."""
    scores = np.nan_to_num(runs, nan=-1.0)
    above = (scores[:, :, None] > scores[:, None, :]).mean(axis=0)
    level = (scores[:, :, None] == scores[:, None, :]).mean(axis=0)
    share = above + level / 2
    turned = 2 * np.minimum(share, 1 - share)
    np.fill_diagonal(turned, 0.0)
    return turned
