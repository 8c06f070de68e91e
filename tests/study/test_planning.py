"""Learning curves: against a slow twin, and on data whose answer is known."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from grammeter.core import DataError, Ranking, UsageError
from grammeter.formats import read_judgments
from grammeter.study.planning import draw_campaigns, items_needed, learning_curve


def ranking(segment, groups, ranks, **more):
    split = tuple(tuple(group) for group in groups.split())
    return Ranking(judge="j", segment=segment, groups=split, ranks=tuple(ranks), **more)


def made_up(items=60, systems="ABCDE", seed=0):
    """Make rankings by systems whose quality grows with the alphabet, and noise."""
    random = np.random.default_rng(seed)
    result = []
    for segment in range(1, items + 1):
        shown = random.permutation(len(systems))[:4].tolist()
        worth = [place + random.normal(0, 2) for place in shown]
        ranks = [1 + sum(other > quality for other in worth) for quality in worth]
        result.append(ranking(segment, " ".join(systems[at] for at in shown), ranks))
    return result


def slow_scores(rankings, weights, systems):
    """Return Expected Wins, one comparison after the other."""
    wins = dict.fromkeys(product(systems, repeat=2), 0.0)
    for ranking, weight in zip(rankings, weights, strict=True):
        rows = list(zip(ranking.groups, ranking.ranks, strict=True))
        for (ours, rank), (theirs, other) in combinations(rows, 2):
            for a, b in product(ours, theirs):
                wins[a, b] += weight * (rank < other)
                wins[b, a] += weight * (rank > other)
    shares = {pair: won / (won + wins[pair[::-1]]) for pair, won in wins.items() if won}
    return [
        round(sum(shares.get((a, b), 0) for b in systems) / (len(systems) - 1), 12) for a in systems
    ]


def slow_spearman(ours, theirs):
    if len(set(ours)) == 1 or len(set(theirs)) == 1:
        return 0.0
    return float(spearmanr(ours, theirs).statistic)


shown = st.sampled_from(["A B C", "AB C D", "A D", "BCD A", "A B C D"])


@st.composite
def judged(draw):
    result = []
    for segment in range(1, draw(st.integers(1, 6)) + 1):
        groups = draw(shown)
        size = len(groups.split())
        ranks = draw(st.lists(st.integers(1, 3), min_size=size, max_size=size))
        result.append(ranking(segment, groups, ranks))
    return result


@given(judged(), st.integers(1, 8), st.integers(0, 99))
def test_correlations(rankings, size, seed):
    campaigns = draw_campaigns(rankings, draws=4, anew=True, seed=seed)
    everyone = [1] * len(rankings)
    full = slow_scores(rankings, everyone, campaigns.systems)
    expected = [
        slow_spearman(
            slow_scores([rankings[at] for at in drawn], [1] * len(drawn), campaigns.systems), full
        )
        for drawn in campaigns.drawn[:, :size].tolist()
    ]
    assert campaigns.correlations(size) == pytest.approx(expected, abs=1e-9)


def test_parts_of_the_data_hold_no_item_twice_and_end_in_all():
    campaigns = draw_campaigns(made_up(20), draws=5)
    assert campaigns.longest == 20
    assert (np.sort(campaigns.drawn, axis=1) == np.arange(20)).all()
    assert campaigns.correlations(20) == pytest.approx(np.ones(5))


def test_a_new_campaign_draws_with_replacement():
    campaigns = draw_campaigns(made_up(4), draws=2500, anew=True)
    counts = np.bincount(campaigns.drawn.ravel(), minlength=4) / 10_000
    assert counts == pytest.approx([0.25] * 4, abs=0.02)
    assert any(len({*drawn}) < 4 for drawn in campaigns.drawn.tolist())


def test_what_compares_nothing_is_passed_over():
    items = made_up(5)
    idle = [
        Ranking(judge="j", segment=1, groups=(("A",), ("B",)), skipped=True),
        ranking(2, "ABC", [1]),
    ]
    campaigns = draw_campaigns([idle[0], *items, idle[1]])
    assert campaigns.wins.shape[0] == 5
    assert set(campaigns.drawn.ravel().tolist()) == set(range(5))


def test_an_item_that_tells_nothing_agrees_with_nothing():
    items = [ranking(1, "A B", [1, 1]), ranking(2, "A B", [1, 2])]
    campaigns = draw_campaigns(items, draws=50)
    assert set(campaigns.correlations(1).tolist()) == {0.0, 1.0}


def test_curve_rises():
    curve = learning_curve(draw_campaigns(made_up(200), draws=300))
    assert (curve.low <= curve.high + 1e-9).all()
    assert (curve.mean <= curve.high + 1e-9).all()
    assert curve.sizes[0] == 5
    assert curve.sizes[-1] == 200
    assert curve.mean[-1] == curve.low[-1] == pytest.approx(1)
    assert curve.mean[0] < curve.mean[len(curve.mean) // 2] < 1 + 1e-9
    data = curve.to_dict()
    assert data["kind"] == "learning-curve"
    assert len(data["sizes"]) == len(data["mean"]) == len(data["low"]) == len(data["high"])
    assert data["signature"].startswith(
        "planning|by:expected-wins|unit:item|items:200|draws:300|drawn:without-replacement"
        "|seed:1|tail:0.05|"
    )


def test_items_needed_is_where_the_quantile_reaches_the_target():
    campaigns = draw_campaigns(made_up(200), draws=400)
    needed = items_needed(campaigns, target=0.9, share=0.8)
    assert np.mean(campaigns.correlations(needed) >= 0.9 - 1e-9) >= 0.8
    assert np.mean(campaigns.correlations(needed - 1) >= 0.9 - 1e-9) < 0.8


def test_more_is_asked_than_there_is():
    campaigns = draw_campaigns(made_up(6), draws=100, anew=True)
    assert items_needed(campaigns, target=1.0, share=1.0) is None


def test_same_seed_same_curve():
    curves = [
        learning_curve(draw_campaigns(made_up(), draws=50, seed=seed)).to_dict()
        for seed in (1, 1, 2)
    ]
    assert curves[0] == curves[1] != curves[2]


@pytest.mark.parametrize("wrong", [{"draws": 0}, {"seed": -1}])
def test_impossible_draws(wrong):
    with pytest.raises(UsageError):
        draw_campaigns(made_up(), **wrong)


@pytest.mark.parametrize(
    "wrong", [{"sizes": []}, {"sizes": [0]}, {"sizes": [61]}, {"tail": 0}, {"tail": 0.5}]
)
def test_impossible_curves(wrong):
    with pytest.raises(UsageError):
        learning_curve(draw_campaigns(made_up(), draws=2), **wrong)


def test_nothing_to_draw_from():
    with pytest.raises(DataError, match="compares two outputs"):
        draw_campaigns([ranking(1, "AB", [1])])


def test_judgments_of_2015(shared):
    """The full ranking is that of Table 3b: full-data Expected Wins, to the order."""
    rankings = read_judgments(shared / "data/human_gjg15/judgments.xml").rankings
    campaigns = draw_campaigns(rankings, draws=20)
    assert campaigns.longest == 1897 + 180 + 132 + 70
    assert campaigns.correlations(campaigns.longest) == pytest.approx(np.ones(20))
    wins = campaigns.wins.sum(axis=0).reshape(13, 13)
    row = next(
        line.split("\t")
        for line in (shared / "golden/ranking/pair_counts.tsv").read_text().splitlines()
        if line.startswith("ALL\tAMU\tCAMB")
    )
    assert [wins[0, 1], wins[1, 0]] == [float(cell) for cell in row[3:5]]
