"""Settings of a plan without effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grammeter.campaign.models import Strategy
from grammeter.campaign.services.campaigns import Plan
from grammeter.core import Item


def settings_without_effect(plan: Plan, items: Sequence[Item]) -> Iterator[str]:
    """Yield a note for each setting without effect; ``items`` are those of a file, if any."""
    named = any(item.judges for item in items)
    planned = plan.strategy == Strategy.PLANNED
    for name in ("overlap", "repeats"):
        if named and getattr(plan, name):
            yield f"--{name} had no effect: the items say who sees them"
    if planned and not named and plan.judges == 1 and plan.overlap:
        yield "--overlap had no effect: there is one judge"
    if not planned and plan.judges and not plan.overlap:
        yield "--judges had no effect: any number may come; it says how many see items of --overlap"
    if not plan.attention:
        if plan.pass_threshold != Plan.pass_threshold:
            yield "--pass-threshold had no effect: there are no items with --attention"
        if plan.fail_code:
            yield "--fail-code is given to nobody: without --attention everybody passes"
