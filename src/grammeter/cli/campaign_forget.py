"""``grammeter campaign forget``: delete what tells who a judge is."""

from __future__ import annotations

import argparse

from grammeter.cli import campaign_arguments
from grammeter.cli.output import notice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Delete a judge's personal data: the form about themselves, the organiser's note,"
        " sessions, invites, comments and reasons. The judgments stay under the anonymous name."
        " Copies made by 'backup' and exports keep what they hold."
    )
    campaign_arguments.add_campaign(parser)
    parser.add_argument("judge", metavar="JUDGE", help="the anonymous name")
    parser.add_argument(
        "--rename", metavar="NAME", help="another name, for one that tells who it is"
    )
    parser.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> int:
    """Forget; return the exit code."""
    with campaign_arguments.at_work(args):
        from grammeter.campaign import judges

        judge = judges.find(campaign_arguments.campaign_of(args), args.judge)
        judge = judges.forget(judge, rename=args.rename)
        notice(args, f"{judge.name}: personal data are deleted, the judgments stay")
    return 0
