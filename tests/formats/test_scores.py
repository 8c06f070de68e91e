"""Scores of other programs and of people: every format, and every way to be wrong."""

import gzip
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_metric import scored, systems
from grammeter.core import DataError, Ranked, RankedSystem, Signature
from grammeter.formats.judged import Judgments
from grammeter.formats.scores import (
    metric_name,
    parse_score_file,
    read_human,
    read_score_file,
)

HEADER = "metric\tsystem\tvalue\n"
SEGMENTS = "metric\tsystem\tsegment\tvalue\n"


def parse(text, where="x.tsv"):
    return parse_score_file(text, where)


def values(table, metric):
    return {name: score.value for name, score in table[metric].items()}


def test_system_level():
    table = parse(HEADER + "m2\tA\t0.5\nm2\tB\t-1e-2\ngleu\tA\t7\n")
    assert (table.systems, table.segments) == (("A", "B"), 0)
    assert values(table, "m2") == {"A": 0.5, "B": -0.01}
    assert values(table, "gleu") == {"A": 7}
    assert table["m2"].segments == {}
    assert str(table["m2"].signature).startswith("m2|scores:foreign|system-level:as given|")


def test_columns_after_the_value_are_parts():
    table = parse("metric\tsystem\tvalue\tprecision\trecall\nm2\tA\t0.5\t0.6\t0.25\n")
    assert table["m2"]["A"].parts == {"precision": 0.6, "recall": 0.25}


def test_segment_level_counts_from_one_and_averages():
    table = parse(SEGMENTS + "x\tA\t2\t1\nx\tA\t1\t0\nx\tB\t1\t0.5\nx\tB\t2\t0.5\n")
    assert table.segments == 2
    assert table["x"].segments["A"].values.tolist() == [0, 1]
    assert table["x"].segments["A"].chosen.tolist() == [-1, -1]
    assert values(table, "x") == {"A": 0.5, "B": 0.5}
    assert "system-level:mean of segments" in str(table["x"].signature)


def test_a_missing_segment_is_nan_with_a_reason():
    table = parse(SEGMENTS + "x\tA\t1\t0\nx\tA\t3\t1\nx\tB\t1\tNone\nx\tB\t2\t1\nx\tB\t3\t1\n")
    assert np.isnan(table["x"].segments["A"].values).tolist() == [False, True, False]
    assert table["x"].segments["A"].reason == "the file has no score"
    assert math.isnan(table["x"]["B"].value)
    assert table["x"]["B"].reason == "1 of 3 segments have no score"


@pytest.mark.parametrize("word", ["None", "NaN", "nan"])
def test_a_missing_value_is_nan_with_a_reason(word):
    score = parse(HEADER + f"x\tA\t{word}\n")["x"]["A"]
    assert math.isnan(score.value)
    assert score.reason == "the file has no score"


def test_wmt_metrics_task():
    table = parse("bleu\ten-de\tset\tA\t0.5\nbleu\ten-de\tset\tB\t0.25\n")
    assert values(table, "bleu") == {"A": 0.5, "B": 0.25}
    for first in (0, 1):
        rows = "".join(f"b\ten-de\tset\tA\t{first + i}\t{i}\n" for i in range(3))
        assert parse(rows)["b"].segments["A"].values.tolist() == [0, 1, 2]


def test_mt_metrics_eval():
    assert values(parse("A\t0.5\nB\tNone\n", "d/BLEU-refA.sys.score"), "BLEU-refA")["A"] == 0.5
    table = parse("A 1\nA 2\nB 3\nB 4\n", "COMET.seg.score")
    assert table["COMET"].segments["B"].values.tolist() == [3, 4]
    with pytest.raises(DataError, match=r"systems differ in their number of lines"):
        parse("A 1\nA 2\nB 3\n", "x.seg.score")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/scores.m2.0", "m2.0"),
        ("BLEU-refA.seg.score", "BLEU-refA"),
        ("x.tsv.gz", "x"),
        (".txt", ".txt"),
    ],
)
def test_a_metric_is_named_after_its_file(path, name):
    assert metric_name(path) == name


def test_the_papers_own_files(shared):
    table = read_score_file(shared / "data/human_gjg15/metrics/scores.m2")
    assert table["m2"]["CAMB"].parts == {"precision": 0.3924, "recall": 0.3024}
    assert len(table.systems) == 13
    folder = shared / "data/meta_chollampatt_ng_2018/scores"
    table = read_score_file(folder / "sentence_scores_metrics/m2score.txt.gz")
    assert (table.segments, len(table["m2score"])) == (1312, 13)
    human = read_human(folder / "system_scores_humans/expected_wins.txt.gz")
    assert human["AMU"] == 0.628


def test_what_score_wrote(tmp_path):
    table = scored(systems({"A": 0.5, "B": 0.7}))
    path = tmp_path / "s.json.gz"
    path.write_bytes(gzip.compress(json.dumps(table.to_full_dict()).encode()))
    again = read_score_file(path)
    assert again.to_full_dict() == table.to_full_dict()


def test_byte_order_mark_and_carriage_returns(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(b"\xef\xbb\xbf" + (HEADER + "x\tA\t1\n").replace("\n", "\r\n").encode())
    assert values(read_score_file(path), "x") == {"A": 1}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (HEADER + "x\tA\tgood\n", 2, "the score is 'good', no number"),
        (HEADER + "x\tA\tinf\n", 2, "the score is 'inf', no number"),
        (HEADER + "x\tA\t1e999\n", 2, "'1e999', no number"),
        (HEADER + "x\tA\t1_0\n", 2, "no number"),
        (HEADER + "x\tA\t1\nx\tA\t2\n", 3, "a second score of 'A' by 'x'; line 2 has one"),
        (HEADER + "x\tA\n", 2, "2 columns where 3 are due"),
        (HEADER + "x\tA\t1\n\nx\tB\t1\n", 3, "columns where 3 are due"),
        (HEADER + "\tA\t1\n", 2, "without a name"),
        (SEGMENTS + "x\tA\t0\t1\n", 2, "segment is '0', no whole number from 1"),
        (SEGMENTS + "x\tA\tone\t1\n", 2, "segment is 'one', no whole number from 1"),
        (SEGMENTS + "x\tA\t1\t1\nx\tA\t1\t1\n", 3, "a second score"),
        ("metric\tsystem\tscore\nx\tA\t1\n", 1, "neither a known header"),
        ("metric\tsystem\tvalue\tp\tp\nx\tA\t1\t1\t1\n", 1, "neither a known header"),
        ("hello\n", 1, "neither a known header nor a score"),
        ('{"kind": ', 1, "not JSON"),
    ],
)
def test_faults_have_file_and_line(text, line, message):
    with pytest.raises(DataError, match=message) as caught:
        parse(text)
    assert caught.value.where == f"x.tsv:{line}"


@pytest.mark.parametrize("text", ["", "\n \n", HEADER])
def test_nothing_is_refused(text):
    with pytest.raises(DataError, match=r"empty|no score below"):
        parse(text)


def test_json_of_another_kind_is_refused():
    with pytest.raises(DataError, match="these are no scores"):
        parse('{"kind": "ranking"}')


@given(
    st.dictionaries(
        st.sampled_from("ABC"),
        st.lists(st.floats(-1e100, 1e100), min_size=2, max_size=2),
        min_size=1,
    )
)
def test_numbers_come_back_exactly(scores):
    rows = "".join(f"x\t{s}\t{n}\t{v!r}\n" for s, vs in scores.items() for n, v in enumerate(vs, 1))
    segments = parse(SEGMENTS + rows)["x"].segments
    assert {name: row.values.tolist() for name, row in segments.items()} == scores


# --- people --------------------------------------------------------------------------------


def put(tmp_path, text):
    path = tmp_path / "human.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_human_scores(tmp_path):
    for text in (
        "system\tvalue\nA\t1\nB\t0.5\n",
        "A 1\nB 0.5\n",
        "h\tx\ty\tA\t1\nh\tx\ty\tB\t.5\n",
    ):
        assert read_human(put(tmp_path, text)) == {"A": 1, "B": 0.5}


def test_a_ranking(tmp_path):
    rows = (RankedSystem("A", 0.7, (1, 1), 1), RankedSystem("B", math.nan, (2, 2), 2, "alone"))
    ranked = Ranked("expected-wins", Signature.of("expected-wins", {}), rows)
    path = put(tmp_path, json.dumps(ranked.to_dict()))
    assert read_human(path)["B"].reason == "alone"


def test_judgments_are_read_as_such(tmp_path):
    line = '{"judge": "a", "segment": 1, "groups": [["A"], ["B"]], "ranks": [1, 2]}\n'
    path = put(tmp_path, line)
    assert isinstance(read_human(path), Judgments)


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("system\tvalue\nA\tgood\n", ":2", "the score is 'good', no number"),
        ("system\tvalue\nA\tNone\n", ":2", "no single score of 'A' by people"),
        ("system\tvalue\nA\t1\nA\t1\n", ":3", "a second score"),
        ("a\tx\ty\tA\t1\nb\tx\ty\tA\t1\n", ":2", "no single score of 'A' by people"),
        ("hello value\n", ":1", "neither a known header"),
        ("", "", "empty"),
    ],
)
def test_faults_of_human_scores(tmp_path, text, where, message):
    path = put(tmp_path, text)
    with pytest.raises(DataError, match=message) as caught:
        read_human(path)
    assert caught.value.where == f"{path}{where}"


def test_a_column_for_each_metric_as_score_prints_tsv():
    table = parse("system\tm2\tgleu(order=3)\nA\t0.5\t0.2\nB\t0.6\tNaN\n")
    assert table.systems == ("A", "B")
    assert values(table, "m2") == {"A": 0.5, "B": 0.6}
    assert values(table, "gleu(order=3)")["A"] == 0.2
    assert math.isnan(table["gleu(order=3)"]["B"].value)
    with pytest.raises(DataError, match="file:3: 2 columns where 3 are due"):
        parse("system\tm2\tgleu\nA\t0.5\t0.2\nB\t0.6\n", "file")


def test_the_header_of_people_names_a_metric_by_its_file():
    assert values(parse("system\tvalue\nA\t0.5\n", "mine.tsv"), "mine") == {"A": 0.5}


def test_named_columns_stand_in_any_order():
    header = "system\tsegment\tmetric\tvalue\treference\tparts\n"
    table = parse(header + 'A\t1\tm2\t0.5\t0\t{"tp": 1}\nA\t2\tm2\tnull\t\t{"tp": null}\n')
    scores = table["m2"].segments["A"]
    assert scores.values.tolist()[0] == 0.5
    assert math.isnan(scores.values[1])
    assert scores.parts["tp"].tolist()[0] == 1


def test_a_column_says_the_direction():
    head = "metric\tsystem\thigher_is_better\tvalue\n"
    table = parse(
        head + "wer\tA\tFalse\t0.5\nm2\tA\ttrue\t0.1\nwer\tB\tfalse\t.2\nm2\tB\ttrue\t1\n"
    )
    assert [column.higher_is_better for column in table.values()] == [False, True]
    assert not table.notes
    assert table["wer"]["A"].parts == {}
    with pytest.raises(DataError, match="'lower'") as caught:
        parse(head + "wer\tA\tlower\t0.5\n")
    assert caught.value.where == "x.tsv:2"
    with pytest.raises(DataError, match="not the same in all its lines"):
        parse(head + "wer\tA\tfalse\t0.5\nwer\tB\ttrue\t0.5\n")


def test_an_error_rate_without_a_direction_gets_a_note():
    table = parse(HEADER + "NLD\tA\t0.5\nm2\tA\t0.5\n")
    assert all(column.higher_is_better for column in table.values())
    (note,) = table.notes
    assert note.startswith("NLD: taken as higher is better")
    assert parse("system\tTER\nA\t0.5\n").notes
