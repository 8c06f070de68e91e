"""Replies on disk: one row for each request, shared, never emptied."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grammeter.core import DataError, cache_folder
from grammeter.llm.cache import FILE, Abilities, Attempts, Request, Row, stored
from grammeter.llm.endpoint import Endpoint
from grammeter.llm.reply import schema
from grammeter.llm.transport import server
from llm_calls import ask, call, calls, first, scored
from scripted_endpoint import ScriptedEndpoint, completion, status

ROW: Row = {
    **{"key": "k", "server": "s", "model": "m", "started": 1.0, "seconds": 0.5, "request": "{}"},
    **{"status": 200, "body": "{}", "state": "invalid", "reason": "why", "reply": ""},
    **{"answered_by": None, "scores": None},
}
GOOD = {**ROW, "state": "ok", "scores": "[3, 4]", "reply": "r", "reason": ""}


def rows(folder):
    with closing(sqlite3.connect(folder / FILE)) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute("SELECT * FROM attempts ORDER BY id")]


def test_one_row_for_each_request(endpoint, tmp_path):
    replies = [status(429, headers={"retry-after": "0"}), scored(9), completion("so")]
    with ScriptedEndpoint(first(*replies)) as scripted:
        ask(endpoint(scripted), [call("a", "b")])
    stored = rows(tmp_path)
    assert [row["state"] for row in stored] == ["failed", "invalid", "invalid", "ok"]


def test_what_a_row_holds(endpoint, tmp_path):
    with ScriptedEndpoint() as scripted:
        ask(endpoint(scripted), [call("a", "b")])
        (row,) = rows(tmp_path)
        assert json.loads(row["request"]) == scripted.requests[0].body
    assert json.loads(row["body"])["usage"]["completion_tokens"] == row["tokens_out"] == 20
    assert json.loads(row["reply"]).keys() == {"target1_score", "target2_score"}
    assert (row["status"], row["model"]) == (200, "scripted-1")
    assert (row["answered_by"], row["fingerprint"]) == ("scripted-1", "fp_scripted")
    assert row["server"].startswith("127.0.0.1:")
    assert row["seconds"] > 0
    assert row["started"] > 1e9


CHANGES: list[dict[str, Any]] = [
    {"base_url": "http://other/v1"},
    {"max_output": 257},
    {"temperature": 0.5},
    {"top_p": 0.9},
    {"system_message": "You grade essays."},
    {"structured": "json_object"},
    {"structured": "off"},
    {"body": {"reasoning_effort": "low"}},
    {"body": '{"seed": 7}'},
]
"""What changes a reply."""


def test_the_key_is_that_of_the_whole_request():
    here = Endpoint(base_url="http://host/v1")
    one = Request(here, "m", call("a", "b"))
    whole = {
        "server": "host/v1",
        "model": "m",
        "messages": [{"role": "user", "content": call("a", "b").prompt}],
        "schema": schema(2),
        "temperature": 0,
        "top_p": 1,
        "seed": 1,
        "max_tokens": 256,
        "template": "t-1",
        "repeat": 0,
    }
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    assert one.key == hashlib.sha256(text.encode()).hexdigest()
    others = [
        replace(one, model="n"),
        *(replace(one, endpoint=replace(here, **change)) for change in CHANGES),
        replace(one, call=call("a", "c")),
        replace(one, call=replace(one.call, targets=3)),
        replace(one, call=replace(one.call, template="t-2")),
        replace(one, call=replace(one.call, repeat=1)),
    ]
    assert len({one.key, *(other.key for other in others)}) == 6 + len(CHANGES)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1", "api.openai.com/v1"),
        ("http://LOCALHOST:8000/v1/", "localhost:8000/v1"),
        ("http://user:secret@host/a/v1?key=secret", "host/a/v1"),
        ("http://[::1]:80/v1", "[::1]:80/v1"),
    ],
)
def test_the_name_of_a_server_holds_no_secret(url, name):
    assert server(url) == name


def brief(history):
    return history.attempts, history.bad, history.cut, history.reason, len(history.replies)


def test_histories():
    with closing(Attempts(None)) as attempts:
        assert attempts.histories(["k"], 3) == {}
        attempts.add({**ROW, "state": "failed", "reason": "HTTP 500"})
        assert brief(attempts.histories(["k"], 3)["k"]) == (1, 0, False, "", 0)
        attempts.add({**ROW, "state": "cut", "reason": "cut"})
        attempts.add(ROW)
        assert brief(attempts.histories(["k"], 3)["k"]) == (3, 2, True, "why", 2)
        attempts.add(GOOD)
        outcome = attempts.histories(["k", "other"], 3)["k"].outcome
        assert outcome is not None
        assert (outcome.state, outcome.scores, outcome.attempts) == ("reasked", (3, 4), 4)
        assert [reply.attempt for reply in outcome.replies] == [1, 2, 3]
        attempts.add({**GOOD, "scores": "[1, 1]"})  # of a process that asked at the same time
        attempts.add(ROW)
        assert attempts.histories(["k"], 3)["k"].outcome == outcome, "the first one holds"


def test_the_number_of_attempts_decides_how_far_the_replies_are_read():
    with closing(Attempts(None)) as attempts:
        for row in (ROW, {**ROW, "reply": "second"}, GOOD):
            attempts.add(row)
        ends = [attempts.histories(["k"], most)["k"].outcome for most in (1, 2, 3, 4)]
    assert [end and end.state for end in ends] == ["invalid", "invalid", "reasked", "reasked"]
    assert [end and end.reply for end in ends] == ["", "second", "r", "r"]


def test_many_keys_at_once():
    with closing(Attempts(None)) as attempts:
        for number in range(1203):
            attempts.add({**GOOD, "key": f"k{number}"})
        assert len(attempts.histories([f"k{number}" for number in range(2000)], 3)) == 1203


def test_abilities_are_kept_for_each_model(tmp_path):
    lower = Abilities().without("response_format")
    with closing(Attempts(tmp_path)) as attempts:
        attempts.remember("s", "m", Abilities())
        attempts.remember("s", "m", lower)
    with closing(Attempts(tmp_path)) as attempts:
        assert attempts.abilities("s", "m") == lower
        assert attempts.abilities("s", "n") is None


def test_a_broken_off_call_goes_on_where_it_was(endpoint):
    """A ceiling falls between two re-asks; the next run asks once more, not three times."""
    with ScriptedEndpoint(first(scored(9), scored(9), scored(9))) as scripted:
        for _ in range(2):
            with pytest.raises(Exception, match="max_requests=1"):
                ask(endpoint(scripted, max_requests=1), [call("a", "b")])
        (outcome,) = ask(endpoint(scripted), [call("a", "b")])
        assert (outcome.state, outcome.attempts) == ("invalid", 3)
        assert len(scripted.requests) == 3


def test_many_threads_may_open_and_write_at_once(tmp_path):
    faults = []

    def work(number):
        try:
            with closing(Attempts(tmp_path)) as attempts:
                for repeat in range(25):
                    attempts.add({**GOOD, "key": f"{number}-{repeat}"})
        except DataError as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(rows(tmp_path)) == 8 * 25


def test_a_new_file_may_be_opened_by_many_at_the_same_moment(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        for number in range(60):  # without waiting, about one of thirty such folders failed
            folders = [tmp_path / str(number)] * 8
            list(pool.map(lambda folder: Attempts(folder).close(), folders))


# --- faults of the file ----------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be one" * 40,
                                     b"SQLite format 3\0" + b"\xff" * 4096])  # fmt: skip
def test_a_damaged_file_is_named_and_left_alone(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(DataError, match="is damaged") as caught:
        Attempts(tmp_path)
    assert str(tmp_path / FILE) in str(caught.value)
    assert "were paid for" in str(caught.value)
    assert (tmp_path / FILE).read_bytes() == content


def test_damage_in_the_middle_is_told_where_it_is_met(endpoint, tmp_path):
    with ScriptedEndpoint() as scripted:
        ask(endpoint(scripted, concurrency=4), calls(200))
        content = bytearray((tmp_path / FILE).read_bytes())
        content[4096 : len(content) - 4096] = b"\x5a" * (len(content) - 8192)
        (tmp_path / FILE).write_bytes(content)
        with pytest.raises(DataError, match="is damaged"):
            ask(endpoint(scripted), calls(200))
        assert len(scripted.requests) == 200


def test_a_file_of_another_kind(tmp_path):
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("CREATE TABLE attempts (key TEXT, other TEXT)")
    with pytest.raises(DataError, match="is damaged"):
        Attempts(tmp_path)


def test_unreadable_values_are_damage(tmp_path):
    with closing(Attempts(tmp_path)) as attempts:
        attempts.add(GOOD)
        attempts.remember("s", "m", Abilities())
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute("UPDATE attempts SET scores = '[3'")
        database.execute("UPDATE abilities SET value = 'x'")
    with closing(Attempts(tmp_path)) as attempts:
        with pytest.raises(DataError, match="is damaged"):
            attempts.histories(["k"], 3)
        with pytest.raises(DataError, match="is damaged"):
            attempts.abilities("s", "m")


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be kept"):
        Attempts(tmp_path / "file")


# --- where it lies ---------------------------------------------------------------------------


def test_where_replies_are_kept(monkeypatch, tmp_path):
    monkeypatch.delenv("GRAMMETER_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder(None) == Path.home() / ".cache" / "grammeter"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder(None) == tmp_path / "grammeter"
    monkeypatch.setenv("GRAMMETER_CACHE", str(tmp_path / "c"))
    assert cache_folder(None) == tmp_path / "c"
    monkeypatch.setenv("GRAMMETER_CACHE", "off")
    assert cache_folder(None) is None
    assert cache_folder(Path("~/d")) == Path.home() / "d"


def test_without_a_folder_nothing_is_kept(endpoint, monkeypatch, tmp_path):
    monkeypatch.setenv("GRAMMETER_CACHE", "off")
    with ScriptedEndpoint() as scripted:
        here = endpoint(scripted, cache_dir=None)
        for _ in range(2):
            ask(here, calls(3))
        assert len(scripted.requests) == 6
    assert not list(tmp_path.iterdir())
    for folder in (None, tmp_path):
        with closing(stored(folder)) as replies:
            assert replies.histories(["k"], 3) == {}
    assert not list(tmp_path.iterdir())


def test_only_its_owner_can_read_the_replies(endpoint, tmp_path):
    folder = tmp_path / "new"
    modes = set()

    def watch(prompt, attempt):
        modes.update((path.name, path.stat().st_mode & 0o777) for path in folder.iterdir())

    mask = os.umask(0)
    try:
        with ScriptedEndpoint(watch) as scripted:
            ask(endpoint(scripted, cache_dir=folder), calls(3))
    finally:
        os.umask(mask)
    assert {mode for _, mode in modes} == {0o600}
    assert {name.removeprefix(FILE) for name, _ in modes} >= {"", "-wal", "-shm"}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_file_that_others_could_read_is_shut(tmp_path):
    with closing(Attempts(tmp_path)) as attempts:
        attempts.add(GOOD)
    (tmp_path / FILE).chmod(0o644)
    Attempts(tmp_path).close()
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
