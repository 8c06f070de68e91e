"""The score table: access by name, JSON there and back, damaged files."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core.errors import DataError, UnknownNameError
from grammeter.core.score import Score
from grammeter.core.score_table import MetricScores, ScoreTable
from grammeter.core.signature import Signature
from grammeter.core.statistics import SegmentScores, Statistics

NUMBERS = st.floats(allow_infinity=False)
NAMES = st.text(min_size=1, max_size=5)


@st.composite
def tables(draw: st.DrawFn) -> ScoreTable:
    systems = tuple(draw(st.lists(NAMES, unique=True, max_size=3)))
    segments = draw(st.integers(0, 3))
    spellings = draw(st.lists(NAMES, unique=True, max_size=3))
    columns = {name: draw(metric_scores(name, systems, segments)) for name in spellings}
    texts = ["a"] * segments
    stored = {"sources": texts, "systems": dict.fromkeys(systems, texts)}
    corpus = draw(st.none() | st.just(stored))
    return ScoreTable(systems, segments, columns, corpus)


@st.composite
def metric_scores(
    draw: st.DrawFn, name: str, systems: tuple[str, ...], segments: int
) -> MetricScores:
    signature = Signature.of(name, {"refs": 1})
    numbers = st.lists(NUMBERS, min_size=segments, max_size=segments)
    scores = {s: draw(score(signature, segments)) for s in systems}
    sentences = {
        s: SegmentScores(
            np.array(draw(numbers), dtype=np.float64),
            np.array([draw(st.integers(-1, 2)) for _ in range(segments)], dtype=np.int64),
            {"p": np.array(draw(numbers), dtype=np.float64)},
            draw(st.none() | st.just("why")),
        )
        for s in systems
    }
    rows = {
        s: Statistics(
            np.ones((segments, 1, 1), dtype=np.int64),
            np.ones((segments, 1), dtype=bool),
            (0,),
            ("a",),
        )
        for s in systems
    }
    return MetricScores(name, signature, draw(st.booleans()), scores, sentences, rows)


@st.composite
def score(draw: st.DrawFn, signature: Signature, segments: int) -> Score:
    value = draw(NUMBERS)
    reason = "why" if math.isnan(value) else None
    return Score(value, signature, segments, {"tp": draw(NUMBERS | st.integers())}, reason)


@given(tables())
def test_json_round_trip(table: ScoreTable) -> None:
    text = json.dumps(table.to_full_dict(), allow_nan=False)
    read = ScoreTable.from_dict(json.loads(text))
    assert json.dumps(read.to_full_dict(), allow_nan=False) == text
    assert read.systems == table.systems
    assert read.corpus == table.corpus
    for name, column in table.items():
        assert read[name].signature == column.signature
        for system, own in column.items():
            assert read[name][system].to_dict() == own.to_dict()


@given(tables())
def test_the_public_shape_alone_is_read_too(table: ScoreTable) -> None:
    public = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert list(public) == ["kind", "grammeter", "segments", "systems", "metrics", "notes"]
    read = ScoreTable.from_dict(public)
    assert read.to_dict() == public
    assert all(not column.statistics for column in read.values())


@pytest.fixture
def table() -> ScoreTable:
    signature = Signature.of("m2", {})
    rows = Statistics(np.array([[[1, 2]]]), np.array([[True]]), (0,), ("a", "b"))
    scores = {"A": Score(0.5, signature, 1, {"tp": 1})}
    column = MetricScores("m2", signature, True, scores, {}, {"A": rows})
    return ScoreTable(("A",), 1, {"m2(beta=0.5)": column})


def test_names_that_do_not_exist(table: ScoreTable) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'm2"):
        table["m2(beta=1)"]
    with pytest.raises(UnknownNameError, match="unknown system 'B'"):
        table["m2(beta=0.5)"]["B"]


def test_in_and_get_are_those_of_a_mapping(table: ScoreTable) -> None:
    assert "gleu" not in table
    assert table.get("gleu") is None
    assert "A" in table["m2(beta=0.5)"]
    assert table["m2(beta=0.5)"].get("B") is None


@pytest.mark.parametrize("data", [{}, {"kind": "comparison"}, {"kind": None}])
def test_other_json_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"x\.json: these are no scores"):
        ScoreTable.from_dict(data, where="x.json")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["segments"], None),
        (["systems"], None),
        (["metrics"], None),
        (["metrics"], [1]),
        (["metrics", "m2(beta=0.5)", "signature"], "m2|beta"),
        (["metrics", "m2(beta=0.5)", "signature"], 3),
        (["metrics", "m2(beta=0.5)", "systems", "A", "value"], "high"),
        (["metrics", "m2(beta=0.5)", "systems", "A", "parts"], {"tp": []}),
        (["metrics", "m2(beta=0.5)", "systems", "A"], {}),
        (["details"], 3),
        (["details", "m2(beta=0.5)", "statistics", "A", "rows"], [[[1, 2, 3]]]),
        (["details", "m2(beta=0.5)", "statistics", "A"], []),
        (["details", "m2(beta=0.5)", "sentences"], {"A": {"values": [1]}}),
    ],
)
def test_damaged_json(table: ScoreTable, path: list[str], value: object) -> None:
    data = copy.deepcopy(table.to_full_dict())
    place = data
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(DataError, match=r"x\.json: damaged scores"):
        ScoreTable.from_dict(data, where="x.json")
