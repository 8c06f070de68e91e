"""No door passes over a metric that lacks what it needs: gold edits, or references."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import grammeter as gm
from grammeter.adapters import Evaluate
from grammeter.cli.main import main
from grammeter.metrics import BUILT_IN, metric

NEEDS = {name: metric(name).needs for name in BUILT_IN}
ALONE = (["I likes it ."], ["I like it ."])
TEXTS = (*ALONE, ["I like it ."])
ROW = dict(zip(("source", "hypothesis", "ref"), (texts[0] for texts in TEXTS), strict=True))
REFUSED = (2, 4, 5)
"""Wrong usage; a model or an endpoint that is not here."""


def score(name: str, *texts: list[str]) -> object:
    references = [texts[2]] if len(texts) > 2 else []
    corpus = gm.Corpus(sources=texts[0], references=references, systems={"A": texts[1]})
    return gm.score(corpus, [name])


def evaluate(name: str, *texts: list[str]) -> object:
    columns = dict(zip(("sources", "predictions", "references"), texts, strict=False))
    return Evaluate(name).compute(**columns)


DOORS = {
    "score": score,
    "Scorer": lambda name, *texts: gm.Scorer([name])(*texts),
    "Scorer.corpus": lambda name, *texts: gm.Scorer([name]).corpus(*texts),
    "Evaluate": evaluate,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", [name for name, needs in NEEDS.items() if needs == "gold"])
def test_texts_are_no_gold_edits(door, name):
    with pytest.raises(gm.UsageError, match="needs gold edits"):
        DOORS[door](name, *TEXTS)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", [name for name, needs in NEEDS.items() if needs != "nothing"])
def test_nothing_is_no_reference(door, name):
    with pytest.raises((gm.UsageError, gm.MissingResourceError)):
        DOORS[door](name, *ALONE)


@pytest.mark.parametrize("name", NEEDS)
def test_batch_fills_the_column_of_each_metric_or_refuses(name, tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(ROW) + "\n")
    out = tmp_path / "out"
    try:
        code = main(["batch", str(rows), "-m", name, "--reference", "ref", "-o", str(out)])
    except SystemExit as stop:
        code = int(stop.code or 0)
    if code in REFUSED:
        assert not (out / "rows.jsonl").exists()
        return
    assert code == 0, capsys.readouterr().err
    (row,) = map(json.loads, Path(out / "rows.jsonl").read_text().splitlines())
    assert row[name] is not None


def test_edits_that_stand_alone_are_said_quiet_or_not(tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(ROW) + "\n")
    out = str(tmp_path / "out")
    assert main(["batch", str(rows), "-m", "m2", "-o", out, "--quiet", "--format", "json"]) == 0
    printed = capsys.readouterr()
    (note,) = json.loads(printed.out)["notes"]
    assert "m2 needs gold edits" in note
    assert note in printed.err
