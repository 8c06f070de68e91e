"""``grammeter report``: scores, judgments and sentences as one page to browse."""

from __future__ import annotations

import argparse

from grammeter.cli.flags import add_options, call
from grammeter.cli.inputs import add_first_segment
from grammeter.cli.output import notice, progress

MEGABYTE = 1_000_000
LARGE = 25 * MEGABYTE
"""Above this size a notice says what to leave out."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Write one HTML file that opens from disk: scores with intervals and letters, error"
        " types, what people said and how metrics agree with them, and all sentences to browse."
        " The file holds the sentences and asks nothing of the network."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter report scores.json -o report.html\n"
        "  grammeter report scores.json judgments.xml meta.json -o report.html --title 'CoNLL-14'"
    )
    add = parser.add_argument
    add(
        "scores",
        metavar="SCORES",
        help="what 'grammeter score -o FILE' wrote, scores of other programs, or judgments",
    )
    add(
        "files",
        nargs="*",
        default=[],
        metavar="FILE",
        help="judgments (Appraise XML, WMT CSV, JSON lines), and what rank, meta system, compare"
        " and agree wrote with -o; told apart by their content",
    )
    add("-o", "--output", metavar="FILE", help="where the page goes; there is no default")
    add_options(parser, "verbs.report", {
        "title": "the head of the page",
        "metrics": "default: all in SCORES",
        "systems": "default: all in SCORES",
    })  # fmt: skip
    add_first_segment(parser, "in the outputs of SCORES, else 0")
    add_options(parser, "verbs.report", {
        "resamples": "", "seed": "",
        "no_types": "leave out error types that SCORES does not hold: finding them parses all"
        " outputs",
        "pipeline": "a spaCy pipeline, by name or folder, or 'neutral', to find error types with",
    })  # fmt: skip
    add("--quiet", action="store_true", help="no notices and no progress")


def run(args: argparse.Namespace) -> None:
    """Gather and write the page."""
    from grammeter.verbs import report, write_report

    _check_output(args)
    with progress(args):
        page = call(args, report)
    size = write_report(page, args.output)
    notice(args, f"{args.output}: {size / MEGABYTE:.1f} MB")
    if size > LARGE:
        notice(args, "so large a page opens slowly: --systems and -m leave out what is not needed")


def _check_output(args: argparse.Namespace) -> None:
    from pathlib import Path

    from grammeter.core import UsageError
    from grammeter.formats import check_folder

    if not args.output:
        raise UsageError("a report is a file, and none is named", fix="Add: -o report.html")
    check_folder(args.output)
    target = Path(args.output)
    if target.is_dir():
        raise UsageError(
            f"{args.output}: this is a folder, not a file", fix=f"Add: -o {target / 'report.html'}"
        )
