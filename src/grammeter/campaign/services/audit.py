"""The audit log: who did what, when."""

from __future__ import annotations

from typing import Any

from grammeter.campaign.models import AuditEntry, Campaign

COMMAND_LINE = "command line"
"""Who acts where there is no account: whoever may read and write the database itself."""


def log(campaign: Campaign | None, who: str, action: str, **detail: Any) -> AuditEntry:
    """Write down that somebody did something.

    Parameters
    ----------
    campaign
        What it concerns; ``None`` for accounts and the database as a whole.
    who
        An organiser's login, the anonymous name of a judge, or :data:`COMMAND_LINE`.
    detail
        Plain JSON values; never anything personal, and no token.
    """
    return AuditEntry.objects.create(campaign=campaign, who=who, action=action, detail=detail)


def entries(campaign: Campaign, limit: int | None = None) -> list[AuditEntry]:
    """Return what happened in a campaign, newest first."""
    return list(AuditEntry.objects.filter(campaign=campaign)[:limit])


def rename(campaign: Campaign, old: str, new: str) -> None:
    """Take a judge's former name out of the log."""
    entries = AuditEntry.objects.filter(campaign=campaign)
    entries.filter(who=old).update(who=new)
    for entry in entries:
        detail = _renamed(entry.detail, old, new)
        if detail != entry.detail:
            AuditEntry.objects.filter(pk=entry.pk).update(detail=detail)


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(each, old, new) for key, each in value.items()}  # pyright: ignore
    if isinstance(value, list):
        return [_renamed(each, old, new) for each in value]  # pyright: ignore
    return new if value == old else value
