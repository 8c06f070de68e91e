"""``grammeter campaign create``: from a corpus to items that judges can see."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grammeter.cli import campaign_arguments, corpus_arguments
from grammeter.cli.output import notice, remark

if TYPE_CHECKING:
    from grammeter.campaign import Campaign
    from grammeter.core import Item
    from grammeter.formats import Corpus

STRATEGIES = ("planned", "pool", "adaptive")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign create pilot -s src.txt --hyps out/* -n 200 --judges 4"
        " --overlap 0.2 --repeats 0.1\n"
        "  grammeter campaign create crowd -s src.txt --hyps out/* -n 1000 --strategy adaptive"
        " --per-judge 60 \\\n"
        "    --attention checks.jsonl --pass-code A1B2 --fail-code C3D4\n"
        "  grammeter campaign create panel -s src.txt --hyps out/* --items sampled.jsonl"
    )
    campaign_arguments.add_campaign(parser)
    corpus_arguments.add_corpus(parser)
    campaign_arguments.add_selection(parser, n_help="how many items are drawn")
    parser.add_argument(
        "--items",
        metavar="FILE",
        help="instead of -n: items from 'grammeter sample -o FILE', or judgments, whose sets of"
        " outputs are asked about anew",
    )
    campaign_arguments.add_judging(parser, STRATEGIES)
    campaign_arguments.add_pages(parser)
    parser.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> int:
    """Make the campaign and say what it holds; return the exit code."""
    from grammeter.core import UsageError

    if (args.n is None) == (args.items is None):
        raise UsageError("items come from -n or from --items", fix="Give one of the two.")
    corpus = corpus_arguments.read(args, references=False)
    with campaign_arguments.at_work(args, make=True):
        from grammeter.campaign import campaigns, settings_without_effect

        chosen = _chosen(args, corpus) if args.items else ()
        plan = campaign_arguments.plan(args, judges=_judges(args, chosen))
        items = chosen or campaigns.draw_items(
            plan, corpus, n=args.n, select=args.select, per_item=args.per_item
        )
        notice(args, _summary(campaigns.create(plan, corpus, items)))
    remark(settings_without_effect(plan, chosen))
    if args.items:
        names = campaign_arguments.DRAWING
        remark(campaign_arguments.unused(args, names, "with --items nothing is drawn"))
    return 0


def _chosen(args: argparse.Namespace, corpus: Corpus) -> Sequence[Item]:
    """Read the items of a file: items, or those of judgments."""
    from grammeter.formats import STDIN, is_items, items_of, read_items, read_judgments

    if args.items == STDIN or is_items(args.items):
        return read_items(args.items)
    judgments = read_judgments(args.items, systems=corpus.systems)
    for text in judgments.notices:
        notice(args, text)
    remark(judgments.notes)
    return items_of(judgments)


def _judges(args: argparse.Namespace, items: Sequence[Item]) -> int:
    from grammeter.core import UsageError

    named = {name for item in items for name in item.judges}
    if named and args.judges not in (None, len(named)):
        raise UsageError(
            f"--judges {args.judges}, but the items name {len(named)}: {', '.join(sorted(named))}",
            fix="Leave out --judges, or take items that name no judges.",
        )
    if named or args.judges is None:
        return len(named) or (1 if args.strategy == "planned" else 0)
    return args.judges


def _summary(campaign: Campaign) -> str:
    from grammeter.campaign import results

    progress = results.progress(campaign)
    several = f", {progress.shared} of them for several judges" if progress.shared else ""
    items = f"{progress.items} items of {progress.sentences} sentences"
    head = f"campaign {campaign.name}: {items}{several}"
    if not progress.judges:
        return f"{head}; {progress.wanted} judgments wanted, {campaign.strategy}"
    planned = progress.planned or 0
    again = f", {planned - progress.wanted} of them repeats" if planned > progress.wanted else ""
    judges = "1 judge" if len(progress.judges) == 1 else f"{len(progress.judges)} judges"
    return f"{head}; {planned} judgments planned for {judges}{again}"
