"""Parallel data by all spellings, and what each refuses."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from grammeter.core import DataError, Edit
from grammeter.formats.records import parallel_files, read_parallel

M2 = """\
S the cat go
A 2 3|||R:VERB|||goes|||REQUIRED|||-NONE-|||0
A 0 1|||R:DET|||a|||REQUIRED|||-NONE-|||1
A 2 3|||R:VERB|||went|||REQUIRED|||-NONE-|||1

S a dog
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S alone
"""


def test_m2(tmp_path):
    path = tmp_path / "t.m2"
    path.write_text(M2)
    corrections = read_parallel(str(path))
    assert [(row.source, row.edits, row.origin.rpartition("/")[2]) for row in corrections] == [
        ("the cat go", (Edit(2, 3, "goes", "R:VERB"),), "t.m2#1.0"),
        ("the cat go", (Edit(0, 1, "a", "R:DET"), Edit(2, 3, "went", "R:VERB")), "t.m2#1.1"),
        ("a dog", (), "t.m2#2"),
        ("alone", (), "t.m2#3"),
    ]
    assert all(row.text is None for row in corrections)


@pytest.mark.parametrize("packed", [False, True])
def test_two_texts(tmp_path, packed):
    names = [f"{name}.gz" if packed else name for name in ("s.txt", "t.txt")]
    for name, text in zip(names, ("the cat go\n\n", "the cat goes\r\n\r\n"), strict=True):
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if packed else data)
    corrections = read_parallel(f"{tmp_path / names[0]}:{tmp_path / names[1]}")
    assert [(row.source, row.edits, row.text) for row in corrections] == [
        ("the cat go", None, "the cat goes"),
        ("", None, ""),
    ]
    assert corrections[1].origin == f"{tmp_path / names[0]}:2"


@pytest.mark.parametrize("names", [("source", "target"), ("src", "tgt"), ("source", "reference")])
def test_a_table(tmp_path, names):
    path = tmp_path / "t.tsv"
    path.write_text("\t".join(names) + "\na b\ta c\n")
    (row,) = read_parallel(str(path))
    assert (row.source, row.text, row.origin) == ("a b", "a c", f"{path}:2")


def test_columns_by_name(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("source\tmine\tyours\n1\t2\t3\n")
    (row,) = read_parallel(str(path), source="yours", target="mine")
    assert (row.source, row.text) == ("3", "2")
    with pytest.raises(DataError, match="no column 'target'"):
        read_parallel(str(path))


def test_spelling(tmp_path, monkeypatch):
    assert parallel_files("a.txt:b.txt") == [Path("a.txt"), Path("b.txt")]
    assert parallel_files("a.m2") == [Path("a.m2")]
    assert parallel_files(":b") == [Path(":b")]
    monkeypatch.chdir(tmp_path)
    Path("a:b.m2").write_text(M2)
    assert parallel_files("a:b.m2") == [Path("a:b.m2")]


def test_unequal_lengths(tmp_path):
    (tmp_path / "s").write_text("a\nb\n")
    (tmp_path / "t").write_text("a\n")
    with pytest.raises(DataError, match=r"2 lines, but .* has 1"):
        read_parallel(f"{tmp_path / 's'}:{tmp_path / 't'}")


@pytest.mark.parametrize(
    ("name", "text", "warning"),
    [
        ("t.m2", "", "empty"),
        ("t.m2", " \n\n", "empty"),
        ("t.m2", "S a\nA x\n", ":2"),
        ("t.txt", "one text alone\n", "no parallel data"),
    ],
)
def test_what_is_no_parallel_data(tmp_path, name, text, warning):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=warning) as caught:
        read_parallel(str(tmp_path / name))
    assert name in str(caught.value)


def test_an_empty_side(tmp_path):
    (tmp_path / "s").write_text("")
    (tmp_path / "t").write_text("a\n")
    with pytest.raises(DataError, match="empty"):
        read_parallel(f"{tmp_path / 's'}:{tmp_path / 't'}")


def test_a_missing_file(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_parallel(f"{tmp_path / 's'}:{tmp_path / 't'}")


def test_faults_of_m2_may_be_passed_over_and_are_counted(tmp_path):
    path = tmp_path / "a.m2"
    end = "|||REQUIRED|||-NONE-|||0\n"
    path.write_text(f"S a b\nA 1 9|||R|||x{end}what\nA 0 1|||R|||c{end}")
    with pytest.raises(DataError, match=r"a\.m2:2"):
        read_parallel(str(path))
    with pytest.warns(UserWarning, match=r"2 faults in .*a\.m2; the first: .*a\.m2:2"):
        (row,) = read_parallel(str(path), lenient=True)
    assert row.edits is not None
    assert [edit.correction for edit in row.edits] == ["c"]


def test_sentences_that_nobody_could_correct_are_left_out_and_counted(tmp_path):
    path = tmp_path / "a.m2"
    line = "A -1 -1|||{}|||-NONE-|||REQUIRED|||-NONE-|||0\n\n"
    path.write_text(f"S a b\n{line.format('NA')}S c d\n{line.format('noop')}", "utf-8")
    with pytest.warns(UserWarning, match=r"a\.m2: 1 sentences that nobody could correct"):
        rows = read_parallel(str(path))
    assert [(row.source, row.edits) for row in rows] == [("c d", ())]
