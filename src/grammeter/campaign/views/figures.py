"""Ranking and agreement for the page: computed once for each state of a campaign."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from django.db.models import Max

from grammeter.campaign.models import AuditEntry, Campaign, Judgment
from grammeter.campaign.services import results
from grammeter.core import GrammeterError
from grammeter.ranking import Agreement
from grammeter.stats import Kappa


def of(campaign: Campaign, unit: str) -> dict[str, Any]:
    """Return what the page of results draws.

    Parameters
    ----------
    unit
        What is resampled for rank ranges and clusters.
    """
    answers = Judgment.objects.filter(assignment__judge__campaign=campaign, complete=True)
    newest = answers.aggregate(last=Max("pk"))["last"]
    # renaming and forgetting a judge changes no answer, and stands in the log
    acts = AuditEntry.objects.filter(campaign=campaign).exclude(action="export")
    return _computed(campaign.pk, unit, newest, acts.aggregate(last=Max("pk"))["last"])


@lru_cache(maxsize=32)
def _computed(pk: int, unit: str, newest: int | None, acts: int | None) -> dict[str, Any]:
    """Return the figures; the last two arguments only say of which state."""
    campaign = Campaign.objects.get(pk=pk)
    found: dict[str, Any] = {}
    try:
        found["ranking"] = results.ranking(campaign, unit=unit)
    except GrammeterError as error:
        found["ranking_fault"] = _told(error)
    try:
        found["agreement"] = _agreement(results.agreement(campaign))
    except GrammeterError as error:
        found["agreement_fault"] = _told(error)
    return found


def _told(error: GrammeterError) -> str:
    return f"None yet: {error.message}."


def _agreement(found: Agreement) -> dict[str, Any]:
    rows = [_row("between judges", found.inter), _row("within judges", found.intra)]
    rows += [_row(" and ".join(sorted({*pair})), each) for pair, each in found.pairs.items()]
    return {
        "rows": rows,
        "alpha_inter": _figure(found.alpha_inter.value),
        "alpha_intra": _figure(found.alpha_intra.value),
        "notes": found.notes,
        "signature": str(found.signature),
    }


def _row(name: str, kappa: Kappa) -> dict[str, Any]:
    shown = {key: _figure(getattr(kappa, key)) for key in ("observed", "chance")}
    reason = kappa.reason or ""
    return {"name": name, "kappa": _figure(kappa.value), "n": kappa.n, "reason": reason, **shown}


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
