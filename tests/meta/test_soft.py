"""Soft pairwise accuracy: a slow twin over all swaps, and cases worked by hand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammeter.core import MetricScores, Ranking, SegmentScores, Signature
from grammeter.meta.segment import human_differences, soft_accuracies, swap_pvalues
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


RANKINGS = [
    Ranking(judge="x", segment=4, groups=(("a",), ("b", "c")), ranks=(1, 2)),
    Ranking(judge="y", segment=4, groups=(("a",), ("b",)), ranks=(1, 2)),
    Ranking(judge="x", segment=9, groups=(("c",), ("b",)), ranks=(1, 2)),
]


def test_differences_of_rankings():
    # columns: a-b, a-c, b-c; rows: sentences 4 and 9
    assert human_differences(extract_pairs(RANKINGS)).tolist() == [[2, 1, 0], [0, 0, -1]]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_metric_that_is_as_sure_as_people_has_one(sign):
    """Its differences are those of the judgments; turned round, it is as sure of the contrary."""
    worth = {"a": [1.0, 0.0], "b": [-1.0, -0.5], "c": [0.0, 0.5]}
    signature = Signature.of("m", {})
    columns = {
        name: MetricScores(name, signature, higher, {}, {
            system: SegmentScores(np.insert(np.zeros(7), [3, 7], sign * np.array(values)),
                                  np.zeros(9, dtype=int), {}, None)
            for system, values in worth.items()
        })
        for name, higher in (("m", sign > 0), ("turned", sign < 0))
    }  # fmt: skip
    pairs = extract_pairs(RANKINGS)
    human = swap_pvalues(human_differences(pairs), rounds=400, seed=1)
    scores = np.array([[1.0, 0.0], [-1.0, -0.5], [0.0, 0.5]])
    metric = swap_pvalues((scores[[0, 0, 1]] - scores[[1, 2, 2]]).T, rounds=400, seed=1)
    accuracies = soft_accuracies(columns, pairs, 400, 1)
    assert accuracies["m"].value == pytest.approx(np.mean(1 - abs(human - metric)))
    assert accuracies["turned"].value == pytest.approx(np.mean(1 - abs(human - (1 - metric))))
    assert accuracies["m"].value > accuracies["turned"].value
