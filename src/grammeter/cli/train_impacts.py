"""``grammeter train impacts``: which error types, and which edits, have the greatest impact."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from grammeter.cli.output import FORMATS, add_output, print_json
from grammeter.cli.train_arguments import (
    add_encoder,
    add_parallel,
    add_running,
    at_work,
    reading,
)

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
    from dataclasses import asdict

    from grammeter.rendering import render
    from grammeter.training import impacts_by_type, impacts_of_edits
    from grammeter.verbs import edit_impacts

    with at_work(args):
        sentences = edit_impacts(args.parallel, args.encoder, reading=reading(args)).sentences
    types, edits = impacts_by_type(sentences), impacts_of_edits(sentences)
    if args.format == "json":
        one = {"deviation": None, "deviation_reason": "a single edit"}
        rows = [{**asdict(row), **(one if row.count == 1 else {})} for row in types]
        print_json({"kind": "impacts", "types": rows, "edits": [*map(asdict, edits)]})
        return 0
    shown = args.show if args.show > 0 else 0
    tables = [_types(types), _edits(edits[:shown]), _edits(edits[len(edits) - shown :])]
    sys.stdout.write("\n".join(render(table, args.format) for table in tables if table.rows))
    return 0


def _types(types: list[TypeImpact]) -> Table:
    from grammeter.rendering import Table

    rows = tuple(
        (row.type, str(row.count), f"{row.mean:.4f}", f"{row.median:.4f}", f"{row.deviation:.4f}")
        for row in types
    )
    return Table(("type", "edits", "mean impact", "median", "deviation"), rows, "lrrrr")


def _edits(edits: list[EditImpact]) -> Table:
    from grammeter.rendering import Table

    rows = tuple(
        (f"{row.impact:.4f}", row.type, f"[{row.original} -> {row.correction}]", row.origin)
        for row in edits
    )
    return Table(("impact", "type", "edit", "sentence"), rows, "rlll")
