"""Correlations of observations in units, against scipy on the resample written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from grammeter import stats

TWINS = {
    "pearson": scipy_stats.pearsonr,
    "spearman": scipy_stats.spearmanr,
    "kendall": scipy_stats.kendalltau,
}


def twin(kind: str, x, y) -> float:
    if len(x) < 2 or len(set(x)) < 2 or len(set(y)) < 2:
        return np.nan
    return float(TWINS[kind](x, y)[0])


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4), st.integers(0, 5)), min_size=1),
    st.integers(0, 2**16),
)
def test_resamples_written_out(observations, seed: int) -> None:
    units, x, y = np.array(observations).T
    counts = np.random.default_rng(seed).integers(0, 3, size=(6, 5)).astype(float)
    counts[0] = 1
    found = stats.clustered_coefficients(x * 0.1, y / 3, units, counts)
    for row, drawn in enumerate(counts):
        places = np.repeat(np.arange(len(x)), drawn[units].astype(int))
        for kind, values in found.items():
            wanted = twin(kind, x[places] * 0.1, y[places] / 3)
            assert values[row] == pytest.approx(wanted, abs=1e-9, nan_ok=True), (kind, row)


@pytest.mark.parametrize("block", [1, 40])
def test_blocks_change_nothing(monkeypatch, block: int) -> None:
    random = np.random.default_rng(3)
    x, y, units = random.normal(size=60), random.integers(1, 5, size=60), np.arange(60) // 4
    counts = random.integers(0, 3, size=(5, 15)).astype(float)
    whole = stats.clustered_coefficients(x, y, units, counts)["kendall"]
    monkeypatch.setattr("grammeter.stats.correlation._BLOCK", block)
    assert stats.clustered_coefficients(x, y, units, counts)["kendall"] == pytest.approx(whole)


def test_nothing_observed() -> None:
    nothing = np.zeros(0)
    found = stats.clustered_coefficients(nothing, nothing, nothing.astype(int), np.ones((2, 3)))
    assert all(np.isnan(of).all() and of.shape == (2,) for of in found.values())


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8), st.integers(1, 5), st.integers(0, 2**16))
def test_rows_one_by_one(rows: int, columns: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = random.integers(0, 3, size=(2, rows, columns)).astype(float)
    x[random.random(x.shape) < 0.2] = np.nan
    y[random.random(y.shape) < 0.2] = np.nan
    found, (few, people, metric) = stats.row_coefficients(x, y)
    for at in range(rows):
        there = np.isfinite(x[at]) & np.isfinite(y[at])
        ours, theirs = x[at][there], y[at][there]
        assert few[at] == (len(ours) < 2)
        assert people[at] == (len(ours) > 1 and len(set(theirs)) == 1)
        assert metric[at] == (len(ours) > 1 and len(set(theirs)) > 1 and len(set(ours)) == 1)
        for kind, values in found.items():
            assert values[at] == pytest.approx(twin(kind, ours, theirs), abs=1e-9, nan_ok=True)
