"""Judges: invites, access, consent, questionnaire, completion, deletion of personal data.

An invite is a link with a token of 128 bits, of which a hash is stored.
"""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any
from urllib.parse import quote

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from grammeter.campaign import models
from grammeter.campaign.criteria import NAME_LENGTH
from grammeter.campaign.models import COMMAND_LINE, AuditEntry, Campaign, Invite, Judge
from grammeter.campaign.tasks import Kind, State, Strategy
from grammeter.core import DataError, UsageError

BYTES = 16
DAYS = 30  # validity of an invite
ANSWERS = {"first_language": NAME_LENGTH, "experience": 2000, "remarks": 2000}
"""What the questionnaire asks for -> most characters of an answer."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The end of a judge's work; ``passed``: enough attention items right at the first try."""

    passed: bool
    code: str
    url: str


def find(campaign: Campaign, name: str) -> Judge:
    """Return a judge by name; raise :class:`UnknownNameError` if there is none."""
    return models.named(campaign.judges.all(), f"judge of {campaign.name}", name)


def add(campaign: Campaign, name: str | None = None) -> Judge:
    """Create a judge, with the tutorial; the caller locks the campaign. Default name: a number."""
    if name is None:
        names = {*campaign.judges.values_list("name", flat=True)}
        name = next(free for at in count(len(names) + 1) if (free := f"judge{at:02}") not in names)
    judge = campaign.judges.create(name=name)
    tutorial = campaign.items.filter(kind=Kind.TUTORIAL).order_by("number")
    for position, item in enumerate(tutorial, start=1):
        judge.assignments.create(item=item, position=position)
    return judge


def session_of(judge: Judge) -> dict[str, Any]:
    """Return the session data of a judge."""
    return {"judge": judge.pk, "access": judge.access}


def from_session(session: Mapping[str, Any] | None) -> Judge | None:
    """Return the judge of :func:`session_of`'s data; ``None`` if it lets nobody in."""
    number, access = (session["judge"], session["access"]) if session else (0, "")
    known = Judge.objects.filter(pk=number, access=access, blocked=False, forgotten=None)
    rows = known.exclude(access="").select_related("campaign")
    return next(iter(rows.order_by()), None)  # `first` would put them in order


@transaction.atomic
def consent(judge: Judge) -> None:
    """Record the judge's consent to the campaign's text."""
    if judge.consented is None:
        judge.consented = timezone.now()
        judge.save(update_fields=("consented",))
        AuditEntry.log(judge.campaign, judge.name, "consent")


@transaction.atomic
def tell_background(judge: Judge, **answers: str) -> None:
    """Store questionnaire answers, see :data:`ANSWERS`; all may be empty."""
    texts = {name: _one_line(answers.get(name, ""), size) for name, size in ANSWERS.items()}
    if any(texts.values()):
        models.Background.objects.update_or_create(judge=judge, defaults=texts)
    judge.asked_background = judge.asked_background or timezone.now()
    judge.save(update_fields=("asked_background",))


def people(campaign: Campaign) -> list[dict[str, str | None]]:
    """Return personal data, one row per judge: name, note, consent, questionnaire answers."""
    return [
        {
            "judge": judge.name,
            "who": judge.contact,
            "consented": judge.consented.isoformat() if judge.consented else None,
            **{name: getattr(getattr(judge, "background", None), name, "") for name in ANSWERS},
        }
        for judge in campaign.judges.select_related("background").order_by("pk")
    ]


def needs(judge: Judge) -> str:
    """Return what the judge must still see before the items: ``consent``, ``about`` or nothing."""
    if judge.campaign.consent.strip() and judge.consented is None:
        return "consent"
    return "about" if judge.campaign.asks_background and judge.asked_background is None else ""


def passed(judge: Judge) -> bool:
    """Whether enough of the judge's attention items were right at the first try."""
    seen = judge.assignments.filter(item__kind=Kind.ATTENTION).exclude(state=State.PLANNED)
    answers = seen.exclude(correct=None).values_list("correct", flat=True)
    return is_enough(judge.campaign, sum(answers), len(answers))


def is_enough(campaign: Campaign, right: int, answered: int) -> bool:
    """Whether this number of right answers to attention items reaches the threshold."""
    return right >= campaign.pass_threshold * answered - 1e-9


def completion(judge: Judge) -> Completion:
    """Return whether a judge passed, and the code; raise ``PermissionDenied`` before the end."""
    if judge.finished is None:
        raise PermissionDenied("there are items to judge")
    campaign, good = judge.campaign, passed(judge)
    code = campaign.pass_code if good else campaign.fail_code
    return Completion(good, code, campaign.redirect_url.replace("{code}", quote(code, safe="")))


@transaction.atomic
def note(judge: Judge, contact: str, *, who: str = COMMAND_LINE) -> None:
    """Store the organiser's note on a person; the log names the judge, without the note."""
    contact = _one_line(contact, NAME_LENGTH)
    if Judge.objects.filter(pk=judge.pk, forgotten=None).update(contact=contact):
        AuditEntry.log(judge.campaign, who, "note", judge=judge.name)


@transaction.atomic
def block(judge: Judge, *, who: str = COMMAND_LINE) -> None:
    """Block a judge: judgments stay, open items go back to the pool."""
    Judge.objects.filter(pk=judge.pk).update(blocked=True, access="")
    judge.invites.filter(redeemed=None, revoked=None).update(revoked=timezone.now())
    models.release(judge.assignments.filter(state=State.OPEN))
    AuditEntry.log(judge.campaign, who, "block", judge=judge.name)


@transaction.atomic
def exclude(judge: Judge, reason: str, *, who: str = COMMAND_LINE) -> bool:
    """Leave a judge out of all results, or count them again if the reason is empty.

    Return whether that changed anything.
    """
    reason = _one_line(reason, NAME_LENGTH)
    changed = Judge.objects.filter(pk=judge.pk).exclude(excluded=reason).update(excluded=reason)
    if changed:
        AuditEntry.log(judge.campaign, who, "exclude", judge=judge.name, reason=reason)
    return bool(changed)


@transaction.atomic
def forget(judge: Judge, *, rename: str | None = None, who: str = COMMAND_LINE) -> Judge:
    """Delete a judge's personal data; the judgments stay, under the anonymous name.

    Deleted are the questionnaire, the organiser's note, sessions, invites, and the free texts of
    judgments (comments, reasons for skipping). ``rename`` is another anonymous name, for a judge
    imported under a real one.
    """
    others = judge.campaign.judges.filter(name=rename).exclude(pk=judge.pk)
    if rename is not None and (not rename.strip() or others.exists()):
        raise UsageError(f"the name {rename!r} is taken or empty", fix="Give another one.")
    old = judge.name
    models.Background.objects.filter(judge=judge).delete()
    judge.invites.all().delete()
    models.Judgment.objects.filter(assignment__judge=judge).update(comment="", reason="")
    judge.contact, judge.access, judge.blocked = "", "", True
    judge.name, judge.forgotten = rename or judge.name, timezone.now()
    judge.save()
    if judge.name != old:
        judge.campaign.audit.filter(who=old).update(who=judge.name)
        for entry in judge.campaign.audit.all():
            entry.detail = _renamed(entry.detail, old, judge.name)
            entry.save(update_fields=("detail",))
    models.release(judge.assignments.filter(state=State.OPEN))
    AuditEntry.log(judge.campaign, who, "forget", judge=judge.name)
    return judge


# --- invites
class InviteRefused(DataError):  # noqa: N818 - not an error of the program
    """An invalid invite: unknown, used, expired or revoked."""


@transaction.atomic
def invite(
    campaign: Campaign, n: int = 1,
    *, judge: Judge | None = None, days: float = DAYS, who: str = COMMAND_LINE,
) -> list[str]:  # fmt: skip
    """Create invites, and judges where none are planned; return tokens, which are not stored.

    With ``judge``: a new link for another browser of theirs, and older ones are revoked.
    """
    if n < 1 or not 0 < days <= 3650:
        fix = "Ask for one at least, good for more than 0 and at most 3650 days."
        raise UsageError(f"invites: {n}, for {days} days", fix=fix)
    now = timezone.now()
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    invited = [judge] if judge is not None else _places(locked, n)
    if judge is not None:
        judge.invites.filter(redeemed=None, revoked=None).update(revoked=now)
    tokens = [secrets.token_urlsafe(BYTES) for _ in invited]
    row = {"campaign": locked, "expires": now + timedelta(days=days)}
    pairs = zip(invited, tokens, strict=True)
    Invite.objects.bulk_create(Invite(judge=j, token_hash=_hash(t), **row) for j, t in pairs)
    AuditEntry.log(locked, who, "invite", judges=[guest.name for guest in invited])
    return tokens


def links(base_url: str, tokens: Sequence[str]) -> dict[str, str]:
    """Return the addresses of invites' pages, ``BASE/join/TOKEN/``, by the judge's name."""
    invites = Invite.objects.filter(token_hash__in=map(_hash, tokens))
    names = dict(invites.values_list("token_hash", "judge__name"))
    return {names[_hash(token)]: f"{base_url.rstrip('/')}/join/{token}/" for token in tokens}


def check_invite(token: str) -> None:
    """Raise :class:`InviteRefused` if a token is invalid; change nothing."""
    _valid(Invite.objects.all(), token)


@transaction.atomic
def redeem(token: str) -> Judge:
    """Use an invite, and return its judge; raise :class:`InviteRefused` if it is invalid."""
    invite = _valid(Invite.objects.select_for_update(of=("self",)), token)
    judge, now = invite.judge, timezone.now()
    invite.redeemed = now
    invite.save(update_fields=("redeemed",))
    judge.seen, judge.access = now, secrets.token_hex(16)  # earlier sessions end
    judge.joined = judge.joined or now
    judge.save(update_fields=("joined", "seen", "access"))
    AuditEntry.log(invite.campaign, judge.name, "join")
    return judge


@transaction.atomic
def revoke(invite: Invite, *, who: str = COMMAND_LINE) -> None:
    """Make an unused invite invalid."""
    open_one = Invite.objects.filter(pk=invite.pk, redeemed=None, revoked=None)
    if open_one.update(revoked=timezone.now()):
        AuditEntry.log(invite.campaign, who, "revoke invite", judge=invite.judge.name)


def _one_line(text: str, longest: int) -> str:
    return " ".join(text.replace("\0", "").split())[:longest]


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(part, old, new) for key, part in value.items()}  # pyright: ignore
    if isinstance(value, list):
        return [_renamed(part, old, new) for part in value]  # pyright: ignore
    return new if value == old else value


def _valid(invites: QuerySet[Invite], token: str) -> Invite:
    rows = invites.select_related("judge", "campaign").filter(token_hash=_hash(token))
    invite, reason = rows.first(), ""
    if invite is None:
        reason = gettext_noop("this invite is unknown")
    elif invite.redeemed is not None:
        reason = gettext_noop("this invite was used")
    elif invite.revoked is not None or invite.judge.blocked:
        reason = gettext_noop("this invite was revoked")
    elif invite.expires > timezone.now():
        return invite
    fault = reason or gettext_noop("this invite has expired")
    raise InviteRefused(fault, fix=gettext_noop("Ask who invited you for a new link."))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _places(campaign: Campaign, n: int) -> list[Judge]:
    """Return judges without a person: new ones, or unused planned ones."""
    if campaign.strategy != Strategy.PLANNED:
        return [add(campaign) for _ in range(n)]
    waiting = campaign.invites.filter(redeemed=None, revoked=None, expires__gt=timezone.now())
    free = campaign.judges.filter(joined=None, blocked=False, forgotten=None)
    # imported judges are no free places
    planned = free.filter(assignments__isnull=False, assignments__answered=None).distinct()
    places = list(planned.exclude(pk__in=waiting.values("judge")).order_by("name")[:n])
    if len(places) < n:
        fault = f"invites wanted: {n}, but {campaign.name} has {len(places)} places without one"
        again = "Give a judge another link by name (--judge judge02; an unused one stops working)"
        fix = f"{again}, or make a campaign with --strategy pool, which takes any number of judges."
        raise UsageError(fault, fix=fix)
    return places
