"""Files of judgments: what is read, what is refused, and that nothing changes on the way back."""

from __future__ import annotations

import gzip
import io
import json
import string
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError, LengthMismatchError, Ranking, UsageError
from grammeter.formats.judged import JudgedBlock, Judgments
from grammeter.formats.judgments import (
    format_judgments,
    parse_judgments,
    read_judgments,
    write_judgments,
)
from grammeter.formats.read import read_outputs
from grammeter.resources import sample_corpus

XML = """<?xml version="1.0" encoding="UTF-8"?>
<appraise-results>
<error-correction-ranking-result source-language="err" id="a" target-language="cor">
  <ranking-item doc-id="a-7" duration="00:01:07.524000" id="7" src-id="2" user="ann">
    <translation rank="2" system="X Y"/>
    <translation rank="1" system="Z"/>
  </ranking-item>
  <ranking-item doc-id="a-8" duration="00:00:20" id="8" skipped="true" src-id="1" user="bob"/>
  <ranking-item id="9" src-id="0" user="bob">
    <translation rank="1" system="X Y Z"/>
  </ranking-item>
</error-correction-ranking-result>
</appraise-results>
"""

WMT = """judgeID,srcIndex,system1Id,system1rank,system2Id,system2rank,rankingID
ann,2,X,2,Y,2,7
ann,2,X,2,Z,1,7
ann,2,Y,2,Z,1,7
bob,0,X,1,Z,1,8
"""

LINES = (
    '{"judge": "ann", "segment": 3, "groups": [["X", "Y"], ["Z"]], "ranks": [2, 1],'
    ' "skipped": false, "seconds": 67.524}\n'
    '{"judge": "bob", "segment": 2, "groups": [], "ranks": [], "skipped": true, "seconds": null}\n'
)

FIRST = Ranking(
    judge="ann",
    segment=3,
    groups=(("X", "Y"), ("Z",)),
    ranks=(2, 1),
    seconds=67.524,
    item="7",
    document="a-7",
)


def item(*outputs, attributes='src-id="0" user="ann"'):
    """A file of one item, on line 3; each output on a line of its own."""
    lines = [f"<translation {output}/>" for output in outputs]
    return "\n".join(
        [
            "<appraise-results>",
            "<error-correction-ranking-result>",
            f"<ranking-item {attributes}>",
            *lines,
            "</ranking-item></error-correction-ranking-result></appraise-results>",
        ]
    )


def refused(text, **options):
    with pytest.raises(DataError) as caught:
        parse_judgments(text, "file", **options)
    assert caught.value.fix
    return str(caught.value).partition("\n")[0]


# --- Appraise --------------------------------------------------------------------------------


def test_appraise_keeps_everything():
    judgments = parse_judgments(XML, "file")
    first, skipped, single = judgments
    assert first == FIRST
    assert skipped == Ranking(
        judge="bob", segment=2, groups=(), skipped=True, seconds=20.0, item="8", document="a-8"
    )
    assert (single.groups, single.ranks, single.seconds) == ((("X", "Y", "Z"),), (1,), None)
    assert judgments.origins == ("file:4", "file:8", "file:9")
    assert judgments.numbering == "0 (default)"
    assert judgments.files[0].blocks == (
        JudgedBlock({"source-language": "err", "id": "a", "target-language": "cor"}, 3),
    )
    assert judgments.notices == ("file: 3 items, of them 1 skipped, 1 with one output",)


def test_commas_anywhere_separate_everywhere():
    judgments = parse_judgments(item('rank="1" system="A b, C"', 'rank="2" system="D e"'), "file")
    assert judgments[0].groups == (("A b", "C"), ("D e",))
    assert judgments.files[0].separator == "comma"


def test_comma_separated_files_are_written_so():
    judgments = parse_judgments(item('rank="1" system="A,B"', 'rank="2" system="C"'), "file")
    text = format_judgments(judgments, "appraise")
    assert 'system="A,B"' in text
    assert parse_judgments(text, "file").rankings == judgments.rankings


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0:00:31.5", 31.5),
        ("00:00:09.000001", 9.000001),
        ("21:55:52", 78952.0),
        ("100:00:00", 360000.0),
        ("2 days, 1:00:00", 176400.0),
    ],
)
def test_durations(text, seconds):
    judgments = parse_judgments(item(attributes=f'src-id="0" user="a" duration="{text}"'), "file")
    assert judgments[0].seconds == seconds
    assert parse_judgments(format_judgments(judgments, "appraise"), "file")[0].seconds == seconds


def test_an_item_without_outputs_is_kept():
    judgments = parse_judgments(item(), "file")
    assert judgments[0] == Ranking(judge="ann", segment=1, groups=())
    assert judgments.notices == ("file: 1 items, of them 1 without outputs",)


def test_a_skipped_item_may_show_outputs():
    shown = ('system="A"', 'system="B"')
    judgments = parse_judgments(
        item(*shown, attributes='src-id="0" user="a" skipped="true"'), "file"
    )
    assert judgments[0].groups == (("A",), ("B",))
    assert judgments[0].ranks == ()
    assert (
        parse_judgments(format_judgments(judgments, "appraise"), "file").rankings
        == judgments.rankings
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<appraise-results>", "file:1: no XML that can be parsed"),
        (XML.replace("</ranking-item>", "", 1), "file:12: no XML that can be parsed"),
        (XML.replace("appraise-results", "results"), "file:2: <results> stands where"),
        ("<appraise-results/>", "file: no judgment"),
        (item('rank="one" system="A"'), "file:4: rank is 'one', no whole number"),
        (item('rank="1.0" system="A"'), "file:4: rank is '1.0', no whole number"),
        (item('rank="-1" system="A"'), "file:4: rank is '-1', no whole number"),
        (item('rank="0" system="A"'), "file:3: judgment by 'ann' of segment 1: a rank below 1"),
        (item('rank="6" system="A"'), "file:3: rank 6 lies outside the scale of 1 to 5"),
        (
            item('rank="1" system="A"', 'system="B"'),
            "file:5: <translation> has no system or no rank",
        ),
        (item('rank="1"'), "file:4: <translation> has no system or no rank"),
        (item('rank="1" system=" "'), "file:4: a system without a name"),
        (item('rank="1" system="A,,B"'), "file:4: a system without a name"),
        (item('rank="1" system="A"', 'rank="2" system="B A"'), "file:3: judgment by 'ann'"),
        (item('rank="1" system="A A"'), "file:3: judgment by 'ann'"),
        (item(attributes='user="a"'), "file:3: <ranking-item> has no src-id"),
        (item(attributes='src-id="-1" user="a"'), "file:3: src-id is '-1', no whole number"),
        (item(attributes=f'src-id="{"9" * 5000}" user="a"'), "file:3: src-id is '999"),
        (item(attributes='src-id="0" user="a" skipped="yes"'), "file:3: <ranking-item> has skip"),
        (item(attributes='src-id="0" user="a" duration="9 s"'), "file:3: the duration '9 s'"),
        (item(attributes='src-id="0" user="a" duration="0:61:00"'), "file:3: the duration"),
        (
            XML.replace('system="Z"/>', 'system="Z">text</translation>'),
            "file:6: <translation> stands where an empty",
        ),
        (
            XML.replace("translation", "output"),
            "file:5: <output> stands where an empty <translation>",
        ),
        (XML.replace("</ranking-item>", "text</ranking-item>", 1), "file:4: <ranking-item> holds"),
    ],
)
def test_faults_of_appraise(text, message):
    assert refused(text).startswith(message)


@pytest.mark.parametrize(
    "declared",
    [
        '<!DOCTYPE x [<!ENTITY e "boom">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd">',
        "<!DOCTYPE appraise-results>",
    ],
)
def test_document_types_are_refused(declared):
    text = XML.replace("<appraise-results>", f"{declared}<appraise-results>", 1)
    assert refused(text).startswith("file:2: declares a document type or entities")


def test_deep_trees_are_refused_calmly():
    depth = 20_000
    text = item().replace("</ranking-item>", "<a>" * depth + "</a>" * depth + "</ranking-item>")
    assert refused(text).startswith("file:4: <a> stands where")


def test_a_long_scale_needs_as_many_outputs():
    outputs = [f'rank="{n}" system="S{n}"' for n in range(1, 8)]
    assert parse_judgments(item(*outputs), "file")[0].ranks == tuple(range(1, 8))
    assert "rank 7 lies outside the scale of 1 to 6" in refused(item(*outputs[1:]))


# --- WMT -------------------------------------------------------------------------------------


def test_pairs_become_rankings_again():
    judgments = parse_judgments(WMT, "file")
    assert judgments.rankings == (
        Ranking(judge="ann", segment=3, groups=(("X",), ("Y",), ("Z",)), ranks=(2, 2, 1), item="7"),
        Ranking(judge="bob", segment=1, groups=(("X",), ("Z",)), ranks=(1, 1), item="8"),
    )
    assert judgments.origins == ("file:2", "file:5")


def test_pairs_that_make_no_ranking_stay_pairs():
    incomplete = "".join(WMT.splitlines(keepends=True)[:3])
    assert [r.groups for r in parse_judgments(incomplete, "f")] == [
        (("X",), ("Y",)),
        (("X",), ("Z",)),
    ]
    unlike = WMT.replace("Y,2,Z,1", "Y,1,Z,2")
    assert [r.ranks for r in parse_judgments(unlike, "f")] == [(2, 2), (2, 1), (1, 2), (1, 1)]


def test_a_pair_judged_twice_belongs_to_two_rankings():
    head, *rows, _ = WMT.splitlines()
    text = "\n".join([head, *rows, *rows]).replace(",rankingID", ",note")
    assert [len(r.groups) for r in parse_judgments(text, "f")] == [3, 3]


def test_five_outputs_a_row():
    head = ",".join(f"system{n}Id,system{n}rank" for n in range(1, 6))
    rows = [
        "1,ann,A,1,B,2,C,2,D,5,E,4",
        "2,ann,A,-1,B,-1,C,-1,D,-1,E,-1",
        "3,ann,A,2,B,-1,C,1,,-1,,-1",
    ]
    judgments = parse_judgments("\n".join([f"segmentId,judgeID,{head}", *rows, ""]), "file")
    assert [r.ranks for r in judgments] == [(1, 2, 2, 5, 4), (), (2, 1)]
    assert [r.skipped for r in judgments] == [False, True, False]
    assert judgments[2].groups == (("A",), ("C",))
    assert "file: 1 outputs have no rank beside others that have one; they are left out" in (
        judgments.notices
    )


def test_ids_of_the_campaigns_are_names():
    text = (
        "srclang,trglang,srcIndex,judgeID,system1Id,system1rank,system2Id,system2rank\n"
        "src,trg,0,a,test.GPT-3.5.src-trg,1,test.AMU.src-trg,2\n"
    )
    judgments = parse_judgments(text, "f")
    assert judgments[0].groups == (("GPT-3.5",), ("AMU",))
    assert judgments.files[0].blocks[0].attributes["testset"] == "test"
    written = format_judgments(judgments, "wmt")
    assert "test.GPT-3.5.src-trg" in written
    other = text.replace("test.AMU.src-trg", "AMU")
    assert parse_judgments(other, "f")[0].groups == (("test.GPT-3.5.src-trg",), ("AMU",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WMT.splitlines()[0], "file: no row below the column heads"),
        (WMT.replace(",2,Z,1,7", ",2,Z,7"), "file:3: 6 cells, but the first line has 7"),
        (WMT.replace("srcIndex", "where"), "file:1: no column 'srcIndex'"),
        (WMT.replace("system2rank", "rank"), "file:1: no column 'system2rank'"),
        (WMT.replace("rankingID", "judgeID"), "file:1: the column 'judgeID' comes twice"),
        (WMT.replace("ann,2,X,2,Y", "ann,2,X,two,Y"), "file:2: system1rank is 'two'"),
        (WMT.replace("ann,2,X,2,Y", "ann,x,X,2,Y"), "file:2: srcIndex is 'x'"),
        (WMT.replace("ann,2,X,2,Y", "ann,2,,2,Y"), "file:2: a system without a name"),
        (WMT.replace("X,1,Z,1,8", "X,1,X,1,8"), "file:5: judgment by 'bob'"),
        (WMT.replace("X,1,Z,1,8", "X,0,Z,1,8"), "file:5: judgment by 'bob'"),
        (WMT + '"', "file:6: not CSV"),
    ],
)
def test_faults_of_wmt(text, message):
    assert refused(text).startswith(message)


def test_what_wmt_loses_is_said(tmp_path):
    path = tmp_path / "j.csv"
    assert write_judgments(path, parse_judgments(XML, "f")) == (
        f"{path}: WMT CSV cannot hold everything: 1 skipped items, 2 times, 3 equal outputs",
    )
    assert [r.systems for r in read_judgments(path)] == [("X", "Y", "Z"), ("X", "Y", "Z")]
    assert write_judgments(path, read_judgments(path)) == ()


# --- JSON lines ------------------------------------------------------------------------------


def test_lines():
    judgments = parse_judgments(LINES, "file")
    assert judgments[0] == replace(FIRST, item=None, document=None)
    assert judgments[1] == Ranking(judge="bob", segment=2, groups=(), skipped=True)
    assert judgments.numbering == "1 (format)"
    assert format_judgments(judgments, "jsonl") == LINES


def test_short_lines_empty_lines_and_further_keys():
    text = '\n{"judge": "a", "segment": 1, "groups": [["X"], ["Y"]], "ranks": [1, 1], "b": 2}\n\n'
    judgments = parse_judgments(text, "file")
    assert judgments[0] == Ranking(judge="a", segment=1, groups=(("X",), ("Y",)), ranks=(1, 1))
    assert judgments.origins == ("file:2",)


GOOD = {"judge": "a", "segment": 1, "groups": [["X"], ["Y"]], "ranks": [1, 2]}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"judge": None}, "no judge"),
        ({"judge": ""}, "no judge"),
        ({"judge": "\ud800"}, "the line holds U+D800, half a surrogate pair"),
        ({"segment": 0}, "judgment by 'a' of segment 0: segments count from 1"),
        ({"segment": "1"}, "segment is one text, '1', where a whole number belongs"),
        ({"segment": True}, "segment is True, where a whole number belongs"),
        ({"segment": 10**18}, "1000000000000000000 is too large a number"),
        ({"groups": "XY"}, "groups is one text, 'XY', where a list belongs"),
        ({"groups": ["X", "Y"]}, "groups[0] is one text, 'X', where a list belongs"),
        ({"groups": [[], ["Y"]]}, "None seconds, groups [[], ['Y']]"),
        ({"groups": [["X"], ["X"]]}, "judgment by 'a' of segment 1: a system without a name or"),
        ({"groups": [["X"], [""]]}, "judgment by 'a' of segment 1: a system without a name or"),
        ({"ranks": [1]}, "judgment by 'a' of segment 1: 1 ranks for 2 groups"),
        ({"ranks": [1, 2.0]}, "ranks[1] is 2.0, where a whole number belongs"),
        ({"ranks": [1, 6]}, "rank 6 lies outside the scale of 1 to 5"),
        ({"ranks": [0, 1]}, "judgment by 'a' of segment 1: a rank below 1: [0, 1]"),
        ({"skipped": 1}, "skipped is 1, where a bool belongs"),
        ({"seconds": "1"}, "seconds is one text, '1', where a number belongs"),
        ({"seconds": -1}, "-1.0 seconds"),
        ({"seconds": float("nan")}, "nan seconds"),
        ({"item": 7}, "item is 7, where a text belongs"),
        ({"scores": 1}, "scores is 1.0, where a list belongs"),
        ({"scores": ["1", None]}, "scores[0] is one text, '1', where a number belongs"),
        ({"scores": [1]}, "judgment by 'a' of segment 1: 2 groups, but scores [1.0]"),
        (
            {"scores": [1, float("nan")]},
            "judgment by 'a' of segment 1: 2 groups, but scores [1.0, nan]",
        ),
        ({"scores": [1, 10**400]}, "1000000"),
        ({"replies": [1]}, "replies[0] is 1, where a dictionary belongs"),
        ({"replies": [{"text": "\ud800"}]}, "the line holds U+D800"),
    ],
)
def test_faults_of_lines(wrong, message):
    assert refused(f"\n{json.dumps(GOOD | wrong)}").startswith(f"file:2: {message}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "file:1: not JSON"),
        ("{} {}", "file:1: not JSON"),
        ("{}", "file:1: no judge"),
        ('{"judge": "a", "segment": 1}', "file:1: no groups"),
        (json.dumps(GOOD) + "\n[]", "file:2: no JSON object"),
        ('{"judge": ' + "[" * 100_000, "file:1: not JSON"),
        ('{"judge": "a", "segment": ' + "9" * 5000 + "}", "file:1: not JSON"),
    ],
)
def test_broken_lines(line, message):
    assert refused(line).startswith(message)


# --- any format ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file:1: the file is empty"),
        (" \n", "file:1: the file is empty"),
        ("S This is M2 .\n", "file:1: judgments of no known format"),
        ("[]", "file:1: judgments of no known format"),
    ],
)
def test_what_is_no_judgment(text, message):
    assert refused(text).startswith(message)


def test_the_content_tells_the_format(tmp_path, monkeypatch):
    path = tmp_path / "judgments"
    for text, form in ((XML, "appraise"), (WMT, "wmt"), (LINES, "jsonl")):
        path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()))
        judgments = read_judgments(path)
        assert judgments.files[0].form == form
        assert len(judgments.notices) >= 2
        assert "byte order mark" in judgments.notices[0]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINES.encode())))
    assert len(read_judgments("-")) == 2


def test_several_files_follow_each_other(tmp_path):
    paths = [tmp_path / "a.xml", tmp_path / "b.jsonl"]
    paths[0].write_text(XML)
    paths[1].write_text(LINES)
    judgments = read_judgments(paths)
    assert len(judgments) == 5
    assert judgments.origins[3] == f"{paths[1]}:1"
    assert judgments.numbering == "0 (found), 1 (format)"  # there is a sentence 0
    with pytest.raises(UsageError, match="once"):
        read_judgments([paths[0], paths[0]])
    with pytest.raises(UsageError, match="none"):
        read_judgments([])
    with pytest.raises(DataError, match=r"nowhere\.xml"):
        read_judgments(tmp_path / "nowhere.xml")


def test_judgments_are_a_sequence_of_rankings():
    judgments = parse_judgments(XML, "f")
    assert list(judgments) == list(judgments.rankings)
    assert judgments[:2] == judgments.rankings[:2]
    assert Judgments(()).numbering == "1 (format)"


def test_the_name_tells_how_to_write(tmp_path):
    judgments = parse_judgments(XML, "f")
    for name in ("a.xml", "a.xml.gz", "a.jsonl"):
        assert write_judgments(tmp_path / name, judgments) == ()
        assert read_judgments(tmp_path / name).rankings == judgments.rankings
    with pytest.raises(UsageError, match=r"\.jsonl"):
        write_judgments(tmp_path / "a.txt", judgments)


def test_a_part_is_written_under_the_usual_head():
    judgments = parse_judgments(XML, "f", first_segment=0)
    part = parse_judgments(format_judgments(judgments[:1], "appraise"), "f")
    assert part.rankings == judgments[:1]
    assert part.files[0].blocks[0].attributes["id"] == "grammeter"


@pytest.mark.parametrize(
    ("wrong", "form", "message"),
    [
        ({"groups": (("X y",), ("Z",))}, "appraise", "system name 'X y'"),
        ({"groups": (("X,y",), ("Z",))}, "wmt", "system name 'X,y'"),
        ({"judge": "\x00"}, "appraise", r"U\+0000 cannot stand in XML"),
        ({"judge": ""}, "appraise", "a judge without a name"),
        ({"seconds": -1.0}, "appraise", "a duration of -1.0 seconds"),
        ({"seconds": float("nan")}, "appraise", "a duration of nan seconds"),
        ({"seconds": float("inf")}, "jsonl", "a duration of inf seconds"),
    ],
)
def test_what_a_format_cannot_hold(wrong, form, message):
    with pytest.raises(DataError, match=message):
        format_judgments([replace(FIRST, **wrong)], form)


# --- which sentence is meant -----------------------------------------------------------------

OUTPUTS = {
    "X": ["one", "so it  is ", "same", "end"],
    "Y": ["one", "so it is", "same", "end"],
    "Z": ["one", "other", "not", "stop"],
}


def test_the_outputs_tell_the_first_number():
    """Sentence 0 of the file is one text three times; counted from 1 it would not exist."""
    judgments = parse_judgments(XML, "f", systems=OUTPUTS)
    assert judgments.numbering == "0 (found)"
    assert [r.segment for r in judgments] == [3, 2, 1]
    one = XML.replace('src-id="0"', 'src-id="1"')
    judgments = parse_judgments(one, "f", systems=OUTPUTS)
    assert judgments.numbering == "1 (found)"
    assert [r.segment for r in judgments] == [2, 1, 1]
    assert format_judgments(judgments, "appraise").count('src-id="1"') == 2


def test_the_number_may_be_stated():
    text = XML.replace('src-id="0"', 'src-id="3"')
    assert [r.segment for r in parse_judgments(text, "f", first_segment=1)] == [2, 1, 3]
    assert parse_judgments(text, "f", first_segment=1).numbering == "1 (stated)"
    assert [r.segment for r in parse_judgments(text, "f", first_segment=0)] == [3, 2, 4]
    assert "f:9: sentence 0" in refused(XML, first_segment=1).replace("file", "f")


def test_equal_texts_that_are_ranked_apart_speak_against_a_number():
    outputs = {"X": ["same", "a", "c"], "Y": ["same", "b", "d"]}
    pair = item('rank="1" system="X"', 'rank="2" system="Y"', attributes='src-id="1" user="a"')
    assert parse_judgments(pair, "f", systems=outputs).numbering == "0 (found)"
    tied = pair.replace('rank="2"', 'rank="1"')
    judgments = parse_judgments(tied, "f", systems=outputs)
    assert judgments.numbering == "0 (default)"
    assert judgments.notices == (
        "f: the outputs do not tell whether sentences count from 0 or 1; 0 is taken",
    )


def test_outputs_that_do_not_fit():
    other = OUTPUTS | {"Y": ["one", "else", "same", "end"]}
    message = "does not fit the outputs: X and Y have different outputs for sentence 2"
    text = XML.replace('src-id="0"', 'src-id="1"')
    assert refused(text, systems=other) == f"file:9: {message}"  # 0 fits longer than 1
    assert refused(text, systems=other, first_segment=1) == f"file:4: {message}"
    short = {name: texts[:1] for name, texts in OUTPUTS.items()}
    assert refused(XML, systems=short).startswith("file:4: does not fit the outputs: there is no")
    assert refused(LINES, systems=short) == (
        "file:1: does not fit the outputs: there is no sentence 3"
    )
    assert refused(WMT, systems=short, first_segment=0).startswith("file:2: does not fit")


def test_unknown_systems():
    without = {"X": OUTPUTS["X"], "Y": OUTPUTS["Y"]}
    for text in (XML, WMT, LINES):
        assert "unknown system 'Z'" in refused(text, systems=without)


def test_outputs_from_files(tmp_path):
    for name, lines in OUTPUTS.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    paths = sorted(tmp_path.iterdir())
    assert read_outputs(paths) == OUTPUTS
    (tmp_path / "Z.txt").write_text("one\n")
    with pytest.raises(LengthMismatchError, match=r"Z\.txt: 1 lines, but .*X\.txt has 4"):
        read_outputs(paths)
    with pytest.raises(UsageError, match="two systems are called 'X'"):
        read_outputs([paths[0], paths[0]])


# --- round trips -----------------------------------------------------------------------------

names = st.text(string.ascii_letters + string.digits + "-._|é漢&<>'\"", min_size=1, max_size=4)
anything = st.text(
    st.characters(
        codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"
    ),
    min_size=1,
    max_size=5,
)


@st.composite
def rankings(draw, *, plain=False):
    systems = draw(st.lists(names, unique=True, min_size=2 if plain else 0, max_size=6))
    cuts = sorted(draw(st.sets(st.integers(1, max(len(systems) - 1, 1)))))
    bounds = range(len(systems) + 1) if plain else sorted({0, *cuts, len(systems)})
    groups = tuple(
        tuple(systems[a:b]) for a, b in zip(bounds, [*bounds][1:], strict=False) if systems[a:b]
    )
    skipped = not plain and draw(st.booleans())
    rank = st.integers(1, max(5, len(groups)))
    bare = skipped and draw(st.booleans())
    micro = draw(st.integers(0, 10**13))
    return Ranking(
        judge=draw(anything),
        segment=draw(st.integers(1, 10**6)),
        groups=groups,
        ranks=() if bare else tuple(draw(rank) for _ in groups),
        skipped=skipped,
        seconds=None if plain else draw(st.sampled_from([None, micro / 10**6])),
        item=None if plain else draw(st.none() | anything),
        document=draw(st.none() | anything) if draw(st.booleans()) else None,
    )


@st.composite
def scored(draw):
    """A ranking with the fields that language models fill as judges."""
    ranking = draw(rankings())
    number = st.none() | st.floats(-(10**9), 10**9)
    scores = st.none() | st.tuples(*[number] * len(ranking.groups)) if ranking.groups else st.none()
    replies = st.lists(st.fixed_dictionaries({"text": anything, "attempt": st.integers()}))
    return replace(ranking, scores=draw(scores), replies=tuple(draw(replies)))


@given(st.lists(rankings(), min_size=1, max_size=4), st.sampled_from([0, 1]))
def test_appraise_round_trip(given_rankings, first):
    text = format_judgments(given_rankings, "appraise", first_segment=first)
    judgments = parse_judgments(text, "f", first_segment=first)
    assert judgments.rankings == tuple(given_rankings)
    assert format_judgments(judgments, "appraise") == text


@given(st.lists(scored(), min_size=1, max_size=4))
def test_lines_round_trip(given_rankings):
    text = format_judgments(given_rankings, "jsonl")
    assert parse_judgments(text, "f").rankings == tuple(given_rankings)


@given(st.lists(rankings(plain=True), min_size=1, max_size=4))
def test_wmt_round_trip(given_rankings):
    named = []
    for number, ranking in enumerate(given_rankings, start=1):
        order = sorted(zip(ranking.groups, ranking.ranks, strict=True))
        groups, ranks = zip(*order, strict=True)
        named.append(replace(ranking, groups=groups, ranks=ranks, item=str(number)))
    text = format_judgments(named, "wmt")
    assert parse_judgments(text, "f").rankings == tuple(named)


@given(st.lists(rankings(), min_size=1, max_size=4))
def test_wmt_holds_all_comparisons_but_the_skipped(given_rankings):
    """The slow twin: every two systems of an item, with the ranks of their outputs."""
    expected = Counter()
    for ranking in given_rankings:
        ranks = dict.fromkeys(ranking.systems)
        for group, rank in zip(ranking.groups, ranking.ranks, strict=bool(ranking.ranks)):
            ranks |= dict.fromkeys(group, rank)
        if not ranking.skipped:
            pairs = combinations(sorted(ranks), 2)
            expected.update((ranking.judge, a, ranks[a], b, ranks[b]) for a, b in pairs)
    text = format_judgments(given_rankings, "wmt")
    if not expected:
        assert "no row" in refused(text)
        return
    pairs = Counter()
    for ranking in parse_judgments(text, "f"):
        ranked = sorted(zip(ranking.systems, ranking.ranks, strict=True))
        pairs.update((ranking.judge, a, x, b, y) for (a, x), (b, y) in combinations(ranked, 2))
    assert pairs == expected


# --- real files ------------------------------------------------------------------------------


def test_the_sample():
    xml = read_judgments(sample_corpus() / "judgments.xml")
    path = sample_corpus() / "judgments.jsonl"
    lines = read_judgments(path)
    assert [replace(r, item=None, document=None) for r in xml] == list(lines)
    assert format_judgments(lines, "jsonl") == path.read_text("utf-8")
    outputs = read_outputs(sorted((sample_corpus() / "systems").iterdir()))
    judgments = read_judgments(sample_corpus() / "judgments.xml", systems=outputs)
    assert judgments.numbering == "0 (found)"
    assert read_judgments(path, systems=outputs).rankings == lines.rankings


def plain_tree(text):
    def plain(element):
        return element.tag, sorted(element.attrib.items()), [plain(child) for child in element]

    return plain(ElementTree.fromstring(text))


def test_2015_byte_for_byte(shared):
    path = shared / "data/human_gjg15/judgments.xml"
    outputs = read_outputs(sorted((shared / "data/conll14_test/official_systems").iterdir()))
    judgments = read_judgments(path, systems=outputs)
    assert len(judgments) == 2319
    assert judgments.numbering == "0 (found)"
    assert judgments.notices == (f"{path}: 2319 items, of them 13 skipped, 27 with one output",)
    assert format_judgments(judgments, "appraise") == path.read_text("utf-8")
    assert parse_judgments(format_judgments(judgments, "jsonl"), "f").rankings == judgments.rankings


@pytest.mark.parametrize("name", ["judgments_edit.xml", "judgments_sent.xml"])
def test_seeda_counts_from_1(shared, name):
    path = shared / "data/seeda" / name
    outputs = read_outputs(sorted((shared / "data/seeda/outputs/all").glob("*.txt")))
    judgments = read_judgments(path, systems=outputs)
    assert len(judgments) == 600
    assert judgments.numbering == "1 (found)"
    written = format_judgments(judgments, "appraise")
    assert plain_tree(written) == plain_tree(path.read_text("utf-8"))


@pytest.mark.parametrize(("name", "items"), [("expanded", 2306), ("unexpanded", 2279)])
def test_wmt_files_of_2018_byte_for_byte(shared, name, items):
    folder = shared / "data/meta_chollampatt_ng_2018/scores/sentence_pairwiseranks_humans"
    path = folder / f"{name}.csv.gz"
    outputs = read_outputs(sorted((shared / "data/conll14_test/official_systems").iterdir()))
    judgments = read_judgments(path, systems=outputs)
    assert len(judgments) == items
    assert judgments.numbering == "0 (found)"
    assert format_judgments(judgments, "wmt").encode() == gzip.decompress(path.read_bytes())


def test_pairs_of_outputs_give_the_rankings_of_2015(shared):
    folder = shared / "data/human_gjg15"
    whole = read_judgments(folder / "judgments.xml")
    pairs = read_judgments(folder / "8judgments.csv.gz")
    assert [(r.judge, r.groups, r.ranks) for r in pairs] == [
        (r.judge, r.groups, r.ranks) for r in whole if len(r.groups) > 1
    ]
