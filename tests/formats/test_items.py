"""JSON lines of campaign items."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError, Item, Signature
from grammeter.formats.judged import ITEM_KEYS as KEYS
from grammeter.formats.judged import items_text, read_items, write_items

FULL = Item(
    segment=136,
    systems=("AMU", "CUUI"),
    groups=(("AMU", "CAMB"), ("CUUI",)),
    judges=("annotator01",),
    item="17",
    repeat=True,
    distinct=7,
    probability=0.00089,
    signature=Signature.of("sample", {"seed": 1}),
    task="rating",
)


def test_a_line_is_as_promised():
    data = json.loads(items_text([FULL]))
    assert list(data) == list(KEYS)
    assert data == {
        "segment": 136,
        "systems": ["AMU", "CUUI"],
        "judges": ["annotator01"],
        "groups": [["AMU", "CAMB"], ["CUUI"]],
        "item": "17",
        "repeat": True,
        "distinct": 7,
        "probability": 0.00089,
        "signature": str(FULL.signature),
        "task": "rating",
    }


def test_what_is_unknown_is_left_out():
    data = json.loads(items_text([Item(segment=1, systems=("A", "B"))]))
    assert list(data) == ["segment", "systems", "groups", "judges", "repeat"]


def test_the_shape_that_other_programs_write(tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_text('{"segment": 136, "systems": ["AMU", "CUUI"], "judges": ["x"]}\r\n')
    assert read_items(path) == (Item(segment=136, systems=("AMU", "CUUI"), judges=("x",)),)


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4)


@st.composite
def items(draw):
    everyone = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    cuts = sorted(draw(st.sets(st.integers(1, len(everyone)), max_size=5)) | {len(everyone)})
    starts = [0, *cuts[:-1]]
    groups = tuple(tuple(everyone[a:b]) for a, b in zip(starts, cuts, strict=True))
    return Item(
        segment=draw(st.integers(1, 5000)),
        systems=tuple(draw(st.sampled_from(group)) for group in groups),
        groups=groups,
        judges=tuple(draw(st.lists(names, max_size=3, unique=True))),
        item=draw(st.none() | names),
        repeat=draw(st.booleans()),
        distinct=draw(st.none() | st.integers(len(groups), 20)),
        probability=draw(st.none() | st.floats(0, 1, exclude_min=True)),
        signature=draw(st.none() | st.builds(Signature.of, names, st.dictionaries(names, names))),
    )


@given(st.lists(items(), min_size=1, max_size=4))
def test_round_trip(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("items") / "items.jsonl"
    write_items(path, written)
    assert read_items(path) == tuple(written)
    assert path.read_text("utf-8") == items_text(read_items(path))


def test_gzip(tmp_path):
    path = tmp_path / "items.jsonl.gz"
    write_items(path, [FULL])
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert read_items(path) == (FULL,)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON: .* at character 2"),
        ("", "not JSON"),
        ("[1]", "no JSON object"),
        ('{"systems": ["A"]}', "no segment"),
        ('{"segment": 1}', "no systems"),
        ('{"segment": "1", "systems": ["A"]}', "segment is one text, '1', where a whole number"),
        ('{"segment": true, "systems": ["A"]}', "where a whole number"),
        ('{"segment": 1.5, "systems": ["A"]}', "where a whole number"),
        ('{"segment": 0, "systems": ["A"]}', "count from 1"),
        ('{"segment": 1, "systems": "A"}', "where a list belongs"),
        ('{"segment": 1, "systems": [1]}', r"systems\[0\] is 1, where a text"),
        ('{"segment": 1, "systems": ["A"], "groups": {}}', "where a list belongs"),
        ('{"segment": 1, "systems": ["A"], "groups": ["A"]}', "where a list belongs"),
        ('{"segment": 1, "systems": ["A"], "groups": [["B"]]}', "do not fit"),
        ('{"segment": 1, "systems": ["A"], "judge": ["x"]}', "unknown key 'judge'"),
        ('{"segment": 1, "segment": 2, "systems": ["A"]}', "twice"),
        ('{"segment": 1, "systems": ["A"], "repeat": 1}', "where a bool belongs"),
        ('{"segment": 1, "systems": ["A"], "item": 7}', "where a text belongs"),
        ('{"segment": 1, "systems": ["A"], "probability": NaN}', "no probability"),
        ('{"segment": 1, "systems": ["A"], "probability": "high"}', "where a number belongs"),
        ('{"segment": 1, "systems": ["A"], "signature": "a|b"}', "no colon"),
        ("[" * 100_000, "recursion|nesting|deep|JSON"),
    ],
)
def test_bad_lines_name_file_and_line(tmp_path, line, message):
    path = tmp_path / "items.jsonl"
    path.write_text(f"{items_text([FULL])}{line}\n")
    with pytest.raises(DataError, match=message) as caught:
        read_items(path)
    assert caught.value.where == f"{path}:2"
    assert caught.value.fix


def test_an_empty_file(tmp_path):
    (tmp_path / "items.jsonl").touch()
    with pytest.raises(DataError, match="empty"):
        read_items(tmp_path / "items.jsonl")
