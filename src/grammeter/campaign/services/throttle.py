"""Slow down guessing: after some failures in a row one has to wait, longer each time.

Who fails is always counted with the address: by a name alone, anybody could lock its owner out.
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
"""Failures that cost nothing."""

FREE_OF_ADDRESS = 50
"""The same of an address, whatever the name: many people may share it."""

LONGEST = 15 * 60
"""Seconds that one has to wait at most; afterwards, failures are forgotten."""


def attempts(action: str, name: str, address: str) -> dict[tuple[str, ...], int]:
    """Return what an attempt is counted under, with the failures that cost nothing."""
    place = _place(address)
    return {(action, name.casefold(), place): FREE, (f"{action} from", place): FREE_OF_ADDRESS}


def wait(*who: str, free: int = FREE) -> float:
    """Return how many seconds somebody has to wait before the next attempt; 0 for none.

    Parameters
    ----------
    who
        What is counted together: an action, a login, an address.
    free
        Failures that cost nothing.
    """
    found = Throttle.objects.filter(key=_key(who)).first()
    if found is None or found.failures < free:
        return 0.0
    pause = min(2.0 ** min(found.failures - free, 20), LONGEST)
    passed = (timezone.now() - found.since).total_seconds()
    # a clock that was set back: rather one attempt too many than years of waiting
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
    """Return what one machine has of addresses: of IPv6 it has a whole network."""
    try:
        place = ipaddress.ip_address(address)
    except ValueError:
        return address
    if place.version == 4 or place.ipv4_mapped:
        return address
    return str(ipaddress.ip_network((place, 64), strict=False))


def _key(who: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(who).encode("utf-8", "replace")).hexdigest()
