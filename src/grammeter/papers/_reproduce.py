"""Make the tables of papers again, each figure beside the printed one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from grammeter.core import MissingResourceError, UnknownNameError, labelled
from grammeter.formats import list_datasets
from grammeter.papers.cells import Cell, Ours, Printed, PrintedTable, Value, judge
from grammeter.papers.materials import Materials
from grammeter.papers.papers import PAPERS
from grammeter.papers.printed import read_tables
from grammeter.papers.recipe import Recipe
from grammeter.version import __version__

KIND = "reproduction"


@dataclass(frozen=True, slots=True)
class Task:
    """A table with its recipe, and what this machine lacks for it."""

    printed: PrintedTable
    recipe: Recipe
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Cells of one or more tables, and the seconds that each table took."""

    cells: tuple[Cell, ...]
    tables: tuple[PrintedTable, ...]
    seconds: tuple[float, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the public shape."""
        return {
            "kind": KIND,
            "grammeter": __version__,
            "cells": [cell.to_json() for cell in self.cells],
            "notes": [*self.notes],
        }


def list_tasks(paper: str | None = None, table: str | None = None) -> list[Task]:
    """Return the tables that have a recipe, of one paper or all.

    Raises
    ------
    UnknownNameError
        If there is no such paper or table.
    """
    if paper is not None and paper not in PAPERS:
        raise UnknownNameError("paper", paper, PAPERS)
    chosen = PAPERS if paper is None else {paper: PAPERS[paper]}
    absent = {status.dataset.name for status in list_datasets() if status.state != "present"}
    tasks = [
        Task(read_tables(name)[recipe.table], recipe, _missing(recipe, absent))
        for name, known in chosen.items()
        for recipe in known.recipes
    ]
    if table is None:
        return tasks
    matching = [task for task in tasks if task.printed.name == table]
    if not matching:
        raise UnknownNameError("table", table, [task.printed.name for task in tasks])
    return matching


def reproduce(tasks: Sequence[Task], materials: Materials | None = None) -> Reproduction:
    """Make tables again.

    Parameters
    ----------
    tasks
        From :func:`list_tasks`. If something is missing, the cells have the verdict ``needs``.
    materials
        Data of earlier calls; default: none.
    """
    shared = materials or Materials()
    cells: list[Cell] = []
    seconds: list[float] = []
    for number, task in enumerate(tasks, start=1):
        start = time.perf_counter()
        place = f"table {number} of {len(tasks)}" if len(tasks) > 1 else "table"
        with labelled(f"{place} ({task.printed.paper} {task.printed.name})"):
            cells += _cells(task, shared)
        seconds.append(time.perf_counter() - start)
    return Reproduction(tuple(cells), tuple(task.printed for task in tasks), tuple(seconds))


def _missing(recipe: Recipe, absent: set[str]) -> tuple[str, ...]:
    return tuple(
        f"data set {name}: grammeter data get {name}" for name in recipe.data if name in absent
    )


def _cells(task: Task, materials: Materials) -> Iterator[Cell]:
    if task.missing:
        yield from _open_cells(task, f"needs {'; '.join(task.missing)}")
        return
    try:
        made = task.recipe.make(materials)
    except MissingResourceError as error:
        yield from _open_cells(task, " ".join(str(error).split()))
        return
    for key in dict.fromkeys([*task.printed.cells, *made]):
        if key in made or _is_due(task, *key):
            yield _cell(task, *key, made.get(key))


def _is_due(task: Task, row: str, column: str) -> bool:
    """Whether a cell without a figure of ours is shown: not where the paper has a blank."""
    printed = task.printed.cells[row, column]
    return printed.value is not None or bool(printed.slip or task.recipe.gap(row, column))


def _cell(task: Task, row: str, column: str, made: Ours | Value | None) -> Cell:
    printed = task.printed.cells.get((row, column), Printed(None))
    ours = made if made is None or isinstance(made, Ours) else Ours(made)
    verdict, note = judge(printed, ours, task.recipe.tolerance(row, column))
    if verdict == "needs" and not note:
        note = task.recipe.gap(row, column) or "no recipe for this figure"
    value = ours.value if ours else None
    return _of(task, row, column, printed.value, value, verdict, note)


def _of(task: Task, row: str, column: str, *rest: Any) -> Cell:
    return Cell(task.printed.paper, task.printed.name, row, column, *rest)


def _open_cells(task: Task, need: str) -> Iterator[Cell]:
    for (row, column), printed in task.printed.cells.items():
        if _is_due(task, row, column):
            note = f"{need}; {printed.slip}" if printed.slip else need
            yield _of(task, row, column, printed.value, None, "needs", note)
