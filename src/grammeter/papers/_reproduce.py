"""Make the tables of papers again, each figure beside the printed one."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args, overload

from grammeter import core, version
from grammeter.formats import list_datasets
from grammeter.papers import cells as beside
from grammeter.papers import (
    chollampatt2018,
    gong2022,
    grundkiewicz2015,
    kobayashi2024,
    maeda2022,
    programs,
)
from grammeter.papers.materials import Materials, Settings, named_paths

ALL = "all"  # in place of a paper: all papers

EQUAL: tuple[beside.Verdict, ...] = ("equal", "consistent", "stored")
"""Verdicts on figures with the printed digits, whatever ours are made from."""

Make = Callable[[Materials], beside.Made]
"""Makes the figures of a table; those that are not printed become rows beside the paper's."""

_ALL = (grundkiewicz2015, chollampatt2018, gong2022, maeda2022, kobayashi2024, programs)
PAPERS: Mapping[str, Mapping[str, Make]] = {
    paper.__name__.rpartition(".")[2]: paper.TABLES for paper in _ALL
}
"""Paper -> table -> its recipe; figures of other tables stay open, for the reason in ``gaps``."""


@dataclass(frozen=True, slots=True)
class Task:
    """A table with its recipe, and what this machine lacks for it."""

    printed: beside.PrintedTable
    make: Make
    missing: tuple[str, ...]

    def needs(self) -> Iterator[str]:
        """Yield what is missing here, and say where print has no figures."""
        yield from self.missing
        if not self.printed.transcribed:
            yield "printed figures, which a picture does not have"

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        p = self.printed
        shape = {"paper": p.paper, "table": p.name, "title": p.title, "cells": p.figures}
        shape |= {"transcribed": p.transcribed, "data": [*p.data], "how": p.how}
        return shape | {"missing": [*self.missing]}


@dataclass(frozen=True, repr=False)
class Reproducible(core.Result):
    """Tables that can be made again."""

    tasks: tuple[Task, ...]

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each table that can be made again."""
        rows: list[tuple[str | int, ...]] = []
        for task in self.tasks:
            p, needs = task.printed, "; ".join(task.needs()) or "here"
            cells = p.figures if p.transcribed else "not transcribed"
            rows.append((p.paper, p.name, p.title, cells, needs))
        heads = ("paper", "table", "what it shows", core.Column("cells", "count"), "what it needs")
        return [core.Table.of(heads, rows, title="What can be made again")]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        tables = [task.to_dict() for task in self.tasks]
        return core.stamped({"kind": "reproductions", "tables": tables})


@dataclass(frozen=True, repr=False)
class Reproduction(core.Result):
    """Cells of one or more tables, and the seconds that each table took."""

    cells: tuple[beside.Cell, ...]
    printed: tuple[beside.PrintedTable, ...]
    seconds: tuple[float, ...]
    notes: tuple[str, ...] = ()
    as_printed: bool = False

    def tables(self, *, long: bool = False, differing: bool = False) -> Sequence[core.Table]:
        """Return the verdicts by table, if there are several, and each table with our figures.

        ``differing``: leave out cells with the printed digits. The slips of a paper come last,
        unless one table alone was made.
        """
        if self.as_printed and not long:
            return [beside.printed_table(p, of) for p, of in self._by_table() if of]
        hidden = EQUAL if differing else ()
        chosen = [(p, [c for c in of if c.verdict not in hidden]) for p, of in self._by_table()]
        overview = [self._overview()] if len(self.printed) > 1 and self.cells else []
        slips = [
            beside.slips_table(paper) for paper in self.papers if not (self.cells and not overview)
        ]
        return [*overview, *(beside.cells_table(p, of) for p, of in chosen if of), *slips]

    @property
    def papers(self) -> list[str]:
        """Papers whose tables these are."""
        return list(dict.fromkeys(printed.paper for printed in self.printed))

    def figures(self) -> Mapping[str, core.Figure]:
        """Return the drawings among the tables, each with our figures."""
        drawn = ((p, of) for p, of in self._by_table() if p.axes)
        return {p.name: beside.figure_of(p, of) for p, of in drawn if any(cell.ours for cell in of)}

    def _by_table(self) -> Iterator[tuple[beside.PrintedTable, list[beside.Cell]]]:
        for printed in self.printed:
            place = (printed.paper, printed.name)
            yield printed, [cell for cell in self.cells if (cell.paper, cell.table) == place]

    def _overview(self) -> core.Table:
        verdicts: tuple[str, ...] = get_args(beside.Verdict)
        rows: list[tuple[str | int | None, ...]] = []
        for p, of in self._by_table():
            rows.append((p.paper, p.name, *(n or None for n in _counts(of, verdicts))))
        rows.append(("all", None, *_counts(self.cells, verdicts)))
        heads = core.Column.many("count", *verdicts)
        return core.Table.of(("paper", "table", *heads), rows, title="Verdicts")

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        shape: dict[str, Any] = {"kind": "reproduction", "grammeter": version.__version__}
        shape["cells"] = [cell.to_dict() for cell in self.cells]
        shape["slips"] = {p: beside.read_paper(p)["slips"] for p in self.papers}
        return shape | {"notes": [*self.notes]}


def _counts(cells: Sequence[beside.Cell], verdicts: Sequence[str]) -> list[int]:
    counts = Counter(cell.verdict for cell in cells)
    return [counts[verdict] for verdict in verdicts]


def list_tasks(paper: str | None = None, table: str | None = None) -> list[Task]:
    """Return the tables of one paper or all; an unknown paper or table raises UnknownNameError."""
    if paper is not None and paper not in PAPERS:
        raise core.UnknownNameError("paper", paper, PAPERS)
    absent = (status.dataset.name for status in list_datasets() if status.state != "present")
    need = {name: f"data set {name}: grammeter data get {name}" for name in absent}
    tasks = [
        Task(
            printed,
            PAPERS[name].get(printed.name, _nothing),
            missing=tuple(need[data] for data in printed.data if data in need),
        )
        for name in ([paper] if paper else PAPERS)
        for printed in beside.read_tables(name).values()
    ]
    if table is None:
        return tasks
    core.UnknownNameError.check("table", table, [task.printed.name for task in tasks])
    return [task for task in tasks if task.printed.name == table]


def _nothing(materials: Materials) -> beside.Made:
    return {}


@overload
def reproduce(paper: None = None, table: str | None = None) -> Reproducible: ...
@overload
def reproduce(
    paper: str, table: str | None = None,
    *, models: Sequence[str] | None = None, answers: Sequence[str] = (), long: bool = False,
    slips: bool = False, as_printed: bool = False, processes: int = 1,
) -> Reproduction: ...  # fmt: skip
@core.checked
def reproduce(
    paper: str | None = None, table: str | None = None,
    *, models: Sequence[str] | None = None, answers: Sequence[str] = (), long: bool = False,
    slips: bool = False, as_printed: bool = False, processes: int = 1,
) -> Reproducible | Reproduction:  # fmt: skip
    """Make the tables of a paper again, or list the tables that can be made.

    Models run as :func:`grammeter.using` says. Raises :class:`UnknownNameError` if there is no such
    paper or table, :class:`DataError` for a model or answers that cannot be read.

    Parameters
    ----------
    paper
        Such as ``grundkiewicz2015``, or ``all``. Default: list the tables of all papers.
    table
        Such as ``table3b``; default: all tables of the paper.
    models
        Make also figures that need pretrained models, which takes minutes: each ``NAME=PATH`` says
        where a model of the paper is, or a folder that was trained (``impara=FOLDER``,
        ``some=FOLDER``). A small model that is installed replaces a missing encoder, and the
        verdict is ``other model``. Default: make none of them.
    answers
        Answers of language models, each ``EVALUATOR=FILE``: JSON lines that ``judge`` wrote, for an
        evaluator named as the paper does (``GPT-4-S``); any other name makes a row of its own.
    long
        Make also what takes minutes without a model.
    slips
        Make no table, list only where the paper slips or is ambiguous.
    as_printed
        Show rows and columns as in the paper: its figures, and ours in brackets where it prints
        none.
    processes
        Number of processes for long work; no figure depends on it. With more than one, a script
        needs the usual guard, ``if __name__ == "__main__":``.
    """
    tasks = list_tasks(None if paper == ALL else paper, table)
    if paper is None:
        return Reproducible(tuple(tasks))
    if slips:
        return Reproduction((), tuple(task.printed for task in tasks), ())
    folders = None if models is None else named_paths(models, "models")
    settings = Settings(folders, named_paths(answers, "answers"), long, processes)
    materials, evaluators = Materials(settings), kobayashi2024.evaluators()
    for name in settings.answers:  # faults of files before the first table
        materials.answers(name)
    new = ", ".join(name for name in settings.answers if name not in evaluators)
    note = f"rows of your own, beside which the paper has no figure: {new}; its evaluators are "
    notes = (note + ", ".join(evaluators),) if new else ()
    return replace(run_tasks(tasks, materials), notes=notes, as_printed=as_printed)


def run_tasks(tasks: Sequence[Task], materials: Materials | None = None) -> Reproduction:
    """Make tables again; cells of a table that lacks something have the verdict ``needs``."""
    shared = materials or Materials()
    cells: list[beside.Cell] = []
    seconds: list[float] = []
    for number, task in enumerate(tasks, start=1):
        start = time.perf_counter()
        place = f"table {number} of {len(tasks)}" if len(tasks) > 1 else "table"
        with core.labelled(f"{place} ({task.printed.paper} {task.printed.name})"):
            cells += _cells(task, shared)
        seconds.append(time.perf_counter() - start)
    return Reproduction(tuple(cells), tuple(task.printed for task in tasks), tuple(seconds))


def _cells(task: Task, materials: Materials) -> Iterator[beside.Cell]:
    printed, need = task.printed, ""
    made: beside.Made = {}
    if task.missing:
        need = f"needs {'; '.join(task.missing)}"
    else:
        try:
            made = {**printed.settings, **task.make(materials)}
        except core.MissingResourceError as error:
            need = " ".join(str(error).split())
    for key in dict.fromkeys([*printed.cells, *made]):
        theirs = printed.cells.get(key, beside.Printed(None))
        # not where the paper has a blank and we have no figure
        if key not in made and theirs.value is None and not printed.gap(*key):
            continue
        if need:
            yield beside.Cell(printed.paper, printed.name, *key, theirs.value, None, "needs", need)
        else:
            yield _cell(printed, key, theirs, made.get(key))


def _cell(
    table: beside.PrintedTable, key: tuple[str, str], theirs: beside.Printed,
    made: beside.Ours | beside.Value | None,
) -> beside.Cell:  # fmt: skip
    ours = made if made is None or isinstance(made, beside.Ours) else beside.Ours(made)
    verdict, note = beside.judge(theirs, ours, table.tolerance(*key), table.reason(*key))
    if verdict == "needs" and not note:
        note = table.gap(*key) or "no recipe for this figure"
    value = None if ours is None or ours.value != ours.value else ours.value  # NaN: none
    cut = "cut" if value is not None and beside.is_cut(theirs, value) else None
    cut = None if verdict == "other model" else cut
    return beside.Cell(table.paper, table.name, *key, theirs.value, value, verdict, note, cut)
