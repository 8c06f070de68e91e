"""Slow down guessing: after some failures in a row one has to wait, longer each time."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from grammeter.campaign.models import Throttle

FREE = 5
"""Failures that cost nothing."""

LONGEST = 15 * 60
"""Seconds that one has to wait at most; afterwards, failures are forgotten."""


def wait(*who: str) -> float:
    """Return how many seconds somebody has to wait before the next attempt; 0 for none.

    Parameters
    ----------
    who
        What is counted together: an action, a login, an address.
    """
    found = Throttle.objects.filter(key=_key(who)).first()
    if found is None or found.failures < FREE:
        return 0.0
    pause = min(2.0 ** (found.failures - FREE), LONGEST)
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


def _key(who: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(who).encode("utf-8", "replace")).hexdigest()
