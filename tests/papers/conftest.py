"""All recipes are run once for all tests of the papers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grammeter.papers import grundkiewicz2015
from grammeter.papers._reproduce import Reproduction, list_tasks, run_tasks
from grammeter.papers.materials import Materials

RUNS = 50
"""Of TrueSkill, instead of the 1,000 of the recipe: enough for its scores, near for its ranges."""


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
                patch.setattr(grundkiewicz2015, "TRUESKILL_RUNS", RUNS)
                known[paper] = run_tasks(list_tasks(paper), materials)
        return known[paper]

    return of
