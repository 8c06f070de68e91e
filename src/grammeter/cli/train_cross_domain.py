"""``grammeter train cross-domain``: trained on each of several corpora, tested on each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grammeter.cli.output import FORMATS, add_output, print_json
from grammeter.cli.train import add_parallel, add_preference, at_work, options

if TYPE_CHECKING:
    from grammeter.rendering import Table
    from grammeter.training import Cell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "example:\n"
        "  grammeter train cross-domain --parallel conll13=conll13.m2 cweb=cweb.m2 \\\n"
        "    jfleg=dev.src:dev.ref0 --encoder bert-base-cased --seeds 1 2 3 -o crossed\n"
        "finished models are taken as they are: the same command goes on after an interruption"
    )
    add_parallel(parser, named=True)
    add_preference(parser, seeds=True)
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="folder of the models, NAME-SEED each"
    )
    add_output(parser, formats=FORMATS, file=None)


def run(args: argparse.Namespace) -> int:
    """Train, test, print the table; return the exit code."""
    from grammeter.rendering import render
    from grammeter.verbs import train_cross_domain

    with at_work(args):
        crossed = train_cross_domain(
            _corpora(args.parallel), args.output, **options(args, train_cross_domain)
        )
    if args.format == "json":
        print_json(crossed.to_dict())
    else:
        sys.stdout.write(render(_table(crossed.cells), args.format))
    return 0


def _corpora(spelled: list[str]) -> dict[str, list[str]]:
    """Return data by name; a name that comes again adds to its corpus."""
    from grammeter.core import UsageError

    corpora: dict[str, list[str]] = {}
    for text in spelled:
        name, equals, data = text.partition("=")
        if not (name and equals and data):
            raise UsageError(f"--parallel {text}", fix="Write NAME=DATA: conll13=conll13.m2")
        corpora.setdefault(name, []).append(data)
    return corpora


def _table(cells: Sequence[Cell]) -> Table:
    from grammeter.rendering import Table

    rows = tuple(
        (
            cell.trained,
            cell.tested,
            f"{cell.mean:.4f}",
            "{:.4f} to {:.4f}".format(*cell.interval),
            " ".join(f"{value:.4f}" for value in cell.accuracies),
            " ".join(f"{value:.4f}" for value in cell.apart),
        )
        for cell in cells
    )
    head = ("trained on", "tested on", "accuracy", "95 % over seeds", "each seed", "no inclusion")
    return Table(head, rows, "llrlll")
