"""The client: nothing is asked twice, limits hold, the key stays where it is."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

import pytest

from grammeter.core import (
    DataError,
    LimitReachedError,
    MissingResourceError,
    UsageError,
    reporting,
)
from grammeter.llm import client
from grammeter.llm.cache import FILE, Attempts
from grammeter.llm.endpoint import OPENAI, Endpoint, Pace, using
from grammeter.llm.session import Session
from grammeter.llm.transport import redact
from llm_calls import GOOD, ask, call, calls, first, right, scored
from scripted_endpoint import ScriptedEndpoint, completion, good, prompt_of, score, status


def all_right(outcomes, questions):
    return all(o.scores == right(c) for o, c in zip(outcomes, questions, strict=True))


def test_what_is_sent(endpoint):
    with ScriptedEndpoint() as server:
        ask(endpoint(server), [call("a", "b")])
        (received,) = server.requests
    form = received.body.pop("response_format")
    assert received.body == {
        "model": "scripted-1",
        "messages": [{"role": "user", "content": prompt_of("a", "b")}],
        "temperature": 0,
        "top_p": 1,
        "seed": 1,
        "max_tokens": 256,
    }
    assert form["type"] == "json_schema"
    assert form["json_schema"]["strict"] is True
    assert set(form["json_schema"]["schema"]["properties"]) == {"target1_score", "target2_score"}


# --- re-asks ---------------------------------------------------------------------------------


def test_only_the_last_question_says_what_was_wrong(endpoint):
    with ScriptedEndpoint(first(scored(9), scored(9))) as server:
        (outcome,) = ask(endpoint(server), [call("a", "b")])
        one, two, three = (received.prompt for received in server.requests)
    assert one == two == prompt_of("a", "b")
    assert three.startswith(one)
    assert "target 2 is not one of 1, 2, 3, 4, 5" in three
    assert (outcome.state, outcome.scores) == ("reasked", (score("a"), score("b")))
    assert outcome.reason.startswith("asked again: ")


def test_a_cut_reply_gets_twice_the_room_once(endpoint):
    with ScriptedEndpoint(lambda *_: completion(GOOD, finish="length")) as server:
        ask(endpoint(server, max_output=100), [call("a", "b")])
        assert [r.body["max_tokens"] for r in server.requests] == [100, 200, 200]


# --- the cache -------------------------------------------------------------------------------


def test_equal_calls_are_sent_once_and_repeats_are_told_apart(endpoint):
    questions = [call("a", "b"), call("a", "b"), call("a", "b", repeat=1), call("b", "a")]
    with ScriptedEndpoint() as server:
        outcomes = ask(endpoint(server), questions)
        assert len(server.requests) == 3
    assert all_right(outcomes, questions)


def test_what_changes_the_request_is_another_request(endpoint):
    with ScriptedEndpoint() as server:
        here = endpoint(server)
        ask(here, [call("a", "b")])
        ask(replace(here, base_url=f"{server.url}/", concurrency=3), [call("a", "b")])
        assert len(server.requests) == 1
        ask(replace(here, max_output=300), [call("a", "b")])
        ask(here, [call("a", "b")], model="scripted-2")
        ask(here, [replace(call("a", "b"), template="t-2")])
        assert len(server.requests) == 4


def test_offline_names_how_many_are_missing(endpoint, tmp_path):
    with ScriptedEndpoint() as server:
        here = endpoint(server)
        ask(here, calls(5))
    offline = replace(here, offline=True)
    with pytest.raises(MissingResourceError, match="3 of 8 calls have no answer"):
        ask(offline, calls(8))
    with pytest.raises(MissingResourceError, match="8 of 8"):
        ask(replace(offline, cache_dir=tmp_path / "none"), calls(8))
    assert not (tmp_path / "none").exists()
    assert all_right(ask(offline, calls(5)), calls(5))


def test_no_calls_need_nothing(tmp_path):
    assert ask(Endpoint(cache_dir=tmp_path), []) == []
    assert not list(tmp_path.iterdir())


def test_an_estimate_sends_nothing_and_makes_no_file(endpoint, tmp_path):
    with ScriptedEndpoint() as server, using(endpoint(server)):
        estimated = client.estimate("gpt-4o", [*calls(10), *calls(10)])
        assert (estimated.calls, estimated.known) == (10, 0)
        price = (estimated.tokens_in * 2.5 + estimated.tokens_out * 10) / 1e6
        assert estimated.cost == pytest.approx(price)
        assert not server.requests
        assert not list(tmp_path.iterdir())
        client.ask("gpt-4o", calls(4))
        estimated = client.estimate("gpt-4o", calls(4))
        assert (estimated.known, estimated.tokens_in, estimated.tokens_out, estimated.cost) == (
            4,
            0,
            0,
            0.0,
        )
        assert client.estimate("unheard-of", calls(4)).cost is None


def test_a_damaged_file_is_an_error_and_stays(endpoint, tmp_path):
    (tmp_path / FILE).write_bytes(b"SQLite format 3\0" + b"garbage" * 500)
    before = (tmp_path / FILE).read_bytes()
    with ScriptedEndpoint() as server:
        with pytest.raises(DataError, match=r"replies-1\.sqlite: .*damaged"):
            ask(endpoint(server), [call("a", "b")])
        assert not server.requests
    assert (tmp_path / FILE).read_bytes() == before


# --- limits ----------------------------------------------------------------------------------


def test_concurrency_is_bounded(endpoint):
    with ScriptedEndpoint(delay=0.01) as server:
        ask(endpoint(server), calls(6))
        assert server.most == 1, "a server on this machine does one at a time unless told"
        ask(endpoint(server, concurrency=5), calls(60))
        assert 1 < server.most <= 5


@pytest.mark.parametrize("limit", [{"max_requests": 20}, {"max_tokens": 2000}, {"max_cost": 0.01}])
def test_a_ceiling_ends_the_run_and_keeps_everything(endpoint, limit):
    questions = calls(100)
    with ScriptedEndpoint(lambda p, n: status(500) if n == 1 and "c 3" in p else None) as server:
        here = endpoint(server, concurrency=4, **limit)
        with pytest.raises(LimitReachedError, match=next(iter(limit))) as caught:
            ask(here, questions, model="gpt-4o")
        assert "Allow more and run the same command" in str(caught.value)
        bill = here.bill
        assert 0 < bill.requests == len(server.requests) < 100
        assert bill.requests <= (here.max_requests or 1000)
        assert bill.tokens <= (here.max_tokens or 1_000_000)
        assert bill.spent <= (here.max_cost or 1000)
        assert all_right(ask(endpoint(server), questions, model="gpt-4o"), questions)
        assert len(server.requests) == 100 + sum("c 3" in c.prompt for c in questions)


def test_replies_beyond_their_limit_pass_a_ceiling_by_those_in_flight_at_most(endpoint):
    """A server that charges more than a reply may take: what is in flight cannot be called back."""
    tokens = 5000

    def script(prompt, attempt):
        return replace(completion(good(prompt), tokens=(100, tokens - 100)), wait=0.01)

    with ScriptedEndpoint(script) as server:
        here = endpoint(server, concurrency=8, max_tokens=20 * tokens)
        with pytest.raises(LimitReachedError):
            ask(here, calls(200))
        assert 20 <= len(server.requests) < 20 + 8
    assert here.bill.tokens == len(server.requests) * tokens


def test_a_ceiling_holds_for_all_that_is_asked_under_an_endpoint(endpoint):
    with ScriptedEndpoint() as server:
        here = endpoint(server, max_requests=5)
        ask(here, calls(3))
        with pytest.raises(LimitReachedError, match="2 of 3 calls were answered"):
            ask(here, calls(3), model="another")
        assert len(ask(replace(here, max_requests=5), calls(3), model="another")) == 3


def test_a_run_that_just_fits_is_no_fault(endpoint):
    with ScriptedEndpoint() as server:
        assert len(ask(endpoint(server, max_requests=7), calls(7))) == 7


def test_money_cannot_be_limited_without_a_price(endpoint):
    with ScriptedEndpoint() as server:
        with pytest.raises(UsageError, match="price of 'scripted-1' is not known"):
            ask(endpoint(server, max_cost=1.0), calls(2))
        assert not server.requests


def test_rates_hold_for_every_request(endpoint, monkeypatch):
    foreseen = []
    monkeypatch.setattr(Pace, "reserve", lambda _, now, tokens: foreseen.append(tokens) or 0.0)
    with ScriptedEndpoint(first(status(500))) as server:
        ask(endpoint(server, requests_per_minute=1), calls(6))
        assert len(foreseen) == len(server.requests) == 12
    assert min(foreseen) > 30, "the prompt and its reply"


# --- the key and the place -------------------------------------------------------------------


def test_no_key_for_a_server_elsewhere(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    here = Endpoint(cache_dir=tmp_path)
    with pytest.raises(MissingResourceError, match="OPENAI_API_KEY is not set"):
        ask(here, [call("a", "b")])
    monkeypatch.setenv("OTHER_KEY", "häßlich")
    with pytest.raises(MissingResourceError, match="letters that no key has"):
        ask(replace(here, key_variable="OTHER_KEY"), [call("a", "b")])


def test_plain_http_to_another_machine_is_mentioned(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    here = Endpoint(base_url="http://user:secret@judge.example/v1", cache_dir=tmp_path)
    with (
        pytest.warns(UserWarning, match=r"judge\.example/v1: .* unencrypted") as messages,
        pytest.raises(MissingResourceError),
    ):
        ask(here, [call("a", "b")])
    assert "secret" not in str(messages[0].message)


def test_the_key_travels_and_is_written_nowhere(endpoint, monkeypatch, tmp_path):
    monkeypatch.setenv("MY_KEY", "abcdefgh-1234")
    echo = completion(GOOD, note="your key is abcdefgh-1234")
    with ScriptedEndpoint(first(echo)) as server:
        ask(endpoint(server, key_variable="MY_KEY"), [call("a", "b")])
        (received,) = server.requests
    headers = {name.lower(): value for name, value in received.headers.items()}
    assert headers["authorization"] == "Bearer abcdefgh-1234"
    assert all(b"abcdefgh" not in path.read_bytes() for path in tmp_path.iterdir())


def test_keys_are_blotted_out():
    assert redact("key abcdefgh-1234!", "abcdefgh-1234") == "key [key]!"
    assert redact("sk-iing and abcdefgh-1", "abcdefgh-1", alike=False) == "sk-iing and [key]"
    assert redact("wrong: sk-proj-abc*****wxyz.", "other-key-1") == "wrong: [key]"
    assert redact('{"a": "none"}', "none") == '{"a": "none"}', "no key, nothing to hide"


@pytest.mark.parametrize("url", ["http://", "http:///v1", "http://[::1", "http://host:port/v1"])
def test_an_address_without_a_host(tmp_path, url):
    with pytest.raises(UsageError, match="names no host"):
        ask(Endpoint(base_url=url, cache_dir=tmp_path), [call("a", "b")])


def test_half_a_character_is_no_prompt(tmp_path):
    with pytest.raises(DataError, match="half a character"):
        ask(Endpoint(cache_dir=tmp_path), [call("a \ud800", "b")])


def test_openai_is_asked_with_the_newer_name_of_the_limit():
    with contextlib.closing(Attempts(None)) as attempts:
        for url, name in ((OPENAI, "max_completion_tokens"), ("http://localhost/v1", "max_tokens")):
            session = Session(Endpoint(base_url=url), "m", attempts)
            assert session.abilities.limit_field == name
    assert Endpoint().base_url == OPENAI


# --- around ----------------------------------------------------------------------------------


def test_progress_is_told(endpoint):
    ticks = []
    with ScriptedEndpoint() as server, reporting(lambda *tick: ticks.append(tick)):
        ask(endpoint(server), calls(3))
    assert [(done, total) for _, done, total in ticks] == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_it_works_inside_a_running_loop(endpoint):
    """As in a notebook."""

    async def cell():
        return ask(here, calls(3))

    with ScriptedEndpoint() as server:
        here = endpoint(server)
        outcomes = asyncio.run(cell())
    assert all_right(outcomes, calls(3))
