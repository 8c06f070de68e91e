"""Slips, and docs/papers/: the pages have the printed figures, the titles and the slips."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grammeter.cli.main import main
from grammeter.cli.parser import VERBS
from grammeter.papers._reproduce import PAPERS
from grammeter.papers.cells import read_paper, read_tables

ROOT = Path(__file__).parents[2]


def checked() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "scripts" / "docs-papers", "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_pages_are_fresh():
    done = checked()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [("| 0.397 c |", "| 0.398 c |"), ("- Printed: 28 error", "- Printed: 29 error")],
)
def test_another_figure_or_slip_is_stale(old, new):
    page = ROOT / "docs" / "papers" / "grundkiewicz2015.md"
    text = page.read_text(encoding="utf-8")
    changed = re.sub(re.escape(old), new, text)
    assert changed != text
    page.write_text(changed, encoding="utf-8")
    try:
        assert "grundkiewicz2015" in checked().stderr
    finally:
        page.write_text(text, encoding="utf-8")


# --- slips ---------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", PAPERS)
def test_a_slip_has_a_proof_and_a_command_that_there_is(paper):
    slips = read_paper(paper)["slips"]
    assert slips
    for slip in slips:
        assert [*slip] == ["where", "printed", "ours", "proof", "command"]
        assert all(slip.values()), slip
        for verb in re.findall(r"grammeter (\w+)", slip["command"]):
            assert verb in VERBS
        for name, table in re.findall(r"reproduce (\w+) ([\w.-]+)", slip["command"]):
            assert table in read_tables(name)
        assert "grammeter " in slip["command"]


def test_slips_come_without_making_a_table(capsys):
    assert main(["reproduce", "gong2022", "--slips", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["cells"] == []
    assert [*data["slips"]] == ["gong2022"]
    assert len(data["slips"]["gong2022"]) == len(read_paper("gong2022")["slips"])
    assert main(["reproduce", "--slips"]) == 0
    out = capsys.readouterr().out
    assert all(f"{paper}: slips and ambiguities" in out for paper in PAPERS)


# --- the verb ------------------------------------------------------------------------------


def test_where_figures_come_from_stands_below_each_table(data, capsys):
    assert main(["reproduce", "chollampatt2018", "table4"]) == 0
    assert "\n\npublished: printed in the paper" in capsys.readouterr().out


@pytest.mark.parametrize("paper", PAPERS)
def test_drawings_without_numbers_hold_no_figure(paper):
    for table in read_tables(paper).values():
        assert table.transcribed or not table.figures
