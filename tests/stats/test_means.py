"""Student's interval of a mean, against a table and by scipy's own hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from grammeter.stats.resample import t_interval


def test_by_the_table():
    """Three runs: the quantile of Student's t with two degrees of freedom is 4.303."""
    low, high = t_interval([0.5, 0.6, 0.7])
    half = 4.303 * 0.1 / math.sqrt(3)
    assert (low, high) == pytest.approx((0.6 - half, 0.6 + half), abs=1e-4)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=6).filter(lambda v: np.std(v) > 1e-6),
    st.floats(0.5, 0.99),
)
def test_equals_scipy(values, level):
    expected = stats.t.interval(level, len(values) - 1, np.mean(values), stats.sem(values))
    assert t_interval(values, level=level) == pytest.approx(expected)


@pytest.mark.parametrize("values", [[], [0.5]])
def test_too_few_runs(values):
    assert np.isnan(t_interval(values)).all()


def test_equal_runs():
    assert t_interval([0.5, 0.5]) == (0.5, 0.5)
