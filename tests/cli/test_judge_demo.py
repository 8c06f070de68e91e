"""``grammeter judge --demo``: the whole journey by a script."""

from __future__ import annotations

import json
import re
import shlex
import socket
from collections import Counter

import pytest

import grammeter as gm
from grammeter.llm import client
from grammeter.resources import sample_corpus

SAMPLE = sample_corpus()


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """No key, no network, an empty folder, and a cache that would be seen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("GRAMMETER_CACHE", str(tmp_path / "cache"))

    def refuse(*_):
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(client.transport, "Transport", refuse)


def points(text):
    """Return the scripted score, from the rule in words: five less each word that differs."""
    best = 1
    for name in ("ref0.txt", "ref1.txt"):
        for line in (SAMPLE / name).read_text("utf-8").splitlines():
            more, less = Counter(text.split()), Counter(line.split())
            best = max(best, 5 - max(sum((more - less).values()), sum((less - more).values())))
    return best


def test_the_journey(program, tmp_path):
    code, out, err = program("judge", "--demo")
    assert (code, err) == (0, "")
    assert out.startswith("No language model judges here, but a script")
    assert "\n# targets\nTherefore some pupils from my school has decided" in out
    assert '{"target1_score": 3, "target2_score": 4, ' in out
    assert "3.0 points, rank 3: Echo, Speller" in out
    assert "grammeter judge --benchmark seeda-s" in out
    assert not list(tmp_path.iterdir()), "nothing is left, not in the cache either"


def test_the_run_is_written_and_scored_by_the_rule(program, tmp_path):
    assert program("judge", "--demo", "-o", "run.jsonl")[0] == 0
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert len(rows) == 122
    for row in rows:
        assert row["judge"] == "llm-s(model=scripted)"
        for names, score in zip(row["groups"], row.get("scores", ()), strict=True):
            text = (SAMPLE / f"systems/{names[0]}.txt").read_text("utf-8").splitlines()
            assert score == (points(text[row["segment"] - 1]) if len(row["groups"]) > 1 else None)


def test_the_commands_that_it_shows_print_what_it_shows(program, tmp_path):
    _, out, _ = program("judge", "--demo", "-o", "run.jsonl")
    (tmp_path / "sample").symlink_to(SAMPLE)
    shown = re.findall(r"(?m)^\$ grammeter (.*)$", out)
    assert [command.partition(" run")[0] for command in shown] == [
        "rank", "meta system", "meta sentence",
    ]  # fmt: skip
    for command in shown:
        code, printed, _ = program(*shlex.split(command), "--quiet")
        assert code == 0
        assert printed in out


def test_in_python_it_is_the_same(program, tmp_path):
    program("judge", "--demo", "-o", "run.jsonl")
    judged = gm.judge(demo=True)
    gm.write_judgments("again.jsonl", judged.rankings)
    ours, theirs = (
        [(r.segment, r.groups, r.ranks, r.scores) for r in gm.read_judgments(name)]
        for name in ("run.jsonl", "again.jsonl")
    )
    assert ours == theirs
    assert "|endpoint:scripted.localhost/v1|" in str(judged.signature)
    assert (judged.coverage, judged.bill.tokens, judged.notes) == (1.0, 0, ())
    fluency = gm.judge(demo=True, metric="llm-s(model=scripted, criterion=fluency)")
    assert [r.ranks for r in fluency.rankings] == [r.ranks for r in judged.rankings]


@pytest.mark.parametrize(
    "more",
    [
        ("--benchmark", "seeda-s"),
        ("-s", "x.txt"),
        ("-m", "llm-s(model=m)"),
        ("--base-url", "http://localhost:1/v1"),
    ],
)
def test_it_goes_alone(program, more):
    code, out, err = program("judge", "--demo", *more)
    assert (code, out) == (2, "")
    assert "--demo goes without --" in err


def test_no_metric_is_named(program):
    code, _, err = program("judge", "-s", SAMPLE / "source.txt", "--hyps", SAMPLE / "ref0.txt")
    assert code == 2
    assert 'Name one that does: "llm-s(model=NAME)"' in err
    with pytest.raises(gm.UsageError, match="from one place"):
        gm.judge(demo=True, benchmark="seeda-s")
