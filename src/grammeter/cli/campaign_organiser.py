"""``grammeter campaign organiser``: an account for the organiser's pages."""

from __future__ import annotations

import argparse
import sys

from grammeter.cli import campaign_arguments
from grammeter.cli.output import notice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME", help="the login")
    campaign_arguments.add_database(parser)
    parser.add_argument(
        "--every-campaign",
        action="store_true",
        help="let the account see campaigns that belong to others, too",
    )
    parser.add_argument(
        "--make-password",
        action="store_true",
        help="make a password and print it once; default: ask for one, if somebody can answer",
    )
    parser.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> int:
    """Make the account, or change its password; return the exit code."""
    with campaign_arguments.at_work(args, make=True):
        from grammeter.campaign import organisers

        made = args.make_password or not sys.stdin.isatty()
        password = organisers.make_password() if made else _typed()
        new = organisers.save_account(args.name, password, every_campaign=args.every_campaign)
    if made:
        sys.stdout.write(password + "\n")
    notice(args, f"account {args.name}: {'made' if new else 'new password'}")
    return 0


def _typed() -> str:
    """Ask for a password twice, without showing it."""
    from getpass import getpass

    from grammeter.core import UsageError

    password = getpass("password: ")
    if password != getpass("again: "):
        raise UsageError("the two are not the same", fix="Try again.")
    return password
