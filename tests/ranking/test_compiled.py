"""TrueSkill's games for a compiler, compiled or not, against those that numpy plays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammeter.ranking import TrueSkill, trueskill
from grammeter.ranking.game import compiled, play_games
from grammeter.ranking.pairs import Resampling, extract_pairs
from grammeter.ranking.trueskill import play
from made_judgments import campaigns, official_pairs


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    monkeypatch.setattr(trueskill, "compiled", lambda: None)


def by_run(monkeypatch, function=play_games):
    monkeypatch.setattr(trueskill, "compiled", lambda: function)
    monkeypatch.setattr(trueskill, "_WORTH_COMPILING", 1)


@settings(max_examples=30)
@given(
    campaigns,
    st.sampled_from([0.0, 0.05]),
    st.sampled_from([None, 0.02, 0.3]),
    st.sampled_from([None, "sentence"]),
)
def test_plays_the_same_games(items, tau, beta, unit):
    pairs = extract_pairs(items)
    model = TrueSkill(tau=tau, beta=beta, games=40).model(len(pairs))
    resampling = Resampling(unit=unit, runs=3, seed=5)
    together = play(pairs, model, resampling)
    with pytest.MonkeyPatch.context() as patch:
        by_run(patch)
        alone = play(pairs, model, resampling)
    np.testing.assert_allclose(alone, together, rtol=1e-9, atol=1e-12)


def test_draws_ahead_in_blocks_of_any_length(monkeypatch):
    by_run(monkeypatch)
    pairs = extract_pairs(official_items())
    model = TrueSkill(games=50).model(len(pairs))
    whole = play(pairs, model, Resampling(unit=None, runs=2))
    monkeypatch.setattr(trueskill, "_BLOCK", 7)
    np.testing.assert_array_equal(play(pairs, model, Resampling(unit=None, runs=2)), whole)


def official_items():
    from grammeter.formats import read_judgments
    from grammeter.resources import sample_corpus

    return read_judgments(sample_corpus() / "judgments.jsonl").rankings


def test_few_games_are_not_compiled(monkeypatch):
    def refuse():
        raise AssertionError("asked for")

    monkeypatch.setattr(trueskill, "compiled", refuse)
    pairs = extract_pairs(official_items())
    play(pairs, TrueSkill(games=50).model(len(pairs)), Resampling(unit=None, runs=2))


@pytest.mark.slow
def test_machine_code_equals_numpy_on_2015(shared, monkeypatch):
    pytest.importorskip("numba", reason="numba is not installed (extra fast)")
    monkeypatch.undo()
    compiled.cache_clear()
    pairs = official_pairs(shared)
    model, resampling = TrueSkill(games=12_000).model(len(pairs)), Resampling(unit=None, runs=3)
    fast = play(pairs, model, resampling)
    monkeypatch.setattr(trueskill, "compiled", lambda: None)
    np.testing.assert_allclose(fast, play(pairs, model, resampling), rtol=1e-9, atol=1e-12)
