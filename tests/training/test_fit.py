"""The loop: same seed, same weights; killed and resumed, same weights; the best epoch is kept."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import made_models
import made_training
from grammeter.core import DataError, MissingResourceError, UsageError, reporting
from grammeter.training import fit as module
from grammeter.training import network as network_module
from grammeter.training.fit import BEST, FOLDER, LAST, Checkpoint, Progress, fit, listening
from grammeter.training.network import Example, Network, Settings
from grammeter.training.pairs import Preference, draw_pairs
from grammeter.training.results import _identity, weights_hash

STEPS = 6
"""In an epoch: 48 pairs, 8 at once."""


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return made_models.encoder(tmp_path_factory.mktemp("fit") / "encoder")


@pytest.fixture(scope="module")
def task() -> Preference:
    return Preference(draw_pairs(made_training.sentences(), size=60).pairs)


def setting(encoder, **changes) -> Settings:
    return Settings(**{"encoder": encoder, "epochs": 2, "batch_size": 8, "rate": 1e-3, **changes})


class StoppedError(Exception):
    pass


class Stopping(Preference):
    """Stops in a step, by ``stop``."""

    def loss(self, outputs, targets):
        count = self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        if count == self.__dict__["at"]:
            self.__dict__["stop"]()
        return super().loss(outputs, targets)


def stopping(task, at, stop) -> Stopping:
    made = Stopping(task.pairs, task.loss_name)
    made.__dict__.update(at=at, stop=stop)
    return made


def stop() -> None:
    raise StoppedError


@pytest.fixture(scope="module")
def whole(encoder, task, tmp_path_factory):
    """An uninterrupted run: what came out, and the hash of its weights."""
    folder = tmp_path_factory.mktemp("whole") / "model"
    return fit(task, setting(encoder), folder, resume=False), weights_hash(folder)


@pytest.fixture(scope="module")
def halted(encoder, task, tmp_path_factory) -> Path:
    """The folder of a run that stopped in the second epoch."""
    folder = tmp_path_factory.mktemp("halted") / "model"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "EVERY", 0.0)
        with pytest.raises(StoppedError):
            fit(stopping(task, STEPS + 2, stop), setting(encoder), folder, resume=False)
    return folder


# Same seed, same weights


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_same_weights_twice_and_others_by_another_seed(encoder, task, tmp_path, dtype):
    found = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        fit(task, setting(encoder, seed=seed, dtype=dtype), tmp_path / name, resume=False)
        found.append(weights_hash(tmp_path / name))
    assert found[0] == found[1] != found[2]


def test_the_caller_s_random_numbers_go_on(encoder, task, tmp_path):
    torch = pytest.importorskip("torch")
    torch.manual_seed(7)
    expected = torch.rand(3).tolist()
    torch.manual_seed(7)
    fit(task, setting(encoder, epochs=0), tmp_path / "a", resume=False)
    assert torch.rand(3).tolist() == expected


def test_it_learns(encoder, task, tmp_path):
    fitted = fit(task, setting(encoder, epochs=6, rate=3e-3), tmp_path / "a", resume=False)
    losses = [epoch["loss"] for epoch in fitted.epochs]
    assert min(losses) < losses[0] - 0.05


# Stopped and resumed


@pytest.mark.parametrize("at", [2, STEPS, STEPS + 3])
def test_stopped_anywhere_and_resumed(encoder, task, whole, tmp_path, at, monkeypatch):
    monkeypatch.setattr(module, "EVERY", 0.0)
    with pytest.raises(StoppedError):
        fit(stopping(task, at, stop), setting(encoder), tmp_path / "a", resume=False)
    resumed = fit(task, setting(encoder), tmp_path / "a", resume=True)
    assert weights_hash(tmp_path / "a") == whole[1]
    assert resumed.best == whole[0].best
    for one, other in zip(resumed.epochs, whole[0].epochs, strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
    assert (resumed.outputs["test"] == whole[0].outputs["test"]).all()


def test_stopped_without_a_checkpoint(encoder, task, whole, tmp_path):
    with pytest.raises(StoppedError):
        fit(stopping(task, 1, stop), setting(encoder), tmp_path / "a", resume=False)
    assert not (tmp_path / "a" / FOLDER).exists()
    fit(task, setting(encoder), tmp_path / "a", resume=True)
    assert weights_hash(tmp_path / "a") == whole[1]


KILLED = """
import os, sys
from pathlib import Path
from grammeter.training import fit as module
from grammeter.training.pairs import Preference
from grammeter.verbs import train_impara
module.EVERY = 0.0
steps, own = [], Preference.loss
def loss(self, outputs, targets):
    steps.append(1)
    if len(steps) == 9:
        os.kill(os.getpid(), 9)
    return own(self, outputs, targets)
Preference.loss = loss
data, encoder, folder = sys.argv[1:]
train_impara([data], folder, encoder=encoder, epochs=2, batch_size=8, pairs=60)
"""


def test_killed_by_the_system_and_resumed(encoder, tmp_path):
    from grammeter.verbs import train_impara

    data = made_training.write_m2(tmp_path / "data.m2")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, data, encoder, tmp_path / "a"], check=False, timeout=300
    )
    assert done.returncode == -signal.SIGKILL
    progress = Checkpoint(tmp_path / "a").last()[0]
    assert (progress.epoch, progress.step) == (2, 2)
    cards = [
        train_impara(
            [data],
            tmp_path / name,
            encoder=str(encoder),
            epochs=2,
            batch_size=8,
            pairs=60,
            resume=name == "a",
        )
        for name in ("a", "whole")
    ]
    assert cards[0]["weights"] == cards[1]["weights"] == weights_hash(tmp_path / "a")
    assert not (tmp_path / "a" / FOLDER).exists()


def test_ctrl_c_is_an_end_like_any_other(encoder, task, whole, tmp_path):
    pressing = stopping(task, STEPS + 3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        fit(pressing, setting(encoder), tmp_path / "a", resume=False)
    progress = Checkpoint(tmp_path / "a").last()[0]
    assert (progress.epoch, progress.step) == (2, 0)
    fit(task, setting(encoder), tmp_path / "a", resume=True)
    assert weights_hash(tmp_path / "a") == whole[1]


@pytest.mark.parametrize("name", [LAST, BEST])
@pytest.mark.parametrize("content", [b"", b"{}", b"\x00" * 40])
def test_a_damaged_checkpoint(encoder, task, halted, tmp_path, name, content):
    shutil.copytree(halted, tmp_path / "a")
    (tmp_path / "a" / FOLDER / name).write_bytes(content)
    checkpoint = Checkpoint(tmp_path / "a")
    with pytest.raises(DataError, match="damaged"):
        checkpoint.best() if name == BEST else checkpoint.last()


def test_no_best_weights(halted, tmp_path):
    shutil.copytree(halted, tmp_path / "a")
    (tmp_path / "a" / FOLDER / BEST).unlink()
    with pytest.raises(DataError, match="damaged"):
        Checkpoint(tmp_path / "a").best()


def test_a_damaged_checkpoint_stops_the_run(encoder, task, halted, tmp_path):
    shutil.copytree(halted, tmp_path / "a")
    (tmp_path / "a" / FOLDER / LAST).write_text("[]")
    with pytest.raises(DataError, match="damaged"):
        fit(task, setting(encoder), tmp_path / "a", resume=True)


@pytest.mark.parametrize("what", ["checkpoint", "model"])
def test_a_full_disk(encoder, task, tmp_path, monkeypatch, what):
    safetensors = pytest.importorskip("safetensors")

    def full(*_, **__):
        raise safetensors.SafetensorError("I/O error: No space left on device")

    if what == "checkpoint":
        monkeypatch.setattr("safetensors.torch.save_file", full)
    else:
        transformers = pytest.importorskip("transformers")
        monkeypatch.setattr(transformers.BertForSequenceClassification, "save_pretrained", full)
    with pytest.raises(DataError, match="No space left") as caught:
        fit(task, setting(encoder, epochs=1), tmp_path / "a", resume=False)
    assert "--resume" in str(caught.value)


# The best epoch


class Scripted(Preference):
    """Figures as a script has them, whatever the outputs."""

    def figure(self, outputs, targets):
        return self.__dict__["script"].pop(0)


@pytest.mark.parametrize(("script", "best"), [([0.4, 0.9, 0.5], 2), ([0.5, 0.5], 1)])
def test_the_first_best_epoch_is_kept(encoder, task, tmp_path, script, best):
    scripted = Scripted(task.pairs)
    scripted.__dict__["script"] = [*script]
    fitted = fit(scripted, setting(encoder, epochs=len(script)), tmp_path / "a", resume=False)
    assert fitted.best == best
    assert [epoch["figure"] for epoch in fitted.epochs] == script
    other = Scripted(task.pairs)
    other.__dict__["script"] = [0.1 * n for n in range(1, best + 1)]  # its last epoch
    fit(other, setting(encoder, epochs=best), tmp_path / "b", resume=False)
    assert weights_hash(tmp_path / "a") == weights_hash(tmp_path / "b")


def test_no_epoch_writes_the_untrained_head(encoder, task, tmp_path):
    fitted = fit(task, setting(encoder, epochs=0), tmp_path / "a", resume=False)
    assert (fitted.epochs, fitted.best) == ([], 0)
    with Network.open(setting(encoder), bias=0.0) as network:
        examples = network.encode(task.examples["test"])
        assert (network.outputs(examples) == fitted.outputs["test"]).all()


def test_outputs_are_in_the_order_of_the_examples(encoder, task, tmp_path):
    fitted = fit(task, setting(encoder, epochs=0, batch_size=3), tmp_path / "a", resume=False)
    with Network.open(setting(encoder), bias=0.0) as network:
        for row, example in zip(fitted.outputs["test"], task.examples["test"], strict=True):
            (alone,) = network.outputs(network.encode([example]))
            assert row == pytest.approx(alone, abs=1e-5)


def test_progress():
    progress = Progress()
    assert progress.best_epoch == 0
    progress.step, progress.loss, progress.seconds = 4, 2.0, 1.5
    progress.finish_epoch(0.7)
    assert progress.epochs == [{"number": 1, "loss": 0.5, "figure": 0.7, "seconds": 1.5}]
    assert (progress.epoch, progress.step, progress.loss, progress.seconds) == (2, 0, 0, 0)


# Schedule and batches


def rates(task, **changes) -> list[float]:
    class Deaf:
        def encode(self, examples):
            return [*examples]

    run = module._Run(task, setting("x", **changes), Deaf(), Path("x"))
    return [run._rate(update) for update in range(1, 1 + changes["epochs"] * STEPS)]


def test_a_constant_rate(task):
    assert rates(task, epochs=2) == [1e-3] * 12


def test_a_falling_rate(task):
    found = rates(task, epochs=2, decay="linear")
    assert found == pytest.approx([1e-3 * (12 - n) / 12 for n in range(12)])


@pytest.mark.parametrize("warmup", [0.1, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("decay", ["none", "linear"])
def test_a_rising_rate(task, decay, warmup):
    found = np.array(rates(task, epochs=2, decay=decay, warmup=warmup))
    rising = int(warmup * 12)
    assert (found <= 1e-3).all()
    assert (found > 0).all()
    expected = [1e-3 * (n + 1) / (warmup * 12) for n in range(rising)]
    assert found[:rising] == pytest.approx(expected)
    steps = np.diff(found[rising:])
    assert (steps == 0).all() if decay == "none" else (steps <= 0).all()


def test_batches(encoder, task, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 2)
    with Network.open(setting(encoder), bias=0.0) as network:
        run = module._Run(task, setting(encoder, batch_size=5), network, Path("x"))
    first, second = run._batches(1), run._batches(2)
    for batches in (first, second):
        assert sorted(n for batch in batches for n in batch) == list(range(48))
        assert sorted(len(batch) for batch in batches) == [3, *[5] * 9]
    assert first == run._batches(1) != second


# What is said


def test_epochs_are_told(encoder, task, tmp_path):
    said: list[str] = []
    labels: list[str] = []
    with listening(said.append), reporting(lambda label, done, total: labels.append(label)):
        fitted = fit(task, setting(encoder), tmp_path / "a", resume=False)
    assert [line.partition(":")[0] for line in said] == ["epoch 1 of 2", "epoch 2 of 2"]
    assert f"validation accuracy {fitted.epochs[0]['figure']:.4f}" in said[0]
    assert any(label.startswith("epoch 2 of 2 (before: epoch 1 of 2: loss") for label in labels)


# Bad luck


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_loss_that_is_no_number(encoder, task, tmp_path, value):
    class Lost(Preference):
        def loss(self, outputs, targets):
            return super().loss(outputs, targets) * float(value)

    with pytest.raises(UsageError, match="the loss is") as caught:
        fit(Lost(task.pairs), setting(encoder), tmp_path / "a", resume=False)
    assert "--learning-rate" in str(caught.value)


def test_no_memory(encoder, task, tmp_path):
    class Large(Preference):
        def loss(self, outputs, targets):
            raise RuntimeError("CUDA out of memory")

    with pytest.raises(MissingResourceError, match="batch of 8") as caught:
        fit(Large(task.pairs), setting(encoder), tmp_path / "a", resume=False)
    assert "--batch-size" in str(caught.value)


def test_no_device(encoder, task, tmp_path):
    with pytest.raises(MissingResourceError, match="cuda:7"):
        fit(task, setting(encoder, device="cuda:7"), tmp_path / "a", resume=False)


class TestSettings:
    @pytest.mark.parametrize(
        "changes",
        [
            {"epochs": -1},
            {"batch_size": 0},
            {"rate": 0.0},
            {"rate": float("nan")},
            {"limit": 0},
            {"warmup": 1.5},
            {"warmup": float("nan")},
            {"weight_decay": -1.0},
            {"seed": -1},
            {"seed": 2**64},
            {"dtype": "float16"},
            {"decay": "cosine"},
        ],
    )
    def test_not_possible(self, changes):
        with pytest.raises(UsageError, match=next(iter(changes))):
            setting("x", **changes)

    def test_the_encoder_counts_by_its_hash(self, encoder, tmp_path):
        there = shutil.copytree(encoder, tmp_path / "there")
        runs = [_identity(setting(str(folder)), ()) for folder in (encoder, there)]
        assert runs[0] == runs[1]


# The network


class TestEncoders:
    def test_a_language_model(self, tmp_path):
        gpt = made_models.causal(tmp_path / "gpt")
        with (
            pytest.raises(DataError, match="cannot carry a head"),
            Network.open(setting(gpt), bias=0.0),
        ):
            pass

    def test_a_pickle(self, encoder, tmp_path):
        folder = tmp_path / "pickled"
        folder.mkdir()
        for name in ("config.json", "tokenizer.json"):
            (folder / name).write_bytes((Path(encoder) / name).read_bytes())
        (folder / "pytorch_model.bin").write_bytes(b"\x80\x04N.")
        with (
            pytest.raises(MissingResourceError, match="pickle"),
            Network.open(setting(str(folder)), bias=0.0),
        ):
            pass

    def test_missing(self, monkeypatch, tmp_path):
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
        with (
            pytest.raises(MissingResourceError, match="no/such-model"),
            Network.open(setting("no/such-model"), bias=0.0),
        ):
            pass

    @pytest.mark.parametrize("labels", [1, 3])
    def test_a_trained_head_is_forgotten(self, tmp_path, labels):
        import torch

        folder = made_models.regressor(tmp_path / "trained", labels=labels)
        heads = []
        for seed in (1, 2):
            with Network.open(setting(folder, seed=seed), bias=0.5) as network:
                heads.append(
                    {k: v.clone() for k, v in network.weights().items() if "classifier" in k}
                )
        assert [*heads[0]["classifier.weight"].shape] == [1, made_models.WIDTH]
        assert heads[0]["classifier.bias"].tolist() == [0.5]
        assert heads[0]["classifier.weight"].abs().max() < 0.2  # those of the file are ten times
        assert not torch.equal(heads[0]["classifier.weight"], heads[1]["classifier.weight"])

    def test_weights_of_its_own_are_missing(self, encoder, tmp_path):
        from safetensors.torch import load_file, save_file

        folder = tmp_path / "short"
        shutil.copytree(encoder, folder)
        weights = load_file(folder / "model.safetensors")
        save_file(
            {k: v for k, v in weights.items() if "layer.1" not in k}, folder / "model.safetensors"
        )
        with (
            pytest.raises(DataError, match="lacks weights of its own"),
            Network.open(setting(str(folder)), bias=0.0),
        ):
            pass

    def test_roberta_has_a_deeper_head(self, tmp_path, task):
        transformers = pytest.importorskip("transformers")
        made_models.seq2seq(tmp_path / "bart")
        tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "bart")
        folder = tmp_path / "roberta"
        tokenizer.save_pretrained(folder)
        config = transformers.RobertaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=130,
            pad_token_id=1,
        )
        transformers.RobertaModel(config).save_pretrained(folder)
        fitted = fit(task, setting(str(folder), epochs=1), tmp_path / "a", resume=False)
        assert np.isfinite(fitted.outputs["test"]).all()


class TestPrecision:
    @pytest.mark.parametrize("capable", [True, False])
    def test_auto_asks_the_processor(self, encoder, monkeypatch, capable):
        import torch

        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: capable, raising=False)
        with Network.open(setting(encoder), bias=0.0) as network:
            assert network.dtype == ("bfloat16" if capable else "float32")

    @pytest.mark.parametrize("capability", [(7, 5), (8, 0), (9, 0)])
    def test_auto_asks_the_gpu(self, capability):
        class Cuda:
            type = "cuda"

            def get_device_capability(self, device):
                return capability

        class Torch:
            cuda = Cuda()

        found = network_module._dtype(setting("x", device="cuda"), Torch(), Cuda())
        assert found == ("bfloat16" if capability[0] >= 8 else "float32")

    def test_weights_stay_in_single_precision(self, encoder, task, tmp_path):
        import torch
        from safetensors.torch import load_file

        fit(task, setting(encoder, epochs=1, dtype="bfloat16"), tmp_path / "a", resume=False)
        weights = load_file(tmp_path / "a" / "model.safetensors")
        assert {tensor.dtype for tensor in weights.values()} == {torch.float32}


def test_long_texts_are_cut_and_counted(encoder):
    with Network.open(setting(encoder, limit=10), bias=0.0) as network:
        short, long = network.encode([Example(("a cat", "a")), Example(("a", "cat " * 50))])
    assert (short.truncated, long.truncated) == (False, True)
    assert long.length == 10


def test_files_are_readable_as_others(encoder, task, tmp_path):
    before = os.umask(0o022)
    try:
        fit(task, setting(encoder, epochs=0), tmp_path / "a", resume=False)
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "a").iterdir()}
    assert modes == {0o644}
