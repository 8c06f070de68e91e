"""Chollampatt & Ng 2018 again: verdicts of all cells, the slips, and what the figures rest on."""

import csv
import gzip
import json
from types import SimpleNamespace

import pytest

from grammeter.cli.main import main
from grammeter.papers import chollampatt2018
from grammeter.papers._reproduce import list_tasks, run_tasks
from grammeter.papers.cells import read_tables
from grammeter.papers.materials import COLUMNS

PAPER = "chollampatt2018"
METRICS = {"GLEU": "GLEU", "I-measure": "I", "M2": "M2"}

BEST = {  # from the brief of the published slips
    "expanded, HTies": 0.618,
    "expanded, NoTies": 0.351,
    "unexpanded, HTies": 0.350,
    "unexpanded, NoTies": 0.305,
}


@pytest.fixture(scope="module")
def cells(reproduced):
    found = reproduced(PAPER).cells
    tables = dict.fromkeys(cell.table for cell in found)
    return {t: {(c.row, c.column): c for c in found if c.table == t} for t in tables}


def golden(shared, level):
    path = shared / "golden" / "ranking" / f"seed001_{level}_level.json"
    return json.loads(path.read_text("utf-8"))


def printed(table):
    return {key: cell.value for key, cell in read_tables(PAPER)[table].cells.items()}


# --- what is printed -----------------------------------------------------------------------


def test_figures_of_systems_are_copied_rightly(shared):
    found = golden(shared, "system")
    without = found["published_without_IPN"]
    table2, text = printed("table2"), printed("text")
    for column in COLUMNS:
        who, kind = column.split()
        for row, name in METRICS.items():
            assert table2[row, column] == found["published_table2"][name][who][kind == "Spearman"]
        for name in ("GLEU", "M2"):
            assert text[f"{name} without IPN", column] == without[kind.lower()][who][name]
        tests = found["R_psych_2.2.9_p(same data)"][f"{who} {kind.lower()}"]
        copied = [v for (row, _), v in printed("figure2").items() if row == column]
        assert sorted(copied) == sorted(tests.values())
    assert len(table2) == 12 == len(text) == len(printed("figure2"))


def test_figures_of_sentences_are_copied_rightly(shared):
    found, copied = golden(shared, "sentence"), printed("table3")
    for row in BEST:
        pairs, rule = row.split(", ")
        figures = found["published_table3"][pairs]
        for column, name in METRICS.items():
            assert copied[row, column] == figures[name][rule]
        starred = [c for c, name in METRICS.items() if figures[name].get("star") == rule]
        assert copied[row, "star"] == (starred[0] if starred else "-")
        assert copied[row, "pairs"] == found["published_counts"][pairs][rule == "NoTies"]


def test_points_of_the_figure_are_those_of_the_authors(shared):
    folder = shared / "data" / "meta_chollampatt_ng_2018" / "scores"
    files = {
        "EW": "humans/expected_wins",
        "TS": "humans/trueskill",
        "GLEU": "metrics/gleu",
        "I-measure": "metrics/imeasure",
        "M2": "metrics/m2score",
    }
    copied = printed("figure1_points")
    for column, file in files.items():
        with gzip.open(folder / f"system_scores_{file}.txt.gz", "rt", encoding="utf-8") as lines:
            stored = {row[3]: float(row[4]) for row in csv.reader(lines, delimiter="\t")}
        assert stored == {row: v for (row, c), v in copied.items() if c == column}


# --- what comes out ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "number", "verdict"),
    [
        ("table1", 13, "equal"),
        ("table2", 12, "equal"),
        ("table4", 15, "equal"),
        ("figure1", 12, "equal"),
        ("figure2", 12, "stored"),
        ("text", 12, "equal"),
    ],
)
def test_all_cells_of_a_table_have_one_verdict(cells, table, number, verdict):
    assert len(cells[table]) == number
    assert {cell.verdict for cell in cells[table].values()} == {verdict}


def test_figures_are_those_worked_out_from_outside(cells, shared):
    path = shared / "golden" / "papers" / f"{PAPER}.json"
    for row in json.loads(path.read_text("utf-8")):
        cell = cells.get(row["table"], {}).get((row["row"], row["column"]))
        if row["table"] == "table1" or not isinstance(row["ours"], float) or cell is None:
            continue
        assert cell.ours == pytest.approx(row["ours"], abs=1e-9), row


def test_numbers_of_the_text_are_our_defaults(cells):
    verdicts = [cell.verdict for cell in cells["text_counts"].values()]
    assert (verdicts.count("equal"), verdicts.count("needs")) == (10, 3)


def test_examples_need_no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path))
    cells = run_tasks(list_tasks(PAPER, "table4")).cells
    assert {cell.verdict for cell in cells} == {"equal"}


def test_points_of_the_figure_come_out(cells):
    found = cells["figure1_points"]
    assert len(found) == 13 * 5
    near = {key: c for key, c in found.items() if c.verdict != "stored"}
    assert {c.verdict for c in near.values()} <= {"within tolerance"}
    # metrics are deterministic, what people's judgments give is not
    assert {column for _, column in near} == {"EW", "TS"}
    assert near["CUUI", "EW"].difference == pytest.approx(0.0007, abs=1e-4)


def test_table_3_is_equal_but_for_the_slip(cells):
    printed = {key: c for key, c in cells["table3"].items() if c.published is not None}
    assert len(printed) == 20
    for key, cell in printed.items():
        slip = key == ("unexpanded, NoTies", "pairs")
        assert cell.verdict == ("differs" if slip else "equal"), cell


def test_the_slips_are_named(cells):
    found = cells["table3"]
    for row, value in BEST.items():
        cell = found[row, "M2, best annotator"]
        assert round(cell.ours, 3) == value
        assert cell.published is None
        assert "annotator listed last" in cell.note
    pairs = found["unexpanded, NoTies", "pairs"]
    assert (pairs.published, pairs.ours) == (14_584, 14_822)
    assert "GLEU" in pairs.note
    assert found["unexpanded, NoTies", "pairs that GLEU orders"].ours == pairs.published


def test_taus_are_those_of_the_authors_script(cells, shared):
    rerun = golden(shared, "sentence")["reproduced"]
    for row in BEST:
        pairs, rule = row.split(", ")
        for name, column in chollampatt2018.STORED.items():
            expected = rerun[f"{pairs}|{name}"][rule]
            assert cells["table3"][row, column].ours == pytest.approx(expected, abs=1e-12)


# --- parts, and what is missing ------------------------------------------------------------


def _agreement(low, high):
    return SimpleNamespace(tau=SimpleNamespace(low=low, high=high))


def test_a_star_needs_an_interval_above_all_others():
    star = chollampatt2018._star
    apart = {"gleu": _agreement(0.1, 0.2), "m2score": _agreement(0.3, 0.4)}
    assert star(apart) == "M2"
    assert star({**apart, "imeasure": _agreement(0.2, 0.3)}) == "-"
    assert star({"gleu": _agreement(None, None), "m2score": _agreement(None, None)}) == "-"


def test_without_data_all_cells_say_what_they_need(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path))
    found = run_tasks(list_tasks(PAPER)).cells
    bare = [cell for cell in found if cell.table not in ("table1", "table4")]
    assert {cell.verdict for cell in bare} == {"needs"}
    assert all(cell.note for cell in bare)
    table2 = [cell.note for cell in found if cell.table == "table2"]
    assert all("grammeter data get meta_chollampatt_ng_2018" in note for note in table2)


def test_on_the_shell(data, capsys):
    assert main(["reproduce", PAPER, "table2", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "reproduction"
    assert [cell["verdict"] for cell in found["cells"]] == ["equal"] * 12
