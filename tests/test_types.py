"""Scores by error type: the table, the JSON, and metrics that know no types."""

from __future__ import annotations

import json

import pytest

from fake_annotator import FakeAnnotator
from grammeter.cli.main import main
from grammeter.core.table import ScoreTable
from grammeter.metrics import errant

GOLD = """S he go home
A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0

S a cat sleep
A 2 3|||R:VERB:SVA|||sleeps|||REQUIRED|||-NONE-|||0

"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(errant, "annotator", lambda *_, **__: FakeAnnotator())
    (tmp_path / "gold.m2").write_text(GOLD)
    (tmp_path / "X.txt").write_text("he goes home\nthe cat sleep\n")
    return tmp_path


def call(files, *more):
    return main(
        ["score", "-r", str(files / "gold.m2"), "--hyps", str(files / "X.txt"), "--types", *more]
    )


def test_table_below_the_scores(files, capsys):
    assert call(files, "-m", "errant") == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines if line.startswith("X") and "errant" in line]
    assert rows == [
        ["X", "errant", "R:OTHER", "0", "1", "0", "0.0000", "1.0000", "0.0000"],
        ["X", "errant", "R:VERB:SVA", "1", "0", "1", "1.0000", "0.5000", "0.8333"],
    ]


def test_json_holds_them_and_reads_back(files, capsys):
    assert call(files, "-m", "errant", "m2", "--format", "json") == 0
    data = json.loads(capsys.readouterr().out)
    assert "types" not in data["metrics"]["m2"]
    kind = data["metrics"]["errant"]["types"]["X"]["R:VERB:SVA"]
    assert kind["parts"] == {"precision": 1.0, "recall": 0.5, "tp": 1, "fp": 0, "fn": 1}
    assert ScoreTable.from_json(data)["errant"].types["X"]["R:VERB:SVA"].value == kind["value"]


def test_refused_where_no_metric_knows_types(files, capsys):
    assert call(files, "-m", "m2") == 2
    assert "no error types" in capsys.readouterr().err
