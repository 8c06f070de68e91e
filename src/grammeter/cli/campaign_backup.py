"""``grammeter campaign backup``: a copy of the database as it is at one moment."""

from __future__ import annotations

import argparse

from grammeter.cli import campaign_arguments
from grammeter.cli.output import notice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Copy the database to a new SQLite file, which --database can name. It may be served"
        " meanwhile. A PostgreSQL database is copied to SQLite, too."
    )
    parser.add_argument("target", metavar="FILE", help="a file that does not exist yet")
    campaign_arguments.add_database(parser)
    parser.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> int:
    """Copy; return the exit code."""
    with campaign_arguments.only_reading(args):
        from grammeter.campaign import database

        database.backup(args.database, args.target)
    notice(args, f"copied to {args.target}")
    return 0
