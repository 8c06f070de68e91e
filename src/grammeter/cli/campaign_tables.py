"""The tables of ``grammeter campaign status``."""

from __future__ import annotations

from grammeter.campaign import CampaignList, CampaignStatus
from grammeter.core import Ranked, ranks_text
from grammeter.ranking import Agreement
from grammeter.rendering import Table, format_number, to_text


def status_text(status: CampaignStatus) -> str:
    """Return the tables of judges, agreement and ranking, or why there are none."""
    tables = [_judges_table(status)]
    if status.agreement is not None:
        tables.append(_agreement_table(status.agreement))
    if status.ranking is not None:
        tables.append(_ranking_table(status.ranking))
    missing = [f"no {name} yet: {reason}\n" for name, reason in status.reasons.items()]
    return "\n".join([*map(to_text, tables), *missing])


def list_text(campaigns: CampaignList) -> str:
    """Return the table of campaigns."""
    rows = tuple(
        (
            row.campaign,
            "closed" if row.closed else "open",
            row.task,
            row.strategy,
            str(row.progress.items),
            str(len(row.progress.judges)),
            str(row.progress.done),
            str(row.progress.skipped),
        )
        for row in campaigns.campaigns
    )
    head = ("campaign", "state", "task", "strategy", "items", "judges", "done", "skipped")
    return to_text(Table(head, rows, "llllrrrr"))


def _judges_table(status: CampaignStatus) -> Table:
    progress = status.progress
    rows = tuple(
        (
            judge.judge,
            judge.state,
            "-" if judge.planned is None else str(judge.planned),
            str(judge.done),
            str(judge.skipped),
            f"{judge.attention_right}/{judge.attention}" if judge.attention else "-",
            f"{judge.active_seconds / 60:.1f}",
        )
        for judge in progress.judges
    )
    head = ("judge", "state", "planned", "done", "skipped", "attention", "minutes")
    submitted = progress.done + progress.skipped
    far = f"{submitted} of {progress.planned} judgments handed in"
    if status.strategy != "planned" or progress.planned is None:
        far = (
            f"{submitted} judgments handed in; {progress.taken} of {progress.wanted} places taken,"
            " repeats aside"
        )
    end = "; closed" if status.closed else ""
    note = f"{status.campaign}: {progress.items} items; {far}, {progress.skipped} skipped{end}"
    return Table(head, rows, "llrrrrr", (note,))


def _agreement_table(agreement: Agreement) -> Table:
    rows = tuple(
        (name, format_number(kappa.value, 4), str(kappa.n))
        for name, kappa in (("between", agreement.inter), ("within", agreement.intra))
    )
    return Table(("judges", "kappa", "comparisons"), rows, "lrr", (str(agreement.signature),))


def _ranking_table(ranking: Ranked) -> Table:
    rows = tuple(
        (row.system, format_number(row.score, 4), ranks_text(row.ranks), str(row.cluster))
        for row in ranking.values()
    )
    head = ("system", ranking.method, "ranks", "cluster")
    return Table(head, rows, "lrrr", (str(ranking.signature),))
