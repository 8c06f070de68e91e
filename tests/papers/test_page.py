"""docs/reproduction.md says what comes out; the verb's summary and list."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from grammeter.cli.main import main
from grammeter.errant import find_pipeline
from grammeter.papers._reproduce import PAPERS, Reproduction
from grammeter.papers.cells import read_tables

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
RANDOM = ("grundkiewicz2015", "table3c")
"""Its ranges depend on how often TrueSkill is run: more often for the page than for the tests."""


@pytest.fixture(scope="module")
def made(reproduced) -> Reproduction:
    """Return all cells of all papers."""
    if find_pipeline().name != "en_ud_sm":
        pytest.skip("the page was made with the pipeline that ships")
    found = [reproduced(paper) for paper in PAPERS]
    return Reproduction(
        tuple(cell for each in found for cell in each.cells),
        tuple(table for each in found for table in each.printed),
        tuple(second for each in found for second in each.seconds),
    )


def counts(rows) -> dict[tuple[str, str], list[int]]:
    return {(row[0], row[1] or ""): [int(cell or 0) for cell in row[2:]] for row in rows}


@pytest.mark.slow
def test_the_verdicts_on_the_page_are_those_that_come_out(made):
    text = PAGE.read_text(encoding="utf-8").partition("### Verdicts")[2].split("\n###")[0]
    lines = [line.strip("| ") for line in text.splitlines() if line.startswith("|")][2:]
    cells = [re.split(r" *\| *", line.replace("\\_", "_")) for line in lines]
    page = counts([row + [""] * (6 - len(row)) for row in cells])
    program = counts(made.tables(summary=True)[0].rows)
    assert list(page) == list(program)
    total = page.pop(("all", ""))
    assert total == [sum(column) for column in zip(*page.values(), strict=True)]
    assert sum(total) == sum(program.pop(("all", "")))
    for found in (page, program):
        equal, near, *others = found[RANDOM]
        found[RANDOM] = [equal + near, *others]
    assert page == program


@pytest.mark.slow
def test_the_page_has_all_cells_that_differ_with_the_reasons(made):
    text = PAGE.read_text(encoding="utf-8")
    _, *tables = made.tables(summary=True)
    for table in tables:
        section = f"### {table.title}\n\n{table.write('markdown')}"
        assert section in text, section
    assert text.count(": cells that differ\n") == len(tables)
    differing = Counter(cell.verdict for cell in made.cells)["differs"]
    assert sum(len(table.rows) for table in tables) == differing


# --- the verb ------------------------------------------------------------------------------


def test_the_summary_has_each_reason_once(data, capsys):
    assert main(["reproduce", "grundkiewicz2015", "table5", "--summary"]) == 0
    out = capsys.readouterr().out
    assert "Verdicts" in out
    assert "grundkiewicz2015, Table 5: cells that differ" in out
    assert re.search(r"F0\.18 +r +0\.701 +0\.70041 +1\n\n1: the printed row joins two", out)
    assert "F0.25" not in out
    assert main(["reproduce", "grundkiewicz2015", "table2a", "--summary"]) == 0
    assert "differ\n" not in capsys.readouterr().out


def test_where_figures_come_from_stands_below_each_table(data, capsys):
    assert main(["reproduce", "chollampatt2018", "table4"]) == 0
    assert "\n\npublished: the text of this table was not at hand" in capsys.readouterr().out


def test_the_list_says_what_is_not_transcribed_and_which_models_are_needed(data, capsys):
    assert main(["reproduce"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (table4,) = [line for line in lines if re.match(r"chollampatt2018 +table4 ", line)]
    assert re.search(r"not transcribed +the printed figures$", table4)
    (table2,) = [line for line in lines if re.match(r"maeda2022 +table2 ", line)]
    assert re.search(r" 4 +model bert-base-cased$", table2)
    (bars,) = [line for line in lines if "section4.1" in line]
    assert re.search(r" 1 +here$", bars)


@pytest.mark.parametrize("paper", PAPERS)
def test_tables_that_are_not_transcribed_hold_no_figure(paper):
    for table in read_tables(paper).values():
        assert table.transcribed or not table.figures
