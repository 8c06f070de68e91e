"""``grammeter campaign export``: the judgments, each of them once."""

from __future__ import annotations

import argparse

from grammeter.cli import campaign_arguments
from grammeter.cli.output import notice, remark


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign export pilot -o judgments.xml\n"
        "  grammeter campaign export pilot -o judgments.csv --details everything.jsonl"
    )
    campaign_arguments.add_campaign(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="Appraise XML (.xml), WMT CSV (.csv) or JSON lines (.jsonl), .gz after that if"
        " packed; default: JSON lines on standard output",
    )
    parser.add_argument(
        "--details",
        metavar="FILE",
        help="also write every version of every answer, with orders, times, comments,"
        " probabilities and judged edits, as JSON lines",
    )
    parser.add_argument(
        "--people",
        metavar="FILE",
        help="also write who judges are and what they told of themselves, as JSON lines, apart"
        " from all judgments: personal",
    )
    parser.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> int:
    """Write the judgments; return the exit code."""
    import sys

    from grammeter.formats import format_judgments, write_judgments, write_text

    with campaign_arguments.only_reading(args) as writable:
        from grammeter.campaign import audit, details_text, people_text, results

        campaign = campaign_arguments.campaign_of(args)
        judgments = results.judgments(campaign)
        details = details_text(campaign) if args.details else ""
        people = people_text(campaign) if args.people else ""
        if args.people and writable:
            audit.log(campaign, audit.COMMAND_LINE, "export", form="people")
        elif args.people:
            remark(["the database is read-only: its log does not say that --people was written"])
    if args.output:
        for text in write_judgments(args.output, judgments):
            notice(args, text)
    else:
        sys.stdout.write(format_judgments(judgments, "jsonl"))
    if args.details:
        write_text(args.details, details, private=True)
    if args.people:
        write_text(args.people, people, private=True)
    skipped = sum(ranking.skipped for ranking in judgments)
    notice(args, f"{len(judgments)} judgments, {skipped} of them skipped")
    return 0
