"""How many comparisons two systems need: the formula against exact power and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from grammeter.core import Ranking, UnknownNameError, UsageError
from grammeter.ranking.separation import decided_needed, separations, sign_test_power


@given(st.floats(0, 1), st.integers(0, 60), st.sampled_from([0.01, 0.05, 0.1]))
def test_power_is_exact(share, decided, level):
    slow = sum(
        math.comb(decided, wins) * share**wins * (1 - share) ** (decided - wins)
        for wins in range(decided + 1)
        if decided and binomtest(wins, decided).pvalue <= level
    )
    assert sign_test_power(share, decided, level=level) == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize("power", [0.8, 0.9])
@pytest.mark.parametrize("share", [0.51, 0.55, 0.6, 0.7, 0.8, 0.9, 0.1])
def test_formula_gives_the_wanted_power(share, power):
    """The exact power is a saw: it may be a little off, at few comparisons more."""
    needed = decided_needed(share, power=power)
    assert sign_test_power(share, needed) == pytest.approx(power, abs=0.04 if needed > 30 else 0.1)


def test_formula_against_simulation():
    needed = decided_needed(0.6)
    assert needed == 204  # 194 without the correction for continuity
    wins = np.random.default_rng(1).binomial(needed, 0.6, size=4000)
    tests = {w: binomtest(w, needed).pvalue <= 0.05 for w in set(wins.tolist())}
    assert np.mean([tests[w] for w in wins.tolist()]) == pytest.approx(0.8, abs=0.03)


def test_a_system_that_always_wins_needs_six():
    """Six of six is the least that the two-sided sign test calls significant at .05."""
    assert decided_needed(1.0) == decided_needed(0.0) == 6
    assert sign_test_power(1.0, 6) == 1
    assert sign_test_power(1.0, 5) == 0


@pytest.mark.parametrize("share", [0.5, math.nan])
def test_equal_systems_never_separate(share):
    assert decided_needed(share) is None


@pytest.mark.parametrize(
    "wrong", [{"share": 1.1}, {"level": 0}, {"level": 1}, {"power": 1}, {"power": 0}]
)
def test_impossible_numbers(wrong):
    with pytest.raises(UsageError):
        decided_needed(**({"share": 0.6} | wrong))


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
    (found,) = separations(items, ["A", "B"])
    assert (found.wins, found.losses, found.ties, found.items) == (12, 8, 20, 40)
    assert found.share == 0.6
    assert found.decided_needed == 204
    assert found.design_effect == pytest.approx(40 / 39, abs=0.06)
    assert found.items_needed == math.ceil(204 * found.design_effect * 2)
    assert found.items_to_go == found.items_needed - 40


def test_the_order_of_names_turns_the_share():
    items = judged(*[1] * 12, *[-1] * 8)
    (found,) = separations(items, ["B", "A"])
    assert (found.wins, found.losses) == (8, 12)


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
    found = separations(items, ["A", "C"])[0]
    assert math.isnan(found.share)
    assert found.items_needed is found.items_to_go is None
    data = found.to_json()
    assert data["share"] is None
    assert data["reason"] == "no decided comparison"


def test_ties_only():
    (found,) = separations(judged(0, 0, 0), ["A", "B"])
    assert found.ties == 3
    assert found.design_effect == 1
    assert found.items_needed is None


def test_a_pair_that_is_already_apart_needs_nothing_more():
    (found,) = separations(judged(*[1] * 50), ["A", "B"])
    assert found.items_needed == 6
    assert found.items_to_go == 0


def test_skipped_items_are_no_items():
    idle = [Ranking(judge="j", segment=1, groups=(("A",), ("B",)), skipped=True)]
    (found,) = separations(judged(1, -1) + idle, ["A", "B"])
    assert found.items == 2


def test_unknown_and_doubled_systems():
    with pytest.raises(UnknownNameError):
        separations(judged(1), ["A", "X"])
    with pytest.raises(UsageError, match="twice"):
        separations(judged(1), ["A", "B", "A"])
