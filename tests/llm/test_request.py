"""What an endpoint takes is found out by asking, once."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

import pytest

from grammeter.core import DataError, UsageError
from grammeter.llm import Endpoint, using
from grammeter.llm.cache import refused_field, request_settings
from llm_calls import ask, call, calls, first, right
from scripted_endpoint import ScriptedEndpoint, status

ALL = {"temperature", "top_p", "seed", "response_format", "max_tokens"}


def picky(server, *unknown):
    """Return a script that complains of one field at a time, or of one form of output."""

    def script(prompt, attempt):
        body = server.requests[-1].body
        form = body.get("response_format", {}).get("type")
        for name in unknown:
            if name in body:
                return status(400, f"Unsupported parameter: '{name}'", param=name)
            if name == form:
                return status(422, f"response_format of type {name} is not supported")
        return None

    return script


@pytest.mark.parametrize(
    ("unknown", "left", "conceded"),
    [
        ((), ALL, set()),
        (("seed", "top_p", "temperature"), {"response_format", "max_tokens"},
         {"seed", "top_p", "temperature"}),
        (("json_schema",), ALL, {"response_format=json_schema"}),
        (("response_format",), ALL - {"response_format"},
         {"response_format=json_schema", "response_format=json_object"}),
        (("max_tokens",), ALL - {"max_tokens"} | {"max_completion_tokens"}, set()),
        (("max_tokens", "max_completion_tokens"), ALL - {"max_tokens"},
         {"max_completion_tokens"}),
    ],
)  # fmt: skip
def test_what_an_endpoint_takes_is_found_out_once(endpoint, unknown, left, conceded):
    questions = calls(12)
    with ScriptedEndpoint() as server:
        server.script = picky(server, *unknown)
        here = endpoint(server, concurrency=4)
        assert [outcome.state for outcome in ask(here, questions)] == ["ok"] * 12
        refused = len(server.requests) - 12
        assert set(server.requests[-1].body) == left | {"model", "messages"}
        assert here.bill.concessions == conceded
        ask(endpoint(server), [call("new", "one")])  # another run knows it, too
        assert len(server.requests) == 12 + refused + 1
        ask(endpoint(server), [call("new", "one")], model="another")  # of another model nobody does
        assert len(server.requests) == 12 + refused + 1 + refused + 1
    outcomes = ask(replace(here, offline=True), questions)  # the key is that of what was meant
    assert all(o.scores == right(c) for o, c in zip(outcomes, questions, strict=True))


def test_a_prompt_that_is_too_long_costs_no_field(endpoint):
    complaint = status(400, "max_tokens is too large: maximum context length is 512 tokens")
    with ScriptedEndpoint(first(complaint)) as server:
        (outcome,) = ask(endpoint(server), [call("a", "b")])
        assert (outcome.state, len(server.requests)) == ("error", 1)


def test_what_did_not_help_is_not_remembered(endpoint):
    """A server that refuses everything, and names a field in passing."""
    with ScriptedEndpoint(lambda *_: status(400, "bad seed, bad temperature")) as server:
        (outcome,) = ask(endpoint(server), [call("a", "b")])
        assert (outcome.state, len(server.requests)) == ("error", 3)
        server.script = None
        ask(endpoint(server), [call("a", "b")])
        assert set(server.requests[-1].body) == ALL | {"model", "messages"}


@pytest.mark.parametrize(
    ("text", "parameter", "field"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use"
         " 'max_completion_tokens' instead.", None, "max_tokens"),
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature",
         "temperature"),
        ("Invalid parameter: 'response_format' of type 'json_schema' is not supported",
         "response_format", "response_format"),
        ('{"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}', None,
         "seed"),
        ("seed and top_p", "top_p", "top_p"),
        ("failed to parse grammar", None, "response_format"),
        ("temperature_scale is unknown", None, None),
        ("the prompt was refused", None, None),
        ("seed: your prompt is too long", None, None),
    ],
)  # fmt: skip
def test_the_field_that_a_complaint_is_about(text, parameter, field):
    assert refused_field(text, parameter, ALL) == field
    assert refused_field(text, parameter, {"model", "messages"}) is None


def test_settings_reach_the_request_and_repeats_have_other_seeds(endpoint, tmp_path):
    (tmp_path / "system.txt").write_text("You grade essays.\n", encoding="utf-8")
    settings = {
        "temperature": 0.7,
        "top_p": 0.9,
        "system_message": f"@{tmp_path / 'system.txt'}",
        "body": '{"reasoning_effort": "low", "seed": 5}',
        "structured": "off",
    }
    with ScriptedEndpoint() as server:
        here = endpoint(server, **settings)
        ask(here, [call("a", "b", repeat=number) for number in range(3)])
        bodies = [request.body for request in server.requests]
        with using(here):
            shown = request_settings()
    assert sorted(body["seed"] for body in bodies) == [5, 6, 7]
    for body in bodies:
        assert body["messages"][0] == {"role": "system", "content": "You grade essays."}
        assert "response_format" not in body
        assert (body["temperature"], body["top_p"]) == (0.7, 0.9)
        assert body["reasoning_effort"] == "low"
    assert (shown["temperature"], shown["top-p"], shown["sampling-seed"]) == (0.7, 0.9, 5)
    assert (shown["structured"], shown["body"]) == ("off", '{"reasoning_effort": "low"}')
    assert shown["system-message"] == hashlib.sha256(b"You grade essays.").hexdigest()[:12]


def test_less_structure_than_possible_is_no_refusal(endpoint):
    with ScriptedEndpoint() as server:
        server.script = picky(server, "json_object")
        here = endpoint(server, structured="json_object")
        assert ask(here, [call("a", "b")])[0].state == "ok"
        assert here.bill.concessions == {"response_format=json_object"}
        here = endpoint(server, structured="off")
        assert ask(here, [call("a", "c")])[0].state == "ok"
        assert here.bill.concessions == set()
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"body": "{"}, "no JSON object"),
        ({"body": "[1]"}, "no JSON object"),
        ({"body": '{"model": "m"}'}, "model cannot be set here"),
        ({"body": {"stream": True}}, "stream cannot be set here"),
        ({"body": '{"seed": "x"}'}, "seed='x'"),
        ({"temperature": 2.5}, "temperature=2.5"),
        ({"temperature": -1}, "temperature=-1"),
        ({"top_p": 0}, "top_p=0"),
        ({"top_p": 1.5}, "top_p=1.5"),
        ({"system_message": "@/no/such/file"}, "no text"),
    ],
)
def test_settings_that_no_request_can_have(settings, message):
    with pytest.raises((UsageError, DataError), match=re.escape(message)):
        Endpoint(**settings)
