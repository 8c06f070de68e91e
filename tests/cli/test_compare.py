"""The verb ``compare``, called as the main program calls it."""

import inspect
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from fake_metric import scored, systems
from grammeter.cli import results
from grammeter.cli.parser import parser_of
from grammeter.core import DataError, Score, ScoreTable, UnknownNameError
from grammeter.verbs import compare as compare_systems

QUALITIES = {"low_1": 0.4, "mid": 0.62, "high": 0.8}

pytestmark = pytest.mark.usefixtures("fake_metrics")


@pytest.fixture
def table():
    return scored(systems(QUALITIES), ("share", "errors"))


@pytest.fixture
def stored(table, tmp_path):
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(table.to_full_dict()), encoding="utf-8")
    return str(path)


def parse(*arguments):
    return parser_of("compare").parse_args(arguments)


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = results.run_compare(parse(*arguments, "--resamples", "99")) or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def test_defaults_are_those_of_the_library():
    """The shell and Python: the same words, the same defaults."""
    args = vars(parse("x"))
    words = inspect.signature(compare_systems).parameters.values()
    options = {word.name: word.default for word in words if word.name != "table"}
    assert {name: args[name] for name in options} == options


def test_json_equals_the_library_and_the_file(run, table, stored, tmp_path):
    out = tmp_path / "comparison.json"
    code, text, _ = run(stored, "--baseline", "mid", "--format", "json", "-o", str(out))
    expected = compare_systems(table, baseline="mid", resamples=99).to_dict()
    assert code == 0
    assert json.loads(text) == expected
    assert out.read_text("utf-8") == text


def test_every_option_reaches_the_library(run, stored):
    options = "--test randomisation --seed 7 --confidence 0.9 --correction holm --metrics errors"
    data = json.loads(run(stored, *options.split(), "--format", "json")[1])
    assert list(data["metrics"]) == ["errors"]
    assert (data["test"], data["seed"], data["confidence"], data["correction"]) == (
        "randomisation", 7, 0.9, "holm",
    )  # fmt: skip


def test_table_against_a_baseline(run, stored):
    _, text, _ = run(stored, "--baseline", "mid", "--metrics", "share")
    lines = text.splitlines()
    assert lines[0].split() == ["system", "share", "95%", "interval", "diff", "p"]
    assert [line.split()[0] for line in lines[2:5]] == ["high", "mid", "low_1"]
    assert lines[2].endswith("0.0100 *")
    assert lines[3].endswith("]")  # the baseline has neither difference nor p
    assert "diff, p: against mid; * p <= 0.05" in lines
    assert any(line.startswith("share: share|unit:word|refs:1|test:bootstrap") for line in lines)


def test_table_of_every_pair_has_letters(run, stored):
    _, text, _ = run(stored)
    lines = text.splitlines()
    assert lines[0].split().count("letters") == 2
    assert [line.split()[-1] for line in lines[2:5]] == ["c", "b", "a"]  # lower is better
    assert any("errors (lower is better)" in line for line in lines)
    assert any("share a letter" in line for line in lines)


def test_percent(run, stored, table):
    value = table["share"]["mid"].value
    assert f"{value:.4f}" in run(stored)[1]
    text = run(stored, "--percent")[1]
    assert f"{100 * value:.2f}" in text
    assert f"{value:.4f}" not in text
    data = json.loads(run(stored, "--percent", "--format", "json")[1])
    assert data["metrics"]["share"]["systems"]["mid"]["value"] == value


def test_tsv_is_long(run, stored, table):
    _, text, _ = run(stored, "--baseline", "mid", "--format", "tsv", "--correction", "holm")
    header, *rows = [line.split("\t") for line in text.splitlines()]
    assert header == [
        "system", "metric", "value", "low", "high", "difference", "pvalue", "pvalue_raw", "letters",
    ]  # fmt: skip
    assert [row[:2] for row in rows] == [[s, m] for m in ("share", "errors") for s in QUALITIES]
    first = dict(zip(header, rows[0], strict=True))
    assert float(first["value"]) == pytest.approx(table["share"]["low_1"].value, abs=1e-6)
    assert float(first["pvalue"]) == pytest.approx(0.02)
    assert float(first["pvalue_raw"]) == pytest.approx(0.01)
    assert first["letters"] == ""
    baseline = dict(zip(header, rows[1], strict=True))
    assert (baseline["difference"], baseline["pvalue"]) == ("0.000000", "NaN")
    header, *rows = [line.split("\t") for line in run(stored, "--format", "tsv")[1].splitlines()]
    assert rows[0][header.index("letters")] == "c"
    assert rows[0][header.index("pvalue")] == ""


def test_a_tiny_p_is_not_shown_as_zero(capsys, stored):
    results.run_compare(
        parse(stored, "--baseline", "mid", "--metrics", "share", "--resamples", "30000")
    )
    assert "<0.0001 *" in capsys.readouterr().out


def test_latex_and_markdown_escape(run, stored):
    latex = run(stored, "--format", "latex")[1]
    assert r"low\_1" in latex
    assert latex.count(r"\textbf{") == 2
    assert r"low\_1" in run(stored, "--format", "markdown")[1]


def test_notes_stand_below_the_table_with_quiet_too(run, stored):
    for quiet in ([], ["--quiet"]):
        code, out, err = run(stored, "--correction", "holm", "--confidence", "0.99", *quiet)
        assert (code, err) == (0, "")
        assert "note: no p-value can be below" in out


def test_a_missing_score_is_explained_below_the_table(run, table, tmp_path):
    column = table["share"]
    lost = Score(math.nan, column.signature, 120, reason="the model gave up")
    column = replace(column, scores=dict(column.scores) | {"mid": lost})
    path = tmp_path / "lost.json"
    path.write_text(json.dumps(ScoreTable(table.systems, 120, {"share": column}).to_full_dict()))
    for options in ([], ["--baseline", "high"]):
        lines = run(str(path), *options)[1].splitlines()
        assert lines[4].startswith("mid")  # last, for want of a score
        assert "share, mid: NaN: mid: the model gave up" in lines
    assert json.loads(run(str(path), "--format", "json")[1])["metrics"]["share"]["systems"]["mid"][
        "reason"
    ]


def test_errors_are_raised_for_the_main_program(run, stored, table, tmp_path):
    with pytest.raises(UnknownNameError, match="system 'AMU'"):
        run(stored, "--baseline", "AMU")
    with pytest.raises(DataError, match="cannot be written"):
        run(stored, "-o", str(tmp_path / "nowhere" / "x.json"))
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(table.to_dict()))
    with pytest.raises(DataError, match="without statistics"):
        run(str(bare))


def test_sentence_scores_of_other_programs(capsys, tmp_path):
    """The mean is what is compared; its bootstrap is that of a metric that stores counts."""
    path = tmp_path / "comet.tsv"
    draw = np.random.default_rng(1).normal(0.5, 0.2, (3, 50)).round(6)
    rows = [
        f"comet\t{name}\t{n + 1}\t{v}\n"
        for name, values in zip("abc", draw + np.array([[0], [0], [1]]), strict=True)
        for n, v in enumerate(values)
    ]
    path.write_text("metric\tsystem\tsegment\tvalue\n" + "".join(rows))
    code = results.run_compare(parse(str(path), "--format", "json")) or 0
    metric = json.loads(out := capsys.readouterr().out)["metrics"]["comet"]
    assert code == 0
    assert metric["systems"]["a"]["value"] == pytest.approx(draw[0].mean())
    assert metric["systems"]["a"]["low"] < draw[0].mean() < metric["systems"]["a"]["high"]
    assert [metric["systems"][name]["letters"] for name in "abc"] == ["b", "b", "a"]
    assert "resampling:mean of sentence values" in metric["signature"]
    assert "mean of stored sentence values" in json.loads(out)["notes"][0]


def test_scores_of_systems_alone_are_refused(tmp_path):
    path = tmp_path / "bleu.tsv"
    path.write_text("metric\tsystem\tvalue\nbleu\ta\t1\nbleu\tb\t2\n")
    with pytest.raises(DataError, match="without statistics") as caught:
        results.run_compare(parse(str(path)))
    assert "metric system segment value" in caught.value.fix


@pytest.mark.parametrize("arguments", [["x", "--test", "t"], ["x", "--format", "pdf"], []])
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        parse(*arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().out == ""
