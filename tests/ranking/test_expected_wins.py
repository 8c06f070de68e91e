"""Expected Wins against the published scores and a plain loop."""

import math

import numpy as np
import pytest
from hypothesis import given

from grammeter.core import UnknownNameError
from grammeter.ranking.methods import ExpectedWins, expected_wins
from grammeter.ranking.pairs import Resampling, extract_pairs
from made_judgments import NAMES, campaigns, duel, golden, official, official_pairs


def twin(pairs, divisor):
    """The formula, one comparison after the other."""
    beaten, met = {}, {}
    for first, second, outcome in zip(pairs.first, pairs.second, pairs.outcome, strict=True):
        if outcome:
            better, worse = (first, second) if outcome > 0 else (second, first)
            beaten[better, worse] = beaten.get((better, worse), 0) + 1
            met[first, second] = met.get((first, second), 0) + 1
            met[second, first] = met.get((second, first), 0) + 1
    systems = range(len(pairs.systems))
    scores = []
    for one in systems:
        shares = [beaten.get((one, o), 0) / met[one, o] for o in systems if (one, o) in met]
        if divisor == "beaten-opponents":
            shares = [share for share in shares if share]
        over = len(shares) if divisor == "beaten-opponents" else len(pairs.systems) - 1
        scores.append(math.fsum(shares) / over if shares else math.nan)
    return scores


@given(campaigns)
def test_equals_the_plain_loop(items):
    pairs = extract_pairs(items)
    for divisor in ("all-opponents", "beaten-opponents"):
        scores = expected_wins(pairs.counts()[0], divisor=divisor)
        np.testing.assert_allclose(scores, twin(pairs, divisor), rtol=1e-12)


@given(campaigns)
def test_scores_without_ties_and_gaps_add_up(items):
    wins, _ = extract_pairs(items).counts()
    scores = expected_wins(wins + 1 - np.eye(len(wins), dtype=np.int64))
    assert scores.sum() == pytest.approx(len(wins) / 2)


def test_table_3b(shared):
    pairs = official_pairs(shared)
    scores = dict(zip(pairs.systems, expected_wins(pairs.counts()[0]), strict=True))
    table = golden(shared, "table3b_expected_wins")
    assert scores == pytest.approx(table["full_data_EW"], rel=0, abs=1e-12)
    for row in table["published"]:
        assert scores[row["system"]] == pytest.approx(row["score"], rel=0, abs=5e-4)


@pytest.mark.parametrize("judge", range(1, 9))
def test_table_7(shared, judge):
    """Its script rounds to four decimals, and a second one to three."""
    table = golden(shared, "table7_judge_rankings")[str(judge)]
    pairs = extract_pairs([r for r in official(shared) if r.judge == table["user"]])
    wins, _ = pairs.counts()
    scores = dict(zip(pairs.systems, expected_wins(wins, divisor="beaten-opponents"), strict=True))
    printed = {name: float(f"{float(f'{score:.4f}'):.3f}") for name, score in scores.items()}
    assert printed == {row["system"]: row["score"] for row in table["published"]}
    papers = dict(zip(pairs.systems, expected_wins(wins), strict=True))
    assert papers == pytest.approx(
        {row["system"]: row["EW_py"] for row in table["reproduced"]}, rel=0, abs=1e-12
    )


@pytest.mark.parametrize("data", ["edit", "sent"])
def test_seeda(shared, data):
    table = golden(shared, "seeda_human_scores")[data]
    scores = expected_wins(np.array(table["W"]))
    np.testing.assert_allclose(scores, table["full_data_EW"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(scores, table["published_EW"], rtol=0, atol=1.3e-3)


def test_a_system_without_a_decided_comparison_has_no_score():
    pairs = extract_pairs([*duel("A", "B"), *duel("A", "C", tie=True)])
    a, b, c = expected_wins(pairs.counts()[0])
    assert (a, b) == (0.5, 0.0)  # nothing decided with C counts as 0
    assert math.isnan(c)


def test_a_system_without_a_win_has_no_score_among_beaten_opponents():
    pairs = extract_pairs([*duel("A", "B"), *duel("A", "C")])
    a, *others = expected_wins(pairs.counts()[0], divisor="beaten-opponents")
    assert a == 1.0
    assert all(map(math.isnan, others))


def test_stacked_counts_are_scored_one_by_one():
    wins = np.random.default_rng(1).integers(0, 5, (4, 3, 5, 5))
    scores = expected_wins(wins)
    assert scores.shape == (4, 3, len(NAMES))
    np.testing.assert_array_equal(scores[2, 1], expected_wins(wins[2, 1]))


def test_method():
    method = ExpectedWins(divisor="beaten-opponents")
    pairs = extract_pairs([*duel("A", "B", times=3), *duel("B", "C"), *duel("B", "A")])
    assert method.settings(5) == {"divisor": "beaten-opponents", "ties": "ignored"}
    assert method.runs(pairs, Resampling(runs=7)).shape == (7, 3)
    with pytest.raises(UnknownNameError, match="beaten-opponents"):
        ExpectedWins(divisor="beaten")
