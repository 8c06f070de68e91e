"""The question ``meta window``, called as the main program calls it."""

import json
from functools import partial

import pytest

from grammeter.core import DataError, Ranked, RankedSystem, Ranking, Signature, UsageError
from grammeter.formats import read_score_file, write_judgments
from grammeter.meta.sweeps import SIZE, correlate_windows
from grammeter.verbs import rank

METRIC = {"a": 0.9, "b": 0.5, "c": 0.7, "d": 0.1, "e": 0.3}
HUMAN = {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.tsv"
    lines = [f"m\t{system}\t{value}\n" for system, value in METRIC.items()]
    path.write_text("metric\tsystem\tvalue\n" + "".join(lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def human(tmp_path):
    path = tmp_path / "human.tsv"
    lines = [f"{system}\t{value}\n" for system, value in HUMAN.items()]
    path.write_text("system\tvalue\n" + "".join(lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def rankings():
    groups = tuple((name,) for name in HUMAN)
    shown = [(1, 2, 3, 4, 5), (2, 1, 3, 4, 5), (1, 2, 4, 3, 5), (1, 3, 2, 5, 4)] * 3
    return [
        Ranking(judge="x", segment=n, groups=groups, ranks=ranks)
        for n, ranks in enumerate(shown, start=1)
    ]


@pytest.fixture
def run(called):
    return partial(called, "meta window")


def test_json_equals_the_library_and_the_file(parse, run, scores, human, tmp_path):
    out = tmp_path / "windows.json"
    code, text, _ = run(scores, human, "--format", "json", "-o", str(out))
    expected = correlate_windows(read_score_file(scores), HUMAN, human_name="human").to_dict()
    assert code == 0
    assert json.loads(text) == expected
    assert out.read_text("utf-8") == text
    assert parse("meta window", "s", "h").size == SIZE


def test_every_option_reaches_the_library(run, scores, human):
    chosen = ["--size", "3", "--confidence", "0.9", "--drop", "c", "-m", "m", "--format", "json"]
    _, text, _ = run(scores, human, *chosen)
    expected = correlate_windows(
        read_score_file(scores),
        HUMAN,
        size=3,
        confidence=0.9,
        drop=["c"],
        metrics=["m"],
        human_name="human",
    )
    assert json.loads(text) == expected.to_dict()


def test_a_ranking_brings_its_clusters(run, scores, rankings, tmp_path):
    ranked = rank(rankings)
    path = tmp_path / "ranking.json"
    path.write_text(json.dumps(ranked.to_dict()), encoding="utf-8")
    _, text, err = run(scores, str(path), "--format", "json")
    windows = json.loads(text)["windows"]
    assert windows[0]["clusters"] == [ranked[name].cluster for name in windows[0]["systems"]]
    judgments = tmp_path / "judgments.jsonl"
    write_judgments(judgments, rankings)
    _, again, _ = run(scores, str(judgments), "--by", "expected-wins", "--format", "json")
    assert [w["clusters"] for w in json.loads(again)["windows"]] == [w["clusters"] for w in windows]
    alike = sum(window["one_cluster"] for window in windows)
    assert (f"{alike} of 2 windows" in err) == bool(alike)


def test_the_table_and_the_long_one(run, scores, human, rankings, tmp_path):
    _, text, _ = run(scores, human)
    assert text.splitlines()[0].split() == [
        "ranks",
        "m",
        "pearson",
        "interval",
        "m",
        "spearman",
        "interval",
        "systems",
    ]
    assert "1-4" in text.splitlines()[2]
    judgments = tmp_path / "judgments.jsonl"
    write_judgments(judgments, rankings)
    _, text, _ = run(scores, str(judgments))
    assert "clusters" in text.splitlines()[0]
    _, text, _ = run(scores, human, "--format", "tsv")
    rows = [line.split("\t") for line in text.splitlines()]
    assert len(rows) == 3
    assert {len(row) for row in rows} == {10}


def test_reasons_are_told(run, scores, human):
    assert (
        "m: an interval needs 4 systems at least, here are 3"
        in run(scores, human, "--size", "3")[1]
    )


def test_bad_input(run, scores, human, tmp_path):
    with pytest.raises(UsageError):
        run(scores, human, "--size", "9")
    with pytest.raises(UsageError, match="--by"):
        run(scores, human, "--by", "trueskill")
    with pytest.raises(UsageError):
        run(scores)
    (tmp_path / "human.tsv").write_text("system\tvalue\na\t1\nb\t2\nzz\t3\n", encoding="utf-8")
    with pytest.raises(DataError, match="zz"):
        run(scores, human)


def test_figure(run, scores, human, tmp_path):
    path = tmp_path / "x.svg"
    plain = run(scores, human)
    assert run(scores, human, "--figure", str(path)) == plain
    text = path.read_text("utf-8")
    assert [text.count(shown) for shown in (">1-4<", ">2-5<", ">m<")] == [2, 2, 2]
    assert "shaded" not in text


def test_figure_shades_windows_of_one_cluster(run, scores, tmp_path):
    ranking, path = tmp_path / "ranking.json", tmp_path / "x.svg"
    ranges = {"a": (1, 1), "b": (2, 3), "c": (2, 3), "d": (4, 4), "e": (5, 5)}
    rows = tuple(
        RankedSystem(name, HUMAN[name], ranks, ranks[0] if ranks[0] < 3 else ranks[0] - 1)
        for name, ranks in ranges.items()
    )
    ranked = Ranked("expected-wins", Signature.of("expected-wins", {}), rows)
    ranking.write_text(json.dumps(ranked.to_dict()), encoding="utf-8")
    _, out, _ = run(scores, str(ranking), "--size", "2", "--figure", str(path))
    assert "apart in 1 of 4 windows" in out
    assert "shaded: one cluster" in path.read_text("utf-8")
