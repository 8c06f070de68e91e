"""Ratings of outputs from files: native tables and JSON lines, and the forms of published sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import grammeter as gm
from grammeter import core, formats

HEAD = "judge,segment,system,criterion,score,scale\n"


def read(tmp_path: Path, text: str, name: str = "r.csv", **options: Any) -> formats.Ratings:
    (tmp_path / name).write_text(text, encoding="utf-8")
    ratings = gm.read_judgments(tmp_path / name, **options)
    assert isinstance(ratings, formats.Ratings)
    return ratings


def scores(ratings: formats.Ratings) -> list[tuple[Any, ...]]:
    return [(r.judge, r.segment, r.systems, r.criterion, r.score) for r in ratings]


LONG = HEAD + "ann,1,X,fluency,2,1-4\nann,1,Y,fluency,,1-4\nbob,2,X,meaning,3.5,1-4\n"
WANTED = [
    ("ann", 1, ("X",), "fluency", 2.0),
    ("ann", 1, ("Y",), "fluency", None),
    ("bob", 2, ("X",), "meaning", 3.5),
]


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_native_forms_are_equal(tmp_path: Path) -> None:
    table = read(tmp_path, LONG)
    assert scores(table) == WANTED
    assert table.scales == {"fluency": (1, 4), "meaning": (1, 4)}
    assert table.origins[1].endswith("r.csv:3")
    assert scores(read(tmp_path, LONG.replace(",", "\t"), "r.tsv")) == WANTED
    head = ("judge", "segment", "system", "criterion", "score")
    text = lines(*({**dict(zip(head, row, strict=True)), "scale": [1, 4]} for row in WANTED))
    assert scores(read(tmp_path, text, "r.jsonl")) == WANTED
    outputs = lines(
        {"judge": "ann", "segment": 1, "system": "X", "scores": {"fluency": 2}, "scale": "1-4"},
        {"judge": "ann", "segment": 1, "system": ["Y"], "scores": {"fluency": None}},
        {"judge": "bob", "segment": 2, "system": "X", "scores": {"meaning": 3.5}, "seconds": 2},
    )
    assert scores(read(tmp_path, outputs, "o.jsonl")) == WANTED
    wide = read(tmp_path, "system,judge,segment,fluency,meaning\nX,ann,1,2,\n")
    assert [r.score for r in wide] == [2, None]
    assert any("no scale is named" in notice for notice in wide.notices)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (HEAD + "a,1,X,fluency,7,1-4\n", 2, "outside its scale"),
        (HEAD + "a,1,X,fluency,3,1-4\na,1,Y,fluency,good,1-4\n", 3, "no number"),
        (HEAD + "a,1,X,fluency,nan,1-4\n", 2, "no number"),
        (HEAD + "a,1,X,fluency,inf,\n", 2, "no number"),
        (HEAD + "a,1,X,fluency,3,1-4\na,1,X,fluency,2,1-4\n", 3, "before"),
        (HEAD + "a,1,X,fluency,3,1-4\na,2,X,fluency,2,1-5\n", 3, "scale"),
        (HEAD + "a,0,X,fluency,3,1-4\n", 2, "whole number from 1"),
        (HEAD + "a,1,X,fluency,3,4-1\n", 2, "the scale is"),
        (HEAD + ",1,X,fluency,3,1-4\n", 2, "not a name"),
        (lines({"judge": "a", "segment": 1, "system": "X", "scores": {"f": True}}), 1, "no number"),
        (
            lines({"judge": "a", "segment": 1, "system": ["X", "X"], "scores": {"f": 1}}),
            1,
            "in two groups",
        ),
        (lines({"judge": "a", "segment": 1, "system": "X", "scores": [1]}), 1, "no scores"),
    ],
)
def test_bad_input_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    with pytest.raises(core.DataError, match=words) as error:
        read(tmp_path, text)
    assert str(error.value.where).endswith(f":{line}")


def test_equal_repeats_are_noticed(tmp_path: Path) -> None:
    row = "a,1,X,fluency,3,1-4\n"
    ratings = read(tmp_path, HEAD + row + row)
    assert len(ratings) == 1
    assert any("1 ratings that stand there twice" in notice for notice in ratings.notices)


def test_codes_of_missing_scores(tmp_path: Path) -> None:
    text = HEAD + "a,1,X,fluency,0,1-4\na,1,Y,fluency,4,1-4\n"
    ratings = read(tmp_path, text, missing_score=0)
    assert [r.score for r in ratings] == [None, 4]
    assert any("1 of 2 scores are 0" in note for note in ratings.notes)
    idle = read(tmp_path, text.replace(",0,", ",1,"), missing_score=9)
    assert any("no effect" in note for note in idle.notes)
    inside = read(tmp_path, text.replace(",0,", ",1,"), missing_score=1)
    assert any("lies in the scale" in note for note in inside.notes)


def test_names_of_sentences_are_numbered(tmp_path: Path) -> None:
    text = "judge,item,system,criterion,score\na,q7,X,f,1\na,b,X,f,2\nb,q7,X,f,2\n"
    ratings = read(tmp_path, text)
    assert [r.segment for r in ratings] == [1, 2, 1]
    assert [r.segment for r in read(tmp_path, text.replace("q7", "9").replace(",b,", ",2,"))] == [
        9, 2, 9,
    ]  # fmt: skip


def test_a_table_of_systems(tmp_path: Path) -> None:
    text = "X,Y\n50,75.5\n,\n10,100\n"
    ratings = read(tmp_path, text, layout="systems", scale="0-100")
    assert [(r.segment, r.systems[0], r.score) for r in ratings][:4] == [
        (1, "X", 50), (1, "Y", 75.5), (2, "X", None), (2, "Y", None),
    ]  # fmt: skip
    assert ratings.scales == {"overall": (0, 100)}
    assert "1 rows are empty" in ratings.notices[0]
    with pytest.raises(core.UsageError, match="the file itself says"):
        read(tmp_path, LONG, scale="0-100")
    with pytest.raises(core.UsageError, match="--scale"):
        read(tmp_path, LONG, scale="high")


def test_lines_of_a_campaign(tmp_path: Path) -> None:
    row = {"judge": "a", "segment": 3, "item": "k", "system": "X", "version": 1, "complete": True}
    text = lines(
        {"kind": "campaign-details", "campaign": "c", "task": "ratings"},
        {**row, "scores": {"f": 1}, "kind": "normal", "seconds": 3.5, "skipped": False},
        {**row, "version": 2, "scores": {"f": 2}},
        {**row, "version": 3, "complete": False, "scores": {"f": 4}},
        {**row, "item": "t", "kind": "attention", "scores": {"f": 4}},
        {**row, "item": "s", "skipped": True},
    )
    ratings = read(tmp_path, text, "details.jsonl")
    assert [(r.segment, r.score) for r in ratings] == [(3, 2)]
    assert all(word in ratings.notices[0] for word in ("draft", "attention", "skipped", "earlier"))


OSTLING = {
    "data": [
        {
            "original": "a b",
            "reference": "a c",
            "systems": {
                "X": {
                    "output": "a c",
                    "annotators": {
                        "ann": {
                            "Meaning Preservation": 0,
                            "Fluency": 4,
                            "Grammaticality": 3,
                            "corrected": "a d",
                        }
                    },
                },
                "Y": {"output": "a", "annotators": {}},
            },
        }
    ],
    "item_order": [0],
    "next_item": 1,
}


def test_annotations_of_other_sentences_by_a_judge_are_further_sentences(tmp_path: Path) -> None:
    first, second = json.dumps(OSTLING), json.dumps(OSTLING).replace("a b", "c d")
    third = second.replace('"ann"', '"bob"')
    for name, text in (("A", first), ("B", second), ("C", third)):
        (tmp_path / f"{name}.json").write_text(text)
    files = [tmp_path / f"{name}.json" for name in "ABC"]
    alone = gm.read_judgments(files[0])
    both = gm.read_judgments(files)
    last = max(rating.segment for rating in alone)
    segments = {(r.judge, r.segment) for r in both}
    assert segments == {("ann", 1), ("ann", last + 1), ("bob", last + 1)}
    assert any(f"counted from {last + 1}" in note for note in both.notes)


def test_annotations_of_several_judges_are_merged(tmp_path: Path) -> None:
    ratings = read(tmp_path, json.dumps(OSTLING, indent=1), "ann.json")
    assert [(r.criterion, r.score) for r in ratings] == [
        ("grammaticality", 3), ("fluency", 4), ("meaning", None),
    ]  # fmt: skip
    other = json.dumps(OSTLING).replace('"ann"', '"bob"')
    (tmp_path / "bob.json").write_text(other)
    both = [tmp_path / "ann.json", tmp_path / "bob.json"]
    assert len(gm.read_judgments(both)) == 6
    (tmp_path / "bob.json").write_text(other.replace("a b", "a z"))
    with pytest.raises(core.DataError, match="another text"):
        gm.read_judgments(both)


def test_blocks_of_multigec(tmp_path: Path) -> None:
    text = "#X\nGrammaticality: 3 Fluency: 2\nGrammaticlaity: 1 Fluency: 4\n#Y\n"
    more = "Grammaticality: 2 Fluency:\nGrammaticality: 4 Fluency: 4\n"
    ratings = read(tmp_path, text + more, "eval")
    assert [r.score for r in ratings] == [3, 2, 1, 4, 2, None, 4, 4]
    assert set(ratings.scales) == {"grammaticality", "fluency"}
    assert "Grammaticlaity" in ratings.notices[0]
    with pytest.raises(core.DataError, match="unequal"):
        read(tmp_path, text, "eval")


def test_places_of_tmu_gfm_and_sentences_that_come_twice(tmp_path: Path) -> None:
    head = "source,output,grammer,fluency,meaning,system,ave_g,ave_f,ave_m\n"
    row = 's,o,"1,0","2,3","4,4","X,Y",1,2.5,4\n'
    ratings = read(tmp_path, head + row + row.replace("1,0", "3,3") + row.replace("s,", "t,", 1))
    assert len(ratings) == 18
    assert [r.turn for r in ratings[::6]] == [0, 1, 0]
    assert ratings[0].systems == ("X", "Y")
    rankings = ratings.rankings("grammaticality")
    assert [(r.judge, r.segment, r.ranks) for r in rankings][:2] == [
        ("annotator1", 1, (1,)), ("annotator1", 1, (1,)),
    ]  # fmt: skip


def test_export_of_appraise(tmp_path: Path) -> None:
    text = (
        "ann,X+Y,0,TGT,eng,swe,80,1.0,2.0\nann,Z,0,TGT,eng,swe,20,1.0,2.0\n"
        "ann,Z,0,BAD,eng,swe,5,1.0,2.0\n"
    )
    ratings = read(tmp_path, text)
    assert [(r.segment, r.systems, r.score) for r in ratings] == [
        (1, ("X", "Y"), 80), (1, ("Z",), 20),
    ]  # fmt: skip
    assert any("1 ratings of type BAD" in notice for notice in ratings.notices)


def test_rankings_are_dense_and_leave_missing_scores_out(tmp_path: Path) -> None:
    rows = "".join(f"a,1,{s},f,{x},1-4\n" for s, x in zip("VWXYZ", (2, 4, "", 2, 1), strict=True))
    rankings = read(tmp_path, HEAD + rows + "b,1,X,f,4,1-4\n").rankings()
    assert [(r.judge, r.systems, r.ranks) for r in rankings] == [
        ("a", ("V", "W", "Y", "Z"), (2, 1, 2, 3)), ("b", ("X",), (1,)),
    ]  # fmt: skip


def test_criteria(tmp_path: Path) -> None:
    text = "judge,segment,system,scale,f,m\na,1,X,1-5,3,5\na,1,Y,1-5,1,\n"
    ratings = read(tmp_path, text)
    assert [r.score for r in ratings.with_criterion("m")] == [5, None]
    assert [r.score for r in ratings.with_criterion("mean")] == [0.75, None]
    with pytest.raises(core.UsageError, match="several criteria") as error:
        ratings.with_criterion()
    assert "f, m" in str(error.value.fix)
    with pytest.raises(core.UnknownNameError, match="criterion"):
        ratings.with_criterion("q")


def test_outputs_are_held_against_ratings(tmp_path: Path) -> None:
    text = lines({"judge": "a", "segment": 1, "system": ["X", "Y"], "scores": {"f": 1}})
    read(tmp_path, text, systems={"X": ["t"], "Y": ["t"]})
    read(tmp_path, text, systems={"X": ["t"]}, drop=["Y"])
    for outputs in ({"X": ["t"]}, {"X": ["t"], "Y": ["u"]}, {"X": list[str](), "Y": ["u"]}):
        with pytest.raises(core.DataError):
            read(tmp_path, text, systems=outputs)


def test_who_needs_rankings_says_so(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(LONG)
    with pytest.raises(core.UsageError, match="these are ratings") as error:
        formats.read_rankings(tmp_path / "r.csv")
    assert "--criterion" in str(error.value.fix)
    with pytest.raises(core.UsageError, match="ratings"):
        gm.read_judgments(gm.sample_corpus() / "judgments.xml", scale="1-4")
