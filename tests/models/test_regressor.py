"""Regression heads answer as the published programs do, in any batch, and refuse what is none."""

from __future__ import annotations

import json
import math
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import made_models
from grammeter.core import DataError, MissingResourceError, reporting
from grammeter.models import regressor
from grammeter.models.files import find_model
from grammeter.models.loading import load
from grammeter.models.runtime import Runtime, using
from grammeter.models.service import Regression, Request, answer

HEADS = ("pooler", "linear")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return made_models.regressor(tmp_path_factory.mktemp("regressor") / "model")


def figures(model, items, *, head="pooler", limit=128, budget=None, **runtime):
    """Return outputs, what was cut, and what it cost."""
    with using(Runtime(batch_tokens=budget, **runtime)) as here:
        (rows,) = answer([Request(model, Regression(head=head, limit=limit), items)])
    return rows[:, 0], rows[:, 1].tolist(), here.tally


# Goldens: kokeman/SOME 83fd6f0 and gotutiyan/IMPARA 1c5aa97 on tiny models


@pytest.mark.parametrize("budget", [1, 300, 100_000])
def test_outputs_are_the_authors(shared, budget):
    golden = shared / "golden" / "neural"
    tiny = golden / "tiny_models"
    some = json.loads((golden / "some.json").read_text("utf-8"))["edge"]
    logits = json.loads((golden / "impara.json").read_text("utf-8"))["parts"]["edge"]["logit"]
    edge = json.loads((golden / "data" / "edge_pairs.json").read_text("utf-8"))
    pairs = [(pair["source"], pair["hypothesis"]) for pair in edge]
    hypotheses = [hypothesis for _, hypothesis in pairs]
    for name, items, expected in (
        ("some-grammaticality", hypotheses, some["raw_grammaticality"]),
        ("some-fluency", hypotheses, some["raw_fluency"]),
        ("some-meaning", pairs, some["raw_meaning"]),
        ("impara-qe", hypotheses, logits),
    ):
        outputs, cut, _ = figures(str(tiny / name), items, budget=budget)
        assert outputs == pytest.approx(expected, abs=1e-5)
        assert [at for at, is_cut in enumerate(cut) if is_cut] == [12, 13]


# A slow twin: one text at a time, nothing padded


def _parts(item) -> tuple[str, ...]:
    return (item,) if isinstance(item, str) else item


@cache
def opened(model: str):
    import transformers

    network = transformers.BertForSequenceClassification.from_pretrained(model).eval()
    return transformers.AutoTokenizer.from_pretrained(model), network


def twin(model: str, item, head: str) -> float:
    import torch

    tokenizer, network = opened(model)
    # as batches of one: only then does an empty second text make a pair
    inputs = tokenizer(*([part] for part in _parts(item)), return_tensors="pt")
    with torch.no_grad():
        state = network.bert(**inputs).last_hidden_state[0, 0]
        if head == "linear":
            return float((network.classifier.weight[0] * state).sum())
        pooled = torch.tanh(network.bert.pooler.dense(state))
        return float((network.classifier.weight[0] * pooled).sum() + network.classifier.bias[0])


texts = st.lists(st.sampled_from(["the", "cat", "goes", ",", "Zebra", "é"]), max_size=6).map(
    " ".join
)
items = st.lists(texts | st.tuples(texts, texts), min_size=1, max_size=6)


@settings(deadline=None, max_examples=15)
@given(items, st.sampled_from(HEADS), st.sampled_from([1, 20, 1000]))
def test_equals_the_slow_twin(model, items, head, budget):
    outputs, cut, _ = figures(model, items, head=head, budget=budget)
    assert outputs == pytest.approx([twin(model, item, head) for item in items], abs=1e-5)
    assert not any(cut)


@pytest.mark.parametrize("head", HEADS)
def test_batches_and_order_do_not_matter(model, head):
    items = ["the cat", "", "she went to school , however .", ("a cat", "a dog"), "dog " * 40]
    outputs, _, _ = figures(model, items, head=head)
    for budget in (1, 30, 10_000):
        again, _, _ = figures(model, items[::-1], head=head, budget=budget)
        assert again[::-1] == pytest.approx(outputs, abs=2e-6)


def test_segments_tell_a_pair_from_a_text(model):
    (pair, turned, joined), _, _ = figures(
        model, [("the cat", "a dog"), ("a dog", "the cat"), "the cat a dog"]
    )
    assert len({round(value, 5) for value in (pair, turned, joined)}) == 3


def test_equal_tokens_go_through_once(model):
    items = ["the cat", "the  cat ", "a dog", "the cat"]
    outputs, _, tally = figures(model, items)
    assert outputs[0] == outputs[1] == outputs[3] != outputs[2]
    assert (tally.texts, tally.tokens, tally.padded) == (2, 8, 8)


def test_padding_is_counted(model):
    _, _, tally = figures(model, ["the", "the cat goes"], budget=100)
    assert (tally.texts, tally.tokens, tally.padded) == (2, 8, 10)


# Texts that are too long


def test_a_long_text_is_cut_to_128_tokens(model):
    long = "cat " * 2000
    outputs, cut, tally = figures(model, [long, "cat " * 126, "cat " * 127])
    assert cut == [1, 0, 1]
    assert len(set(outputs)) == 1
    assert tally.tokens == 128


def test_of_a_pair_the_longer_side_is_cut_first(model):
    items = [
        ("cat " * 2000, "the dog"),
        ("cat " * 123, "the dog"),  # [CLS] 123 [SEP] 2 [SEP] are 128
        ("the dog", "cat " * 2000),
        ("the dog", "cat " * 123),
        ("cat " * 2000, "dog " * 1000),
        ("cat " * 63, "dog " * 62),
        ("cat " * 1000, "dog " * 2000),
        ("cat " * 62, "dog " * 63),
    ]
    outputs, cut, _ = figures(model, items)
    assert cut == [1, 0] * 4
    assert outputs[0::2] == pytest.approx(outputs[1::2], abs=1e-6)


def test_the_limit_of_the_measure_counts(model):
    (short, cut_short), cut, _ = figures(model, ["the cat", "the cat is good"], limit=4)
    assert cut == [0, 1]
    assert short == pytest.approx(cut_short, abs=1e-6)


# Memory, number types, progress


def test_where_memory_ends_batches_are_halved(model, monkeypatch):
    items = ["the cat", "a dog", "he", "they walk", "it is", "very good house"]
    expected, _, _ = figures(model, items)
    sizes = []
    padded = regressor._padded

    def narrow(loaded, sequences):
        sizes.append(len(sequences))
        if len(sequences) > 2:
            raise RuntimeError("CUDA out of memory")
        return padded(loaded, sequences)

    monkeypatch.setattr(regressor, "_padded", narrow)
    outputs, _, tally = figures(model, items)
    assert outputs == pytest.approx(expected, abs=2e-6)
    assert max(sizes) == 6
    assert tally.texts == 6


@pytest.mark.parametrize("head", HEADS)
def test_shorter_numbers_stay_near(model, head):
    items = ["the cat goes to school .", "they walk"]
    exact, _, _ = figures(model, items, head=head)
    rough, _, _ = figures(model, items, head=head, dtype="bfloat16")
    assert rough == pytest.approx(exact, rel=0.1, abs=0.1)
    assert not np.array_equal(rough, exact)


def test_progress_names_the_model(model):
    reports = []
    with reporting(lambda *news: reports.append(news)):
        figures(model, ["the cat", "a dog"], budget=4)
    assert reports == [(f"{model} (batches)", done, 2) for done in range(3)]


# Models that do not fit


def error_of(folder: str, head: str) -> str:
    with pytest.raises(DataError) as caught:
        figures(folder, ["the cat"], head=head)
    assert caught.value.where == folder
    assert caught.value.fix
    return caught.value.message


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize(
    ("make", "lacking"), [(made_models.causal, "score"), (made_models.encoder, "classifier")]
)
def test_a_model_without_head_is_refused(tmp_path, make, lacking, head):
    message = error_of(make(tmp_path / "model"), head)
    assert "lacks weights" in message
    assert lacking in message


@pytest.mark.parametrize("head", HEADS)
def test_a_head_of_two_figures_is_refused(tmp_path, head):
    folder = made_models.regressor(tmp_path / "model", labels=2)
    assert "gives 2 figures" in error_of(folder, head)


def without(model: str, folder: Path, part: str) -> str:
    """Copy a model, leaving out the weights whose names hold ``part``."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(model, folder)
    weights = load_file(folder / "model.safetensors")
    remaining = {name: tensor for name, tensor in weights.items() if part not in name}
    assert len(remaining) < len(weights)
    save_file(remaining, folder / "model.safetensors", metadata={"format": "pt"})
    return str(folder)


def test_a_missing_pooler_matters_only_to_the_head_that_reads_it(model, tmp_path):
    bare = without(model, tmp_path / "bare", "pooler")
    assert "bert.pooler.dense" in error_of(bare, "pooler")
    linear, _, _ = figures(bare, ["the cat"], head="linear")
    assert linear == pytest.approx(figures(model, ["the cat"], head="linear")[0], abs=1e-6)


def test_other_missing_weights_are_refused(model, tmp_path):
    assert "lacks weights" in error_of(without(model, tmp_path / "bare", "layer.1."), "linear")


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(MissingResourceError, match="no folder"):
        figures(str(tmp_path / "nothing"), ["the cat"])


# Architectures besides BERT


@pytest.fixture(scope="module")
def roberta(tmp_path_factory) -> str:
    """A model without segments; its classifier has two layers; positions start after padding."""
    import transformers

    folder = made_models.seq2seq(tmp_path_factory.mktemp("roberta") / "model")
    size = len(transformers.AutoTokenizer.from_pretrained(folder))
    config = transformers.RobertaConfig(
        vocab_size=size, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=130, type_vocab_size=1, num_labels=1,
        pad_token_id=1, bos_token_id=0, eos_token_id=2,
    )  # fmt: skip
    transformers.RobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("head", HEADS)
def test_a_model_without_segments(roberta, head):
    import torch
    import transformers

    network = transformers.RobertaForSequenceClassification.from_pretrained(roberta).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(roberta)
    items = ["the cat goes to school", ("the cat", "a dog"), "", "cat " * 2000]
    outputs, cut, _ = figures(roberta, items, head=head)
    assert cut == [0, 0, 0, 1]
    for item, output in zip(items, outputs, strict=True):
        ids = tokenizer(*_parts(item), truncation=True, max_length=128)["input_ids"]
        with torch.no_grad():
            if head == "pooler":
                expected = network(torch.tensor([ids])).logits[0, 0]
            else:
                state = network.roberta(torch.tensor([ids])).last_hidden_state[0, 0]
                expected = network.classifier.out_proj.weight[0] @ state
        assert output == pytest.approx(float(expected), abs=1e-5)


def test_a_model_that_cannot_pad_is_refused(tmp_path):
    import transformers

    folder = made_models.causal(tmp_path / "model")
    config = transformers.GPT2Config.from_pretrained(folder, num_labels=1)
    transformers.GPT2ForSequenceClassification(config).save_pretrained(folder)
    assert "padding" in error_of(folder, "pooler")


def test_answers_come_batch_by_batch(model):
    measure = Regression()
    files = find_model(model)
    answers = regressor.answer(
        files, {measure: ["the cat", "a dog", "he"]}, Runtime(batch_tokens=4)
    )
    first = next(answers)
    assert first[0] is measure
    assert [*first[1]] == [0]
    assert first[2].shape == (1, 2)
    assert sorted(at for _, positions, _ in answers for at in positions) == [1, 2]
    assert math.isfinite(first[2][0, 0])
    assert load(files, "AutoModelForSequenceClassification", Runtime()).random == ()
