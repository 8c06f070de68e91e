"""Make the tables of papers again, each figure beside the printed one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from grammeter.core import MissingResourceError, UnknownNameError, checked, labelled
from grammeter.formats import list_datasets
from grammeter.papers import (
    chollampatt2018,
    gong2022,
    grundkiewicz2015,
    kobayashi2024,
    maeda2022,
    programs,
)
from grammeter.papers.cells import Cell, Ours, Printed, PrintedTable, Value, judge, read_tables
from grammeter.papers.materials import Materials
from grammeter.papers.recipe import Recipe
from grammeter.version import __version__

ALL = "all"
"""In place of a paper: all papers."""


@dataclass(frozen=True, slots=True)
class Task:
    """A table with its recipe, and what this machine lacks for it."""

    printed: PrintedTable
    recipe: Recipe
    missing: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        return {
            "paper": self.printed.paper,
            "table": self.printed.name,
            "title": self.printed.title,
            "cells": self.printed.figures,
            "transcribed": self.printed.transcribed,
            "data": list(self.recipe.data),
            "models": list(self.recipe.models),
            "missing": list(self.missing),
        }


@dataclass(frozen=True, slots=True)
class Reproducible:
    """Tables that can be made again."""

    tasks: tuple[Task, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        return {"kind": "reproductions", "tables": [task.to_dict() for task in self.tasks]}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Cells of one or more tables, and the seconds that each table took."""

    cells: tuple[Cell, ...]
    tables: tuple[PrintedTable, ...]
    seconds: tuple[float, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        return {
            "kind": "reproduction",
            "grammeter": __version__,
            "cells": [cell.to_dict() for cell in self.cells],
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


@overload
def reproduce(
    paper: None = None, table: str | None = None, *, models: bool = False, processes: int = 1
) -> Reproducible: ...
@overload
def reproduce(
    paper: str, table: str | None = None, *, models: bool = False, processes: int = 1
) -> Reproduction: ...
@checked
def reproduce(
    paper: str | None = None,
    table: str | None = None,
    *,
    models: bool = False,
    processes: int = 1,
) -> Reproducible | Reproduction:
    """Make the tables of a paper again, or list the tables that can be made.

    Models run as :func:`grammeter.using` says.

    Parameters
    ----------
    paper
        Such as ``grundkiewicz2015``, or ``all``. Default: list the tables of all papers.
    table
        Such as ``table3b``; default: all tables of the paper.
    models
        Whether to make figures that need pretrained models, which takes minutes; a small model
        that is installed replaces a missing one of a paper, and the figure says so.
    processes
        Number of processes for long work; no figure depends on it. With more than one, a script
        needs the usual guard, ``if __name__ == "__main__":``.

    Returns
    -------
    Reproduction or Reproducible
        Cells with published and own figures; without a paper, the list of tables.

    Raises
    ------
    UnknownNameError
        If there is no such paper or table.
    """
    tasks = list_tasks(None if paper == ALL else paper, table)
    if paper is None:
        return Reproducible(tuple(tasks))
    return run_tasks(tasks, Materials(models=models, processes=processes))


def run_tasks(tasks: Sequence[Task], materials: Materials | None = None) -> Reproduction:
    """Make tables again; cells of a table that lacks something have the verdict ``needs``."""
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


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper: title, reference, and the recipes in the order of its tables."""

    title: str
    reference: str
    recipes: tuple[Recipe, ...]


PAPERS: Mapping[str, Paper] = {
    "grundkiewicz2015": Paper(
        "Human Evaluation of Grammatical Error Correction Systems",
        "Grundkiewicz, Junczys-Dowmunt and Gillian, EMNLP 2015",
        grundkiewicz2015.RECIPES,
    ),
    "chollampatt2018": Paper(
        "A Reassessment of Reference-Based Grammatical Error Correction Metrics",
        "Chollampatt and Ng, COLING 2018",
        chollampatt2018.RECIPES,
    ),
    "gong2022": Paper(
        "Revisiting Grammatical Error Correction Evaluation and Beyond",
        "Gong, Liu, Huang and Zhang, EMNLP 2022",
        gong2022.RECIPES,
    ),
    "maeda2022": Paper(
        "IMPARA: Impact-Based Metric for GEC Using Parallel Data",
        "Maeda, Kaneko and Okazaki, COLING 2022",
        maeda2022.RECIPES,
    ),
    "kobayashi2024": Paper(
        "Large Language Models Are State-of-the-Art Evaluator for Grammatical Error Correction",
        "Kobayashi, Mita and Komachi, BEA 2024",
        kobayashi2024.RECIPES,
    ),
    "programs": Paper(
        "Public programs whose figures come out otherwise by their own rules",
        "gec-metrics 0.1.1; CLEME 1.1",
        programs.RECIPES,
    ),
}
