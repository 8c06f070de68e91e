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

Titled = tuple[str, "Table"]

_TITLES: Mapping[Form, str] = {
    "table": "{}\n\n",
    "markdown": "## {}\n\n",
    "latex": "% {}\n",
    "tsv": "# {}\n",
}
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
    add(
        "--models",
        action="store_true",
        help="also make the figures that need pretrained models, which takes minutes; a small"
        " model that is here takes the place of a paper's that is not, and the figure says so",
    )
    model_arguments.add_models(parser)
    add_output(parser, file="also write it: .md, .tex and .tsv as such, any other name as JSON")


def run(args: argparse.Namespace) -> int:
    """List, or make tables and print them; return the exit code."""
    from grammeter.papers.reproduce import list_tasks

    tasks = list_tasks(None if args.paper == ALL else args.paper, args.table)
    if args.paper is None:
        data = {"kind": "reproductions", "tables": [_task_json(task) for task in tasks]}
        _emit(args, data, [("What can be made again", _listing(tasks))])
        return 0
    return _reproduce(args, tasks)


def _reproduce(args: argparse.Namespace, tasks: Sequence[Task]) -> int:
    from grammeter.core.progress import reporting
    from grammeter.neural.runtime import using
    from grammeter.papers.materials import Materials
    from grammeter.papers.reproduce import reproduce

    progress = Progress()
    with (
        using(model_arguments.runtime(args)),
        reporting(progress) if progress_wanted(args) else nullcontext(),
    ):
        found = reproduce(tasks, Materials(models=args.models))
    progress.clear()
    _emit(args, found.to_json(), [*_overview(found), *_tables(found, args.differing)])
    counts = Counter(cell.verdict for cell in found.cells)
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    notice(args, f"{len(found.cells)} cells: {told}; {sum(found.seconds):.0f} s")
    return 0


def _emit(args: argparse.Namespace, data: Mapping[str, Any], tables: Sequence[Titled]) -> None:
    """Print; write to ``-o`` in the form that the file's name tells, else as JSON."""
    from grammeter.corpus.text import write_text

    form = _FORMS.get(Path(args.output).suffix.lower()) if args.output else None
    if form:
        write_text(args.output, _text(tables, form))
        args = argparse.Namespace(**{**vars(args), "output": None})
    emit(args, data, lambda: _text(tables, args.format))


def _text(tables: Sequence[Titled], form: Form) -> str:
    """Write tables one after the other, each under its title."""
    from grammeter.report.tables import render

    return "\n".join(_TITLES[form].format(title) + render(table, form) for title, table in tables)


def _overview(found: Reproduction) -> list[Titled]:
    """Count the verdicts by table, where there are several."""
    from typing import get_args

    from grammeter.papers.cells import Verdict
    from grammeter.report.tables import Table

    if len(found.tables) < 2:
        return []
    verdicts: tuple[str, ...] = get_args(Verdict)
    counts = Counter((cell.paper, cell.table, cell.verdict) for cell in found.cells)
    rows = [
        (each.paper, each.name, *(str(counts[each.paper, each.name, v] or "") for v in verdicts))
        for each in found.tables
    ]
    total = Counter(cell.verdict for cell in found.cells)
    rows.append(("all", "", *(str(total[verdict]) for verdict in verdicts)))
    header = ("paper", "table", *verdicts)
    return [("Verdicts", Table(header, tuple(rows), "ll" + "r" * len(verdicts)))]


def _listing(tasks: Iterable[Task]) -> Table:
    from grammeter.report.tables import Table

    rows = tuple(
        (
            task.printed.paper,
            task.printed.name,
            task.printed.title,
            str(task.printed.figures),
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
        "cells": task.printed.figures,
        "data": list(task.recipe.data),
        "models": list(task.recipe.models),
        "missing": list(task.missing),
    }


def _tables(found: Reproduction, differing: bool) -> list[Titled]:
    return [
        (f"{printed.paper}, {printed.page}: {printed.title}", _table(printed, cells))
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
    header = ("row", "column", "published", "ours", "difference", "verdict", "note")
    return Table(header, tuple(rows), "llrrrll")


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
