"""What an adaptive campaign knows of its ranking, looked at now and then and kept between draws.

A draw would otherwise read all judgments, resample them, and read which systems each item shows.
The items of a campaign never change, and the ranking is looked at again when the judgments have
grown by a share (:data:`NEWS`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from grammeter.campaign.models import Campaign, Item, Judgment, Kind, Strategy
from grammeter.campaign.services import adaptive, results
from grammeter.core import FloatArray

NEWS = 0.05
"""By which share the judgments must have grown before the ranking is looked at again."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """How much each item tells, after so many judgments.

    Attributes
    ----------
    judgments
        How many it rests on.
    row
        Number of an item -> its row in ``appeal``.
    """

    judgments: int
    row: dict[int, int]
    appeal: adaptive.Appeal

    def probabilities(self, items: Sequence[int]) -> FloatArray:
        """Return how likely each of some items is to be drawn, shape ``(items,)``."""
        return self.appeal.probabilities([self.row[number] for number in items])

    def is_fresh(self, judgments: int) -> bool:
        """Whether the judgments have not grown by much since."""
        return self.judgments <= judgments < self.judgments * (1 + NEWS) + 1


def current(campaign: Campaign) -> Outlook | None:
    """Look at the ranking so far; call it before anything is locked.

    Returns
    -------
    Outlook or None
        ``None`` for campaigns that are not adaptive, and in their start-up phase.
    """
    if campaign.strategy != Strategy.ADAPTIVE:
        return None
    count = Judgment.objects.filter(
        assignment__item__campaign=campaign, complete=True, skipped=False, automatic=False
    ).count()
    return None if count < campaign.startup else _lookout(campaign).at(count)


class _Lookout:
    """The newest outlook of one campaign, for all threads."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._groups = _groups(campaign)
        self._newest: Outlook | None = None
        self._looking = threading.Lock()

    def at(self, judgments: int) -> Outlook:
        """Return an outlook; while one thread looks again, the others go on with the last one."""
        known = self._newest
        if known is not None and known.is_fresh(judgments):
            return known
        if not self._looking.acquire(blocking=known is None) and known is not None:
            return known
        try:
            if self._newest is known or self._newest is None:
                self._newest = self._look(judgments)
            return self._newest
        finally:
            self._looking.release()

    def _look(self, judgments: int) -> Outlook:
        campaign, shown = self._campaign, self._groups
        systems = sorted({name for own in shown.values() for group in own for name in group})
        found = adaptive.outlook(systems, results.judgments(campaign), seed=campaign.seed)
        row = {number: at for at, number in enumerate(shown)}
        return Outlook(judgments, row, adaptive.weigh(found, list(shown.values())))


_lookouts: dict[tuple[object, ...], _Lookout] = {}
_guard = threading.Lock()


def _lookout(campaign: Campaign) -> _Lookout:
    # a program may turn to another database of the same name, with other campaigns in it
    key = (str(connection.settings_dict["NAME"]), campaign.pk, campaign.created)
    with _guard:
        if key not in _lookouts:
            _lookouts[key] = _Lookout(campaign)
        return _lookouts[key]


def _groups(campaign: Campaign) -> dict[int, list[list[str]]]:
    """Return the systems behind each output that an item shows, for items that count."""
    groups: dict[int, list[list[str]]] = {}
    items = Item.objects.filter(campaign=campaign, kind=Kind.NORMAL)
    rows = items.order_by("number", "places__place")
    for number, systems in rows.values_list("pk", "places__output__systems"):
        own = groups.setdefault(number, [])
        if systems:  # an item without outputs has one row
            own.append(systems)
    return groups
