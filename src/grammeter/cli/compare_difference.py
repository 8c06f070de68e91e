"""``grammeter compare --difference A B``: sentences sorted by how much two systems differ."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from grammeter.cli.output import drawn, emit, share

if TYPE_CHECKING:
    from grammeter.core import ScoreTable
    from grammeter.rendering import Table
    from grammeter.verbs import Difference

SHOWN = 10
UNUSED = {"baseline": None, "test": "bootstrap", "resamples": None, "seed": 1, "confidence": 0.95,
          "correction": "none"}  # fmt: skip
"""Options of the tests, which do not concern single sentences, and their defaults."""


def add_difference(add: Callable[..., argparse.Action]) -> None:
    """Declare the options."""
    help_ = (
        "list sentences instead, with --types error types, sorted by A's score minus B's under"
        " the first metric"
    )
    add("--difference", nargs=2, metavar=("A", "B"), help=help_)
    help_ = "with --difference: how many from either end, 0: all; default: %(default)s"
    add("--show", type=int, default=SHOWN, metavar="N", help=help_)


def run_difference(args: argparse.Namespace, table: ScoreTable) -> int:
    """List sentences; return the exit code."""
    from grammeter.core import UsageError
    from grammeter.verbs import difference

    unused = [f"--{name}" for name, usual in UNUSED.items() if getattr(args, name) != usual]
    if unused:
        raise UsageError(
            f"--difference tests nothing: no effect of {', '.join(unused)}",
            fix=f"Leave out {' and '.join(unused)}.",
        )
    options = {"metrics": args.metrics, "types": args.types, "show": args.show}
    result = difference(table, *args.difference, **options)
    emit(args, result.to_json(), lambda: drawn(args, _laid_out(result, args)))
    return 0


def _laid_out(result: Difference, args: argparse.Namespace) -> Table:
    """Lay out a row for each sentence or type: both scores and the difference, by metric."""
    from grammeter.rendering import Table, score_notes

    rows = tuple(
        (
            str(result.label(at)),
            *(share(args, float(cell)) for v in result.values.values() for cell in v[:, at]),
        )
        for at in result.order
    )
    heads = ("first", "second", "difference")
    if args.format != "tsv":
        heads = (result.first, result.second, "difference")
    unit = "segment" if result.types is None else "type"
    header = (unit, *(f"{name} {head}" for name in result.values for head in heads))
    notes = [score_notes(name, column)[0] for name, column in result.columns.items()]
    align = ("r" if result.types is None else "l") + "r" * (len(header) - 1)
    return Table(header, rows, align, tuple(notes))
