"""``grammeter train cross-domain``: trained on each of several corpora, tested on each."""

from __future__ import annotations

import argparse
import sys
from math import isnan
from typing import TYPE_CHECKING

from grammeter.cli.output import FORMATS, add_output, print_json
from grammeter.cli.train_arguments import add_parallel, at_work, reading, settings
from grammeter.cli.train_impara import add_preference

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
        cells = train_cross_domain(
            _corpora(args.parallel),
            args.output,
            settings=settings(args, seed=args.seeds[0]),
            seeds=args.seeds,
            pairs=args.pairs,
            loss=args.loss,
            parallel_only=args.parallel_only,
            reading=reading(args),
        )
    if args.format == "json":
        print_json({"kind": "cross-domain", "seeds": args.seeds, "cells": [*map(_json, cells)]})
    else:
        sys.stdout.write(render(_table(cells), args.format))
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


def _json(cell: Cell) -> dict[str, object]:
    from grammeter.core import json_number

    low, high = cell.interval
    reasons: dict[str, object] = {}
    if len(cell.accuracies) == 1:
        reasons["interval_reason"] = "a single seed"
    if any(map(isnan, cell.apart)):
        reasons["without_inclusion_reason"] = "all test pairs of a seed are inclusion pairs"
    return {
        "trained": cell.trained,
        "tested": cell.tested,
        "accuracies": [json_number(value) for value in cell.accuracies],
        "mean": json_number(cell.mean),
        "low": json_number(low),
        "high": json_number(high),
        "without_inclusion": [json_number(value) for value in cell.apart],
        **reasons,
    }


def _table(cells: list[Cell]) -> Table:
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
