"""``grammeter train impacts``: which error types, and which edits, have the greatest impact."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grammeter.cli.output import FORMATS, add_output, print_json
from grammeter.cli.train import add_encoder, add_parallel, add_running, at_work, options

if TYPE_CHECKING:
    from grammeter.rendering import Table
    from grammeter.training import EditImpact, TypeImpact


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "example:\n"
        "  grammeter train impacts --parallel train.m2 --encoder bert-base-cased --show 10"
    )
    add_parallel(parser)
    add_encoder(parser)
    add_running(parser)
    parser.add_argument(
        "--show",
        type=int,
        default=5,
        metavar="N",
        help="show so many edits with the highest and lowest impacts; default: %(default)s",
    )
    add_output(parser, formats=FORMATS, file=None)


def run(args: argparse.Namespace) -> int:
    """Measure and print; return the exit code."""
    from grammeter.rendering import render
    from grammeter.verbs import train_impacts

    with at_work(args):
        impacts = train_impacts(args.parallel, **options(args, train_impacts))
    if args.format == "json":
        print_json(impacts.to_dict())
        return 0
    edits, shown = impacts.edits, max(args.show, 0)
    tables = [_types(impacts.types), _edits(edits[:shown]), _edits(edits[len(edits) - shown :])]
    sys.stdout.write("\n".join(render(table, args.format) for table in tables if table.rows))
    return 0


def _types(types: Sequence[TypeImpact]) -> Table:
    from grammeter.rendering import Table

    rows = tuple(
        (row.type, str(row.count), f"{row.mean:.4f}", f"{row.median:.4f}", f"{row.deviation:.4f}")
        for row in types
    )
    return Table(("type", "edits", "mean impact", "median", "deviation"), rows, "lrrrr")


def _edits(edits: Sequence[EditImpact]) -> Table:
    from grammeter.rendering import Table

    rows = tuple(
        (f"{row.impact:.4f}", row.type, f"[{row.original} -> {row.correction}]", row.origin)
        for row in edits
    )
    return Table(("impact", "type", "edit", "sentence"), rows, "rlll")
