"""``grammeter reproduce``: the papers' tables again, published figures beside ours."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import grammeter as gm
from grammeter import core, formats, papers, rendering, training
from grammeter.cli import flags, models
from grammeter.cli.output import check_figures, emit, notice, progress, teller

PROCESSES = 2
_FORMS: Mapping[str, core.Form] = {".md": "markdown", ".tex": "latex", ".tsv": "tsv"}


def run(args: argparse.Namespace) -> None:
    """List, or make tables and print them."""
    paper: str | None = args.paper
    if paper is None and not args.slips:
        _emit(args, gm.reproduce(table=args.table))
        return
    check_figures(args.figure)
    args.paper = paper or "all"
    with (
        gm.using(models.runtime(args)),
        progress(args) as shown,
        training.listening(teller(args, shown)),
    ):
        reproduction = flags.call(args, gm.reproduce, processes=PROCESSES)
    _draw(reproduction, args.figure)
    shown = ("differing", "summary")
    _emit(args, reproduction, **{name: getattr(args, name) for name in shown})
    if not reproduction.cells:
        return
    counts = Counter(cell.verdict for cell in reproduction.cells)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    notice(args, f"{len(reproduction.cells)} cells: {verdicts}; {sum(reproduction.seconds):.0f} s")


def _draw(reproduction: papers.Reproduction, path: str | None) -> None:
    if path is None:
        return
    drawings = [*reproduction.figures()]
    if len(drawings) != 1:
        fault = f"--figure: {len(drawings)} of these tables are drawn by the paper and made here"
        fix = "Name one, such as: grammeter reproduce grundkiewicz2015 figure3_curves"
        raise core.UsageError(fault, fix=fix)
    rendering.save_figures(reproduction, {drawings[0]: path})


def _emit(args: argparse.Namespace, result: core.Result, **options: bool) -> None:
    """Print; write to ``-o`` in the form of the file's suffix, else as JSON."""
    form = _FORMS.get(Path(args.output).suffix.lower()) if args.output else None
    if form:
        formats.write_text(args.output, result.write(form, **options))
        args = argparse.Namespace(**{**vars(args), "output": None})
    emit(args, result, **options)
