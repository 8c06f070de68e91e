"""Random games against a plain loop over the same random numbers, and the published scores."""

import math
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammeter.ranking import TrueSkill
from grammeter.ranking.game import correction
from grammeter.ranking.pairs import Resampling, extract_pairs, resampled_counts
from grammeter.ranking.trueskill import play
from grammeter.verbs import rank
from made_judgments import bounds, campaigns, duel, golden, official, official_pairs, random_duels

CHAIN = [("A", "B"), ("B", "C"), ("C", "D")]


def uniform(seed, run, games):
    """The random numbers of one run."""
    source = np.random.SeedSequence(seed, spawn_key=(run,))
    return np.random.Generator(np.random.PCG64(source)).random((games, 2))


def twin(wins, ties, model, seed, run):
    """One run, one game after the other, as its description says."""
    n = len(wins)
    judged = {
        (a, b): [1] * wins[a, b] + [-1] * wins[b, a] + [0] * ties[a, b]
        for a in range(n)
        for b in range(n)
        if wins[a, b] + wins[b, a] + ties[a, b]
    }
    there = sorted({first for first, _ in judged}, reverse=True)
    mean, variance = dict.fromkeys(there, 0.0), dict.fromkeys(there, model.sigma**2)
    for for_opponent, for_outcome in uniform(seed, run, model.games).tolist():
        first = max(there, key=lambda s: (variance[s], s))
        opponents = [s for s in there if (first, s) in judged]
        weights = [math.exp(-abs(mean[first] - mean[s])) for s in opponents]
        passed = list(accumulate(weights))
        goal = (1 - for_opponent) * passed[-1]
        second = next(s for s, sum_ in zip(opponents, passed, strict=True) if sum_ >= goal)
        outcome = judged[first, second][int(for_outcome * len(judged[first, second]))]
        before = {s: variance[s] + model.tau**2 for s in (first, second)}
        total = 2 * model.beta**2 + before[first] + before[second]
        spread = math.sqrt(total)
        t, margin = (mean[first] - mean[second]) / spread, model.margin / spread
        v, w = correction(t, margin, outcome)
        mean[first] += before[first] / spread * v
        mean[second] -= before[second] / spread * v
        variance |= {s: prior * (1 - prior / total * w) for s, prior in before.items()}
    return [mean.get(s, math.nan) for s in range(n)]


@settings(max_examples=40)
@given(campaigns, st.sampled_from([0.0, 0.05]), st.sampled_from([None, 0.3]))
def test_equals_the_plain_loop(items, tau, beta):
    pairs = extract_pairs(items)
    model = TrueSkill(games=60, tau=tau, beta=beta).model(len(pairs))
    result = play(pairs, model, Resampling(unit=None, runs=3, seed=4))
    for run in range(3):
        expected = twin(*pairs.counts(), model, 4, run)
        np.testing.assert_allclose(result[run], expected, rtol=0, atol=1e-7)


@settings(max_examples=20)
@given(campaigns)
def test_each_run_has_a_resample_of_its_own(items):
    pairs = extract_pairs(items)
    model = TrueSkill(games=60).model(len(pairs))
    resampling = Resampling(unit="ranking", runs=3, seed=4)
    result = play(pairs, model, resampling)
    (wins, ties), *_ = resampled_counts(pairs, resampling)
    for run in range(3):
        expected = twin(wins[run], ties[run], model, 4, run)
        np.testing.assert_allclose(result[run], expected, rtol=0, atol=1e-7)


def test_equals_the_plain_loop_on_2015(shared):
    pairs = official_pairs(shared)
    method = TrueSkill(games=3000, beta=1363.7375)
    model = method.model(len(pairs))
    result = method.runs(pairs, Resampling(unit=None, runs=2, seed=1))
    for run in range(2):
        expected = twin(*pairs.counts(), model, 1, run)
        np.testing.assert_allclose(result[run], expected, rtol=0, atol=1e-10)


def test_a_run_does_not_depend_on_its_neighbours_or_the_processes():
    pairs = extract_pairs(random_duels(CHAIN, 150))
    model = TrueSkill().model(len(pairs))
    for unit in (None, "sentence"):
        together = play(pairs, model, Resampling(unit=unit, runs=12, seed=2))
        alone = play(pairs, model, Resampling(unit=unit, runs=5, seed=2))
        np.testing.assert_array_equal(together[:5], alone)
        shared_out = play(pairs, model, Resampling(unit=unit, runs=12, seed=2, processes=3))
        np.testing.assert_array_equal(together, shared_out)
        other = play(pairs, model, Resampling(unit=unit, runs=5, seed=3))
        assert (other != alone).any()


def test_resampled_judgments_add_to_the_spread():
    items = [item for item in random_duels([("A", "B")], 40) for _ in range(8)]
    pairs = extract_pairs(items)
    method = TrueSkill()
    games, both = (
        method.runs(pairs, Resampling(unit=unit, runs=400))[:, 0] for unit in (None, "sentence")
    )
    assert both.std() > 1.5 * games.std()
    assert both.mean() == pytest.approx(games.mean(), abs=0.1)


def test_a_system_never_compared_has_no_score():
    """C stands alone in its item: shown, but compared with nobody."""
    from grammeter.core import Ranking

    alone = Ranking(judge="x", segment=9, groups=(("C",),), ranks=(1,))
    pairs = extract_pairs([*duel("A", "B", times=5), alone])
    method = TrueSkill()
    scores = method.score(*pairs.counts())
    runs = method.runs(pairs, Resampling(unit=None, runs=4))
    assert scores[0] > 0 > scores[1]
    assert (runs[:, 0] > runs[:, 1]).all()
    assert np.isnan(scores[2])
    assert np.isnan(runs[:, 2]).all()
    missing, meaning = method.missing(*pairs.counts())
    assert missing[2].all()
    assert meaning == "never compared"


def test_settings_of_the_reference(shared):
    table = golden(shared, "table3c_trueskill")["settings"]
    model = TrueSkill().model(109098)
    assert model.games == 109099
    assert model.beta == 1363.7375
    assert (model.sigma, model.tau, model.draw_probability) == (
        table["sigma0"], table["tau"], table["draw_probability"],
    )  # fmt: skip
    assert TrueSkill().settings(109098)["beta"] == "1363.7375"


@pytest.mark.slow
def test_table_3c(shared):
    """100 runs beside 1,000 of an independent calculation, and what was printed."""
    pairs = official_pairs(shared)
    method = TrueSkill()
    runs = method.runs(pairs, Resampling(unit=None, runs=100, seed=1))
    table = golden(shared, "table3c_trueskill")
    for at, name in enumerate(pairs.systems):
        ours, theirs = runs[:, at], table["closed_form_1000_runs"][name]
        error = math.hypot(ours.std() / 10, theirs["sd"] / math.sqrt(1000))
        assert abs(ours.mean() - theirs["mean"]) < 4 * error
        assert ours.std() == pytest.approx(theirs["sd"], rel=0.35)
    ranked = rank(official(shared), by=method, resamples=100)
    published = table["published"]
    assert list(ranked) == [row["system"] for row in published]
    for ours, row in zip(ranked.rows, published, strict=True):
        assert ours.cluster == row["cluster"]
        assert ours.ranks == pytest.approx(bounds(row["range"]), rel=0, abs=1)
