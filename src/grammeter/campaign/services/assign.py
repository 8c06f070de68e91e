"""Which item a judge gets next. Whatever happens at once, no slot is given away twice."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from grammeter.campaign.models import Assignment, Judge, Judgment, State, Strategy
from grammeter.campaign.services import draws, order, outlooks
from grammeter.campaign.services.outlooks import Outlook

HOLD_HOURS = 24
"""How long a judge may leave an item open before another one may have its slot."""


def next_assignment(judge: Judge) -> Assignment | None:
    """Return what a judge is to judge now: what is open, else the next of the list or draw.

    Items with one output are ties by themselves: they are answered here, and nobody sees them.

    Returns
    -------
    Assignment or None
        ``None`` if the judge has finished, or the campaign is closed.

    Raises
    ------
    PermissionDenied
        If the judge is blocked.
    """
    outlook = outlooks.current(judge.campaign)
    with transaction.atomic():
        judges = Judge.objects.select_for_update(of=("self",)).select_related("campaign")
        locked = judges.get(pk=judge.pk)
        if locked.blocked:
            raise PermissionDenied("you are no longer a judge of this campaign")
        if locked.campaign.closed:
            return None
        found = _following(locked, outlook)
        _note_end(locked, found)
    judge.finished = locked.finished
    return found


def open_assignment(judge: Judge) -> Assignment | None:
    """Return what the judge has open; nothing is changed."""
    return Assignment.objects.filter(judge=judge, state=State.OPEN).order_by("position").first()


def _following(judge: Judge, outlook: Outlook | None) -> Assignment | None:
    while (found := _waiting(judge) or _drawn(judge, outlook)) is not None:
        if found.state == State.OPEN:
            return found
        _show(found, judge)
        if len(found.shown_order) > 1:
            return found
        _answer_itself(found)
    return None


def _waiting(judge: Judge) -> Assignment | None:
    """Return what is open, else the next of the list."""
    # "open" comes before "planned" in the alphabet, too
    rows = Assignment.objects.filter(judge=judge, state__in=(State.OPEN, State.PLANNED))
    found = rows.select_related("item__sentence").order_by("state", "position").first()
    if found is not None:
        found.item.campaign = judge.campaign
    return found


def _drawn(judge: Judge, outlook: Outlook | None) -> Assignment | None:
    if judge.campaign.strategy == Strategy.PLANNED:
        return None
    found = draws.draw(judge, outlook)
    if found is None and _release_stale(judge):
        found = draws.draw(judge, outlook)
    return found


def _show(assignment: Assignment, judge: Judge) -> None:
    """Open and store an assignment: fix the order of its outputs, which is recorded."""
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
    """Take back the slots of what other judges opened and left."""
    now, held = timezone.now(), timedelta(hours=HOLD_HOURS)
    left = Assignment.objects.filter(item__campaign=judge.campaign, state=State.OPEN)
    left = left.exclude(judge=judge)
    # what was opened long from now was opened before the clock was set back
    return order.release(left.exclude(opened__range=(now - held, now + held)))


def _note_end(judge: Judge, found: Assignment | None) -> None:
    if (found is None) != (judge.finished is not None):
        judge.finished = timezone.now() if found is None else None
        judge.save(update_fields=("finished",))
