"""Organisers: their accounts, their campaigns, and delays that slow down guessing at passwords.

After some failures, each further login has to wait longer. Failures are counted by name and
address: by the name alone, anybody could lock its owner out. The counters live in Django's cache,
here the memory of the server.
"""

import ipaddress
import time
from contextlib import suppress
from hashlib import sha256

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet

from grammeter.campaign.models import Campaign
from grammeter.core import UsageError

FREE = 5  # failures without a delay
FREE_OF_ADDRESS = 50  # the same for an address, with any name: many people may share it
LONGEST = 15 * 60  # longest delay in seconds
KEPT = 2 * LONGEST  # seconds after the last failure for which they are counted


def save_account(name: str, password: str, *, every_campaign: bool = False) -> bool:
    """Create an account, or change its password; return whether it is new."""
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
    return new


def campaigns_of(user: User) -> QuerySet[Campaign]:
    """Return the campaigns of an organiser, and those without an owner."""
    if user.is_superuser:
        return Campaign.objects.order_by("name")
    return Campaign.objects.filter(Q(owners=user) | Q(owners=None)).distinct().order_by("name")


def wait(name: str, address: str) -> float:
    """Return the seconds until the next login with a name from an address; 0: now."""
    ends = (cache.get(f"{key}-end", 0.0) for key in _counters(name, address))
    return max(0.0, max(ends) - time.monotonic())


def failed(name: str, address: str) -> None:
    """Count a failure."""
    for key, free in _counters(name, address).items():
        _ = cache.touch(key, KEPT) or cache.add(key, 0, KEPT)
        if (over := cache.incr(key) - free) >= 0:
            pause = min(2.0 ** min(over, 20), LONGEST)
            cache.set(f"{key}-end", time.monotonic() + pause, KEPT)


def succeeded(name: str, address: str) -> None:
    """Forget the failures of a name."""
    cache.delete(next(iter(_counters(name, address))))


def _counters(name: str, address: str) -> dict[str, int]:
    """Return the counters of a login, each with its number of failures without a delay."""
    with suppress(ValueError):
        place = ipaddress.ip_address(address)
        if place.version == 6 and not place.ipv4_mapped:  # one machine may have a whole network
            address = str(ipaddress.ip_network((place, 64), strict=False))
    texts = {f"{name.casefold()}\0{address}": FREE, address: FREE_OF_ADDRESS}
    return {sha256(text.encode("utf-8", "replace")).hexdigest(): n for text, n in texts.items()}
