"""Bradley-Terry with ties, against a general optimiser, closed forms, and broken data."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from grammeter.core import DataError, Ranking, UsageError
from grammeter.ranking.methods import BradleyTerry, Newton, expected_wins
from grammeter.ranking.pairs import Resampling, extract_pairs
from made_judgments import duel, official_pairs

counts = st.integers(2, 5).flatmap(
    lambda n: st.tuples(
        arrays(np.int64, (n, n), elements=st.integers(1, 9)),
        arrays(np.int64, (n, n), elements=st.integers(0, 4)),
    )
)


def tidy(wins, ties):
    """No system meets itself, and ties are the same both ways."""
    off = 1 - np.eye(len(wins), dtype=np.int64)
    return wins * off, (ties + ties.T) * off


def negative_log_likelihood(theta, tie, wins, ties):
    total = 0.0
    for i in range(len(wins)):
        for j in range(i):
            parts = [math.exp((theta[i] - theta[j]) / 2), math.exp((theta[j] - theta[i]) / 2), tie]
            seen = (wins[i, j], wins[j, i], ties[i, j])
            total -= sum(
                n * math.log(p / sum(parts)) for n, p in zip(seen, parts, strict=True) if n
            )
    return total


def fit(wins, ties, prior=0.0):
    """Abilities as ranked, and the frequency of ties that goes with them."""
    newton = Newton(wins[None], ties[None], prior)
    newton.climb(100)
    values = BradleyTerry(prior=prior).score(wins, ties)
    np.testing.assert_array_equal(newton.theta[0], values)
    return values, math.exp(newton.log_tie[0])


@given(counts)
def test_no_other_abilities_are_likelier(tables):
    wins, ties = tidy(*tables)
    abilities, tie = fit(wins, ties)
    n, tied = len(wins), bool(ties.any())
    assert bool(tie) == tied
    assert abilities.sum() == pytest.approx(0, abs=1e-9)

    def objective(x):
        theta = [*x[: n - 1], -sum(x[: n - 1])]
        return negative_log_likelihood(theta, math.exp(x[-1]) if tied else 0.0, wins, ties)

    best = minimize(objective, np.zeros(n if tied else n - 1), method="BFGS")
    ours = negative_log_likelihood(abilities, tie, wins, ties)
    assert ours <= best.fun + 1e-9
    theta = [*best.x[: n - 1], -best.x[: n - 1].sum()]
    np.testing.assert_allclose(abilities, theta, atol=2e-3)


def test_two_systems_by_hand():
    """With two systems the model fits exactly: 5 wins, 3 losses, 2 ties."""
    (first, second), tie = fit(np.array([[0, 5], [3, 0]]), np.array([[0, 2], [2, 0]]))
    assert first - second == pytest.approx(math.log(5 / 3))
    assert tie == pytest.approx(2 / math.sqrt(15))


def test_abilities_of_simulated_data():
    random = np.random.default_rng(2)
    theta, tie, n, games = np.array([0.6, 0.0, -0.6]), 0.8, 3, 60
    fitted = []
    for _ in range(300):
        wins, ties = np.zeros((n, n), dtype=np.int64), np.zeros((n, n), dtype=np.int64)
        for i in range(n):
            for j in range(i):
                parts = np.array([np.exp((theta[i] - theta[j]) / 2), 0, tie])
                parts[1] = 1 / parts[0]
                wins[i, j], wins[j, i], ties[i, j] = random.multinomial(games, parts / parts.sum())
        fitted.append(fit(wins, ties + ties.T)[0])
    np.testing.assert_allclose(np.mean(fitted, axis=0), theta, atol=0.05)


def test_2015(shared):
    """No published figure; but the order is nearly that of the other methods."""
    wins, ties = official_pairs(shared).counts()
    abilities = BradleyTerry().score(wins, ties)
    assert np.corrcoef(abilities, expected_wins(wins))[0, 1] > 0.97
    newton = Newton(wins[None], ties[None], 0.0)
    newton.climb(10)
    assert newton.converged.all()


def test_a_batch_equals_its_members(shared):
    pairs = extract_pairs(
        [
            item
            for segment in range(1, 30)
            for item in duel(*random_order(segment), segment=segment, tie=segment % 5 == 0)
        ]
    )
    from grammeter.ranking.pairs import resampled_counts

    resampling = Resampling(unit="sentence", runs=20)
    together = BradleyTerry(prior=0.5).runs(pairs, resampling)
    (wins, ties), *_ = resampled_counts(pairs, resampling)
    for run in range(20):
        alone = BradleyTerry(prior=0.5).score(wins[run], ties[run])
        np.testing.assert_allclose(together[run], alone, atol=1e-8)


def random_order(seed):
    return np.random.default_rng(seed).permutation(["A", "B", "C"])[:2].tolist()


@pytest.mark.parametrize("tie", [0, 3])
def test_a_system_that_never_lost_has_no_finite_ability(tie):
    wins, ties = np.array([[0, 5], [0, 0]]), np.array([[0, tie], [tie, 0]])
    with pytest.raises(DataError, match=r"no finite abilities in \d+ iterations"):
        BradleyTerry().score(wins, ties)
    first, second = BradleyTerry(prior=0.5).score(wins, ties)
    assert first - second == pytest.approx(math.log(5.5 / 0.5))


def test_groups_of_which_one_always_wins():
    wins = np.zeros((4, 4), dtype=np.int64)
    wins[0, 1] = wins[1, 0] = wins[2, 3] = wins[3, 2] = 2  # all win and lose
    wins[:2, 2:] = 3
    with pytest.raises(DataError, match="no finite abilities"):
        BradleyTerry().score(wins, np.zeros_like(wins))


def test_groups_never_compared():
    wins = np.zeros((4, 4), dtype=np.int64)
    wins[0, 1] = wins[1, 0] = wins[2, 3] = wins[3, 2] = 2
    with pytest.raises(DataError, match="2 groups of systems, of 2, 2"):
        BradleyTerry(prior=1.0).score(wins, np.zeros_like(wins))


def test_nothing_decided():
    nothing = np.zeros((2, 2), dtype=np.int64)
    with pytest.raises(DataError, match="no finite abilities"):
        BradleyTerry().score(nothing, nothing + 1 - np.eye(2, dtype=np.int64))


def test_resamples_without_finite_abilities_are_counted():
    items = [*duel("A", "B", segment=1), *duel("B", "A", segment=2), *duel("A", "B", segment=3)]
    pairs = extract_pairs(items)
    with pytest.raises(DataError, match=r"\d+ of 50 resamples have none") as caught:
        BradleyTerry().runs(pairs, Resampling(runs=50))
    assert "prior" in caught.value.fix
    assert np.isfinite(BradleyTerry(prior=0.1).runs(pairs, Resampling(runs=50))).all()


def test_a_system_never_compared_has_no_ability():
    alone = Ranking(judge="x", segment=9, groups=(("C",),), ranks=(1,))
    pairs = extract_pairs([*duel("A", "B", times=2), *duel("B", "A"), alone])
    method = BradleyTerry(prior=1.0)
    a, b, c = method.score(*pairs.counts())
    assert a == pytest.approx(-b)
    assert a > b
    assert math.isnan(c)
    assert np.isnan(method.runs(pairs, Resampling(runs=3))[:, 2]).all()


@pytest.mark.parametrize("prior", [-1.0, math.nan, math.inf])
def test_impossible_prior(prior):
    with pytest.raises(UsageError, match="prior"):
        BradleyTerry(prior=prior)
