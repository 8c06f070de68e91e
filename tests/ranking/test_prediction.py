"""Cross-validated accuracy, against Table 4's reproduction and plain loops."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from grammeter.core import DataError, UnknownNameError, UsageError
from grammeter.ranking import TrueSkill
from grammeter.ranking.methods import ExpectedWins
from grammeter.ranking.pairs import Resampling, extract_pairs, unit_numbers
from grammeter.ranking.prediction import (
    _makefile,
    _parts_without,
    _predicted,
    deal_out,
)
from grammeter.ranking.rank import Clustering
from grammeter.verbs import rank
from made_judgments import campaigns, duel, golden, official, random_duels

CHAIN = [("A", "B"), ("B", "C"), ("A", "C")]


def test_table_4(shared):
    """Shuffles are random; the reproduction gives what six and five of them came to."""
    table = golden(shared, "table4_accuracy")["reproduced"]
    clusters = table["bootstrapped_clusters"]
    held_out = rank(official(shared), validate=100, unit="pair")
    makefile = rank(official(shared), validate=100, unit="pair", training="makefile")
    seen = [share / 100 for share in clusters["EW_true_held_out_6_seeds"]]
    assert min(seen) - 0.01 < held_out.clusters < max(seen) + 0.01
    seen = [share / 100 for share in clusters["EW_makefile_procedure(leaky grep)_6_seeds"]]
    assert min(seen) - 0.01 < makefile.clusters < max(seen) + 0.01
    order = table["total_ordering_non_ties"]["EW_cv_mean_of_folds_5_shuffles"]
    for accuracy in (held_out, makefile):
        assert 100 * accuracy.order == pytest.approx(np.mean(order), abs=0.05)
        tied = clusters["all_systems_one_cluster(baseline)"]
        assert 100 * accuracy.all_tied == pytest.approx(tied, abs=0.01)
        assert (accuracy.comparisons, accuracy.decided) == (109098, 49981)
        assert sum(accuracy.clusterings.values()) == 100


@given(campaigns)
def test_predictions_of_one_fold(items):
    pairs = extract_pairs(items)
    n = len(pairs.systems)
    order = tuple(reversed(range(n)))
    clusters = tuple(1 + place // 2 for place in range(n))
    predicted = _predicted(pairs, Clustering(order, ((1, n),) * n, clusters))
    place = {system: order.index(system) for system in range(n)}
    right = ordered = 0
    for first, second, outcome in zip(pairs.first, pairs.second, pairs.outcome, strict=True):
        gap = clusters[place[second]] - clusters[place[first]]
        right += (gap > 0) - (gap < 0) == outcome
        ordered += outcome != 0 and (place[first] < place[second]) == (outcome > 0)
    decided = int((pairs.outcome != 0).sum())
    shares = (right / len(pairs), 1 - decided / len(pairs), ordered / decided)
    assert predicted == pytest.approx(shares)


@given(campaigns)
def test_folds_keep_units_together_and_are_equally_large(items):
    pairs = extract_pairs(items)
    for unit in ("pair", "ranking", "sentence"):
        units = unit_numbers(pairs, unit)
        count = int(units.max()) + 1
        folds = min(3, count)
        fold_of = deal_out(pairs, unit, folds, seed=1)
        of_unit = {u: set(fold_of[units == u].tolist()) for u in range(count)}
        assert all(len(result) == 1 for result in of_unit.values())
        sizes = np.bincount([next(iter(result)) for result in of_unit.values()], minlength=folds)
        assert sizes.max() - sizes.min() <= 1


def test_what_is_held_out_is_not_learnt_from():
    """Each sentence contradicts all others, so that whoever has not seen it must be wrong."""
    items = [
        *(item for n in range(1, 11) for item in duel("A", "B", segment=n)),
        *(item for n in range(11, 21) for item in duel("B", "A", segment=n)),
    ]
    prediction = rank(items, validate=20, resamples=400)
    leaking = rank(items, validate=20, resamples=400, training="makefile")
    assert prediction.order == 0.0  # one more of the other kind is left in each training set
    assert leaking.order > 0.2


def test_parts_that_the_makefile_leaves_out():
    remaining = _parts_without("7", 100)
    dropped = [f"{part:02d}" for part in range(100) if not remaining[part]]
    assert len(dropped) == 19
    assert all("7" in name for name in dropped)
    assert np.flatnonzero(~_parts_without("42", 100)).tolist() == [42]
    with pytest.raises(UsageError, match="leaves nothing"):
        _parts_without("0", 11)  # 00 to 10


def test_makefile_gives_each_fold_a_resample_of_each_training_set():
    pairs = extract_pairs(random_duels(CHAIN, 60))
    fold_of = deal_out(pairs, "pair", 4, seed=1)
    resampling = Resampling(unit="pair", runs=6)
    scores = list(_makefile(ExpectedWins(), pairs, fold_of, resampling))
    assert np.shape(scores) == (4, 6, 3)


def test_other_methods_and_units():
    items = random_duels(CHAIN, 300)
    for by in ("bradley-terry", TrueSkill(games=100)):
        prediction = rank(items, validate=3, by=by, resamples=20)
        assert prediction.order > 0.5
    assert "unit:game" in str(prediction.signature)
    assert "folds-of:sentence" in str(prediction.signature)


def test_result():
    items = random_duels(CHAIN, 60)
    prediction = rank(items, validate=5, resamples=20, seed=3, judge=["x"])
    assert prediction == rank(items, validate=5, resamples=20, seed=3, judge=["x"])
    data = prediction.to_dict()
    assert data["kind"] == "prediction"
    assert data["clusters"] == {"accuracy": prediction.clusters, "n": 60}
    assert data["order"]["n"] == prediction.decided
    assert sum(data["clusterings"].values()) == 5
    for part in ("folds:5", "training:held-out", "seed:3", "resamples:20", "judges:x"):
        assert part in data["signature"]


@pytest.mark.parametrize("folds", [1, 0, -5])
def test_too_few_folds(folds):
    with pytest.raises(UsageError, match="two at least"):
        rank(random_duels(CHAIN, 20), validate=folds)


def test_more_folds_than_units():
    with pytest.raises(DataError, match="21 folds of 20 sentences"):
        rank(random_duels(CHAIN, 20), validate=21)


def test_unknown_training():
    with pytest.raises(UnknownNameError, match="makefile"):
        rank(random_duels(CHAIN, 20), validate=4, training="make")


# --- several cross-validations -------------------------------------------------------------


def test_repeats_have_seeds_of_their_own_and_are_averaged():
    items = random_duels(CHAIN, 60)
    options = {"validate": 5, "resamples": 20, "unit": "pair"}
    one, two, three = (rank(items, seed=seed, **options) for seed in (4, 5, 6))
    several = rank(items, seed=4, repeats=3, **options)
    for of in ("clusters", "all_tied", "order"):
        shares = [getattr(prediction, of) for prediction in (one, two, three)]
        assert getattr(several, of) == pytest.approx(np.mean(shares))
        assert several.deviations[of] == pytest.approx(np.std(shares, ddof=1))
    assert several.signature["seed"] == "4-6"
    assert sum(several.clusterings.values()) == 15
    data = several.to_dict()
    assert data["clusters"]["deviation"] == several.deviations["clusters"]
    assert data["order"]["accuracy"] == several.order
    assert "deviations" not in data
    assert "deviation" in str(several)


def test_one_repeat_is_a_cross_validation():
    items = random_duels(CHAIN, 60)
    alone = rank(items, validate=5, resamples=20)
    assert alone == rank(items, validate=5, resamples=20, repeats=1)
    assert not alone.deviations
    with pytest.raises(UsageError, match="0 repeats"):
        rank(items, validate=5, repeats=0)
    with pytest.raises(UsageError, match="--repeats belongs to --validate"):
        rank(items, repeats=2)


# --- the draw radius -----------------------------------------------------------------------


@given(campaigns)
def test_a_radius_joins_neighbours(items):
    """Against a plain loop over all comparisons, with every radius."""
    pairs = extract_pairs(items)
    result = rank(items, draw_radius=True)
    scores = dict(zip(pairs.systems, ExpectedWins().score(*pairs.counts()).tolist(), strict=True))
    order = sorted((name for name in scores if scores[name] == scores[name]),
                   key=lambda name: -scores[name])  # fmt: skip
    alone = [name for name in scores if name not in order]  # without a score, in no cluster
    if alone:
        return
    for row in result.radii:
        cluster, number = {order[0]: 1}, 1
        for better, worse in pairwise(order):
            number += scores[better] - scores[worse] > row.radius + 1e-11
            cluster[worse] = number
        right = 0
        for first, second, outcome in zip(pairs.first, pairs.second, pairs.outcome, strict=True):
            gap = cluster[pairs.systems[second]] - cluster[pairs.systems[first]]
            right += (gap > 0) - (gap < 0) == outcome
        assert row.clusters == number
        assert row.accuracy == pytest.approx(right / len(pairs))
    assert result.radii[0].radius == 0
    assert result.radii[-1].clusters == 1
    assert result.radii[-1].accuracy == pytest.approx((pairs.outcome == 0).mean())


def test_a_radius_on_the_judgments_of_2015(shared):
    """golden/papers/g15_draw_radius.json."""
    result = rank(official(shared), draw_radius=True)
    accuracies = {row.clusters: round(100 * row.accuracy, 2) for row in result.radii}
    expected = {13: 26.64, 6: 32.5, 4: 41.59, 3: 47.59, 2: 50.08, 1: 54.19}
    assert {number: accuracies[number] for number in expected} == expected
    assert result.to_dict()["kind"] == "draw-radius"
    assert result.to_dict()["radii"][0]["clusters"] == 13
    assert len(result.tables()[0].rows) == len(result.radii)
    for wrong in ({"unit": "pair"}, {"resamples": 5}, {"seed": 2}, {"confidence": 0.9}):
        with pytest.raises(UsageError, match="belongs"):
            rank(official(shared), draw_radius=True, **wrong)
