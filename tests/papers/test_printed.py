"""Printed figures are copied rightly, and every cell that is open or differs says why."""

from __future__ import annotations

import json

import pytest

from grammeter.papers._reproduce import PAPERS
from grammeter.papers.cells import read_tables

PRINTING = [paper for paper in PAPERS if paper != "programs"]
DRAWN = {
    "grundkiewicz2015": {"figure3_curves": 600},
    "chollampatt2018": {"figure1_points": 65, "figure2": 12},
}
"""Figures that were read off drawings, or that the authors stored; tested with their papers."""


def numbers(tables):
    """Return the numbers among the cells of tables by table, row and column."""
    return {
        (name, *key): value
        for name, cells in tables.items()
        for key, value in cells.items()
        if isinstance(value, int | float)
    }


@pytest.mark.parametrize("paper", PRINTING)
def test_every_printed_number_has_its_cell_and_no_other_number_has_one(shared, paper):
    text = (shared / "printed" / f"{paper}.json").read_text("utf-8")
    printed = {
        name: {
            (row, column): value
            for row, values in table["rows"].items()
            for column, value in zip(table["columns"], values, strict=True)
        }
        for name, table in json.loads(text)["tables"].items()
    }
    ours = {
        name: {key: cell.value for key, cell in table.cells.items()}
        for name, table in read_tables(paper).items()
    }
    sizes = {name: len(numbers({name: ours.pop(name)})) for name in DRAWN.get(paper, {})}
    assert sizes == DRAWN.get(paper, {})
    assert numbers(ours) == numbers(printed)
    # words, marks and ranges: some are left out, none is another
    for name, cells in ours.items():
        for key, value in cells.items():
            if isinstance(value, str) and printed[name].get(key) is not None:
                assert value == printed[name][key], (name, key)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_cell_that_is_open_or_differs_says_why(reproduced, paper):
    for cell in reproduced(paper).cells:
        if cell.verdict in ("needs", "differs"):
            assert len(cell.note) >= 12, cell
