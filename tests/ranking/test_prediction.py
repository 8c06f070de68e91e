"""Cross-validated accuracy, against Table 4's reproduction and plain loops."""

import numpy as np
import pytest
from hypothesis import given

from grammeter.core import DataError, UnknownNameError, UsageError
from grammeter.ranking._expected_wins import ExpectedWins
from grammeter.ranking.bootstrap import Resampling, unit_numbers
from grammeter.ranking.clusters import Clustering
from grammeter.ranking.pairs import extract_pairs
from grammeter.ranking.prediction import (
    _Fold,
    _makefile,
    _parts_without,
    deal_out,
    validate,
)
from grammeter.ranking.trueskill import TrueSkill
from made_judgments import campaigns, duel, golden, official, random_duels

CHAIN = [("A", "B"), ("B", "C"), ("A", "C")]


def test_table_4(shared):
    """Shuffles are random; the reproduction gives what six and five of them came to."""
    table = golden(shared, "table4_accuracy")["reproduced"]
    clusters = table["bootstrapped_clusters"]
    held_out = validate(official(shared), unit="pair")
    makefile = validate(official(shared), unit="pair", training="makefile")
    seen = [each / 100 for each in clusters["EW_true_held_out_6_seeds"]]
    assert min(seen) - 0.01 < held_out.clusters < max(seen) + 0.01
    seen = [each / 100 for each in clusters["EW_makefile_procedure(leaky grep)_6_seeds"]]
    assert min(seen) - 0.01 < makefile.clusters < max(seen) + 0.01
    order = table["total_ordering_non_ties"]["EW_cv_mean_of_folds_5_shuffles"]
    for found in (held_out, makefile):
        assert 100 * found.order == pytest.approx(np.mean(order), abs=0.05)
        tied = clusters["all_systems_one_cluster(baseline)"]
        assert 100 * found.all_tied == pytest.approx(tied, abs=0.01)
        assert (found.comparisons, found.decided) == (109098, 49981)
        assert sum(found.clusterings.values()) == 100


@given(campaigns)
def test_predictions_of_one_fold(items):
    pairs = extract_pairs(items)
    n = len(pairs.systems)
    order = tuple(reversed(range(n)))
    clusters = tuple(1 + place // 2 for place in range(n))
    found = _Fold.of(pairs, Clustering(order, ((1, n),) * n, clusters))
    place = {system: order.index(system) for system in range(n)}
    right = ordered = 0
    for first, second, outcome in zip(pairs.first, pairs.second, pairs.outcome, strict=True):
        gap = clusters[place[second]] - clusters[place[first]]
        right += (gap > 0) - (gap < 0) == outcome
        ordered += outcome != 0 and (place[first] < place[second]) == (outcome > 0)
    decided = int((pairs.outcome != 0).sum())
    assert found.clusters == pytest.approx(right / len(pairs))
    assert found.all_tied == pytest.approx(1 - decided / len(pairs))
    assert found.order == pytest.approx(ordered / decided)
    assert (found.comparisons, found.decided) == (len(pairs), decided)


@given(campaigns)
def test_folds_keep_units_together_and_are_equally_large(items):
    pairs = extract_pairs(items)
    for unit in ("pair", "ranking", "sentence"):
        units = unit_numbers(pairs, unit)
        count = int(units.max()) + 1
        folds = min(3, count)
        fold_of = deal_out(pairs, unit, folds, seed=1)
        of_unit = {u: set(fold_of[units == u].tolist()) for u in range(count)}
        assert all(len(found) == 1 for found in of_unit.values())
        sizes = np.bincount([next(iter(found)) for found in of_unit.values()], minlength=folds)
        assert sizes.max() - sizes.min() <= 1


def test_what_is_held_out_is_not_learnt_from():
    """Each sentence contradicts all others, so that whoever has not seen it must be wrong."""
    items = [
        *(item for n in range(1, 11) for item in duel("A", "B", segment=n)),
        *(item for n in range(11, 21) for item in duel("B", "A", segment=n)),
    ]
    found = validate(items, folds=20, resamples=400)
    leaking = validate(items, folds=20, resamples=400, training="makefile")
    assert found.order == 0.0  # one more of the other kind is left in each training set
    assert leaking.order > 0.2


def test_parts_that_the_makefile_leaves_out():
    kept = _parts_without("7", 100)
    dropped = [f"{part:02d}" for part in range(100) if not kept[part]]
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
        found = validate(items, folds=3, by=by, resamples=20)
        assert found.order > 0.5
    assert "unit:game" in str(found.signature)
    assert "folds-of:sentence" in str(found.signature)


def test_result():
    items = random_duels(CHAIN, 60)
    found = validate(items, folds=5, resamples=20, seed=3, judges=["x"])
    assert found == validate(items, folds=5, resamples=20, seed=3, judges=["x"])
    data = found.to_json()
    assert data["kind"] == "prediction"
    assert data["clusters"] == {"accuracy": found.clusters, "n": 60}
    assert data["order"]["n"] == found.decided
    assert sum(data["clusterings"].values()) == 5
    for part in ("folds:5", "training:held-out", "seed:3", "resamples:20", "judges:x"):
        assert part in data["signature"]


@pytest.mark.parametrize("folds", [1, 0, -5])
def test_too_few_folds(folds):
    with pytest.raises(UsageError, match="two at least"):
        validate(random_duels(CHAIN, 20), folds=folds)


def test_more_folds_than_units():
    with pytest.raises(DataError, match="21 folds of 20 sentences"):
        validate(random_duels(CHAIN, 20), folds=21)


def test_unknown_training():
    with pytest.raises(UnknownNameError, match="makefile"):
        validate(random_duels(CHAIN, 20), training="make")
