"""IMPARA's training from end to end, its card, and what it refuses."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

import made_models
import made_training
from grammeter.core import DataError, MissingResourceError, UsageError
from grammeter.metrics import Impara
from grammeter.models import find_model, read_card
from grammeter.training.pairs import Pair, Preference, pairs_of
from grammeter.training.results import card_page, interval, weights_hash
from grammeter.verbs import train_impara


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return made_models.encoder(tmp_path_factory.mktemp("impara") / "encoder")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    return made_training.write_m2(tmp_path_factory.mktemp("impara") / "data.m2")


def train(data, encoder, folder, *, pairs=60, resume=False, loss="sigmoid", **changes):
    options = {"epochs": 1, "batch_size": 16, "learning_rate": 1e-3, "pairs": pairs, **changes}
    return train_impara([data], folder, encoder=str(encoder), resume=resume, loss=loss, **options)


@pytest.fixture(scope="module")
def trained(data, encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "model"
    return folder, train(data, encoder, folder)


def test_losses_are_those_of_the_public_program(shared):
    """QualityEstimatorForTrain of gotutiyan/IMPARA: five Adam steps on all pairs, no dropout."""
    import torch
    import transformers

    folder = shared / "golden" / "neural"
    golden = json.loads((folder / "impara_train.json").read_text("utf-8"))
    place = folder / "tiny_models" / "impara-qe"
    tokenizer = transformers.AutoTokenizer.from_pretrained(place, local_files_only=True)
    model = transformers.BertForSequenceClassification.from_pretrained(
        place, local_files_only=True
    ).eval()
    flat = [text for pair in golden["pairs"] for text in pair]
    inputs = tokenizer(flat, padding=True, truncation=True, max_length=128, return_tensors="pt")
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    task, losses = Preference(()), []
    for step in range(5):
        outputs = model(**inputs).logits[:, 0].reshape(-1, 2)
        if not step:
            assert outputs[:, 0].tolist() == pytest.approx(golden["logits_low"], abs=1e-5)
            assert outputs[:, 1].tolist() == pytest.approx(golden["logits_high"], abs=1e-5)
        loss = task.loss(outputs, None)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    expected = golden["loss_adam_lr1e-3_full_batch_no_dropout"]
    assert losses[0] == pytest.approx(expected[0], abs=1e-5)
    assert losses == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("loss", ["sigmoid", "logistic"])
def test_loss_by_hand(loss):
    torch = pytest.importorskip("torch")
    outputs = [(0.5, 1.0), (2.0, -1.0), (0.0, 0.0)]
    by_hand = {
        "sigmoid": lambda low, high: 1 / (1 + math.exp(high - low)),
        "logistic": lambda low, high: math.log(1 + math.exp(low - high)),
    }[loss]
    expected = sum(by_hand(low, high) for low, high in outputs) / 3
    found = Preference((), loss).loss(torch.tensor(outputs), None)
    assert float(found) == pytest.approx(expected, abs=1e-6)


class TestCard:
    def test_says_what_was_done(self, trained, data, encoder):
        folder, card = trained
        pairs = pairs_of(folder)
        assert len(pairs) == 60
        assert card["data"]["pairs"] == {"train": 48, "validation": 6, "test": 6}
        assert card["data"]["files"] == [str(data)]
        assert card["data"]["edits_from"] == "given"
        assert (card["data"]["sentences"], card["data"]["edits"]) == (54, 108)
        assert card["data"]["inclusion_share"] == sum(p.inclusion for p in pairs) / 60
        assert card["data"]["truncated"] == {"train": 0, "validation": 0, "test": 0}
        assert card["encoder"] == {"name": encoder, "hash": find_model(encoder).hash}
        assert card["settings"]["loss"] == "sigmoid"
        assert card["environment"]["threads"] >= 1
        assert card["weights"] == weights_hash(folder)
        assert card["model"] == find_model(str(folder)).hash
        assert card["best_epoch"] == 1

    def test_is_what_was_written_without_nan(self, trained):
        folder, card = trained
        text = (folder / "card.json").read_text("utf-8")
        assert "NaN" not in text
        assert json.loads(text) == card == read_card(folder)

    def test_page(self, trained):
        folder, card = trained
        page = (folder / "README.md").read_text("utf-8")
        assert page == card_page(card)
        assert card["weights"] in page
        assert "- best epoch: 1\n" in page
        assert "| epoch 1 | number 1, loss" in page
        assert "impara(model=FOLDER)" in page
        holed = card_page({**card, "results": {"test accuracy": None}, "epochs": []})
        assert "undefined" in holed

    def test_damaged(self, trained, tmp_path):
        shutil.copytree(trained[0], tmp_path / "a")
        (tmp_path / "a" / "card.json").write_text("{")
        with pytest.raises(MissingResourceError, match="card"):
            read_card(tmp_path / "a")

    @pytest.mark.parametrize("text", ["[]", "{}", '{"kind": "other"}'])
    def test_of_others(self, tmp_path, text):
        (tmp_path / "card.json").write_text(text)
        assert read_card(tmp_path) is None
        assert read_card(tmp_path / "nothing") is None


def test_accuracy_equals_that_of_scoring(trained, encoder):
    """The trained model asked by the metric's room prefers what the card counted."""
    from grammeter.models import Regression, Request, answer

    folder, card = trained
    tests = [pair for pair in pairs_of(folder) if pair.part == "test"]
    low, high = (
        answer([Request(str(folder), Regression(), [getattr(p, side) for p in tests])])[0][:, 0]
        for side in ("low", "high")
    )
    assert card["results"]["test accuracy"] == float(np.mean(high > low))


class TestResuming:
    def test_a_finished_run_is_returned(self, trained, data, encoder):
        folder, card = trained
        before = (folder / "model.safetensors").stat().st_mtime_ns
        assert train(data, encoder, folder, resume=True) == card
        assert (folder / "model.safetensors").stat().st_mtime_ns == before

    def test_left_checkpoints_are_cleared(self, trained, data, encoder, tmp_path):
        shutil.copytree(trained[0], tmp_path / "a")
        (tmp_path / "a" / "checkpoint").mkdir()
        train(data, encoder, tmp_path / "a", resume=True)
        assert not (tmp_path / "a" / "checkpoint").exists()

    def test_it_needs_the_flag(self, trained, data, encoder):
        with pytest.raises(UsageError, match="not empty") as caught:
            train(data, encoder, trained[0])
        assert "--resume" in str(caught.value)

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"epochs": 3}, "epochs was 1, is 3"),
            ({"learning_rate": 1.0}, "rate was 0.001, is 1.0"),
            ({"seed": 2}, "seed was 1, is 2"),
            ({"pairs": 50}, "pairs was 60, is 50"),
            ({"loss": "logistic"}, "loss was sigmoid, is logistic"),
        ],
    )
    def test_other_options(self, trained, data, encoder, changes, told):
        before = (trained[0] / "pairs.jsonl").read_bytes()
        with pytest.raises(UsageError, match="another run") as caught:
            train(data, encoder, trained[0], resume=True, **changes)
        assert told in str(caught.value)
        assert (trained[0] / "pairs.jsonl").read_bytes() == before

    def test_other_data(self, trained, data, encoder, tmp_path):
        other = tmp_path / "other.m2"
        other.write_text(data.read_text("utf-8").replace("walked", "went"), "utf-8")
        with pytest.raises(UsageError, match="files was"):
            train(other, encoder, trained[0], resume=True)

    def test_another_encoder(self, trained, data, tmp_path):
        other = made_models.encoder(tmp_path / "other", seed=9)
        with pytest.raises(UsageError, match="encoder was"):
            train(data, other, trained[0], resume=True)

    def test_the_same_data_elsewhere(self, trained, data, encoder, tmp_path):
        shutil.copy(data, tmp_path / "moved.m2")
        shutil.copytree(encoder, tmp_path / "moved")
        card = train(tmp_path / "moved.m2", str(tmp_path / "moved"), trained[0], resume=True)
        assert card == trained[1]

    def test_a_folder_of_something_else(self, data, encoder, tmp_path):
        (tmp_path / "letter.txt").write_text("dear")
        with pytest.raises(UsageError, match="belongs to another run: metric was None, is impara"):
            train(data, encoder, tmp_path, resume=True)

    @pytest.mark.parametrize("name", ["pairs.jsonl", "draws.json"])
    def test_damaged_data(self, trained, data, encoder, tmp_path, name):
        folder = tmp_path / "a"
        shutil.copytree(trained[0], folder)
        (folder / "card.json").unlink()
        (folder / name).write_text('{"tally": {"x": 1}\n')
        with pytest.raises(DataError, match=name.replace(".", r"\.")):
            train(data, encoder, folder, resume=True)

    def test_lost_pairs(self, trained, data, encoder, tmp_path):
        folder = tmp_path / "a"
        shutil.copytree(trained[0], folder)
        (folder / "card.json").unlink()
        (folder / "pairs.jsonl").unlink()
        with pytest.raises(DataError, match="cannot be read"):
            train(data, encoder, folder, resume=True)


class TestBadInput:
    def test_an_empty_file(self, encoder, tmp_path):
        path = tmp_path / "empty.m2"
        path.write_text("")
        with pytest.raises(DataError, match=r"empty\.m2"):
            train(path, encoder, tmp_path / "a")
        # what failed before it had data does not stand in the way
        assert train(made_training.write_m2(path), encoder, tmp_path / "a", epochs=0)

    def test_too_few_sentences(self, encoder, tmp_path):
        path = tmp_path / "few.m2"
        path.write_text("S the cat\nA 0 1|||R|||a|||REQUIRED|||-NONE-|||0\n")
        with pytest.raises(DataError, match="no pairs for"):
            train(path, encoder, tmp_path / "a")

    def test_no_edit(self, encoder, tmp_path):
        path = tmp_path / "none.m2"
        path.write_text("S the cat\n\nS a dog\n")
        with pytest.raises(DataError, match=r"none\.m2.*no sentence has an edit"):
            train(path, encoder, tmp_path / "a")

    def test_no_file(self, encoder, tmp_path):
        with pytest.raises(DataError, match=r"nothing\.m2"):
            train(tmp_path / "nothing.m2", encoder, tmp_path / "a")
        with pytest.raises(UsageError, match="no data"):
            train_impara([], tmp_path / "a", encoder=str(encoder))

    def test_unequal_lengths(self, encoder, tmp_path):
        (tmp_path / "s").write_text("the cat\na dog\n")
        (tmp_path / "t").write_text("a cat\n")
        with pytest.raises(DataError, match="2 lines"):
            train(f"{tmp_path / 's'}:{tmp_path / 't'}", encoder, tmp_path / "a")

    def test_an_unknown_loss(self, data, encoder, tmp_path):
        with pytest.raises(UsageError, match="hinge"):
            train(data, encoder, tmp_path / "a", loss="hinge")

    def test_a_missing_encoder_leaves_nothing_behind(self, data, tmp_path, monkeypatch):
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
        with pytest.raises(MissingResourceError, match="no/such-model"):
            train(data, "no/such-model", tmp_path / "a")
        assert not (tmp_path / "a").exists()

    @pytest.mark.parametrize("name", ["file", "file/inside"])
    def test_a_folder_that_cannot_be_made(self, data, encoder, tmp_path, name):
        (tmp_path / "file").write_text("x")
        with pytest.raises(UsageError, match="cannot be written"):
            train(data, encoder, tmp_path / name)


def test_texts_in_place_of_edits(encoder, tmp_path):
    """Edits are extracted, and the card says by what; long texts are counted."""
    made = made_training.sentences()
    long = " cat" * 130
    sources = [s.source + (long if n % 9 == 0 else "") for n, s in enumerate(made)]
    targets = [
        s.text(range(len(s.edits))) + (long if n % 9 == 0 else "") for n, s in enumerate(made)
    ]
    (tmp_path / "s").write_text("\n".join(sources) + "\n", "utf-8")
    (tmp_path / "t").write_text("\n".join(targets) + "\n", "utf-8")
    card = train_impara(
        [f"{tmp_path / 's'}:{tmp_path / 't'}"],
        tmp_path / "a",
        encoder=str(encoder),
        epochs=0,
        pipeline="neutral",
        pairs=10**6,
    )
    assert "pipeline neutral" in card["data"]["edits_from"]
    assert len(card["data"]["files"]) == 2
    cut = card["data"]["truncated"]
    long_pairs = [pair for pair in pairs_of(tmp_path / "a") if long in pair.low]
    assert 0 < sum(cut.values()) == len(long_pairs)
    assert card["epochs"] == []
    assert card["best_epoch"] == 0


def test_edits_that_cannot_be_applied_are_counted(encoder, tmp_path):
    end = "|||REQUIRED|||-NONE-|||0\n"
    blocks = [
        f"S a b c {number}\nA 0 1|||R|||x{end}A 0 2|||R|||y{end}A 2 3|||R|||c{end}\n"
        for number in range(30)
    ]
    (tmp_path / "a.m2").write_text("".join(blocks))
    card = train_impara(
        [tmp_path / "a.m2"], tmp_path / "a", encoder=str(encoder), epochs=0, pairs=20
    )
    assert (card["data"]["edits"], card["data"]["left_out"]) == (30, 60)


class TestHash:
    """What our training writes beside a model is no part of it."""

    def test_equal_for_equal_weights(self, trained, tmp_path):
        bare = tmp_path / "bare"
        shutil.copytree(trained[0], bare)
        for name in ("card.json", "training.json", "draws.json", "README.md", "pairs.jsonl"):
            (bare / name).unlink()
        assert find_model(str(bare)).hash == find_model(str(trained[0])).hash

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
    def test_another_for_other_files(self, trained, tmp_path, name):
        other = tmp_path / "other"
        shutil.copytree(trained[0], other)
        (other / name).write_bytes((other / name).read_bytes() + b" ")
        assert find_model(str(other)).hash != find_model(str(trained[0])).hash


class TestScoring:
    """``impara(model=FOLDER)`` needs no more than the folder."""

    def test_the_encoder_is_that_of_the_card(self, trained, encoder):
        impara = Impara(model=str(trained[0]))
        assert impara.models() == {"model": str(trained[0]), "similarity": encoder}
        signature = impara.signature()
        assert signature["similarity"] == encoder
        assert signature["similarity-hash"] == trained[1]["encoder"]["hash"]
        assert signature["model-hash"] == trained[1]["model"]
        assert str(impara) == f"impara(model={trained[0]})"

    def test_another_one_may_be_named(self, trained, tmp_path):
        other = made_models.encoder(tmp_path / "other", seed=9)
        assert Impara(model=str(trained[0]), similarity=other).models()["similarity"] == other

    def moved(self, trained, encoder, tmp_path):
        """Return a model and its encoder in places of their own."""
        shutil.copytree(encoder, tmp_path / "encoder")
        shutil.copytree(trained[0], tmp_path / "model")
        path = tmp_path / "model" / "card.json"
        card = json.loads(path.read_text("utf-8"))
        card["encoder"]["name"] = str(tmp_path / "encoder")
        path.write_text(json.dumps(card), "utf-8")
        return Impara(model=str(tmp_path / "model"))

    def test_a_changed_encoder(self, trained, encoder, tmp_path):
        impara = self.moved(trained, encoder, tmp_path)
        assert impara.models()["similarity"] == str(tmp_path / "encoder")
        made_models.encoder(tmp_path / "encoder", seed=9)
        with pytest.raises(DataError, match="or is another one now"):
            _ = impara.notice

    def test_a_lost_encoder(self, trained, encoder, tmp_path):
        impara = self.moved(trained, encoder, tmp_path)
        shutil.rmtree(tmp_path / "encoder")
        with pytest.raises(MissingResourceError, match="encoder"):
            _ = impara.notice

    @pytest.mark.parametrize("encoder_entry", [None, {}, "x"])
    def test_a_card_without_an_encoder(self, trained, encoder, tmp_path, encoder_entry):
        impara = self.moved(trained, encoder, tmp_path)
        path = tmp_path / "model" / "card.json"
        card = {**json.loads(path.read_text("utf-8")), "encoder": encoder_entry}
        path.write_text(json.dumps(card), "utf-8")
        with pytest.raises(
            DataError, match="the encoder that the model was trained from is not named"
        ):
            impara.models()

    @pytest.mark.parametrize("text", [None, "{}", '{"kind": "training-card", "metric": "some"}'])
    def test_no_card_of_impara(self, trained, encoder, tmp_path, text):
        impara = self.moved(trained, encoder, tmp_path)
        path = tmp_path / "model" / "card.json"
        path.unlink()
        if text:
            path.write_text(text, "utf-8")
        assert impara.models()["similarity"] == "bert-base-cased"


class TestInterval:
    def test_groups_are_drawn_whole(self):
        values = np.array([1.0] * 50 + [0.0] * 50)
        single = interval(values, [str(n) for n in range(100)], seed=1)
        pairs = interval(values, [str(n // 10) for n in range(100)], seed=1)
        assert 0.35 < single[0] < 0.45 < 0.55 < single[1] < 0.65
        assert pairs[0] < single[0] < single[1] < pairs[1]

    def test_the_same_whatever_the_groups_are_called(self):
        values = np.array([1.0, 0, 1, 1, 0, 0])
        assert interval(values, [*"aabbcc"], seed=3) == interval(values, [*"xxyyzz"], seed=3)

    def test_nothing(self):
        assert np.isnan(interval(np.array([]), [], seed=1)).all()


def test_pairs_without_inclusion_count_apart(trained):
    """The results are those of a slow count."""
    from grammeter.training.fit import Fitted
    from grammeter.training.network import Settings
    from grammeter.training.pairs import PairData
    from grammeter.training.results import _accuracies

    pairs = tuple(
        Pair(part, f"s{n}", f"l{n}", f"h{n}", (n % 2,), (1,) if n % 2 == 0 else (0, 1), 0, 1, "")
        for n, part in enumerate(["validation"] * 4 + ["test"] * 3)
    )
    outputs = {
        "validation": np.array([[0.0, 1], [0, 1], [1, 0], [0, 0]]),
        "test": np.array([[0.0, 1], [1, 0], [0, 1]]),
    }
    settings = Settings(encoder="x")
    fitted = Fitted(settings, "accuracy", [], 0, outputs, {}, "float32", {})
    found = _accuracies(PairData(pairs), fitted, 1)
    assert found["validation accuracy"] == 0.5
    assert found["validation pairs without inclusion"] == 2
    assert found["validation accuracy without inclusion"] == 0.5
    assert found["test accuracy without inclusion"] == 1.0
    assert found["test pairs whose better side has more edits"] == 1
