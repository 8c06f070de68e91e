"""The bootstrap against a loop over resampled data, and against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from grammeter.stats import resample
from grammeter.stats.resample import (
    PairedSamples,
    bootstrap,
    on_grid,
    percentile_interval,
    resample_counts,
)


def ratio(sums):
    """First column by the second: a statistic that is no mean of units."""
    return sums[..., 0] / sums[..., 1]


def paired(seed, samples=3, units=40):
    random = np.random.default_rng(seed)
    rows = random.integers(0, 6, size=(samples, units, 2)).astype(float)
    rows[..., 1] += 1
    return PairedSamples(rows, ratio)


def all_counts(units, resamples, **options):
    return np.concatenate(list(resample_counts(units, resamples, **options)))


def test_each_resample_holds_as_many_units_as_the_data():
    counts = all_counts(17, 50, seed=3)
    assert counts.shape == (50, 17)
    assert (counts.sum(axis=1) == 17).all()
    assert (counts >= 0).all()


def test_units_are_equally_likely():
    """20,000 draws of 10 units: each unit's count has mean 1 and variance 0.9."""
    counts = all_counts(10, 20_000, seed=5)
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.03)
    np.testing.assert_allclose(counts.var(axis=0), 0.9, atol=0.05)


@pytest.mark.parametrize("units", [1, 2, 7, 33])
def test_counts_do_not_depend_on_the_chunks(monkeypatch, units):
    whole = all_counts(units, 25, seed=9)
    monkeypatch.setattr(resample, "CELLS", 3 * units)
    assert [len(chunk) for chunk in resample_counts(units, 25, seed=9)] == [3] * 8 + [1]
    np.testing.assert_array_equal(all_counts(units, 25, seed=9), whole)


def test_wide_rows_make_smaller_chunks(monkeypatch):
    monkeypatch.setattr(resample, "CELLS", 100)
    assert [len(chunk) for chunk in resample_counts(10, 8, seed=1, width=50)] == [2] * 4


def test_another_seed_gives_other_counts():
    assert not np.array_equal(all_counts(20, 10, seed=1), all_counts(20, 10, seed=2))


def test_numpys_global_state_is_neither_read_nor_changed():
    first = all_counts(20, 10, seed=1)
    np.random.seed(99)
    before = np.random.get_state()[1].tolist()
    np.testing.assert_array_equal(all_counts(20, 10, seed=1), first)
    assert np.random.get_state()[1].tolist() == before


def slow_bootstrap(samples, counts):
    """Build each resample as a list of rows and add them up one by one."""
    values = []
    for sample in samples.rows.tolist():
        values.append([])
        for row in counts.astype(int).tolist():
            drawn = [unit for unit, times in zip(sample, row, strict=True) for _ in range(times)]
            values[-1].append(sum(a for a, _ in drawn) / sum(b for _, b in drawn))
    return values


@given(seed=st.integers(0, 1000), samples=st.integers(1, 4), units=st.integers(1, 12))
def test_equals_the_slow_twin(seed, samples, units):
    data = paired(seed, samples, units)
    (fast,) = bootstrap([data], resamples=7, seed=seed)
    np.testing.assert_allclose(fast, slow_bootstrap(data, all_counts(units, 7, seed=seed)))


def test_groups_share_the_resamples():
    data = paired(1)
    first, second = bootstrap([data, data], resamples=20, seed=4)
    np.testing.assert_array_equal(first, second)
    (alone,) = bootstrap([data], resamples=20, seed=4)
    np.testing.assert_array_equal(first, alone)


def test_equal_samples_stay_equal_in_every_resample():
    one = paired(2, samples=1).rows[0]
    (values,) = bootstrap([PairedSamples(np.array([one, one]), ratio)], resamples=30, seed=1)
    np.testing.assert_array_equal(values[0], values[1])


def test_groups_of_different_units_are_refused():
    with pytest.raises(ValueError, match="same units"):
        bootstrap([paired(1, units=5), paired(1, units=6)], resamples=2, seed=1)


def test_no_units_are_refused_and_no_groups_are_nothing():
    with pytest.raises(ValueError, match="at least one"):
        bootstrap([paired(1, units=0)], resamples=2, seed=1)
    assert bootstrap([], resamples=2, seed=1) == []


def test_interval_agrees_with_scipy():
    """Two independent runs of 4,000 resamples; their bounds differ by Monte Carlo error alone."""
    data = paired(7, samples=1, units=150)
    (values,) = bootstrap([data], resamples=4000, seed=1)
    low, high = percentile_interval(values, 0.9)
    theirs = stats.bootstrap(
        (data.rows[0, :, 0], data.rows[0, :, 1]),
        lambda a, b, axis: a.sum(axis) / b.sum(axis),
        paired=True,
        method="percentile",
        confidence_level=0.9,
        n_resamples=4000,
        rng=np.random.default_rng(2),
    )
    bounds = (low[0], high[0])
    assert bounds == pytest.approx(tuple(theirs.confidence_interval), abs=0.1 * values.std())
    assert values.std() == pytest.approx(theirs.standard_error, rel=0.06)


def test_interval_of_known_values():
    low, high = percentile_interval(np.arange(101.0), 0.9)
    assert (low, high) == pytest.approx((5.0, 95.0))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_undefined_resample_leaves_no_interval(bad):
    values = np.array([[1.0, 2.0, 3.0], [1.0, bad, 3.0]])
    low, high = percentile_interval(values, 0.95)
    assert np.isnan([low[1], high[1]]).all()
    assert low[0] < 2 < high[0]


def test_a_nan_stays_in_its_own_sample():
    rows = paired(3, samples=3, units=9).rows.copy()
    rows[1, 4, 0] = np.nan
    (values,) = bootstrap([PairedSamples(rows, ratio)], resamples=15, seed=1)
    assert np.isnan(values[1]).all()
    assert np.isfinite(values[[0, 2]]).all()


def test_interval_covers_the_truth_about_as_often_as_it_says():
    """90 % intervals of a mean of 80 units, 300 fixed trials: coverage 0.9 within 3 SD."""
    truth, hits = 3.0, 0
    for trial in range(300):
        rows = np.random.default_rng(trial).poisson(truth, size=(1, 80, 1)).astype(float)
        samples = PairedSamples(rows, lambda sums: sums[..., 0] / 80)
        low, high = percentile_interval(bootstrap([samples], resamples=200, seed=trial)[0], 0.9)
        hits += bool(low[0] <= truth <= high[0])
    assert 0.84 <= hits / 300 <= 0.96


@given(st.integers(0, 1000), st.integers(1, 50), st.integers(-300, 300))
def test_sums_do_not_depend_on_the_order_of_addition(seed, units, power):
    """Floats of mixed sizes, drawn with replacement, added up in any order: equal to the bit."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(2, units, 2)) * 10.0 ** random.integers(-9, 1, size=(2, units, 2))
    rows *= 2.0**power
    samples = PairedSamples(rows, ratio)
    (counts,) = resample_counts(units, 5, seed=seed)
    order = random.permutation(units)
    moved = PairedSamples(rows[:, order], ratio)
    np.testing.assert_array_equal(samples.sums(counts), moved.sums(counts[:, order]))
    one_by_one = [
        [sum(column) for column in zip(*sample, strict=True)] for sample in samples.rows.tolist()
    ]
    np.testing.assert_array_equal(samples.sums(np.ones((1, units)))[0], one_by_one)
    assert (np.abs(samples.rows - rows) <= units * 2.0**-52 * np.abs(rows).max()).all()


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=20))
def test_whole_numbers_stay_as_they_are(values):
    rows = np.array(values, dtype=float).reshape(1, -1, 1)
    np.testing.assert_array_equal(on_grid(rows), rows)


def test_the_grid_passes_over_what_is_not_finite():
    rows = np.array([[[np.nan, np.inf, 0.1], [1 / 3, -np.inf, 0.2]]])
    rounded = on_grid(rows)
    np.testing.assert_array_equal(np.isfinite(rounded), np.isfinite(rows))
    np.testing.assert_allclose(rounded, rows, rtol=1e-15)
