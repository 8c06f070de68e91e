"""The mean-field limit against the random games and published scores."""

import math

import numpy as np
import pytest

from grammeter.ranking import TrueSkill
from grammeter.ranking.pairs import Resampling, extract_pairs
from grammeter.ranking.trueskill import mean_field
from made_judgments import duel, golden, official_pairs, random_duels

RUNS = 400


def test_table_3c(shared):
    pairs = official_pairs(shared)
    scores = TrueSkill().score(*pairs.counts())
    result = dict(zip(pairs.systems, scores, strict=True))
    table = golden(shared, "table3c_trueskill")
    limit = table["mean_field_limit(deterministic)"]
    assert result == pytest.approx(limit, rel=0, abs=1e-6)
    for row in table["published"]:
        assert result[row["system"]] == pytest.approx(row["score"], rel=0, abs=0.002)
    for run in table["reference_python2_runs(mu,sigma^2)"]:  # of the unmodified original
        for name, (mean, _) in run.items():
            deviation = table["closed_form_1000_runs"][name]["sd"]
            assert abs(mean - result[name]) < 4 * deviation


@pytest.mark.parametrize("data", ["edit", "sent"])
def test_seeda(shared, data):
    table = golden(shared, "seeda_human_scores")[data]
    scores = TrueSkill().score(np.array(table["W"]), np.array(table["T"]))
    np.testing.assert_allclose(scores, table["mean_field_TS"], rtol=0, atol=5e-6)
    np.testing.assert_allclose(scores, table["published_TS"], rtol=0, atol=1.3e-3)


def test_errors_fall_with_the_square_of_the_steps(shared):
    counts = official_pairs(shared).counts()
    model = TrueSkill().model(109098)
    exact = mean_field(*counts, model, steps=400)
    errors = [np.abs(mean_field(*counts, model, steps=n) - exact).max() for n in (25, 50)]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    assert errors[1] < 3e-7


@pytest.mark.parametrize(
    "edges",
    [
        [("A", "B")],
        [("A", "B"), ("B", "C"), ("A", "C")],
        [("A", "C"), ("B", "C"), ("C", "D"), ("C", "E")],
        [("A", "B"), ("B", "C"), ("C", "D")],
        [("A", "B"), ("C", "D")],
    ],
    ids=["two", "all", "star", "chain", "apart"],
)
def test_equals_the_mean_of_many_runs(edges):
    """Also where the graph forces some systems into more games than others."""
    pairs = extract_pairs(random_duels(edges, 2000))
    method = TrueSkill(games=1000, beta=20.0)
    runs = method.runs(pairs, Resampling(unit=None, runs=RUNS))
    error = runs.std(axis=0) / math.sqrt(RUNS)
    gap = method.score(*pairs.counts()) - runs.mean(axis=0)
    assert (np.abs(gap) < 4 * error + 0.02).all()


def test_only_ties_leave_everything_as_it_was():
    pairs = extract_pairs([*duel("A", "B", tie=True), *duel("B", "C", tie=True)])
    np.testing.assert_allclose(TrueSkill().score(*pairs.counts()), 0.0, atol=1e-12)


def test_nothing_compared():
    nothing = np.zeros((3, 3), dtype=np.int64)
    assert np.isnan(mean_field(nothing, nothing, TrueSkill().model(0))).all()
