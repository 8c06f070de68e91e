"""Sufficient statistics: shapes, selection, JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from grammeter.core.statistics import SegmentScores, Statistics


@st.composite
def statistics(draw: st.DrawFn) -> Statistics:
    shape = draw(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(1, 3)))
    kind = draw(st.sampled_from([np.int64, np.float64]))
    numbers = st.integers(0, 99) if kind is np.int64 else st.floats(0, 99) | st.just(np.nan)
    present = draw(arrays.arrays(np.bool_, shape[:2]))
    rows = draw(arrays.arrays(kind, shape, elements=numbers))
    rows[~present] = 0  # what stands in an absent slot is zero
    return Statistics(rows, present, tuple(range(shape[1])), tuple("abc"[: shape[2]]))


@given(statistics())
def test_json_gives_back_what_was_written(rows: Statistics) -> None:
    read = Statistics.from_dict(json.loads(json.dumps(rows.to_dict())))
    assert (read.labels, read.columns) == (rows.labels, rows.columns)
    np.testing.assert_array_equal(read.present, rows.present)
    np.testing.assert_array_equal(read.rows, rows.rows)


def test_counts_stay_whole_numbers() -> None:
    rows = Statistics(np.array([[[1, 2]]]), np.array([[True]]), (0,), ("a", "b"))
    assert Statistics.from_dict(rows.to_dict()).rows.dtype == np.int64


def test_an_absent_slot_is_null() -> None:
    rows = Statistics(np.array([[[1], [0]]]), np.array([[True, False]]), (0, 3), ("a",))
    assert rows.to_dict() == {"labels": [0, 3], "columns": ["a"], "rows": [[[1], None]]}


@given(statistics(), st.data())
def test_take(rows: Statistics, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1)) if len(rows) else st.just([]))
    taken = rows.take(chosen)
    assert len(taken) == len(chosen)
    assert taken.slots == rows.slots
    for own, number in zip(taken.rows, chosen, strict=True):
        np.testing.assert_array_equal(own, rows.rows[number])


@pytest.mark.parametrize(
    ("rows", "present", "labels"),
    [((2, 1, 1), (2, 2), 2), ((2, 2, 2), (2, 2), 2), ((2, 2, 1), (2, 2), 1)],
)
def test_shapes_that_do_not_fit(
    rows: tuple[int, ...], present: tuple[int, ...], labels: int
) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        Statistics(np.zeros(rows), np.ones(present, dtype=bool), tuple(range(labels)), ("a",))


def test_nan_is_null_and_comes_back() -> None:
    rows = Statistics(np.array([[[1.5, np.nan]]]), np.array([[True]]), (0,), ("a", "b"))
    text = json.dumps(rows.to_dict(), allow_nan=False)
    assert json.loads(text)["rows"] == [[[1.5, None]]]
    np.testing.assert_array_equal(Statistics.from_dict(json.loads(text)).rows, rows.rows)


def test_damaged_rows() -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the caller says what is damaged
        Statistics.from_dict({"labels": [0], "columns": ["a"], "rows": [[[1]], [[1, 2]]]})


def test_segment_scores_take() -> None:
    scores = SegmentScores(
        np.array([0.1, 0.2, 0.3]), np.array([0, -1, 1]), {"tp": np.array([1, 2, 3])}, "why"
    )
    taken = scores.take([2, 0, 2])
    assert len(taken) == 3
    assert taken.values.tolist() == [0.3, 0.1, 0.3]
    assert taken.chosen.tolist() == [1, 0, 1]
    assert taken.parts["tp"].tolist() == [3, 1, 3]
    assert taken.reason == "why"
