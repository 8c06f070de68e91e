"""Ceilings are not passed, whatever comes back; rates are kept from the first second on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import UsageError
from grammeter.llm.cost import Price, Usage
from grammeter.llm.endpoint import Ceilings, Endpoint, Pace

PRICE = Price(1.0, 2.0)


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60)), max_size=40),
    st.integers(1, 400),
    st.integers(1, 30),
    st.integers(1, 5),
)
def test_ceilings_hold_for_any_replies(requests, max_tokens, max_requests, at_once):
    """Requests take at most their worst; up to some are in flight."""
    endpoint = Endpoint(max_tokens=max_tokens, max_requests=max_requests)
    ceilings, flying = Ceilings(endpoint, "m", PRICE), []

    def land():
        worst, taken = flying.pop(0)
        endpoint.bill.add(Usage(min(taken, worst[0]), 0), PRICE, guess=(0, 0))
        ceilings.release(worst)

    for tokens, taken in requests:
        worst = (tokens, 0.0)
        while (permission := ceilings.take(worst)) == "wait":
            assert flying, "nobody waits for nothing"
            land()
        if permission == "go":
            flying.append((worst, taken))
        else:
            beyond = endpoint.bill.tokens + tokens > max_tokens
            assert beyond or endpoint.bill.requests == max_requests
            assert ceilings.reached
        if len(flying) == at_once:
            land()
    while flying:
        land()
    assert endpoint.bill.tokens <= max_tokens
    assert endpoint.bill.requests <= max_requests


def test_money_is_reserved_at_its_worst():
    endpoint = Endpoint(max_cost=1.0)
    ceilings = Ceilings(endpoint, "m", PRICE)
    half = (10, 0.5)
    assert [ceilings.take(half) for _ in range(3)] == ["go", "go", "wait"]
    ceilings.release(half)  # it took nothing
    assert ceilings.take(half) == "go"
    endpoint.bill.spent = 0.6
    assert ceilings.take(half) == "never"
    assert ceilings.reached == "max_cost=1"


def test_without_ceilings_everything_goes():
    ceilings = Ceilings(Endpoint(), "m", None)
    assert {ceilings.take((10**9, 1e9)) for _ in range(100)} == {"go"}


def test_money_needs_a_price():
    with pytest.raises(UsageError, match="the price of 'm' is not known"):
        Ceilings(Endpoint(max_cost=1.0), "m", None)


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(0, 300)), min_size=1, max_size=50))
def test_rates_are_kept_in_any_minute(steps):
    """Twin: no window of a minute starts more requests or tokens than it may, but the last."""
    pace, now, starts = Pace(30, 600), 0.0, []
    for gap, tokens in steps:
        now += gap
        starts.append((now + pace.reserve(now, tokens), tokens))
    for first, (start, _) in enumerate(starts):
        inside = [tokens for at, tokens in starts[first:] if at < start + 60 - 1e-6]
        assert len(inside) <= 30
        assert sum(inside[:-1]) <= 600


def test_a_pause_and_tokens_that_were_not_foreseen():
    pace = Pace(None, 60)
    assert pace.reserve(100.0, 10) == 0
    assert pace.reserve(100.0, 0) == pytest.approx(10)
    pace.correct(10, 15)
    assert pace.reserve(100.0, 0) == pytest.approx(15)
    pace.hold(200.0)
    assert pace.reserve(150.0, 0) == pytest.approx(50)
    assert pace.reserve(300.0, 0) == 0


@pytest.mark.parametrize("name", ["max_output", "backoff", "concurrency", "timeout", "max_cost"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_limits_are_above_zero(name, value):
    with pytest.raises(UsageError, match=name):
        Endpoint(**{name: value})
