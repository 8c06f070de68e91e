"""Coefficients against scipy and slow twins; p-values, intervals, resamples."""

import math
import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from grammeter.stats.correlation import (
    KINDS,
    TIE_POLICIES,
    average_ranks,
    bootstrap_coefficients,
    coefficients,
    defined_interval,
    fisher_interval,
    pearson,
    spearman,
)
from grammeter.stats.correlation_tests import correlate
from grammeter.stats.resample import resample_counts

few = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=9)
distinct = st.integers(2, 9).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n)))
)


def columns(pairs):
    x, y = np.array(pairs, dtype=float).T
    return x, y


def slow_pearson(x, y):
    mx, my = math.fsum(x) / len(x), math.fsum(y) / len(y)
    above = math.fsum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    sx, sy = (math.fsum((a - m) ** 2 for a in v) for v, m in ((x, mx), (y, my)))
    return above / math.sqrt(sx * sy)


def slow_ranks(values):
    return [sum(b < a for b in values) + (sum(b == a for b in values) + 1) / 2 for a in values]


def slow_kendall(x, y, ties):
    c = d = tx = ty = 0
    n = len(x)
    for i in range(n):
        for j in range(i):
            sign = (x[i] - x[j]) * (y[i] - y[j])
            c, d = c + (sign > 0), d + (sign < 0)
            tx, ty = tx + (x[i] == x[j]), ty + (y[i] == y[j])
    pairs = n * (n - 1) // 2
    below = {
        "tau-a": pairs,
        "tau-b": math.sqrt((pairs - tx) * (pairs - ty)),
    }[ties]
    return (c - d) / below if below else math.nan


@given(few)
def test_coefficients_equal_their_slow_twins(pairs):
    x, y = columns(pairs)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    assert float(pearson(x, y)) == pytest.approx(slow_pearson(x, y), abs=1e-12)
    assert float(spearman(x, y)) == pytest.approx(
        slow_pearson(slow_ranks(x), slow_ranks(y)), abs=1e-12
    )
    for ties in TIE_POLICIES:
        expected = slow_kendall(x, y, ties)
        assert float(coefficients("kendall", ties=ties)(x, y)) == pytest.approx(
            expected, abs=1e-12, nan_ok=True
        )


@given(few)
def test_results_equal_scipy(pairs):
    x, y = columns(pairs)
    assume(len(set(x)) > 1 and len(set(y)) > 1 and len(x) > 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy divides by 0 at a perfect correlation of three
        theirs = {
            "pearson": stats.pearsonr(x, y),
            "spearman": stats.spearmanr(x, y),
            "kendall": stats.kendalltau(x, y),
        }
    for kind in KINDS:
        ours = correlate(x, y, kind)
        assert (ours.n, ours.reason) == (len(x), None)
        assert ours.statistic == pytest.approx(theirs[kind][0], abs=1e-12)
        if kind == "pearson" and abs(ours.statistic) < 1:
            assert ours.pvalue == pytest.approx(theirs[kind][1], abs=1e-7)


few_ranks = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=2, max_size=6)


@given(few_ranks)
def test_few_units_have_exact_pvalues(pairs):
    """The slow twin correlates every order; equal coefficients count as equal."""
    x, y = columns(pairs)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    orders = np.array(list(permutations(y)))
    for kind in ("spearman", "kendall"):
        ours = correlate(x, y, kind)
        all_values = np.abs(coefficients(kind)(x, orders))
        share = np.mean(all_values >= abs(ours.statistic) - 1e-9)
        assert ours.pvalue == pytest.approx(share, abs=1e-12)


@given(few_ranks)
def test_a_perfect_line_is_as_likely_as_the_orders_that_reach_it(pairs):
    x, _ = columns(pairs)
    assume(len(set(x)) > 1)
    orders = np.array(list(permutations(x)))
    share = np.mean(np.abs(pearson(x, orders)) > 1 - 1e-9)
    assert correlate(x, 2 * x + 1).pvalue == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("n", [3, 4, 9, 10, 200, 3000])
@pytest.mark.parametrize("kind", KINDS)
def test_no_pvalue_is_0(n, kind):
    x = np.arange(float(n)) ** 2 if n < 100 else np.arange(float(n))
    for y in (x, -x, x + np.where(np.arange(n) == 0, 1e-9, 0)):
        assert 0 < correlate(x, y, kind).pvalue <= 1


def test_exact_spearman_equals_known_tables():
    """n = 4 in order: 2 of 24; scipy's permutation test on n = 9 over all 362,880 orders."""
    assert correlate(np.arange(4.0), np.arange(4.0) ** 3, "spearman").pvalue == pytest.approx(
        2 / 24
    )
    x, y = np.arange(9.0), np.array([2.0, 1, 4, 3, 6, 5, 9, 8, 7])
    # scipy 1.17.1: stats.permutation_test((y,), lambda a: stats.spearmanr(x, a).statistic,
    # permutation_type="pairings", n_resamples=inf)
    theirs = stats.permutation_test(
        (y,),
        lambda a, axis: spearman(np.broadcast_to(x, a.shape), a),
        permutation_type="pairings",
        n_resamples=np.inf,
        vectorized=True,
    )
    assert correlate(x, y, "spearman").pvalue == pytest.approx(theirs.pvalue, rel=1e-9)


@given(distinct)
def test_exact_kendall_equals_scipy(orders):
    x, y = np.array(orders, dtype=float)
    theirs = stats.kendalltau(x, y, method="exact")
    assert correlate(x, y, "kendall").pvalue == pytest.approx(theirs.pvalue, abs=1e-12)


def test_kendall_beyond_the_exact_test_equals_scipy():
    random = np.random.default_rng(4)
    x = random.normal(size=40)
    y = x + 3 * random.normal(size=40)
    theirs = stats.kendalltau(x, y, method="asymptotic")
    assert correlate(x, y, "kendall").pvalue == pytest.approx(theirs.pvalue, abs=1e-12)


def test_rows_are_vectorised():
    random = np.random.default_rng(1)
    x, y = random.integers(0, 5, size=(2, 7, 11)).astype(float)
    for kind in KINDS:
        of = coefficients(kind)
        assert of(x, y).tolist() == pytest.approx([float(of(*row)) for row in zip(x, y)])  # noqa: B905
        assert of(x, y[0]).shape == (7,)


def test_average_ranks():
    assert average_ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]
    assert np.isnan(average_ranks(np.array([1.0, math.nan]))).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([1, 1, 1], [1, 2, 3], "the first variable is constant"),
        ([1, 2, 3], [0.1, 0.1, 0.1], "the second variable is constant"),
        ([1, math.nan, 3], [1, 2, 3], "1 of 3 units have no value"),
        ([1], [1], "a correlation needs 2 units at least, here are 1"),
        ([], [], "a correlation needs 2 units at least, here are 0"),
    ],
)
def test_undefined_is_nan_with_a_reason(kind, x, y, reason):
    result = correlate(np.array(x, dtype=float), np.array(y, dtype=float), kind)
    assert math.isnan(result.statistic)
    assert math.isnan(result.pvalue)
    assert result.reason == reason


def test_a_constant_with_a_rounded_mean_is_constant():
    x = np.full(13, 0.1)
    assert np.isnan(pearson(x, np.arange(13.0)))
    assert np.isnan(spearman(x, np.arange(13.0)))
    assert np.isnan(coefficients("kendall", ties="tau-a")(x, np.arange(13.0)))


@pytest.mark.parametrize("scale", [1e-200, 1e-20, 1e100])
def test_the_scale_does_not_matter(scale):
    x, y = np.array([1.0, 2, 4, 3]), np.array([2.0, 1, 3, 5])
    for kind in KINDS:
        ours, plain = correlate(x * scale, y, kind), correlate(x, y, kind)
        assert ours.statistic == pytest.approx(plain.statistic, abs=1e-12)
        assert ours.pvalue == pytest.approx(plain.pvalue, abs=1e-12)


def test_two_units_lie_on_a_line():
    result = correlate(np.array([1.0, 2]), np.array([5.0, 3]))
    assert (result.statistic, result.pvalue) == (-1, 1)


def test_fisher_intervals():
    """The example of the specification; then formulas worked by hand."""
    assert fisher_interval(0.95, 12) == pytest.approx((0.826, 0.986), abs=1e-3)
    z, q = math.atanh(0.6), 1.959963984540054
    assert fisher_interval(0.6, 20, "spearman")[0] == pytest.approx(
        math.tanh(z - q * math.sqrt(1.18 / 17)), abs=1e-12
    )
    assert fisher_interval(0.6, 20, "kendall")[1] == pytest.approx(
        math.tanh(z + q * math.sqrt(0.437 / 16)), abs=1e-12
    )
    for undefined in (
        fisher_interval(math.nan, 9),
        fisher_interval(0.5, 3),
        fisher_interval(0.5, 4, "kendall"),
        fisher_interval(-1.0, 9),
    ):
        assert all(math.isnan(end) for end in undefined)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bootstrap_equals_correlating_each_resample(kind):
    random = np.random.default_rng(2)
    x, y = random.integers(0, 4, size=(2, 6)).astype(float)
    drawn = np.concatenate(list(resample_counts(6, 60, seed=5, width=36)))
    again = bootstrap_coefficients(x, y, kind, resamples=60, seed=5)
    for value, counts in zip(again, drawn, strict=True):
        chosen = np.repeat(np.arange(6), counts.astype(int))
        expected = float(coefficients(kind)(x[chosen], y[chosen]))
        assert value == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_an_interval_leaves_out_undefined_resamples_only_while_they_are_few():
    values = np.array([math.nan, *np.linspace(0, 1, 99)])
    low, high, reason = defined_interval(values, 0.95)
    assert (low, high, reason) == (pytest.approx(0.025), pytest.approx(0.975), None)
    low, high, reason = defined_interval(np.array([math.nan] * 6 + [0.5] * 94), 0.95)
    assert math.isnan(low)
    assert math.isnan(high)
    assert reason == "undefined in 6 of 100 resamples"
    low, high, reason = defined_interval(np.full(100, 0.5), 0.95)
    assert math.isnan(low)
    assert reason == "all resamples give the same value"
