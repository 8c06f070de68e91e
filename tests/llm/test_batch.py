"""Files of the batch API: what is written, and results that are read as if sent from here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

import batch_provider as provider
from grammeter.core import DataError, UsageError
from grammeter.llm import Batch, Endpoint, client, using
from grammeter.llm.cache import Attempts
from llm_calls import ask, calls, right
from scripted_endpoint import ScriptedEndpoint, completion

MODEL = "scripted-1"
URL = "http://localhost:9/v1"


@pytest.fixture
def there(tmp_path):
    return tmp_path / "batch"


@pytest.fixture
def here(tmp_path):
    """A maker of endpoints that nobody serves, with one cache."""

    def make(**more):
        return Endpoint(base_url=URL, cache_dir=tmp_path / "cache", **more)

    return make


def submit(endpoint, questions, folder, model=MODEL):
    with using(endpoint):
        return Batch(folder).submit(model, questions)


def collect(endpoint, questions, folder, model=MODEL):
    box = Batch(folder)
    with using(endpoint):
        return box.collect(model, questions), box.notes


def rows(tmp_path):
    """Return all rows of the cache without the time: what is stored of each request."""
    attempts = Attempts(tmp_path / "cache")
    names = "key, server, model, request, status, state, reply, scores, reason, answered_by"
    rows = attempts._database.execute(f"SELECT {names}, tokens_in, tokens_out FROM attempts")
    found = rows.fetchall()
    attempts.close()
    return found


def test_the_requests_are_those_of_the_client(there, here, tmp_path):
    questions = [*calls(5), *calls(3)]
    written = submit(here(), questions, there)
    assert (written.requests, written.left, len(written.files)) == (5, 0, 1)
    assert written.calls == 5
    bodies = provider.asked(there)
    with ScriptedEndpoint() as server:
        ask(Endpoint(base_url=server.url, cache_dir=tmp_path / "other"), questions)
        sent = {received.prompt: received.body for received in server.requests}
    assert {provider.prompt_in(body): body for body in bodies.values()} == sent
    assert not rows(tmp_path)


def test_results_are_stored_as_if_sent(there, here, tmp_path):
    questions = calls(20)
    submit(here(), questions, there)
    provider.answer_all(there)
    endpoint = here()
    outcomes, notes = collect(endpoint, questions, there)
    assert notes == ()
    assert [outcome.scores for outcome in outcomes] == [right(call) for call in questions]
    bill = endpoint.bill
    assert (bill.requests, bill.known, dict(bill.states)) == (20, 0, {"ok": 20})
    with ScriptedEndpoint(lambda p, _: completion(provider.good(p))) as server:
        live = Endpoint(base_url=server.url, cache_dir=tmp_path / "live" / "cache")
        ask(live, questions)
    assert (live.bill.tokens_in, live.bill.tokens_out) == (bill.tokens_in, bill.tokens_out)
    by_batch, by_wire = (
        sorted(row[2:] for row in rows(folder)) for folder in (tmp_path, tmp_path / "live")
    )
    assert by_batch == by_wire
    with using(here(offline=True)):
        assert client.ask(MODEL, questions) == outcomes


def test_collecting_again_counts_nothing_twice(there, here, tmp_path):
    questions = calls(7)
    submit(here(), questions, there)
    path = provider.answer_all(there)
    (there / "a second copy.jsonl").write_bytes(path.read_bytes())
    collect(here(), questions, there)
    first = rows(tmp_path)
    assert len(first) == 7
    again = here()
    outcomes, _ = collect(again, questions, there)
    assert (again.bill.requests, again.bill.tokens, again.bill.known) == (0, 0, 7)
    assert rows(tmp_path) == first
    assert all(outcome.state == "ok" for outcome in outcomes)


def test_what_is_missing_or_invalid_is_written_again_and_nothing_else(there, here):
    questions = calls(6)
    submit(here(), questions, there)
    names = list(first := provider.asked(there))
    bad, none, failed = names[:3]
    results = [provider.answered(name, first[name]) for name in names[3:]]
    provider.put(there, "out.jsonl", [*results, provider.answered(bad, first[bad], "no idea")])
    provider.put(there, "errors.jsonl", [provider.expired(failed)])
    endpoint = here()
    outcomes, (note,) = collect(endpoint, questions, there)
    assert sorted(o.state for o in outcomes) == ["error", "error", "invalid", *["ok"] * 3]
    assert note.startswith("3 of 6 calls have no usable reply (")
    for reason in ("no JSON object", "no result", "could not be executed in time"):
        assert reason in note
    assert f"--submit {there}" in note
    assert endpoint.bill.requests == 5

    assert submit(here(), questions, there).requests == 3
    again = provider.asked(there)
    assert {name[:-2] for name in again} == {name[:-2] for name in (bad, none, failed)}
    assert none in again, "the first request to it is still due"
    assert not {bad, failed} & again.keys(), "a second request has another name"
    provider.answer_all(there, "out2.jsonl")
    endpoint = here()
    outcomes, notes = collect(endpoint, questions, there)
    assert notes == ()
    assert [outcome.scores for outcome in outcomes] == [right(call) for call in questions]
    assert endpoint.bill.requests == 3
    assert submit(here(), questions, there).files == ()
    assert not provider.asked(there), "nobody may send earlier requests once more"


def test_equal_replies_to_several_requests_are_several_replies(there, here):
    """A server that gives its replies no names of their own."""
    (question,) = calls(1)
    for number in (1, 2, 3):
        assert submit(here(), [question], there).requests == 1
        provider.answer_all(there, f"{number}.jsonl", text="no idea", unique=False)
        collect(here(), [question], there)
    (outcome,), notes = collect(here(), [question], there)
    assert (outcome.state, outcome.attempts, notes) == ("invalid", 3, ())
    assert submit(here(), [question], there).requests == 0


def test_the_last_question_says_what_was_wrong_and_a_cut_one_has_more_room(there, here):
    (question,) = calls(1)
    cut = json.loads(completion("{", finish="length").body)
    for number in (1, 2):
        submit(here(), [question], there)
        ((name, _),) = provider.asked(there).items()
        response = {"status_code": 200, "body": {**cut, "id": str(number)}}
        provider.put(there, f"{number}.jsonl", [{"custom_id": name, "response": response}])
        collect(here(), [question], there)
    submit(here(), [question], there)
    ((_, body),) = provider.asked(there).items()
    assert body["max_tokens"] == 512
    assert "Your last reply could not be used: the reply was cut" in provider.prompt_in(body)


def test_a_field_that_is_refused_is_left_out_the_next_time(there, here):
    questions = calls(3)
    submit(here(), questions, there)
    message = "Invalid parameter: 'response_format' of type 'json_schema' is not supported."
    errors = [
        provider.refused(name, 400, message, param="response_format")
        for name in provider.asked(there)
    ]
    provider.put(there, "errors.jsonl", errors)
    collect(here(), questions, there)
    collect(here(), questions, there)
    submit(here(), questions, there)
    forms = [body["response_format"] for body in provider.asked(there).values()]
    assert forms == [{"type": "json_object"}] * 3
    provider.answer_all(there)
    endpoint = here()
    outcomes, _ = collect(endpoint, questions, there)
    assert {outcome.state for outcome in outcomes} == {"ok"}
    assert endpoint.bill.concessions == {"response_format=json_schema"}


def test_results_that_are_not_collected_are_not_paid_again(there, here):
    questions = calls(4)
    submit(here(), questions, there)
    provider.answer_all(there)
    with pytest.raises(UsageError, match="4 results that are not collected"):
        submit(here(), questions, there)
    collect(here(), questions, there)
    assert submit(here(), calls(6), there).requests == 2


def test_results_of_others_are_counted(there, here):
    questions = calls(4)
    submit(here(), questions, there)
    path = provider.answer_all(there)
    with path.open("a") as file:
        print(json.dumps(provider.expired("request-17")), file=file)
    _, (note,) = collect(here(), questions[:3], there)
    assert note == f"2 results in {there} belong to other calls"
    with pytest.raises(DataError, match="no results of these calls, but 5 of other calls"):
        collect(here(max_output=99), questions, there)


@pytest.mark.parametrize(
    "line",
    [
        '{"custom_id": "x", "resp',
        "[]",
        "17",
        '{"custom_id": "x"}',
        '{"custom_id": "x", "response": null, "error": null}',
        '{"custom_id": 3, "response": {"status_code": 200, "body": {}}}',
        '{"custom_id": "x", "response": {"status_code": "200", "body": {}}}',
        '{"response": {"status_code": 200, "body": {}}}',
        "[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_a_damaged_line_is_named_and_nothing_is_stored(there, here, tmp_path, line):
    questions = calls(3)
    submit(here(), questions, there)
    path = provider.answer_all(there)
    data = line if isinstance(line, bytes) else line.encode()
    path.write_bytes(path.read_bytes() + b"\n" + data)
    with pytest.raises(DataError) as caught:
        collect(here(), questions, there)
    assert caught.value.where == f"{path}:5"
    assert not rows(tmp_path)


def test_odd_bodies_are_failures(there, here):
    questions = calls(4)
    submit(here(), questions, there)
    bodies = [None, "text", {"choices": []}, {"error": "busy"}]
    results = [
        {"custom_id": name, "response": {"status_code": 200, "body": body}}
        for name, body in zip(provider.asked(there), bodies, strict=True)
    ]
    provider.put(there, "out.jsonl", results)
    outcomes, (note,) = collect(here(), questions, there)
    assert {(outcome.state, outcome.scores) for outcome in outcomes} == {("error", None)}
    assert note.startswith("4 of 4 calls have no usable reply (")


@pytest.mark.parametrize("present", [False, True])
def test_a_folder_without_results(there, here, present):
    if present:
        submit(here(), calls(2), there)
    with pytest.raises(DataError, match="no results of these calls"):
        collect(here(), calls(2), there)


def test_the_same_calls_make_the_same_bytes(there, here, tmp_path):
    (first,) = submit(here(), calls(9), there).files
    (second,) = submit(here(), calls(9), tmp_path / "again").files
    with open(first, "rb") as one, open(second, "rb") as other:
        assert one.read() == other.read()


def test_a_ceiling_leaves_requests_for_later(there, here):
    questions = calls(10)
    written = submit(here(max_requests=4), questions, there)
    assert (written.requests, written.left, written.calls) == (4, 6, 4)
    provider.answer_all(there)
    collect(here(), questions, there)
    assert submit(here(max_requests=100), questions, there).requests == 6
    price = written.cost
    assert price is None
    few = submit(here(max_tokens=2000), calls(40), there)
    bodies = provider.asked(there).values()
    assert few.requests == len(bodies) > 0
    assert sum(len(provider.prompt_in(b).encode()) + b["max_tokens"] for b in bodies) <= 2000


PROGRAM = """
import os, signal, sys
from grammeter.llm import Batch, Endpoint, using
from grammeter.llm.cache import Attempts
from llm_calls import calls

def add(self, attempt, add=Attempts.add, left=[31]):
    add(self, attempt)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)

Attempts.add = add
folder, cache, url = sys.argv[1:]
with using(Endpoint(base_url=url, cache_dir=cache)):
    Batch(folder).collect("scripted-1", calls(100))
"""


def test_a_kill_while_results_are_collected_loses_nothing(there, here, tmp_path):
    questions = calls(100)
    submit(here(), questions, there)
    provider.answer_all(there)
    words = [sys.executable, "-c", PROGRAM, str(there), str(tmp_path / "cache"), URL]
    paths = os.pathsep.join(filter(None, [*sys.path, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(words, env=os.environ | {"PYTHONPATH": paths}, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(rows(tmp_path)) == 30, "the one in hand is not there, and will come"
    endpoint = here()
    outcomes, notes = collect(endpoint, questions, there)
    assert (notes, [o.scores for o in outcomes]) == ((), [right(call) for call in questions])
    assert (len(rows(tmp_path)), endpoint.bill.requests) == (100, 70)


def test_a_folder_that_cannot_be_written(tmp_path, here):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        submit(here(), calls(2), tmp_path / "file" / "batch")
