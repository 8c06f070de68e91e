"""How many comparisons two systems need: the formula against exact power and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from grammeter.core import Ranking, UnknownNameError, UsageError
from grammeter.study.planning import decided_needed, separations


def power_of_the_sign_test(share, decided):
    """Return how often the two-sided sign test is significant at .05: exact, no approximation."""
    wins = np.arange(decided + 1)
    significant = 2 * binom.cdf(np.minimum(wins, decided - wins), decided, 0.5) <= 0.05
    return binom.pmf(wins, decided, share)[significant].sum()


@pytest.mark.parametrize("share", [0.51, 0.55, 0.6, 0.7, 0.8, 0.9, 0.1])
def test_formula_gives_the_wanted_power(share):
    """The exact power is a saw: it may be a little off, at few comparisons more."""
    needed = decided_needed(share)
    exact = power_of_the_sign_test(share, needed)
    assert exact == pytest.approx(0.8, abs=0.04 if needed > 30 else 0.1)


def test_formula_against_simulation():
    needed = decided_needed(0.6)
    assert needed == 204  # 194 without the correction for continuity
    wins = np.random.default_rng(1).binomial(needed, 0.6, size=4000)
    tests = {w: binomtest(w, needed).pvalue <= 0.05 for w in set(wins.tolist())}
    assert np.mean([tests[w] for w in wins.tolist()]) == pytest.approx(0.8, abs=0.03)


def test_a_system_that_always_wins_needs_six():
    """Six of six is the least that the two-sided sign test calls significant at .05."""
    assert decided_needed(1.0) == decided_needed(0.0) == 6
    assert power_of_the_sign_test(1.0, 6) == 1
    assert power_of_the_sign_test(1.0, 5) == 0


@pytest.mark.parametrize("share", [0.5, math.nan])
def test_equal_systems_never_separate(share):
    assert decided_needed(share) is None


def judged(*outcomes, first="A", second="B", judges=1):
    """Make an item for each outcome: 1 if the first system wins, -1, 0 for a tie."""
    ranks = {1: (1, 2), -1: (2, 1), 0: (1, 1)}
    return [
        Ranking(
            judge=f"j{judge}", segment=number, groups=((first,), (second,)), ranks=ranks[outcome]
        )
        for number, outcome in enumerate(outcomes, start=1)
        for judge in range(judges)
    ]


def test_counts_and_plan():
    items = judged(*[1] * 12, *[-1] * 8, *[0] * 20)
    (result,) = separations(items, ["A", "B"])
    assert (result.wins, result.losses, result.ties, result.items) == (12, 8, 20, 40)
    assert result.share == 0.6
    assert result.decided_needed == 204
    assert result.design_effect == pytest.approx(40 / 39, abs=0.06)
    assert result.items_needed == math.ceil(204 * result.design_effect * 2)
    assert result.items_to_go == result.items_needed - 40


def test_the_order_of_names_turns_the_share():
    items = judged(*[1] * 12, *[-1] * 8)
    (result,) = separations(items, ["B", "A"])
    assert (result.wins, result.losses) == (8, 12)


def test_items_without_the_pair_make_it_dearer():
    items = judged(*[1] * 12, *[-1] * 8) + judged(*[1] * 60, first="A", second="C")
    first, _ = separations(items, ["A", "B", "C"])
    assert first.items == 80
    assert first.items_needed == math.ceil(204 * first.design_effect * 4)


def test_judges_who_say_the_same_of_a_sentence_count_less():
    """Three judges in full agreement are one."""
    outcomes = [1, -1, 1, 1, -1, 1] * 20
    (alone,) = separations(judged(*outcomes), ["A", "B"])
    (together,) = separations(judged(*outcomes, judges=3), ["A", "B"])
    assert together.design_effect == pytest.approx(3 * alone.design_effect, rel=0.02)
    assert together.items_needed == pytest.approx(3 * alone.items_needed, rel=0.02)


def test_systems_that_were_never_compared():
    items = judged(1, -1) + judged(1, first="C", second="D")
    result = separations(items, ["A", "C"])[0]
    assert math.isnan(result.share)
    assert result.items_needed is result.items_to_go is None
    data = result.to_dict()
    assert data["share"] is None
    assert data["reason"] == "no decided comparison"


def test_ties_only():
    (result,) = separations(judged(0, 0, 0), ["A", "B"])
    assert result.ties == 3
    assert result.design_effect == 1
    assert result.items_needed is None


def test_a_pair_that_is_already_apart_needs_nothing_more():
    (result,) = separations(judged(*[1] * 50), ["A", "B"])
    assert result.items_needed == 6
    assert result.items_to_go == 0


def test_skipped_items_are_no_items():
    idle = [Ranking(judge="j", segment=1, groups=(("A",), ("B",)), skipped=True)]
    (result,) = separations(judged(1, -1) + idle, ["A", "B"])
    assert result.items == 2


def test_unknown_and_doubled_systems():
    with pytest.raises(UnknownNameError):
        separations(judged(1), ["A", "X"])
    with pytest.raises(UsageError, match="twice"):
        separations(judged(1), ["A", "B", "A"])
