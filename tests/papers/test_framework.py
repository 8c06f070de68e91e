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
    read_paper,
    read_tables,
)
from grammeter.papers.materials import Materials, Settings, named_paths

UNPRINTED = "a figure of ours, the paper prints none"
UNKNOWN = ("differs", "the reason is not known")
NEAR = Tolerance(0.01, "chance")
RANK = Tolerance(1, "chance")
WITHIN = ("within tolerance", "chance")


# --- verdicts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "ours", "tolerance", "expected"),
    [
        (Printed(0.628), 0.62837, None, ("equal", "")),
        (Printed(0.436), 0.4365, None, ("equal", "")),  # printed as .436 or .437
        (Printed(0.436), 0.43652, None, UNKNOWN),
        (Printed(0.436), 0.43652, NEAR, WITHIN),
        (Printed(0.436), 0.45, NEAR, UNKNOWN),
        (Printed(12, 0), 12.4, None, ("equal", "")),
        (Printed(12, None), 12.4, None, UNKNOWN),  # the number itself
        (Printed("*"), "*", None, ("equal", "")),
        (Printed("*"), "", RANK, UNKNOWN),
        (Printed("*"), 0.5, RANK, UNKNOWN),
        (Printed("2-4"), "2-4", RANK, ("equal", "")),
        (Printed("2-4"), "1-5", RANK, WITHIN),
        (Printed("12"), "11-12", RANK, WITHIN),
        (Printed("2-4"), "2-6", RANK, UNKNOWN),
        (Printed("2-4"), "2 4", RANK, UNKNOWN),
        (Printed(None), 0.5, NEAR, ("needs", UNPRINTED)),
        (Printed(0.5), math.nan, NEAR, ("needs", "")),
    ],
)
def test_judge(printed, ours, tolerance, expected):
    assert judge(printed, Ours(ours), tolerance) == expected


def test_a_reason_goes_with_a_figure_that_differs_and_with_one_that_is_not_printed():
    assert judge(Printed(0.5), Ours(0.9), None, "a slip") == ("differs", "a slip")
    assert judge(Printed(0.5), Ours(0.5), None, "a slip") == ("equal", "")
    assert judge(Printed(None), Ours(0.5), None, "a bar") == ("needs", f"{UNPRINTED}; a bar")


def test_notes_of_ours_are_kept():
    assert judge(Printed(0.5), Ours(0.5, "seed 1")) == ("equal", "seed 1")
    assert judge(Printed(0.5), Ours(0.505, "seed 1"), NEAR)[1] == "seed 1; chance"
    assert judge(Printed(0.5), Ours(0.9, "seed 1"), None, "a slip")[1] == "a slip; seed 1"
    assert judge(Printed(0.5), Ours(math.nan, "no model")) == ("needs", "no model")
    assert judge(Printed(0.5), None, NEAR) == ("needs", "")


@pytest.mark.parametrize(("basis", "verdict"), [("print", "consistent"), ("stored", "stored")])
def test_a_figure_that_is_not_made_from_data_is_not_called_equal(basis, verdict):
    assert judge(Printed(0.5), Ours(0.5, basis=basis))[0] == verdict
    assert judge(Printed(0.5), Ours(0.505, basis=basis), NEAR)[0] == "within tolerance"
    assert judge(Printed(0.5), Ours(0.9, basis=basis))[0] == "differs"


@pytest.mark.parametrize("value", [0.5, 0.505, 0.9])
def test_a_figure_of_another_model_is_only_that(value):
    ours = Ours(value, "layer 2", stands_in="bert-large")
    assert judge(Printed(0.5, cut=True), ours, NEAR) == (
        "other model",
        "ours is not of bert-large; layer 2",
    )
    assert judge(Printed(None), ours)[0] == "needs"


@pytest.mark.parametrize(
    ("value", "printed", "verdict", "digits"),
    [
        (0.41784, 0.417, "equal", "cut"),
        (-0.41784, -0.417, "equal", "cut"),
        (0.30097, 0.301, "equal", "cut"),  # a percentage of two decimals, 30.10
        (0.07093, 0.071, "equal", None),  # rounded
        (0.4169, 0.418, "differs", None),
    ],
)
def test_digits_that_were_cut(value, printed, verdict, digits):
    [cell] = run_tasks([task(lambda _: {AT: value}, {AT: Printed(printed, cut=True)})]).cells
    assert (cell.verdict, cell.digits) == (verdict, digits)
    [cell] = run_tasks([task(lambda _: {AT: 0.41784}, {AT: Printed(0.417)})]).cells
    assert (cell.verdict, cell.digits) == ("differs", None)


def test_chance_decides_by_how_often_a_value_comes_up():
    ours = Ours.over_seeds(["1-2", "1-2", "1-3"])
    assert (ours.value, ours.outcomes) == ("1-2", {"1-2": 2, "1-3": 1})
    assert judge(Printed("1-2"), ours)[0] == "equal"
    assert judge(Printed("1-3"), ours) == (
        "within tolerance",
        "by chance: as printed with 1 of 3 seeds",
    )
    assert judge(Printed("1-4"), ours)[0] == "differs"
    clusters = Ours.over_seeds([2.0, 2.0, 3.0])
    assert judge(Printed(3.0), clusters) == ("differs", "by chance: as printed with 1 of 3 seeds")


def test_the_tolerance_of_a_figure_goes_before_that_of_its_table():
    wide = Ours(0.7, tolerance=Tolerance(0.5, "one seed"))
    assert judge(Printed(0.5), wide, NEAR) == ("within tolerance", "one seed")
    narrow = Ours(0.505, tolerance=Tolerance(0.001, "a limit"))
    assert judge(Printed(0.5), narrow, NEAR)[0] == "differs"


def test_a_missing_figure_names_fault_and_remedy():
    ours = Ours.missing(MissingResourceError("no model bert", fix="give a folder"))
    assert judge(Printed(0.5), ours) == ("needs", "no model bert: give a folder")
    assert Ours(math.nan, "layer 2", "stored").of(0.5) == Ours(0.5, "layer 2", "stored")


def test_ranges_are_written_as_papers_do():
    assert [ranks_text(ranks) for ranks in ((1, 1), (9, 12))] == ["1", "9-12"]


def test_figures_are_written_with_the_printed_digits_or_two_more():
    assert Printed(0.5, 3).write(0.50049) == "0.500"
    assert Printed(0.5, 3).write(0.50049, finer=True) == "0.50049"
    assert Printed(12, 0).write(12.0, finer=True) == "12"
    assert Printed(0.18, None).write(0.18, finer=True) == "0.18"
    assert Printed("2-4").write("1-5") == "1-5"
    assert Printed(0.5).write(None) == ""


def test_a_cell_as_json():
    cell = Cell("p", "t", "A", "r", 0.5, math.nan, "needs", "no model")
    assert cell.to_dict()["ours"] is None
    assert "digits" not in cell.to_dict()
    assert Cell("p", "t", "A", "r", 0.5, 0.75, "differs").difference == 0.25
    assert Cell("p", "t", "A", "r", "2-4", "2-5", "differs").difference is None
    assert Cell("p", "t", "A", "r", None, 0.75, "differs").difference is None
    assert Cell("p", "t", "A", "r", 0.5, 0.5, "equal", digits="cut").to_dict()["digits"] == "cut"


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
def test_digits_and_cuts_name_columns_and_figures_have_an_order(paper):
    for name, shape in read_paper(paper)["tables"].items():
        assert {*shape.get("cut", ())} <= {*shape["columns"]}, name
        assert len({*shape["columns"]}) == len(shape["columns"]), name


@pytest.mark.parametrize("paper", PAPERS)
def test_gaps_and_tolerances_name_cells_that_there_are(paper):
    for name, table in read_tables(paper).items():
        names = {"*", *(part for key in table.cells for part in key)}
        assert {*table.tolerances, *table.gaps} <= names, name


def test_a_table_is_read_with_digits_and_reasons():
    table = read_tables("grundkiewicz2015")["table3b"]
    assert table.cells["AMU", "score"] == Printed(0.628, 3)
    assert table.cells["AMU", "cluster"] == Printed(1, 0)
    assert table.cells["AMU", "ranks"].value == "1"
    table = read_tables("grundkiewicz2015")["table3a"]
    assert table.cells["INPUT", "p"].cut
    assert "precision 1" in table.reason("INPUT", "p")
    assert table.reason("AMU", "p") == ""


# --- making tables again -------------------------------------------------------------------


def task(make, cells, missing=(), **settings):
    printed = PrintedTable(
        paper="p", name="t", title="title", page="Table 1", origin="made", cells=cells, **settings
    )
    return Task(printed, make, missing)


AT = ("A", "r")
PRINTED = {
    ("A", "r"): Printed(0.5),
    ("A", "rho"): Printed(0.6),
    ("B", "r"): Printed(None),
    ("B", "rho"): Printed(None),
}
REASONS = {"A|rho": "known", "B|*": "right one"}


def test_cells_come_in_the_order_of_the_paper_and_extra_ones_last():
    made = {("C", "r"): 0.1, ("B", "rho"): 0.7, ("A", "rho"): 0.9, ("A", "r"): 0.5}
    cells = run_tasks([task(lambda _: made, PRINTED, reasons=REASONS)]).cells
    assert [(c.row, c.column, c.published, c.ours, c.verdict, c.note) for c in cells] == [
        ("A", "r", 0.5, 0.5, "equal", ""),
        ("A", "rho", 0.6, 0.9, "differs", "known"),
        ("B", "rho", None, 0.7, "needs", f"{UNPRINTED}; right one"),
        ("C", "r", None, 0.1, "needs", UNPRINTED),
    ]


def test_gaps_and_tolerances_go_by_row_then_column_then_all():
    cells = {(row, column): Printed(0.5) for row in "AB" for column in ("r", "rho")}
    gaps = {"A": "a model", "rho": "more time", "*": "the text"}
    made = run_tasks([task(lambda _: {("B", "r"): math.nan}, cells, gaps=gaps)]).cells
    assert [cell.note for cell in made] == ["a model", "a model", "the text", "more time"]
    assert {cell.verdict for cell in made} == {"needs"}
    printed = task(dict, {}, tolerances={"A": NEAR, "r": RANK}).printed
    assert printed.tolerance("A", "r") is NEAR
    assert printed.tolerance("B", "r") is RANK
    assert printed.tolerance("B", "rho") is None


def test_a_figure_without_a_gap_says_that_there_is_no_recipe():
    [cell] = run_tasks([task(lambda _: {}, {AT: Printed(0.5)})]).cells
    assert (cell.verdict, cell.note) == ("needs", "no recipe for this figure")


def test_missing_data_are_named():
    def never(_):
        raise AssertionError("nothing is made of data that are not here")

    cells = run_tasks([task(never, PRINTED, ("data set d: grammeter data get d",))]).cells
    assert [(cell.row, cell.column, cell.verdict) for cell in cells] == [
        ("A", "r", "needs"),
        ("A", "rho", "needs"),
    ]
    assert {cell.note for cell in cells} == {"needs data set d: grammeter data get d"}
    assert {cell.ours for cell in cells} == {None}


def test_a_missing_model_is_told_on_one_line():
    def make(_):
        raise MissingResourceError("no model bert", fix="Give\na folder.")

    cells = run_tasks([task(make, PRINTED)]).cells
    assert cells[0].verdict == "needs"
    assert "no model bert" in cells[0].note
    assert "\n" not in cells[0].note


def test_other_faults_are_not_swallowed():
    def make(_):
        raise DataError("line 3 is broken", fix="Mend it.")

    with pytest.raises(DataError, match="line 3"):
        run_tasks([task(make, PRINTED)])


def test_what_is_made_is_shared_between_tables():
    seen = []
    made = run_tasks([task(lambda m: seen.append(m) or {}, PRINTED)] * 2)
    assert seen[0] is seen[1]
    assert len(made.seconds) == len(made.printed) == 2


def test_metrics_are_scored_once(monkeypatch):
    scored = []

    def score(corpus, metrics):
        scored.append([str(metric) for metric in metrics])
        empty = Signature.of("share", {})
        made = {str(m): MetricScores(str(m), empty, True, {}) for m in metrics}
        return ScoreTable(tuple(corpus.systems), len(corpus), made)

    class Corpus:
        systems = ("A", "B")

        def __len__(self):
            return 3

    monkeypatch.setattr(materials.verbs, "score", score)
    shared = Materials()
    shared.conll14 = Corpus()
    word, char = Share(), Share(unit="char")
    assert list(shared.scored("conll14", [word])) == [str(word)]
    assert list(shared.scored("conll14", [char, word])) == [str(char), str(word)]
    assert scored == [[str(word)], [str(char)]]


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="grundkiewicz2014") as caught:
        list_tasks("grundkiewicz2014")
    assert "grundkiewicz2015" in str(caught.value)
    with pytest.raises(UnknownNameError, match="table9"):
        list_tasks("grundkiewicz2015", "table9")


def test_tasks_of_all_papers():
    assert {task.printed.paper for task in list_tasks()} == set(PAPERS)
    assert len({task.printed.paper for task in list_tasks(table="table4")}) > 1


# --- settings ------------------------------------------------------------------------------


def test_names_and_paths(tmp_path):
    assert named_paths([f"bert={tmp_path}"], "models") == {"bert": tmp_path}
    assert named_paths([], "answers") == {}
    for text in ("bert", "bert=", f"={tmp_path}"):
        with pytest.raises(DataError, match="Write NAME=PATH"):
            named_paths([text], "models")
    with pytest.raises(DataError, match="answers: GPT-4-S: there is no"):
        named_paths([f"GPT-4-S={tmp_path / 'none'}"], "answers")


def test_models_run_only_if_wanted_and_a_named_one_must_be_one(tmp_path):
    with pytest.raises(MissingResourceError, match="--models"):
        Materials().model("bert-base-uncased")
    wanted = Settings(models={"bert-base-uncased": tmp_path})
    with pytest.raises(MissingResourceError, match="is no model"):
        Materials(wanted).model("bert-base-uncased")


def test_settings_reach_the_recipes(tmp_path, monkeypatch):
    seen = []
    recipes = {"table2a": lambda materials: seen.append(materials.settings) or {}}
    monkeypatch.setitem(PAPERS, "grundkiewicz2015", recipes)
    monkeypatch.setattr("grammeter.papers._reproduce.list_datasets", list)
    chosen = ["--models", f"bert={tmp_path}", "--long", "--quiet"]
    for arguments in ([], chosen):
        assert main(["reproduce", "grundkiewicz2015", "table2a", *arguments]) == 0
    none, more = seen
    assert (none.models, none.answers, none.long) == (None, {}, False)
    assert (more.models, more.long) == ({"bert": tmp_path}, True)


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
    _, out, _ = call(capsys, "grundkiewicz2015", "table3b", "--differing", "--format", "tsv")
    rows = [line.split("\t")[1] for line in out.splitlines()]
    assert {*rows[1:]} <= {"ranks"}
    _, out, _ = call(capsys, "grundkiewicz2015", "table1", "--differing")
    assert out == ""


def test_all_papers_by_one_table(absent, capsys):
    _, out, _ = call(capsys, "all", "table4", "--format", "json")
    assert len({cell["paper"] for cell in json.loads(out)["cells"]}) > 1


def test_wrong_names_and_paths_are_wrong_usage(capsys):
    code, _, err = call(capsys, "grundkiewicz2014")
    assert code == 2
    assert "Did you mean 'grundkiewicz2015'?" in err
    assert call(capsys, "grundkiewicz2015", "table9")[0] == 2
    code, _, err = call(capsys, "grundkiewicz2015", "table1", "--models", "bert")
    assert code != 0
    assert "Write NAME=PATH" in err
