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
    result = gm.compare(scores, difference=["Careful", "Eager"], show=0)
    m2, gleu = (by_hand(scores, name) for name in ("m2", "gleu"))
    keys = [(-m2[at], -gleu[at], at) for at in result.order]
    assert keys == sorted(keys)
    assert sorted(result.order) == list(range(64))
    turned = gm.compare(scores, difference=["Eager", "Careful"], metrics=["gleu"], show=1)
    assert turned.order == (gleu.index(min(gleu)), gleu.index(max(gleu)))


def test_the_shell_prints_what_python_gives(scores, stored, capsys):
    options = ["-m", "gleu", "--show", "2", "--format"]
    assert main(["compare", stored, "--difference", "Careful", "Eager", *options, "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    result = gm.compare(scores, difference=["Careful", "Eager"], metrics=["gleu"], show=2)
    assert data == result.to_dict()
    values = by_hand(scores, "gleu")
    assert [row["metrics"]["gleu"]["difference"] for row in data["segments"]] == [
        values[at] for at in result.order
    ]
    better = sum(value > 0 for value in values)
    assert f"Careful is better in {better}, Eager in" in data["notes"][0]
    assert main(["compare", stored, "--difference", "Careful", "Eager", *options, "tsv"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split("\t") == ["segment", "gleu first", "gleu second", "gleu difference"]
    assert [int(row.split("\t")[0]) for row in rows] == [at + 1 for at in result.order]


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
    bare = gm.ScoreTable.from_dict(scores.to_dict())
    with pytest.raises(gm.DataError, match="no scores of sentences"):
        gm.compare(bare, difference=["Careful", "Eager"])


def test_error_types_are_sorted_by_the_difference(tmp_path, capsys):
    folder, name = sample_corpus(), "errant(pipeline=neutral)"
    systems = [folder / "systems" / f"{system}.txt" for system in ("Careful", "Eager")]
    corpus = gm.read_corpus(references=[folder / "gold.m2"], systems=systems)
    table = gm.score(corpus, [name], types=True)
    gm.write_scores(table, tmp_path / "s.json")
    words = ["compare", str(tmp_path / "s.json"), "--difference", "Careful", "Eager", "--types"]
    assert main([*words, "--format", "json", "--show", "0"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data == gm.compare(table, difference=["Careful", "Eager"], types=True, show=0).to_dict()
    of = table[name].types
    rows = {row["type"]: row["metrics"][name]["difference"] for row in data["types"]}
    assert rows
    for kind, difference in rows.items():
        if difference is not None:
            assert difference == of["Careful"][kind].value - of["Eager"][kind].value
    known = [value for value in rows.values() if value is not None]
    assert known == sorted(known, reverse=True)
    assert main(words) == 0
    assert capsys.readouterr().out.split()[0] == "type"


def test_python_reads_scores_of_other_programs_as_the_shell_does(tmp_path, capsys):
    path = tmp_path / "x.tsv"
    rows = [f"x\t{name}\t{n}\t{n * (name == 'a')}\n" for name in "ab" for n in (1, 2, 3)]
    path.write_text("metric\tsystem\tsegment\tvalue\n" + "".join(rows))
    assert main(["compare", str(path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == gm.compare(gm.read_scores(path)).to_dict()
    assert gm.compare(gm.read_scores(path), difference=["a", "b"]).order == (2, 1, 0)
