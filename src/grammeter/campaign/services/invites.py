"""One-time links: a token of 128 bits, stored only as a hash."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from grammeter.campaign.models import COMMAND_LINE, AuditEntry, Campaign, Invite, Judge
from grammeter.campaign.services import judges
from grammeter.campaign.tasks import Strategy
from grammeter.core import DataError, UsageError

BYTES = 16
DAYS = 30  # validity of an invite


class InviteRefused(DataError):  # noqa: N818 - not an error of the program
    """An invalid invite: unknown, used, expired or revoked."""


def create(
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
    with transaction.atomic():
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


def check(token: str) -> None:
    """Raise :class:`InviteRefused` if a token is invalid; change nothing."""
    _valid(Invite.objects.all(), token)


def redeem(token: str) -> Judge:
    """Use an invite, and return its judge; raise :class:`InviteRefused` if it is invalid."""
    with transaction.atomic():
        invite = _valid(Invite.objects.select_for_update(of=("self",)), token)
        judge, now = invite.judge, timezone.now()
        invite.redeemed = now
        invite.save(update_fields=("redeemed",))
        judge.seen, judge.access = now, secrets.token_hex(16)  # earlier sessions end
        judge.joined = judge.joined or now
        judge.save(update_fields=("joined", "seen", "access"))
        AuditEntry.log(invite.campaign, judge.name, "join")
    return judge


def revoke(invite: Invite, *, who: str = COMMAND_LINE) -> None:
    """Make an unused invite invalid."""
    open_one = Invite.objects.filter(pk=invite.pk, redeemed=None, revoked=None)
    with transaction.atomic():
        if open_one.update(revoked=timezone.now()):
            AuditEntry.log(invite.campaign, who, "revoke invite", judge=invite.judge.name)


def _valid(invites: QuerySet[Invite], token: str) -> Invite:
    rows = invites.select_related("judge", "campaign").filter(token_hash=_hash(token))
    invite, reason = rows.first(), ""
    if invite is None:
        reason = "is unknown"
    elif invite.redeemed is not None:
        reason = "was used"
    elif invite.revoked is not None or invite.judge.blocked:
        reason = "was revoked"
    elif invite.expires > timezone.now():
        return invite
    fault = f"this invite {reason or 'has expired'}"
    raise InviteRefused(fault, fix="Ask who invited you for a new link.")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _places(campaign: Campaign, n: int) -> list[Judge]:
    """Return judges without a person: new ones, or unused planned ones."""
    if campaign.strategy != Strategy.PLANNED:
        return [judges.add(campaign) for _ in range(n)]
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
