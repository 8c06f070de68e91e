"""Tokens, prices, the bill."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError
from grammeter.llm.cost import Bill, Price, Usage, guess_in, guess_out, most_in, read_prices
from llm_calls import ask, calls
from scripted_endpoint import ScriptedEndpoint, completion, good

TABLE = {"currency": "EUR", "models": {"m": {"input": 1, "output": 2.5}}}


def test_the_table_that_ships_gives_the_prices_of_the_volume(shared):
    """Origin: shared/specs/seeda_and_llm.md 5.4, prices of 600 calls, lowest and highest prompt."""
    volume = json.loads((shared / "golden/seeda/llm_prompts.json").read_text())["volume"]
    tokens = volume["cl100k_tokens_prompt_600"]
    least, most = min(tokens.values()), max(tokens.values())
    out = volume["cl100k_tokens_output_600"]
    for model, low, high in [
        ("gpt-4-1106-preview", 3.1, 3.9),
        ("gpt-3.5-turbo-1106", 0.28, 0.36),
        ("gpt-4o", 0.84, 1.04),
        ("gpt-4.1-mini", 0.13, 0.17),
        ("gpt-4o-mini", 0.05, 0.06),
    ]:
        price = read_prices().of(model)
        assert price is not None
        half = 0.05 if low > 2 else 0.005
        assert price.of(least, out) == pytest.approx(low, abs=half)
        assert price.of(most, out) == pytest.approx(high, abs=half)


def test_dated_names_and_unknown_ones():
    prices = read_prices()
    assert prices.currency == "USD"
    assert prices.of("gpt-4o-2024-08-06") == prices.of("gpt-4o")
    assert prices.of("gpt-4o-2024-05-13") == Price(5.0, 15.0)
    assert prices.of("gpt-4o-audio") is None
    assert prices.of("llama-3") is None


def test_an_own_table_replaces_the_one_that_ships(tmp_path, endpoint):
    path = tmp_path / "prices.json"
    path.write_text(json.dumps(TABLE))
    assert read_prices(path).of("gpt-4o") is None
    with ScriptedEndpoint() as server:
        here = endpoint(server, prices=path)
        ask(here, calls(3), model="m")
    bill = here.bill
    assert bill.cost == pytest.approx((bill.tokens_in + 2.5 * bill.tokens_out) / 1e6)
    assert "EUR" in str(bill)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"currency": "USD", "models": []}',
        '{"currency": "USD", "models": {"m": {"input": 1}}}',
        '{"currency": "USD", "models": {"m": {"input": -1, "output": 1}}}',
        '{"currency": "USD", "models": {"m": {"input": NaN, "output": 1}}}',
        '{"currency": "USD", "models": {"m": {"input": "x", "output": 1}}}',
    ],
)
def test_what_is_no_table_of_prices(tmp_path, text):
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(DataError, match="no table of prices"):
        read_prices(path)
    with pytest.raises(DataError, match="no table of prices"):
        read_prices(tmp_path / "absent.json")


def test_a_table_that_was_changed_is_read_again(tmp_path):
    path = tmp_path / "prices.json"
    for price in (1.0, 2.0):
        row = {"input": price, "output": 9.0}
        path.write_text(json.dumps({"currency": "EUR", "date": "today", "models": {"m": row}}))
        prices = read_prices(path)
        assert (prices.of("m"), prices.date) == (Price(price, 9.0), "today")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4}, Usage(9, 4, 0)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}, Usage(9, 4, 0)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 50}, Usage(9, 41, 0)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 40,
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            Usage(9, 40, 30),
        ),
        ({"prompt_tokens": "9", "completion_tokens": 4}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": 4}, Usage()),
        ({"prompt_tokens": -9, "completion_tokens": 4}, Usage()),
        ({"prompt_tokens": 9, "completion_tokens": 1 << 60}, Usage()),
        ([], Usage()),
        (None, Usage()),
    ],
)
def test_the_usage_of_a_reply(usage, expected):
    assert Usage.of({"usage": usage}) == expected
    assert Usage.of({}) == Usage()


def test_hidden_reasoning_is_paid_for(endpoint):
    details = {"reasoning_tokens": 80}
    usage = {"prompt_tokens": 10, "completion_tokens": 100, "completion_tokens_details": details}
    with ScriptedEndpoint(lambda p, _: completion(good(p), usage=usage)) as server:
        here = endpoint(server)
        ask(here, calls(2), model="o3")
    assert (here.bill.tokens_out, here.bill.reasoning) == (200, 160)
    assert here.bill.cost == pytest.approx((20 * 2 + 200 * 8) / 1e6)
    assert "160 of them hidden" in str(here.bill)


def test_a_reply_without_usage_is_guessed_and_told(endpoint):
    with ScriptedEndpoint(lambda p, _: completion(good(p), usage=None)) as server:
        here = endpoint(server)
        questions = calls(2)
        ask(here, questions)
    assert here.bill.guessed == 2
    assert here.bill.tokens_in == sum(guess_in(c.prompt) for c in questions)
    assert here.bill.tokens_out == 2 * guess_out(3)
    assert "2 requests told no usage" in str(here.bill)


def test_a_bill_with_and_without_a_price():
    bill = Bill(currency="USD")
    assert bill.cost == 0
    bill.add(Usage(1_000_000, 0), Price(2.0, 8.0), guess=(0, 0))
    assert bill.cost == 2.0
    assert "2.0000 USD" in str(bill)
    bill.add(Usage(1, 1), None, guess=(0, 0))
    assert bill.cost is None
    assert "more than 2.0000 USD" in str(bill)
    assert bill.to_dict()["cost"] is None
    assert json.dumps(bill.to_dict())


def test_the_cache_is_on_the_bill(endpoint):
    with ScriptedEndpoint() as server:
        ask(endpoint(server), calls(3))
        here = endpoint(server)
        ask(here, calls(4))
    assert (here.bill.known, here.bill.requests) == (3, 1)
    assert here.bill.states == {"ok": 4}


@given(st.text(st.characters(codec="utf-8")))
def test_no_message_takes_more_than_the_most(text):
    assert guess_in(text) <= most_in(text)
