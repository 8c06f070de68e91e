"""What ``judge -o`` writes goes into every verb that takes judgments: scores and replies, too."""

from __future__ import annotations

import json

import pytest

from grammeter.cli.main import main
from grammeter.resources import sample_corpus

VERBS = [
    ["rank"],
    ["rank", "--systems", "Careful", "Eager", "Echo"],
    ["rank", "--drop", "Speller"],
    ["rank", "--head-to-head"],
    ["agree"],
    ["agree", "--correlate"],
]


@pytest.fixture
def files(tmp_path):
    """The sample's judgments twice: of people, and of a model that gave scores and replies."""
    people = sample_corpus() / "judgments.jsonl"
    model = tmp_path / "model.jsonl"
    lines = []
    for line in people.read_text("utf-8").splitlines():
        data = json.loads(line)
        scores = [6.0 - rank for rank in data["ranks"]] or [None] * len(data["groups"])
        replies = [{"text": "A: 3", "scores": {"A": 3}, "attempt": 1}]
        lines.append(json.dumps({**data, "scores": scores, "replies": replies}))
    model.write_text("\n".join(lines), "utf-8")
    return str(people), str(model)


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_scores_change_no_verb(files, words, capsys):
    verb, *options = words
    printed = []
    for path in files:
        assert main([verb, path, *options, "--format", "json"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_agree_takes_people_and_a_model_together(files, capsys):
    assert main(["agree", *files, "--format", "json"]) == 0
    agreement = json.loads(capsys.readouterr().out)
    assert agreement["inter"]["n"] > 0
