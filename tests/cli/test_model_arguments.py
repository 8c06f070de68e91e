"""The options of verbs that run models, from the shell to exit code and signature."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import made_models
from grammeter.cli import output
from grammeter.cli.main import main
from grammeter.models import find_model, how_to_fetch, loading
from grammeter.models.runtime import FILE

SOURCE = "the cat go to school .\nthey are good .\n"
OUTPUT = "the cat goes to school .\nthey are very good .\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    home = tmp_path_factory.mktemp("models")
    return {
        "quality": made_models.regressor(home / "quality"),
        "encoder": made_models.encoder(home / "encoder"),
        "causal": made_models.causal(home / "causal"),
    }


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "src.txt").write_text(SOURCE)
    (tmp_path / "A.txt").write_text(OUTPUT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    def call(metric, *more):
        capsys.readouterr()
        metrics = [metric] if isinstance(metric, str) else metric
        code = main(["score", "-s", "src.txt", "-m", *metrics, "--hyps", "A.txt", *more])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


@pytest.fixture
def impara(models):
    return spelled(models)


def spelled(models, **fields):
    named = {"model": models["quality"], "similarity": models["encoder"]} | fields
    return f"impara({', '.join(f'{name}={value!r}' for name, value in named.items())})"


class TestRun:
    def test_score_and_signature(self, run, impara, models):
        code, out, err = run(impara, "--format", "json")
        assert (code, err) == (0, "")
        scores = json.loads(out)["metrics"][impara]
        assert 0 <= scores["systems"]["A"]["value"] <= 1
        assert f"model-hash:{find_model(models['quality']).hash}" in scores["signature"]
        assert "dtype:float32" in scores["signature"]

    def test_the_number_type_stands_in_the_signature(self, run, impara):
        code, out, _ = run(impara, "--format", "json", "--dtype", "bfloat16")
        assert code == 0
        assert "dtype:bfloat16" in json.loads(out)["metrics"][impara]["signature"]

    def test_the_size_of_batches_does_not_matter(self, run, models):
        metric = spelled(models, threshold=-1)
        values = [
            json.loads(run(metric, "--format", "json", "--batch-tokens", size)[1])["metrics"][
                metric
            ]
            for size in ("1", "100000")
        ]
        one, two = (value["systems"]["A"]["value"] for value in values)
        assert one == pytest.approx(two, abs=1e-6)
        assert values[0]["signature"] == values[1]["signature"]

    def test_the_seed_of_hashes_does_not_matter(self, models, folder):
        """Sets and dictionaries of texts never decide what goes into a batch."""
        (folder / "ref.txt").write_text(OUTPUT)
        metrics = [spelled(models, threshold=0), f"bertscore(model={models['encoder']!r}, layer=1)"]
        words = ["-s", "src.txt", "-r", "ref.txt", "-m", *metrics, "--hyps", "A.txt", "src.txt"]
        printed = {
            subprocess.run(
                [sys.executable, "-m", "grammeter", "score", *words, "--format", "json"],
                env={**os.environ, "PYTHONHASHSEED": seed},
                cwd=folder,
                capture_output=True,
                check=True,
            ).stdout
            for seed in ("0", "7")
        }
        assert len(printed) == 1
        assert b"bertscore" in printed.pop()

    def test_a_second_run_loads_no_model(self, run, impara, monkeypatch, tmp_path):
        first = run(impara, "--cache-dir", "figures", "--format", "json")
        assert (tmp_path / "figures" / FILE).is_file()
        monkeypatch.setattr(loading, "_load", lambda *_: pytest.fail("a model was loaded"))
        assert run(impara, "--cache-dir", "figures", "--format", "json") == first
        assert run(impara, "--cache-dir", str(tmp_path / "figures"), "--format", "json") == first

    def test_progress_of_models(self, run, impara, monkeypatch, models):
        seen = []

        class Progress(output.Progress):
            def __call__(self, label, done, total):
                seen.append((label, done, total))

        monkeypatch.setattr(output, "Progress", Progress)
        monkeypatch.setattr(output, "progress_wanted", lambda args: not args.quiet)
        assert run(impara)[0] == 0
        labels = {label for label, _, _ in seen}
        assert any(models["quality"] in label for label in labels)
        assert any(done == total > 0 for _, done, total in seen)
        seen.clear()
        assert run(impara, "--quiet")[0] == 0
        assert not seen


class TestGpu:
    def test_one_that_is_not_here(self, run, impara, monkeypatch):
        torch = pytest.importorskip("torch")
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        code, out, err = run(impara, "--device", "cuda")
        assert (code, out) == (4, "")
        assert "there is no device 'cuda' here" in err
        assert "--device cpu" in err


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "what"),
        [
            (["--batch-tokens", "0"], "batches of 0 tokens"),
            (["--batch-tokens", "-1"], "batches of -1 tokens"),
            (["--device", "nosuch"], "unknown device 'nosuch'"),
            (["--device", "cuda:x"], "unknown device 'cuda:x'"),
            (["--cache-dir", "src.txt/below"], "figures cannot be kept in 'src.txt/below'"),
            (["--cache-dir", "src.txt"], "figures cannot be kept in 'src.txt'"),
        ],
    )
    def test_options(self, run, impara, options, what):
        code, out, err = run(impara, *options)
        assert (code, out) == (2, "")
        assert what in err
        assert "Traceback" not in err

    @pytest.mark.parametrize("options", [["--dtype", "int8"], ["--batch-tokens", "many"]])
    def test_options_that_the_parser_refuses(self, run, impara, options, capsys):
        with pytest.raises(SystemExit) as caught:
            run(impara, *options)
        assert caught.value.code == 2
        assert options[0] in capsys.readouterr().err

    def test_a_missing_model(self, run, models, monkeypatch):
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        code, out, err = run(spelled(models, model="no/such-model"))
        assert (code, out) == (4, "")
        assert "'no/such-model' is not on this machine" in err
        assert "--download" in err
        assert how_to_fetch("no/such-model") in err

    def test_a_missing_model_is_told_before_texts_are_scored(self, run, monkeypatch, models):
        monkeypatch.setattr("grammeter.scoring.table.count", lambda *_, **__: pytest.fail("scored"))
        assert run(spelled(models, similarity="/no/such"))[0] == 4

    def test_another_architecture(self, run, models):
        code, out, err = run(spelled(models, model=models["causal"]))
        assert (code, out) == (3, "")
        assert "Traceback" not in err
        assert models["causal"] in err

    def test_a_pickle(self, run, models, tmp_path):
        pickled = Path(shutil.copytree(models["quality"], tmp_path / "pickled"))
        (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
        code, out, err = run(spelled(models, model=str(pickled)))
        assert (code, out) == (4, "")
        assert "safetensors" in err

    def test_weights_that_are_not_whole(self, run, models, tmp_path):
        broken = Path(shutil.copytree(models["quality"], tmp_path / "broken"))
        weights = (broken / "model.safetensors").read_bytes()
        (broken / "model.safetensors").write_bytes(weights[:1000])
        code, out, err = run(spelled(models, model=str(broken)))
        assert (code, out) == (4, "")
        assert "files are whole" in err

    def test_a_damaged_cache(self, run, impara, tmp_path):
        (tmp_path / FILE).write_bytes(b"no database at all" * 100)
        code, out, err = run(impara, "--cache-dir", ".")
        assert (code, out) == (2, "")
        assert f"delete {FILE}" in err

    def test_an_interrupt(self, run, impara, monkeypatch):
        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(loading, "_load", interrupted)
        code, out, err = run(impara)
        assert (code, out) == (130, "")
        assert err.strip() == "interrupted"


@pytest.mark.parametrize("name", ["bertscore", "bartscore", "pt-m2", "pt-errant", "some", "impara",
                                  "scribendi"])  # fmt: skip
def test_list_and_cite_need_no_model(name, capsys):
    assert main(["cite", name]) == 0
    assert "@" in capsys.readouterr().out
    assert main(["list"]) == 0
    assert name in capsys.readouterr().out.split()
