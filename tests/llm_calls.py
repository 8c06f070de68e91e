"""Calls for a scripted endpoint, and how tests ask them without waiting."""

from __future__ import annotations

import json

from grammeter.llm import Endpoint, client, using
from grammeter.llm.reply import Call
from scripted_endpoint import completion, prompt_of, score, targets

GOOD = '{"target1_score": 4, "target2_score": 3}'


def call(*texts, repeat=0):
    return Call(prompt=prompt_of(*texts), targets=len(texts), template="t-1", repeat=repeat)


def calls(count):
    return [call(f"a {number}", "b", f"c {number % 7}") for number in range(count)]


def right(call):
    """Return the scores that the scripted endpoint gives when it behaves."""
    return tuple(score(text) for text in targets(call.prompt))


def patient(server, folder, **more):
    """Return an endpoint that does not wait and keeps its replies in a folder."""
    settings = {"timeout": 5.0, "patience": 10.0, "backoff": 0.001, "cache_dir": folder}
    return Endpoint(base_url=server.url, **(settings | more))


def ask(endpoint, questions, model="scripted-1"):
    with using(endpoint):
        return client.ask(model, questions)


def first(*replies):
    """Return a script: these replies first, then good ones."""
    return lambda prompt, attempt: replies[attempt - 1 : attempt]


def scored(value):
    """Return a completion that gives the value to the second of two targets."""
    return completion(json.dumps({"target1_score": 4, "target2_score": value}))
