"""``grammeter campaign import``: from a finished evaluation to a campaign."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from grammeter.cli import campaign_arguments, corpus_arguments
from grammeter.cli.output import notice, remark

if TYPE_CHECKING:
    from grammeter.formats import Judgments

STRATEGIES = ("pool", "adaptive")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign import old -s src.txt --hyps out/* --judgments judgments.xml\n"
        "  grammeter campaign import old -s src.txt --hyps out/* --judgments judgments.xml"
        " -n 100 --seed 2"
    )
    campaign_arguments.add_campaign(parser)
    corpus_arguments.add_corpus(parser)
    parser.add_argument(
        "--judgments",
        nargs="+",
        required=True,
        metavar="FILE",
        help="Appraise XML, WMT CSV or JSON lines",
    )
    parser.add_argument(
        "--first-segment",
        type=int,
        choices=[0, 1],
        help="the number of the first sentence in them; default: found in the outputs",
    )
    campaign_arguments.add_selection(parser, n_help="new items, for new judges; default: none")
    campaign_arguments.add_judging(parser, STRATEGIES)
    campaign_arguments.add_pages(parser)
    parser.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> int:
    """Read, store, and say what there is; return the exit code."""
    from grammeter.formats import read_judgments

    corpus = corpus_arguments.read(args, references=False)
    judgments = read_judgments(
        args.judgments, first_segment=args.first_segment, systems=corpus.systems
    )
    for text in judgments.notices:
        notice(args, text)
    remark((*judgments.notes, *_without_place(judgments)))
    with campaign_arguments.at_work(args, make=True):
        from grammeter.campaign import campaigns, loading, results

        plan = campaign_arguments.plan(args, judges=args.judges or 0)
        settings = {"select": args.select, "per_item": args.per_item}
        more = () if args.n is None else campaigns.draw_items(plan, corpus, n=args.n, **settings)
        campaign = loading.load(plan, corpus, judgments, more=more)
        progress = results.progress(campaign)
        notice(
            args,
            f"campaign {campaign.name}: {progress.done + progress.skipped} judgments by"
            f" {len(progress.judges)} judges, {progress.items} items",
        )
    if args.n is None:
        names = campaign_arguments.DRAWING | campaign_arguments.ASKING
        why = "without -n there are no new items, and nobody is asked"
        remark(campaign_arguments.unused(args, names, why))
    return 0


def _without_place(judgments: Judgments) -> Iterator[str]:
    """Yield a note on data that a campaign cannot store."""
    scored = sum(ranking.scores is not None or bool(ranking.replies) for ranking in judgments)
    if scored:
        yield f"scores and replies of {scored} judgments are not imported; their ranks are"
