"""Tables of any columns read alike from all formats; what is damaged is told with its line."""

from __future__ import annotations

import csv
import gzip
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError, UsageError
from grammeter.formats.tables import form_of, read_columns

ROWS = [("a b", "x", "1.5"), ("", "y,z", "2"), ('q"q', "w", "3")]
NAMES = ("source", "target", "score")


def write(path, rows=ROWS, names=NAMES):
    """Write a table in the format of its name."""
    table = [dict(zip(names, row, strict=True)) for row in rows]
    form = path.suffixes[0]
    if form == ".tsv":
        data = "".join("\t".join(row) + "\n" for row in [names, *rows]).encode()
    elif form == ".csv":
        out = io.StringIO(newline="")
        csv.writer(out).writerows([names, *rows])
        data = out.getvalue().encode()
    elif form == ".jsonl":
        data = "".join(json.dumps(row) + "\n" for row in table).encode()
    else:
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        out = io.BytesIO()
        parquet.write_table(arrow.Table.from_pylist(table), out)
        data = out.getvalue()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["t.tsv", "t.csv", "t.jsonl", "t.parquet", "t.csv.gz"])
def test_all_formats(tmp_path, name):
    table = read_columns(write(tmp_path / name))
    assert len(table.lines) == 3
    assert tuple(table.cells) == NAMES
    assert table.texts("source") == ["a b", "", 'q"q']
    assert table.texts("target") == ["x", "y,z", "w"]
    assert table.numbers("score") == [1.5, 2.0, 3.0]
    assert table.first_of(["target.0", "target", "source"]) == "target"
    assert table.first_of(["none"]) is None
    first = {"tsv": 2, "csv": 2}.get(name.split(".")[1], 1)
    assert table.origin(0) == f"{tmp_path / name}:{first}"


cells = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=5)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=4))
def test_what_csv_writes_is_read(tmp_path_factory, rows):
    path = write(tmp_path_factory.mktemp("csv") / "t.csv", rows, ("a", "b"))
    table = read_columns(path)
    assert list(zip(table.texts("a"), table.texts("b"), strict=True)) == rows


def test_numbers_of_json(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n{"a": 2.5}\n{"a": "3"}\n')
    assert read_columns(path).numbers("a") == [1.0, 2.5, 3.0]


def test_a_csv_cell_over_several_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"one\ntwo",x\nthree,y\n')
    table = read_columns(path)
    assert table.texts("a") == ["one\ntwo", "three"]
    assert table.origin(1) == f"{path}:4"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [("true", "True"), ("null", "None"), ('"x"', "'x'"), ("NaN", "nan"), ("Infinity", "inf"),
     ("1" + "0" * 400, "no number"), ("[1]", "1"), ('""', "''")],
)  # fmt: skip
def test_no_number(tmp_path, cell, shown):
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"a": 1}}\n{{"a": {cell}}}\n')
    with pytest.raises(DataError, match=r"t\.jsonl:2") as caught:
        read_columns(path).numbers("a")
    assert shown in str(caught.value)


@pytest.mark.parametrize("cell", ["1", "null", '["x"]', r'"\ud800"'])
def test_no_text(tmp_path, cell):
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"a": {cell}}}\n')
    with pytest.raises(DataError, match=r"t\.jsonl:1"):
        read_columns(path).texts("a")


def test_no_such_column(tmp_path):
    table = read_columns(write(tmp_path / "t.tsv"))
    with pytest.raises(DataError, match="no column 'sources'") as caught:
        table.texts("sources")
    assert "source" in (caught.value.fix or "")


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("t.tsv", "", "t.tsv"),
        ("t.tsv", "a\tb\n", "t.tsv"),
        ("t.tsv", "a\ta\n1\t2\n", "t.tsv:1"),
        ("t.tsv", "a\tb\n1\t2\n1\n", "t.tsv:3"),
        ("t.csv", "", "t.csv"),
        ("t.csv", "\n", "t.csv:1"),
        ("t.csv", "a,b\n1,2,3\n", "t.csv:2"),
        ("t.csv", 'a,b\n"1"x,2\n', "t.csv:2"),
        ("t.jsonl", "", "t.jsonl"),
        ("t.jsonl", '{"a": 1}\n{"b": 1}\n', "t.jsonl:2"),
        ("t.jsonl", '{"a": 1}\n[1]\n', "t.jsonl:2"),
        ("t.jsonl", '{"a": 1}\n\n', "t.jsonl:2"),
        ("t.jsonl", "[" * 100_000, "t.jsonl:1"),
        ("t.parquet", "no parquet", "t.parquet"),
    ],
)
def test_damaged_files(tmp_path, name, text, where):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as caught:
        read_columns(tmp_path / name)
    assert (caught.value.where or "").endswith(where)
    assert caught.value.fix


def test_parquet_with_a_name_twice(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.Table.from_arrays([arrow.array(["x"])] * 2, names=["a", "a"])
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DataError, match="twice"):
        read_columns(tmp_path / "t.parquet")


def test_names_tell_the_format(tmp_path):
    assert form_of("x.csv")
    assert form_of("x.parquet.gz")
    assert not form_of("x.txt")
    with pytest.raises(UsageError, match="does not tell the format"):
        read_columns(tmp_path / "t.txt")
