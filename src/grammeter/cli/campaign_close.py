"""``grammeter campaign close``: take no more judgments."""

from __future__ import annotations

import argparse

from grammeter.cli import campaign_arguments
from grammeter.cli.output import notice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Take no more judgments, also while it is served: judges who come are told so. What was"
        " handed in stays and can be exported; 'reopen' takes it back."
    )
    campaign_arguments.add_campaign(parser)
    parser.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> int:
    """Close; return the exit code."""
    with campaign_arguments.at_work(args):
        from grammeter.campaign import campaigns

        changed = campaigns.close(campaign_arguments.campaign_of(args))
    notice(args, f"campaign {args.campaign}: {'closed' if changed else 'it was closed before'}")
    return 0
