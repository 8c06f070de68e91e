"""Organisers: their accounts and their campaigns."""

from __future__ import annotations

import secrets

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet

from grammeter.campaign.models import Campaign
from grammeter.campaign.services import audit
from grammeter.core import UsageError


def make_password() -> str:
    """Return a random password."""
    return secrets.token_urlsafe(15)


def save_account(name: str, password: str, *, every_campaign: bool = False) -> bool:
    """Create an account, or change its password; return whether it is new.

    Parameters
    ----------
    every_campaign
        Whether the account sees the campaigns of others, too.

    Raises
    ------
    UsageError
        If the name or the password is refused, with the reason.
    """
    with transaction.atomic():
        user = User.objects.filter(username=name).first()
        new = user is None
        user = user or User(username=name)
        user.is_superuser = every_campaign or user.is_superuser
        try:
            User.username_validator(name)
            validate_password(password, user)
        except ValidationError as error:
            raise UsageError(f"account {name!r}: {' '.join(error.messages)}") from None
        user.set_password(password)
        user.save()
        audit.log(None, audit.COMMAND_LINE, "account", name=name, new=new)
    return new


def campaigns_of(user: User) -> QuerySet[Campaign]:
    """Return the campaigns of an organiser, and those without an owner."""
    if user.is_superuser:
        return Campaign.objects.order_by("name")
    mine = Campaign.objects.filter(Q(owners=user) | Q(owners=None))
    return mine.distinct().order_by("name")


def campaign_of(user: User, pk: int) -> Campaign:
    """Return a campaign; raise ``PermissionDenied`` unless the organiser may see it."""
    campaign = campaigns_of(user).filter(pk=pk).first() if user.is_authenticated else None
    if campaign is None:
        raise PermissionDenied("this is not a campaign of yours")
    return campaign
