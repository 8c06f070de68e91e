"""Unbalanced transport equals POT's plans and a plain iteration, and ends well at the borders."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammeter.stats import transport_plan

# Goldens: POT 0.9.7.post1, sinkhorn_stabilized_unbalanced(norms, norms, distances, reg, reg_m)


def test_plans_are_those_of_pot(shared):
    path = shared / "golden" / "uot_errant" / "transport.json"
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    assert len(cases) == 8
    for case in cases:
        x, y = np.array(case["x"]), np.array(case["y"])
        a, b = np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
        cost = np.linalg.norm(x[:, None] - y, axis=2)
        plan, converged = transport_plan(a, b, cost, reg=case["reg"], reg_m=case["reg_m"])
        assert converged
        assert plan == pytest.approx(np.array(case["plan"]), abs=1e-9)
        assert plan.sum() == pytest.approx(case["tp"], abs=1e-9)
        assert a.sum() - plan.sum() == pytest.approx(case["fp"], abs=1e-9)
        assert b.sum() - plan.sum() == pytest.approx(case["fn"], abs=1e-9)


def plain(a, b, cost, reg, reg_m):
    kernel = np.outer(a, b) * np.exp(-cost / reg)
    power, u, v = reg_m / (reg_m + reg), np.ones(len(a)), np.ones(len(b))
    for _ in range(3000):
        u = (a / (kernel @ v)) ** power
        v = (b / (kernel.T @ u)) ** power
    return u[:, None] * kernel * v


masses = st.lists(st.floats(0.1, 3), min_size=1, max_size=4).map(np.array)


@settings(max_examples=30)
@given(masses, masses, st.integers(0, 99), st.floats(0.2, 2), st.floats(0.1, 1))
def test_plans_are_those_of_the_plain_iteration(a, b, seed, reg, reg_m):
    cost = np.random.default_rng(seed).random((len(a), len(b)))
    plan, converged = transport_plan(a, b, cost, reg=reg, reg_m=reg_m)
    assert converged
    assert plan == pytest.approx(plain(a, b, cost, reg, reg_m), rel=1e-4, abs=1e-6)


def test_nothing_goes_from_or_to_a_point_without_mass():
    a, b, cost = np.array([0.0, 1.0]), np.array([1.0, 0.0, 0.5]), np.full((2, 3), 0.1)
    plan, converged = transport_plan(a, b, cost, reg=0.1, reg_m=0.1)
    rest, _ = transport_plan(a[1:], b[[0, 2]], cost[1:, :2], reg=0.1, reg_m=0.1)
    assert converged
    assert plan[0].tolist() == [0, 0, 0]
    assert plan[1].tolist() == [rest[0, 0], 0, rest[0, 1]]


@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 2), (3, 0)])
def test_an_empty_side_moves_nothing(n, m):
    plan, converged = transport_plan(np.ones(n), np.ones(m), np.ones((n, m)), reg=0.1, reg_m=0.1)
    assert (plan.shape, converged) == ((n, m), True)


def test_costs_that_would_underflow_and_searches_that_fail():
    plan, converged = transport_plan(
        np.ones(2), np.ones(2), np.array([[0.0, 1e6], [1e6, 1e6]]), reg=0.1, reg_m=0.1
    )
    assert converged
    assert np.isfinite(plan).all()
    assert plan[0, 0] == pytest.approx(1.0, abs=1e-4)
    # found by trying: POT 0.9.7.post1 warns that it does not converge, too
    rng = np.random.default_rng(1)
    states = [transport_plan(np.full(3, 1.5), np.full(4, 0.7), 2 * rng.random((3, 4)), reg=0.02,
                             reg_m=1.0)[1] for _ in range(40)]  # fmt: skip
    assert not all(states)
