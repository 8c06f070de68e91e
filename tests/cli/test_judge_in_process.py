"""``grammeter judge --backend transformers``: a tiny model in this process, no server."""

from __future__ import annotations

import json

import pytest

import grammeter as gm
import made_models
from grammeter.resources import sample_corpus

FOLDER = sample_corpus()
HYPS = sorted(map(str, FOLDER.glob("systems/*.txt")))
CORPUS = ("-s", str(FOLDER / "source.txt"), "--hyps", *HYPS)


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    return made_models.chat(tmp_path_factory.mktemp("chat"))


@pytest.fixture
def items(tmp_path):
    """Write three items; the last has equal outputs."""
    names = [path.rpartition("/")[2].removesuffix(".txt") for path in HYPS]
    texts = {name: (FOLDER / "systems" / f"{name}.txt").read_text("utf-8").splitlines()
             for name in names}  # fmt: skip
    rows = []
    for line in range(len(texts[names[0]])):
        groups = {}
        for name in names:
            groups.setdefault(texts[name][line], []).append(name)
        if len(groups) == 3 and len(rows) < 2:
            rows.append({"segment": line + 1, "groups": list(groups.values())})
    rows.append({**rows[0], "groups": rows[0]["groups"][:1]})
    path = tmp_path / "items.jsonl"
    usual = {"judge": "x", "ranks": None, "skipped": False}
    for row in rows:
        row |= {**usual, "ranks": [1] * len(row["groups"])}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def judge(program, items, model, tmp_path):
    def run(*options, model=model):
        return program(
            *("judge", *CORPUS, "--items", items, "-m", f"llm-s(model='{model}')"),
            *("--backend", "transformers", "--cache-dir", tmp_path / "cache", *options),
        )

    return run


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


def test_a_model_here_judges_by_likelihood(judge):
    code, out, err = judge("--read", "likelihood")
    assert code == 0, err
    judged = rows(out)
    assert len(judged) == 3
    for row in judged[:2]:
        assert all(1 <= score <= 5 for score in row["scores"])
        best_first = sorted(row["scores"], reverse=True)
        assert row["ranks"] == [best_first.index(score) + 1 for score in row["scores"]]
        (reply,) = row["replies"]
        assert reply["scores"] == row["scores"]
        shares = json.loads(reply["text"])["probabilities"]
        means = [sum(n * share for n, share in enumerate(row, 1)) for row in shares]
        assert means == pytest.approx(row["scores"])
        assert [sum(of_target) for of_target in shares] == pytest.approx([1] * 3)
    assert len({score for row in judged[:2] for score in row["scores"]}) > 3
    assert not judged[2].get("replies")
    assert "|endpoint:transformers|read:likelihood|tok:" in err
    assert "note: 2 replies: the digits had less than half of the probability" in err
    assert "|model-hash:" in err
    assert "|dtype:float32|" in err
    code, again, err = judge("--read", "likelihood", "--offline")
    assert (code, again) == (0, out)
    assert "from the cache: 2 calls" in err


def test_the_size_of_batches_changes_nothing(judge, tmp_path):
    one, other = (
        rows(
            judge("--read", "likelihood", "--batch-tokens", n, "--cache-dir", tmp_path / str(n))[1]
        )
        for n in (1, 100_000)
    )
    for left, right in zip(one[:2], other[:2], strict=True):
        assert left["scores"] == pytest.approx(right["scores"], rel=1e-5)


def test_what_cannot_be_read_stays_unscored_with_its_text(judge):
    code, out, err = judge("--max-output", 5, "--attempts", 2, "--temperature", 0.8)
    assert code == 1
    for row in rows(out)[:2]:
        assert row["skipped"]
        assert len(row["replies"]) == 2
        assert all(reply["text"] and reply["tokens"][1] >= 5 for reply in row["replies"])
        assert {reply["finish"] for reply in row["replies"]} <= {"length", "stop"}
    assert "|endpoint:transformers|read:text|temperature:0.8|" in err
    assert judge("--max-output", 5, "--attempts", 2, "--temperature", 0.8)[1] == out


def test_options_without_effect_are_named(judge, tmp_path):
    _, _, err = judge("--read", "likelihood", "--base-url", "http://x/v1", "--timeout", 3,
                      "--temperature", 1, "--quiet")  # fmt: skip
    assert "--base-url, --timeout have no effect: the model answers in this process" in err
    assert "--temperature has no effect: a likelihood" in err


def test_options_of_models_beside_a_server(program, model):
    _, _, err = program("judge", *CORPUS, "-m", "llm-s(model=x)", "--dry-run", "--device", "cpu")
    assert "--device has no effect: no metric here runs a pretrained model" in err


def test_what_it_costs_is_known(judge):
    code, out, _ = judge("--dry-run", "--format", "json")
    assert (code, json.loads(out)["calls"], json.loads(out)["cost"]) == (0, 2, 0)


@pytest.mark.parametrize("read", ["text", "likelihood"])
def test_a_prompt_beyond_the_context(judge, tmp_path, read):
    small = made_models.chat(tmp_path / "small", positions=300)
    code, out, err = judge("--read", read, model=small)
    assert (code, out) == (3, "")
    assert "2 of 2 prompts are too long" in err
    assert "it takes 300 tokens, the longest prompt has" in err
    assert "Traceback" not in err


def test_a_model_that_was_not_trained_to_answer(judge, tmp_path):
    code, _, err = judge(model=made_models.chat(tmp_path / "m", template=None))
    assert code == 3
    assert "has no chat template" in err


def test_a_model_that_is_not_here(judge, tmp_path):
    code, _, err = judge(model=tmp_path / "none")
    assert code == 4
    assert "there is no folder" in err


@pytest.mark.parametrize("option", ["--submit", "--collect"])
def test_no_files_of_a_batch_api(judge, tmp_path, option):
    code, _, err = judge(option, tmp_path / "files")
    assert code == 2
    assert "answers in this process" in err


def test_a_likelihood_needs_a_model_here(program):
    code, _, err = program("judge", *CORPUS, "-m", "llm-s(model=x)", "--read", "likelihood")
    assert code == 2
    assert "backend=transformers" in err


def test_python_and_score_say_the_same(judge, model, items, program, tmp_path):
    _, out, _ = judge("--read", "likelihood")
    corpus = gm.read_corpus(source=str(FOLDER / "source.txt"), systems=HYPS)
    with gm.using(backend="transformers", read="likelihood", cache_dir=tmp_path / "cache"):
        judged = gm.judge(
            corpus,
            gm.read_judgments(items, systems=corpus.systems),
            metric=f"llm-s(model='{model}')",
        )
    assert [list(ranking.scores) for ranking in judged.rankings] == [
        row["scores"] for row in rows(out)
    ]
    for name in ("source", *(path.rpartition("/")[2] for path in HYPS[:2])):
        name = name.removesuffix(".txt")
        place = FOLDER / "source.txt" if name == "source" else FOLDER / "systems" / f"{name}.txt"
        lines = place.read_text("utf-8").splitlines()[:12]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    files = [tmp_path / path.rpartition("/")[2] for path in HYPS[:2]]
    code, out, err = program(
        *("score", "-s", tmp_path / "source.txt", "--hyps", *files, "--format", "json"),
        *("-m", f"llm-s(model='{model}')", "--backend", "transformers", "--read", "likelihood"),
    )
    assert code == 0, err
    (scores,) = json.loads(out)["metrics"].values()
    assert all(1 <= system["value"] <= 5 for system in scores["systems"].values())
    assert "|model-hash:" in scores["signature"]


def test_the_shared_model(judge, shared):
    model = shared / "golden" / "neural" / "tiny_models" / "llama-chat"
    code, out, err = judge("--read", "likelihood", model=model)
    assert code == 0, err
    assert all(1 <= score <= 5 for row in rows(out)[:2] for score in row["scores"])
