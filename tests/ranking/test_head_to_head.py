"""Head to head, against Table 3d and scipy."""

import math
from functools import partial

import pytest
from hypothesis import given
from scipy.stats import binomtest

from grammeter.core import DataError, UnknownNameError
from grammeter.ranking.rank import mark_of
from grammeter.verbs import rank
from made_judgments import campaigns, duel, golden, official

PRINTED = {"‡": "**", "†": "*", "?": "+", "": ""}  # the star was lost in the text of the PDF

duels_of = partial(rank, head_to_head=True)


def test_table_3d(shared):
    table = golden(shared, "table3d_head_to_head")
    duels = duels_of(official(shared))
    assert list(duels.systems) == table["order"]
    cells = 0
    for row, printed in table["published"].items():
        for column, (share, mark) in zip(table["order"], printed, strict=True):
            if row == column:
                continue
            duel_ = duels[row, column]
            exact = table["reproduced"][f"{row}>{column}"]
            assert duel_.wins == exact["col_beats_row"]
            assert duel_.losses == exact["row_beats_col"]
            assert duel_.ties == exact["ties"]
            assert duel_.share == pytest.approx(exact["frac"], rel=1e-12)
            assert duel_.pvalue == pytest.approx(exact["p"], rel=1e-9)
            assert f"{duel_.share:.2f}" == f"0{share}"
            assert duel_.mark == PRINTED[mark]
            cells += 1
    assert cells == len(duels.cells) == 156


@given(campaigns)
def test_cells_add_up(items):
    duels = duels_of(items)
    for cell in duels.cells:
        mirrored = duels[cell.column, cell.row]
        assert (cell.wins, cell.losses, cell.ties) == (
            mirrored.losses, mirrored.wins, mirrored.ties,
        )  # fmt: skip
        if cell.wins + cell.losses:
            assert cell.share + mirrored.share == pytest.approx(1)
            wins, losses = max(cell.wins, 1), max(cell.losses, 1)
            expected = binomtest(wins, wins + losses).pvalue
            assert cell.pvalue == mirrored.pvalue == pytest.approx(expected, rel=1e-9)
        else:
            assert math.isnan(cell.share)
            assert cell.reason


def test_a_zero_counts_as_one_as_in_the_original():
    items = duel("A", "B", times=5)
    cell = duels_of(items)["B", "A"]
    assert (cell.wins, cell.losses) == (5, 0)
    assert cell.share == 5 / 6
    assert cell.pvalue == pytest.approx(binomtest(5, 6).pvalue)


def test_systems_never_compared_and_never_decided():
    items = [*duel("A", "B"), *duel("B", "C", tie=True, times=2)]
    duels = duels_of(items)
    never, tied = duels["A", "C"].to_dict(), duels["B", "C"].to_dict()
    assert never == {
        "row": "A", "column": "C", "share": None, "wins": 0, "losses": 0, "ties": 0,
        "pvalue": None, "mark": "", "reason": "never compared",
    }  # fmt: skip
    assert tied["reason"] == "2 ties and nothing decided"


def test_public_shape():
    data = duels_of([*duel("A", "B", times=12), *duel("B", "A")], judge=["x"]).to_dict()
    assert list(data) == ["kind", "grammeter", "signature", "systems", "cells", "notes"]
    assert data["kind"] == "head-to-head"
    assert data["systems"] == ["A", "B"]
    cell = data["cells"][1]
    assert {k: cell[k] for k in ("row", "column", "wins", "losses", "mark")} == {
        "row": "B", "column": "A", "wins": 12, "losses": 1, "mark": "**",
    }  # fmt: skip
    assert cell["share"] == 12 / 13
    assert "zeros:one" in data["signature"]
    assert "judges:x" in data["signature"]


def test_marks():
    pvalues = (0.01, 0.0100001, 0.05, 0.1, 0.11, math.nan)
    assert [mark_of(p) for p in pvalues] == ["**", "*", "*", "+", "", ""]


def test_errors():
    items = duel("A", "B")
    with pytest.raises(UnknownNameError, match="pair of systems"):
        duels_of(items)["A", "C"]
    with pytest.raises(DataError, match="ties"):
        duels_of(duel("A", "B", tie=True))
