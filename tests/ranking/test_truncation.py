"""The corrections of one game: exact values, and arrays against them."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy.stats import norm

from grammeter.ranking.game import correction, corrections

margins = st.floats(0.01, 3)
outcomes = st.sampled_from([1, 0, -1])


def twin(t, margin, outcome):
    """Mean and variance of the truncated Gaussian, by numerical integration."""
    low, high = {1: (margin, np.inf), -1: (-np.inf, -margin), 0: (-margin, margin)}[outcome]

    def moment(power):
        weigh = lambda x: (x - t) ** power * norm.pdf(x, t)  # noqa: E731
        parts = sorted({max(low, t - 12), min(high, t + 12), min(max(t, low), high)})
        return sum(
            integrate.quad(weigh, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in pairwise(parts)
        )

    mass, mean = moment(0), moment(1)
    return mean / mass, 1 - moment(2) / mass + (mean / mass) ** 2


@given(st.floats(-3, 3), margins, outcomes)
def test_corrections_are_moments_of_a_truncated_gaussian(t, margin, outcome):
    assert correction(t, margin, outcome) == pytest.approx(twin(t, margin, outcome), abs=1e-7)


@given(st.floats(-300, 300), margins, outcomes)
def test_however_surprising_the_result(t, margin, outcome):
    v, w = correction(t, margin, outcome)
    assert math.isfinite(v)
    assert -1e-9 <= w <= 1 + 1e-9
    mirrored = correction(-t, margin, -outcome)
    assert mirrored == pytest.approx((-v, w), rel=1e-9, abs=1e-12)
    assert outcome * v >= 0


def test_far_away_a_win_moves_to_the_margin():
    """The mean lands just beyond the margin: the first terms of the series of Laplace."""
    v, w = correction(-1000.0, 0.5, 1)
    assert v == pytest.approx(1000.5 + 1 / 1000.5 - 2 / 1000.5**3, rel=1e-14)
    assert w == pytest.approx(1 - 1 / 1000.5**2, rel=1e-9)


@pytest.mark.parametrize(
    ("reach", "margin"), [(5e-4, 0.3186), (2.5, 0.3186), (9.0, 2.5), (9, 0.05), (60, 1)]
)
def test_arrays_equal_single_games(reach, margin):
    random = np.random.default_rng(1)
    t = random.uniform(-reach, reach, (40, 5))
    some = random.uniform(margin / 2, margin, t.shape)
    v, w = corrections(t, some)
    for at in np.ndindex(t.shape):
        for outcome in (1, 0, -1):
            exact = correction(t[at], some[at], outcome)
            assert (v[outcome, *at], w[outcome, *at]) == pytest.approx(exact, rel=0, abs=1e-10)


def test_a_wide_margin_makes_a_draw_say_nothing():
    v, w = corrections(np.array([0.5, -3.0]), np.array([100.0, 60.0]))
    assert v[0] == pytest.approx(0)
    assert w[0] == pytest.approx(0)
    assert np.isfinite([v, w]).all()
