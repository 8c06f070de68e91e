"""Choose a judge's next item: from a list, a pool, or where the ranking is least certain.

No slot is assigned twice, whatever happens at once. In a pool, attention items come at places that
differ between judges, and repeats some items after the first time.
"""

import random
import uuid
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, F, Max, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from grammeter.campaign.models import Assignment, Campaign, Item, Judge, Judgment, compared, release
from grammeter.campaign.services import adaptive
from grammeter.campaign.services.adaptive import Appeal
from grammeter.campaign.tasks import JOBS, Kind, State, Strategy

HOLD_HOURS = 24  # time after which another judge may have the slot of an open item
REPEAT_AFTER = 10  # number of items between an item and its repeat, in a pool without ``per_judge``
ATTENTION_EVERY = 10  # number of items between attention items, in a pool without ``per_judge``


def chance(*seed: object) -> random.Random:
    """Return random numbers that depend only on the seed."""
    return random.Random("/".join(map(str, seed)))  # noqa: S311 - orders and draws, no secret


def shuffle(values: Sequence[int], *seed: object) -> list[int]:
    """Return values in an order that depends only on the seed."""
    return chance(*seed).sample(values, len(values))


def jittered(stride: float, turn: int, *seed: object) -> int:
    """Return the place of an item that comes once in ``stride`` places, at a random one of them."""
    return int(stride * (turn + chance(*seed, turn).random()))


def next_assignment(judge: Judge) -> Assignment | None:
    """Return the judge's open item, or open the next one; ``None`` at the end.

    Items with one output are answered here, unseen. ``PermissionDenied`` if the judge is blocked.
    """
    appeal = adaptive.current(judge.campaign)
    with transaction.atomic():
        judges = Judge.objects.select_for_update(of=("self",)).select_related("campaign")
        locked = judges.get(pk=judge.pk)
        if locked.blocked:
            raise PermissionDenied("you are no longer a judge of this campaign")
        if locked.campaign.closed:
            return None
        assignment = _following(locked, appeal)
        if (assignment is None) != (locked.finished is not None):
            locked.finished = timezone.now() if assignment is None else None
            locked.save(update_fields=("finished",))
    judge.finished = locked.finished
    return assignment


def _following(judge: Judge, appeal: Appeal | None) -> Assignment | None:
    """Open the next item that is not open yet; those with one output get their answer here."""
    while (assignment := _waiting(judge) or _draw(judge, appeal)) is not None:
        if assignment.state == State.OPEN:
            return assignment
        item, now = assignment.item, timezone.now()
        places, seed = range(item.places.count()), (judge.campaign.seed, item.number)
        assignment.shown_order = shuffle(places, *seed, judge.name, assignment.turn)
        assignment.state, assignment.opened = State.OPEN, now
        if alone := len(places) < 2 and JOBS[item.task].compared:
            assignment.state, assignment.answered = State.DONE, now
        assignment.save()
        if not alone:
            return assignment
        answer = {"version": 1, "key": uuid.uuid4().hex, "complete": True, "automatic": True}
        answer |= {"ranks": [1] * len(places), "active_seconds": 0.0, "wall_seconds": 0.0}
        Judgment.objects.create(assignment=assignment, **answer)
    return None


def _waiting(judge: Judge) -> Assignment | None:
    # "open" comes before "planned" in the alphabet, too
    rows = judge.assignments.filter(state__in=(State.OPEN, State.PLANNED))
    assignment = rows.select_related("item__sentence").order_by("state", "position").first()
    if assignment is not None:
        assignment.item.campaign = judge.campaign
    return assignment


def _draw(judge: Judge, appeal: Appeal | None) -> Assignment | None:
    """Choose an item within a transaction that then saves it; ``None`` if there is none left."""
    campaign = judge.campaign
    if campaign.strategy == Strategy.PLANNED:
        return None
    list(Campaign.objects.select_for_update(no_key=True).filter(pk=campaign.pk).values_list("pk"))
    so_far = _history(judge)
    assignment = _attention(judge, so_far) or _repeat(judge, so_far)
    assignment = assignment or _fresh(judge, so_far, appeal)
    if assignment is None and _release_stale(judge):
        assignment = _fresh(judge, so_far, appeal)
    if assignment is not None:
        assignment.judge, assignment.position = judge, so_far["position"]
        assignment.item.campaign = campaign  # saves a query
        if assignment.probability is not None:
            taken = assignment.item.assignments.exclude(slot=None).values_list("slot", flat=True)
            used = {*taken}
            assignment.slot = next(slot for slot in range(1, len(used) + 2) if slot not in used)
            Item.objects.filter(pk=assignment.item_id).update(taken=F("taken") + 1)
    return assignment


def _release_stale(judge: Judge) -> int:
    """Release the slots of items that other judges opened and left."""
    now, held = timezone.now(), timedelta(hours=HOLD_HOURS)
    left = Assignment.objects.filter(item__campaign=judge.campaign, state=State.OPEN)
    # a time in the future: the clock was set back
    return release(left.exclude(judge=judge).exclude(opened__range=(now - held, now + held)))


def _history(judge: Judge) -> dict[str, int]:
    """Return the numbers of a judge's items and repeats so far, and the next position."""
    normal = Q(item__kind=Kind.NORMAL)
    return judge.assignments.aggregate(
        fresh=Count("pk", filter=normal & Q(turn=0)),
        repeats=Count("pk", filter=normal & Q(turn__gt=0)),
        position=Coalesce(Max("position"), 0) + 1,
    )


def _attention(judge: Judge, so_far: dict[str, int]) -> Assignment | None:
    campaign = judge.campaign
    items = campaign.items.filter(kind=Kind.ATTENTION).order_by("number")
    if not (todo := list(items.exclude(assignments__judge=judge).values_list("pk", flat=True))):
        return None
    total = items.count()
    stride = campaign.per_judge / total if campaign.per_judge else ATTENTION_EVERY
    if so_far["fresh"] < jittered(stride, total - len(todo), campaign.seed, judge.name):
        return None
    return Assignment(item_id=shuffle(todo, campaign.seed, judge.name, "attention")[0])


def _repeat(judge: Judge, so_far: dict[str, int]) -> Assignment | None:
    """Return a repeat, if one is due and an item was judged long enough ago."""
    campaign = judge.campaign
    if not campaign.repeats or so_far["repeats"] + 1 > campaign.repeats * so_far["fresh"] + 1e-9:
        return None
    after = campaign.per_judge // 2 if campaign.per_judge else REPEAT_AFTER
    normal = judge.assignments.filter(item__kind=Kind.NORMAL)
    latest, repeated = so_far["position"] - max(after, 1), normal.filter(turn__gt=0).values("item")
    old = compared(normal.filter(turn=0, state=State.DONE, position__lte=latest))
    old = old.exclude(item__in=repeated).order_by("position")
    if not (pool := list(old.values_list("item", flat=True))):
        return None
    chosen = shuffle(pool, campaign.seed, judge.name, "repeat", so_far["repeats"])[0]
    return Assignment(item_id=chosen, turn=1)


def _fresh(judge: Judge, so_far: dict[str, int], appeal: Appeal | None) -> Assignment | None:
    """Return an item with a free slot that is new to the judge."""
    campaign = judge.campaign
    if campaign.per_judge is not None and so_far["fresh"] >= campaign.per_judge:
        return None
    normal = campaign.items.filter(kind=Kind.NORMAL, taken__lt=F("wanted"))
    open_items = normal.exclude(assignments__judge=judge).order_by("number")
    if campaign.strategy == Strategy.POOL:
        item = open_items.first()
        return None if item is None else Assignment(item=item, probability=1.0)
    if not (rows := list(open_items.values_list("pk", "taken"))):
        return None
    numbers, taken = zip(*rows, strict=True)
    chances = np.full(len(rows), 1 / len(rows)) if appeal is None else appeal.probabilities(numbers)
    begun = np.array(taken) > 0  # by others: they have a share of the draws
    if begun.any():
        chances = (1 - campaign.overlap) * chances + campaign.overlap * begun / begun.sum()
    weights: list[float] = chances.tolist()
    draw = chance(campaign.seed, judge.name, so_far["position"])
    at = draw.choices(range(len(rows)), weights=weights)[0]
    return Assignment(item_id=rows[at][0], probability=weights[at])
