"""Rank ranges and clusters against the output of the reference and a plain twin."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grammeter.core import UsageError
from grammeter.ranking.rank import (
    cluster_numbers,
    cluster_runs,
    mean_order,
    rank_ranges,
    run_ranks,
    score_order,
)
from made_judgments import golden

scores = arrays(
    np.float64, st.tuples(st.integers(3, 30), st.integers(1, 6)), elements=st.integers(0, 4)
)


def twin(matrix, confidence):
    """The procedure, with plain lists."""
    runs, systems = len(matrix), range(len(matrix[0]))
    first = {s: sorted(1 + sum(x > run[s] for x in run) for run in matrix) for s in systems}
    last = {s: sorted(sum(x >= run[s] for x in run) for run in matrix) for s in systems}
    cut = math.ceil((runs - runs * confidence) / 2)
    moments = {}
    for system in systems:
        values = [run[system] for run in matrix]
        mean = math.fsum(values) / runs
        moments[system] = (mean, math.fsum((value - mean) ** 2 for value in values), system)
    order = sorted(systems, key=moments.get, reverse=True)
    ranges = [(first[s][cut], last[s][runs - cut - 1]) for s in order]
    clusters, number = [], 1
    for place in range(len(order)):
        clusters.append(number)
        number += all(ranges[place][1] < later[0] for later in ranges[place + 1 :])
    return order, ranges, clusters


@given(scores, st.sampled_from([0.5, 0.9, 0.95, 1.0]))
def test_equals_the_twin(matrix, confidence):
    cut = math.ceil((len(matrix) - len(matrix) * confidence) / 2)
    if len(matrix) <= 2 * cut:
        with pytest.raises(UsageError, match="too few"):
            cluster_runs(matrix, confidence=confidence)
        return
    clustering = cluster_runs(matrix, confidence=confidence)
    order, ranges, clusters = twin(matrix.tolist(), confidence)
    assert clustering.order == tuple(order)
    assert clustering.ranges == tuple(ranges)
    assert clustering.clusters == tuple(clusters)


@pytest.mark.parametrize("confidence", ["0.9", "0.95"])
def test_output_of_cluster_py(shared, confidence):
    """Verbatim lines of the original, Python 2: ``NAME score (low, high)``."""
    table = golden(shared, f"cluster_py_judge7_{confidence}")
    runs = np.array(table["runs"])
    clustering = cluster_runs(runs, confidence=table["conf"])
    lines, previous = [], 1
    for at, (low, high), number in zip(
        clustering.order, clustering.ranges, clustering.clusters, strict=True
    ):
        lines += ["++++++++++"] * (number - previous)
        previous = number
        mean = round(float(runs[:, at].mean()), 3)
        lines.append(f"{table['systems'][at]} {mean} ({low:.1f}, {high:.1f})")
    assert lines == table["cluster_py_output"]


def test_equal_scores_share_the_ranks_that_they_span():
    first, last = run_ranks(np.array([[1.0, 1.0 + 1e-15, 2.0], [3.0, 3.0 + 1e-9, 3.0]]))
    assert first.tolist() == [[2, 2, 1], [2, 1, 2]]
    assert last.tolist() == [[3, 3, 1], [3, 1, 3]]
    assert score_order(np.array([1.0, 1.0, 2.0])) == [2, 1, 0]


def test_no_score_is_worse_than_any():
    matrix = np.array([[np.nan, -5.0], [1.0, 0.0], [np.nan, -1.0]])
    first, last = run_ranks(matrix)
    assert first.tolist() == last.tolist() == [[2, 1], [1, 2], [2, 1]]
    assert score_order(np.array([np.nan, -9.0])) == [1, 0]
    assert mean_order(matrix) == [1, 0]


def test_a_line_looks_at_all_systems_below_and_none_above():
    assert cluster_numbers([(1, 1), (2, 3), (2, 3)]) == (1, 2, 2)
    assert cluster_numbers([(1, 2), (3, 3), (2, 3)]) == (1, 1, 1)
    assert cluster_numbers([(1, 4), (2, 2), (3, 3), (4, 4)]) == (1, 1, 2, 3)  # 1-4 is forgotten


@pytest.mark.parametrize(("runs", "cut"), [(1000, 25), (100, 3), (20, 1), (3, 1)])
def test_cut_at_each_end(runs, cut):
    ranks = np.arange(1, runs + 1)[:, None]
    assert rank_ranges(ranks, ranks, 0.95) == [(cut + 1, runs - cut)]
    both = np.hstack([ranks, ranks[::-1]])
    assert rank_ranges(both, both, 0.95, alike=[7, 7]) == [(cut + 1, runs - cut)] * 2


@pytest.mark.parametrize("confidence", [0, -1, 1.5, math.nan])
def test_impossible_confidence(confidence):
    with pytest.raises(UsageError, match="confidence"):
        rank_ranges(*np.ones((2, 10, 1), dtype=np.int64), confidence)
