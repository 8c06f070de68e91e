"""Shards: read in blocks, written back, nothing lost on the way."""

import gzip
import json
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError, UsageError
from grammeter.formats.shard_rows import (
    Sink,
    encode,
    output_of,
    parse_block,
    widened,
)
from grammeter.formats.shards import find_shards, odd_ends, read_blocks


def rows_of(path, size=3):
    (shard,) = find_shards([str(path)])
    return [row for block in read_blocks(shard, size) for row in parse_block(block)]


def test_json_lines_keep_every_row_and_its_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"x": 1}\r\n\n[1]\n{"y": "\xc3\xa9"}\n{"x": "\xff"}\n{"x": NaN}')
    rows = rows_of(path, size=2)
    assert [row.line for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows[0].cells == {"x": 1}
    assert rows[3].cells == {"y": "é"}
    faults = [row.fault for row in rows]
    assert faults[0] is faults[3] is None
    assert "JSON" in faults[1]
    assert faults[2] == "no JSON object"
    assert "0xff" in faults[4]
    assert rows[4].cells == {"raw": '{"x": "\\xff"}'}
    assert "NaN" in faults[5]


def test_tsv_with_cells_too_few_too_many_and_no_utf8(tmp_path):
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(b"s\th\n1\t2\n1\n1\t2\t3\n\xff\t2\n\t\n"))
    rows = rows_of(path)
    assert [row.line for row in rows] == [2, 3, 4, 5, 6]
    assert rows[0].cells == {"s": "1", "h": "2"}
    assert rows[1].fault == "1 cell in 2 columns"
    assert rows[2].cells == {"s": "1", "h": "2 3"}
    assert rows[3].cells == {"s": "\\xff", "h": "2"}
    assert rows[4].cells == {"s": "", "h": ""}


def test_csv_cells_may_hold_line_ends(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b's,h\n"a, ""b""\nc",d\n\xff,e\n')
    rows = rows_of(path)
    assert rows[0].cells == {"s": 'a, "b"\nc', "h": "d"}
    assert rows[1].fault == "not UTF-8: byte 0xff"
    assert rows[1].cells == {"s": "\\xff", "h": "e"}


def test_parallel_texts(tmp_path):
    (tmp_path / "s.txt").write_text("a\tb\nc\n\n", "utf-8")
    (tmp_path / "h.txt").write_text("d\n\u2028e\nf", "utf-8")
    rows = rows_of(f"{tmp_path}/s.txt:{tmp_path}/h.txt")
    assert [row.cells for row in rows] == [
        {"source": "a b", "hypothesis": "d"},
        {"source": "c", "hypothesis": "\u2028e"},
        {"source": "", "hypothesis": "f"},
    ]


@pytest.mark.parametrize(
    ("content", "line"),
    [(b's,h\na,b\n"c,d\ne,f\n', 3), (b's,h\n"a\nb",c\nd,"e\nf\n', 4), (b"s,h\na\rb,c\n", 2)],
)
def test_a_stray_quote_in_csv_does_not_swallow_rows(tmp_path, content, line):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match=rf"a\.csv:{line}: not CSV"):
        rows_of(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [("a.tsv", b"s\th\n", ("s", "h")), ("a.csv", b"s,h", ("s", "h")), ("a.jsonl", b"", ())],
)
def test_a_table_without_rows_still_has_columns(tmp_path, name, content, columns):
    (tmp_path / name).write_bytes(content)
    (shard,) = find_shards([f"{tmp_path}/{name}"])
    blocks = list(read_blocks(shard, 3))
    assert [(block.columns, parse_block(block)) for block in blocks] == [(columns, [])]


def test_byte_order_marks_and_cr_are_told(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"\xef\xbb\xbfs\th\r\n1\t2\r\n")
    (shard,) = find_shards([f"{tmp_path}/a.tsv"])
    mark, ends = odd_ends(shard)
    assert "byte order mark" in mark
    assert "CR LF" in ends
    assert rows_of(tmp_path / "a.tsv")[0].cells == {"s": "1", "h": "2"}


@pytest.mark.parametrize("longer", [0, 1])
def test_parallel_texts_of_unequal_lengths(tmp_path, longer):
    for at, name in enumerate(("s.txt", "h.txt")):
        (tmp_path / name).write_text("a\n" * (3 if at == longer else 2))
    with pytest.raises(DataError, match=r"s\.txt|h\.txt"):
        rows_of(f"{tmp_path}/s.txt:{tmp_path}/h.txt")


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"s": ["a", None, "c"], "n": [1, 2, 3]})
    parquet.write_table(table, tmp_path / "a.parquet")
    rows = rows_of(tmp_path / "a.parquet", size=2)
    assert [row.line for row in rows] == [1, 2, 3]
    assert rows[1].cells == {"s": None, "n": 2}
    parquet.write_table(table.slice(0, 0), tmp_path / "empty.parquet")
    assert rows_of(tmp_path / "empty.parquet") == []


def test_a_row_of_parquet_that_cannot_be_read_is_a_fault(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    data = pyarrow.array([b"a", b"b \xff"], pyarrow.binary())
    texts = pyarrow.Array.from_buffers(pyarrow.string(), 2, data.buffers())
    days = pyarrow.array([0, 10_000_000], pyarrow.date32())
    table = pyarrow.table({"source": texts, "hypothesis": ["c", "d"], "day": days})
    parquet.write_table(table, tmp_path / "a.parquet")
    (shard,) = find_shards([str(tmp_path / "a.parquet")])
    first, row = [row for block in read_blocks(shard, 10) for row in parse_block(block)]
    assert (first.cells["source"], first.fault) == ("a", None)
    assert row.cells == dict.fromkeys(["source", "hypothesis", "day"])
    assert row.fault is not None
    assert row.fault.startswith("cannot be read: 'utf-8' codec can't decode byte 0xff")


def test_dates_stand_in_tables_without_quotes():
    cells = {"day": date(2024, 5, 1), "sure": Decimal("1.50"), "held": {"a": [1]}, "yes": True}
    assert encode("csv", [cells], {}) == b'2024-05-01,1.50,"{""a"": [1]}",True\n'
    assert encode("tsv", [cells], {}) == b'2024-05-01\t1.50\t{"a": [1]}\tTrue\n'


def test_parquet_that_is_damaged_inside_is_named(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    words = [f"word {number * 7919 % 1000}" for number in range(5000)]
    parquet.write_table(pyarrow.table({"s": words}), path, use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[10:2000] = bytes(1990)
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"a\.parquet: no sound parquet"):
        rows_of(path, size=100)


def test_numbers_that_json_lacks_become_null():
    rows = [{"x": float("nan"), "y": [1.5, float("inf")], "z": {"w": float("nan")}}]
    assert json.loads(encode("jsonl", rows, {})) == {"x": None, "y": [1.5, None], "z": {"w": None}}


def test_row_groups_of_parquet_are_not_those_of_blocks(tmp_path):
    pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    sink = Sink(tmp_path / "a.parquet", "parquet")
    for number in range(30):
        sink.write(encode("parquet", [{"x": number}], {"x": "count"}), ("x",))
    sink.finish()
    file = parquet.ParquetFile(tmp_path / "a.parquet")
    assert file.num_row_groups == 1
    assert file.read().to_pylist() == [{"x": number} for number in range(30)]
    file.close()


def test_new_columns_of_arrow_leave_the_old_ones_as_they_are():
    pyarrow = pytest.importorskip("pyarrow")
    old = pyarrow.table({"s": ["a", "b", "c"], "n": pyarrow.array([1, 2, 3], pyarrow.int8())})
    new = encode("parquet", [{"x": 0.5}, {"x": None}, {"x": 1.0}], {"x": "value"})
    wide = widened(old, new, [0, 2])
    assert wide.schema.field("n").type == pyarrow.int8()
    assert wide.to_pylist() == [{"s": "a", "n": 1, "x": 0.5}, {"s": "c", "n": 3, "x": 1.0}]


@pytest.mark.parametrize(
    ("content", "name"),
    [(b"", "a.tsv"), (b"x\tx\n1\t2\n", "a.tsv"), (b"\xff\n", "a.tsv"), (b"PAR1", "a.parquet"),
     (b"\x1f\x8bbroken", "a.jsonl.gz")],
)  # fmt: skip
def test_a_file_damaged_as_a_whole_is_named(tmp_path, content, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name):
        rows_of(tmp_path / name)


def test_files_patterns_and_names(tmp_path):
    for name in ("b.jsonl", "a.jsonl.gz", "c.txt"):
        (tmp_path / name).write_bytes(b"")
    shards = find_shards([f"{tmp_path}/*.jsonl*"])
    assert [shard.name for shard in shards] == ["a.jsonl.gz", "b.jsonl"]
    with pytest.raises(UsageError, match="format"):
        find_shards([f"{tmp_path}/c.txt"])
    with pytest.raises(DataError, match="no file fits"):
        find_shards([f"{tmp_path}/*.tsv"])
    with pytest.raises(DataError, match="no such file"):
        find_shards([f"{tmp_path}/d.tsv"])
    with pytest.raises(DataError, match="no such file"):
        find_shards([str(tmp_path)])
    with pytest.raises(UsageError, match="standard input"):
        find_shards(["-"])


def test_names_and_forms_of_outputs(tmp_path):
    for name in ("a.tsv.gz", "s.txt", "h.txt", "g.txt.gz", "b.jsonl"):
        (tmp_path / name).write_bytes(b"")
    table, texts, packed, lines = find_shards(
        [
            f"{tmp_path}/a.tsv.gz",
            f"{tmp_path}/s.txt:{tmp_path}/h.txt",
            f"{tmp_path}/s.txt:{tmp_path}/g.txt.gz",
            f"{tmp_path}/b.jsonl",
        ]
    )
    assert output_of(table, None) == ("tsv", "a.tsv.gz")
    assert output_of(table, "jsonl") == ("jsonl", "a.jsonl.gz")
    assert output_of(table, "parquet") == ("parquet", "a.parquet")
    assert output_of(texts, None) == ("tsv", "h.tsv")
    assert output_of(packed, None) == ("tsv", "g.tsv.gz")
    with pytest.raises(UsageError, match="columns"):
        output_of(lines, "tsv")


def test_a_file_has_its_name_only_when_it_is_whole(tmp_path):
    sink = Sink(tmp_path / "a.tsv", "tsv")
    sink.write(encode("tsv", [{"x": "1\t2", "y": None}], {}), ("x", "y"))
    assert not (tmp_path / "a.tsv").exists()
    sink.finish()
    assert (tmp_path / "a.tsv").read_text() == "x\ty\n1 2\t\n"
    left = Sink(tmp_path / "b.tsv", "tsv")
    left.write(b"1\n", ("x",))
    left.abandon()
    assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"]


cells = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@given(st.lists(st.dictionaries(st.text(), cells, max_size=4), max_size=8), st.integers(1, 4))
def test_json_lines_survive_the_round_trip(tmp_path_factory, objects, size):
    path = tmp_path_factory.mktemp("round") / "a.jsonl"
    sink = Sink(path, "jsonl")
    sink.write(encode("jsonl", objects, {}), ())
    sink.finish()
    rows = rows_of(path, size)
    assert [row.cells for row in rows] == json.loads(json.dumps(objects))
    assert [row.line for row in rows] == list(range(1, len(objects) + 1))
