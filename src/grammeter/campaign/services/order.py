"""Orders and slots, for all strategies."""

from __future__ import annotations

import random
from collections.abc import Sequence

from django.db.models import F, QuerySet

from grammeter.campaign.models import Assignment, Item, Judge, State


def shuffled_places(item: Item, size: int, judge: Judge, turn: int) -> list[int]:
    """Return the order of the outputs for a judge, by the campaign's seed."""
    return shuffle(range(size), item.campaign.seed, item.number, judge.name, turn)


def shuffle(values: Sequence[int], *seed: object) -> list[int]:
    """Return values in an order that depends only on the seed."""
    chance = random.Random("/".join(map(str, seed)))  # noqa: S311 - an order, no secret
    return chance.sample(values, len(values))


def jittered(stride: float, turn: int, *seed: object) -> int:
    """Return the place of an item that comes once in ``stride`` places, at a random one of them."""
    chance = random.Random("/".join(map(str, (*seed, turn))))  # noqa: S311 - a place, no secret
    return int(stride * (turn + chance.random()))


def compared(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Keep items with two outputs or more, the only ones that judges see."""
    return assignments.filter(item__places__place=1)


def free_slot(item: Item) -> int:
    """Return the first free slot of an item."""
    if not item.taken:
        return 1
    taken = set(Assignment.objects.filter(item=item, slot__gt=0).values_list("slot", flat=True))
    return next(slot for slot in range(1, len(taken) + 2) if slot not in taken)


def release(assignments: QuerySet[Assignment]) -> int:
    """Release the slots of assignments, which can still be answered; return how many."""
    count = 0
    for assignment in assignments.filter(slot__isnull=False):
        Assignment.objects.filter(pk=assignment.pk).update(slot=None, state=State.RELEASED)
        Item.objects.filter(pk=assignment.item_id).update(taken=F("taken") - 1)
        count += 1
    return count
