"""The verb ``rank``, called as the main program calls it."""

import json
import math

import pytest

from grammeter.cli.output import FORMATS
from grammeter.cli.parser import parser_of
from grammeter.core import DataError, UnknownNameError, UsageError
from grammeter.formats import read_judgments, write_judgments
from grammeter.ranking import METHODS
from grammeter.ranking.methods import BradleyTerry
from grammeter.resources import sample_corpus
from grammeter.verbs import rank
from made_judgments import duel

SAMPLE = str(sample_corpus() / "judgments.xml")


@pytest.fixture
def run(called):
    def run(*arguments):
        code, out, err = called("rank", *arguments)
        assert code == 0
        return out, err

    return run


def judged(tmp_path, items):
    path = tmp_path / "judgments.jsonl"
    write_judgments(path, items)
    return str(path)


def test_the_methods_are_those_of_the_library():
    """The shell names them, too, as --by also takes methods with settings."""
    (by,) = [action for action in parser_of("rank")._actions if action.dest == "by"]
    assert set(by.choices) == {*METHODS, "mean", "z-score", "accept-rate"}


@pytest.mark.parametrize("by", METHODS)
def test_json_equals_the_library_and_the_file(run, tmp_path, by):
    out = tmp_path / "ranking.json"
    options = ("--by", by, "--bootstrap", "50", "--format", "json", "-o", str(out))
    text, _ = run(SAMPLE, *options)
    judgments = read_judgments(SAMPLE)
    expected = rank(judgments, by=by, resamples=50).to_dict()
    assert json.loads(text) == expected
    assert out.read_text("utf-8") == text
    assert expected["kind"] == "ranking"
    assert set(expected["systems"][0]) == {"system", "score", "ranks", "cluster"}


def test_every_option_reaches_the_library(run):
    options = (
        "--unit pair --bootstrap 60 --seed 7 --confidence 0.9 --divisor beaten-opponents"
        " --judge judge01 judge02 --without-judge judge02 --extraction unexpanded"
        " --first-segment 0 --processes 2 --format json"
    )
    signature = json.loads(run(SAMPLE, *options.split())[0])["signature"]
    for part in (
        "unit:pair", "resamples:60", "seed:7", "confidence:0.9", "divisor:beaten-opponents",
        "judges:judge01", "without:judge02", "extraction:unexpanded", "first-segment:0 (stated)",
    ):  # fmt: skip
        assert f"|{part}|" in signature


def test_defaults_are_those_of_the_library(run):
    judgments = read_judgments(SAMPLE)
    data = json.loads(run(SAMPLE, "--format", "json")[0])
    assert data == rank(judgments).to_dict()
    data = json.loads(run(SAMPLE, "--validate", "5", "--format", "json")[0])
    assert data == rank(judgments, validate=5).to_dict()


def test_table(run):
    text, error = run(SAMPLE, "--bootstrap", "50")
    lines = text.splitlines()
    assert lines[0].split() == ["system", "score", "ranks", "cluster"]
    for line, row in zip(lines[2:], rank(read_judgments(SAMPLE), resamples=50).rows, strict=False):
        ranks = "-".join(map(str, sorted(set(row.ranks))))
        assert line.split() == [row.system, f"{row.score:.4f}", ranks, str(row.cluster)]
    assert "ranks: in 95% of 50 resamples (unit: sentence)" in lines
    assert lines[-1].startswith("expected-wins|divisor:all-opponents|")
    assert "2 skipped" in error
    assert run(SAMPLE, "--bootstrap", "50", "--quiet")[1] == ""


def test_table_of_pairs_says_that_ranges_are_too_narrow(run):
    assert "ranges are too narrow" in run(SAMPLE, "--bootstrap", "50", "--unit", "pair")[0]
    text = run(SAMPLE, "--bootstrap", "50", "--by", "trueskill")[0]
    assert "50 runs (unit: game)" in text


@pytest.mark.parametrize("form", [f for f in FORMATS if f != "json"])
@pytest.mark.parametrize("question", [(), ("--head-to-head",), ("--validate", "3")])
def test_all_forms(run, form, question):
    fewer = () if "--head-to-head" in question else ("--bootstrap", "40")
    text, _ = run(SAMPLE, *question, *fewer, "--format", form)
    assert "Thorough" in text or "clusters" in text


def test_tsv_has_a_column_for_each_bound(run):
    lines = run(SAMPLE, "--bootstrap", "50", "--format", "tsv")[0].splitlines()
    assert lines[0].split("\t") == [
        "system", "score", "first_rank", "last_rank", "cluster", "reason",
    ]  # fmt: skip
    best = rank(read_judgments(SAMPLE), resamples=50).rows[0]
    bounds = map(str, best.ranks)
    assert lines[1].split("\t") == [best.system, f"{best.score:.6f}", *bounds, "1", ""]


def test_percent(run):
    judgments = read_judgments(SAMPLE)
    best, share = (
        rank(judgments, resamples=50).rows[0].score,
        rank(judgments, head_to_head=True).cells[0].share,
    )
    assert f"{100 * best:.2f}" in run(SAMPLE, "--bootstrap", "50", "--percent")[0]
    assert f"{100 * share:.2f}" in run(SAMPLE, "--head-to-head", "--percent")[0]
    data = json.loads(run(SAMPLE, "--bootstrap", "50", "--percent", "--format", "json")[0])
    assert data["systems"][0]["score"] < 1


def test_head_to_head(run):
    text, _ = run(SAMPLE, "--head-to-head", "--judge", "judge01")
    lines = text.splitlines()
    found = rank(read_judgments(SAMPLE), head_to_head=True, judge=["judge01"])
    assert lines[0].split() == list(found.systems)
    below = found.cells[5]  # the second row, the first column
    assert lines[3].split()[:2] == [below.row, f"{below.share:.2f}{below.mark}"]
    assert "exact two-sided sign test: ** p <= .01, * p <= .05, + p <= .10" in lines
    judgments = read_judgments(SAMPLE)
    data = json.loads(run(SAMPLE, "--head-to-head", "--format", "json")[0])
    assert data == rank(judgments, head_to_head=True).to_dict()
    long = run(SAMPLE, "--head-to-head", "--format", "tsv")[0].splitlines()
    assert long[0] == "row\tcolumn\tshare\twins\tlosses\tties\tpvalue\tmark"
    assert len(long) == 1 + 6 * 5


def test_validate(run):
    text, _ = run(SAMPLE, "--validate", "4", "--unit", "pair", "--training", "makefile")
    assert "everything tied, all comparisons" in text
    assert "|folds:4|folds-of:pair|training:makefile|" in text


def test_prior(run):
    text, _ = run(
        SAMPLE, "--by", "bradley-terry", "--prior", "0.5", "--bootstrap", "40", "--format", "json"
    )
    judgments = read_judgments(SAMPLE)
    expected = rank(judgments, by=BradleyTerry(prior=0.5), resamples=40)
    assert json.loads(text) == expected.to_dict()


def test_learning_curve(run):
    data = json.loads(run(SAMPLE, "--learning-curve", "--bootstrap", "40", "--format", "json")[0])
    assert data["kind"] == "learning-curve"
    assert data["mean"][-1] == pytest.approx(1)
    assert len(data["separations"]) == 5
    text, _ = run(SAMPLE, "--learning-curve", "--bootstrap", "40", "--judge", "judge01")
    assert "a correlation of .95 in 95% of the draws takes" in text
    assert "items needed" in text
    long = run(SAMPLE, "--learning-curve", "--bootstrap", "40", "--format", "tsv")[0]
    assert long.splitlines()[0] == "items\tmean\t5%\t95%"
    assert "items needed" not in long


def test_gaps_are_told(run, tmp_path):
    items = [*duel("A", "B", times=4), *duel("B", "C", times=3), *duel("C", "B", segment=2)]
    path = judged(tmp_path, items)
    text, _ = run(path, "--bootstrap", "40")
    told = "A: no decided comparison, counted as 0: C"
    assert told in text.splitlines()
    cell = run(path, "--head-to-head", "--format", "tsv")[0].splitlines()[2]
    assert cell.split("\t")[2:] == ["NaN", "0", "0", "0", "NaN", ""]


def test_numbering_found_in_the_outputs(run):
    hyps = [str(path) for path in sorted((sample_corpus() / "systems").glob("*.txt"))]
    data = json.loads(run(SAMPLE, "--hyps", *hyps, "--bootstrap", "40", "--format", "json")[0])
    assert "|first-segment:0 (found)|" in data["signature"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--divisor all-opponents --by trueskill", "--divisor belongs to --by expected-wins"),
        ("--prior 1", "--prior belongs to --by bradley-terry"),
        ("--training makefile", "--training belongs to --validate"),
        ("--repeats 2", "--repeats belongs to --validate"),
        ("--draw-radius --seed 2", "--seed belongs"),
        ("--head-to-head --by trueskill", "--by belongs"),
        ("--head-to-head --unit pair", "--unit belongs"),
        ("--head-to-head --resamples 50", "--resamples belongs"),
        ("--head-to-head --seed 2", "--seed belongs"),
        ("--head-to-head --confidence 0.9", "--confidence belongs"),
        ("--head-to-head --divisor met-opponents", "--divisor belongs"),
        ("--learning-curve --by trueskill", "--by belongs"),
        ("--learning-curve --unit pair", "--unit belongs"),
        ("--learning-curve --confidence 0.9", "--confidence belongs"),
        ("--learning-curve --extraction unexpanded", "--extraction belongs"),
        ("--learning-curve --divisor met-opponents", "--divisor belongs"),
        ("--systems Fluent", "systems to rank: 1"),
        ("--systems Fluent Nobody", "unknown judged system 'Nobody'"),
        ("--drop Nobody", "unknown judged system 'Nobody'"),
        ("--bootstrap 0", "0 resamples"),
        ("--validate 0", "0 folds"),
        ("--judge nobody", "unknown judge 'nobody'"),
    ],
)
def test_wrong_usage(run, options, told):
    with pytest.raises((UsageError, DataError), match=told):
        run(SAMPLE, *options.split())


def test_unknown_judge_suggests_names(run):
    with pytest.raises(UnknownNameError, match="'judge01'"):
        run(SAMPLE, "--without-judge", "judge1")


@pytest.mark.parametrize("question", [(), ("--head-to-head",), ("--validate", "2")])
def test_all_ties(run, tmp_path, question):
    path = judged(tmp_path, duel("A", "B", tie=True, times=3))
    with pytest.raises(DataError, match="all 3 comparisons are ties"):
        run(path, *question)


def test_one_question_at_a_time(run, capsys):
    with pytest.raises(SystemExit):
        run(SAMPLE, "--head-to-head", "--validate", "3")
    assert "not allowed with" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "title"),
    [
        (["--bootstrap", "20"], "Rank ranges and clusters"),
        (["--head-to-head"], "Head to head"),
        (["--learning-curve", "--bootstrap", "20"], "Learning curve"),
    ],
)
def test_figure(run, tmp_path, options, title):
    path = tmp_path / "x.svg"
    plain, _ = run(SAMPLE, *options)
    drawn, _ = run(SAMPLE, *options, "--figure", str(path))
    assert drawn == plain
    assert f"<title>{title}</title>" in path.read_text("utf-8")


def test_the_figure_shows_the_shares(run, tmp_path):
    path = tmp_path / "x.svg"
    run(SAMPLE, "--head-to-head", "--figure", str(path))
    text = path.read_text("utf-8")
    found = rank(read_judgments(SAMPLE), head_to_head=True)
    for cell in found.cells:
        share = f"{cell.share:.2f}".replace("0.", ".") + cell.mark
        assert math.isnan(cell.share) or f">{share}<" in text


def test_a_validation_has_no_figure(run):
    with pytest.raises(UsageError, match="--figure"):
        run(SAMPLE, "--validate", "5", "--figure", "x.svg")
    with pytest.raises(UsageError, match="--figure"):
        run(SAMPLE, "--draw-radius", "--figure", "x.svg")
