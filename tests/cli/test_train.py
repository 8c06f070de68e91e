"""``grammeter train`` from end to end: four things to do, and what goes wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import made_models
import made_training
from grammeter.cli.main import main
from grammeter.training.results import weights_hash


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return made_models.encoder(tmp_path_factory.mktemp("train") / "encoder")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    return made_training.write_m2(tmp_path_factory.mktemp("train") / "data.m2")


def run(capsys, *arguments):
    try:
        code = main(["train", *map(str, arguments)])
    except SystemExit as stop:
        code = int(stop.code or 0)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def impara(capsys, data, encoder, folder, *more):
    return run(
        capsys, "impara", "--parallel", data, "--encoder", encoder, "-o", folder,
        "--pairs", 60, "--epochs", 2, "--batch-size", 16, *more,
    )  # fmt: skip


class TestImpara:
    def test_train_and_score(self, capsys, data, encoder, tmp_path):
        code, out, err = impara(capsys, data, encoder, tmp_path / "a")
        assert code == 0
        assert f"- weights: {weights_hash(tmp_path / 'a')}" in out
        told = err.splitlines()
        assert [line.partition(":")[2].partition(":")[0] for line in told] == [
            " pairs", " epoch 1 of 2", " epoch 2 of 2",
        ]  # fmt: skip
        assert "validation accuracy" in told[1]
        (tmp_path / "src.txt").write_text("the cat go\n")
        (tmp_path / "out.txt").write_text("the cat goes\n")
        spelled = f"impara(model='{tmp_path / 'a'}')"
        code = main(
            ["score", "-s", str(tmp_path / "src.txt"), "-m", spelled, "--format", "json",
             "--hyps", str(tmp_path / "out.txt")]
        )  # fmt: skip
        scores = json.loads(capsys.readouterr().out)["metrics"][spelled]
        assert code == 0
        assert np.isfinite(scores["systems"]["out"]["value"])
        assert f"similarity:{encoder}" in scores["signature"]

    def test_json_resume_and_quiet(self, capsys, data, encoder, tmp_path):
        code, out, err = impara(
            capsys, data, encoder, tmp_path / "a", "--format", "json", "--quiet", "--epochs", "0"
        )
        assert (code, err) == (0, "")
        card = json.loads(out)
        assert (card["kind"], card["best_epoch"]) == ("training-card", 0)
        code, out, err = impara(capsys, data, encoder, tmp_path / "a", "--epochs", "0")
        assert (code, out) == (2, "")
        assert "--resume" in err
        code, out, _ = impara(
            capsys, data, encoder, tmp_path / "a", "--epochs", 0, "--resume", "--format", "json"
        )
        assert (code, json.loads(out)) == (0, card)
        code, _, err = impara(capsys, data, encoder, tmp_path / "a", "--resume")
        assert code == 2
        assert "epochs was 0, is 2" in err

    def test_options(self, capsys, data, encoder, tmp_path):
        code, out, _ = impara(
            capsys, data, encoder, tmp_path / "a", "--epochs", 1, "--loss", "logistic",
            "--parallel-only", "--learning-rate", 0.01, "--decay", "linear", "--warmup", 0.5,
            "--dtype", "float32", "--seed", 7, "--format", "json",
            "--cache-dir", tmp_path / "cache",
        )  # fmt: skip
        assert code == 0
        shown = json.loads(out)["settings"]
        wanted = {
            "loss": "logistic",
            "parallel_only": True,
            "rate": 0.01,
            "decay": "linear",
            "warmup": 0.5,
            "dtype": "float32",
            "seed": 7,
            "epochs": 1,
            "pairs": 60,
        }
        assert {name: shown[name] for name in wanted} == wanted
        assert (tmp_path / "cache").is_dir()

    def test_an_empty_file(self, capsys, encoder, tmp_path):
        (tmp_path / "empty.m2").write_text("")
        code, out, err = impara(capsys, tmp_path / "empty.m2", encoder, tmp_path / "a")
        assert (code, out) == (3, "")
        assert "empty.m2" in err
        assert "Traceback" not in err

    def test_a_missing_encoder(self, capsys, data, tmp_path, monkeypatch):
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
        code, out, err = impara(capsys, data, "no/such-model", tmp_path / "a")
        assert (code, out) == (4, "")
        assert "no/such-model" in err

    @pytest.mark.parametrize("make", [made_models.causal, None])
    def test_what_is_no_encoder(self, capsys, data, tmp_path, make):
        folder = tmp_path / "model"
        if make:
            make(folder)
        else:
            folder.mkdir()
            (folder / "config.json").write_text("{}")
            (folder / "pytorch_model.bin").write_bytes(b"\x80\x04N.")
        code, out, err = impara(capsys, data, folder, tmp_path / "a")
        assert (code, out) == (3 if make else 4, "")
        assert "Traceback" not in err

    @pytest.mark.parametrize(
        "more", [("--epochs", -1), ("--batch-size", 0), ("--learning-rate", "nan"), ("--seed", -1),
                 ("--pairs", 3), ("--dtype", "float16"), ("--device", "gpu"),
                 ("--warmup", 2)],
    )  # fmt: skip
    def test_wrong_usage(self, capsys, data, encoder, tmp_path, more):
        code, out, _ = impara(capsys, data, encoder, tmp_path / "a", *more)
        assert (code, out) == (2, "")

    def test_ctrl_c_says_how_to_go_on(self, data, encoder, tmp_path):
        """In a process of its own: a stub presses Ctrl-C in the third step."""
        code = (
            "import os, signal, sys\n"
            "from grammeter.training.pairs import Preference\n"
            "from grammeter.cli.main import main\n"
            "steps, own = [], Preference.loss\n"
            "def loss(self, outputs, targets):\n"
            "    steps.append(1)\n"
            "    if len(steps) == 3: os.kill(os.getpid(), signal.SIGINT)\n"
            "    return own(self, outputs, targets)\n"
            "Preference.loss = loss\n"
            "sys.exit(main())\n"
        )
        words = ["train", "impara", "--parallel", data, "--encoder", encoder, "-o", tmp_path / "a",
                 "--pairs", 60, "--epochs", 1, "--batch-size", 16]  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, words)],
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert done.returncode == 130, done.stderr
        assert done.stderr.rstrip().endswith("the same command with --resume\ninterrupted")
        assert "Traceback" not in done.stderr

    def test_ctrl_c_in_this_process(self, capsys, data, encoder, tmp_path, monkeypatch):
        def press(*_, **__):
            os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr("grammeter.training.pairs.draw_pairs", press)
        code, _, err = impara(capsys, data, encoder, tmp_path / "a")
        assert code == 130
        assert "the same command with --resume" in err


class TestSome:
    def test_train_and_score(self, capsys, encoder, tmp_path):
        table = made_training.write_scores(tmp_path / "scores.csv")
        code, out, err = run(
            capsys, "some", "--scores", table, "--encoder", encoder, "-o", tmp_path / "s",
            "--epochs", 1, "--batch-size", 16,
        )  # fmt: skip
        assert code == 0
        assert out.count("# some") == 3
        assert err.count("negative mean squared error") == 3
        assert len([*(tmp_path / "s").rglob("*.safetensors")]) == 3
        (tmp_path / "src.txt").write_text("the cat go\n")
        code = main(
            ["score", "-s", str(tmp_path / "src.txt"), "-m", f"some(model='{tmp_path / 's'}')",
             "--hyps", str(tmp_path / "src.txt")]
        )  # fmt: skip
        assert code == 0

    def test_one_criterion_as_json(self, capsys, encoder, tmp_path):
        table = made_training.write_scores(tmp_path / "scores.csv")
        code, out, _ = run(
            capsys, "some", "--scores", table, "--encoder", encoder, "-o", tmp_path / "s",
            "--epochs", 0, "--criteria", "meaning", "--format", "json",
        )  # fmt: skip
        assert code == 0
        assert [*json.loads(out)["cards"]] == ["meaning"]

    def test_no_scores(self, capsys, encoder, tmp_path):
        (tmp_path / "t.csv").write_text("source,output\na,b\n")
        code, _, err = run(
            capsys, "some", "--scores", tmp_path / "t.csv", "--encoder", encoder,
            "-o", tmp_path / "s",
        )  # fmt: skip
        assert code == 3
        assert "t.csv" in err


class TestCrossDomain:
    def test_table_and_json(self, capsys, data, encoder, tmp_path):
        words = (
            "cross-domain", "--parallel", f"one={data}", f"two={data}", "--encoder", encoder,
            "--pairs", 40, "--epochs", 1, "--batch-size", 16, "--seeds", 1, 2, "-o", tmp_path,
        )  # fmt: skip
        code, out, err = run(capsys, *words)
        assert code == 0
        assert out.splitlines()[0].split()[:2] == ["trained", "on"]
        assert len(out.splitlines()) == 6
        assert err.count("epoch 1 of 1") == 4
        code, out, err = run(capsys, *words, "--format", "json")
        assert (code, err) == (0, "")
        table = json.loads(out)
        assert (table["kind"], table["seeds"]) == ("cross-domain", [1, 2])
        assert [len(cell["accuracies"]) for cell in table["cells"]] == [2] * 4

    @pytest.mark.parametrize("named", ["data.m2", "=data.m2", "a=", "a/b=data.m2"])
    def test_corpora_need_names(self, capsys, encoder, tmp_path, named):
        code, _, _ = run(
            capsys, "cross-domain", "--parallel", named, "--encoder", encoder, "-o", tmp_path / "x"
        )
        assert code == 2


class TestImpacts:
    def test_table(self, capsys, data, encoder):
        code, out, err = run(
            capsys, "impacts", "--parallel", data, "--encoder", encoder, "--show", 2
        )
        assert (code, err) == (0, "")
        types, highest, lowest = out.rstrip().split("\n\n")
        assert {line.split()[0] for line in types.splitlines()[2:]} == {"R:VERB", "R:PREP", "U:ADV"}
        assert len(highest.splitlines()) == len(lowest.splitlines()) == 4

    @pytest.mark.parametrize("shown", [0, -3, 10**6])
    def test_as_many_edits_as_there_are(self, capsys, data, encoder, shown):
        code, out, _ = run(
            capsys, "impacts", "--parallel", data, "--encoder", encoder, "--show", shown
        )
        assert code == 0
        assert len(out.rstrip().split("\n\n")) == (3 if shown > 0 else 1)

    def test_json(self, capsys, data, encoder, tmp_path):
        one = tmp_path / "one.m2"
        one.write_text("S the cat\nA 0 1|||R|||a|||REQUIRED|||-NONE-|||0\n")
        code, out, _ = run(
            capsys, "impacts", "--parallel", one, "--encoder", encoder, "--format", "json"
        )
        table = json.loads(out)
        assert code == 0
        assert table["types"][0]["deviation"] is None
        assert table["types"][0]["deviation_reason"] == "a single edit"
        assert table["edits"][0]["correction"] == "a"


def test_without_a_name(capsys):
    code, out, err = run(capsys)
    assert (code, out) == (2, "")
    assert "impara|some|cross-domain|impacts" in err
