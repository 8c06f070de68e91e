"""Choose a judge's next item; no slot is assigned twice, whatever happens at once."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from grammeter.campaign.models import Assignment, Judge, Judgment, State, Strategy
from grammeter.campaign.services import draws, order, outlooks
from grammeter.campaign.services.adaptive import Appeal

HOLD_HOURS = 24
"""Time after which another judge may have the slot of an open item."""


def next_assignment(judge: Judge) -> Assignment | None:
    """Return the judge's open item, or open the next one of the list or pool.

    Items with one output are answered here, and nobody sees them. ``None`` if the judge has
    finished, or the campaign is closed.

    Raises
    ------
    PermissionDenied
        If the judge is blocked.
    """
    appeal = outlooks.current(judge.campaign)
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


def open_assignment(judge: Judge) -> Assignment | None:
    """Return the judge's open assignment; change nothing."""
    return Assignment.objects.filter(judge=judge, state=State.OPEN).order_by("position").first()


def _following(judge: Judge, appeal: Appeal | None) -> Assignment | None:
    while (assignment := _waiting(judge) or _drawn(judge, appeal)) is not None:
        if assignment.state == State.OPEN:
            return assignment
        _show(assignment, judge)
        if len(assignment.shown_order) > 1:
            return assignment
        _answer_itself(assignment)
    return None


def _waiting(judge: Judge) -> Assignment | None:
    """Return the open assignment, or the next one of the list."""
    # "open" comes before "planned" in the alphabet, too
    rows = Assignment.objects.filter(judge=judge, state__in=(State.OPEN, State.PLANNED))
    assignment = rows.select_related("item__sentence").order_by("state", "position").first()
    if assignment is not None:
        assignment.item.campaign = judge.campaign
    return assignment


def _drawn(judge: Judge, appeal: Appeal | None) -> Assignment | None:
    if judge.campaign.strategy == Strategy.PLANNED:
        return None
    assignment = draws.draw(judge, appeal)
    if assignment is None and _release_stale(judge):
        assignment = draws.draw(judge, appeal)
    return assignment


def _show(assignment: Assignment, judge: Judge) -> None:
    """Open and store an assignment, with the order of its outputs."""
    item = assignment.item
    size = item.places.count()
    assignment.shown_order = order.shuffled_places(item, size, judge, assignment.turn)
    assignment.state = State.OPEN
    assignment.opened = timezone.now()
    assignment.save()


def _answer_itself(assignment: Assignment) -> None:
    Judgment.objects.create(
        assignment=assignment,
        version=1,
        key=uuid.uuid4().hex,
        ranks=[1] * len(assignment.shown_order),
        complete=True,
        automatic=True,
        active_seconds=0.0,
        wall_seconds=0.0,
    )
    assignment.state = State.DONE
    assignment.answered = timezone.now()
    assignment.save(update_fields=("state", "answered"))


def _release_stale(judge: Judge) -> int:
    """Release the slots of items that other judges opened and left."""
    now, held = timezone.now(), timedelta(hours=HOLD_HOURS)
    left = Assignment.objects.filter(item__campaign=judge.campaign, state=State.OPEN)
    left = left.exclude(judge=judge)
    # a time in the future: the clock was set back
    return order.release(left.exclude(opened__range=(now - held, now + held)))
