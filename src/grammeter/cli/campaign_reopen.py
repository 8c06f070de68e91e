"""``grammeter campaign reopen``: take judgments again."""

from __future__ import annotations

import argparse

from grammeter.cli import campaign_arguments
from grammeter.cli.output import notice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Take judgments again after 'close'. Judges go on where they were, in the browser in"
        " which they were; who lost the way back gets a new link with 'invite --judge'."
    )
    campaign_arguments.add_campaign(parser)
    parser.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> int:
    """Open it again; return the exit code."""
    with campaign_arguments.at_work(args):
        from grammeter.campaign import campaigns

        changed = campaigns.close(campaign_arguments.campaign_of(args), False)
    notice(args, f"campaign {args.campaign}: {'open again' if changed else 'it is open'}")
    return 0
