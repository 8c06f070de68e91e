"""Counts, scores and numbers for JSON."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core.score import Counts, Score, json_number
from grammeter.core.signature import Signature

SIGNATURE = Signature.of("x", {})


@pytest.mark.parametrize(
    ("counts", "precision", "recall", "f"),
    [
        (Counts(0, 0, 0), 1.0, 1.0, 1.0),
        (Counts(0, 2, 0), 0.0, 1.0, 0.0),
        (Counts(0, 0, 2), 1.0, 0.0, 0.0),
        (Counts(0, 2, 2), 0.0, 0.0, 0.0),
        (Counts(1, 1, 3), 0.5, 0.25, 1.25 * 0.125 / 0.375),
        (Counts(0.5, 0.5, 0.0), 0.5, 1.0, 1.25 * 0.5 / 1.125),
    ],
)
def test_counts(counts: Counts, precision: float, recall: float, f: float) -> None:
    assert (counts.precision, counts.recall) == (precision, recall)
    assert counts.f(0.5) == pytest.approx(f)


@given(*[st.integers(0, 50)] * 3, st.floats(0.1, 4))
def test_f_lies_between_precision_and_recall(tp: int, fp: int, fn: int, beta: float) -> None:
    counts = Counts(tp, fp, fn)
    low, high = sorted([counts.precision, counts.recall])
    assert low - 1e-12 <= counts.f(beta) <= high + 1e-12


def test_parts_of_edit_based_metrics() -> None:
    """The names are promised."""
    assert list(Counts(1, 2, 3).parts()) == ["precision", "recall", "tp", "fp", "fn"]


def test_score_to_json() -> None:
    score = Score(0.5, SIGNATURE, 2, {"tp": 3, "p": 0.25, "bad": math.nan})
    assert score.to_dict() == {"value": 0.5, "parts": {"tp": 3, "p": 0.25, "bad": None}}
    assert float(score) == 0.5


@pytest.mark.parametrize(("reason", "shown"), [("no text", "no text"), (None, "undefined")])
def test_nan_is_null_with_a_reason(reason: str | None, shown: str) -> None:
    score = Score(math.nan, SIGNATURE, 2, reason=reason)
    assert score.to_dict() == {"value": None, "reason": shown, "parts": {}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (0.1, "0.1"),
        (math.nan, "null"),
        (-math.inf, "null"),
        (True, "1"),
        (np.float64(0.25), "0.25"),
        (np.int64(3), "3.0"),
        (1 / 3, "0.3333333333333333"),
    ],
)
def test_numbers_for_json(value: float, text: str) -> None:
    """All digits are kept, and a bare NaN is never written."""
    assert json.dumps(json_number(value), allow_nan=False) == text
