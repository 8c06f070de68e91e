"""What makes a sentence worth showing: held against brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import MetricScores, SegmentScores
from grammeter.metrics import metric
from grammeter.study.selectors import (
    diversity,
    expected_systems,
    group_outputs,
    multiplicities,
    spread,
)


def expected_systems_by_counting(counts, per_item):
    """Look at every subset of the outputs, one by one."""
    total = sum(counts)
    sums = [
        sum(counts[at] for at in subset)
        for size in range(per_item + 1)
        for subset in combinations(range(len(counts)), size)
    ]
    large = [reached for reached in sums if reached >= min(per_item, total)]
    return Fraction(sum(large), len(large))


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(1, 6))
def test_expected_systems(counts, per_item):
    slow = expected_systems_by_counting(counts, per_item)
    assert expected_systems(tuple(counts), per_item) == pytest.approx(float(slow), rel=1e-15)


def test_expected_systems_of_the_paper():
    assert expected_systems((13,), 5) == 13
    assert expected_systems((1, 12), 5) == 12.5
    assert expected_systems((1, 1, 11), 5) == 12
    assert expected_systems((1,) * 13, 5) == 5


def test_fewer_systems_than_an_item_shows():
    """All of them are compared, whatever they wrote."""
    assert expected_systems((1, 2), 5) == 3
    assert expected_systems((3,), 5) == 3


texts = st.lists(st.sampled_from("ab"), max_size=5).map(" ".join)


@given(st.lists(texts, min_size=2, max_size=5))
def test_diversity(outputs):
    named = {str(number): text for number, text in enumerate(outputs)}
    distances = [distance(a.split(), b.split()) for a, b in combinations(outputs, 2)]
    assert diversity(named) == pytest.approx(sum(distances) / len(distances), abs=1e-12)


def distance(first, second):
    length = len(first) + len(second)
    return 1 - 2 * common(first, second) / length if length else 0


def common(first, second):
    if not first or not second:
        return 0
    if first[-1] == second[-1]:
        return common(first[:-1], second[:-1]) + 1
    return max(common(first[:-1], second), common(first, second[:-1]))


def test_diversity_of_long_sentences():
    """More tokens than a machine word has bits."""
    first = [f"w{number}" for number in range(200)]
    second = [*first[:90], "x", *first[100:]]
    assert diversity({"A": " ".join(first), "B": " ".join(second)}) == pytest.approx(
        1 - 2 * 190 / 391
    )


def test_groups_leave_white_space_at_the_ends_aside():
    groups = group_outputs({"A": " a b ", "B": "a b\r", "C": "a  b", "D": "", "E": " "})
    assert groups == (("A", "B"), ("C",), ("D", "E"))
    assert multiplicities(groups) == (1, 2, 2)


def column(scores):
    gleu = metric("gleu")
    return MetricScores(
        metric="gleu",
        signature=gleu.signature(),
        higher_is_better=True,
        scores={},
        segments={
            name: SegmentScores(np.array(values, dtype=float), np.full(len(values), -1), {})
            for name, values in scores.items()
        },
    )


def test_spread():
    nan = float("nan")
    result = spread(
        column(
            {"A": [1, 1, 0.5, nan, nan], "B": [0, 1, nan, 0.3, nan], "C": [0, 1, 0.1, nan, nan]}
        ),
        ["C", "A", "B"],
    )
    assert result == pytest.approx([np.std([1, 0, 0]), 0, 0.2, 0, 0])
