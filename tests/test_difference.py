"""Sentences sorted by the difference of two systems, in the shell and in Python."""

import json

import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.resources import sample_corpus


@pytest.fixture(scope="module")
def scores():
    folder = sample_corpus()
    systems = [folder / "systems" / f"{name}.txt" for name in ("Careful", "Eager")]
    return gm.score(
        gm.read_corpus(references=[folder / "gold.m2"], systems=systems), ["m2", "gleu"]
    )


@pytest.fixture
def stored(scores, tmp_path):
    gm.write_scores(scores, tmp_path / "s.json")
    return str(tmp_path / "s.json")


def by_hand(scores, name, first="Careful", second="Eager"):
    segments = scores[name].segments
    return (segments[first].values - segments[second].values).tolist()


def test_sentences_are_sorted_by_the_first_metric_the_others_break_ties(scores):
    found = gm.difference(scores, "Careful", "Eager", show=0)
    m2, gleu = (by_hand(scores, name) for name in ("m2", "gleu"))
    keys = [(-m2[n - 1], -gleu[n - 1], n) for n in found.order]
    assert keys == sorted(keys)
    assert sorted(found.order) == list(range(1, 65))
    turned = gm.difference(scores, "Eager", "Careful", metrics=["gleu"], show=1)
    assert turned.order == (1 + gleu.index(min(gleu)), 1 + gleu.index(max(gleu)))


def test_the_shell_prints_what_python_gives(scores, stored, capsys):
    options = ["-m", "gleu", "--show", "2", "--format"]
    assert main(["compare", stored, "--difference", "Careful", "Eager", *options, "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    found = gm.difference(scores, "Careful", "Eager", metrics=["gleu"], show=2)
    assert data == found.to_json()
    values = by_hand(scores, "gleu")
    assert [row["metrics"]["gleu"]["difference"] for row in data["segments"]] == [
        values[number - 1] for number in found.order
    ]
    better = sum(value > 0 for value in values)
    assert f"Careful is better in {better}, Eager in" in data["notes"][0]
    assert main(["compare", stored, "--difference", "Careful", "Eager", *options, "tsv"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split("\t") == ["segment", "gleu first", "gleu second", "gleu difference"]
    assert [int(row.split("\t")[0]) for row in rows] == list(found.order)


@pytest.mark.parametrize(
    "options",
    [
        ["--show", "3"],
        ["--difference", "Careful", "Eager", "--seed", "2"],
        ["--difference", "Careful", "Eager", "--correction", "holm"],
        ["--difference", "Careful", "Careful"],
        ["--difference", "Careful", "Nobody"],
        ["--difference", "Careful", "Eager", "--show", "-1"],
    ],
)
def test_what_has_no_effect_or_makes_no_sense_is_refused(stored, options, capsys):
    assert main(["compare", stored, *options]) == 2
    assert capsys.readouterr().out == ""


def test_scores_without_sentences_are_refused(scores):
    bare = gm.ScoreTable.from_json(scores.to_json())
    with pytest.raises(gm.DataError, match="no scores of sentences"):
        gm.difference(bare, "Careful", "Eager")
