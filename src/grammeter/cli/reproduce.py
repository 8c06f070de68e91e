"""``grammeter reproduce``: the papers' tables again, published figures beside ours."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import grammeter as gm
from grammeter.cli import models
from grammeter.cli.flags import call
from grammeter.cli.output import emit, notice, progress

if TYPE_CHECKING:
    from grammeter.core import Form, Result

PROCESSES = 2

_FORMS: Mapping[str, Form] = {".md": "markdown", ".tex": "latex", ".tsv": "tsv"}


def run(args: argparse.Namespace) -> int:
    """List, or make tables and print them; return the exit code."""
    from grammeter.models import using

    paper: str | None = args.paper
    if paper is None:
        _emit(args, gm.reproduce(table=args.table))
        return 0
    with using(models.runtime(args)), progress(args):
        reproduction = call(args, gm.reproduce, processes=PROCESSES)
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
