"""``grammeter report``: scores, judgments and sentences as one page to browse."""

import argparse

import grammeter as gm
from grammeter import formats
from grammeter.cli.flags import call
from grammeter.cli.output import notice, progress

MEGABYTE = 1_000_000
LARGE = 25 * MEGABYTE  # above this size a notice says what to leave out


def run(args: argparse.Namespace) -> None:
    """Gather and write the page."""
    _check_output(args)
    with progress(args):
        page = call(args, gm.report)
    size = gm.write_report(page, args.output)
    notice(args, f"{args.output}: {size / MEGABYTE:.1f} MB")
    if size > LARGE:
        notice(args, "so large a page opens slowly: --systems and -m leave out what is not needed")


def _check_output(args: argparse.Namespace) -> None:
    from pathlib import Path

    if not args.output:
        raise gm.UsageError("a report is a file, and none is named", fix="Add: -o report.html")
    formats.check_folder(args.output)
    target = Path(args.output)
    if target.is_dir():
        fault = f"{args.output}: this is a folder, not a file"
        raise gm.UsageError(fault, fix=f"Add: -o {target / 'report.html'}")
