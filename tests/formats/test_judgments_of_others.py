"""Files of judgments as other people's tools wrote them: headers, roots and names of many kinds."""

from __future__ import annotations

import json

import pytest

from grammeter.core import DataError, Ranking
from grammeter.formats.judgments import (
    format_judgments,
    parse_judgments,
    read_judgments,
    write_judgments,
)

FIVE = ["A", "B", "C", "D", "E"]
PLAIN = "srcIndex,judgeID,system1Id,system1rank,system2Id,system2rank"


def table(head, *rows, end="\n"):
    return end.join([head, *rows, ""])


def refused(text, **options):
    with pytest.raises(DataError) as caught:
        parse_judgments(text, "file", **options)
    assert caught.value.fix
    return str(caught.value).partition("\n")[0]


def judged(text, where="file", **options):
    return [
        (r.judge, r.segment, r.groups, r.ranks) for r in parse_judgments(text, where, **options)
    ]


# --- columns ---------------------------------------------------------------------------------

ANN = [("ann", 8, (("A",), ("B",)), (1, 2))]


@pytest.mark.parametrize(
    "head",
    [
        "srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank",
        "SRCINDEX,JUDGEID,SYSTEM1ID,SYSTEM1RANK,SYSTEM2ID,SYSTEM2RANK",
        "src_index,judge_id,system_1_id,system_1_rank,system_2_id,system_2_rank",
        "src-id,Judge ID,System 1,Rank 1,System 2,Rank 2",
        "segmentId,annotator,sys1,rank1,sys2,rank2",
        "sentence_id,user,system1name,system1_ranking,system2name,system2_ranking",
        "#srcIndex,judgeID,system1,system1rank,system2,system2rank",
        '"srcIndex","judgeID","system1Id","system1rank","system2Id","system2rank"',
        " srcIndex , judgeID ,system1Id,system1rank,system2Id,system2rank,,",
    ],
)
def test_spellings_of_columns(head):
    assert judged(table(head, "7,ann,A,1,B,2")) == ANN


@pytest.mark.parametrize("end", ["\r\n", "\r\r\n", "\r", "\n\n"])
@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_line_ends_and_separators(tmp_path, end, mark):
    path = tmp_path / "j.csv"
    text = table(PLAIN, "7,ann,A,1,B,2", end=end).replace(",", mark)
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    judgments = read_judgments(path)
    assert [(r.judge, r.segment, r.groups, r.ranks) for r in judgments] == ANN
    assert judgments.notes == ()


def test_five_outputs_as_the_campaigns_of_2013_and_2014_have_them():
    head = ["srclang", "trglang", "srcIndex", "documentId", "segmentId", "judgeId"]
    head += [f"system{n}{part}" for n in range(1, 6) for part in ("Number", "Id")]
    head += [f"system{n}rank" for n in range(1, 6)]
    cells = [cell for name in FIVE for cell in ("-1", f"newstest2014.{name}.1")]
    row = ["Czech", "English", "7", "-1", "7", "ann", *cells, "1", "2", "-1", "2", "5"]
    judgments = parse_judgments(table(",".join(head), ",".join(row)), "f")
    assert judgments[0].groups == tuple((f"newstest2014.{name}.1",) for name in "ABDE")
    assert (judgments[0].ranks, judgments[0].document, judgments.notes) == ((1, 2, 2, 5), None, ())


def test_columns_of_no_use_hold_minus_one():
    text = table(f"documentId,{PLAIN},segmentId,system1Number", "-1,-1,ann,A,1,B,2,7,-1")
    assert judged(text) == ANN


def test_ten_outputs_a_row_and_numbers_of_table_programs():
    head = ",".join(f"system{n}Id,system{n}rank" for n in range(1, 11))
    cells = ",".join(f"S{n},{n}.0" for n in range(1, 11))
    judgments = parse_judgments(table(f"srcIndex,judgeID,{head}", f"7.0,ann,{cells}"), "f")
    assert judgments[0].ranks == tuple(range(1, 11))


def test_a_table_of_mechanical_turk():
    head = ["HITId", "WorkerId", "Input.sentID", "Input.text", "Input.text"]
    head += [f"Input.system{n}" for n in (1, 2, 3)] + [f"Answer.rank_{n}" for n in (1, 2, 3)]
    row = '"h","ann","7","one, two","three","A","B","###","1","2",""'
    assert judged(table(",".join(head), row)) == ANN


def test_a_system_without_a_column_of_ranks_is_left_out_and_named():
    judgments = parse_judgments(table(f"{PLAIN},system3Id", "7,ann,A,1,B,2,C"), "f")
    assert judgments[0].systems == ("A", "B")
    assert judgments.notes == ("f: no column of ranks for system3Id: left out",)


def test_empty_lines_and_empty_cells_at_the_end_do_not_count():
    text = "\n\n" + table(PLAIN, "", "7,ann,A,1,B,2,,", ",,,,,", "8,ann,A,1,B,2")
    assert [r.segment for r in parse_judgments(text, "f")] == [8, 9]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["7,ann,A,1,B"], "file:2: 5 cells, but the first line has 6"),
        (["7,ann,A,1,B,2", "7,ann,A,1,B,2,C"], "file:3: 7 cells, but the first line has 6"),
        (["7,ann,A,1.5,B,2"], "file:2: system1rank is '1.5', no whole number from 0"),
        (["x7,ann,A,1,B,2"], "file:2: srcIndex is 'x7', no whole number from 0"),
    ],
)
def test_what_cannot_be_right(rows, message):
    assert refused(table(PLAIN, *rows)) == message


# --- judges ----------------------------------------------------------------------------------

BARE = "srcIndex,system1Id,system1rank,system2Id,system2rank"


def test_a_judge_without_a_name_is_called_after_the_file(tmp_path):
    for name in ("anna.csv", "bert.csv.gz"):
        (tmp_path / name).write_text(table(BARE, "7,A,1,B,2"))
    judgments = read_judgments([tmp_path / "anna.csv", tmp_path / "bert.csv.gz"])
    assert [ranking.judge for ranking in judgments] == ["anna", "bert"]
    assert [("anna" in note, "bert" in note) for note in judgments.notes[:2]] == [
        (True, False),
        (False, True),
    ]
    some = parse_judgments(table(PLAIN, "7,ann,A,1,B,2", "8,,A,1,B,2"), "out/bob.csv")
    assert [ranking.judge for ranking in some] == ["ann", "bob"]
    assert "1 of 2 have no judge" in some.notes[0]


# --- roots and attributes --------------------------------------------------------------------

OUTPUTS = '<translation rank="1" system="A"/><translation rank="2" system="B"/>'


def around(*tags, item='<ranking-item src-id="7" user="ann">', inside=OUTPUTS):
    end = item.strip("<").split()[0]
    opened = "".join(f"<{tag}>" for tag in tags)
    closed = "".join(f"</{tag.split()[0]}>" for tag in reversed(tags))
    return f"{opened}{item}{inside}</{end}>{closed}"


TASK = 'ranking-task id="7"'
RESULT = '<ranking-result duration="00:00:35.3" user="ann">'


@pytest.mark.parametrize(
    "text",
    [
        around("error-correction-ranking-result"),
        around("ranking-result"),
        around("appraise-results", 'ranking-result id="a"'),
        around("appraise-results", "ranking-result", "ranking-task"),
        around("appraise-results"),
        around("ranking-result", item='<ranking-item srcIndex="7" judgeId="ann">'),
        around("WMT15-results", "HIT", TASK, item=RESULT),
        around("HIT", TASK, item=RESULT),
        around("ranking-result", item='<ranking-item segment_id="7" User="ann">'),
        around("appraise-results").replace("</appraise-results>", "</appraise-result>\n"),
        around(),
    ],
)
def test_roots(text):
    judgments = parse_judgments(text, "f")
    assert [(r.judge, r.segment, r.groups, r.ranks) for r in judgments] == ANN
    assert judgments.notes == ()
    assert (
        parse_judgments(format_judgments(judgments, "appraise"), "f").rankings == judgments.rankings
    )


def test_the_sentence_may_stand_in_id():
    text = around("ranking-result", item='<ranking-item id="7" doc-id="none" user="ann">')
    judgments = parse_judgments(text, "f")
    assert (judgments[0].segment, judgments[0].item) == (8, None)
    assert judgments.notes == ("f: no src-id: the id of an item is taken as its sentence's number",)


def test_a_judge_of_xml_may_be_nameless():
    judgments = parse_judgments(
        around("ranking-result", item='<ranking-item src-id="7">'), "x/ann.xml"
    )
    assert judgments[0].judge == "ann"
    assert "'ann', after the file's name" in judgments.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (around("results"), "file:1: <results> stands where <ranking-item> belongs"),
        (
            around("ranking-result").replace("</r", "<b/></r", 1),
            "file:1: <b> stands where an empty <trans",
        ),
        (
            "<ranking-result><ranking-item id='1' src-id='2' user='a'/>\n"
            "<ranking-item id='2' user='a'/></ranking-result>",
            "file:2: <ranking-item> has no src-id",
        ),
    ],
)
def test_other_elements_are_refused(text, message):
    assert refused(text).startswith(message)


# --- equal outputs ---------------------------------------------------------------------------


def test_joined_names_are_systems_that_stand_alone_elsewhere():
    text = table(PLAIN, "7,ann,A+B,1,C,2", "8,ann,A,1,B,2", "9,ann,B+C,1,GECToR+BERT,2")
    judgments = parse_judgments(text, "f")
    assert [r.groups for r in judgments] == [
        (("A", "B"), ("C",)),
        (("A",), ("B",)),
        (("B", "C"), ("GECToR+BERT",)),
    ]
    assert judgments.notes == (
        "f: 'A+B' and 1 more: read as systems that wrote the same, for each part of it stands"
        " alone elsewhere",
    )


def test_a_name_beside_its_parts_is_a_name():
    text = table(PLAIN, "7,ann,A+B,1,A,2", "8,ann,A,1,B,2", "9,bob,A+B,1,C,2")
    assert [r.systems for r in parse_judgments(text, "f")] == [
        ("A+B", "A"),
        ("A", "B"),
        ("A+B", "C"),
    ]
    rows = ["7,ann,A+B,1,C,2,5", "7,ann,A+B,1,B,2,5", "7,ann,C,2,B,2,5", "8,ann,A,1,B,2,6"]
    judgments = parse_judgments(table(f"{PLAIN},rankingID", *rows), "f")
    assert judgments[0].systems == ("A+B", "C", "B")
    assert judgments.notes == ("f: 'A+B': read as the name of one system",)


def test_outputs_say_what_is_a_name():
    text = table(PLAIN, "0,ann,A+B,1,C,2", "1,ann,A,1,B,2")
    outputs = {name: ["x", "y"] for name in ("A+B", "A", "B", "C")}
    assert parse_judgments(text, "f", systems=outputs)[0].systems == ("A+B", "C")
    del outputs["A+B"]
    assert parse_judgments(text, "f", systems=outputs)[0].systems == ("A", "B", "C")
    alone = table(PLAIN, "0,ann,A+B,1,C,2")
    assert parse_judgments(alone, "f")[0].systems == ("A+B", "C")
    assert parse_judgments(alone, "f", systems=outputs)[0].systems == ("A", "B", "C")


def test_joined_names_of_the_campaign_of_2016_and_quoted_commas():
    ids = [f"newstest2016.{name}.4428.en-ro" for name in "ABC"]
    rows = [f"eng,ron,7,j,{ids[0]}+{ids[1]},1,{ids[2]},2", f"eng,ron,8,j,{ids[0]},1,{ids[1]},2"]
    judgments = parse_judgments(table(f"srclang,trglang,{PLAIN}", *rows), "f")
    assert judgments[0].groups == ((ids[0], ids[1]), (ids[2],))
    assert judged(table(PLAIN, '7,ann,"A,B",1,C,2'))[0][2] == (("A", "B"), ("C",))


@pytest.mark.parametrize("form", ["appraise", "wmt"])
def test_a_name_that_would_be_split_is_not_written(form):
    text = table(PLAIN, "0,ann,A+B,1,C,2", "1,ann,A,1,B,2")
    outputs = {name: ["x", "y"] for name in ("A+B", "A", "B", "C")}
    judgments = parse_judgments(text, "f", systems=outputs)
    with pytest.raises(DataError, match=r"cannot hold the system name 'A\+B' beside"):
        format_judgments(judgments, form)
    text = format_judgments(judgments, "jsonl")
    assert parse_judgments(text, "f").rankings == judgments.rankings


def test_xml_joins_names_likewise():
    pair = '<translation rank="1" system="A+B"/><translation rank="2" system="C"/>'
    second = f'<ranking-item src-id="8" user="ann">{OUTPUTS}</ranking-item></ranking-result>'
    text = around("ranking-result", inside=pair).replace("</ranking-result>", second)
    assert parse_judgments(text, "f")[0].groups == (("A", "B"), ("C",))


def test_names_with_spaces():
    outputs = '<translation rank="1" system="System 1"/><translation rank="2" system="System 2"/>'
    judgments = parse_judgments(around("ranking-result", inside=outputs), "f")
    assert judgments[0].systems == ("System 1", "System 2")
    assert "spaces" in judgments.notes[0]


# --- documents, languages --------------------------------------------------------------------


def test_documents_are_kept():
    text = table(f"{PLAIN},documentId", "7,ann,A,1,B,2,d1", "7,ann,A,1,B,2,d2", "7,ann,A,1,B,2,-1")
    judgments = parse_judgments(text, "f")
    assert [r.document for r in judgments] == ["d1", "d2", None]
    assert parse_judgments(format_judgments(judgments, "wmt"), "f")[1].document == "d2"


def test_several_languages_are_several_documents():
    rows = ["cze,eng,7,ann,A,1,B,2", "eng,cze,7,ann,A,1,B,2"]
    judgments = parse_judgments(table(f"srclang,trglang,{PLAIN}", *rows), "f")
    assert [r.document for r in judgments] == ["cze-eng", "eng-cze"]
    assert "several language pairs: cze-eng, eng-cze" in judgments.notes[0]
    hits = [f'HIT source-language="{a}" target-language="{b}"' for a, b in ("xy", "yx")]
    text = "".join(around(hit, TASK, item=RESULT) for hit in hits)
    judgments = parse_judgments(f"<WMT16-results>{text}</WMT16-results>", "f")
    assert [r.document for r in judgments] == ["x-y", "y-x"]
    assert "several language pairs: x-y, y-x" in judgments.notes[0]


# --- language models -------------------------------------------------------------------------


def test_scores_and_replies_survive_in_lines(tmp_path):
    reply = {"text": "A\x00: 3", "scores": {"A": 3}, "attempt": 1, "tokens": [12, 3]}
    ranking = Ranking(
        judge="m",
        segment=1,
        groups=(("A",), ("B",)),
        ranks=(1, 2),
        scores=(3.25, None),
        replies=(reply,),
    )
    assert parse_judgments(format_judgments([ranking], "jsonl"), "f")[0] == ranking
    (lost,) = write_judgments(tmp_path / "a.xml", [ranking])
    assert lost.endswith("XML cannot hold everything: 1 items with scores, 1 items with replies")
    assert json.loads(format_judgments([ranking], "jsonl"))["scores"] == [3.25, None]
