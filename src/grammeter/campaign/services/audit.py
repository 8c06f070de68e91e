"""The audit log: who did what, when."""

from __future__ import annotations

from typing import Any

from grammeter.campaign.models import AuditEntry, Campaign

COMMAND_LINE = "command line"
"""The actor of shell commands, which need no account."""


def log(campaign: Campaign | None, who: str, action: str, **detail: Any) -> AuditEntry:
    """Log an action.

    Parameters
    ----------
    campaign
        ``None`` for accounts and the database as a whole.
    who
        An organiser's login, the anonymous name of a judge, or :data:`COMMAND_LINE`.
    detail
        Plain JSON values; no personal data, no token.
    """
    return AuditEntry.objects.create(campaign=campaign, who=who, action=action, detail=detail)


def entries(campaign: Campaign, limit: int | None = None) -> list[AuditEntry]:
    """Return the log of a campaign, newest first."""
    return list(AuditEntry.objects.filter(campaign=campaign)[:limit])


def rename(campaign: Campaign, old: str, new: str) -> None:
    """Replace a judge's former name in the log."""
    entries = AuditEntry.objects.filter(campaign=campaign)
    entries.filter(who=old).update(who=new)
    for entry in entries:
        detail = _renamed(entry.detail, old, new)
        if detail != entry.detail:
            AuditEntry.objects.filter(pk=entry.pk).update(detail=detail)


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(part, old, new) for key, part in value.items()}  # pyright: ignore
    if isinstance(value, list):
        return [_renamed(part, old, new) for part in value]  # pyright: ignore
    return new if value == old else value
