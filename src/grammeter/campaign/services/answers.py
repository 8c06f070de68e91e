"""Store judges' answers: every version, once."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from grammeter.campaign.choices import State
from grammeter.campaign.models import Assignment, Judge, Judgment, compared
from grammeter.campaign.tasks import JOBS, LONGEST_TEXT, Parts, Scene
from grammeter.core import DataError

LONGEST_SECONDS = 10**7
SEEN_EVERY = timedelta(minutes=1)  # between updates of `Judge.seen`: a write less for most answers
TRIES = 3  # most attempts at a tutorial or loud attention item
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


def save(
    judge: Judge, assignment: Assignment,
    *, key: str, ranks: Sequence[int | None] = (),
    verdicts: Sequence[Sequence[str | None]] | None = None,
    answer: Sequence[Mapping[str, Any]] | None = None, skipped: bool = False, reason: str = "",
    comment: str = "", active_seconds: float | None = None, wall_seconds: float | None = None,
    complete: bool = True,
) -> Judgment:  # fmt: skip
    """Store an answer; it is on disk when this returns.

    ``key``: 1 to 64 letters, digits, ``_`` and ``-``, chosen by the page for each submission; of
    several with one key, the first is stored and returned. ``ranks``: of each output in the order
    shown, from 1 (best) to the number of outputs, ``None`` where missing. ``verdicts`` (tasks
    ``edits``, ``marks``): for each output in the order shown, one word for each of its edits.
    ``answer``: for each output its scores by criterion, ``None`` for "cannot say" (``rating``,
    ``direct``), or its ``text`` and whether that is meant to be ``empty`` (``post-edit``).
    ``reason``: why it is skipped. Not ``complete``: a draft, which does not count.

    Raises ``PermissionDenied`` if the judge is blocked, or was never shown the item; ``DataError``
    if the answer is impossible, or the campaign is closed.
    """
    item, passed = assignment.item, skipped and complete
    job = JOBS[item.task]
    parts: Parts = {"ranks": ranks, "verdicts": verdicts, "answer": answer}
    if passed:
        parts |= {"ranks": (), "answer": None}
    scene = Scene([0] * len(assignment.shown_order), item.campaign.criteria_of(item.task))
    checked: Parts = {"ranks": [], **job.checked(parts, scene, complete and not skipped)}
    if passed:
        checked |= {"ranks": [], "answer": None}
    if not _KEY.match(key):
        raise DataError("an answer without a proper key", fix="Load the page again.")
    if passed and not reason.strip():
        raise DataError("skipped without a reason", fix="Say why you pass on this item.")
    judgment = Judgment(
        **{"assignment": assignment, "key": key, "skipped": skipped, "complete": complete},
        **checked,
        reason=_checked_text("reason", reason) if skipped or not complete else "",
        comment=_checked_text("comment", comment),
        active_seconds=_checked_seconds("active_seconds", active_seconds),
        wall_seconds=_checked_seconds("wall_seconds", wall_seconds),
    )
    if complete and item.expected is not None:
        wanted = [item.expected[place] for place in assignment.shown_order]
        judgment.correct = job.is_right(checked, wanted)
    # checks come first: other requests wait during the transaction
    with transaction.atomic():
        return _stored(judge, judgment)


def history(judge: Judge) -> QuerySet[Assignment]:
    """Return the judge's assignments so far, in order."""
    shown = compared(Assignment.objects.filter(judge=judge)).exclude(state=State.PLANNED)
    return shown.select_related("item__sentence").order_by("position")


def assignment_of(judge: Judge, number: int) -> Assignment:
    """Return an assignment; raise ``PermissionDenied`` unless this judge has seen it."""
    rows = Assignment.objects.select_related("item__sentence").filter(pk=number, judge=judge)
    if (assignment := rows.order_by().first()) is None or assignment.state == State.PLANNED:
        raise PermissionDenied("this is not an item of yours")
    assignment.judge, assignment.item.campaign = judge, judge.campaign  # saves queries
    return assignment


def latest(assignment: Assignment) -> Judgment | None:
    """Return the newest version, draft or not."""
    return Judgment.objects.filter(assignment=assignment).order_by("-version").first()


def is_asked_again(judgment: Judgment) -> bool:
    """Whether the judge must try again after a wrong answer."""
    assignment = judgment.assignment
    if not (assignment.item.loud and judgment.correct is False) or judgment.skipped:
        return False
    tries = Judgment.objects.filter(assignment=assignment, complete=True).count()
    return assignment.answered is None and tries < TRIES


def _stored(judge: Judge, judgment: Judgment) -> Judgment:
    """Store a version, unless its key exists; call it in a transaction."""
    assignment = judgment.assignment
    closed = _look_again(judge, assignment)
    versions = Judgment.objects.filter(assignment=assignment).order_by()
    numbers = dict(versions.values_list("key", "version"))
    if judgment.key in numbers:
        known = versions.get(key=judgment.key)
        known.assignment = assignment
        return known
    if closed:
        raise DataError("this campaign is closed", fix="Ask who invited you.")
    judgment.version = max(numbers.values(), default=0) + 1
    judgment.save(force_insert=True)
    if judgment.complete:
        _close(assignment, judgment)
    now = timezone.now()
    if judge.seen is None or abs(now - judge.seen) > SEEN_EVERY:
        Judge.objects.filter(pk=judge.pk).update(seen=now)
        judge.seen = now
    return judgment


def _look_again(judge: Judge, assignment: Assignment) -> bool:
    """Lock and refresh an assignment; return whether the campaign is closed."""
    rows = Assignment.objects.select_for_update(of=("self",)).filter(pk=assignment.pk, judge=judge)
    changing = ("state", "correct", "answered", "judge__blocked", "judge__campaign__closed")
    rows = rows.select_related("judge__campaign").only(*changing)
    if (now := next(iter(rows.order_by()), None)) is None or now.state == State.PLANNED:
        raise PermissionDenied("this is not an item of yours")
    if now.judge.blocked:
        raise PermissionDenied("you are no longer a judge of this campaign")
    assignment.state, assignment.correct, assignment.answered = now.state, now.correct, now.answered
    return now.judge.campaign.closed


def _close(assignment: Assignment, judgment: Judgment) -> None:
    if assignment.correct is None:
        assignment.correct = judgment.correct
    if not is_asked_again(judgment):
        assignment.state = State.SKIPPED if judgment.skipped else State.DONE
        assignment.answered = assignment.answered or timezone.now()
    assignment.save(update_fields=("correct", "state", "answered"))


def _checked_text(name: str, text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise DataError(f"a {name} of {len(text)} characters", fix=f"Write {LONGEST_TEXT} at most.")
    return text.replace("\0", "")  # PostgreSQL cannot hold it


def _checked_seconds(name: str, seconds: float | None) -> float | None:
    if seconds is not None and not 0 <= seconds <= LONGEST_SECONDS:  # NaN, too
        raise DataError(f"{name} is {seconds}", fix="Give a number of seconds from 0 on.")
    return seconds
