"""Models from their folders: ready for inference, or refused with the reason."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

import made_models
from grammeter.core import DataError, MissingResourceError, UsageError
from grammeter.models import loading
from grammeter.models.files import find_model
from grammeter.models.loading import device_of, limit_of, load
from grammeter.models.runtime import Runtime

torch = pytest.importorskip("torch", reason="the extra neural is not installed")
transformers = pytest.importorskip("transformers", reason="the extra neural is not installed")

KINDS = {
    "encoder": "AutoModel",
    "regressor": "AutoModelForSequenceClassification",
    "causal": "AutoModelForCausalLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
}
CPU = Runtime()


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return the folder of one made model of each kind."""
    home = tmp_path_factory.mktemp("models")
    return {name: getattr(made_models, name)(home / name) for name in KINDS}


@pytest.fixture
def copy(models, tmp_path):
    """Return a function that copies a made model, for a test to damage."""

    def make(name):
        return Path(shutil.copytree(models[name], tmp_path / name))

    return make


def open_(folder, kind="AutoModel", runtime=CPU, **settings):
    return load(find_model(str(folder)), kind, runtime, **settings)


class TestMadeModels:
    @pytest.mark.parametrize("name", KINDS)
    def test_equal_in_every_run(self, name, models, tmp_path):
        again = getattr(made_models, name)(tmp_path / name)
        assert find_model(again).hash == find_model(models[name]).hash

    @pytest.mark.parametrize("name", KINDS)
    def test_rare_words_split_and_the_limit_is_small(self, name, models):
        loaded = open_(models[name], KINDS[name])
        pieces = loaded.tokenizer.tokenize("walking xylophones")
        assert len(pieces) > 4
        assert loaded.limit == made_models.POSITIONS


class TestLoad:
    @pytest.mark.parametrize("name", KINDS)
    def test_ready_for_inference(self, name, models):
        loaded = open_(models[name], KINDS[name])
        assert not loaded.model.training
        assert loaded.model.dtype == torch.float32
        assert loaded.random == ()

    def test_once_for_all(self, models):
        assert open_(models["encoder"]) is open_(models["encoder"])
        other = open_(models["encoder"], runtime=Runtime(batch_tokens=3))
        assert other is open_(models["encoder"])

    def test_once_more_where_the_files_have_changed(self, tmp_path):
        folder = made_models.encoder(tmp_path / "m")
        first = open_(folder)
        made_models.encoder(tmp_path / "m", seed=9)
        second = open_(folder)
        assert second.files.hash == find_model(folder).hash
        assert not torch.equal(
            *(loaded.model.embeddings.word_embeddings.weight for loaded in (first, second))
        )

    def test_number_types(self, models):
        loaded = open_(models["encoder"], runtime=Runtime(dtype="bfloat16"))
        assert {weights.dtype for weights in loaded.model.parameters()} == {torch.bfloat16}

    def test_settings_override_the_models_own(self, models):
        assert len(open_(models["encoder"], num_hidden_layers=1).model.encoder.layer) == 1
        assert len(open_(models["encoder"]).model.encoder.layer) == 2

    def test_the_librarys_settings_stay_as_they_were(self, copy):
        transformers.logging.set_verbosity_info()
        transformers.logging.enable_progress_bar()
        try:
            open_(copy("encoder"))
            assert transformers.logging.get_verbosity() == transformers.logging.INFO
            assert transformers.logging.is_progress_bar_enabled()
        finally:
            transformers.logging.set_verbosity_error()
            transformers.logging.disable_progress_bar()

    def test_nothing_is_said(self, copy, capfd):
        open_(copy("encoder"), "AutoModel")
        assert capfd.readouterr() == ("", "")


class TestWrongModels:
    @pytest.mark.parametrize(
        ("name", "kind", "what"),
        [
            ("causal", "AutoModelForSequenceClassification", "lacks weights"),
            ("encoder", "AutoModelForSequenceClassification", "lacks weights"),
            ("encoder", "AutoModelForCausalLM", "lacks weights"),
            ("encoder", "AutoModelForSeq2SeqLM", "cannot be loaded as AutoModelForSeq2SeqLM"),
            ("causal", "AutoModelForSeq2SeqLM", "cannot be loaded as AutoModelForSeq2SeqLM"),
        ],
    )
    def test_of_another_kind(self, models, name, kind, what):
        with pytest.raises((DataError, MissingResourceError), match=what) as caught:
            open_(models[name], kind)
        assert caught.value.where == models[name]

    def test_the_pooler_alone_may_be_random(self, copy):
        """A masked language model has no pooler, and states do not need one."""
        folder = copy("encoder")
        without(folder, "pooler")
        loaded = open_(folder)
        assert loaded.random == ("pooler.dense.bias", "pooler.dense.weight")

    def test_missing_weights(self, copy):
        folder = copy("encoder")
        without(folder, "layer.1.attention")
        with pytest.raises(
            DataError, match=r"lacks weights that AutoModel needs: encoder\.layer\.1"
        ):
            open_(folder)

    @pytest.mark.parametrize("size", [0, 7, 1000, -10])
    def test_truncated_weights(self, copy, size):
        folder = copy("encoder")
        whole = (folder / "model.safetensors").read_bytes()
        (folder / "model.safetensors").write_bytes(whole[:size])
        with pytest.raises(MissingResourceError, match="cannot be loaded as AutoModel") as caught:
            open_(folder)
        assert "files are whole" in str(caught.value)
        assert "\n" not in caught.value.message

    def test_settings_that_do_not_fit_the_weights(self, copy):
        folder = copy("encoder")
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 64}))
        with pytest.raises(MissingResourceError, match="cannot be loaded as AutoModel"):
            open_(folder)

    @pytest.mark.parametrize("content", ["", "[]", '{"model_type": "nosuch"}', "{}"])
    def test_damaged_settings(self, copy, content):
        folder = copy("encoder")
        (folder / "config.json").write_text(content)
        with pytest.raises(MissingResourceError):
            open_(folder)

    @pytest.mark.parametrize("name", KINDS)
    def test_no_tokenizer(self, copy, name):
        """Transformers would make one that knows no word, and say nothing."""
        folder = copy(name)
        for path in folder.glob("tokenizer*"):
            path.unlink()
        with pytest.raises(MissingResourceError, match="has no tokenizer"):
            open_(folder, KINDS[name])

    def test_a_damaged_tokenizer(self, copy):
        folder = copy("encoder")
        (folder / "tokenizer.json").write_text('{"model": {}}')
        with pytest.raises(MissingResourceError, match="its tokenizer cannot be loaded"):
            open_(folder)

    def test_the_tokenizer_of_another_model(self, copy, models):
        folder = copy("encoder")
        shutil.copy(Path(models["causal"]) / "tokenizer.json", folder)
        with pytest.raises(MissingResourceError, match=r"its tokenizer"):
            open_(folder)

    def test_code_in_the_folder_is_not_run(self, copy):
        folder = copy("encoder")
        config = json.loads((folder / "config.json").read_text())
        code = {"AutoConfig": "mine.C", "AutoModel": "mine.M", "AutoTokenizer": ["mine.T", None]}
        config |= {"model_type": "mine", "auto_map": code}
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "mine.py").write_text(f"open({str(folder / 'ran')!r}, 'w')\n")
        with pytest.raises(MissingResourceError):
            open_(folder)
        assert not (folder / "ran").exists()

    def test_a_pickle_beside_the_weights_is_not_read(self, copy):
        folder = copy("encoder")
        (folder / "pytorch_model.bin").write_bytes(b"\x80\x04N.")
        assert open_(folder).random == ()


def without(folder, part):
    """Take weights out of a model's file."""
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    remaining = {name: values for name, values in weights.items() if part not in name}
    assert len(remaining) < len(weights)
    save_file(remaining, folder / "model.safetensors", metadata={"format": "pt"})


class TestDevices:
    def fake(self, count=0, mps=False):
        return SimpleNamespace(
            cuda=SimpleNamespace(is_available=lambda: count > 0, device_count=lambda: count),
            backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: mps)),
            device=str,
        )

    def test_what_is_here(self):
        assert device_of(torch, "cpu") == torch.device("cpu")
        assert device_of(self.fake(2), "cuda:1") == "cuda:1"
        assert device_of(self.fake(1), "cuda") == "cuda"
        assert device_of(self.fake(mps=True), "mps") == "mps"

    @pytest.mark.parametrize(
        ("name", "count", "what"),
        [
            ("cuda", 0, "no device 'cuda' here"),
            ("cuda:0", 0, "no device 'cuda:0' here"),
            ("cuda:2", 2, "no device 'cuda:2' here, but 2 of this kind"),
            ("mps", 2, "no device 'mps' here"),
        ],
    )
    def test_what_is_not_here(self, name, count, what):
        with pytest.raises(MissingResourceError, match=what) as caught:
            device_of(self.fake(count), name)
        assert "--device cpu" in str(caught.value)

    def test_what_is_no_device(self):
        with pytest.raises(UsageError, match="unknown device 'gpu'"):
            device_of(torch, "gpu")

    def test_memory_that_does_not_suffice(self, copy, monkeypatch):
        def refuse(*_):
            raise torch.OutOfMemoryError("CUDA out of memory.")

        monkeypatch.setattr(transformers.BertModel, "to", refuse)
        with pytest.raises(MissingResourceError, match="memory of 'cpu' does not suffice"):
            open_(copy("encoder"))


class TestLimits:
    def model(self, name, **settings):
        sizes = {"vocab_size": 9, "hidden_size": 4, "num_hidden_layers": 1,
                 "num_attention_heads": 1, "intermediate_size": 4}  # fmt: skip
        config = getattr(transformers, f"{name}Config")(**sizes, **settings)
        return getattr(transformers, f"{name}Model")(config)

    @pytest.mark.parametrize(
        ("name", "positions", "said", "limit"),
        [
            ("Bert", 20, 10, 10),
            ("Bert", 20, 30, 20),
            ("Bert", 20, int(1e30), 20),
            ("Roberta", 20, 30, 18),  # positions begin after that of padding, 1
            ("XLMRoberta", 20, int(1e30), 18),
            ("MPNet", 20, 512, 18),
            ("GPT2", 20, int(1e30), 20),
        ],
    )
    def test_the_smaller_of_what_is_said_and_what_the_table_holds(
        self, name, positions, said, limit
    ):
        model = self.model(name, max_position_embeddings=positions)
        assert limit_of(SimpleNamespace(model_max_length=said), model) == limit

    def test_a_model_without_a_table(self):
        model = SimpleNamespace(config=SimpleNamespace(), named_modules=lambda: [])
        assert limit_of(SimpleNamespace(model_max_length=512), model) == 512
        assert limit_of(SimpleNamespace(model_max_length=int(1e30)), model) is None

    def test_a_limit_that_is_no_number(self):
        model = SimpleNamespace(config=SimpleNamespace(), named_modules=lambda: [])
        with pytest.raises(DataError, match="no number"):
            limit_of(SimpleNamespace(model_max_length={"a": 1}), model)

    def test_robertas_last_position_works_and_the_next_does_not(self):
        model = self.model("Roberta", max_position_embeddings=20).eval()
        model(input_ids=torch.full((1, 18), 5))
        with pytest.raises((IndexError, RuntimeError)):
            model(input_ids=torch.full((1, 19), 5))


class TestTokenize:
    def test_texts_and_pairs(self, models):
        loaded = open_(models["encoder"])
        items = ["the cat", ("a", "the dog"), "", ("", "")]
        inputs, cut = loaded.tokenize(items, limit=None)
        words = [loaded.tokenizer.convert_ids_to_tokens(one["input_ids"]) for one in inputs]
        assert words == [
            ["[CLS]", "the", "cat", "[SEP]"],
            ["[CLS]", "a", "[SEP]", "the", "dog", "[SEP]"],
            ["[CLS]", "[SEP]"],
            ["[CLS]", "[SEP]", "[SEP]"],
        ]
        assert inputs[1]["token_type_ids"] == [0, 0, 0, 1, 1, 1]
        assert cut == [False] * 4

    @pytest.mark.parametrize(("limit", "most"), [(8, 8), (None, 128), (10_000, 128)])
    def test_long_texts_are_cut_and_told(self, models, limit, most):
        loaded = open_(models["encoder"])
        inputs, cut = loaded.tokenize(["the cat", "the cat " * 1000], limit=limit)
        assert cut == [False, True]
        assert [len(one["input_ids"]) for one in inputs] == [4, most]
        assert inputs[1]["input_ids"][-1] == loaded.tokenizer.sep_token_id

    def test_a_text_of_just_the_limit_is_whole(self, models):
        inputs, cut = open_(models["encoder"]).tokenize(["a a a", "a a a a"], limit=5)
        assert cut == [False, True]
        assert inputs[0]["input_ids"] == inputs[1]["input_ids"]

    def test_of_a_pair_the_longer_side_is_cut_first(self, models):
        loaded = open_(models["encoder"])
        inputs, _ = loaded.tokenize([("a a", "the " * 50), ("the " * 50, "a a")], limit=9)
        for one in inputs:
            words = loaded.tokenizer.convert_ids_to_tokens(one["input_ids"])
            assert words.count("a") == 2
            assert words.count("the") == 4

    def test_nothing(self, models):
        assert open_(models["encoder"]).tokenize([], limit=3) == ([], [])

    def test_no_advice_about_long_texts(self, models):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            open_(models["causal"], KINDS["causal"]).tokenize(["the cat " * 500], limit=None)


def test_tokenizers_are_told_not_to_start_threads(copy, monkeypatch):
    monkeypatch.delenv("TOKENIZERS_PARALLELISM", raising=False)
    loading._load.cache_clear()
    open_(copy("encoder"))
    assert os.environ["TOKENIZERS_PARALLELISM"] == "false"
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "true")
    loading._load.cache_clear()
    open_(copy("causal"), KINDS["causal"])
    assert os.environ["TOKENIZERS_PARALLELISM"] == "true"
