"""Soft pairwise accuracy: a slow twin over all swaps, and cases worked by hand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammeter.core import Ranking
from grammeter.meta.soft import (
    human_differences,
    metric_differences,
    soft_pairwise_accuracy,
    swap_pvalues,
)
from grammeter.ranking import extract_pairs


def all_swaps(differences):
    """The exact p-value: every one of the 2**n ways to swap."""
    observed = sum(differences)
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return float(np.mean([(s > observed) + (s == observed) / 2 for s in sums]))


@settings(max_examples=30)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=6))
def test_random_swaps_approach_all_swaps(differences):
    column = np.array(differences, dtype=float)[:, None]
    result = swap_pvalues(np.hstack([column, -column]), rounds=4000, seed=1)
    assert result[0] == pytest.approx(all_swaps(differences), abs=0.04)
    assert result.sum() == pytest.approx(1, abs=0.04)


def test_no_difference_is_one_half():
    assert swap_pvalues(np.zeros((5, 2)), rounds=10, seed=1).tolist() == [0.5, 0.5]


def test_differences_of_rankings_and_of_scores():
    rankings = [
        Ranking(judge="x", segment=4, groups=(("a",), ("b", "c")), ranks=(1, 2)),
        Ranking(judge="y", segment=4, groups=(("a",), ("b",)), ranks=(1, 2)),
        Ranking(judge="x", segment=9, groups=(("c",), ("b",)), ranks=(1, 2)),
    ]
    # columns: a-b, a-c, b-c; rows: sentences 4 and 9
    assert human_differences(extract_pairs(rankings)).tolist() == [[2, 1, 0], [0, 0, -1]]
    values = np.array([[1.0, 2.0], [0.5, 2.0], [0.0, 4.0]])
    assert metric_differences(values).tolist() == [[0.5, 1.0, 0.5], [0.0, -2.0, -2.0]]


def test_a_metric_that_is_as_sure_as_people_has_one():
    pvalues = np.array([0.01, 0.5, 0.99])
    assert soft_pairwise_accuracy(pvalues, pvalues) == 1.0
    assert soft_pairwise_accuracy(pvalues, 1 - pvalues) == pytest.approx(1 - (0.98 * 2) / 3)
