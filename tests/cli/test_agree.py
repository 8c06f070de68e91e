"""The verb ``agree``, called as the main program calls it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial

import pytest

from grammeter.cli import main
from grammeter.core import DataError, UsageError
from grammeter.formats import read_judgments, write_judgments
from grammeter.resources import sample_corpus
from grammeter.verbs import agree as measure

SAMPLE = str(sample_corpus() / "judgments.xml")
SYSTEMS = [str(path) for path in sorted((sample_corpus() / "systems").iterdir())]


@pytest.fixture
def run(called):
    return partial(called, "agree")


def test_json_has_the_promised_shape(run):
    code, text, _ = run(SAMPLE, "--format", "json")
    data = json.loads(text)
    assert code == 0
    assert data["kind"] == "agreement"
    for part in ("inter", "intra"):
        assert {"kappa", "observed", "chance", "n"} <= data[part].keys()
    assert set(data["pairs"]) == {
        "judge01|judge01", "judge01|judge02", "judge01|judge03",
        "judge02|judge02", "judge02|judge03", "judge03|judge03",
    }  # fmt: skip
    assert list(data["counts"]) == ["judge01", "judge02", "judge03", "total"]
    assert data["counts"]["total"] == {
        "items": 122, "unexpanded": 986, "unexpanded_ties": 103,
        "expanded": 1710, "expanded_ties": 384,
    }  # fmt: skip
    assert data["intra"]["kappa"] is None
    assert data["intra"]["reason"] == "no kappa of 50 or more comparisons"
    assert data["beside"]["kappa"] == "orientation-free"
    assert data["alpha"]["level"] == "ordinal"


def test_output_file_holds_the_same_object(run, tmp_path):
    path = tmp_path / "a.json"
    _, text, _ = run(SAMPLE, "-o", str(path))
    assert "between judges" in text
    assert json.loads(path.read_text()) == json.loads(run(SAMPLE, "--format", "json")[1])


def test_the_other_kappa(run):
    script = json.loads(run(SAMPLE, "--format", "json")[1])
    free = json.loads(run(SAMPLE, "--format", "json", "--kappa", "orientation-free")[1])
    assert free["inter"] == script["beside"]["inter"]
    assert free["beside"]["inter"] == script["inter"]
    assert "kappa:orientation-free" in free["signature"]


def test_table(run):
    code, text, err = run(SAMPLE)
    assert code == 0
    lines = text.splitlines()
    assert lines[2].split() == [
        "between", "judges", "0.3898", "[0.3039,", "0.4628]", "0.6798", "0.4751", "684",
        "0.3907", "0.4551", "0.6712", "[0.5581,", "0.7670]",
    ]  # fmt: skip
    assert "no kappa within judges: no kappa of 50 or more comparisons" in lines
    assert any(re.match(r"judge02 +0\.3702\* +0\.3515$", line) for line in lines)
    assert ["total", "122", "986", "103", "1710", "384"] in [line.split() for line in lines]
    assert err == f"note: {SAMPLE}: 122 items, of them 2 skipped\n"
    assert run(SAMPLE, "--quiet")[2] == ""


def test_tsv_is_long(run):
    _, text, _ = run(SAMPLE, "--format", "tsv")
    header, *rows = [line.split("\t") for line in text.splitlines()]
    assert header == [
        "of", "first", "second", "kappa", "observed", "chance", "n", "orientation-free kappa",
        "low", "high",
    ]  # fmt: skip
    assert [row[:3] for row in rows[:8]] == [
        ["inter", "", ""],
        ["inter pooled", "", ""],
        ["inter alpha", "", ""],
        ["intra", "", ""],
        ["intra pooled", "", ""],
        ["intra alpha", "", ""],
        ["pair", "judge01", "judge01"],
        ["pair", "judge01", "judge02"],
    ]
    assert len(rows) == 12


@pytest.mark.parametrize("form", ["latex", "markdown"])
def test_other_forms(run, form):
    for options in ((), ("--correlate",)):
        code, text, _ = run(SAMPLE, "--format", form, *options)
        assert code == 0
        assert "judge01" in text


def test_correlate(run):
    data = json.loads(run(SAMPLE, "--correlate", "--format", "json")[1])
    assert data["kind"] == "judge-correlation"
    assert set(data["pairs"]) == {"judge01|judge02", "judge01|judge03", "judge02|judge03"}
    assert data["rest"]["judge02"]["weight"] == 565
    lines = run(SAMPLE, "--correlate")[1].splitlines()
    assert lines[0].split() == ["judge", "judge01", "judge02", "judge03", "rest"]
    assert lines[2].split()[2] == f"{data['pairs']['judge01|judge02']['spearman']:.4f}"
    assert lines[3].split()[1] == f"{data['pairs']['judge01|judge02']['pearson']:.4f}"
    assert lines[5].split()[2] == f"{data['rest']['judge02']['pearson']:.4f}"
    header, *rows = run(SAMPLE, "--correlate", "--format", "tsv")[1].splitlines()
    assert header.split("\t")[:2] == ["first", "second"]
    assert [row.split("\t")[1] for row in rows[3:]] == ["rest"] * 3


def test_a_missing_correlation_has_its_reason(run, tmp_path):
    path = tmp_path / "j.jsonl"
    ties = {"segment": 1, "groups": [["X"], ["Y"]], "ranks": [1, 1]}
    path.write_text("".join(json.dumps(ties | {"judge": judge}) + "\n" for judge in "ab"))
    text = run(str(path), "--correlate")[1]
    assert "no figure: a|b: fewer than two systems have a score from both" in text
    assert "NaN" in text


def test_many_judges_are_listed_instead(run, tmp_path):
    path = tmp_path / "j.jsonl"
    item = {"segment": 1, "groups": [["X"], ["Y"]], "ranks": [1, 2]}
    judges = [f"judge{number:02}" for number in range(21)]
    path.write_text("".join(json.dumps(item | {"judge": judge}) + "\n" for judge in judges))
    text = run(str(path))[1]
    assert max(map(len, text.splitlines())) < 200
    assert text.count("judge20") == 1
    text = run(str(path), "--correlate")[1]
    assert text.splitlines()[0].startswith("first")


def test_sentences_are_counted_as_said_or_found(run):
    def signature(*options):
        return json.loads(run(SAMPLE, "--format", "json", *options)[1])["signature"]

    assert "first-segment:0 (default)" in signature()
    assert "first-segment:0 (stated)" in signature("--first-segment", "0")
    assert "first-segment:0 (found)" in signature("--hyps", *SYSTEMS)
    with pytest.raises(DataError, match=r"judgments\.xml:\d+: "):
        run(SAMPLE, "--first-segment", "1", "--hyps", *SYSTEMS)


HEAD = "<appraise-results><error-correction-ranking-result>"
TAIL = "</error-correction-ranking-result></appraise-results>"
ITEM = (
    '<ranking-item src-id="0" user="a">\n<translation rank="%s" system="X"/>\n'
    '<translation rank="%s" system="%s"/></ranking-item>'
)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "j.xml:1: the file is empty"),
        ("<appraise-results>", "j.xml:1: no XML"),
        (HEAD + ITEM % ("one", "2", "Y") + TAIL, "j.xml:2: rank is 'one'"),
        (HEAD + ITEM % ("1", "9", "Y") + TAIL, "j.xml:1: rank 9 lies outside"),
        (HEAD + ITEM % ("1", "2", "X") + TAIL, "j.xml:1: judgment by 'a'"),
        ('<!DOCTYPE x [<!ENTITY e "boom">]>' + HEAD + TAIL, "j.xml:1: declares"),
    ],
)
def test_bad_files_exit_with_3_and_a_place(tmp_path, capsys, text, place):
    path = tmp_path / "j.xml"
    path.write_text(text)
    assert main.main(["agree", str(path)]) == 3
    err = capsys.readouterr().err
    assert err.startswith(f"grammeter: {tmp_path}/{place}")
    assert len(err.splitlines()) == 2


def test_an_unknown_system_exits_with_3(capsys):
    assert main.main(["agree", SAMPLE, "--hyps", *SYSTEMS[1:]]) == 3
    assert "unknown system 'Careful'" in capsys.readouterr().err


SETTINGS = {
    "--kappa": (["orientation-free"], {"kappa": "orientation-free"}),
    "--judge": (["judge01", "judge02"], {"judge": ["judge01", "judge02"]}),
    "--without-judge": (["judge03"], {"without_judge": ["judge03"]}),
    "--resamples": (["50"], {"resamples": 50}),
    "--seed": (["4"], {"seed": 4}),
    "--confidence": (["0.8"], {"confidence": 0.8}),
}


@pytest.mark.parametrize("option", SETTINGS)
@pytest.mark.parametrize("correlate", [False, True])
def test_an_option_does_the_same_in_python_or_is_refused(run, option, correlate):
    words, settings = SETTINGS[option]
    flags = [*(["--correlate"] if correlate else []), option, *words, "--format", "json"]
    if correlate and not option.endswith("judge"):
        with pytest.raises(UsageError, match=option):
            run(SAMPLE, *flags)
        return
    judgments = read_judgments(SAMPLE)
    data = json.loads(run(SAMPLE, *flags)[1])
    ours = measure(judgments, correlate=correlate, **settings).to_dict()
    assert data == json.loads(json.dumps(ours))
    assert data != measure(judgments, correlate=correlate).to_dict()


def test_a_correlation_has_no_figure(run):
    with pytest.raises(UsageError, match="--figure"):
        run(SAMPLE, "--correlate", "--figure", "x.svg")


def test_that_several_files_are_pooled_is_said(run, tmp_path):
    other = tmp_path / "b.jsonl"
    items = [replace(each, judge="b" + each.judge) for each in read_judgments(SAMPLE)]
    write_judgments(other, items)
    text = run(SAMPLE, str(other), "--first-segment", "0", "--quiet")[1]
    assert "2 files are pooled" in text
