"""A server that misbehaves: no score is invented, every reply is kept, some faults end the run."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace

import pytest

from grammeter.core import RemoteError
from grammeter.llm.cache import FILE
from grammeter.llm.endpoint import Pace
from grammeter.llm.transport import retry_after
from llm_calls import GOOD, ask, call, calls, first, right, scored
from scripted_endpoint import Reply, ScriptedEndpoint, completion, good, status

OK = completion(GOOD)
SLOW = replace(OK, wait=1.5)
NEVER = {"retry-after": "9999"}
HTML = Reply(body=b"<html>Sign in</html>", headers={"Content-Type": "text/html"})
CUT = completion(GOOD, finish="length")
FILTERED = status(400, "scripted", code="content_filter")
NO_MONEY = status(429, "no", code="insufficient_quota")
IN_PARTS = completion([{"type": "text", "text": GOOD}])
ODD = completion('{"target1_score": 4.0, "target2_score": "3"}')
EXTRA = completion('{"target1_score": 4, "target2_score": 3, "x": 1}')
ONE = completion('{"target1_score": 4}')
FENCED = completion(f"Here:\n```json\n{GOOD}\n```")


def later(seconds, *, unit="retry-after"):
    return status(429, headers={unit: seconds})


@pytest.mark.parametrize(
    ("replies", "settings", "requests", "state", "scores"),
    [
        ([OK], {}, 1, "ok", (4, 3)),
        ([later("0.02")] * 2 + [OK], {}, 3, "ok", (4, 3)),
        ([later("20", unit="retry-after-ms"), OK], {}, 2, "ok", (4, 3)),
        ([later("9999")], {}, 1, "error", None),
        ([status(500)] * 3 + [OK], {}, 4, "ok", (4, 3)),
        ([status(408), status(409), OK], {}, 3, "ok", (4, 3)),
        ([status(500)] * 1000, {"patience": 0.2}, None, "error", None),
        ([status(400, "bad")], {}, 1, "error", None),
        ([status(418, headers={"x-should-retry": "true"}), OK], {}, 2, "ok", (4, 3)),
        ([SLOW] * 2 + [OK], {"timeout": 0.4}, 3, "ok", (4, 3)),
        ([SLOW] * 9, {"timeout": 0.1, "patience": 0.2}, None, "error", None),
        ([completion(None, refusal="I cannot")], {}, 1, "refused", None),
        ([completion(GOOD, finish="content_filter")], {}, 1, "refused", None),
        ([FILTERED], {}, 1, "refused", None),
        ([CUT, OK], {}, 2, "reasked", (4, 3)),
        ([CUT] * 3, {}, 3, "invalid", None),
        ([replace(CUT, wait=0.15)] * 2, {"patience": 0.2}, 2, "error", None),
        ([FENCED], {}, 1, "coerced", (4, 3)),
        ([scored(9)] * 3, {}, 3, "invalid", None),
        ([scored(9), scored(2)], {}, 2, "reasked", (4, 2)),
        ([ONE] * 3, {}, 3, "invalid", None),
        ([ODD], {}, 1, "coerced", (4, 3)),
        ([EXTRA], {}, 1, "coerced", (4, 3)),
        ([completion(GOOD[:20])] * 2 + [OK], {}, 3, "reasked", (4, 3)),
        ([completion("")] * 3, {}, 3, "invalid", None),
        ([completion(None)] * 3, {}, 3, "invalid", None),
        ([scored(9), status(500), scored(9), OK], {}, 4, "reasked", (4, 3)),
        ([Reply()] * 3, {}, 3, "error", None),
        ([Reply(), OK], {}, 2, "ok", (4, 3)),
        ([HTML] * 3, {}, 3, "error", None),
        ([Reply(body=b'{"choices": []}'), OK], {}, 2, "ok", (4, 3)),
        ([replace(OK, cut=100), OK], {}, 2, "ok", (4, 3)),
        ([status(200, "busy", code=429), OK], {}, 2, "ok", (4, 3)),
        ([IN_PARTS], {}, 1, "ok", (4, 3)),
        ([completion(GOOD + "\ud800")], {}, 1, "coerced", (4, 3)),
    ],
)
def test_one_fault(endpoint, replies, settings, requests, state, scores):
    with ScriptedEndpoint(first(*replies)) as server:
        here = endpoint(server, **settings)
        (outcome,) = ask(here, [call("a", "b")])
        assert (outcome.state, outcome.scores) == (state, scores)
        assert outcome.reason or state == "ok"
        assert len(server.requests) == outcome.attempts == here.bill.requests
        assert requests is None or len(server.requests) == requests
        before = len(server.requests)
        (again,) = ask(here, [call("a", "b")])
        if state == "error":
            assert len(server.requests) > before, "an error is tried again"
        else:
            assert again == outcome, "what is known is not asked again"
            assert len(server.requests) == before


GOLDEN = {
    "200 valid JSON": [OK],
    "429 twice with retry-after: 0.2, then 200": [later("0.2")] * 2,
    "429 with x-should-retry: false": [status(429, headers={"x-should-retry": "false"})],
    "429 with retry-after: 9999": [later("9999")],
    "500 always": [status(500)] * 1000,
    "400": [status(400)],
    "no reply within timeout=1 s": [SLOW] * 1000,
    "message.refusal set, content null": [completion(None, refusal="no")],
    "finish_reason=length": [CUT] * 3,
    "finish_reason=content_filter": [completion(GOOD, finish="content_filter")],
    "content = prose + ```json fence": [FENCED],
    "target2_score: 9": [scored(9)] * 3,
    "target2_score missing": [ONE] * 3,
    'target1_score: 4.0, target2_score: "3"': [ODD],
    "extra key": [EXTRA],
}
STATES = {
    "parsed object": "ok",
    "parsed object after waiting retry-after": "ok",
    "RateLimitError, no retry": "the run ends",
    "RateLimitError, no retry (Retry-After above the client's 2-minute ceiling)": "error",
    "InternalServerError": "error",
    "BadRequestError, no retry": "error",
    "APITimeoutError (server may have been billed 3 times)": "error",
    "no exception: parsed=None, message.refusal text": "refused",
    "LengthFinishReasonError (completion attached)": "invalid",
    "ContentFilterFinishReasonError (nothing attached)": "refused",
    "pydantic ValidationError (literal_error)": "invalid",
    "pydantic ValidationError (missing)": "invalid",
    # the SDK's own parser throws these replies away or looks away; ours reads them and says so
    "pydantic ValidationError; raw text and usage not reachable from the exception": "coerced",
    "pydantic ValidationError (only the string was rejected; 4.0 was accepted)": "coerced",
    "accepted silently (pydantic default ignores extras)": "coerced",
}


def test_every_row_of_the_observed_behaviour(shared, endpoint):
    """Origin: openai 2.54.0 against a mock server; ours keeps every reply and repeats by itself."""
    with (shared / "golden/seeda/openai_client_behaviour.tsv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    assert {row[0] for row in rows} == set(GOLDEN)
    for number, (fault, _, outcome) in enumerate(rows):
        endless = len(GOLDEN[fault]) > 3
        with ScriptedEndpoint(first(*GOLDEN[fault])) as server:
            here = endpoint(server, timeout=0.2 if endless else 5, patience=0.3 if endless else 9)
            try:
                state = ask(here, [call(f"a {number}", "b")])[0].state
            except RemoteError:
                state = "the run ends"
            assert state == STATES[outcome], fault


def test_a_broken_reply_may_have_been_charged(endpoint):
    with ScriptedEndpoint(first(SLOW, replace(OK, cut=50), status(500))) as server:
        here = endpoint(server, timeout=0.5)
        ask(here, [call("a", "b")])
        assert (here.bill.requests, here.bill.guessed) == (4, 2)
        assert here.bill.tokens_out == 2 * here.max_output + 20
        assert here.bill.states == {"ok": 1}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "1.5", "retry-after-ms": "20"}, 0.02),
        ({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_how_long_a_server_wants_us_to_wait(headers, seconds):
    assert retry_after(headers) == (None if seconds is None else pytest.approx(seconds))


def test_a_pause_asked_of_one_call_holds_for_all(endpoint, monkeypatch):
    held = []
    monkeypatch.setattr(Pace, "hold", lambda _, until: held.append(until))
    with ScriptedEndpoint(first(later("0.01"), status(503, headers=NEVER))) as server:
        ask(endpoint(server), [call("a", "b")])
    assert len(held) == 1, "a busy server is another matter"


# --- what ends a run -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (status(401, "Incorrect API key provided: sk-not-a-secret"), "Check the key"),
        (status(403, "no access"), "may use"),
        (status(404, "model not found"), "name of the model"),
        (status(402, "pay"), "no money"),
        (NO_MONEY, "no money"),
        (status(429, "no", headers={"x-should-retry": "false"}), "Run the same command again"),
        (Reply(status=307, headers={"Location": "http://127.0.0.1:1/v1"}), "has moved"),
    ],
)
def test_some_faults_end_the_run_at_once(endpoint, monkeypatch, reply, message, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-secret")
    with ScriptedEndpoint(lambda *_: reply) as server:
        with pytest.raises(RemoteError, match=message) as caught:
            ask(endpoint(server, concurrency=4), calls(30))
        assert len(server.requests) == 1
    assert "not-a-secret" not in str(caught.value)
    assert b"not-a-secret" not in (tmp_path / FILE).read_bytes()
    assert "0 of 30 calls were answered" in str(caught.value)


def test_what_is_in_flight_comes_in_before_the_run_ends(endpoint):
    def script(prompt, attempt):
        quick = replace(status(401), wait=0.05)
        return quick if "a 5\n" in prompt else replace(completion(good(prompt)), wait=0.3)

    with ScriptedEndpoint(script) as server:
        here = endpoint(server, concurrency=8)
        ask(here, [call("first")])
        with pytest.raises(RemoteError, match="7 of 8 calls were answered"):
            ask(here, calls(8))
        server.script = None
        ask(here, calls(8))
        assert len(server.requests) == 1 + 8 + 1


def test_nobody_there_ends_the_run_within_seconds(endpoint):
    with ScriptedEndpoint() as server:
        here = endpoint(server, concurrency=8, patience=1000)
    with pytest.raises(RemoteError, match="no connection"):
        ask(here, calls(50))
    assert here.bill.requests == 3


def test_a_server_that_dies_ends_the_run(endpoint):
    """After some patience: it might have come back."""

    def script(prompt, attempt):
        if len(server.requests) < 5:
            return None
        server.stop()
        return Reply(cut=0)

    with ScriptedEndpoint(script) as server:
        with pytest.raises(RemoteError, match="no connection"):
            ask(endpoint(server, patience=1.0), calls(20))
        assert len(server.requests) == 5


def test_an_endpoint_that_only_fails_is_taken_to_be_down(endpoint):
    with ScriptedEndpoint(lambda *_: status(503, headers=NEVER)) as server:
        with pytest.raises(RemoteError, match="HTTP 503"):
            ask(endpoint(server), calls(100))
        assert len(server.requests) == 5


def test_one_call_that_always_fails_does_not_end_the_run(endpoint):
    bad = status(500, headers=NEVER)
    with ScriptedEndpoint(lambda p, _: bad if "a 5\n" in p else None) as server:
        outcomes = ask(endpoint(server), calls(30))
    assert Counter(o.state for o in outcomes) == {"ok": 29, "error": 1}


def test_many_refused_requests_do_not_end_a_run_that_works(endpoint):
    """As prompts that are too long."""
    with ScriptedEndpoint(lambda p, _: None if "a 5\n" in p else status(400)) as server:
        here = endpoint(server)
        ask(here, [call("a 5")])
        outcomes = ask(here, calls(30))
    assert Counter(o.state for o in outcomes) == {"ok": 1, "error": 29}


# --- everything at once ----------------------------------------------------------------------


def misbehave(prompt, attempt):
    """Return one of many faults on the first try of most prompts."""
    kind, text = sum(prompt.partition("# output")[0].encode()) % 17, good(prompt)
    faults = [
        later("0"),
        status(500),
        completion(text[:10]),
        completion(text.replace(": ", ": 1", 1)),
        completion("I would rather not."),
        completion(f"Here you are:\n```json\n{text}\n```"),
        replace(completion(text), cut=40),
        completion(None, refusal="no"),
        completion(text, finish="content_filter"),
        completion(text, finish="length"),
        completion(""),
        completion(text.replace("target1", "goal1")),
        HTML,
        replace(completion(text), wait=0.8),
        status(200, "upstream", code=502),
        completion(text[1:]),
        None,
    ]
    return faults[kind] if attempt <= 1 + (kind == 15) else None


def test_six_hundred_calls_with_faults(endpoint):
    questions = calls(600)
    with ScriptedEndpoint(misbehave) as server:
        here = endpoint(server, concurrency=8, timeout=0.4)
        outcomes = ask(here, questions)
        sent = len(server.requests)
        assert ask(here, questions) == outcomes
        assert len(server.requests) == sent
        assert sent <= here.bill.requests  # one may time out before the server has seen it
    for one, outcome in zip(questions, outcomes, strict=True):
        expected = None if outcome.state == "refused" else right(one)
        assert outcome.scores == expected, (outcome, one)
    states = Counter(outcome.state for outcome in outcomes)
    assert set(states) == {"ok", "coerced", "reasked", "refused"}
    kinds = Counter(sum(c.prompt.partition("# output")[0].encode()) % 17 for c in questions)
    assert states["refused"] == kinds[7] + kinds[8]
    assert states["coerced"] >= kinds[5]
