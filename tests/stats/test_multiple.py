"""Corrections against hand-computed examples, letters against brute force."""

import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from grammeter.stats.resample import CORRECTIONS, adjust, compact_letters, letter_groups

RAW = [0.01, 0.04, 0.03, 0.005]

BY_HAND = {
    "none": RAW,
    "bonferroni": [0.04, 0.16, 0.12, 0.02],  # times 4
    # in order .005 .01 .03 .04: times 4 3 2 1 = .02 .03 .06 .04, running maximum
    "holm": [0.03, 0.06, 0.06, 0.02],
    # in order: times 4/1 4/2 4/3 4/4 = .02 .02 .04 .04, running minimum from the end
    "benjamini-hochberg": [0.02, 0.04, 0.04, 0.02],
}

PVALUES = st.lists(st.floats(0, 1), max_size=12)


def test_every_correction_has_its_example():
    assert set(BY_HAND) == set(CORRECTIONS)


@pytest.mark.parametrize("correction", BY_HAND)
def test_by_hand(correction):
    adjusted = adjust(np.array(RAW), correction)
    np.testing.assert_allclose(adjusted, BY_HAND[correction], rtol=1e-12)


@pytest.mark.parametrize("correction", BY_HAND)
def test_a_nan_is_no_member_of_the_family(correction):
    with_nan = adjust(np.array([RAW[0], np.nan, *RAW[1:]]), correction)
    assert np.isnan(with_nan[1])
    np.testing.assert_allclose(np.delete(with_nan, 1), BY_HAND[correction], rtol=1e-12)


@given(PVALUES)
def test_benjamini_hochberg_equals_scipys(pvalues):
    if pvalues:
        adjusted = adjust(np.array(pvalues), "benjamini-hochberg")
        np.testing.assert_allclose(adjusted, stats.false_discovery_control(pvalues), atol=1e-15)


@given(PVALUES, st.floats(0.001, 0.5))
def test_holm_rejects_what_its_steps_reject(pvalues, level):
    """Step down: hold the smallest against level / m, the next against level / (m - 1), ..."""
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__)
    rejected = set()
    for step, place in enumerate(order):
        if pvalues[place] * (len(pvalues) - step) > level:
            break
        rejected.add(place)
    adjusted = adjust(np.array(pvalues), "holm")
    assert {i for i in range(len(pvalues)) if adjusted[i] <= level} == rejected


@given(PVALUES, st.sampled_from(CORRECTIONS))
def test_properties(pvalues, correction):
    given_array = np.array(pvalues)
    adjusted = adjust(given_array, correction)
    np.testing.assert_array_equal(given_array, pvalues)  # the caller's array is left alone
    assert (adjusted >= given_array - 1e-15).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(given_array, kind="stable")]) >= 0).all()
    assert (adjusted <= adjust(given_array, "bonferroni") + 1e-15).all()


@st.composite
def differences(draw, largest=7):
    n = draw(st.integers(0, largest))
    different = np.zeros((n, n), dtype=bool)
    for i, j in combinations(range(n), 2):
        different[i, j] = different[j, i] = draw(st.booleans())
    return different


def brute_force(different):
    """Return all sets without a difference within that no other such set contains."""
    n = len(different)
    sets = [
        frozenset(members)
        for size in range(1, n + 1)
        for members in combinations(range(n), size)
        if not any(different[i, j] for i, j in combinations(members, 2))
    ]
    return {s for s in sets if not any(s < other for other in sets)}


@settings(deadline=None)
@given(differences())
def test_groups_are_the_largest_ones_without_a_difference(different):
    groups = letter_groups(different)
    assert set(groups) == brute_force(different)
    assert len(set(groups)) == len(groups)
    assert groups == sorted(groups, key=sorted)


def inserted_and_absorbed(different):
    """Piepho's way, the slow twin: split each group that holds two items that differ."""
    groups = {frozenset(range(len(different)))}
    for i, j in np.argwhere(np.triu(different, 1)).tolist():
        both = {group for group in groups if {i, j} <= group}
        groups = groups - both | {group - {item} for group in both for item in (i, j)}
        groups = {group for group in groups if not any(group < other for other in groups)}
    return groups


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_groups_equal_those_of_the_slow_twin(share):
    upper = np.triu(np.random.default_rng(1).random((22, 22)) < share, 1)
    different = upper | upper.T
    assert set(letter_groups(different)) == inserted_and_absorbed(different)


def test_exponentially_many_groups_end():
    """60 items in threes that differ: 3^20 groups."""
    thirds = np.arange(60) // 3
    different = (thirds[:, None] == thirds) & ~np.eye(60, dtype=bool)
    assert compact_letters(different) is None
    assert letter_groups(different, most=1000) is None


def single(letters):
    return set(re.findall("[a-z]'*", letters))


@given(differences(10))
def test_items_share_a_letter_exactly_if_they_do_not_differ(different):
    letters = compact_letters(different)
    assert len(letters) == len(different)
    assert all(letters)
    for i, j in combinations(range(len(different)), 2):
        assert bool(single(letters[i]) & single(letters[j])) != different[i, j]


def matrix(n, *pairs):
    different = np.zeros((n, n), dtype=bool)
    for i, j in pairs:
        different[i, j] = different[j, i] = True
    return different


@pytest.mark.parametrize(
    ("different", "expected"),
    [
        (matrix(0), []),
        (matrix(1), ["a"]),
        (matrix(3), ["a", "a", "a"]),
        (matrix(3, (0, 1), (0, 2), (1, 2)), ["a", "b", "c"]),
        (matrix(3, (0, 2)), ["a", "ab", "b"]),
        (matrix(4, (0, 2), (0, 3), (1, 3)), ["a", "ab", "bc", "c"]),
    ],
)
def test_letters_by_hand(different, expected):
    assert compact_letters(different) == expected


def test_after_z_comes_a_prime():
    everything = ~np.eye(28, dtype=bool)
    assert compact_letters(everything)[25:] == ["z", "a'", "b'"]
