"""``grammeter judge --submit`` and ``--collect``: by files what else goes over the wire."""

from __future__ import annotations

import json

import pytest

import batch_provider as provider
from grammeter.resources import sample_corpus
from scripted_endpoint import ScriptedEndpoint

FOLDER = sample_corpus()
HYPS = sorted(map(str, FOLDER.glob("systems/*.txt")))
METRIC = "llm-s(model=scripted-1)"
PRICES = {"currency": "EUR", "models": {"scripted-1": {"input": 1000, "output": 1000}}}


@pytest.fixture
def run(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def call(*arguments, url="http://localhost:9/v1", cache="cache"):
        return program(
            *("judge", "-s", FOLDER / "source.txt", "--hyps", *HYPS, "-m", METRIC),
            *("--base-url", url, "--cache-dir", cache, *arguments),
        )

    return call


def rows_in(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_run_by_files_is_the_run_over_the_wire(run, tmp_path):
    code, out, err = run("--submit", "batch")
    assert code == 0
    assert out.splitlines()[-2:] == [
        "requests written      75",
        "file                  batch/requests-001.jsonl",
    ]
    assert "the same command with --collect batch" in err
    provider.answer_all("batch")
    code, out, err = run("--collect", "batch", "-o", "run.jsonl")
    assert (code, out) == (0, "")
    assert "note: sent: 75 requests, " in err
    assert "note: calls ended: 75 ok" in err
    assert run("--offline", "-o", "again.jsonl")[0] == 0
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "run.jsonl").read_bytes()
    code, _, err = run("--collect", "batch", "-o", "again.jsonl")
    assert "note: from the cache: 75 calls" in err
    assert "sent:" not in err
    with ScriptedEndpoint() as server:
        assert run("-o", "wire.jsonl", url=server.url, cache="other")[0] == 0
    said = [
        [(r["groups"], r["ranks"], r["scores"]) for r in rows_in(path)]
        for path in (tmp_path / "run.jsonl", tmp_path / "wire.jsonl")
    ]
    assert said[0] == said[1]


def test_what_is_missing_is_said_and_submitted_alone(run, tmp_path):
    run("--submit", "batch")
    names = provider.asked("batch")
    results = [provider.answered(*request) for request in names.items()]
    provider.put("batch", "out.jsonl", [*results[:70], provider.expired(list(names)[70])])
    code, _, err = run("--collect", "batch", "-o", "run.jsonl", "--quiet")
    assert code == 1
    assert "note: 5 of 75 calls have no usable reply (4 x no result; 1 x This request" in err
    assert "--submit batch in place of --collect writes exactly these" in err
    assert "70 of 75 items have scores" in err
    skipped = [row for row in rows_in(tmp_path / "run.jsonl") if row["skipped"]]
    assert len(skipped) == 5
    code, out, _ = run("--submit", "batch", "--format", "json")
    data = json.loads(out)
    assert (code, data["kind"], data["requests"], data["left"]) == (0, "submission", 5, 0)
    assert (data["calls"], data["known"], data["files"]) == (75, 70, ["batch/requests-001.jsonl"])
    provider.answer_all("batch", "out2.jsonl")
    assert run("--collect", "batch", "-o", "run.jsonl")[0] == 0


def test_the_whole_batch_stays_under_the_ceiling(run, tmp_path):
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))
    options = ("--prices", "prices.json", "--max-cost", "30")
    code, out, err = run("--submit", "batch", *options)
    assert code == 1
    assert "requests have no room under the ceiling" in err
    bodies = provider.asked("batch").values()
    worst = sum(len(provider.prompt_in(b).encode()) + 16 + b["max_tokens"] for b in bodies)
    assert 0 < worst / 1000 <= 30
    assert f"requests written      {len(bodies)}\n" in out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--submit", "b", "--collect", "b"), 2, "not allowed with"),
        (("--submit", "b", "--dry-run"), 2, "not allowed with"),
        (("--collect", "b"), 3, "no results of these calls"),
        (("--submit", "b", "-o", "j.jsonl", "--offline"), 0, "--output, --offline have no effect"),
        (("--submit", "b", "--max-cost", "1"), 2, "the price of 'scripted-1' is not known"),
    ],
)
def test_odd_orders(run, arguments, code, words):
    got, _, err = run(*arguments, "--quiet")
    assert got == code
    assert words in err


def test_options_of_sending_have_no_effect(run):
    run("--submit", "batch")
    provider.answer_all("batch")
    code, _, err = run("--collect", "batch", "-o", "run.jsonl", "--concurrency", 5, "--quiet")
    assert code == 0
    assert "--concurrency has no effect: with --collect nothing is sent" in err
