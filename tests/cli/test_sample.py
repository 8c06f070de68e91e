"""``grammeter sample``, from files to items."""

from __future__ import annotations

import json
from functools import partial

import pytest

from grammeter.cli.main import main
from grammeter.formats import read_items
from grammeter.resources import sample_corpus

FOLDER = sample_corpus()
CORPUS = ("-s", str(FOLDER / "source.txt"), "--hyps", *map(str, sorted(FOLDER.glob("systems/*"))))


@pytest.fixture
def run(program):
    return partial(program, "sample", *CORPUS)


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_items_on_standard_output(run):
    code, out, err = run("-n", 20, "--seed", 3)
    assert code == 0
    items = lines(out)
    assert len(items) == 20
    assert all(1 <= len(item["systems"]) <= 5 for item in items)
    assert all(item["judges"] == [] for item in items)
    assert "20 items of" in err


def test_quiet(run):
    assert run("-n", 2, "--quiet")[2] == ""


def test_outputs_shown_are_distinct(run):
    texts = {p.stem: p.read_text("utf-8").splitlines() for p in (FOLDER / "systems").iterdir()}
    for item in lines(run("-n", 60, "--per-item", 3)[1]):
        shown = [texts[name][item["segment"] - 1] for name in item["systems"]]
        assert len(set(shown)) == len(shown) == min(3, item["distinct"])
        for name, group in zip(item["systems"], item["groups"], strict=True):
            assert name in group
            assert len({texts[other][item["segment"] - 1] for other in group}) == 1


def test_same_seed_same_bytes(run, tmp_path):
    options = ("-n", 30, "--judges", 3, "--overlap", 6, "--repeats", 2)
    written = []
    for number, seed in enumerate((7, 7, 8)):
        path = tmp_path / f"{number}.jsonl"
        code, out, _ = run(*options, "--seed", seed, "-o", path)
        assert (code, out) == (0, "")
        written.append(path.read_bytes())
    assert written[0] == written[1] != written[2]
    assert len(read_items(tmp_path / "0.jsonl")) == 30 + 3 * 2


def test_judges_by_number_and_by_name(run):
    for judges, names in (
        (["3"], ["judge01", "judge02", "judge03"]),
        (["ann", "bob"], ["ann", "bob"]),
        (["7", "8"], ["7", "8"]),
    ):
        items = lines(run("-n", 12, "--judges", *judges, "--overlap", 12)[1])
        assert all(item["judges"] == names for item in items)


def test_the_plan_does_not_change_the_items(run):
    plain, planned = (
        lines(run("-n", 12, *more)[1]) for more in ((), ("--judges", "2", "--overlap", "3"))
    )
    assert [item["systems"] for item in plain] == [item["systems"] for item in planned]


def test_probabilities(run, tmp_path):
    code, out, _ = run("-n", 5, "--probabilities", tmp_path / "p.tsv")
    assert code == 0
    assert len(lines(out)) == 5
    rows = [line.split("\t") for line in (tmp_path / "p.tsv").read_text().splitlines()]
    assert rows[0] == ["segment", "multiplicities", "expected_systems", "value", "probability"]
    assert len(rows) == 65
    assert sum(float(row[4]) for row in rows[1:]) == pytest.approx(1)
    by_segment = {int(row[0]): float(row[4]) for row in rows[1:]}
    assert all(item["probability"] == by_segment[item["segment"]] for item in lines(out))


def test_probabilities_instead_of_items(run, tmp_path):
    assert run("-n", 5, "--probabilities", "-")[1].startswith("segment\tmultiplicities")
    both = run("-n", 5, "--probabilities", "-", "-o", tmp_path / "items.jsonl")
    assert both[1].startswith("segment\tmultiplicities")
    assert len(read_items(tmp_path / "items.jsonl")) == 5


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "s.json"
    options = ("-r", str(FOLDER / "ref0.txt"), "-m", "gleu(iterations=1)", "bleu", "--quiet")
    assert main(["score", *CORPUS, *options, "-o", str(path)]) == 0
    return path


def test_selectors(run, scores):
    chosen = {}
    for select, more in {
        "paper": (),
        "uniform": (),
        "diversity": (),
        "spread": ("--scores", scores, "--metric", "gleu(iterations=1)"),
    }.items():
        code, out, _ = run("-n", 40, "--distinct", "--select", select, *more)
        assert code == 0
        items = lines(out)
        assert len({item["segment"] for item in items}) == 40
        assert f"|select:{select}|" in "|" + items[0]["signature"].partition("|")[2]
        chosen[select] = [item["segment"] for item in items]
    assert len({tuple(segments) for segments in chosen.values()}) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        ("-n", "0"),
        ("-n", "65", "--distinct"),
        ("-n", "5", "--per-item", "1"),
        ("-n", "5", "--seed", "-1"),
        ("-n", "5", "--select", "spread"),
        ("-n", "5", "--overlap", "3"),
        ("-n", "5", "--judges", "0"),
        ("-n", "5", "--judges", "x", "x"),
        ("-n", "5", "--judges", "2", "--overlap", "6"),
        ("-n", "5", "--judges", "2", "--repeats", "2"),
    ],
)
def test_wrong_usage(run, wrong):
    code, out, err = run(*wrong)
    assert (code, out) == (2, "")
    assert err.startswith("grammeter: ")


def test_several_metrics_need_a_name(run, scores):
    code, _, err = run("-n", 5, "--select", "spread", "--scores", scores)
    assert code == 2
    assert "2 metrics" in err


def test_no_scores_no_file(run, tmp_path):
    code, _, err = run("-n", 5, "--select", "spread", "--scores", tmp_path / "nowhere.json")
    assert code == 3
    assert "nowhere.json" in err


def test_no_systems(capsys):
    assert main(["sample", *CORPUS[:2], "-n", "3"]) == 2
    assert "0 systems" in capsys.readouterr().err
