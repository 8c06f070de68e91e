"""Language models answer as the published programs do, in any batch, and refuse what is none."""

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
from grammeter.models import encoder, likelihood
from grammeter.models.files import find_model
from grammeter.models.loading import Loaded
from grammeter.models.runtime import Runtime, using
from grammeter.models.service import Likelihood, Perplexity, Request, answer


@pytest.fixture(scope="module")
def causal(tmp_path_factory) -> str:
    return made_models.causal(tmp_path_factory.mktemp("causal") / "model")


@pytest.fixture(scope="module")
def bart(tmp_path_factory) -> str:
    return made_models.seq2seq(tmp_path_factory.mktemp("seq2seq") / "model")


def figures(model, items, *, measure=None, budget=None, **runtime):
    """Return figures, what was cut, and what it cost."""
    measure = measure or (Perplexity() if isinstance(items[0], str) else Likelihood())
    with using(Runtime(batch_tokens=budget, **runtime)) as here:
        (rows,) = answer([Request(model, measure, items)])
    return rows[:, 0], rows[:, 1].tolist(), here.tally


# Goldens: bart_score.py of pygongnlp/PT-M2 67ef575, gotutiyan/scribendi_score 5f0e9d3


def read_lines(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")[:22]


def edge_pairs(golden: Path) -> list[tuple[str, str]]:
    pairs = json.loads((golden / "data" / "edge_pairs.json").read_text("utf-8"))
    return [(pair["source"], pair["hypothesis"]) for pair in pairs]


@pytest.mark.parametrize("budget", [50, 100_000])
def test_likelihoods_are_the_published_ones(shared, budget):
    golden = shared / "golden" / "neural"
    model = str(golden / "tiny_models" / "bart")
    expected = json.loads((golden / "bartscore.json").read_text("utf-8"))
    source = read_lines(golden / "data" / "source.txt")
    for letter in "ABC":
        pairs = zip(source, read_lines(golden / "data" / f"hyp{letter}"), strict=True)
        values, cut, _ = figures(model, list(pairs), budget=budget)
        assert values == pytest.approx(expected[letter]["source_to_hypothesis"], abs=1e-5)
        assert not any(cut)
    values, cut, _ = figures(model, edge_pairs(golden), budget=budget)
    for number, value in expected["edge_source_to_hypothesis"].items():
        assert values[int(number)] == pytest.approx(value, abs=1e-5)
    assert [at for at, count in enumerate(cut) if count] == [12, 13]


@pytest.mark.parametrize("budget", [50, 100_000])
def test_perplexities_are_the_published_ones(shared, budget):
    golden = shared / "golden" / "neural"
    expected = json.loads((golden / "scribendi.json").read_text("utf-8"))["edge"]
    for side, name in enumerate(("ppl_source", "ppl_hypothesis")):
        texts = [pair[side] for pair in edge_pairs(golden)]
        values, cut, _ = figures(str(golden / "tiny_models" / "gpt2"), texts, budget=budget)
        theirs = np.array([math.nan if x is None else x for x in expected[name]])
        assert values[expected["lines"]] == pytest.approx(theirs, rel=1e-5, nan_ok=True)
        assert [at for at, count in enumerate(cut) if count] == [12, 13]


# Slow twins: one text at a time, nothing padded


@cache
def loaded(folder: str, kind: str):
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer, getattr(transformers, kind).from_pretrained(folder).eval()


def twin_perplexity(folder: str, text: str) -> float:
    import torch

    tokenizer, network = loaded(folder, "GPT2LMHeadModel")
    ids = torch.tensor([tokenizer("<|endoftext|>" + text)["input_ids"]])
    with torch.no_grad():
        logs = network(ids).logits[0].log_softmax(-1)
    logarithms = [float(logs[at, token]) for at, token in enumerate(ids[0, 1:].tolist())]
    return math.exp(-sum(logarithms) / len(logarithms)) if logarithms else math.nan


def twin_likelihood(folder: str, pair: tuple[str, str]) -> float:
    import torch

    tokenizer, network = loaded(folder, "BartForConditionalGeneration")
    condition, text = (tokenizer(one, return_tensors="pt")["input_ids"] for one in pair)
    with torch.no_grad():
        return -float(network(input_ids=condition, labels=text).loss)


texts = st.lists(st.sampled_from(["the", "cat", "goes", ",", "Zebra", "é"]), max_size=6).map(
    " ".join
)
budgets = st.sampled_from([1, 20, 1000])


@settings(deadline=None, max_examples=15)
@given(st.lists(texts, min_size=1, max_size=6), budgets)
def test_perplexities_of_the_slow_twin(causal, items, budget):
    values, cut, _ = figures(causal, items, budget=budget)
    expected = [twin_perplexity(causal, text) for text in items]
    assert values == pytest.approx(expected, rel=1e-5, nan_ok=True)
    assert not any(cut)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6), budgets)
def test_likelihoods_of_the_slow_twin(bart, items, budget):
    values, cut, _ = figures(bart, items, budget=budget)
    assert values == pytest.approx([twin_likelihood(bart, pair) for pair in items], abs=1e-5)
    assert not any(cut)


TEXTS = ["the cat", "she went to school , however .", "a dog " * 8, "it", "she went"]
PAIRS = [(first, second) for first in (*TEXTS, "") for second in (*TEXTS, "")]


@pytest.mark.parametrize("budget", [1, 30, 10_000])
def test_batches_and_order_do_not_matter(causal, bart, budget, monkeypatch):
    monkeypatch.setattr(likelihood, "_SLICE", 20_000)  # predictions in slices of sixty or so
    for model, items in ((causal, TEXTS), (bart, PAIRS)):
        expected, _, _ = figures(model, items)
        again, _, _ = figures(model, items[::-1], budget=budget)
        assert again[::-1] == pytest.approx(expected, rel=1e-6)


def test_chunks_do_not_matter(bart, monkeypatch):
    expected, _, whole = figures(bart, PAIRS)
    monkeypatch.setattr(encoder, "STATE_NUMBERS", 10 * 32)
    again, _, tally = figures(bart, PAIRS)
    assert again == pytest.approx(expected, rel=1e-6)
    assert (tally.texts, tally.tokens) == (whole.texts, whole.tokens)


# What is read, and how often


def test_equal_tokens_go_through_once(causal, bart):
    values, _, tally = figures(causal, ["the cat", "a dog", "the cat"])
    assert values[0] == values[2] != values[1]
    assert tally.texts == 2
    pairs = [("the cat", "a dog"), ("a dog", "the cat"), ("the cat", "the cat"), ("the cat", "it")]
    values, _, tally = figures(bart, pairs)
    assert tally.texts == 2 + 4  # encoded, decoded
    assert len(set(values)) == 4


def test_texts_with_the_same_tokens_have_the_same_figure(tmp_path):
    import transformers
    from tokenizers import normalizers

    for make in (made_models.causal, made_models.seq2seq):
        folder = make(tmp_path / make.__name__)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
        tokenizer.save_pretrained(folder)
    values, _, tally = figures(str(tmp_path / "causal"), ["the cat", "THE cat", "a " * 30])
    assert values[0] == values[1]
    assert tally.texts == 2
    pairs = [("A dog", "the cat"), ("a dog", "THE cat"), ("a " * 30, "a " * 30)]
    values, _, tally = figures(str(tmp_path / "seq2seq"), pairs)
    assert values[0] == values[1]
    assert tally.texts == 2 + 2


def test_tokens_are_counted(causal, bart):
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(causal)
    short, long = (len(tokenizer(text)["input_ids"]) for text in ("the", "the cat goes"))
    _, _, tally = figures(causal, ["the", "the cat goes"], budget=1000)
    # the start goes in, the last token does not
    assert (tally.texts, tally.tokens, tally.padded) == (2, short + long, 2 * long)
    _, _, tally = figures(bart, [("the", "the")])
    tokenizer = transformers.AutoTokenizer.from_pretrained(bart)
    assert tally.tokens == tally.padded == 2 * len(tokenizer("the")["input_ids"])


# Empty texts and long ones


def test_an_empty_text_has_no_perplexity_but_a_likelihood(causal, bart):
    values, cut, tally = figures(causal, ["", " ", "the cat", ""])
    assert np.isnan(values).tolist() == [True, False, False, True]
    assert cut == [0, 0, 0, 0]
    assert tally.texts == 2
    values, cut, _ = figures(bart, [("", ""), ("", "the cat"), ("the cat", "")])
    assert np.isfinite(values).all()
    assert cut == [0, 0, 0]


def test_nothing_is_cut_for_a_perplexity(causal):
    from transformers import AutoTokenizer

    pieces = len(AutoTokenizer.from_pretrained(causal)("a" * 2)["input_ids"])
    assert pieces == 2  # so each letter is a token
    most = made_models.POSITIONS - 1  # one is the start's
    values, cut, tally = figures(causal, ["a" * most, "a" * (most + 1), "cat " * 2000])
    assert np.isnan(values).tolist() == [False, True, True]
    assert cut == [0, 1, 1]
    assert tally.tokens == most


def test_a_long_text_is_cut_for_a_likelihood(bart):
    long = "cat " * 2000
    values, cut, tally = figures(bart, [(long, long), ("cat", long), (long, "cat"), ("cat", "cat")])
    assert np.isfinite(values).all()
    assert cut == [2, 1, 1, 0]
    assert tally.texts == 2 + 4
    (short,), cut, _ = figures(bart, [("cat", "the cat goes to")], measure=Likelihood(limit=4))
    assert math.isfinite(short)
    assert cut == [1]


def test_nothing_is_asked(causal, bart):
    for model, measure in ((causal, Perplexity()), (bart, Likelihood())):
        assert answer([Request(model, measure, [])])[0].shape == (0, 2)
    values, _, tally = figures(causal, [""])
    assert math.isnan(values[0])
    assert tally.texts == 0


# Memory, number types, progress


@pytest.mark.parametrize("kind", ["causal", "bart"])
def test_where_memory_ends_batches_are_halved(kind, request, monkeypatch):
    model = request.getfixturevalue(kind)
    items = TEXTS if kind == "causal" else PAIRS
    expected, _, whole = figures(model, items)
    sizes = []
    padded = Loaded.padded

    def narrow(loaded, rows, **options):
        sizes.append(len(rows))
        if len(rows) > 2:
            raise RuntimeError("CUDA out of memory")
        return padded(loaded, rows, **options)

    monkeypatch.setattr(Loaded, "padded", narrow)
    values, _, tally = figures(model, items)
    assert values == pytest.approx(expected, rel=1e-6)
    assert max(sizes) > 2
    assert tally.texts == whole.texts


def test_a_large_vocabulary_makes_batches_smaller(causal, monkeypatch):
    items = ["a" * 20, "b" * 20, "c" * 20]
    _, _, tally = figures(causal, items)
    assert tally.padded == tally.tokens == 60
    news = []
    monkeypatch.setattr(likelihood, "CPU_LOGITS", 25 * 500)
    with reporting(lambda *report: news.append(report)):
        figures(causal, items)
    assert news == [(f"{causal} (batches)", done, 3) for done in range(4)]


def test_progress_counts_the_batches_of_all_chunks(bart, monkeypatch):
    monkeypatch.setattr(encoder, "STATE_NUMBERS", 10 * 32)
    news = []
    with reporting(lambda *report: news.append(report)):
        figures(bart, PAIRS, budget=30)
    label, done, total = news[-1]
    assert label == f"{bart} (batches)"
    assert done == total > 2


def test_shorter_numbers_stay_near(causal, bart):
    for model, items in ((causal, TEXTS), (bart, PAIRS)):
        exact, _, _ = figures(model, items)
        rough, _, _ = figures(model, items, dtype="bfloat16")
        assert np.log(np.abs(rough)) == pytest.approx(np.log(np.abs(exact)), abs=0.1)
        assert not np.array_equal(rough, exact)


def test_logarithms_are_taken_in_single_precision(causal):
    values, _, _ = figures(causal, TEXTS, dtype="bfloat16")
    logs = np.log(values)  # 8 bits of a sum near 6 are steps of 1/32
    assert not np.array_equal(logs * 32, np.rint(logs * 32))


def test_answers_come_batch_by_batch(bart):
    measure = Likelihood()
    pairs = [("the cat", "a dog"), ("a dog", "it"), ("it", "he")]
    answers = likelihood.answer(find_model(bart), {measure: pairs}, Runtime(batch_tokens=1))
    answered, positions, rows = next(answers)
    assert answered is measure
    assert (len(positions), rows.shape) == (1, (1, 2))
    later = [at for _, places, _ in answers for at in places]
    assert sorted([*positions, *later]) == [0, 1, 2]


# Models that do not fit


def error_of(folder: str, items) -> str:
    with pytest.raises((DataError, MissingResourceError)) as caught:
        figures(folder, items)
    assert folder in str(caught.value)
    assert caught.value.fix
    return caught.value.message


MAKERS = {
    "encoder": made_models.encoder,
    "regressor": made_models.regressor,
    "causal": made_models.causal,
    "seq2seq": made_models.seq2seq,
}


@pytest.mark.parametrize("kind", ["encoder", "regressor", "seq2seq"])
def test_a_perplexity_needs_a_language_model(tmp_path, kind):
    assert "model" in error_of(MAKERS[kind](tmp_path / "model"), ["the cat"])


@pytest.mark.parametrize("kind", ["encoder", "regressor", "causal"])
def test_a_likelihood_needs_encoder_and_decoder(tmp_path, kind):
    message = error_of(MAKERS[kind](tmp_path / "model"), [("the cat", "a dog")])
    assert "cannot be loaded as AutoModelForSeq2SeqLM" in message


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_masked_language_model_is_no_causal_one(tmp_path, dtype):
    import transformers

    folder = made_models.encoder(tmp_path / "model")
    config = transformers.BertConfig.from_pretrained(folder)
    made_models._write(transformers.BertForMaskedLM(config), folder)
    with pytest.raises(DataError, match="looks at the tokens that it shall predict"):
        figures(folder, ["the cat"], dtype=dtype)


def test_a_decoder_without_its_encoder_is_no_language_model(bart, tmp_path):
    import transformers
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "model"
    shutil.copytree(bart, folder)
    weights = load_file(folder / "model.safetensors")
    shared = weights["model.shared.weight"]
    weights |= {
        "model.decoder.embed_tokens.weight": shared.clone(),
        "lm_head.weight": shared.clone(),
    }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    transformers.AutoModelForCausalLM.from_pretrained(folder)  # goes without a word
    assert "has an encoder" in error_of(str(folder), ["the cat"])


def test_a_bare_model_without_head_shares_its_embeddings(causal, bart, tmp_path):
    import transformers

    pairs = [("the cat", "a dog")]
    for model, items, kind, inner in (
        (causal, TEXTS, transformers.GPT2LMHeadModel, "transformer"),
        (bart, pairs, transformers.BartForConditionalGeneration, "model"),
    ):
        folder = tmp_path / inner
        shutil.copytree(model, folder)
        getattr(kind.from_pretrained(model), inner).save_pretrained(folder)
        expected, _, _ = figures(model, items)
        assert figures(str(folder), items)[0] == pytest.approx(expected, rel=1e-6)


def test_a_tokenizer_that_marks_no_ends_is_refused(bart, tmp_path):
    shutil.copytree(bart, tmp_path / "model")
    folder = rewritten(tmp_path / "model", "tokenizer.json", post_processor=None)
    assert "reads nothing" in error_of(folder, [("the cat", "")])


def rewritten(folder: Path, file: str, **entries) -> str:
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | entries), encoding="utf-8")
    return str(folder)


def test_a_tokenizer_without_a_start_is_refused(causal, tmp_path):
    shutil.copytree(causal, tmp_path / "model")
    folder = rewritten(tmp_path / "model", "tokenizer_config.json", bos_token=None, eos_token=None)
    assert "no token to begin" in error_of(folder, ["the cat"])


def test_a_decoder_without_a_start_is_refused(bart, tmp_path):
    shutil.copytree(bart, tmp_path / "model")
    folder = rewritten(tmp_path / "model", "config.json", decoder_start_token_id=None)
    assert "decoder_start_token_id" in error_of(folder, [("the cat", "a dog")])
