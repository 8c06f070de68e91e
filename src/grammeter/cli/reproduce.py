"""``grammeter reproduce``: the papers' tables again, published figures beside ours."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from grammeter.cli import models
from grammeter.cli.flags import add_options
from grammeter.cli.output import add_output, emit, notice, progress

if TYPE_CHECKING:
    from grammeter.core import Form, Result

PROCESSES = 2

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
        _emit(args, reproduce(table=args.table))
        return 0
    with using(models.runtime(args)), progress(args):
        reproduction = reproduce(paper, args.table, models=args.models, processes=PROCESSES)
    _emit(args, reproduction, differing=args.differing, summary=args.summary)
    counts = Counter(cell.verdict for cell in reproduction.cells)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    notice(args, f"{len(reproduction.cells)} cells: {verdicts}; {sum(reproduction.seconds):.0f} s")
    return 0


def _emit(args: argparse.Namespace, result: Result, **options: bool) -> None:
    """Print; write to ``-o`` in the form of the file's suffix, else as JSON."""
    from grammeter.formats import write_text

    form = _FORMS.get(Path(args.output).suffix.lower()) if args.output else None
    if form:
        write_text(args.output, result.write(form, **options))
        args = argparse.Namespace(**{**vars(args), "output": None})
    emit(args, result, **options)
