"""Paired tests against loops, exact enumeration, scipy, and their own promise under the null."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from grammeter.stats import resample
from grammeter.stats.resample import (
    PairedSamples,
    bootstrap,
    bootstrap_pvalues,
    generator,
    randomisation_pvalues,
    sign_test,
)

PAIR = np.array([[0, 1]])


def ratio(sums):
    return sums[..., 0] / sums[..., 1]


def paired(seed, units, effect=0.0, samples=2):
    random = np.random.default_rng(seed)
    shared = random.normal(5, 1, size=units)  # sentences differ in difficulty for all systems
    top = shared + random.normal(0, 1, size=(samples, units))
    top[0] += effect
    return PairedSamples(np.stack([top, np.full((samples, units), 2.0)], axis=-1), ratio)


def by_bootstrap(samples, pairs=PAIR, *, resamples, seed):
    (values,) = bootstrap([samples], resamples=resamples, seed=seed)
    return bootstrap_pvalues(samples, values, pairs)


def by_randomisation(samples, pairs=PAIR, *, resamples, seed):
    (result,) = randomisation_pvalues([samples], [pairs], resamples=resamples, seed=seed)
    return result


BOTH = pytest.mark.parametrize("test", [by_bootstrap, by_randomisation])


def slow_bootstrap(samples, resamples, seed):
    random = generator(seed)
    units = samples.rows.shape[1]
    first, second = samples.rows
    observed = ratio(first.sum(0)) - ratio(second.sum(0))
    extreme = 0
    for _ in range(resamples):
        drawn = random.integers(0, units, size=units)
        difference = ratio(first[drawn].sum(0)) - ratio(second[drawn].sum(0))
        extreme += abs(difference - observed) >= abs(observed)
    return (extreme + 1) / (resamples + 1)


def slow_randomisation(samples, resamples, seed):
    random = generator(seed)
    first, second = samples.rows
    observed = abs(ratio(first.sum(0)) - ratio(second.sum(0)))
    extreme = 0
    for _ in range(resamples):
        swap = random.random(len(first)) < 0.5
        ours = np.array([b if s else a for a, b, s in zip(first, second, swap, strict=True)])
        theirs = np.array([a if s else b for a, b, s in zip(first, second, swap, strict=True)])
        extreme += abs(ratio(ours.sum(0)) - ratio(theirs.sum(0))) >= observed
    return (extreme + 1) / (resamples + 1)


@given(seed=st.integers(0, 500), units=st.integers(2, 15))
def test_both_equal_their_slow_twins(seed, units):
    samples = paired(seed, units)
    fast = by_bootstrap(samples, resamples=29, seed=seed)
    assert fast == [slow_bootstrap(samples, 29, seed)]
    fast = by_randomisation(samples, resamples=29, seed=seed)
    assert fast == [slow_randomisation(samples, 29, seed)]


def test_randomisation_approaches_the_exact_test():
    """All 2^10 swaps, against 20,000 random ones."""
    samples = paired(3, 10, effect=0.5)
    first, second = samples.rows[:, :, 0]
    gaps = (first - second).tolist()
    sums = [
        abs(sum(s * g for s, g in zip(signs, gaps, strict=True)))
        for signs in product((1, -1), repeat=10)
    ]
    exact = np.mean(np.array(sums) >= abs(sum(gaps)) - 1e-12)
    (result,) = by_randomisation(samples, resamples=20_000, seed=1)
    assert result == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))


def test_randomisation_agrees_with_scipy():
    samples = paired(4, 60, effect=0.25)
    theirs = stats.permutation_test(
        tuple(samples.rows[:, :, 0]),
        lambda a, b, axis: a.mean(axis) - b.mean(axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9999,
        rng=np.random.default_rng(5),
    )
    (result,) = by_randomisation(samples, resamples=9999, seed=1)
    assert result == pytest.approx(theirs.pvalue, abs=0.02)


@BOTH
def test_agrees_with_the_t_test_where_that_is_right(test):
    """Normal differences, 400 units: resampling must come out near the paired t-test."""
    samples = paired(8, 400, effect=0.03)
    expected = stats.ttest_rel(*samples.rows[:, :, 0]).pvalue
    (result,) = test(samples, resamples=4000, seed=1)
    assert 0.02 < expected < 0.6
    assert result == pytest.approx(expected, abs=0.03)


@BOTH
def test_keeps_its_level_under_the_null(test):
    """300 fixed trials without a difference: about 5 % below 0.05, about half below 0.5."""
    result = np.concatenate([test(paired(t, 100), resamples=199, seed=t) for t in range(300)])
    assert 0.015 <= (result <= 0.05).mean() <= 0.1
    assert 0.4 <= (result <= 0.5).mean() <= 0.6


@BOTH
def test_finds_a_large_difference_with_the_smallest_p(test):
    (result,) = test(paired(1, 100, effect=2.0), resamples=99, seed=1)
    assert result == 1 / 100


@BOTH
def test_equal_samples_have_p_one(test):
    one = paired(1, 30).rows[0]
    (result,) = test(PairedSamples(np.array([one, one]), ratio), resamples=50, seed=1)
    assert result == 1.0


@BOTH
def test_the_order_within_a_pair_does_not_matter(test):
    samples = paired(2, 50, effect=0.2)
    both = test(samples, np.array([[0, 1], [1, 0]]), resamples=200, seed=3)
    assert both[0] == both[1]


@BOTH
def test_other_pairs_and_samples_change_nothing(test):
    samples = paired(6, 40, effect=0.2, samples=4)
    pairs = np.array([[0, 1], [2, 3], [1, 3], [3, 0]])
    together = test(samples, pairs, resamples=150, seed=2)
    alone = [
        test(PairedSamples(samples.rows[pair], ratio), resamples=150, seed=2)[0] for pair in pairs
    ]
    np.testing.assert_array_equal(together, alone)


@BOTH
def test_chunks_change_nothing(test, monkeypatch):
    samples = paired(6, 41, effect=0.2, samples=3)
    whole = test(samples, np.array([[0, 1], [0, 2]]), resamples=100, seed=2)
    monkeypatch.setattr(resample, "CELLS", 300)
    np.testing.assert_array_equal(
        test(samples, np.array([[0, 1], [0, 2]]), resamples=100, seed=2), whole
    )


@BOTH
def test_parts_of_the_pairs_change_nothing(test, monkeypatch):
    samples = paired(6, 30, effect=0.2, samples=9)
    pairs = np.array([(i, j) for i in range(9) for j in range(i)])
    whole = test(samples, pairs, resamples=50, seed=2)
    monkeypatch.setattr(resample, "CELLS_OF_PAIRS", 120)
    np.testing.assert_array_equal(test(samples, pairs, resamples=50, seed=2), whole)


@BOTH
def test_an_undefined_value_gives_no_p(test):
    rows = paired(1, 20, samples=3).rows.copy()
    rows[1, 3, 0] = np.nan
    result = test(PairedSamples(rows, ratio), np.array([[0, 1], [0, 2]]), resamples=20, seed=1)
    assert np.isnan(result[0])
    assert 0 < result[1] <= 1


@BOTH
def test_no_pairs_no_p(test):
    result = test(paired(1, 20), np.zeros((0, 2), dtype=np.int64), resamples=20, seed=1)
    assert result.shape == (0,)


def test_no_groups_no_answer():
    assert randomisation_pvalues([], [], resamples=5, seed=1) == []


def test_a_column_of_zeros_stays_exactly_zero():
    """A difference of float sums would leave rounding errors, and logarithms would fail."""
    random = np.random.default_rng(1)
    rows = random.random((2, 50, 2))
    rows[..., 1] = 0
    seen = []

    def value_of(sums):
        seen.append(sums[..., 1])
        return sums[..., 0]

    by_randomisation(PairedSamples(rows, value_of), resamples=100, seed=1)
    assert all((column == 0).all() for column in seen)


@pytest.mark.parametrize("wins", [0, 1, 3, 5, 17])
@pytest.mark.parametrize("losses", [0, 2, 5, 40, 1500])
def test_sign_test_equals_scipys_binomial(wins, losses):
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-9, abs=1e-307)
    assert sign_test(wins, losses) > 0


def test_sign_test_by_hand():
    """Of 4 tosses: (1 + 4 + 4 + 1) / 16 are as uneven as 3 to 1."""
    assert sign_test(3, 1) == 10 / 16
    assert sign_test(0, 5) == 2 / 32
    assert sign_test(2, 2) == 1.0
