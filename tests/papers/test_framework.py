"""Printed figures, recipes and verdicts, apart from any one paper; and the verb on top."""

import json
import math

import pytest

from fake_metric import Share
from grammeter.cli.main import main
from grammeter.core import (
    DataError,
    MetricScores,
    MissingResourceError,
    ScoreTable,
    Signature,
    UnknownNameError,
    ranks_text,
)
from grammeter.papers import materials
from grammeter.papers._reproduce import PAPERS, Task, list_tasks, run_tasks
from grammeter.papers.cells import (
    Cell,
    Ours,
    Printed,
    PrintedTable,
    Tolerance,
    judge,
    read_tables,
)

UNPRINTED = "a figure of ours, the paper prints none"
NEAR = Tolerance(0.01, "chance")
RANK = Tolerance(1, "chance")


# --- verdicts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "ours", "tolerance", "expected"),
    [
        (Printed(0.628), 0.62837, None, ("equal", "")),
        (Printed(0.436), 0.4365, None, ("equal", "")),  # printed as .436 or .437
        (Printed(0.436), 0.43652, None, ("differs", "the reason is not known")),
        (Printed(0.436), 0.43652, NEAR, ("within tolerance", "chance")),
        (Printed(0.436), 0.45, NEAR, ("differs", "the reason is not known")),
        (Printed(12, 0), 12.4, None, ("equal", "")),
        (Printed("*"), "*", None, ("equal", "")),
        (Printed("*"), "", RANK, ("differs", "the reason is not known")),
        (Printed("*"), 0.5, RANK, ("differs", "the reason is not known")),
        (Printed("2-4"), "2-4", RANK, ("equal", "")),
        (Printed("2-4"), "1-5", RANK, ("within tolerance", "chance")),
        (Printed("12"), "11-12", RANK, ("within tolerance", "chance")),
        (Printed("2-4"), "2-6", RANK, ("differs", "the reason is not known")),
        (Printed("2-4"), "2 4", RANK, ("differs", "the reason is not known")),
        (Printed(None), 0.5, NEAR, ("needs", UNPRINTED)),
        (Printed(0.5), math.nan, NEAR, ("needs", "")),
    ],
)
def test_judge(printed, ours, tolerance, expected):
    assert judge(printed, Ours(ours), tolerance) == expected


def test_notes_of_ours_are_kept():
    assert judge(Printed(0.5), Ours(0.5, "seed 1"), None) == ("equal", "seed 1")
    assert judge(Printed(0.5), Ours(0.505, "seed 1"), NEAR)[1] == "seed 1; chance"
    assert judge(Printed(0.5), Ours(0.9, "seed 1"), None, "a slip")[1] == "a slip; seed 1"
    assert judge(Printed(None), Ours(0.9), None, "a bar") == ("needs", f"{UNPRINTED}; a bar")
    assert judge(Printed(0.5), Ours(math.nan, "no model"), None) == ("needs", "no model")
    assert judge(Printed(0.5), None, NEAR) == ("needs", "")


@pytest.mark.parametrize("value", [0.5, 0.9])
def test_another_model_is_never_equal(value):
    verdict, note = judge(Printed(0.5), Ours(value, "layer 2", stands_in="bert-large"), NEAR)
    assert verdict == "other model"
    assert "bert-large" in note
    assert note.endswith("layer 2")


def test_ranges_are_written_as_papers_do():
    assert [ranks_text(ranks) for ranks in ((1, 1), (9, 12))] == ["1", "9-12"]


def test_a_cell_as_json():
    cell = Cell("p", "t", "A", "r", 0.5, math.nan, "needs", "no model")
    assert cell.to_dict()["ours"] is None
    assert Cell("p", "t", "A", "r", 0.5, 0.75, "differs").difference == 0.25
    assert Cell("p", "t", "A", "r", "2-4", "2-5", "differs").difference is None
    assert Cell("p", "t", "A", "r", None, 0.75, "differs").difference is None


# --- printed figures -----------------------------------------------------------------------


@pytest.mark.parametrize("paper", PAPERS)
def test_each_recipe_has_its_table(paper):
    tables = read_tables(paper)
    assert set(PAPERS[paper]) <= set(tables)
    for table in tables.values():
        assert table.title
        assert table.page
        assert table.origin
        assert table.figures <= len(table.cells)


@pytest.mark.parametrize("paper", PAPERS)
def test_gaps_and_tolerances_name_cells_that_there_are(paper):
    for name, table in read_tables(paper).items():
        names = {"*", *(part for key in table.cells for part in key)}
        assert {*table.tolerances, *table.gaps} <= names, name


def test_a_table_is_read_with_digits():
    cells = read_tables("grundkiewicz2015")["table3b"].cells
    assert cells["AMU", "score"] == Printed(0.628, 3)
    assert cells["AMU", "cluster"] == Printed(1, 0)


# --- making tables again -------------------------------------------------------------------


def task(make, cells, missing=(), **settings):
    printed = PrintedTable(
        paper="p", name="t", title="title", page="Table 1", origin="made", cells=cells, **settings
    )
    return Task(printed, make, missing)


PRINTED = {
    ("A", "r"): Printed(0.5),
    ("A", "rho"): Printed(0.6),
    ("B", "r"): Printed(None),
    ("B", "rho"): Printed(None),
}
REASONS = {"A|rho": "known", "B|*": "right one"}


def test_cells_come_in_the_order_of_the_paper_and_extra_ones_last():
    made = {("C", "r"): 0.1, ("B", "rho"): 0.7, ("A", "rho"): 0.9, ("A", "r"): 0.5}
    found = run_tasks([task(lambda _: made, PRINTED, reasons=REASONS)]).cells
    assert [(c.row, c.column, c.published, c.ours, c.verdict, c.note) for c in found] == [
        ("A", "r", 0.5, 0.5, "equal", ""),
        ("A", "rho", 0.6, 0.9, "differs", "known"),
        ("B", "rho", None, 0.7, "needs", f"{UNPRINTED}; right one"),
        ("C", "r", None, 0.1, "needs", UNPRINTED),
    ]


def test_gaps_and_tolerances_go_by_row_then_column_then_all():
    cells = {(row, column): Printed(0.5) for row in "AB" for column in ("r", "rho")}
    gaps = {"A": "a model", "rho": "more time", "*": "the text"}
    found = run_tasks([task(lambda _: {("B", "r"): math.nan}, cells, gaps=gaps)]).cells
    assert [cell.note for cell in found] == ["a model", "a model", "the text", "more time"]
    assert {cell.verdict for cell in found} == {"needs"}
    printed = task(dict, {}, tolerances={"A": NEAR, "r": RANK}).printed
    assert printed.tolerance("A", "r") is NEAR
    assert printed.tolerance("B", "r") is RANK
    assert printed.tolerance("B", "rho") is None


def test_a_figure_without_a_gap_says_that_there_is_no_recipe():
    [cell] = run_tasks([task(lambda _: {}, {("A", "r"): Printed(0.5)})]).cells
    assert (cell.verdict, cell.note) == ("needs", "no recipe for this figure")


def test_missing_data_are_named():
    def never(_):
        raise AssertionError("nothing is made of data that are not here")

    made = run_tasks([task(never, PRINTED, ("data set d: grammeter data get d",))]).cells
    assert [(cell.row, cell.column, cell.verdict) for cell in made] == [
        ("A", "r", "needs"),
        ("A", "rho", "needs"),
    ]
    assert {cell.note for cell in made} == {"needs data set d: grammeter data get d"}
    assert {cell.ours for cell in made} == {None}


def test_a_missing_model_is_told_on_one_line():
    def make(_):
        raise MissingResourceError("no model bert", fix="Give\na folder.")

    found = run_tasks([task(make, PRINTED)]).cells
    assert found[0].verdict == "needs"
    assert "no model bert" in found[0].note
    assert "\n" not in found[0].note


def test_other_faults_are_not_swallowed():
    def make(_):
        raise DataError("line 3 is broken", fix="Mend it.")

    with pytest.raises(DataError, match="line 3"):
        run_tasks([task(make, PRINTED)])


def test_a_figure_of_another_model_is_shown_and_not_said_to_be_equal():
    made = {("A", "r"): Ours(0.5, stands_in="bert-large")}
    [cell, _] = run_tasks([task(lambda _: made, PRINTED)]).cells
    assert (cell.ours, cell.verdict) == (0.5, "other model")


def test_what_is_made_is_shared_between_tables():
    seen = []
    tasks = [task(lambda m: seen.append(m) or {}, PRINTED)] * 2
    found = run_tasks(tasks)
    assert seen[0] is seen[1]
    assert len(found.seconds) == len(found.printed) == 2


def test_metrics_are_scored_once(monkeypatch):
    asked = []

    def score(corpus, metrics):
        asked.append([str(metric) for metric in metrics])
        empty = Signature.of("share", {})
        made = {str(m): MetricScores(str(m), empty, True, {}) for m in metrics}
        return ScoreTable(tuple(corpus.systems), len(corpus), made)

    class Corpus:
        systems = ("A", "B")

        def __len__(self):
            return 3

    monkeypatch.setattr(materials, "score", score)
    shared = materials.Materials()
    shared.conll14 = Corpus()
    word, char = Share(), Share(unit="char")
    assert list(shared.scored("conll14", [word])) == [str(word)]
    assert list(shared.scored("conll14", [char, word])) == [str(char), str(word)]
    assert asked == [[str(word)], [str(char)]]


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="grundkiewicz2014") as caught:
        list_tasks("grundkiewicz2014")
    assert "grundkiewicz2015" in str(caught.value)
    with pytest.raises(UnknownNameError, match="table9"):
        list_tasks("grundkiewicz2015", "table9")


def test_tasks_of_all_papers():
    assert {task.printed.paper for task in list_tasks()} == set(PAPERS)
    assert len({task.printed.paper for task in list_tasks(table="table4")}) > 1


# --- the verb ------------------------------------------------------------------------------


@pytest.fixture
def absent(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path / "nothing"))


@pytest.fixture
def present(shared, monkeypatch):
    monkeypatch.setenv("GRAMMETER_DATA", str(shared / "data"))


def call(capsys, *arguments):
    code = main(["reproduce", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_list(absent, capsys):
    code, out, _ = call(capsys, "--format", "json")
    data = json.loads(out)
    assert (code, data["kind"]) == (0, "reproductions")
    [table] = [
        t for t in data["tables"] if (t["paper"], t["table"]) == ("grundkiewicz2015", "table1")
    ]
    assert table["cells"] == 45
    assert table["missing"] == ["data set human_gjg15: grammeter data get human_gjg15"]
    code, out, _ = call(capsys)
    assert "data set human_gjg15: grammeter data get human_gjg15" in out


def test_absent_data_are_no_failure(absent, capsys):
    code, out, err = call(capsys, "grundkiewicz2015", "table1", "--format", "json")
    cells = json.loads(out)["cells"]
    assert (code, len(cells)) == (0, 45)
    assert {cell["verdict"] for cell in cells} == {"needs"}
    assert all("grammeter data get human_gjg15" in cell["note"] for cell in cells)
    assert "45 cells: 45 needs" in err


def test_json_of_a_table(present, capsys, tmp_path):
    file = tmp_path / "made.json"
    code, out, err = call(capsys, "grundkiewicz2015", "table5", "--format", "json", "-o", str(file))
    data = json.loads(out)
    assert code == 0
    assert json.loads(file.read_text("utf-8")) == data
    assert data["kind"] == "reproduction"
    [cell] = [c for c in data["cells"] if (c["row"], c["column"]) == ("F0.18", "r")]
    assert (cell["published"], cell["verdict"]) == (0.701, "differs")
    assert cell["note"]
    assert "16 cells: 15 stored, 1 differs" in err


def test_a_file_takes_the_form_of_its_name(present, capsys, tmp_path):
    forms = {"made.md": "| row |", "made.tex": r"\toprule", "made.tsv": "row\tcolumn\t"}
    for name, mark in forms.items():
        file = tmp_path / name
        code, out, _ = call(
            capsys, "grundkiewicz2015", "table2a", "--format", "tsv", "-o", str(file)
        )
        assert code == 0
        assert mark in file.read_text("utf-8")
        assert out.splitlines()[0].startswith("row\tcolumn\tpublished\tours\tdifference\tverdict")


def test_differing_cells_alone(present, capsys):
    _, out, _ = call(capsys, "grundkiewicz2015", "figure1", "--differing", "--format", "tsv")
    rows = [line.split("\t")[:2] for line in out.splitlines()]
    assert rows == [["row", "column"], *([f"{n} distinct outputs", "sentences"] for n in (1, 2))]
    _, out, _ = call(capsys, "grundkiewicz2015", "table2b", "--differing")
    assert out == ""


def test_all_papers_by_one_table(absent, capsys):
    _, out, _ = call(capsys, "all", "table4", "--format", "json")
    assert len({cell["paper"] for cell in json.loads(out)["cells"]}) > 1


def test_wrong_names_are_wrong_usage(capsys):
    code, _, err = call(capsys, "grundkiewicz2014")
    assert code == 2
    assert "Did you mean 'grundkiewicz2015'?" in err
    assert call(capsys, "grundkiewicz2015", "table9")[0] == 2
