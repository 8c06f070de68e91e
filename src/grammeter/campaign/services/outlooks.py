"""The ranking of an adaptive campaign, cached between draws.

Computing it reads all judgments, resamples them, and reads the systems of each item. The items of
a campaign never change; the ranking is computed again when the number of judgments has grown by
the share :data:`NEWS`.
"""

from __future__ import annotations

import threading

from django.db import connection

from grammeter.campaign.models import Campaign, Item, Judgment, Kind, Strategy
from grammeter.campaign.services import adaptive, results
from grammeter.campaign.services.adaptive import Appeal

NEWS = 0.05
"""Relative growth of the judgments after which the ranking is computed again."""


def current(campaign: Campaign) -> Appeal | None:
    """Return the items' appeal so far; ``None`` unless adaptive and past the start-up phase.

    Call it before anything is locked.
    """
    if campaign.strategy != Strategy.ADAPTIVE:
        return None
    count = Judgment.objects.filter(
        assignment__item__campaign=campaign, complete=True, skipped=False, automatic=False
    ).count()
    return None if count < campaign.startup else _lookout(campaign).at(count)


class _Lookout:
    """The newest appeal of one campaign's items, shared by all threads."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        normal = set(Item.objects.filter(campaign=campaign, kind=Kind.NORMAL).values_list("pk"))
        shown = results.shown_systems(campaign)
        self._shown = {item: outputs for item, outputs in shown.items() if (item,) in normal}
        self._newest: tuple[int, Appeal] | None = None
        """The number of judgments, and the appeal computed from them."""
        self._looking = threading.Lock()

    def at(self, judgments: int) -> Appeal:
        """Return the appeal; while one thread computes a new one, the others use the last one."""
        known = self._newest
        if known is not None and known[0] <= judgments < known[0] * (1 + NEWS) + 1:
            return known[1]
        if not self._looking.acquire(blocking=known is None) and known is not None:
            return known[1]
        try:
            if self._newest is known or self._newest is None:
                self._newest = judgments, self._look()
            return self._newest[1]
        finally:
            self._looking.release()

    def _look(self) -> Appeal:
        campaign, shown = self._campaign, self._shown
        systems = {name for outputs in shown.values() for group in outputs for name in group}
        ranking = adaptive.outlook(sorted(systems), results.judgments(campaign), seed=campaign.seed)
        return adaptive.weigh(ranking, shown)


_lookouts: dict[tuple[object, ...], _Lookout] = {}
_guard = threading.Lock()


def _lookout(campaign: Campaign) -> _Lookout:
    # another database may have the same name, with other campaigns
    key = (str(connection.settings_dict["NAME"]), campaign.pk, campaign.created)
    with _guard:
        if key not in _lookouts:
            _lookouts[key] = _Lookout(campaign)
        return _lookouts[key]
