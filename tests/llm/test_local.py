"""A model in this process in the place of a server: batches, the cache, errors."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from contextlib import closing

import pytest

from grammeter.core import DataError, LimitReachedError, MissingResourceError, UsageError
from grammeter.llm import Endpoint, client, using
from grammeter.llm.cache import Attempts, request_settings
from llm_calls import GOOD, call, calls, right
from scripted_endpoint import good


class FakeChat:
    """Answers two requests at a time, as a scripted endpoint does."""

    def __init__(self, folder, answer=good, identity="fake 1"):
        self.folder, self.answer_to, self.identity = folder, answer, identity
        self.rounds, self.checked, self.stored = [], [], []

    def check(self, requests):
        self.checked += requests

    def answer(self, requests):
        self.rounds.append(len(requests))
        for start in range(0, len(requests), 2):
            with closing(Attempts(self.folder)) as attempts:
                self.stored.append(
                    attempts._database.execute("SELECT COUNT(*) FROM attempts").fetchone()[0]
                )
            yield [
                (place, self._reply(requests[place]))
                for place in range(start, min(start + 2, len(requests)))
            ]

    def _reply(self, body):
        text = self.answer_to(body["messages"][-1]["content"])
        return {
            "choices": [{"finish_reason": "stop", "message": {"content": text}}],
            "usage": {"prompt_tokens": 50, "completion_tokens": 5},
        }


def shares(*of_targets):
    return json.dumps({"probabilities": of_targets, "mass": [0.9] * len(of_targets)})


@pytest.fixture
def ask(tmp_path):
    def run(chat, questions, **more):
        endpoint = Endpoint(backend="transformers", cache_dir=tmp_path, **more)
        with using(endpoint):
            return client.ask(chat.identity, questions, chat), endpoint.bill

    return run


def test_what_waits_is_answered_together_and_stored_before_the_next_batch(ask, tmp_path):
    chat, questions = FakeChat(tmp_path), calls(9)
    outcomes, bill = ask(chat, questions, concurrency=6)
    assert [outcome.scores for outcome in outcomes] == [right(one) for one in questions]
    assert chat.rounds[0] == 6
    assert sum(chat.rounds) == 9
    assert chat.stored == sorted(chat.stored)
    assert chat.stored[:3] == [0, 2, 4]
    assert (bill.requests, bill.tokens_in, bill.cost) == (9, 450, 0.0)
    chat = FakeChat(tmp_path)
    again, bill = ask(chat, questions)
    assert (again, chat.rounds, bill.known) == (outcomes, [], 9)


def test_a_run_that_breaks_off_goes_on(ask, tmp_path):
    class Broken(FakeChat):
        def answer(self, requests):
            yield from list(super().answer(requests))[:2]
            raise MissingResourceError("no memory")

    broken, chat, questions = Broken(tmp_path), FakeChat(tmp_path), calls(9)
    with pytest.raises(MissingResourceError, match="no memory"):
        ask(broken, questions)
    outcomes, _ = ask(chat, questions)
    assert sum(chat.rounds) == 5
    assert [outcome.scores for outcome in outcomes] == [right(one) for one in questions]


def test_nothing_is_answered_if_a_request_cannot_be(ask, tmp_path):
    class Strict(FakeChat):
        def check(self, requests):
            raise DataError(f"{len(requests)} are too long")

    chat = Strict(tmp_path)
    with pytest.raises(DataError, match="4 are too long"):
        ask(chat, calls(4))
    assert chat.rounds == []


def test_bodies_have_what_a_model_here_can_take(ask, tmp_path):
    chat = FakeChat(tmp_path)
    ask(chat, [call("a", "b")], temperature=0.5, max_output=99, system_message="You grade.")
    (body,) = chat.checked
    assert (body["temperature"], body["top_p"], body["seed"], body["max_tokens"]) == (0.5, 1, 1, 99)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "response_format" not in body
    chat = FakeChat(tmp_path, lambda prompt: shares([0, 0, 0, 0, 1], [1, 0, 0, 0, 0]))
    ask(chat, [call("a", "b")], read="likelihood", body={"chat_template_kwargs": {"think": False}})
    (body,) = chat.checked
    assert set(body) == {"model", "messages", "form", "choices", "chat_template_kwargs"}
    assert body["form"] == ['```json\n{\n\t"target1_score": ', ',\n\t"target2_score": ', "\n}\n```"]


def test_a_likelihood_is_read_as_an_expectation(ask, tmp_path):
    text = shares([0.1, 0.2, 0.3, 0.4, 0], [0, 0, 0, 0.25, 0.75])
    (outcome,), _ = ask(FakeChat(tmp_path, lambda _: text), [call("a", "b")], read="likelihood")
    assert outcome.scores == pytest.approx((3.0, 4.75))
    assert (outcome.state, outcome.reply, outcome.replies[0].text) == ("ok", text, text)
    (again,), bill = ask(FakeChat(tmp_path), [call("a", "b")], read="likelihood")
    assert (again, bill.known) == (outcome, 1)


def test_a_model_that_would_rather_write_something_else(ask, tmp_path):
    text = json.dumps({"probabilities": [[0, 0, 1, 0, 0]] * 2, "mass": [0.9, 0.4]})
    (outcome,), _ = ask(FakeChat(tmp_path, lambda _: text), [call("a", "b")], read="likelihood")
    assert (outcome.state, outcome.scores) == ("coerced", (3, 3))
    assert outcome.reason == "the digits had less than half of the probability"


@pytest.mark.parametrize("text", [GOOD, shares([1, 0, 0, 0, 0]), '{"probabilities": [1, 2]}',
                                  shares([9, 0, 0, 0, 9], [1, 0, 0, 0, 0]), "", "[]"])  # fmt: skip
def test_no_likelihood_is_made_up(ask, tmp_path, text):
    (outcome,), _ = ask(
        FakeChat(tmp_path, lambda _: text), [call("a", "b")], read="likelihood", attempts=1
    )
    assert (outcome.state, outcome.scores, outcome.reply) == ("invalid", None, text)


def test_replies_are_not_mixed_up(ask, tmp_path):
    """What changes a reply is a part of its key."""
    kinds = [
        (FakeChat(tmp_path), {}),
        (FakeChat(tmp_path, identity="fake 2"), {}),
        (FakeChat(tmp_path), {"temperature": 1}),
        (FakeChat(tmp_path), {"system_message": "x"}),
        (FakeChat(tmp_path, lambda _: shares([1, 0, 0, 0, 0])), {"read": "likelihood"}),
    ]
    for chat, more in kinds:
        _, bill = ask(chat, [call("a")], **more)
        assert (bill.known, chat.rounds) == (0, [1])
    chat = FakeChat(tmp_path)
    ask(chat, [call("a")], read="likelihood", temperature=1, max_output=9)
    assert chat.rounds == []


def test_equal_likelihoods_are_computed_once(ask, tmp_path):
    chat = FakeChat(tmp_path, lambda _: shares([1, 0, 0, 0, 0]))
    outcomes, _ = ask(chat, [call("a", repeat=n) for n in range(3)], read="likelihood")
    assert chat.rounds == [1]
    assert [outcome.scores for outcome in outcomes] == [(1,)] * 3


def test_an_invalid_reply_is_asked_for_again_whatever_time_it_takes(ask, tmp_path):
    said = iter(["no", GOOD])
    chat = FakeChat(tmp_path, lambda _: next(said))
    (outcome,), _ = ask(chat, [call("a", "b")], patience=1e-9, timeout=1e-9)
    assert (outcome.state, outcome.attempts) == ("reasked", 2)


def test_ctrl_c_stops_the_model_at_once(ask, tmp_path):
    class Slow(FakeChat):
        def answer(self, requests):
            batches = super().answer(requests)
            yield next(batches)
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            time.sleep(60)

    handler, started, slow = signal.getsignal(signal.SIGINT), time.monotonic(), Slow(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        ask(slow, calls(5))
    assert time.monotonic() - started < 30
    assert signal.getsignal(signal.SIGINT) is handler
    chat = FakeChat(tmp_path)
    ask(chat, calls(5))
    assert sum(chat.rounds) == 3


def test_ceilings_hold(ask, tmp_path):
    chat = FakeChat(tmp_path)
    with pytest.raises(LimitReachedError, match="max_requests=3"):
        ask(chat, calls(9), max_requests=3)
    assert sum(chat.rounds) == 3


def test_likelihoods_need_a_model_here():
    with pytest.raises(UsageError, match="a server tells no probabilities"):
        Endpoint(read="likelihood")
    with pytest.raises(UsageError, match="backend=vllm"):
        Endpoint(backend="vllm")


def test_signatures(tmp_path):
    with using(Endpoint(backend="transformers", temperature=0.5)):
        shown = request_settings()
    assert (shown["endpoint"], shown["read"]) == ("transformers", "text")
    assert (shown["temperature"], shown["structured"]) == (0.5, "off")
    with using(Endpoint(backend="transformers", read="likelihood", system_message="x")):
        shown = request_settings()
    assert list(shown) == ["endpoint", "read", "system-message"]
