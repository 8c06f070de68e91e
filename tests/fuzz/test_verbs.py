"""Verbs end with a known exit code and a word, whatever they are given; what once did not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzz import samples
from fuzz.verbs import LINES, run, tried
from grammeter.core import DataError, ScoreTable
from grammeter.formats import find_shards, parse_block, read_blocks
from grammeter.llm.cost import read_prices
from grammeter.verbs._read import read

INPUTS = {
    "demo": 1,
    "doctor": 2,
    "list": 4,
    "cite": 4,
    "score": 6,
    "edits": 4,
    "report": 6,
    "train": 5,
}
"""Verbs that take long for one input; ten for the others."""


@pytest.fixture(autouse=True)
def _extras(request: pytest.FixtureRequest) -> None:
    pytest.importorskip("django", reason="the extra 'campaign' is not installed")
    if "parquet" in str(request.node.name):
        pytest.importorskip("pyarrow", reason="the extra 'records' is not installed")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("verb", LINES)
def test_anything_ends_in_an_exit_code_and_a_word(verb: str) -> None:
    failures = tried(verb, INPUTS.get(verb, 10))
    assert not failures, "\n".join(map(str, failures))


def test_tracebacks_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def main(words: list[str]) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr("fuzz.verbs.main", main)
    assert "ZeroDivisionError" in run(["list"])


@pytest.mark.parametrize(("code", "told"), [(7, "exit code 7"), (2, "without a word")])
def test_odd_and_silent_exits_are_caught(
    monkeypatch: pytest.MonkeyPatch, code: int, told: str
) -> None:
    monkeypatch.setattr("fuzz.verbs.main", lambda words: code)
    assert told in run(["list"])


# --- found and mended ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["systems", 0], 10**400),
        (["systems", 0], ["ALPHA"]),
        (["systems", 1], "ALPHA"),
        (["segments"], 2.5),
        (["metrics", "m2", "higher_is_better"], "yes"),
        (["metrics", "m2", "systems", "ALPHA", "value"], 10**400),
        (["details", "m2", "metric"], 7),
        (["details", "m2", "sentences", "ALPHA", "chosen", 0], float("inf")),
        (["details", "m2", "sentences", "ALPHA", "chosen"], [0]),
        (["details", "m2", "sentences", "ALPHA", "values"], [0.5]),
        (["details", "m2", "statistics", "ALPHA", "rows", 0, 0, 0], "x"),
        (["corpus", "systems"], {}),
        (["corpus", "systems"], None),
    ],
)
def test_stored_scores_whose_parts_do_not_fit(path: list[str | int], value: object) -> None:
    data = json.loads(samples.stored()["score"])
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    assert holder[path[-1]] is not None
    holder[path[-1]] = value
    with pytest.raises(DataError, match="f: damaged scores"):
        ScoreTable.from_dict(data, where="f")


@pytest.mark.parametrize("text", ['{"kind": []}', '{"a": ' + "[" * 100_000])
def test_materials_of_an_odd_kind(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text, "utf-8")
    with pytest.raises(DataError):
        read(tmp_path / "a.json")


def test_prices_too_large_for_a_float(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(samples.PRICES.replace("2.5", "1" * 400), "utf-8")
    with pytest.raises(DataError, match="no table of prices"):
        read_prices(path)


def test_a_row_of_parquet_that_is_no_utf_8_is_one_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(samples.parquet().replace(b"He are .", b"He ar\xff ."))
    (shard,) = find_shards([str(path)])
    rows = [row for block in read_blocks(shard, 9) for row in parse_block(block)]
    assert [row.line for row in rows] == [1, 2]
    assert rows[0].fault is None
    assert rows[0].cells["source"] == "Dog bark ."
    assert "utf-8" in (rows[1].fault or "")


def test_a_database_whose_name_is_none() -> None:
    assert not run(["campaign", "reopen", "pilot", "--database", "\0"])
