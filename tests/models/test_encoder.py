"""Similarities of texts equal a slow twin, and do not depend on what is asked together."""

from __future__ import annotations

import json
import math
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import made_models
from grammeter.core import DataError, MissingResourceError, UsageError, reporting
from grammeter.models import encoder
from grammeter.models.encoder import Held, Items, chunks, layer_of
from grammeter.models.files import ModelFiles, find_model
from grammeter.models.runtime import Runtime, using
from grammeter.models.service import MeanSimilarity, Request, TokenSimilarity, answer

PAIRS = [
    ("the cat goes to school .", "the cat went to the school ."),
    ("The Cat goes to school .", "the cat went to the School ."),
    ("he is walking", "they walked very good , however"),
    ("a", "a an the"),
    ("", "a dog"),
    ("a dog", " "),
    ("", ""),
    ("the house " * 90, "the house"),
    ("the same", "the same"),
]
IDF = ("the cat went to the school .", "a dog", "the the the", "")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return made_models.encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def bart(tmp_path_factory) -> str:
    return made_models.seq2seq(tmp_path_factory.mktemp("bart"))


def ask(model, measure, pairs, **runtime):
    with using(Runtime(**runtime)):
        return answer([Request(model, measure, pairs)])[0]


# A slow twin: each text alone through the whole model, each cosine by itself


class Twin:
    def __init__(self, folder, *, before=""):
        import transformers

        kind = transformers.AutoModel.from_pretrained(folder).eval()
        self.model = kind.get_encoder() if kind.config.is_encoder_decoder else kind
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.before = before
        names = ("cls_token_id", "sep_token_id", "bos_token_id", "eos_token_id")
        self.special = {getattr(self.tokenizer, name) for name in names} - {None}

    def read(self, text, limit=128):
        return self.tokenizer(text, truncation=True, max_length=limit)["input_ids"]

    def states(self, tokens, layer):
        import torch

        with torch.no_grad():
            outputs = self.model(torch.tensor([tokens]), output_hidden_states=True)
        return outputs.hidden_states[layer][0].double().numpy()

    def weights(self, tokens, idf):
        if idf is None:
            return [float(token not in self.special) for token in tokens]
        sets = [set(self.read(self.stripped(text))) for text in idf]
        return [
            0.0
            if token in self.special
            else math.log((len(sets) + 1) / (sum(token in text for text in sets) + 1))
            for token in tokens
        ]

    def stripped(self, text):
        return self.before + text.strip() if text.strip() else ""

    def token_similarity(self, pair, layer, idf):
        both = [self.read(self.stripped(text)) for text in pair]
        if any(set(tokens) <= self.special for tokens in both):
            return [0.0, 0.0, 0.0]
        candidate, reference = (self.states(tokens, layer) for tokens in both)

        def cosine(a, b):
            return a @ b / math.sqrt((a @ a) * (b @ b))

        p = [max(cosine(a, b) for b in reference) for a in candidate]
        r = [max(cosine(a, b) for a in candidate) for b in reference]
        p, r = (
            sum(w * s for w, s in zip(ws, side, strict=True)) / sum(ws) if sum(ws) else math.nan
            for ws, side in zip((self.weights(t, idf) for t in both), (p, r), strict=True)
        )
        return [p, r, 0.0 if math.isnan(p + r) or p + r == 0 else 2 * p * r / (p + r)]

    def mean_similarity(self, pair, limit):
        a, b = (self.states(self.read(text, limit), -1).mean(0) for text in pair)
        return a @ b / math.sqrt((a @ a) * (b @ b))


@pytest.fixture(scope="module")
def twin(model):
    return Twin(model)


texts = st.lists(
    st.sampled_from(["the", "The", "cat", "dogs", "walked", ".", "xyz", "12"]), max_size=9
)
pairs = st.lists(st.tuples(texts.map(" ".join), texts.map(" ".join)), min_size=1, max_size=6)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs, st.sampled_from([1, 2]), st.sampled_from([None, IDF]), st.integers(1, 40))
def test_equals_the_twin(model, twin, pairs, layer, idf, budget):
    measure = TokenSimilarity(layer=layer, idf=idf)
    ours = ask(model, measure, pairs, batch_tokens=budget)
    expected = [[*twin.token_similarity(pair, layer, idf), 0] for pair in pairs]
    assert ours == pytest.approx(np.array(expected), abs=2e-6, nan_ok=True)
    means = ask(model, MeanSimilarity(limit=5), pairs, batch_tokens=budget)
    assert means[:, 0] == pytest.approx([twin.mean_similarity(p, 5) for p in pairs], abs=2e-6)


def test_long_and_empty_texts(model, twin):
    for layer, idf in ((1, None), (2, IDF)):
        ours = ask(model, TokenSimilarity(layer=layer, idf=idf), PAIRS)
        expected = [twin.token_similarity(pair, layer, idf) for pair in PAIRS]
        assert ours[:, :3] == pytest.approx(np.array(expected), abs=2e-6, nan_ok=True)
        assert ours[:, 3].tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 0]
        assert ours[4:7, :3].tolist() == [[0, 0, 0]] * 3
    means = ask(model, MeanSimilarity(limit=6), PAIRS)
    expected = [twin.mean_similarity(pair, 6) for pair in PAIRS]
    assert means[:, 0] == pytest.approx(expected, abs=2e-6)
    cut = [sum(len(twin.read(text, 999)) > 6 for text in pair) for pair in PAIRS]
    assert means[:, 1].tolist() == cut


def test_a_sentence_of_two_thousand_tokens(model):
    row = ask(model, TokenSimilarity(layer=2), [("cat " * 2000, "dog " * 2000)])[0]
    assert row[3] == 2
    assert np.isfinite(row).all()


def test_weights_of_zero_leave_precision_undefined(model):
    # the one token stands in every text of the corpus
    measure = TokenSimilarity(layer=1, idf=("the", "the cat"))
    row = ask(model, measure, [("the", "cat")])[0]
    assert math.isnan(row[0])
    assert row[1] > 0
    assert row[2] == 0


def test_the_encoder_of_a_translation_model(bart):
    twin = Twin(bart)
    ours = ask(bart, TokenSimilarity(layer=1), PAIRS)
    assert ours[:, :3] == pytest.approx(
        np.array([twin.token_similarity(pair, 1, None) for pair in PAIRS]), abs=2e-6
    )


def test_distilbert_and_roberta(tmp_path, bart):
    import torch
    import transformers

    torch.manual_seed(5)
    words = made_models.encoder(tmp_path / "bert")
    config = transformers.DistilBertConfig(
        vocab_size=200, dim=32, n_layers=3, n_heads=4, hidden_dim=64, max_position_embeddings=128
    )
    distil = copied(words, tmp_path / "distilbert", transformers.DistilBertModel(config))
    pieces = json.loads((find_model(bart).folder / "tokenizer.json").read_text("utf-8"))
    config = transformers.RobertaConfig(
        vocab_size=len(pieces["model"]["vocab"]), hidden_size=32, num_hidden_layers=3,
        num_attention_heads=4, intermediate_size=64, max_position_embeddings=130, pad_token_id=1,
    )  # fmt: skip
    roberta = copied(bart, tmp_path / "roberta", transformers.RobertaModel(config))
    settings_file = tmp_path / "roberta" / "tokenizer_config.json"
    settings = json.loads(settings_file.read_text("utf-8"))
    settings_file.write_text(json.dumps({**settings, "cls_token": "<s>", "sep_token": "</s>"}))
    for folder, twin in ((distil, Twin(distil)), (roberta, Twin(roberta, before=" "))):
        ours = ask(folder, TokenSimilarity(), PAIRS)
        expected = [twin.token_similarity(pair, 2, None) for pair in PAIRS]
        assert ours[:, :3] == pytest.approx(np.array(expected), abs=2e-6)


def copied(tokenizer, folder, model):
    shutil.copytree(tokenizer, folder)
    (folder / "config.json").unlink()
    model.save_pretrained(folder)
    return str(folder)


# Goldens: bert-score 0.3.13 on a tiny model


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("layer", [1, 2])
def test_figures_of_the_public_program(shared, layer, idf):
    golden = shared / "golden" / "neural"
    figures = json.loads((golden / "bertscore.json").read_text("utf-8"))
    figures = figures[f"layer{layer}" + ("_idf" if idf else "")]
    references = [lines(golden / "data" / "reference" / f"ref{n}") for n in (0, 1)]
    measure = TokenSimilarity(layer=layer, idf=(*references[0], *references[1]) if idf else None)
    model = str(golden / "tiny_models" / "bert-uncased")
    for system in "ABC":
        outputs = lines(golden / "data" / f"hyp{system}")
        for n, texts in enumerate(references):
            ours = ask(model, measure, list(zip(outputs, texts, strict=True)))
            expected = np.array(figures[system][f"ref{n}"]).T
            assert ours[:, :3] == pytest.approx(expected, abs=1e-5)
    if layer == 2:
        edge = json.loads((golden / "data" / "edge_pairs.json").read_text("utf-8"))
        ours = ask(model, measure, [(pair["hypothesis"], pair["source"]) for pair in edge])
        expected = np.array(figures["edge_cand=hypothesis_ref=source"]).T
        assert ours[:, :3] == pytest.approx(expected, abs=1e-5)
        assert ours[:, 3].sum() == 4


def lines(path):
    return path.read_text("utf-8").split("\n")[:22]


# What is asked together, and in which batches, changes nothing


def test_equal_token_sequences_have_the_very_same_figures(model):
    text, reference = "the cat goes to school .", "The dog goes to SCHOOL ."
    pairs = [(text, reference), ("he was in the house", reference)] * 3
    pairs += [(text.upper(), reference.lower()), (text, reference.title())]
    random.Random(1).shuffle(pairs)
    for budget in (1, 30, 10_000):
        rows = ask(model, TokenSimilarity(layer=2), pairs, batch_tokens=budget)
        distinct = {tuple(row) for row in rows.tolist()}
        assert len(distinct) == 2


def test_batches_chunks_and_order_change_nothing(model, monkeypatch):
    measures = [
        TokenSimilarity(layer=2, idf=IDF),
        TokenSimilarity(layer=1),
        MeanSimilarity(limit=6),
    ]
    once = [ask(model, measure, PAIRS) for measure in measures]
    for budget, numbers in ((1, 2**25), (50, 3_000), (100_000, 32)):
        monkeypatch.setattr(encoder, "STATE_NUMBERS", numbers)
        with using(Runtime(batch_tokens=budget)):
            rows = answer([Request(model, measure, PAIRS[::-1]) for measure in measures])
        for ours, expected in zip(rows, once, strict=True):
            assert ours[::-1] == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_each_text_goes_through_once(model):
    distinct = {text.strip().lower() for pair in PAIRS for text in pair} - {""}
    for measure, empty in ((TokenSimilarity(layer=1), 0), (MeanSimilarity(limit=None), 1)):
        with using(Runtime()) as runtime:
            answer([Request(model, measure, PAIRS), Request(model, measure, PAIRS[::-1])])
        assert runtime.tally.texts == len(distinct) + empty - (1 - empty)  # "a dog" has no pair
        assert runtime.tally.tokens <= runtime.tally.padded


def test_rows_come_chunk_by_chunk(model, monkeypatch):
    monkeypatch.setattr(encoder, "STATE_NUMBERS", 20 * 32)
    pairs = [(f"the cat {n}", f"the dog {n}") for n in range(10)]
    runtime, reports = Runtime(), []
    with reporting(lambda *progress: reports.append(progress)):
        answers = encoder.answer(find_model(model), {TokenSimilarity(layer=1): pairs}, runtime)
        next(answers)
        assert 0 < runtime.tally.texts < 20
        rest = list(answers)
    assert runtime.tally.texts == 20
    assert sum(len(positions) for _, positions, _ in rest) < 10
    assert reports[-1][1] == reports[-1][2] > 1


def test_memory_that_ends_halves_the_batch(model, monkeypatch):
    expected, make = ask(model, TokenSimilarity(layer=2), PAIRS), encoder.state_encoder
    sizes = []

    def scarce(*args, **options):
        encode = make(*args, **options)

        def step(sequences):
            sizes.append(len(sequences))
            if len(sequences) > 2:
                raise RuntimeError("CUDA out of memory")
            return encode(sequences)

        return step

    monkeypatch.setattr(encoder, "state_encoder", scarce)
    rows = ask(model, TokenSimilarity(layer=2), PAIRS, batch_tokens=10_000)
    assert rows == pytest.approx(expected, abs=1e-6)
    assert max(sizes) > 2


def test_no_more_blocks_than_needed(model, bart, monkeypatch):
    loaded, load = [], encoder.load

    def watched(files, kind, runtime, **settings):
        loaded.append(settings)
        return load(files, kind, runtime, **settings)

    monkeypatch.setattr(encoder, "load", watched)
    alone = ask(model, TokenSimilarity(layer=1), PAIRS)
    answers = answer([Request(model, TokenSimilarity(layer=n), PAIRS) for n in (1, 2)])
    assert answers[0] == pytest.approx(alone, abs=1e-6)
    ask(model, MeanSimilarity(), PAIRS)
    ask(bart, TokenSimilarity(layer=1), PAIRS)
    assert loaded == [*({"num_hidden_layers": n} for n in (1, 1, 2)), {}, {}]


def test_half_precision_compares_in_single(model):
    rows = ask(model, TokenSimilarity(layer=2), PAIRS, dtype="bfloat16")
    assert rows == pytest.approx(ask(model, TokenSimilarity(layer=2), PAIRS), abs=0.05)
    assert rows[-1, 2] == pytest.approx(1, abs=1e-6)


# Chunks and padding


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25),
    st.lists(st.integers(1, 6), min_size=10, max_size=10),
    st.integers(1, 40),
)
def test_chunks_hold_every_row_once(pairs, lengths, capacity):
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    size = np.array(lengths, dtype=np.int64)
    parts = list(chunks(rows, size, capacity))
    assert [at for _, part in parts for at in range(len(pairs))[part]] == list(range(len(pairs)))
    for sequences, part in parts:
        assert sorted(set(rows[part].ravel().tolist())) == sequences.tolist()
        alone = {*rows[part][0].tolist()} == {*sequences.tolist()}
        assert size[sequences].sum() <= capacity or alone
    if capacity >= size.sum():
        assert len(parts) == bool(pairs)


def test_padding_never_wins(model):
    import torch

    def unit(*angles):
        return [[math.cos(angle), math.sin(angle)] for angle in angles]

    rows = np.array([(0, 1), (2, 2)])
    asked = Items([(5,), (6,), (7, 8, 9)], rows, np.arange(2), np.zeros(2))
    every = torch.tensor(unit(0.0, math.pi, 0.0, 1.0, 2.0))
    held = Held(np.arange(2), every, np.array([0, 1, 2]))
    loaded = encoder.open_encoder(find_model(model), None, Runtime())
    rows = encoder.compare_tokens(loaded, asked, held, np.ones(loaded.vocabulary), held.at)
    assert rows[0, :2] == pytest.approx([-1, -1], abs=1e-6)
    assert rows[0, 2] == pytest.approx(-1, abs=1e-6)
    assert rows[1] == pytest.approx([1, 1, 1], abs=1e-6)


# Layers, and models that do not fit


@pytest.mark.parametrize(
    ("name", "config", "layer"),
    [
        ("bert-base-uncased", {"num_hidden_layers": 12}, 9),
        ("roberta-large", {"num_hidden_layers": 24}, 17),
        ("distilbert-base-uncased", {"n_layers": 6}, 5),
        ("bart-base", {"encoder_layers": 6, "num_hidden_layers": 6}, 6),
        ("bert-large-uncased", {"num_hidden_layers": 4}, 3),
        ("roberta-base", {"num_hidden_layers": 12}, 10),
        ("bert-base-chinese", {"num_hidden_layers": 12}, 8),
        ("bart-large", {"encoder_layers": 12, "num_hidden_layers": 12}, 10),
        ("other", {"num_hidden_layers": 6}, 4),
        ("other", {"num_hidden_layers": 24}, 18),
        ("other", {"n_layers": 1}, 1),
    ],
)
def test_the_layer_by_default(tmp_path, name, config, layer):
    (tmp_path / name).mkdir()
    (tmp_path / name / "config.json").write_text(json.dumps(config))
    (tmp_path / name / "model.safetensors").touch()
    assert layer_of(find_model(str(tmp_path / name)), None) == layer


def test_all_published_layers(shared):
    """Golden: bert-score 0.3.13, ``model2layers``."""
    golden = json.loads((shared / "golden" / "papers" / "bertscore_layers.json").read_text())
    for name, entry in golden["layers"].items():
        layer = entry["layer"]
        assert ModelFiles(name, Path(), revision="0" * 40).published_layer() == layer
        assert ModelFiles(f"models/{name}/", Path()).published_layer() == layer
    assert len(golden["layers"]) == 140


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("google-bert/bert-base-uncased", 9),
        ("somebody/bert-base-uncased", None),
        ("bart-base", None),
    ],
)
def test_on_the_hub_the_owner_counts(name, layer):
    assert ModelFiles(name, Path(), revision="0" * 40).published_layer() == layer


def test_layers_that_are_not_there(model):
    for layer in (0, -1, 3):
        with pytest.raises(UsageError, match=r"has 2 layers\n  Use 1 to 2"):
            ask(model, TokenSimilarity(layer=layer), PAIRS)


@pytest.mark.parametrize("config", ["{", "[]", "{}", '{"num_hidden_layers": "two"}', "[" * 100_000])
def test_odd_configurations(tmp_path, config):
    (tmp_path / "config.json").write_text(config)
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(MissingResourceError, match=r"config\.json"):
        ask(str(tmp_path), TokenSimilarity(), PAIRS)


def test_odd_names_of_architectures_do_no_harm(tmp_path):
    folder = made_models.encoder(tmp_path / "bert")
    expected = ask(folder, TokenSimilarity(), PAIRS)
    path = tmp_path / "bert" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "architectures": [3]}))
    np.testing.assert_array_equal(ask(folder, TokenSimilarity(), PAIRS), expected)


def test_a_language_model_is_no_encoder(tmp_path):
    folder = made_models.causal(tmp_path / "gpt2")
    for measure in (TokenSimilarity(), MeanSimilarity()):
        with pytest.raises(DataError, match="is a language model, not an encoder"):
            ask(folder, measure, PAIRS)
    path = tmp_path / "gpt2" / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "architectures": None}))
    with pytest.raises(DataError, match=r"neither \[CLS\] nor \[SEP\]"):
        ask(folder, TokenSimilarity(), PAIRS)


def test_the_layer_is_known_without_torch(model):
    code = (
        "import sys; from grammeter.models.encoder import layer_of;"
        "from grammeter.models.files import find_model;"
        f"assert layer_of(find_model({model!r}), None) == 1; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
