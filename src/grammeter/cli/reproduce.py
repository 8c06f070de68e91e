"""``grammeter reproduce``: the papers' tables again, published figures beside ours."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grammeter.cli import models
from grammeter.cli.flags import add_options
from grammeter.cli.output import add_output, emit, notice, progress

if TYPE_CHECKING:
    from grammeter.papers import Cell, PrintedTable, Reproduction, Task, Value
    from grammeter.rendering import Form, Table

PROCESSES = 2

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
        "  grammeter reproduce all --summary\n"
        "  grammeter reproduce all --quiet -o reproduction.md"
    )
    add = parser.add_argument
    add("paper", nargs="?", metavar="PAPER", help="such as grundkiewicz2015, or 'all'")
    add("table", nargs="?", metavar="TABLE", help="such as table3b; default: all of the paper")
    add("--differing", action="store_true", help="print only the cells that are not equal")
    add(
        "--summary",
        action="store_true",
        help="print only how many cells have which verdict, and those that differ, with the reason",
    )
    add_options(parser, "papers.reproduce", {
        "models": "also make the figures that need pretrained models, which takes minutes; a small"
        " model that is here takes the place of a paper's that is not, and the figure says so",
    })  # fmt: skip
    models.add_models(parser)
    add_output(parser, file="also write it: .md, .tex and .tsv as such, any other name as JSON")


def run(args: argparse.Namespace) -> int:
    """List, or make tables and print them; return the exit code."""
    from grammeter.models import using
    from grammeter.papers import reproduce

    paper: str | None = args.paper
    if paper is None:
        listing = reproduce(table=args.table)
        _emit(args, listing.to_dict(), [("What can be made again", _listing(listing.tasks))])
        return 0
    with using(models.runtime(args)), progress(args):
        reproduction = reproduce(paper, args.table, models=args.models, processes=PROCESSES)
    tables = summary(reproduction) if args.summary else _all_tables(reproduction, args.differing)
    _emit(args, reproduction.to_dict(), tables)
    counts = Counter(cell.verdict for cell in reproduction.cells)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    notice(args, f"{len(reproduction.cells)} cells: {verdicts}; {sum(reproduction.seconds):.0f} s")
    return 0


def _emit(args: argparse.Namespace, data: Mapping[str, Any], tables: Sequence[Titled]) -> None:
    """Print; write to ``-o`` in the form of the file's suffix, else as JSON."""
    from grammeter.formats import write_text

    form = _FORMS.get(Path(args.output).suffix.lower()) if args.output else None
    if form:
        write_text(args.output, _text(tables, form))
        args = argparse.Namespace(**{**vars(args), "output": None})
    emit(args, data, lambda: _text(tables, args.format))


def _text(tables: Sequence[Titled], form: Form) -> str:
    """Write tables one after another, each under its title; a single TSV table has none."""
    from grammeter.rendering import render

    if form == "tsv" and len(tables) == 1:
        return render(tables[0][1], form)
    return "\n".join(_TITLES[form].format(title) + render(table, form) for title, table in tables)


def _all_tables(reproduction: Reproduction, differing: bool) -> list[Titled]:
    overview = [overview_table(reproduction)] if len(reproduction.tables) > 1 else []
    return [*overview, *_tables(reproduction, differing)]


def summary(reproduction: Reproduction) -> list[Titled]:
    """Return the overview, and for each paper's table the cells that differ with the reasons."""
    return [overview_table(reproduction), *_differing(reproduction)]


def overview_table(reproduction: Reproduction) -> Titled:
    """Count the verdicts by table."""
    from typing import get_args

    from grammeter.papers import Verdict
    from grammeter.rendering import Table

    verdicts: tuple[str, ...] = get_args(Verdict)
    counts = Counter((cell.paper, cell.table, cell.verdict) for cell in reproduction.cells)
    rows = [
        (
            table.paper,
            table.name,
            *(str(counts[table.paper, table.name, v] or "") for v in verdicts),
        )
        for table in reproduction.tables
    ]
    total = Counter(cell.verdict for cell in reproduction.cells)
    rows.append(("all", "", *(str(total[verdict]) for verdict in verdicts)))
    header = ("paper", "table", *verdicts)
    return "Verdicts", Table(header, tuple(rows), "ll" + "r" * len(verdicts))


def _differing(reproduction: Reproduction) -> Iterator[Titled]:
    for printed in reproduction.tables:
        here = [
            c for c in reproduction.cells if _belongs(c, printed, True) and c.verdict == "differs"
        ]
        if here:
            yield f"{printed.paper}, {printed.page}: cells that differ", _why(printed, here)


def _why(printed: PrintedTable, cells: Sequence[Cell]) -> Table:
    """Lay out cells with the number of the reason; the reasons stand below."""
    from grammeter.rendering import Table

    reasons = list(dict.fromkeys(cell.note for cell in cells))
    rows = tuple((*_figures(printed, cell), str(1 + reasons.index(cell.note))) for cell in cells)
    notes = tuple(f"{number}: {reason}" for number, reason in enumerate(reasons, start=1))
    return Table(("row", "column", "published", "ours", "why"), rows, "llrrr", notes)


def _listing(tasks: Iterable[Task]) -> Table:
    from grammeter.rendering import Table

    rows = tuple(
        (
            task.printed.paper,
            task.printed.name,
            task.printed.title,
            str(task.printed.figures) if task.printed.transcribed else "not transcribed",
            "; ".join(_needs(task)) or "here",
        )
        for task in tasks
    )
    return Table(("paper", "table", "what it shows", "cells", "what it needs"), rows, "lllrl")


def _needs(task: Task) -> Iterator[str]:
    yield from task.missing
    yield from (f"model {name}" for name in task.printed.models)
    if not task.printed.transcribed:
        yield "the printed figures"


def _tables(reproduction: Reproduction, differing: bool) -> list[Titled]:
    return [
        (f"{printed.paper}, {printed.page}: {printed.title}", _table(printed, cells))
        for printed in reproduction.tables
        if (cells := [c for c in reproduction.cells if _belongs(c, printed, differing)])
    ]


def _belongs(cell: Cell, printed: PrintedTable, differing: bool) -> bool:
    here = (cell.paper, cell.table) == (printed.paper, printed.name)
    return here and not (differing and cell.verdict == "equal")


def _table(printed: PrintedTable, cells: Iterable[Cell]) -> Table:
    from grammeter.rendering import Table, format_number

    rows = [
        (
            *_figures(printed, cell),
            "" if cell.difference is None
            else format_number(cell.difference, _finer(printed, cell), sign=True),
            cell.verdict,
            cell.note,
        )
        for cell in cells
    ]  # fmt: skip
    header = ("row", "column", "published", "ours", "difference", "verdict", "note")
    return Table(header, tuple(rows), "llrrrll", (f"published: {printed.origin}",))


def _figures(printed: PrintedTable, cell: Cell) -> tuple[str, ...]:
    published = _shown(cell.published, _digits(printed, cell))
    return cell.row, cell.column, published, _shown(cell.ours, _finer(printed, cell))


def _digits(printed: PrintedTable, cell: Cell) -> int:
    figure = printed.cells.get((cell.row, cell.column))
    return figure.digits if figure else 3


def _finer(printed: PrintedTable, cell: Cell) -> int:
    """Return the decimals of our figure: two more than printed, none for counts."""
    digits = _digits(printed, cell)
    return digits + 2 if digits else 0


def _shown(value: Value | None, digits: int) -> str:
    from grammeter.rendering import format_number

    if value is None:
        return ""
    return value if isinstance(value, str) else format_number(value, digits)
