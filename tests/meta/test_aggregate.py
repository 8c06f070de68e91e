"""Sentences turned into systems: against slow twins and the published rankings."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import (
    DataError,
    MetricScores,
    Ranking,
    Score,
    ScoreTable,
    SegmentScores,
    Signature,
    UnknownNameError,
)
from grammeter.formats import read_judgments
from grammeter.meta.judged import aggregated, comparisons, human_scores, with_aggregates
from grammeter.ranking import METHODS
from grammeter.verbs import rank

grids = st.integers(1, 5).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, math.nan]), min_size=n, max_size=n),
        min_size=2,
        max_size=4,
    )
)


def column(rows, *, higher_is_better=True):
    signature = Signature.of("m", {})
    segments = {s: SegmentScores(np.array(v), np.full(len(v), -1), {}) for s, v in rows.items()}
    scores = {s: Score(0.0, signature, len(v)) for s, v in rows.items()}
    return MetricScores("m", signature, higher_is_better, scores, segments)


@given(grids)
def test_comparisons_equal_the_slow_twin(rows):
    wins, ties = comparisons(np.array(rows))
    for i, row in enumerate(rows):
        for j, other in enumerate(rows):
            pairs = list(zip(row, other, strict=True))
            assert wins[i, j] == sum(a > b for a, b in pairs)
            assert ties[i, j] == (sum(a == b for a, b in pairs) if i != j else 0)


@pytest.mark.parametrize("by", list(METHODS))
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_it_is_what_rank_makes_of_the_same_rankings(by, higher_is_better):
    random = np.random.default_rng(3)
    rows = {s: random.integers(0, 4, size=40).astype(float) for s in "ABCD"}
    result = aggregated("m", column(rows, higher_is_better=higher_is_better), by)
    sign = -1 if higher_is_better else 1
    rankings = [
        Ranking(
            judge="m",
            segment=at + 1,
            groups=tuple((s,) for s in rows),
            ranks=tuple(int(sign * v[at]) + 10 for v in rows.values()),
        )
        for at in range(40)
    ]
    ranked = rank(rankings, by=by, resamples=10)
    for system, score in result.items():
        assert score.value == pytest.approx(ranked[system].score, abs=1e-12)
    assert result.higher_is_better
    assert f"aggregate:{by}" in str(result.signature)


def test_the_mean_keeps_direction_and_segments():
    result = aggregated("m", column({"A": [1.0, 2], "B": [0, 5]}, higher_is_better=False), "mean")
    assert {s: score.value for s, score in result.items()} == {"A": 1.5, "B": 2.5}
    assert not result.higher_is_better
    assert result.segments["A"].values.tolist() == [1, 2]


def test_all_ties_have_no_score():
    result = aggregated("m", column({"A": [1.0, 1], "B": [1.0, 1]}), "expected-wins")
    assert math.isnan(result["A"].value)
    assert result["A"].reason == "no decided comparison"


def test_columns_stand_side_by_side():
    table = ScoreTable(("A", "B"), 2, {"m": column({"A": [1.0, 2], "B": [0, 5]})})
    assert list(with_aggregates(table, ["mean", "trueskill"])) == [
        "m",
        "m by mean",
        "m by trueskill",
    ]
    with pytest.raises(UnknownNameError, match="way of aggregating"):
        with_aggregates(table, ["x"])


def test_no_sentence_scores():
    bare = column({"A": [1.0], "B": [2.0]})
    bare = MetricScores("m", bare.signature, True, bare.scores)
    with pytest.raises(DataError, match="no sentence scores of A, B"):
        aggregated("m", bare, "mean")


def test_people_are_scored_by_all_the_data(shared):
    """Expected Wins of Grundkiewicz et al. 2015, without resampling."""
    golden = json.loads((shared / "golden/ranking/table3b_expected_wins.json").read_text("utf-8"))
    scores, signature, _ = human_scores(read_judgments(shared / "data/human_gjg15/judgments.xml"))
    assert scores == pytest.approx(golden["full_data_EW"], abs=1e-12)
    assert "comparisons:109098" in str(signature)
