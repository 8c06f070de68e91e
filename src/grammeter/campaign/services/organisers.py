"""Organisers: their accounts, their campaigns, and delays that slow down guessing at passwords.

After some failures, each further login has to wait longer. Failures are counted by name and
address: by the name alone, anybody could lock its owner out.
"""

import hashlib
import ipaddress
from contextlib import suppress
from datetime import timedelta

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from grammeter.campaign.models import COMMAND_LINE, AuditEntry, Campaign, Throttle
from grammeter.core import UsageError

FREE = 5  # failures without a delay
FREE_OF_ADDRESS = 50  # the same for an address, with any name: many people may share it
LONGEST = 15 * 60  # longest delay in seconds


def save_account(name: str, password: str, *, every_campaign: bool = False) -> bool:
    """Create an account, or change its password; return whether it is new."""
    with transaction.atomic():
        user = User.objects.filter(username=name).first() or User(username=name)
        new = user.pk is None
        user.is_superuser = every_campaign or user.is_superuser
        try:
            User.username_validator(name)
            validate_password(password, user)
        except ValidationError as error:
            raise UsageError(f"account {name!r}: {' '.join(error.messages)}") from None
        user.set_password(password)
        user.save()
        AuditEntry.log(None, COMMAND_LINE, "account", name=name, new=new)
    return new


def campaigns_of(user: User) -> QuerySet[Campaign]:
    """Return the campaigns of an organiser, and those without an owner."""
    if user.is_superuser:
        return Campaign.objects.order_by("name")
    return Campaign.objects.filter(Q(owners=user) | Q(owners=None)).distinct().order_by("name")


def campaign_of(user: User, pk: int) -> Campaign:
    """Return a campaign; raise ``PermissionDenied`` unless the organiser may see it."""
    campaign = campaigns_of(user).filter(pk=pk).first() if user.is_authenticated else None
    if campaign is None:
        raise PermissionDenied("this is not a campaign of yours")
    return campaign


def attempts(name: str, address: str) -> dict[tuple[str, ...], int]:
    """Return the counters of a login, each with its number of failures without a delay."""
    with suppress(ValueError):
        place = ipaddress.ip_address(address)
        if place.version == 6 and not place.ipv4_mapped:  # one machine may have a whole network
            address = str(ipaddress.ip_network((place, 64), strict=False))
    return {("login", name.casefold(), address): FREE, ("login from", address): FREE_OF_ADDRESS}


def wait(*counter: str, free: int = FREE) -> float:
    """Return the seconds until the next attempt of a counter, see :func:`attempts`; 0: now."""
    if (row := Throttle.objects.filter(key=_key(counter)).first()) is None or row.failures < free:
        return 0.0
    pause = min(2.0 ** min(row.failures - free, 20), LONGEST)
    passed = (timezone.now() - row.since).total_seconds()
    # the clock was set back: an attempt too many is better than years of waiting
    return max(0.0, pause - passed) if passed >= 0 else 0.0


def failed(*counter: str) -> None:
    """Count a failure."""
    now, key = timezone.now(), _key(counter)
    with transaction.atomic():
        Throttle.objects.filter(since__lt=now - timedelta(seconds=2 * LONGEST)).delete()
        Throttle.objects.get_or_create(key=key, defaults={"since": now})
        Throttle.objects.filter(key=key).update(failures=F("failures") + 1, since=now)


def succeeded(*counter: str) -> None:
    """Forget the failures."""
    Throttle.objects.filter(key=_key(counter)).delete()


def _key(counter: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(counter).encode("utf-8", "replace")).hexdigest()
