"""The most informative items: those that compare systems whose order is uncertain.

With ``p`` the share of bootstrap samples of rankings in which the first of two systems has more
Expected Wins, the uncertainty of their order is ``2 * min(p, 1 - p)``, 0 to 1; 1 for systems that
were not compared. An item's weight is the sum over all pairs of systems with different outputs in
it. Its probability is ::

    (1 - EVEN) * weight / sum of weights + EVEN / number of items

so that every item can be drawn, and a ranking can be weighted back by one over the probability.
While a system has less than half of the mean number of comparisons, only its items have weight.

Computing this reads all judgments and resamples them. The weights are cached, until the number of
judgments has grown by the share :data:`NEWS`.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import connection

from grammeter.campaign import models
from grammeter.campaign.services import results
from grammeter.campaign.tasks import Kind, Strategy
from grammeter.core import BoolArray, FloatArray, Ranking
from grammeter.ranking import ExpectedWins, Resampling, extract_pairs

EVEN = 0.2  # the share of the uniform distribution
NEWS = 0.05  # relative growth of the judgments after which the weights are computed again
RESAMPLES = 200
STARVED = 0.5
_newest: dict[tuple[object, ...], tuple[int, "Appeal"]] = {}  # with the number of judgments
_looking = threading.Lock()
Groups = Sequence[Sequence[str]]  # the systems of each output that an item shows


@dataclass(frozen=True, eq=False)
class Outlook:
    """The uncertainty of the ranking so far."""

    systems: tuple[str, ...]  # all of the campaign, in alphabetical order
    uncertainty: FloatArray  # (systems, systems): symmetric, 0 to 1, 0 on the diagonal
    starved: BoolArray  # (systems,): whether one was compared less than half as often as the mean


def outlook(systems: Sequence[str], rankings: Sequence[Ranking], *, seed: int = 1) -> Outlook:
    """Estimate the uncertainty of the ranking of all ``systems``, judged or not."""
    names = tuple(sorted(systems))
    uncertainty = 1.0 - np.eye(len(names))
    compared = np.zeros(len(names))
    pairs = extract_pairs(rankings)
    if len(pairs):
        places = np.array([names.index(name) for name in pairs.systems])
        wins, ties = pairs.counts()
        compared[places] = (wins + wins.T + ties).sum(axis=1)
        runs = ExpectedWins().runs(pairs, Resampling(unit="ranking", runs=RESAMPLES, seed=seed))
        scores = np.nan_to_num(runs, nan=-1.0)  # below all scores
        above = (scores[:, :, None] > scores[:, None, :]).mean(axis=0)
        share = above + (scores[:, :, None] == scores[:, None, :]).mean(axis=0) / 2
        uncertainty[np.ix_(places, places)] = 2 * np.minimum(share, 1 - share)
        np.fill_diagonal(uncertainty, 0.0)
    return Outlook(names, uncertainty, compared < STARVED * compared.mean())


@dataclass(frozen=True, eq=False)
class Appeal:
    """The appeal of each item."""

    row: Mapping[int, int]  # number of an item -> its row in the arrays
    weights: FloatArray  # (items,): the uncertainty of all pairs of systems with different outputs
    hungry: BoolArray  # (items,): whether it shows a starved system

    def probabilities(self, items: Sequence[int]) -> FloatArray:
        """Return the probability of drawing each of these items, shape ``(items,)``; sum 1."""
        rows = [self.row[number] for number in items]
        weights, hungry = self.weights[rows], self.hungry[rows]
        if hungry.any():
            weights = hungry.astype(np.float64)
        even, total = np.full(len(rows), 1 / len(rows)), weights.sum()
        return (1 - EVEN) * weights / total + EVEN * even if total > 0 else even


def weigh(outlook: Outlook, items: Mapping[int, Groups]) -> Appeal:
    """Weigh items: number -> the systems of each output."""
    place = {name: number for number, name in enumerate(outlook.systems)}
    shown = np.zeros((len(items), len(place)), dtype=np.bool_)
    weights = np.zeros(len(items))
    for row, groups in enumerate(items.values()):
        member = np.zeros((len(groups), len(place)))
        for number, group in enumerate(groups):
            member[number, [place[name] for name in group]] = 1
        apart = member @ outlook.uncertainty @ member.T
        weights[row] = (apart.sum() - np.trace(apart)) / 2
        shown[row] = member.any(axis=0)
    hungry: BoolArray = np.asarray(shown[:, outlook.starved].any(axis=1))
    return Appeal({number: row for row, number in enumerate(items)}, weights, hungry)


def current(campaign: models.Campaign) -> Appeal | None:
    """Return the items' appeal, before any lock; ``None`` unless adaptive and past the start-up.

    While one thread computes a new one, the others use the last one.
    """
    if campaign.strategy != Strategy.ADAPTIVE:
        return None
    which = {"complete": True, "skipped": False, "automatic": False}
    count = models.Judgment.objects.filter(assignment__item__campaign=campaign, **which).count()
    if count < campaign.startup:
        return None
    key = str(connection.settings_dict["NAME"]), campaign.pk, campaign.created
    known = _newest.get(key)
    if known is not None and known[0] <= count < known[0] * (1 + NEWS) + 1:
        return known[1]
    if not _looking.acquire(blocking=known is None) and known is not None:
        return known[1]
    try:
        if _newest.get(key) is known:
            _newest[key] = count, _look(campaign)
        return _newest[key][1]
    finally:
        _looking.release()


def _look(campaign: models.Campaign) -> Appeal:
    normal = {*campaign.items.filter(kind=Kind.NORMAL).values_list("pk", flat=True)}
    shown = {at: of for at, of in results.shown_systems(campaign).items() if at in normal}
    systems = sorted({name for of in shown.values() for group in of for name in group})
    return weigh(outlook(systems, results.judgments(campaign), seed=campaign.seed), shown)
