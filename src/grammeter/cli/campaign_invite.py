"""``grammeter campaign invite``: links that let judges in, each of them once."""

from __future__ import annotations

import argparse
import sys

from grammeter.cli import campaign_arguments
from grammeter.cli.output import notice

BASE_URL = "http://127.0.0.1:8765"
DAYS = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign invite pilot --judges 4\n"
        "  grammeter campaign invite pilot --judge judge02     (who lost the way back)"
    )
    campaign_arguments.add_campaign(parser)
    who = parser.add_mutually_exclusive_group()
    who.add_argument(
        "--judges", type=int, default=1, metavar="N", help="how many new ones; default: %(default)s"
    )
    who.add_argument("--judge", metavar="NAME", help="let this judge in again")
    parser.add_argument(
        "--base-url",
        default=BASE_URL,
        metavar="URL",
        help="where judges reach the server, with its port if that is another;"
        " default: %(default)s",
    )
    parser.add_argument(
        "--days", type=float, default=DAYS, metavar="N", help="good for; default: %(default)s"
    )
    parser.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> int:
    """Print the links, one a line; return the exit code."""
    from urllib.parse import urlsplit

    from grammeter.core import UsageError

    base: str = args.base_url
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/"):
        raise UsageError(
            f"the address {args.base_url!r}",
            fix="Write it as https://judge.example.org: the pages stand at the root of a host.",
        )
    with campaign_arguments.at_work(args):
        from grammeter.campaign import invites, judges

        campaign = campaign_arguments.campaign_of(args)
        judge = judges.find(campaign, args.judge) if args.judge else None
        tokens = invites.create(campaign, args.judges, judge=judge, days=args.days)
        for token in tokens:
            sys.stdout.write(invites.link(args.base_url, token) + "\n")
        whom = ", ".join(invites.names(tokens))
    notice(args, f"for {whom}; each link works once, and is not kept anywhere")
    return 0
