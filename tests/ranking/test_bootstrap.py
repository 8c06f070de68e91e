"""Resampled counts against building the resamples."""

import numpy as np
import pytest
from hypothesis import given

from grammeter.core import UnknownNameError, UsageError
from grammeter.ranking.methods import ExpectedWins
from grammeter.ranking.pairs import (
    Resampling,
    derived_seed,
    extract_pairs,
    resampled_counts,
    unit_numbers,
)
from grammeter.stats import resample_counts
from made_judgments import campaigns, duel, golden, official_pairs


def drawn(pairs, **settings):
    parts = list(resampled_counts(pairs, Resampling(**settings)))
    return tuple(np.concatenate(some) for some in zip(*parts, strict=True))


@given(campaigns)
def test_units_equal_weighted_counts(items):
    pairs = extract_pairs(items)
    for unit in ("ranking", "sentence"):
        of = unit_numbers(pairs, unit)
        times = np.concatenate(list(resample_counts(int(of.max()) + 1, 5, seed=3)))
        wins, ties = drawn(pairs, unit=unit, runs=5, seed=3)
        for run, weights in enumerate(times.astype(np.int64)):
            expected = pairs.select(np.repeat(np.arange(len(pairs)), weights[of])).counts()
            np.testing.assert_array_equal((wins[run], ties[run]), expected)


@given(campaigns)
def test_pairs_keep_their_number_and_draw_only_what_there_is(items):
    pairs = extract_pairs(items)
    wins, ties = drawn(pairs, unit="pair", runs=6)
    np.testing.assert_array_equal(wins.sum(axis=(1, 2)) + ties.sum(axis=(1, 2)) // 2, len(pairs))
    seen_wins, seen_ties = pairs.counts()
    assert not wins[:, seen_wins == 0].any()
    assert not ties[:, seen_ties == 0].any()
    np.testing.assert_array_equal(ties, ties.swapaxes(1, 2))


@given(campaigns)
def test_cells_hold_all_outcomes(items):
    pairs = extract_pairs(items)
    units = unit_numbers(pairs, "ranking")
    cells = pairs.cells(units, units.max() + 1)
    assert cells.sum() == len(pairs)
    assert cells[:, 2::3].sum() == (pairs.outcome == 0).sum()


def test_deviations_of_2015(shared):
    """The deviation over resampled comparisons; one or two percent of it is chance."""
    pairs = official_pairs(shared)
    table = golden(shared, "table3b_expected_wins")["bootstrap_sd_pair_level"]
    runs = ExpectedWins().runs(pairs, Resampling(unit="pair", runs=4000))
    result = dict(zip(pairs.systems, runs.std(axis=0), strict=True))
    assert result == pytest.approx(table, rel=0.08)


def test_larger_units_vary_more(shared):
    pairs = official_pairs(shared)
    spread = [
        ExpectedWins().runs(pairs, Resampling(unit=unit, runs=300)).std(axis=0)
        for unit in ("pair", "ranking", "sentence")
    ]
    assert (spread[0] < spread[1]).all()
    assert (spread[1] < spread[2]).all()


def test_same_seed_same_counts():
    pairs = extract_pairs([*duel("A", "B", times=4), *duel("B", "A", segment=2, times=3)])
    for unit in ("pair", "ranking", "sentence"):
        first, again = (drawn(pairs, unit=unit, runs=9, seed=5)[0] for _ in range(2))
        np.testing.assert_array_equal(first, again)
        assert (drawn(pairs, unit=unit, runs=9, seed=6)[0] != first).any()


def test_derived_seeds_differ():
    seeds = {derived_seed(1, fold) for fold in range(50)} | {derived_seed(2, 0), 1}
    assert len(seeds) == 52
    assert derived_seed(1, 2) == derived_seed(1, 2)


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"seed": -1}, {"processes": 0}])
def test_impossible_numbers(wrong):
    with pytest.raises(UsageError, match="Take"):
        Resampling(**wrong)


def test_unknown_unit():
    with pytest.raises(UnknownNameError, match="sentence"):
        Resampling(unit="sentences")
