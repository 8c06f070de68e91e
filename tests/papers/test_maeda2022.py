"""Maeda et al. 2022 again: what is known of its figures, and MAEGE beside them."""

import json

import pytest

from grammeter.cli.main import main
from grammeter.papers._reproduce import list_tasks

PAPER = "maeda2022"
LEVELS = ("corpus r", "corpus rho", "sentence r", "sentence rho", "chain tau")


@pytest.fixture(scope="module")
def cells(reproduced):
    return {(c.table, c.row, c.column): c for c in reproduced(PAPER).cells}


def test_the_figures_at_hand(cells):
    """Specification of the metrics with models, sections 5, 6 and 8.3."""
    found = {key: cell.published for key, cell in cells.items() if cell.published is not None}
    assert found == {
        ("table2", "IMPARA", "r"): 0.974,
        ("table2", "IMPARA", "rho"): 0.934,
        ("table2", "Scribendi", "r"): 0.303,
        ("table2", "Scribendi", "rho"): 0.729,
        ("table3", "IMPARA", "corpus r"): 0.951,
        ("table3", "IMPARA", "corpus rho"): 0.990,
        ("table3", "IMPARA", "sentence r"): 0.522,
        ("table3", "IMPARA", "sentence rho"): 0.608,
        ("table3", "IMPARA", "chain tau"): 0.692,
        ("table3", "Scribendi", "chain tau"): 0.824,
    }


def test_all_of_them_need_a_model_that_is_named(cells):
    for key, cell in cells.items():
        if key[1] not in ("GLEU", "M2"):
            assert (cell.verdict, cell.ours) == ("needs", None)
            assert "bert-base-cased" in cell.note or "gpt2" in cell.note
    assert "42.5 %" in cells["table3", "Scribendi", "chain tau"].note
    assert {key[0] for key in cells} == {f"table{n}" for n in range(2, 7)}


def test_where_no_copy_is_at_hand_the_table_says_so():
    for task in list_tasks(PAPER):
        told = task.printed.origin
        assert "at hand" in told
        if task.printed.name in ("table4", "table5", "table6"):
            assert {cell.value for cell in task.printed.cells.values()} == {None}


def test_maege_beside_the_paper_is_that_of_the_command(data, cells, capsys):
    row, spelled = "GLEU", "gleu"
    folder = data / "conll14_test"
    gold = str(folder / "alt" / "official-2014.combined-withalt.m2")
    source = str(folder / "source.txt")
    assert main(["meta", "maege", "-s", source, "-r", gold, "-m", spelled, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["metrics"][spelled]
    figures = (
        found["corpus"]["pearson"],
        found["corpus"]["spearman"],
        found["sentence"]["pearson"],
        found["sentence"]["spearman"],
        found["chain"]["kendall"],
    )
    for level, figure in zip(LEVELS, figures, strict=True):
        cell = cells["table3", row, level]
        assert cell.ours == pytest.approx(figure, abs=1e-12)
        assert (cell.published, cell.verdict) == (None, "needs")
        assert "no figure of the paper is at hand" in cell.note
