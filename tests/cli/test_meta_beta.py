"""``meta beta``, called as from a shell."""

import json

import pytest

from grammeter.core import DataError, UnknownNameError, UsageError

HEADER = "metric\tsystem\tvalue\tprecision\trecall\n"
ROWS = "m2\tA\t0.5\t0.6\t0.4\nm2\tB\t0.4\t0.7\t0.2\nm2\tC\t0.3\t0.2\t0.5\nm2\tD\t0.3\t0.1\t0.3\n"
HUMAN = "system\tvalue\nA\t0.9\nB\t0.8\nC\t0.2\nD\t0.1\n"


@pytest.fixture
def run(called):
    return lambda *arguments: called("meta beta", *arguments)[:2]


def test_json(run, put):
    code, text = run(put("s.tsv", HEADER + ROWS), put("h.tsv", HUMAN), "--format", "json")
    data = json.loads(text)
    assert code == 0
    assert data["kind"] == "meta-beta"
    assert [data["betas"][at] for at in (0, 6, -1)] == [0.01, 0.07, 1]
    assert len(data["pearson"]) == len(data["spearman"]) == 100
    assert data["human"] == "h"


def test_table(run, put):
    scores, human = put("s.tsv", HEADER + ROWS), put("h.tsv", HUMAN)
    _, text = run(scores, human, "--beta", "0.25,0.5,1")
    assert [line.split()[0] for line in text.splitlines()[2:5]] == ["0.25", "0.5", "1"]
    assert "best pearson: " in text
    _, text = run(scores, human, "--beta", "0.5", "--drop", "D", "--format", "tsv")
    assert text.splitlines()[0] == "beta\tpearson\tspearman"


def test_undefined_everywhere(run, put):
    flat = HEADER + "".join(f"m2\t{s}\t1\t0.5\t0.5\n" for s in "ABCD")
    code, text = run(put("s.tsv", flat), put("h.tsv", HUMAN), "--beta", "1")
    assert code == 0
    assert "NaN" in text


def test_which_metric(run, put):
    human = put("h.tsv", HUMAN)
    two = put("s.tsv", HEADER + ROWS + ROWS.replace("m2", "errant"))
    with pytest.raises(UsageError, match=r"several metrics .*: m2, errant"):
        run(two, human)
    assert json.loads(run(two, human, "-m", "errant", "--format", "json")[1])["metric"] == "errant"
    with pytest.raises(UnknownNameError):
        run(two, human, "-m", "gleu")
    bare = put("b.tsv", "metric\tsystem\tvalue\nx\tA\t1\n")
    with pytest.raises(DataError, match="no metric of this file has precision and recall"):
        run(bare, human)


def test_figure(run, put, tmp_path):
    path = tmp_path / "x.svg"
    scores, human = put("s.tsv", HEADER + ROWS), put("h.tsv", HUMAN)
    plain = run(scores, human)
    assert run(scores, human, "--figure", str(path)) == plain
    text = path.read_text("utf-8")
    assert "<title>Correlation by beta</title>" in text
    assert text.count(">best: ") == 2
