"""``grammeter campaign upgrade``: bring a database of an older version up to date."""

from __future__ import annotations

import argparse

from grammeter.cli import campaign_arguments
from grammeter.cli.output import notice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Bring a database of an older version up to date. Of an SQLite file a copy is kept"
        " first; copy a PostgreSQL database with pg_dump before."
    )
    campaign_arguments.add_database(parser)
    parser.add_argument(
        "--copy", metavar="FILE", help="where the copy is kept; default: beside it, ending in .old"
    )
    parser.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> int:
    """Upgrade; return the exit code."""
    from grammeter.campaign import conf

    conf.configure(args.database)
    from grammeter.campaign import database

    copy = args.copy or f"{args.database}.old"
    changed = database.upgrade(args.database, copy)
    old = f"; {copy} is as it was before" if conf.is_file(args.database) else ""
    notice(args, f"brought up to date{old}" if changed else "it is up to date")
    return 0
