"""A corpus in one table."""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammeter.core import DataError, MissingResourceError, UsageError
from grammeter.formats.corpus import Corpus
from grammeter.formats.records import read_records, write_records


def made(
    sources: Sequence[str],
    references: Sequence[Sequence[str | None]] = (),
    systems: Mapping[str, Sequence[str]] | None = None,
) -> Corpus:
    return Corpus(sources=sources, references=references, systems=systems or {})


def parts(corpus: Corpus) -> tuple[object, ...]:
    return corpus.sources, corpus.references, corpus.systems


EXAMPLE = made(
    ("She go home .", "All fine ."),
    (("She goes home .", "All fine ."), ("She went home .", None)),
    {"AMU": ("She goes home .", "All fine ."), "GPT-3.5": ("She go home .", "")},
)
COMPLETE = made(EXAMPLE.sources, EXAMPLE.references[:1], EXAMPLE.systems)
JSON_LINES = """\
{"source": "She go home .", "references": ["She goes home .", "She went home ."], "systems": \
{"AMU": "She goes home .", "GPT-3.5": "She go home ."}}
{"source": "All fine .", "references": ["All fine .", null], "systems": \
{"AMU": "All fine .", "GPT-3.5": ""}}
"""
TSV = """\
source\treference.0\tsystem.AMU\tsystem.GPT-3.5
She go home .\tShe goes home .\tShe goes home .\tShe go home .
All fine .\tAll fine .\tAll fine .\t
"""


def put(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8", newline="")
    return folder / name


def test_json_lines_as_documented(tmp_path: Path) -> None:
    path = put(tmp_path, "a.jsonl", JSON_LINES)
    assert parts(read_records(path)) == parts(EXAMPLE)
    write_records(tmp_path / "b.jsonl", EXAMPLE)
    assert (tmp_path / "b.jsonl").read_text(encoding="utf-8") == JSON_LINES


def test_tsv_as_documented(tmp_path: Path) -> None:
    assert parts(read_records(put(tmp_path, "a.tsv", TSV))) == parts(COMPLETE)


def test_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    text = "system.B,reference.1,reference.0,source\nb,r1,r0,s\n"
    corpus = read_records(put(tmp_path, "a.csv", text))
    assert parts(corpus) == (("s",), (("r0",), ("r1",)), {"B": ("b",)})


def test_csv_quotes(tmp_path: Path) -> None:
    corpus = read_records(put(tmp_path, "a.csv", 'source\r\n"a, ""b"" c"\r\nd\r\n'))
    assert corpus.sources == ('a, "b" c', "d")
    with pytest.raises(DataError, match="a line end in") as caught:
        read_records(put(tmp_path, "b.csv", 'source\r\nd\r\n"a\n c"\r\n'))
    assert caught.value.where == f"{tmp_path / 'b.csv'}:2"


def test_a_row_without_references_is_refused(tmp_path: Path) -> None:
    text = '{"source": "b", "references": ["c", "d"]}\n{"source": "a"}\n'
    with pytest.raises(DataError, match="other keys than in line 1: references"):
        read_records(put(tmp_path, "a.jsonl", text))


def test_bom_cr_and_gzip(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + TSV.replace("\n", "\r\n").encode()
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(data))
    assert parts(read_records(tmp_path / "a.tsv.gz")) == parts(COMPLETE)


def test_same_records_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    written: list[bytes] = []
    for _ in range(2):
        write_records(path, COMPLETE)
        written.append(path.read_bytes())
    assert written[0] == written[1]
    assert written[0][:2] == b"\x1f\x8b"
    assert parts(read_records(path)) == parts(COMPLETE)


def test_names_tell_the_format(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"does not tell the format"):
        read_records(tmp_path / "a.txt")
    with pytest.raises(UsageError, match=r"is written as JSON lines"):
        write_records(tmp_path / "a.tsv", COMPLETE)


def write(path: Path, corpus: Corpus) -> None:
    """Write a corpus in the format of the name, as another program would."""
    if path.suffix == ".jsonl":
        write_records(path, corpus)
        return
    columns = {"source": corpus.sources}
    columns |= {f"reference.{n}": of for n, of in enumerate(corpus.references)}
    columns |= {f"system.{name}": of for name, of in corpus.systems.items()}
    if path.suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow")
        arrays = {name: arrow.array(of, arrow.string()) for name, of in columns.items()}
        pytest.importorskip("pyarrow.parquet").write_table(arrow.table(arrays), path)
        return
    rows = [[*columns], *zip(*columns.values(), strict=True)]
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            csv.writer(file).writerows(rows)
        else:
            file.writelines("\t".join(row) + "\n" for row in rows)


plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=6)
single = plain.filter(lambda text: not set(text) & set("\t\r"))
names = single.filter(bool)


@st.composite
def records(draw: st.DrawFn, texts: st.SearchStrategy[str], *, lacking: bool) -> Corpus:
    count = draw(st.integers(1, 3))
    column = st.tuples(*[texts] * count)
    reference = st.tuples(*[st.none() | texts] * count) if lacking else column
    more = draw(st.lists(reference, max_size=2))
    return made(
        draw(column),
        (draw(column), *more) if more else (),
        draw(st.dictionaries(names, column, max_size=2)),
    )


@settings(max_examples=60)
@given(st.data())
@pytest.mark.parametrize("form", ["jsonl", "tsv", "csv", "parquet"])
def test_reads_what_it_wrote(
    tmp_path_factory: pytest.TempPathFactory, form: str, data: st.DataObject
) -> None:
    texts = single if form == "tsv" else plain
    written = data.draw(records(texts, lacking=form in {"jsonl", "parquet"}))
    path = tmp_path_factory.getbasetemp() / f"round.{form}"
    write(path, written)
    corpus = read_records(path)
    assert parts(corpus) == parts(written)
    assert list(corpus.systems) == list(written.systems)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "empty"),
        ('{"source": "a"}\n\n', 2, "not JSON: Expecting value at character 1"),
        ('{"source": "a"}\n{"source": "b"', 2, "not JSON"),
        ('["a"]\n', 1, "no JSON object"),
        ('{"source": 1}\n', 1, "source is 1, no text"),
        ('{"source": null}\n', 1, "source is None, no text"),
        ('{"sorce": "a"}\n', 1, "unknown key 'sorce'"),
        ('{"references": []}\n', None, "no column 'source'"),
        ('{"source": "a", "source": "b"}\n', 1, "'source' comes twice"),
        ('{"source": "a", "systems": {"A": "b", "A": "c"}}\n', 1, "'A' comes twice"),
        ('{"source": "a", "references": "b"}\n', 1, "not JSON: Expecting value"),
        ('{"source": "a", "references": null}\n', 1, "references is no list, or object"),
        ('{"source": "a", "references": [["b"]]}\n', 1, r"reference\.0 is \[\'b\'\], no text"),
        ('{"source": "a", "systems": {"A": null}}\n', 1, r"system\.A is None, no text"),
        ('{"source": "a", "systems": ["b"]}\n', 1, "systems is no list, or object"),
        ('{"source": "\\ud800"}\n', 1, r"U\+D800, half a surrogate pair"),
        ('{"source": "a", "references": ["b", "c"]}\n{"source": "a", "references": ["b"]}\n', 2,
         "other keys than in line 1: reference.1"),
        ('{"source": "a", "systems": {"A": "b"}}\n{"source": "a"}\n', 2, "in line 1: systems"),
        ('{"source": "a", "systems": {"": "b"}}\n', None, "unknown column 'system.'"),
        ('{"source": NaN}\n', 1, "source is nan, no text"),
        ("[" * 100_000, 1, "not JSON"),
    ],
)  # fmt: skip
def test_faults_of_json_lines(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    path = put(tmp_path, "a.jsonl", text)
    with pytest.raises(DataError, match=message) as caught:
        read_records(path)
    if line is not None:
        assert caught.value.where == f"{path}:{line}"
    assert caught.value.fix


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "the file is empty"),
        ("source\n", None, "no row below the column heads"),
        ("source\treference.0\na\n", 2, "1 cells, but the first line has 2"),
        ("source\na\tb\n", 2, "2 cells, but the first line has 1"),
        ("source\tsource\na\tb\n", 1, "'source' comes twice"),
        ("source\treference.1\na\tb\n", 1, "unknown column 'reference.1'"),
        ("source\treference.00\na\tb\n", 1, "unknown column 'reference.00'"),
        ("reference.0\na\n", 1, "no column 'source'"),
        ("source\tid\na\tb\n", 1, "unknown column 'id'"),
        ("source\tsystem.\na\tb\n", 1, "unknown column 'system.'"),
    ],
)
@pytest.mark.parametrize("form", ["tsv", "csv"])
def test_faults_of_tables(
    tmp_path: Path, form: str, text: str, line: int | None, message: str
) -> None:
    path = put(tmp_path, f"a.{form}", text.replace("\t", "," if form == "csv" else "\t"))
    with pytest.raises(DataError, match=message) as caught:
        read_records(path)
    assert caught.value.where == (str(path) if line is None else f"{path}:{line}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('source,system.A\n"a\nb",c\nd\n', 4),  # a cell over two lines counts as two
        ('source\n"a"b\n', 2),
        ('source\n"a\n', 2),
        ("source\na\n\nb\n", 3),
    ],
)
def test_csv_faults_name_the_line_of_the_file(tmp_path: Path, text: str, line: int) -> None:
    path = put(tmp_path, "a.csv", text)
    with pytest.raises(DataError) as caught:
        read_records(path)
    assert caught.value.where == f"{path}:{line}"


def test_not_utf8_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"source\na\n\xff\n")
    with pytest.raises(DataError) as caught:
        read_records(tmp_path / "a.tsv")
    assert caught.value.where == f"{tmp_path / 'a.tsv'}:3"


def test_parquet_columns_must_be_texts(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    faulty = {
        "source is 1, no text": {"source": arrow.array([1])},
        "source is None, no text": {"source": ["a", None]},
        "system.A is None, no text": {"source": ["a"], "system.A": [None]},
        "unknown column 'x'": {"source": ["a"], "x": ["b"]},
        "no row": {"source": arrow.array([], type=arrow.string())},
    }
    path = tmp_path / "a.parquet"
    for message, columns in faulty.items():
        parquet.write_table(arrow.table(columns), path)
        with pytest.raises(DataError, match=message) as caught:
            read_records(path)
        row = {"source is 1": ":1", "source is N": ":2", "system.A is": ":1"}
        assert caught.value.where == str(path) + row.get(message[:11], "")
    path.write_bytes(b"no parquet at all")
    with pytest.raises(DataError, match="not parquet"):
        read_records(path)


def test_parquet_of_other_programs(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "source": arrow.array(["a", "b"], type=arrow.large_string()),
        "reference.0": arrow.nulls(2),
        "reference.1": ["c", "d"],
    }
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    corpus = read_records(tmp_path / "a.parquet")
    assert parts(corpus) == (("a", "b"), ((None, None), ("c", "d")), {})


def test_without_pyarrow_the_message_has_the_pip_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingResourceError, match=r"pip install 'grammeter\[records\]'"):
        read_records(tmp_path / "a.parquet")
