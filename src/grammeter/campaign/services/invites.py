"""One-time links: a token of 128 bits, of which only a hash is kept."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from grammeter.campaign.models import Campaign, Invite, Judge, Strategy
from grammeter.campaign.services import audit, judges
from grammeter.core import DataError, UsageError

BYTES = 16
DAYS = 30
"""How long an invite is good for."""


class InviteRefused(DataError):  # noqa: N818 - what happens is no fault
    """An invite that lets nobody in: unknown, used, expired or revoked."""


def link(base_url: str, token: str) -> str:
    """Return the address of an invite's page, ``BASE/join/TOKEN/``."""
    return f"{base_url.rstrip('/')}/join/{token}/"


def create(
    campaign: Campaign,
    n: int = 1,
    *,
    judge: Judge | None = None,
    days: float = DAYS,
    who: str = audit.COMMAND_LINE,
) -> list[str]:
    """Make invites, and the judges they are for.

    Parameters
    ----------
    n
        How many. A planned campaign has places for its planned judges only.
    judge
        Who is let in again, from another browser say; older invites of theirs are revoked.
    days
        How long they are good for.

    Returns
    -------
    list of str
        The tokens; they are nowhere to be found again.

    Raises
    ------
    UsageError
        If a number is out of range, or more judges are invited than were planned for.
    """
    if n < 1 or not 0 < days <= 3650:
        raise UsageError(
            f"invites: {n}, for {days} days",
            fix="Ask for one at least, good for more than 0 and at most 3650 days.",
        )
    with transaction.atomic():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        invited = [judge] if judge is not None else _places(locked, n)
        if judge is not None:
            _revoke_open(judge)
        tokens = [secrets.token_urlsafe(BYTES) for _ in invited]
        expires = timezone.now() + timedelta(days=days)
        Invite.objects.bulk_create(
            Invite(campaign=locked, judge=each, token_hash=_hash(token), expires=expires)
            for each, token in zip(invited, tokens, strict=True)
        )
        audit.log(locked, who, "invite", judges=[each.name for each in invited])
    return tokens


def names(tokens: Sequence[str]) -> list[str]:
    """Return for which judges new invites are."""
    found = Invite.objects.filter(token_hash__in=[_hash(token) for token in tokens])
    known = dict(found.values_list("token_hash", "judge__name"))
    return [known[_hash(token)] for token in tokens]


def check(token: str) -> None:
    """Raise :class:`InviteRefused` if a token lets nobody in; nothing is changed."""
    _valid(Invite.objects.all(), token)


def redeem(token: str) -> Judge:
    """Let somebody in, once.

    Raises
    ------
    InviteRefused
        If the token is unknown, used, expired or revoked.
    """
    with transaction.atomic():
        invite = _valid(Invite.objects.select_for_update(of=("self",)), token)
        invite.redeemed = timezone.now()
        invite.save(update_fields=("redeemed",))
        judge = judges.let_in(invite.judge)
        audit.log(invite.campaign, judge.name, "join")
    return judge


def revoke(invite: Invite, *, who: str = audit.COMMAND_LINE) -> None:
    """Let an invite let nobody in; does nothing to one that was used."""
    open_one = Invite.objects.filter(pk=invite.pk, redeemed=None, revoked=None)
    with transaction.atomic():
        if open_one.update(revoked=timezone.now()):
            audit.log(invite.campaign, who, "revoke invite", judge=invite.judge.name)


def _valid(invites: QuerySet[Invite], token: str) -> Invite:
    """Return the invite of a token, or raise :class:`InviteRefused`."""
    rows = invites.select_related("judge", "campaign").filter(token_hash=_hash(token))
    invite = rows.first()
    if invite is None:
        raise _refused("this invite is unknown")
    if invite.redeemed is not None:
        raise _refused("this invite was used")
    if invite.revoked is not None or invite.judge.blocked:
        raise _refused("this invite was revoked")
    if invite.expires <= timezone.now():
        raise _refused("this invite has expired")
    return invite


def _refused(message: str) -> InviteRefused:
    return InviteRefused(message, fix="Ask who invited you for a new link.")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _revoke_open(judge: Judge) -> None:
    Invite.objects.filter(judge=judge, redeemed=None, revoked=None).update(revoked=timezone.now())


def _places(campaign: Campaign, n: int) -> list[Judge]:
    """Return judges that nobody stands for yet; make them unless they are planned."""
    if campaign.strategy != Strategy.PLANNED:
        return [judges.add(campaign) for _ in range(n)]
    now = timezone.now()
    waiting = Invite.objects.filter(campaign=campaign, redeemed=None, revoked=None, expires__gt=now)
    free = Judge.objects.filter(campaign=campaign, joined=None, blocked=False, forgotten=None)
    # imported judges have judged already, and stand for no planned place
    planned = free.filter(assignments__isnull=False, assignments__answered=None).distinct()
    found = list(planned.exclude(pk__in=waiting.values("judge")).order_by("name")[:n])
    if len(found) < n:
        raise UsageError(
            f"invites wanted: {n}, but {campaign.name} has {len(found)} places without one",
            fix="Give a judge another link by name (--judge judge02; a link not used yet then"
            " stops working), or make a campaign with --strategy pool, which takes any number"
            " of judges.",
        )
    return found
