"""Orders and slots: what assignments of all strategies have in common."""

from __future__ import annotations

import random
from collections.abc import Sequence

from django.db.models import F, QuerySet

from grammeter.campaign.models import Assignment, Item, Judge, State


def shuffled_places(item: Item, size: int, judge: Judge, turn: int) -> list[int]:
    """Return the order in which a judge sees the outputs; the campaign's seed decides it."""
    return shuffle(range(size), item.campaign.seed, item.number, judge.name, turn)


def shuffle(values: Sequence[int], *seed: object) -> list[int]:
    """Return values in an order that depends on the seed alone."""
    chance = random.Random("/".join(map(str, seed)))  # noqa: S311 - an order, no secret
    return chance.sample(values, len(values))


def jittered(stride: float, turn: int, *seed: object) -> int:
    """Return where in a list something stands that comes once every ``stride`` places.

    It lies anywhere in its stretch of the list, so that nobody can wait for it.
    """
    chance = random.Random("/".join(map(str, (*seed, turn))))  # noqa: S311 - a place, no secret
    return int(stride * (turn + chance.random()))


def compared(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Leave out items with one output, which answer themselves: places count from 0."""
    return assignments.filter(item__places__place=1)


def free_slot(item: Item) -> int:
    """Return the first slot of an item that nobody has."""
    if not item.taken:
        return 1
    taken = set(Assignment.objects.filter(item=item, slot__gt=0).values_list("slot", flat=True))
    return next(slot for slot in range(1, len(taken) + 2) if slot not in taken)


def release(assignments: QuerySet[Assignment]) -> int:
    """Give the slots of assignments back; return how many. Answers are welcome even so."""
    count = 0
    for assignment in assignments.filter(slot__isnull=False):
        Assignment.objects.filter(pk=assignment.pk).update(slot=None, state=State.RELEASED)
        Item.objects.filter(pk=assignment.item_id).update(taken=F("taken") - 1)
        count += 1
    return count
