"""Slow down guessing: after some failures, each further attempt has to wait longer.

Failures are counted by name and address: by the name alone, anybody could lock its owner out.
"""

from __future__ import annotations

import hashlib
import ipaddress
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from grammeter.campaign.models import Throttle

FREE = 5
"""Failures without a delay."""

FREE_OF_ADDRESS = 50
"""The same for an address, with any name: many people may share it."""

LONGEST = 15 * 60
"""Longest delay in seconds."""


def attempts(action: str, name: str, address: str) -> dict[tuple[str, ...], int]:
    """Return the counters of an attempt, each with its failures without a delay."""
    place = _place(address)
    return {(action, name.casefold(), place): FREE, (f"{action} from", place): FREE_OF_ADDRESS}


def wait(*who: str, free: int = FREE) -> float:
    """Return the seconds until the next attempt of a counter, see :func:`attempts`; 0: now."""
    counter = Throttle.objects.filter(key=_key(who)).first()
    if counter is None or counter.failures < free:
        return 0.0
    pause = min(2.0 ** min(counter.failures - free, 20), LONGEST)
    passed = (timezone.now() - counter.since).total_seconds()
    # the clock was set back: an attempt too many is better than years of waiting
    return max(0.0, pause - passed) if passed >= 0 else 0.0


def failed(*who: str) -> None:
    """Count a failure."""
    now = timezone.now()
    with transaction.atomic():
        Throttle.objects.filter(since__lt=now - timedelta(seconds=2 * LONGEST)).delete()
        Throttle.objects.get_or_create(key=_key(who), defaults={"since": now})
        Throttle.objects.filter(key=_key(who)).update(failures=F("failures") + 1, since=now)


def succeeded(*who: str) -> None:
    """Forget the failures."""
    Throttle.objects.filter(key=_key(who)).delete()


def _place(address: str) -> str:
    """Return the address of a machine: with IPv6, its whole network."""
    try:
        place = ipaddress.ip_address(address)
    except ValueError:
        return address
    if place.version == 4 or place.ipv4_mapped:
        return address
    return str(ipaddress.ip_network((place, 64), strict=False))


def _key(who: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(who).encode("utf-8", "replace")).hexdigest()
