"""The update of two ratings, against figures of the package trueskill."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import UsageError
from grammeter.ranking.game import GameModel
from grammeter.ranking.trueskill import update
from made_judgments import golden


def model(*, beta=1363.7375, tau=0.0, draw=0.25):
    return GameModel(sigma=0.5, beta=beta, tau=tau, draw_probability=draw, games=1)


class Rating(NamedTuple):
    mean: float
    deviation: float


def rate(settings, first, second, outcome):
    """Play one game of two systems with these ratings."""
    means = np.array([first.mean, second.mean])
    variances = np.array([first.deviation**2, second.deviation**2])
    games = tuple(map(np.array, ([0], [1], [outcome % 3])))
    update(means, variances, games, settings)
    return tuple(map(Rating, means.tolist(), np.sqrt(variances).tolist()))


def test_updates_of_the_package(shared):
    """300 games, trueskill 0.4.5 with its scipy back end; there -1 means that the first won."""
    games = golden(shared, "trueskill_updates")["single"]
    assert len(games) == 300
    for game in games:
        first, second = rate(
            model(beta=game["beta"], tau=game["tau"], draw=game["draw_probability"]),
            Rating(game["mu1"], game["sigma1"]),
            Rating(game["mu2"], game["sigma2"]),
            -game["outcome"],
        )
        assert [*first, *second] == pytest.approx(game["package_scipy_backend"], rel=0, abs=1e-9)


def test_trajectory_of_the_package(shared):
    """400 games in a row, trueskill 0.4.5 with its scipy back end."""
    trajectory = golden(shared, "trueskill_updates")["trajectory"]
    ratings = {name: Rating(0.0, 0.5) for name in trajectory["final"]}
    for one, other, rank, other_rank in trajectory["schedule(a,b,rank_a,rank_b)"]:
        outcome = (int(other_rank) > int(rank)) - (int(other_rank) < int(rank))
        ratings[one], ratings[other] = rate(model(), ratings[one], ratings[other], outcome)
    for name, (mean, variance) in trajectory["final"].items():
        assert ratings[name].mean == pytest.approx(mean, rel=0, abs=1e-9)
        assert ratings[name].deviation ** 2 == pytest.approx(variance, rel=0, abs=1e-9)


@given(
    st.tuples(st.floats(-3, 3), st.floats(0.05, 2)),
    st.tuples(st.floats(-3, 3), st.floats(0.05, 2)),
    st.floats(0.3, 50),
    st.sampled_from([0.0, 0.1]),
    st.floats(0.02, 0.9),
    st.sampled_from([1, 0, -1]),
)
def test_equals_the_package(first, second, beta, tau, draw, outcome):
    trueskill = pytest.importorskip("trueskill", reason="pip install trueskill==0.4.5")
    package = trueskill.TrueSkill(
        mu=0, sigma=0.5, beta=beta, tau=tau, draw_probability=draw, backend="scipy"
    )
    ours = rate(model(beta=beta, tau=tau, draw=draw), Rating(*first), Rating(*second), outcome)
    players = [(package.create_rating(*first),), (package.create_rating(*second),)]
    ranks = [-outcome, outcome]
    theirs = [team[0] for team in package.rate(players, ranks=ranks)]
    for rating, expected in zip(ours, theirs, strict=True):
        assert rating == pytest.approx((expected.mu, expected.sigma), rel=1e-9, abs=1e-9)


def test_margin_is_that_of_the_draw_probability():
    """Two equal systems, their performances known but for beta, draw so often."""
    made = model(beta=3.0, draw=0.4)
    half = made.margin / (math.sqrt(2) * 3.0)
    assert math.erf(half / math.sqrt(2)) == pytest.approx(0.4)


@pytest.mark.parametrize(
    "wrong",
    [{"beta": 0.0}, {"beta": math.inf}, {"tau": -1.0}, {"draw": 0.0}, {"draw": 1.0}],
)
def test_impossible_settings(wrong):
    with pytest.raises(UsageError, match="above 0"):
        model(**wrong)
