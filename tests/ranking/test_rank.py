"""The verb: published rankings, its options, and data with gaps."""

import dataclasses
import math

import pytest
from hypothesis import given, settings

from grammeter.core import DataError, Ranked, Ranking, UnknownNameError, UsageError
from grammeter.formats import read_judgments
from grammeter.ranking import METHODS, TrueSkill
from grammeter.ranking.methods import BradleyTerry, ExpectedWins, expected_wins
from grammeter.ranking.pairs import extract_pairs
from grammeter.verbs import rank
from made_judgments import bounds, campaigns, duel, golden, official, random_duels

CHAIN = [("A", "B"), ("B", "C"), ("A", "C")]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_table_3b(shared, seed):
    ranked = rank(official(shared), unit="pair", seed=seed)
    published = golden(shared, "table3b_expected_wins")["published"]
    assert list(ranked) == [row["system"] for row in published]
    for row in published:
        ours = ranked[row["system"]]
        assert ours.score == pytest.approx(row["score"], rel=0, abs=5e-4)
        assert ours.cluster == row["cluster"]
        assert ours.ranks == pytest.approx(bounds(row["range"]), rel=0, abs=1)


@pytest.mark.parametrize("judge", range(1, 9))
def test_table_7(shared, judge):
    """Ranges at .9; each was seen in 20 runs of the original, and so were the clusters."""
    table = golden(shared, "table7_judge_rankings")[str(judge)]
    ranked = rank(
        official(shared),
        judge=[table["user"]],
        unit="pair",
        divisor="beaten-opponents",
        confidence=0.9,
    )
    for row in table["reproduced"]:
        low, high = ranked[row["system"]].ranks
        seen = [bounds(text) for text in row["ranges_over_20x1000"]]
        assert min(abs(low - a) + abs(high - b) for a, b in seen) <= 1
    groups = {}
    for row in ranked.rows:
        groups.setdefault(row.cluster, []).append(row.system)
    clusters = "|".join(" ".join(names) for names in groups.values())
    assert clusters in table["clusterings_over_20x1000"]


@pytest.mark.parametrize(
    ("unit", "clusters"), [("pair", [1, 4, 7, 1]), ("ranking", [1, 11, 1]), ("sentence", [12, 1])]
)
def test_clusters_by_unit(shared, unit, clusters):
    """Table 3b's four clusters come from taking all comparisons as independent."""
    ranked = rank(official(shared), unit=unit)
    numbers = [row.cluster for row in ranked.rows]
    assert [numbers.count(number) for number in sorted(set(numbers))] == clusters


@pytest.mark.parametrize("data", ["edit", "sent"])
def test_seeda_from_its_judgments(shared, data):
    judgments = read_judgments(shared / "data" / "seeda" / f"judgments_{data}.xml")
    table = golden(shared, "seeda_human_scores")[data]
    ranked = rank(judgments, resamples=40)
    wins = {name: ranked[name].score for name in table["systems"]}
    expected = dict(zip(table["systems"], table["full_data_EW"], strict=True))
    assert wins == pytest.approx(expected, rel=0, abs=1e-12)
    signature = dict(ranked.signature)
    assert int(signature["rankings"]) <= table["n_rankings"] == len(judgments)
    assert int(signature["comparisons"]) == table["expanded_pairs"]
    assert int(signature["tied"]) == table["expanded_ties"]
    unexpanded = dict(rank(judgments, resamples=40, extraction="unexpanded").signature)
    assert int(unexpanded["comparisons"]) == table["unexpanded_pairs"]
    assert int(unexpanded["tied"]) == table["unexpanded_ties"]


@settings(max_examples=30)
@given(campaigns)
def test_any_judgments_give_a_ranking(items):
    ranked = rank(items, resamples=40)
    pairs = extract_pairs(items)
    scores = dict(zip(pairs.systems, expected_wins(pairs.counts()[0]), strict=True))
    assert {r.system: r.score for r in ranked.rows} == pytest.approx(scores, nan_ok=True)
    known = [r.score for r in ranked.rows if not math.isnan(r.score)]
    assert known == sorted(known, reverse=True)
    for row in ranked.rows:
        assert 1 <= row.ranks[0] <= row.ranks[1] <= len(ranked)
        assert not math.isnan(row.score) or row.reason
    clusters = [row.cluster for row in ranked.rows]
    assert clusters == sorted(clusters)
    again = Ranked.from_dict(ranked.to_dict())
    assert list(again) == list(ranked)


@pytest.mark.parametrize("by", sorted(METHODS))
def test_all_methods_agree_on_clear_data(by):
    ranked = rank(random_duels(CHAIN, 400), by=by, resamples=60)
    assert list(ranked) == ["C", "B", "A"]
    assert ranked.method == by
    assert str(ranked.signature).startswith(f"{by}|")


def test_same_seed_same_ranking():
    items = random_duels(CHAIN, 80)
    for by in METHODS:
        first, again = (rank(items, by=by, resamples=50, seed=9) for _ in range(2))
        assert first.to_dict() == again.to_dict()


def test_signature():
    items = random_duels(CHAIN, 80)
    ranked = rank(items, unit="ranking", resamples=50, seed=2)
    settings_ = dict(ranked.signature)
    assert {key: settings_[key] for key in list(settings_)[:-1]} == {
        "divisor": "all-opponents", "ties": "ignored", "unit": "ranking", "resamples": "50",
        "seed": "2", "confidence": "0.95", "extraction": "expanded", "judges": "1",
        "systems": "3", "rankings": "80", "comparisons": "80",
        "tied": settings_["tied"],
    }  # fmt: skip
    games = dict(rank(items, by="trueskill", resamples=50).signature)
    assert games["unit"] == "game"
    assert games["games"] == "81"
    assert dict(rank(items, by="trueskill", resamples=50, unit="pair").signature)["unit"] == "pair"


def test_methods_as_values():
    items = random_duels(CHAIN, 80)
    named = rank(items, divisor="beaten-opponents", resamples=50)
    value = rank(items, by=ExpectedWins(divisor="beaten-opponents"), resamples=50)
    assert named.to_dict() == value.to_dict()
    assert "tau:0.1" in str(rank(items, by=TrueSkill(tau=0.1), resamples=50).signature)
    assert "prior:0.5" in str(rank(items, by=BradleyTerry(prior=0.5), resamples=50).signature)


def test_leaving_a_judge_out():
    items = [*duel("A", "B", judge="x", times=3), *duel("B", "A", judge="y", segment=2)]
    assert list(rank(items, resamples=50)) == ["A", "B"]
    assert list(rank(items, without_judge=["x"], resamples=50)) == ["B", "A"]
    assert list(rank(items, judge=["y"], resamples=50)) == ["B", "A"]


def test_two_systems_never_compared():
    items = [*duel("A", "B", times=4), *duel("B", "C", times=4), *duel("C", "B"), *duel("B", "A")]
    ranked = rank(items, resamples=50)
    assert ranked["A"].score == pytest.approx(0.8 / 2)
    assert ranked["A"].reason == "no decided comparison, counted as 0: C"
    assert ranked["C"].reason == "no decided comparison, counted as 0: A"
    assert ranked["B"].reason is None
    assert rank(items, by="trueskill", resamples=50)["A"].reason == "never compared: C"


def test_a_system_without_decided_comparisons_stands_last():
    items = [*duel("A", "B", times=2), *duel("B", "A"), *duel("B", "Z", tie=True)]
    ranked = rank(items, resamples=50)
    last = ranked.rows[-1]
    assert last.system == "Z"
    assert math.isnan(last.score)
    assert last.reason == "all its comparisons are ties"
    assert ranked.to_dict()["systems"][-1]["score"] is None
    alone = Ranking(judge="x", segment=9, groups=(("Q",),), ranks=(1,))
    never = rank([*items, alone], by=TrueSkill(games=50), resamples=50)["Q"]
    assert (never.reason, math.isnan(never.score)) == ("never compared with any system", True)


def test_systems_never_beaten_are_named():
    ranked = rank([*duel("A", "B"), *duel("A", "C")], divisor="beaten-opponents", resamples=50)
    assert ranked["A"].score == 1.0
    assert ranked["B"].reason == "never beaten, so left out of the mean: A, C"


def test_long_lists_of_names_are_cut():
    hub = [item for name in "BCDEFGH" for item in duel("A", name)]
    reason = rank(hub, resamples=50)["B"].reason
    assert reason == "no decided comparison, counted as 0: C, D, E, F, G and 1 more"


def test_all_ties():
    with pytest.raises(DataError, match="all 3 comparisons are ties"):
        rank(duel("A", "B", tie=True, times=3))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"by": "elo"}, "unknown ranking method 'elo'"),
        ({"unit": "word"}, "unknown resampling unit"),
        ({"divisor": "none"}, "unknown divisor"),
        ({"by": "trueskill", "divisor": "all-opponents"}, "belongs to --by expected-wins"),
        ({"judge": ["nobody"]}, "unknown judge 'nobody'"),
        ({"resamples": 0}, "0 resamples"),
        ({"resamples": 2}, "too few"),
        ({"confidence": 0.0}, "confidence"),
        ({"seed": -1}, "seed -1"),
    ],
)
def test_wrong_options(wrong, message):
    with pytest.raises(UsageError, match=message):
        rank(random_duels(CHAIN, 20), **wrong)


def test_unknown_names_suggest_near_ones():
    with pytest.raises(UnknownNameError, match="'trueskill'"):
        rank(random_duels(CHAIN, 20), by="trueskil")


def test_methods_are_values():
    for method in METHODS.values():
        assert dataclasses.is_dataclass(method)
        assert method() == method()
        assert hash(method()) == hash(method())
