"""Kobayashi et al. 2024 again: verdicts of all cells, the slips, and what the figures rest on."""

import csv
import json
from collections import Counter
from dataclasses import replace

import pytest

from grammeter.cli.main import main
from grammeter.errant import find_pipeline
from grammeter.papers import kobayashi2024
from grammeter.papers._reproduce import list_tasks, run_tasks
from grammeter.papers.cells import read_tables

PAPER = "kobayashi2024"
SHOWN = {"base": "base", "fluent": "+fluent", "+REF-F_GPT-3.5": "+fluent"}
MEANING = "+ Meaning Preservation"
CONVENTIONAL = ["M2", "GLEU"]
COPY = ", PIE's outputs for LM-Critic's"
LOST = {(f"{MEANING}: {system}", "cluster") for system in ("TemplateGEC", "GECToR-ens")}


@pytest.fixture(scope="module")
def cells(reproduced):
    found = reproduced(PAPER).cells
    tables = dict.fromkeys(cell.table for cell in found)
    return {
        table: {(c.row, c.column): c for c in found if c.table == table} for table in tables
    }  # fmt: skip


@pytest.fixture
def golden(shared):
    def rows(name):
        text = (shared / "golden" / "seeda" / name).read_text("utf-8")
        return list(csv.DictReader(text.splitlines(), delimiter="\t"))

    return rows


def system_row(row):
    """Yield column and figure of a row of table1_system_level.tsv."""
    for key, value in row.items():
        if key[:2] in ("E_", "S_"):
            granularity, chosen, kind = key.split("_")
            yield f"SEEDA-{granularity} {SHOWN[chosen]} {kind}", float(value)


def own(printed):
    """Return our name of a row; one name is cut short in the copy of the table."""
    return "PT-M2" if printed == "PT-" else printed


# --- what is printed -----------------------------------------------------------------------


def test_table1_is_copied_rightly(golden):
    """Printed figures: golden/seeda, taken from the paper's text."""
    printed = {key: cell.value for key, cell in read_tables(PAPER)["table1"].cells.items()}
    rows = [r for r in golden("table1_system_level.tsv") if "paper" in r["source_of_scores"][:5]]
    expected = {(own(r["row"]), column): v for r in rows for column, v in system_row(r)}
    assert len(expected) == 18 * 8
    doubled = {(f"{row}{COPY}", c): v for (row, c), v in expected.items() if row in CONVENTIONAL}
    assert printed == expected | doubled


def test_the_sentence_level_of_table1_is_copied_rightly(golden):
    printed = {k: cell.value for k, cell in read_tables(PAPER)["table1_sentence"].cells.items()}
    expected = {}
    for row in golden("table1_sentence_level_paper.tsv"):
        granularity, chosen = row["col"].split("_")
        column = f"SEEDA-{granularity} {SHOWN[chosen]}"
        expected[own(row["row"]), f"{column} accuracy"] = float(row["paper_acc"])
        expected[own(row["row"]), f"{column} tau"] = float(row["paper_tau"])
    assert printed == expected
    assert len(expected) == 18 * 8


def test_appendix_b_is_copied_rightly(golden):
    printed = {key: cell.value for key, cell in read_tables(PAPER)["table2"].cells.items()}
    expected = {}
    for row in golden("table2_llm_trueskill.tsv"):
        name = f"{row['llm']}: {row['system']}"
        expected[name, "score"] = float(row["mu"])
        expected[name, "range"] = row["range"]
        expected[name, "cluster"] = int(row["cluster_printed"])
    assert len(expected) == 450
    assert printed == expected | dict.fromkeys(LOST)


# --- Table 1, system level -----------------------------------------------------------------


def test_correlations_equal_the_golden_ones(golden, cells):
    """golden/seeda/table1_system_level.tsv: recomputed by scipy, to three decimals."""
    compared = 0
    for row in golden("table1_system_level.tsv"):
        source = row["source_of_scores"]
        if not source.startswith("recomputed"):
            continue
        name = row["row"] + (COPY if "LM-Critic := PIE" in source else "")
        for column, value in system_row(row):
            assert round(cells["table1"][name, column].ours, 3) == value, (name, column)
            compared += 1
    assert compared == 14 * 8


def test_verdicts_of_table1(cells):
    verdicts = {}
    for (row, column), cell in cells["table1"].items():
        verdicts.setdefault((row, cell.verdict), set()).add(column)
    for row in CONVENTIONAL:
        assert len(verdicts[row, "differs"]) == 8
        assert len(verdicts[row + COPY, "equal"]) == 8
    for row in set(kobayashi2024._evaluators()) - {MEANING}:
        assert len(verdicts[row, "equal"]) == 8
    misplaced = {"SEEDA-E base r", "SEEDA-E base rho", "SEEDA-S base r"}
    assert verdicts[MEANING, "differs"] == misplaced
    assert len(verdicts[MEANING, "equal"]) == 5
    for row in read_tables(PAPER)["table1"].gaps:
        assert len(verdicts[row, "needs"]) == 8


def test_the_slips_of_table1_are_named(cells):
    table = cells["table1"]
    for row in CONVENTIONAL:
        note = table[row, "SEEDA-E base r"].note
        assert "LM-Critic" in note
        assert "copy of PIE's" in note
    assert "misplaced" in table[MEANING, "SEEDA-S base r"].note
    assert table["+ Fluency", "SEEDA-E base r"].note == "from the scores of appendix B"


@pytest.mark.parametrize("row", ["ERRANT", "GoToScorer"])
def test_metrics_that_extract_edits_come_near_and_name_the_pipeline(cells, row):
    found = [cell for (name, _), cell in cells["table1"].items() if name == row]
    assert len(found) == 8
    for cell in found:
        assert cell.verdict in ("equal", "within tolerance")
        assert f"edits by the pipeline {find_pipeline().name}; gold edits" in cell.note
        assert abs(cell.ours - cell.published) <= 0.01


# --- Table 1, sentence level ---------------------------------------------------------------


def test_agreement_equals_the_golden_one(golden, cells):
    """golden/seeda/sentence_level_checks.tsv, to six decimals: three-way, and as released."""
    table = cells["table1_sentence"]
    names = {"M2_sentF0.5_best_ref": "M2", "GLEU_sent_smoothed_mean2refs": "GLEU"}
    compared = 0
    for row in golden("sentence_level_checks.tsv"):
        if row["metric"] not in names or row["set"] not in SHOWN:
            continue
        judged = {"edit": "SEEDA-E", "sent": "SEEDA-S"}[row["granularity"]]
        column, name = f"{judged} {SHOWN[row['set']]}", names[row["metric"]]
        like = f"{name}, ties as in the LLM rows"
        for own_row, accuracy, tau in (
            (name, "ACC_tie_wrong", "TAU_tie_neutral"),
            (like, "ACC_released", "TAU_released"),
        ):
            for kind, head in (("accuracy", accuracy), ("tau", tau)):
                ours = table[own_row, f"{column} {kind}"].ours
                # the golden decides one pair of equal F, whose two numbers differ in the last bit
                one_pair = 2e-4 if (name, SHOWN[row["set"]]) == ("M2", "+fluent") else 6e-7
                assert ours == pytest.approx(float(row[head]), abs=one_pair), (own_row, column)
                compared += 1
    assert compared == 2 * 4 * 4


def test_verdicts_of_the_sentence_level(cells):
    table = cells["table1_sentence"]
    equal = {key for key, cell in table.items() if cell.verdict == "equal"}
    both = ("accuracy", "tau")
    assert equal == {
        *(("M2", f"SEEDA-S base {kind}") for kind in both),
        *(("GLEU", f"SEEDA-S {chosen} {kind}") for chosen in ("base", "+fluent") for kind in both),
    }
    assert "not known" in table["GoToScorer", "SEEDA-S base tau"].note
    assert "no one rule" in table["M2", "SEEDA-E base tau"].note
    assert "one pair for each two different outputs" in table["M2", "SEEDA-S +fluent tau"].note
    assert "not printed" in table["GLEU, ties as in the LLM rows", "SEEDA-E base tau"].note


def test_the_two_tie_rules_of_one_column_are_named(cells):
    cell = cells["table1_sentence"]["+ Fluency", "SEEDA-E base tau"]
    assert (cell.verdict, cell.ours, cell.published) == ("needs", None, 0.662)
    assert "were not released" in cell.note
    assert "tau is 2 accuracy - 1" in cell.note


# --- Appendix B ----------------------------------------------------------------------------


def test_clusters_follow_from_the_printed_ranges(cells):
    clusters = {key: cell for key, cell in cells["table2"].items() if key[1] == "cluster"}
    assert len(clusters) == 150
    assert {key for key, cell in clusters.items() if cell.verdict != "equal"} == LOST
    for key in LOST:
        assert clusters[key].ours == 6
        assert "lost in the copy" in clusters[key].note
    rest = [cell for key, cell in cells["table2"].items() if key[1] != "cluster"]
    assert {cell.verdict for cell in rest} == {"needs"}
    assert len(rest) == 300


def test_another_range_makes_another_cluster(monkeypatch):
    """GPT-4-S: with rank 2 in reach, the line below the best system goes."""
    tables = dict(read_tables(PAPER))
    key = ("GPT-4-S: GPT-3.5", "range")
    changed = dict(tables["table2"].cells)
    changed[key] = replace(changed[key], value="1-2")
    tables["table2"] = replace(tables["table2"], cells=changed)
    monkeypatch.setattr(kobayashi2024, "read_tables", lambda paper: tables)
    found = run_tasks(list_tasks(PAPER, "table2")).cells
    differing = {cell.row for cell in found if cell.verdict == "differs"} - {r for r, _ in LOST}
    assert differing == {row for row, _ in changed if row.startswith("GPT-4-S")} - {key[0]}


# --- the window analysis -------------------------------------------------------------------


def test_windows_equal_the_golden_ones(shared, cells):
    """golden/seeda/window_analysis.json: windows of four, Pearson by scipy, three decimals."""
    path = shared / "golden" / "seeda" / "window_analysis.json"
    golden = json.loads(path.read_text("utf-8"))
    compared = 0
    for (row, column), cell in cells["figure_window"].items():
        name, _, judged = row.partition(", ")
        if column == "lowest at x":
            continue
        name = f"{name} (corrected)" if name in CONVENTIONAL else name
        side = {"SEEDA-E": "TS_edit", "SEEDA-S": "TS_sent"}[judged]
        pearson, _ = golden[name][side]["base12_N4"][int(column.removeprefix("x=")) - 4]
        assert cell.ours == pytest.approx(pearson, abs=5.01e-4)
        assert cell.published is None
        compared += 1
    assert compared == 12 * 2 * 9


def test_the_drop_that_the_text_names_comes_out(cells):
    table = cells["figure_window"]
    cell = table["mean of the LLM evaluators, SEEDA-S", "lowest at x"]
    assert (cell.published, cell.ours, cell.verdict) == (10, 10.0, "equal")
    assert "span 0.016" in table["+ Fluency, SEEDA-S", "x=10"].note


# --- the whole -----------------------------------------------------------------------------


def test_every_open_or_differing_cell_has_a_reason(cells):
    counts = Counter()
    for cell in (cell for table in cells.values() for cell in table.values()):
        counts[cell.table] += cell.ours is not None
        if cell.verdict in ("differs", "needs"):
            assert cell.note, cell
        elif isinstance(cell.published, int | float):
            near = 0.05 * max(1, abs(cell.published))
            assert abs(cell.ours - cell.published) <= near, cell
    assert counts["table1"] == 16 * 8


def test_without_data_appendix_b_remains(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path))
    assert main(["reproduce", PAPER, "table2", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["cells"]
    assert sum(cell["verdict"] == "equal" for cell in found) == 148
    assert main(["reproduce", PAPER, "table1", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["cells"]
    assert {cell["verdict"] for cell in found} == {"needs"}
    notes = {cell["note"] for cell in found if cell["row"] == "GPT-4-S"}
    assert all("grammeter data get seeda" in note for note in notes)
