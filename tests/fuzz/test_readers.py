"""Damaged files end in a value or an error of ours; what once did not stands here by name."""

from __future__ import annotations

import gzip
import io
import resource
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz import hostile, samples
from fuzz.kept import NEEDS
from fuzz.mutations import mutate
from fuzz.readers import READERS, attempt, tried
from fuzz.trial import limits, trial
from grammeter.core import DataError, MissingResourceError
from grammeter.engine.job import parse_keep
from grammeter.formats import parse_sgml, read_records
from grammeter.formats.scores import parse_score_file
from grammeter.formats.tables import read_columns
from grammeter.formats.text import MAX_RATIO, read_bytes
from grammeter.training.pairs import PAIRS, Pair, pairs_of, pairs_text

INPUTS = 60
CUTS = 150


@pytest.fixture(autouse=True)
def _extras(request: pytest.FixtureRequest) -> None:
    name = str(request.node.name)
    for package, extra, words in NEEDS:
        if any(word in name for word in words):
            pytest.importorskip(package, reason=f"the extra {extra!r} is not installed")


@pytest.mark.parametrize("name", READERS)
def test_valid_files_are_read(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    for data in reader.seeds():
        path = tmp_path / f"input{reader.suffix}"
        path.write_bytes(data)
        if name == "archive":  # no made-up file belongs to a data set
            with pytest.raises(DataError):
                reader.call(path)
        else:
            reader.call(path)


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_end_in_a_value_or_an_error(name: str, tmp_path: Path) -> None:
    failures = tried(name, INPUTS, tmp_path)
    assert not failures, "\n".join(map(str, failures))


@pytest.mark.parametrize("name", READERS)
def test_files_that_break_off_end_in_a_value_or_an_error(name: str, tmp_path: Path) -> None:
    data = READERS[name].seeds()[0]
    step = len(data) // CUTS + 1
    failures = [f for end in range(0, len(data), step) for f in attempt(name, data[:end], tmp_path)]
    assert not failures, "\n".join(map(str, failures))


@pytest.mark.parametrize("name", ["reply", "spelling", "metric", "keep", "signature", "text"])
@given(text=st.text())
def test_any_text(name: str, text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    assert not attempt(name, text.encode("utf-8", "surrogatepass"), folder)


def test_same_seed_same_damage() -> None:
    data = samples.M2.encode()
    assert [mutate(data, Random(n)) for n in range(50)] == [
        mutate(data, Random(n)) for n in range(50)
    ]
    assert len({mutate(data, Random(n)) for n in range(50)}) > 40


@pytest.mark.parametrize("name", hostile.FILES)
def test_what_is_no_ordinary_file(name: str, tmp_path: Path) -> None:
    failures = hostile.odd(name, tmp_path)
    assert not failures, "\n".join(map(str, failures))


FEW = ["10 MB of brackets", "a gzip bomb", "a billion laughs", "CR alone", "10 MB of NUL"]


@pytest.mark.parametrize(
    "name", ["text", "m2", "judgments", "stored materials", "items", "shards jsonl", "shards text"]
)
def test_what_is_large_or_deep(name: str, tmp_path: Path) -> None:
    failures = hostile.huge(name, tmp_path, FEW)
    assert not failures, "\n".join(map(str, failures))


# --- the net itself: what it must catch ----------------------------------------------------


def test_other_exceptions_are_caught() -> None:
    assert "ZeroDivisionError" in trial(lambda: 1 / 0)


def test_an_error_of_ours_is_no_failure() -> None:
    def call() -> None:
        raise DataError("wrong", fix="Mend it.")

    assert trial(call) == ""


def test_hangs_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.trial.CPU_SECONDS", 0.2)

    def call() -> None:
        while True:
            pass

    assert "HangError" in trial(call)


def test_greed_is_caught_and_limits_go() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    assert "MemoryError" in trial(lambda: bytes(2**31))
    assert resource.getrlimit(resource.RLIMIT_AS) == before


# --- found and mended ----------------------------------------------------------------------


def test_gzip_bombs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.txt"
    packed = gzip.compress(bytes(2**22), mtime=0)
    path.write_bytes(packed * 300)  # 1.2 GiB in 1.2 MB
    with limits(), pytest.raises(DataError, match=f"more than {MAX_RATIO} times their size"):
        read_bytes(path)


def test_what_packs_well_is_read(tmp_path: Path) -> None:
    path = tmp_path / "same.txt.gz"
    path.write_bytes(gzip.compress(b"the same .\n" * 10**6, mtime=0))
    assert read_bytes(path) == b"the same .\n" * 10**6


def test_an_offset_of_5000_digits_is_no_number() -> None:
    text = samples.SGML.replace('start_off="4"', f'start_off="{"1" * 5000}"')
    with pytest.raises(DataError, match=r"f:11: start_off is '1+, no whole number"):
        parse_sgml(text, "f")


@pytest.mark.parametrize("read", [read_records, read_columns])
def test_parquet_with_a_column_name_that_is_no_utf_8(read, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra 'records' is not installed")
    path = tmp_path / "a.parquet"
    path.write_bytes(_parquet({"source": ["a"], "notes": ["b"]}).replace(b"notes", b"n\x9dtes"))
    with pytest.raises(DataError, match="not parquet"):
        read(path)


def test_parquet_with_a_date_beyond_python(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra 'records' is not installed")
    import pyarrow

    column = pyarrow.array([2**62], type=pyarrow.timestamp("us"))
    path = tmp_path / "a.parquet"
    path.write_bytes(_parquet({"source": ["a"], "when": column}))
    with pytest.raises(DataError, match="a value cannot be read"):
        read_columns(path)


def test_filters_on_numbers_too_large_for_a_float() -> None:
    keep = parse_keep("id > 3 and score < 1", ["id", "score"])
    assert keep({"id": 10**400, "score": 0.5})
    assert not keep({"id": 10**400, "score": float("nan")})


def test_training_pairs_with_odd_line_ends_are_read_back(tmp_path: Path) -> None:
    text = "a\u2028b\x85c\x0bd"
    pair = Pair("train", text, text, text, (0,), (0, 1), 0.25, 0.5, "x:1")
    (tmp_path / PAIRS).write_text(pairs_text([pair, pair]), encoding="utf-8")
    assert pairs_of(tmp_path) == [pair, pair]


def test_training_pairs_nested_too_deep(tmp_path: Path) -> None:
    (tmp_path / PAIRS).write_text("[" * 100_000)
    with pytest.raises(DataError, match="the pairs cannot be read"):
        pairs_of(tmp_path)


def test_a_cache_whose_damage_gets_into_words_of_errors(tmp_path: Path) -> None:
    """SQLite quotes what it finds; Python cannot decode that."""
    reader = READERS["figure cache"]
    data = reader.seeds()[0].replace(b"WITHOUT ROWID", b"WITHOUT ROW\xffD")
    assert not attempt("figure cache", data, tmp_path)
    data = READERS["parse cache"].seeds()[0].replace(b"WITHOUT ROWID", b"WITHOUT ROW\xffD")
    assert not attempt("parse cache", data, tmp_path)


def test_a_model_of_two_billion_blocks(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra 'neural' is not installed")
    data = READERS["model config"].seeds()[0]
    (tmp_path / "a").mkdir()
    damaged = data.replace(b'"num_hidden_layers": 2', b'"num_hidden_layers": 2147483647')
    assert damaged != data
    path = tmp_path / "input.txt"
    path.write_bytes(damaged)
    with limits(), pytest.raises(MissingResourceError, match="num_hidden_layers is 2147483647"):
        READERS["model config"].call(path)


@pytest.mark.parametrize(
    ("name", "found", "damage"),
    [
        ("campaign database", b"0001_initial", b"\x00\xff01_initial"),
    ],
)
def test_values_of_another_kind(name: str, found: bytes, damage: bytes, tmp_path: Path) -> None:
    data = READERS[name].seeds()[0]
    assert not attempt(name, data.replace(found, damage), tmp_path)


def test_many_lines_that_are_split_at_spaces() -> None:
    """The whole file was searched for a tab, once for each of its lines."""
    assert not trial(lambda: parse_score_file("m2 ALPHA 0.5 1 2\n" * 400_000, "f"))


def test_a_first_line_without_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\r" * 1000)
    with pytest.raises(DataError, match=r"a\.csv:1: the first line is empty"):
        read_records(path)


@pytest.mark.parametrize("name", ["training mark", "checkpoint state", "pipeline meta"])
def test_what_is_nested_too_deep(name: str, tmp_path: Path) -> None:
    if name != "pipeline meta":
        pytest.importorskip("torch", reason="the extra 'neural' is not installed")
    assert not attempt(name, b"[" * 100_000, tmp_path)


def _parquet(columns) -> bytes:
    import pyarrow
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out, store_schema=False)
    return out.getvalue()
