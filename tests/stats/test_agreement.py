"""Kappa in pieces and Krippendorff's alpha: worked examples, conventions, slow twins."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.stats.agreement import (
    Kappa,
    between_rows,
    kappa,
    krippendorff_alpha,
    mean_kappa,
    within_rows,
)

NAN = math.nan


def table(*rows):
    return np.array(rows, dtype=np.int64)


# --- kappa -----------------------------------------------------------------------------------


def test_between_worked_by_hand():
    """Unit 1: a, b against a: 1 of 2 agree. Unit 2: c against c. Unit 3 has one observer only."""
    first = table([1, 1, 0], [0, 0, 1], [1, 0, 0])
    second = table([1, 0, 0], [0, 0, 1], [0, 0, 0])
    rows = between_rows(first, second)
    assert rows.tolist() == [[1, 2, 2, 1, 0], [1, 1, 0, 0, 2], [0] * 5]
    result = kappa(rows.sum(axis=0))
    assert result.observed == pytest.approx(2 / 3)
    assert result.chance == pytest.approx(0.16 + 0.04 + 0.16)
    assert result.value == pytest.approx((2 / 3 - 0.36) / 0.64)
    assert result.n == 3


def test_within_worked_by_hand():
    """Unit 1: a, a, b makes three comparisons, one agrees; unit 2 was judged once."""
    rows = within_rows(table([2, 1, 0], [0, 0, 1]))
    assert rows.tolist() == [[1, 3, 2, 1, 0], [0] * 5]
    assert kappa(rows.sum(axis=0)).value == pytest.approx((1 / 3 - 5 / 9) / (4 / 9))


def test_alike_categories_share_their_frequency():
    sums = np.array([3, 4, 5, 2, 1])
    assert kappa(sums).chance == pytest.approx((25 + 4 + 1) / 64)
    assert kappa(sums, alike=(0, 2)).chance == pytest.approx((9 + 4 + 9) / 64)


def test_kappa_that_is_undefined():
    nothing = kappa(np.zeros(5, dtype=np.int64))
    assert math.isnan(nothing.value)
    assert (nothing.n, nothing.reason) == (0, "nothing was judged twice")
    same = kappa(np.array([2, 2, 0, 4, 0]))
    assert math.isnan(same.value)
    assert (same.observed, same.chance, same.n) == (1, 1, 2)
    assert same.reason == "all judgments are the same"
    assert kappa(np.array([2, 2, 4, 0, 0]), alike=(0, 2)).value == 1


def test_mean_is_weighted_and_leaves_out_the_small():
    kappas = [Kappa(0.5, 0.7, 0.4, 30), Kappa(0.1, 0.4, 0.3, 10), Kappa(0.9, 0.9, 0.1, 9)]
    mean = mean_kappa(kappas, least=10)
    assert mean.value == pytest.approx(0.4)
    assert mean.observed == pytest.approx(0.625)
    assert mean.chance == pytest.approx(0.375)
    assert mean.n == 40
    none = mean_kappa([Kappa(NAN, 1, 1, 90)], least=10)
    assert math.isnan(none.value)
    assert none.reason == "no kappa of 10 or more comparisons"


judgments = st.lists(st.lists(st.integers(0, 2), max_size=4), max_size=6)


def counted(units):
    rows = [[unit.count(category) for category in range(3)] for unit in units]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def expected_sums(pairs, used):
    agreeing = sum(a == b for a, b in pairs)
    return [agreeing, len(pairs), *(used.count(category) for category in range(3))]


@given(st.lists(st.tuples(*[st.lists(st.integers(0, 2), max_size=4)] * 2), max_size=6))
def test_between_is_its_twin(units):
    pairs = [pair for ours, theirs in units for pair in product(ours, theirs)]
    used = [c for ours, theirs in units if ours and theirs for c in (*ours, *theirs)]
    rows = between_rows(counted([u[0] for u in units]), counted([u[1] for u in units]))
    assert rows.sum(axis=0).tolist() == expected_sums(pairs, used)


@given(judgments)
def test_within_is_its_twin(units):
    pairs = [pair for unit in units for pair in combinations(unit, 2)]
    used = [c for unit in units if len(unit) > 1 for c in unit]
    assert within_rows(counted(units)).sum(axis=0).tolist() == expected_sums(pairs, used)


# --- alpha -----------------------------------------------------------------------------------

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section D: four observers,
# twelve units; printed there: nominal 0.743, ordinal 0.815, interval 0.849
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


@pytest.mark.parametrize(
    ("level", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_as_krippendorff_printed_it(level, printed):
    alpha = krippendorff_alpha(KRIPPENDORFF, level=level)
    assert round(alpha.value, 3) == printed
    assert alpha.n == 40


def test_ordinal_alpha_worked_by_hand():
    """Values 1 1 | 1 2 | 2 3; so 1 thrice, 2 twice, 3 once.

    Distances: from 1 to 2 the middle of three to the middle of two, 2.5; from 2 to 3 1.5; from
    1 to 3 4. Observed: (2.5^2 + 1.5^2) * 2 = 17 (each pair both ways, one other value a unit).
    Expected: 2 (3*2*6.25 + 2*1*2.25 + 3*1*16) / 5 = 36.
    """
    alpha = krippendorff_alpha(np.array([[1, 1], [1, 2], [2, 3]], dtype=np.float64))
    assert alpha.value == pytest.approx(1 - 17 / 36)


def test_alpha_that_is_undefined():
    for values in (np.empty((0, 0)), np.full((3, 2), NAN), np.array([[1, NAN], [NAN, 2]])):
        alpha = krippendorff_alpha(values)
        assert math.isnan(alpha.value)
        assert (alpha.n, alpha.reason) == (0, "nothing was judged twice")
    alpha = krippendorff_alpha(np.ones((3, 2)))
    assert math.isnan(alpha.value)
    assert (alpha.n, alpha.reason) == (6, "all values are equal")


def test_alpha_of_full_agreement_and_of_its_reverse():
    assert krippendorff_alpha(np.array([[1.0, 1], [2, 2], [3, 3]])).value == 1
    assert krippendorff_alpha(np.array([[1.0, 2], [2, 1]])).value < 0


def slow_alpha(values, level):
    """From the definition: mean distance within units against that of all values."""
    units = [[v for v in unit if not math.isnan(v)] for unit in values]
    units = [unit for unit in units if len(unit) > 1]
    pool = [v for unit in units for v in unit]
    if len(set(pool)) < 2:
        return None

    def squared(a, b):
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = sorted((a, b))
        ends = (pool.count(low) + pool.count(high)) / 2
        return (sum(low <= v <= high for v in pool) - ends) ** 2

    observed = sum(
        squared(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)
    ) / len(pool)
    expected = sum(squared(a, b) for a, b in permutations(pool, 2))
    return 1 - observed / (expected / (len(pool) * (len(pool) - 1)))


value = st.sampled_from([NAN, 1.0, 1.5, 2.0, 3.0])


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(value, min_size=width, max_size=width))
    ),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_is_its_twin(rows, level):
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(rows[0]) if rows else 0)
    result, expected = krippendorff_alpha(values, level=level), slow_alpha(rows, level)
    if expected is None:
        assert math.isnan(result.value)
        assert result.reason
    else:
        assert result.value == pytest.approx(expected, abs=1e-12)
        assert result.reason is None
