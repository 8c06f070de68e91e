"""Judgments of edits: JSON lines of campaigns, CSV, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import grammeter as gm
from grammeter.core import DataError, UsageError
from grammeter.formats import EditJudgments

LINE: dict[str, Any] = {
    "judge": "ann",
    "segment": 2,
    "item": "0",
    "shown": [["X", "Y"], ["Z"]],
    "edits": [
        [
            {"start": 0, "end": 1, "correction": "She", "verdict": "valid"},
            {"start": 3, "end": 3, "correction": "the", "verdict": None},
        ],
        [{"start": 2, "end": 3, "correction": "", "verdict": "invalid"}],
    ],
    "marked": [[1, 2]],
}
SOURCE = ["One .", "He see a cat ."]
OUTPUTS = {name: ["One .", "She see a the cat ."] for name in "XY"} | {
    "Z": ["One .", "He see cat ."]
}


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def read(path: Path, **options: Any) -> EditJudgments:
    judgments = gm.read_judgments(path, **options)
    assert isinstance(judgments, EditJudgments)
    return judgments


def test_an_item_is_read_as_it_stands(tmp_path: Path) -> None:
    judgments = read(path := written(tmp_path / "e.jsonl", LINE), systems=OUTPUTS)
    (item,) = judgments.checked(SOURCE, OUTPUTS)
    verdicts = [[(e.operation, e.verdict) for e in edits] for edits in item.edits]
    assert verdicts == [[("R", True), ("M", None)], [("U", False)]]
    assert (item.shown, item.marked, item.segment) == ((("X", "Y"), ("Z",)), ((1, 2),), 2)
    assert judgments.origins == (f"{path}:1",)


def test_lines_of_a_campaign_that_do_not_count(tmp_path: Path) -> None:
    head = {"kind": "campaign-details", "campaign": "c", "task": "edits"}
    row = LINE | {"kind": "normal", "number": 1, "turn": 0, "version": 1, "complete": True}
    later = json.loads(json.dumps(row | {"version": 2, "sentence_probability": 0.5}))
    later["edits"][0][0]["verdict"] = "invalid"
    others = [
        row | {"version": 3, "complete": False},
        row | {"number": 2, "skipped": True},
        row | {"kind": "attention", "edits": None, "shown": []},
        row | {"turn": 1, "mood": "good"},
    ]
    judgments = read(written(tmp_path / "c.jsonl", head, row, later, *others))
    assert [item.edits[0][0].verdict for item in judgments] == [False, True]
    assert judgments[0].probability == 0.5
    said = " ".join(judgments.notices)
    assert all(word in said for word in ("1 earlier", "1 draft", "1 skipped", "attention"))


def test_a_table_has_a_line_an_edit(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    head = "judge,segment,system,start,end,correction,verdict\n"
    rows = ["ann,2,X,0,1,She,1", 'ann,2,X,3,3,",",', "ann,2,Z,2,3,,false", "bob,1,X,0,0,a,valid"]
    path.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    one, other = judgments = read(path)
    assert one.shown == (("X",), ("Z",))
    assert [[e.verdict for e in edits] for edits in one.edits] == [[True, None], [False]]
    assert (other.judge, judgments.origins) == ("bob", (f"{path}:2", f"{path}:5"))


def changed(path: list[Any], value: object) -> dict[str, Any]:
    line = json.loads(json.dumps(LINE))
    at = line
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return line


BAD = {
    "perhaps": changed(["edits", 0, 0, "verdict"], "perhaps"),
    "whole number": changed(["edits", 0, 0, "start"], "0"),
    "comes twice": changed(["edits", 0, 1], LINE["edits"][0][0]),
    "no span": changed(["edits", 0, 0, "start"], 4),
    "2 outputs, but edits of 1": changed(["edits"], [[]]),
    "in two groups": changed(["shown"], [["X"], ["X"]]),
    "count from 1": changed(["segment"], 0),
    "no edits": {key: LINE[key] for key in ("judge", "segment", "shown")} | {"edit": "edits"},
}


@pytest.mark.parametrize("words", BAD)
def test_bad_lines_are_refused_with_their_place(tmp_path: Path, words: str) -> None:
    path = written(tmp_path / "e.jsonl", LINE, BAD[words])
    with pytest.raises(DataError, match=words) as caught:
        gm.read_judgments(path)
    assert f"{path}:2" in str(caught.value)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("outside the sentence; sentence 2 has 5 tokens", changed(["edits", 1, 0, "end"], 9)),
        ("overlaps", changed(["edits", 0, 1], LINE["edits"][0][0] | {"correction": "It"})),
        ("output of Z", changed(["edits", 1], [])),
        ("unknown system 'W'", changed(["shown", 1], ["W"])),
        ("has 2 sentences", LINE | {"segment": 3}),
    ],
)
def test_edits_that_do_not_fit_the_texts(tmp_path: Path, words: str, line: dict[str, Any]) -> None:
    judgments = read(path := written(tmp_path / "e.jsonl", line))
    with pytest.raises(DataError, match=words) as caught:
        judgments.checked(SOURCE, OUTPUTS)
    assert f"{path}:1" in str(caught.value)


def test_where_rankings_are_needed_the_error_says_who_takes_edits(tmp_path: Path) -> None:
    path = written(tmp_path / "e.jsonl", LINE)
    scores = tmp_path / "scores.tsv"
    scores.write_text("metric\tsystem\tsegment\tvalue\nm\tX\t1\t1\n", encoding="utf-8")
    for verb in (gm.meta_sentence, gm.meta_system):
        with pytest.raises(UsageError, match="judgments of edits") as caught:
            verb(scores, path)
        assert "accept-rate" in str(caught.value)
    rankings = gm.sample_corpus() / "judgments.jsonl"
    with pytest.raises(UsageError, match="judgments of edits"):
        gm.read_judgments([rankings, path])


def test_the_outputs_of_seeda_are_what_the_judged_edits_make(shared: Path) -> None:
    """specs/edit_judgments.md, section 2: counts of judges 1 and 2."""
    folder = shared / "data" / "edit_judgments"
    source = (shared / "data/conll14_test/source.txt").read_text(encoding="utf-8").splitlines()
    paths = sorted((shared / "data/seeda/outputs/all").glob("*.txt"))
    outputs = {path.stem: path.read_text(encoding="utf-8").splitlines() for path in paths}
    for name, counts in (("annotator1", (200, 835, 2120)), ("annotator2", (200, 833, 2121))):
        items = read(folder / f"{name}.jsonl").checked(source, outputs)
        shown = [edits for item in items for edits in item.edits]
        assert (len(items), len(shown), sum(map(len, shown))) == counts
