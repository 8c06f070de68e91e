"""Judges: who comes in, what they agree to, how they end, and what is forgotten of them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from grammeter.campaign.models import (
    NAME_LENGTH,
    Assignment,
    Background,
    Campaign,
    Invite,
    Item,
    Judge,
    Judgment,
    Kind,
    State,
)
from grammeter.campaign.services import audit, order
from grammeter.core import UnknownNameError, UsageError

LONGEST_TOLD = 2000
"""Characters of what judges tell of their experience."""

_NUMBERED = re.compile(r"judge(\d{1,9})\Z")


@dataclass(frozen=True, slots=True)
class Completion:
    """How a judge ended.

    Attributes
    ----------
    passed
        Whether enough attention items were right at the first try.
    code
        The completion code; empty if the campaign has none.
    url
        Where to go, with the code in it, quoted as addresses want it; empty if nowhere.
    """

    passed: bool
    code: str
    url: str


def find(campaign: Campaign, name: str) -> Judge:
    """Return a judge by name; raise :class:`UnknownNameError` if there is none."""
    found = Judge.objects.filter(campaign=campaign, name=name).first()
    if found is None:
        names = Judge.objects.filter(campaign=campaign).values_list("name", flat=True)
        raise UnknownNameError(f"judge of {campaign.name}", name, names)
    return found


def names_of(count: int) -> list[str]:
    """Return as many anonymous names: ``judge01`` and on."""
    width = max(2, len(str(count)))
    return [f"judge{number:0{width}}" for number in range(1, count + 1)]


def add(campaign: Campaign, name: str | None = None) -> Judge:
    """Make a judge, whose list begins with the tutorial.

    The name is the next free number unless given. Call it in a transaction that holds the
    campaign.
    """
    judge = Judge.objects.create(campaign=campaign, name=name or _next_name(campaign))
    tutorial = Item.objects.filter(campaign=campaign, kind=Kind.TUTORIAL).order_by("number")
    Assignment.objects.bulk_create(
        Assignment(judge=judge, item=item, position=position)
        for position, item in enumerate(tutorial, start=1)
    )
    return judge


def let_in(judge: Judge) -> Judge:
    """Note that somebody comes in with an invite; sessions of before end."""
    judge.joined = judge.joined or timezone.now()
    judge.seen = timezone.now()
    judge.access = secrets.token_hex(16)
    judge.save(update_fields=("joined", "seen", "access"))
    return judge


def session_of(judge: Judge) -> dict[str, Any]:
    """Return what a session keeps of a judge."""
    return {"judge": judge.pk, "access": judge.access}


def from_session(kept: object) -> Judge | None:
    """Return the judge of what :func:`session_of` gave; ``None`` if nobody is to be let in."""
    if not isinstance(kept, Mapping):
        return None
    found: Mapping[str, Any] = kept  # pyright: ignore[reportUnknownVariableType]
    number, access = found.get("judge"), str(found.get("access")).encode()
    if not isinstance(number, int):
        return None
    rows = Judge.objects.select_related("campaign").filter(pk=number)
    judge = next(iter(rows.order_by()), None)  # `first` would put them in order
    if judge is None or judge.blocked or judge.forgotten is not None or not judge.access:
        return None
    return judge if secrets.compare_digest(judge.access.encode(), access) else None


def consent(judge: Judge) -> None:
    """Note that a judge agrees to the campaign's consent text."""
    now = timezone.now()
    with transaction.atomic():
        if Judge.objects.filter(pk=judge.pk, consented=None).update(consented=now):
            judge.consented = now
            audit.log(judge.campaign, judge.name, "consent")


def tell_background(
    judge: Judge, *, first_language: str = "", experience: str = "", remarks: str = ""
) -> None:
    """Keep what judges tell of themselves; everything may be left empty."""
    told = {"first_language": first_language, "experience": experience, "remarks": remarks}
    longest = {"first_language": NAME_LENGTH}
    kept = {
        key: " ".join(text.replace("\0", "").split())[: longest.get(key, LONGEST_TOLD)]
        for key, text in told.items()
    }
    with transaction.atomic():
        if any(kept.values()):
            Background.objects.update_or_create(judge=judge, defaults=kept)
        judge.asked_background = judge.asked_background or timezone.now()
        judge.save(update_fields=("asked_background",))


def people(campaign: Campaign) -> list[dict[str, str | None]]:
    """Return who judges are and what they told of themselves, a row each: personal.

    ``judge`` is the anonymous name, ``who`` the organiser's note, ``consented`` a time or
    ``None``; the others are empty where nothing was told.
    """
    known = {each.judge_id: each for each in Background.objects.filter(judge__campaign=campaign)}
    rows: list[dict[str, str | None]] = []
    for judge in Judge.objects.filter(campaign=campaign).order_by("pk"):
        own = known.get(judge.pk, Background())
        rows.append(
            {
                "judge": judge.name,
                "who": judge.contact,
                "consented": judge.consented.isoformat() if judge.consented else None,
                "first_language": own.first_language,
                "experience": own.experience,
                "remarks": own.remarks,
            }
        )
    return rows


def needs_consent(judge: Judge) -> bool:
    """Whether the judge has still to agree to something."""
    return bool(judge.campaign.consent.strip()) and judge.consented is None


def needs_background(judge: Judge) -> bool:
    """Whether the judge has still to be shown the form."""
    return judge.campaign.asks_background and judge.asked_background is None


def passed(judge: Judge) -> bool:
    """Whether enough attention items that the judge saw were right at the first try."""
    seen = Assignment.objects.filter(judge=judge, item__kind=Kind.ATTENTION).exclude(
        state=State.PLANNED
    )
    answers = seen.exclude(correct=None).values_list("correct", flat=True)
    return is_enough(judge.campaign, sum(answers), len(answers))


def is_enough(campaign: Campaign, right: int, answered: int) -> bool:
    """Whether so many right answers to attention items are enough."""
    return right >= campaign.pass_threshold * answered - 1e-9


def completion(judge: Judge) -> Completion:
    """Return how a judge ended; who has not finished may not ask.

    Raises
    ------
    PermissionDenied
        If there are items to judge.
    """
    if judge.finished is None:
        raise PermissionDenied("there are items to judge")
    campaign, good = judge.campaign, passed(judge)
    code = campaign.pass_code if good else campaign.fail_code
    return Completion(good, code, campaign.redirect_url.replace("{code}", quote(code, safe="")))


def note(judge: Judge, contact: str, *, who: str = audit.COMMAND_LINE) -> None:
    """Keep the organiser's note of who a judge is; the log says that, and not what it says."""
    kept = " ".join(contact.replace("\0", "").split())[:NAME_LENGTH]
    with transaction.atomic():
        if Judge.objects.filter(pk=judge.pk, forgotten=None).update(contact=kept):
            audit.log(judge.campaign, who, "note", judge=judge.name)


def block(judge: Judge, *, who: str = audit.COMMAND_LINE) -> None:
    """Let a judge in no more; what was judged stays, what was begun goes back to the pool."""
    with transaction.atomic():
        Judge.objects.filter(pk=judge.pk).update(blocked=True, access="")
        Invite.objects.filter(judge=judge, redeemed=None, revoked=None).update(
            revoked=timezone.now()
        )
        order.release(Assignment.objects.filter(judge=judge, state=State.OPEN))
        audit.log(judge.campaign, who, "block", judge=judge.name)


def forget(judge: Judge, *, rename: str | None = None, who: str = audit.COMMAND_LINE) -> Judge:
    """Delete all that tells who a judge is; the judgments stay, under the anonymous name.

    The form about themselves, the organiser's note, sessions and invites go, and the free texts
    of judgments (comments, reasons for skipping), in which people name themselves.

    Parameters
    ----------
    rename
        Another anonymous name, for a judge who was imported under a telling one.

    Raises
    ------
    UsageError
        If another judge has that name.
    """
    with transaction.atomic():
        others = Judge.objects.filter(campaign=judge.campaign, name=rename).exclude(pk=judge.pk)
        if rename is not None and (not rename.strip() or others.exists()):
            raise UsageError(f"the name {rename!r} is taken or empty", fix="Give another one.")
        old = judge.name
        Background.objects.filter(judge=judge).delete()
        Invite.objects.filter(judge=judge).delete()
        Judgment.objects.filter(assignment__judge=judge).update(comment="", reason="")
        judge.contact, judge.access, judge.blocked = "", "", True
        judge.name, judge.forgotten = rename or judge.name, timezone.now()
        judge.save()
        if judge.name != old:
            audit.rename(judge.campaign, old, judge.name)
        order.release(Assignment.objects.filter(judge=judge, state=State.OPEN))
        audit.log(judge.campaign, who, "forget", judge=judge.name)
    return judge


def _next_name(campaign: Campaign) -> str:
    names = Judge.objects.filter(campaign=campaign).values_list("name", flat=True)
    numbers = [int(found[1]) for found in map(_NUMBERED.match, names) if found]
    return f"judge{max(numbers, default=0) + 1:02}"
