"""The verbs in Python: explanations, stored scores, tables of sentences, the documented loop."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import grammeter as gm
from grammeter.core import UnknownNameError
from grammeter.formats import object_text, write_object


@pytest.fixture
def corpus() -> gm.Corpus:
    return gm.Corpus(
        sources=["he go home .", "all fine ."],
        references=[["he goes home .", "all fine ."]],
        gold=[{0: (gm.Edit(1, 2, "goes", "SVA"),)}, {0: ()}],
        systems={"A": ["he goes home .", "all fine ."], "B": ["he go home .", "All fine ."]},
    )


@pytest.fixture
def table(corpus: gm.Corpus) -> gm.ScoreTable:
    return gm.score(corpus, ["m2", "gleu", "m2(beta=1)"])


def test_the_loop_of_the_front_page(tmp_path: Path) -> None:
    sample = gm.sample_corpus()
    corpus = gm.read_corpus(
        source=sample / "source.txt",
        references=[sample / "gold.m2"],
        systems=sorted(sample.glob("systems/*.txt")),
    )
    table = gm.score(corpus, ["m2", "gleu", gm.metric("m2(beta=1.0)")])
    assert table["m2"]["Echo"].value == 0.0
    assert 0 < table["m2"]["Careful"].value < 1
    assert str(table["gleu"]["Careful"].signature).startswith("gleu|order:4|")
    gm.write_scores(table, tmp_path / "scores.json")
    again = gm.read_scores(tmp_path / "scores.json")
    compared = gm.compare(again, baseline="Echo", resamples=50)
    assert compared["m2"]["Careful"].difference == table["m2"]["Careful"].value
    explained = gm.explain(again, system="Careful", line=3)
    assert list(explained.metrics) == list(table)


@pytest.mark.parametrize("name", ["scores.json", "scores.json.gz"])
def test_scores_are_stored_with_all_they_need(
    table: gm.ScoreTable, tmp_path: Path, name: str
) -> None:
    gm.write_scores(table, tmp_path / name)
    read = gm.read_scores(tmp_path / name)
    assert read.to_full_dict() == table.to_full_dict()
    data = (tmp_path / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith("gz") else data).decode("utf-8")
    assert text.endswith("}\n")
    assert json.loads(text)["metrics"] == json.loads(json.dumps(table.to_dict()["metrics"]))


def test_explanations_from_tables_files_and_corpora_agree(
    table: gm.ScoreTable, corpus: gm.Corpus, tmp_path: Path
) -> None:
    gm.write_scores(table, tmp_path / "s.json")
    stored = gm.read_scores(tmp_path / "s.json")
    first = gm.explain(table, system="A", line=1)
    assert gm.explain(stored, system="A", line=1) == first
    assert gm.explain(corpus, system="A", line=1, metrics=list(table)).to_dict() == first.to_dict()
    judged = first.metrics["m2"].edits
    assert [(j.edit.start, j.original, j.verdict) for j in judged] == [(1, "go", "matched")]


def test_a_table_explains_metrics_it_does_not_hold(table: gm.ScoreTable) -> None:
    explained = gm.explain(table, system="B", line=1, metrics=["green", gm.metric("sentm2")])
    assert list(explained.metrics) == ["green", "sentm2"]
    assert explained.metrics["sentm2"].value == 0.0


def test_explanation_json(corpus: gm.Corpus) -> None:
    data = gm.explain(corpus, system="B", line=1, metrics=["m2"]).to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["kind"] == "explanation"
    assert (data["system"], data["line"], data["references"]) == ("B", 1, ["he goes home ."])
    (edit,) = data["metrics"]["m2"]["edits"]
    assert edit == {
        "start": 1,
        "end": 2,
        "original": "go",
        "corrections": ["goes"],
        "type": "SVA",
        "verdict": "missed",
    }


def test_an_explanation_without_a_score_has_a_reason() -> None:
    from grammeter.core import Explanation, SentenceExplanation

    metrics = {"x": Explanation(float("nan")), "y": Explanation(float("nan"), reason="no text")}
    data = SentenceExplanation("A", 1, "a", "b", (None,), metrics).to_dict()
    assert [data["metrics"][name]["value"] for name in "xy"] == [None, None]
    assert [data["metrics"][name]["reason"] for name in "xy"] == ["undefined", "no text"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"line": 0}, r"there is no line 0\n  Lines count from 1 to 2"),
        ({"line": 3}, "there is no line 3"),
        ({"line": -1}, "there is no line -1"),
        ({"system": "C"}, "unknown system 'C'"),
        ({"metrics": ["gleo"]}, "Did you mean 'gleu'"),
        ({"metrics": []}, "no metric to explain"),
        ({"metrics": "m2"}, "metrics is one text, 'm2'"),
    ],
)
def test_what_cannot_be_explained(
    table: gm.ScoreTable, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(gm.UsageError, match=message):
        gm.explain(table, **({"system": "A", "line": 1} | options))


def test_a_corpus_needs_metrics_and_what_they_need() -> None:
    bare = gm.Corpus(sources=["a"], references=[["a"]], systems={"A": ["a"]})
    with pytest.raises(gm.UsageError, match="no metric to explain"):
        gm.explain(bare, system="A", line=1)
    with pytest.raises(gm.UsageError, match="m2 needs gold edits"):
        gm.explain(bare, system="A", line=1, metrics=["m2"])


def test_scores_without_sentences_cannot_be_explained(table: gm.ScoreTable) -> None:
    public = gm.ScoreTable.from_dict(json.loads(json.dumps(table.to_dict())))
    with pytest.raises(gm.DataError, match="do not hold the sentences"):
        gm.explain(public, system="A", line=1)
    full = json.loads(json.dumps(table.to_full_dict()))
    with pytest.raises(gm.DataError, match="damaged scores"):
        gm.ScoreTable.from_dict(full | {"corpus": {"sources": 3}})
    damaged = gm.ScoreTable.from_dict(full | {"corpus": full["corpus"] | {"gold": 3}})
    with pytest.raises(gm.DataError, match="damaged corpus"):
        gm.explain(damaged, system="A", line=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"x\.json:1: not JSON"),
        ("{\n'a'", r"x\.json:2: not JSON"),
        ("[]", r"x\.json: no JSON object"),
        ("3", r"x\.json: no JSON object"),
        ("{}", r"x\.json: these are no scores"),
        ('{"kind": "ranking"}', "'ranking'"),
        ('{"kind": "scores"}', r"x\.json: damaged scores"),
        ("[" * 100_000, r"x\.json: not JSON"),
        ("9" * 5000, r"x\.json: not JSON"),
    ],
    ids=range(9),
)
def test_files_that_are_no_scores(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(gm.DataError, match=message):
        gm.read_scores(tmp_path / "x.json")


def test_json_never_holds_a_bare_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_object({"value": float("nan")}, tmp_path / "x.json")
    assert object_text({"é": 1 / 3}) == '{"é": 0.3333333333333333}'


def test_numbers_are_not_rounded(table: gm.ScoreTable) -> None:
    data = json.loads(object_text(table.to_dict()))
    assert data["metrics"]["gleu"]["systems"]["A"]["value"] == table["gleu"]["A"].value


def test_a_corpus_in_one_table(tmp_path: Path) -> None:
    rows = [
        {"source": "a b", "references": ["a c", None], "systems": {"A": "a c"}},
        {"source": "d", "references": [None, "e"], "systems": {"A": "d"}},
    ]
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    corpus = gm.read_corpus(corpus=path)
    assert corpus.references == (("a c", None), (None, "e"))
    assert list(corpus.systems) == ["A"]
    path.write_text('{"source": "a", "references": [null]}\n', encoding="utf-8")
    with pytest.raises(gm.DataError, match="no reference"):
        gm.read_corpus(corpus=path, unjudged="error")


def test_names_that_do_not_exist_are_key_errors_too(table: gm.ScoreTable) -> None:
    with pytest.raises(UnknownNameError):
        table["imeasure"]
    assert "imeasure" not in table
