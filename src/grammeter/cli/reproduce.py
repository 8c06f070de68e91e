"""``grammeter reproduce``: the papers' tables again, published figures beside ours."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grammeter.cli import model_arguments
from grammeter.cli.output import Progress, add_output, emit, notice, progress_wanted

if TYPE_CHECKING:
    from grammeter.papers.cells import Cell, PrintedTable, Value
    from grammeter.papers.reproduce import Reproduction, Task
    from grammeter.report.tables import Form, Table

ALL = "all"

_FORMS: Mapping[str, Form] = {".md": "markdown", ".tex": "latex", ".tsv": "tsv"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Make the tables of the papers again. Without a paper: which tables there are, and"
        " whether what they need is here."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter reproduce\n"
        "  grammeter reproduce grundkiewicz2015 table3b\n"
        "  grammeter reproduce all --format markdown -o reproduction.json"
    )
    add = parser.add_argument
    add("paper", nargs="?", metavar="PAPER", help="such as grundkiewicz2015, or 'all'")
    add("table", nargs="?", metavar="TABLE", help="such as table3b; default: all of the paper")
    add("--differing", action="store_true", help="print only the cells that are not equal")
    model_arguments.add_models(parser)
    add_output(parser, file="also write it: .md, .tex and .tsv as such, any other name as JSON")


def run(args: argparse.Namespace) -> int:
    """List, or make tables and print them; return the exit code."""
    from grammeter.papers.reproduce import list_tasks

    tasks = list_tasks(None if args.paper == ALL else args.paper, args.table)
    if args.paper is None:
        data = {"kind": "reproductions", "tables": [_task_json(task) for task in tasks]}
        _emit(args, data, [_listing(tasks)])
        return 0
    return _reproduce(args, tasks)


def _reproduce(args: argparse.Namespace, tasks: Sequence[Task]) -> int:
    from grammeter.core.progress import reporting
    from grammeter.neural.runtime import using
    from grammeter.papers.reproduce import reproduce

    progress = Progress()
    with (
        using(model_arguments.runtime(args)),
        reporting(progress) if progress_wanted(args) else nullcontext(),
    ):
        found = reproduce(tasks)
    progress.clear()
    _emit(args, found.to_json(), _tables(found, args.differing))
    counts = Counter(cell.verdict for cell in found.cells)
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    notice(args, f"{len(found.cells)} cells: {told}; {sum(found.seconds):.0f} s")
    return 0


def _emit(args: argparse.Namespace, data: Mapping[str, Any], tables: Sequence[Table]) -> None:
    """Print; write to ``-o`` in the form that the file's name tells, else as JSON."""
    from grammeter.corpus.text import write_text
    from grammeter.report.tables import render

    form = _FORMS.get(Path(args.output).suffix.lower()) if args.output else None
    if form:
        write_text(args.output, "\n".join(render(table, form) for table in tables))
        args = argparse.Namespace(**{**vars(args), "output": None})
    emit(args, data, lambda: "\n".join(render(table, args.format) for table in tables))


def _listing(tasks: Iterable[Task]) -> Table:
    from grammeter.report.tables import Table

    rows = tuple(
        (
            task.printed.paper,
            task.printed.name,
            task.printed.title,
            str(len(task.printed.cells)),
            "; ".join(task.missing) or "here",
        )
        for task in tasks
    )
    return Table(("paper", "table", "what it shows", "cells", "what it needs"), rows, "lllrl")


def _task_json(task: Task) -> dict[str, Any]:
    return {
        "paper": task.printed.paper,
        "table": task.printed.name,
        "title": task.printed.title,
        "cells": len(task.printed.cells),
        "data": list(task.recipe.data),
        "models": list(task.recipe.models),
        "missing": list(task.missing),
    }


def _tables(found: Reproduction, differing: bool) -> list[Table]:
    return [
        _table(printed, cells)
        for printed in found.tables
        if (cells := [c for c in found.cells if _belongs(c, printed, differing)])
    ]


def _belongs(cell: Cell, printed: PrintedTable, differing: bool) -> bool:
    here = (cell.paper, cell.table) == (printed.paper, printed.name)
    return here and not (differing and cell.verdict == "equal")


def _table(printed: PrintedTable, cells: Iterable[Cell]) -> Table:
    from grammeter.report.tables import Table, format_number

    rows = [
        (
            cell.row,
            cell.column,
            _shown(cell.published, _digits(printed, cell)),
            _shown(cell.ours, _finer(printed, cell)),
            "" if cell.difference is None
            else format_number(cell.difference, _finer(printed, cell), sign=True),
            cell.verdict,
            cell.note,
        )
        for cell in cells
    ]  # fmt: skip
    title = f"{printed.paper}, {printed.page}: {printed.title}"
    header = ("row", "column", "published", "ours", "difference", "verdict", "note")
    return Table(header, tuple(rows), "llrrrll", (title,))


def _digits(printed: PrintedTable, cell: Cell) -> int:
    found = printed.cells.get((cell.row, cell.column))
    return found.digits if found else 3


def _finer(printed: PrintedTable, cell: Cell) -> int:
    """Return how many decimals of ours are shown: two more than printed, none of counts."""
    digits = _digits(printed, cell)
    return digits + 2 if digits else 0


def _shown(value: Value | None, digits: int) -> str:
    from grammeter.report.tables import format_number

    if value is None:
        return ""
    return value if isinstance(value, str) else format_number(value, digits)
