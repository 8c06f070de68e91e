"""Slips of public programs, made again: the figure of the program, and that of its own rule."""

from __future__ import annotations

import json

import pytest

from grammeter.cli.main import main
from grammeter.errant import find_pipeline

PAPER = "programs"
ROW = "second reference equal to the source, where only the first annotator is listed"


@pytest.fixture(scope="module")
def cells(reproduced):
    return {(cell.table, cell.row, cell.column): cell for cell in reproduced(PAPER).cells}


def test_an_annotator_who_is_not_listed_agrees_with_the_first(cells):
    """88 blocks of the combined file list annotator 0 alone; figures of published_slips.md."""
    same, first = (cells["gec-metrics", ROW, c] for c in ("by its rule", "as annotator 0"))
    assert (same.published, same.ours, same.verdict) == (88, 88, "equal")
    assert (first.published, first.ours, first.verdict) == (88, 0, "differs")
    assert "the same as annotator 0" in first.note


@pytest.mark.slow
def test_cleme_with_the_constants_that_it_was_given(cells):
    """.804 with the constants of the first release, .371 as 1.1 runs (specs/cleme.md, 10)."""
    if find_pipeline().name not in ("en_ud_sm", "en_core_web_sm"):
        pytest.skip("another pipeline finds other edits")
    dropped = cells["cleme", "constants of the corpus level", "EW Spearman"]
    documented = cells["cleme", "constants of the sentence level", "EW Spearman"]
    assert dropped.ours == pytest.approx(0.371, abs=5e-4)
    assert dropped.verdict == "equal"
    assert documented.ours == pytest.approx(0.804, abs=5e-4)
    assert (documented.published, documented.verdict) == (0.371, "differs")
    assert "drops the constants" in documented.note


def test_without_data_the_command_that_gets_them_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert main(["reproduce", PAPER, "--format", "json"]) == 0
    made = json.loads(capsys.readouterr().out)["cells"]
    assert {cell["verdict"] for cell in made} == {"needs"}
    assert all("grammeter data get" in cell["note"] for cell in made)
