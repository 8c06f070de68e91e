"""Orders and slots, for all strategies."""

from __future__ import annotations

import random
from collections.abc import Sequence

from django.db.models import F, QuerySet

from grammeter.campaign.choices import State
from grammeter.campaign.models import Assignment, Item


def chance(*seed: object) -> random.Random:
    """Return random numbers that depend only on the seed."""
    return random.Random("/".join(map(str, seed)))  # noqa: S311 - orders and draws, no secret


def shuffle(values: Sequence[int], *seed: object) -> list[int]:
    """Return values in an order that depends only on the seed."""
    return chance(*seed).sample(values, len(values))


def jittered(stride: float, turn: int, *seed: object) -> int:
    """Return the place of an item that comes once in ``stride`` places, at a random one of them."""
    return int(stride * (turn + chance(*seed, turn).random()))


def compared(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Keep items with two outputs or more, the only ones that judges see."""
    return assignments.filter(item__places__place=1)


def release(assignments: QuerySet[Assignment]) -> int:
    """Release the slots of assignments, which can still be answered; return how many."""
    held = list(assignments.filter(slot__isnull=False))
    for assignment in held:
        Assignment.objects.filter(pk=assignment.pk).update(slot=None, state=State.RELEASED)
        Item.objects.filter(pk=assignment.item_id).update(taken=F("taken") - 1)
    return len(held)
