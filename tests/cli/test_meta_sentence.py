"""The question ``meta sentence``, called as the main program calls it."""

import json
from functools import partial

import pytest

from grammeter.core import DataError, Ranking, UnknownNameError
from grammeter.formats import Corpus, read_judgments, read_score_file, write_judgments
from grammeter.meta import correlate_sentences
from grammeter.meta.sentence_design import SentenceDesign
from grammeter.verbs import score

SCORES = {
    "good": {"a": [3, 3, 3], "b": [2, 2, 4], "c": [1, 1, 1]},
    "flat": dict.fromkeys("abc", [1] * 3),
}


@pytest.fixture
def scores(tmp_path):
    lines = ["metric\tsystem\tsegment\tvalue"]
    for metric, systems in SCORES.items():
        for system, values in systems.items():
            lines += [f"{metric}\t{system}\t{n}\t{v}" for n, v in enumerate(values, start=1)]
    path = tmp_path / "scores.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def judgments(tmp_path):
    rankings = [
        Ranking(judge=judge, segment=n, groups=(("a",), ("b",), ("c",)), ranks=(1, 2, 2 + n % 2))
        for n in (1, 2, 3)
        for judge in ("x", "y")
    ]
    path = tmp_path / "judgments.jsonl"
    write_judgments(path, rankings)
    return str(path)


@pytest.fixture
def run(called):
    return partial(called, "meta sentence")


def test_the_defaults_are_those_of_the_library(parse):
    args, design = parse("meta sentence", "s", "j"), SentenceDesign()
    for name in vars(design):
        dest = {"pairs": "extraction", "bootstrap": "resamples"}.get(name, name)
        assert getattr(args, dest) == getattr(design, name), name


def test_json_equals_the_library_and_the_file(run, scores, judgments, tmp_path):
    out = tmp_path / "meta.json"
    code, text, err = run(scores, judgments, "--format", "json", "-o", str(out))
    read = read_judgments(judgments)
    expected = correlate_sentences(read_score_file(scores), read).to_dict()
    assert (code, err) == (0, "")
    assert json.loads(text) == expected
    assert out.read_text("utf-8") == text


def test_every_option_reaches_the_library(run, scores, judgments):
    chosen = ["--pairs", "unexpanded", "--ties", "h-ties", "--missing", "drop", "--unit", "pair"]
    chosen += ["--bootstrap", "20", "--seed", "4", "--confidence", "0.9", "--permutations", "9"]
    chosen += ["--drop", "c", "-m", "good", "--judge", "x", "--by-judge", "--format", "json"]
    _, text, _ = run(scores, judgments, *chosen)
    expected = correlate_sentences(
        read_score_file(scores),
        read_judgments(judgments),
        design=SentenceDesign(
            pairs="unexpanded",
            ties="h-ties",
            missing="drop",
            unit="pair",
            resamples=20,
            seed=4,
            confidence=0.9,
            permutations=9,
        ),
        drop=["c"],
        metrics=["good"],
        judges=["x"],
        per_judge=True,
    ).to_dict()
    assert json.loads(text) == expected
    assert expected["systems"] == ["a", "b"]


def test_the_table_shows_counts_intervals_and_signatures(run, scores, judgments):
    _, text, _ = run(scores, judgments, "--bootstrap", "50")
    lines = text.splitlines()
    assert lines[0].split() == [
        "metric",
        "tau",
        "interval",
        "accuracy",
        "interval",
        "pairs",
        "concordant",
        "discordant",
        "metric",
        "ties",
        "human",
        "ties",
        "both",
        "tie",
        "metric's",
        "ties",
    ]
    assert "33.33%" not in lines[2]
    assert lines[3].split()[-1] == "100.00%"
    assert "interval: 95%, bootstrap by sentence" in lines
    assert any(line.startswith("good: good|scores:foreign|") for line in lines)


def test_without_a_bootstrap_there_is_no_interval(run, scores, judgments):
    _, text, _ = run(scores, judgments, "--bootstrap", "0")
    assert "interval" not in text.splitlines()[0]


def test_judges_and_tests_have_tables_of_their_own(run, scores, judgments):
    _, text, _ = run(scores, judgments, "--by-judge", "--permutations", "9", "--bootstrap", "9")
    assert "metric  judge  pairs" in text
    assert "p (tau)" in text
    assert "answers swapped by sentence" in text


def test_tsv_has_a_row_for_each_judge_and_metric(run, scores, judgments):
    _, text, _ = run(scores, judgments, "--by-judge", "--format", "tsv", "--bootstrap", "9")
    rows = [line.split("\t") for line in text.splitlines()]
    assert len({len(row) for row in rows}) == 1
    assert [row[:2] for row in rows[1:]] == [[j, m] for j in ("all", "x", "y") for m in SCORES]
    assert dict(zip(rows[0], rows[1], strict=True))["n"] == "18"


@pytest.mark.parametrize("form", ["latex", "markdown"])
def test_other_forms(run, scores, judgments, form):
    code, text, _ = run(
        scores, judgments, "--format", form, "--bootstrap", "9", "--permutations", "9"
    )
    assert code == 0
    assert "good" in text


def test_reasons_are_told(run, scores, judgments, tmp_path):
    text = (tmp_path / "scores.tsv").read_text("utf-8").replace("good\tb\t2\t2", "good\tb\t2\tNone")
    (tmp_path / "scores.tsv").write_text(text, encoding="utf-8")
    _, text, _ = run(scores, judgments)
    assert "good: no score of b for sentence 2 (the file has no score); 4 of 18 pairs" in text


def test_strangers_are_refused_by_name(run, scores, judgments, tmp_path):
    more = tmp_path / "more.tsv"
    more.write_text((tmp_path / "scores.tsv").read_text("utf-8") + "good\tZ\t1\t1\n", "utf-8")
    with pytest.raises(DataError, match="Z"):
        run(str(more), judgments)
    assert run(str(more), judgments, "--drop", "Z")[0] == 0
    with pytest.raises(UnknownNameError, match="nobody"):
        run(scores, judgments, "--judge", "nobody")


XML = """<appraise-results>
<error-correction-ranking-result id="r" source-language="e" target-language="e">
<ranking-item id="1" src-id="{}" doc-id="d" user="u" duration="0:00:01.000000">
<translation system="a" rank="1"/><translation system="b c" rank="2"/></ranking-item>
</error-correction-ranking-result></appraise-results>"""


def test_an_assumed_numbering_is_said(run, scores, tmp_path):
    path = tmp_path / "judgments.xml"
    path.write_text(XML.format(1), encoding="utf-8")
    assert "taken to count sentences from 0" in run(scores, str(path), "--quiet")[1]
    path.write_text(XML.format(3), encoding="utf-8")  # of three sentences the last, from 1
    assert "meta-first-segment:1 (found)" in run(scores, str(path))[1]
    path.write_text(XML.format(1), encoding="utf-8")
    _, text, err = run(scores, str(path), "--first-segment", "1", "--format", "json")
    assert "taken to count" not in err
    assert "meta-first-segment:1 (stated)" in json.loads(text)["metrics"]["good"]["signature"]


def test_the_numbering_is_found_in_the_outputs_that_were_scored(run, tmp_path):
    outputs = {"a": ["x y", "p", "u"], "b": ["x", "q", "u"], "c": ["z", "q", "v"]}
    corpus = Corpus(sources=["x", "p", "u"], references=[["x y", "p", "u"]], systems=outputs)
    stored = tmp_path / "scores.json"
    stored.write_text(json.dumps(score(corpus, ["gleu(iterations=1)"]).to_full_dict()), "utf-8")
    path = tmp_path / "judgments.xml"
    path.write_text(XML.format(2), encoding="utf-8")  # b and c agree in the second sentence alone
    _, text, err = run(str(stored), str(path), "--format", "json")
    metric = next(iter(json.loads(text)["metrics"].values()))
    assert "meta-first-segment:1 (found)" in metric["signature"]
    assert "taken to count" not in err
