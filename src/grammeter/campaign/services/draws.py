"""Draws from a pool: in the order of the items, or where the ranking is least certain.

A draw comes with what belongs between the items: attention items at places that each judge has
for himself, and repeats of items that were judged a good while ago.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Max, Q

from grammeter.campaign.models import Assignment, Campaign, Item, Judge, Kind, State, Strategy
from grammeter.campaign.services import order
from grammeter.campaign.services.outlooks import Outlook

REPEAT_AFTER = 10
"""How many items lie between an item and its repeat, if nobody knows how many there will be."""

ATTENTION_EVERY = 10
"""How many items lie between attention items, if nobody knows how many there will be."""


def draw(judge: Judge, outlook: Outlook | None = None) -> Assignment | None:
    """Choose an item for a judge; ``None`` if there is none to give.

    Call it in a transaction, and save what it returns there. Draws of one campaign come one after
    the other.

    Parameters
    ----------
    outlook
        From :func:`grammeter.campaign.services.outlooks.current`, before the transaction.
    """
    campaign = judge.campaign
    list(Campaign.objects.select_for_update(no_key=True).filter(pk=campaign.pk).values_list("pk"))
    given = _Given.of(judge)
    return (
        _attention(judge, given)
        or (_repeat(judge, given) if campaign.repeats else None)
        or _fresh(judge, campaign, given, outlook)
    )


@dataclass(frozen=True, slots=True)
class _Given:
    """What a judge was given so far: items that count, their repeats, and the next position."""

    fresh: int
    repeats: int
    position: int

    @classmethod
    def of(cls, judge: Judge) -> _Given:
        normal = Q(item__kind=Kind.NORMAL)
        found = Assignment.objects.filter(judge=judge).aggregate(
            fresh=Count("pk", filter=normal & Q(turn=0)),
            repeats=Count("pk", filter=normal & Q(turn__gt=0)),
            last=Max("position"),
        )
        return cls(found["fresh"], found["repeats"], (found["last"] or 0) + 1)


def _attention(judge: Judge, given: _Given) -> Assignment | None:
    """Return the next attention item, where its turn has come."""
    campaign = judge.campaign
    items = Item.objects.filter(campaign=campaign, kind=Kind.ATTENTION).order_by("number")
    total = items.count()
    if not total:
        return None
    todo = list(items.exclude(assignments__judge=judge).values_list("pk", flat=True))
    stride = campaign.per_judge / total if campaign.per_judge else ATTENTION_EVERY
    place = order.jittered(stride, total - len(todo), campaign.seed, judge.name)
    if not todo or given.fresh < place:
        return None
    chosen = order.shuffle(todo, campaign.seed, judge.name, "attention")[0]
    return _assigned(judge, Item.objects.get(pk=chosen), given)


def _repeat(judge: Judge, given: _Given) -> Assignment | None:
    """Return a repeat, where one is due and something was judged long enough ago."""
    campaign = judge.campaign
    if given.repeats + 1 > campaign.repeats * given.fresh + 1e-9:
        return None
    after = campaign.per_judge // 2 if campaign.per_judge else REPEAT_AFTER
    normal = Assignment.objects.filter(judge=judge, item__kind=Kind.NORMAL)
    old = (
        order.compared(normal.filter(turn=0, state=State.DONE))
        .filter(position__lte=given.position - max(after, 1))
        .exclude(item__in=normal.filter(turn__gt=0).values("item"))
        .order_by("position")
    )
    pool = list(old.values_list("item", flat=True))
    if not pool:
        return None
    chosen = order.shuffle(pool, campaign.seed, judge.name, "repeat", given.repeats)[0]
    return _assigned(judge, Item.objects.get(pk=chosen), given, turn=1)


def _fresh(
    judge: Judge,
    campaign: Campaign,
    given: _Given,
    outlook: Outlook | None,
) -> Assignment | None:
    """Return an item that the judge has not seen and that has a slot."""
    if campaign.per_judge is not None and given.fresh >= campaign.per_judge:
        return None
    open_items = (
        Item.objects.filter(campaign=campaign, kind=Kind.NORMAL, taken__lt=F("wanted"))
        .exclude(assignments__judge=judge)
        .order_by("number")
    )
    if campaign.strategy == Strategy.POOL:
        item = open_items.first()
        return None if item is None else _assigned(judge, item, given, probability=1.0)
    rows = list(open_items.values_list("pk", "taken"))
    if not rows:
        return None
    chances = _chances(campaign, rows, outlook)
    chance = random.Random(  # noqa: S311 - a draw, no secret
        f"{campaign.seed}/{judge.name}/{given.position}"
    )
    at = chance.choices(range(len(rows)), weights=chances)[0]
    item = Item.objects.get(pk=rows[at][0])
    return _assigned(judge, item, given, probability=chances[at])


def _chances(
    campaign: Campaign, rows: Sequence[tuple[int, int]], outlook: Outlook | None
) -> list[float]:
    """Return how likely each item is; a share of the draws is for items that others have begun."""
    if outlook is None:
        chances = [1 / len(rows)] * len(rows)
    else:
        chances = outlook.probabilities([number for number, _ in rows]).tolist()
    begun = [taken > 0 for _, taken in rows]
    if not any(begun):
        return chances
    share = campaign.overlap
    return [
        (1 - share) * chance + share * shared / sum(begun)
        for chance, shared in zip(chances, begun, strict=True)
    ]


def _assigned(
    judge: Judge,
    item: Item,
    given: _Given,
    *,
    turn: int = 0,
    probability: float | None = None,
) -> Assignment:
    """Choose an item for a judge; what was drawn with a probability takes one of its slots."""
    slot = None
    if probability is not None:
        slot = order.free_slot(item)
        Item.objects.filter(pk=item.pk).update(taken=F("taken") + 1)
    item.campaign = judge.campaign  # it is at hand
    return Assignment(
        judge=judge,
        item=item,
        position=given.position,
        turn=turn,
        slot=slot,
        probability=probability,
    )
