"""``grammeter campaign status``: how far it is, how judges agree, what it comes to."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from grammeter.cli import campaign_arguments
from grammeter.cli.output import add_output, emit

if TYPE_CHECKING:
    from grammeter.campaign import Campaign, Progress
    from grammeter.core import Ranked
    from grammeter.ranking import Agreement
    from grammeter.rendering import Table

FORMATS = ("table", "json")
KIND = "campaign-status"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "campaign", nargs="?", metavar="NAME", help="the campaign; without it, all are listed"
    )
    campaign_arguments.add_database(parser)
    add_output(parser, formats=FORMATS)


def run(args: argparse.Namespace) -> int:
    """Print how it stands; return the exit code."""
    with campaign_arguments.only_reading(args):
        if args.campaign is None:
            _show_list(args)
        else:
            _show_one(args, campaign_arguments.campaign_of(args))
    return 0


def _show_one(args: argparse.Namespace, campaign: Campaign) -> None:
    from grammeter.campaign import results
    from grammeter.core import DataError

    data: dict[str, Any] = _head(campaign)
    progress = results.progress(campaign)
    data["progress"] = progress.to_json()
    measures: dict[str, Any] = {}
    for name, measure in (("agreement", results.agreement), ("ranking", results.ranking)):
        try:
            measures[name] = measure(campaign)
            data[name] = measures[name].to_json()
        except DataError as error:
            measures[name], data[name], data[f"{name}_reason"] = None, None, error.message
    present = [result for result in measures.values() if result is not None]
    data["notes"] = [*dict.fromkeys(note for result in present for note in result.notes)]
    emit(args, data, lambda: _draw(args, data, progress, **measures))


def _show_list(args: argparse.Namespace) -> None:
    from grammeter.campaign import Campaign, results

    campaigns = Campaign.objects.order_by("name")
    rows = [(campaign, results.progress(campaign)) for campaign in campaigns]
    data = {
        "kind": "campaigns",
        "campaigns": [
            _head(campaign)
            | {key: value for key, value in progress.to_json().items() if key != "judges"}
            | {"judges": len(progress.judges)}
            for campaign, progress in rows
        ],
    }
    emit(args, data, lambda: _render(args, _list_table(rows)))


def _head(campaign: Campaign) -> dict[str, Any]:
    origin: dict[str, Any] = campaign.origin
    return {
        "kind": KIND,
        "campaign": campaign.name,
        "task": campaign.task,
        "strategy": campaign.strategy,
        "closed": campaign.closed,
        "seed": campaign.seed,
        "signature": campaign.signature,
        "origin": {key: value for key, value in origin.items() if key != "file"},
    }


def _draw(
    args: argparse.Namespace,
    data: dict[str, Any],
    progress: Progress,
    agreement: Agreement | None,
    ranking: Ranked | None,
) -> str:
    tables = [_progress_table(data, progress)]
    if agreement is not None:
        tables.append(_agreement_table(agreement))
    if ranking is not None:
        tables.append(_ranking_table(ranking))
    texts = [_render(args, table) for table in tables]
    texts += [
        f"no {name} yet: {data[f'{name}_reason']}\n"
        for name in ("agreement", "ranking")
        if data[name] is None
    ]
    return "\n".join(texts)


def _render(args: argparse.Namespace, table: Table) -> str:
    from grammeter.rendering import render

    return render(table, args.format)


def _progress_table(data: dict[str, Any], progress: Progress) -> Table:
    from grammeter.rendering import Table

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
    handed = progress.done + progress.skipped
    if data["strategy"] == "planned" and progress.planned is not None:
        far = f"{handed} of {progress.planned} judgments handed in"
    else:
        far = (
            f"{handed} judgments handed in; {progress.taken} of {progress.wanted} places taken,"
            " repeats aside"
        )
    note = (
        f"{data['campaign']}: {progress.items} items; {far}, {progress.skipped} skipped"
        f"{'; closed' if data['closed'] else ''}"
    )
    return Table(head, rows, "llrrrrr", (note,))


def _agreement_table(agreement: Agreement) -> Table:
    from grammeter.rendering import Table, format_number

    rows = tuple(
        (name, format_number(kappa.value, 4), str(kappa.n))
        for name, kappa in (("between", agreement.inter), ("within", agreement.intra))
    )
    return Table(("judges", "kappa", "comparisons"), rows, "lrr", (str(agreement.signature),))


def _ranking_table(ranking: Ranked) -> Table:
    from grammeter.core import ranks_text
    from grammeter.rendering import Table, format_number

    rows = tuple(
        (
            row.system,
            format_number(row.score, 4),
            ranks_text(row.ranks),
            str(row.cluster),
        )
        for row in ranking.values()
    )
    head = ("system", ranking.method, "ranks", "cluster")
    return Table(head, rows, "lrrr", (str(ranking.signature),))


def _list_table(rows: list[tuple[Campaign, Progress]]) -> Table:
    from grammeter.rendering import Table

    cells = tuple(
        (
            campaign.name,
            "closed" if campaign.closed else "open",
            campaign.task,
            campaign.strategy,
            str(progress.items),
            str(len(progress.judges)),
            str(progress.done),
            str(progress.skipped),
        )
        for campaign, progress in rows
    )
    head = ("campaign", "state", "task", "strategy", "items", "judges", "done", "skipped")
    return Table(head, cells, "llllrrrr")
