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
    """Return the variables of the page; ``unit`` is resampled for rank ranges and clusters."""
    answers = Judgment.objects.filter(assignment__judge__campaign=campaign, complete=True)
    newest = answers.aggregate(last=Max("pk"))["last"]
    # the log shows changes of judges' names
    acts = AuditEntry.objects.filter(campaign=campaign).exclude(action="export")
    return _computed(campaign.pk, unit, newest, acts.aggregate(last=Max("pk"))["last"])


@lru_cache(maxsize=32)
def _computed(pk: int, unit: str, newest: int | None, acts: int | None) -> dict[str, Any]:
    """Return the figures; the last two arguments are keys of the cache."""
    campaign = Campaign.objects.get(pk=pk)
    shown: dict[str, Any] = {}
    for name, measure in (
        ("ranking", lambda: results.ranking(campaign, unit=unit)),
        ("agreement", lambda: _agreement(results.agreement(campaign))),
    ):
        try:
            shown[name] = measure()
        except GrammeterError as error:
            shown[f"{name}_fault"] = f"None yet: {error.message}."
    return shown


def _agreement(agreement: Agreement) -> dict[str, Any]:
    rows = [_row("between judges", agreement.inter), _row("within judges", agreement.intra)]
    rows += [_row(" and ".join(sorted({*pair})), kappa) for pair, kappa in agreement.pairs.items()]
    return {
        "rows": rows,
        "alpha_inter": _figure(agreement.alpha_inter.value),
        "alpha_intra": _figure(agreement.alpha_intra.value),
        "notes": agreement.notes,
        "signature": str(agreement.signature),
    }


def _row(name: str, kappa: Kappa) -> dict[str, Any]:
    shown = {key: _figure(getattr(kappa, key)) for key in ("observed", "chance")}
    reason = kappa.reason or ""
    return {"name": name, "kappa": _figure(kappa.value), "n": kappa.n, "reason": reason, **shown}


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
