"""All recipes are run once for all tests of the papers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grammeter.papers import grundkiewicz2015
from grammeter.papers._reproduce import Reproduction, list_tasks, run_tasks
from grammeter.papers.materials import Materials

FEWER = {"TRUESKILL_RUNS": 50, "SEEDS": 2, "SEEDS_OF_RANGES": 3, "FOLDS": 20}
"""Of grundkiewicz2015: what chance decides comes near with these, too."""

Place = tuple[str, str, str]
"""Table, row and column."""


@pytest.fixture(scope="module")
def data(shared: Path) -> Iterator[Path]:
    """Return the folder of the data sets; ``grammeter`` finds them there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAMMETER_DATA", str(shared / "data"))
        yield shared / "data"


@pytest.fixture(scope="session")
def materials() -> Materials:
    """Return what the recipes read and scored; tests that use it ask for ``data``, too."""
    return Materials()


@pytest.fixture(scope="session")
def reproduced(shared: Path, materials: Materials) -> Callable[[str], Reproduction]:
    """Return a function that gives the cells of a paper."""
    known: dict[str, Reproduction] = {}

    def of(paper: str) -> Reproduction:
        if paper not in known:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("GRAMMETER_DATA", str(shared / "data"))
                for name, number in FEWER.items():
                    patch.setattr(grundkiewicz2015, name, number)
                known[paper] = run_tasks(list_tasks(paper), materials)
        return known[paper]

    return of


@pytest.fixture(scope="session")
def golden(shared: Path) -> Callable[..., dict[Place, dict[str, Any]]]:
    """Return a function that reads figures worked out from outside, by their place."""

    def of(*names: str) -> dict[Place, dict[str, Any]]:
        folder = shared / "golden" / "papers"
        rows = [r for n in names for r in json.loads((folder / f"{n}.json").read_text("utf-8"))]
        for row in rows:
            row["verdict"] = {"within": "within tolerance"}.get(row["verdict"], row["verdict"])
        return {(row["table"].partition(" (")[0], row["row"], row["column"]): row for row in rows}

    return of
