"""Tiny models with random weights, one of each kind that metrics ask; nothing is fetched.

Two layers, 32 numbers wide, 128 positions; equal in every run. Rare words split into pieces.
Each function writes model and tokenizer into a folder and returns the folder's name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

WIDTH = 32
POSITIONS = 128
WORDS = ["the", "a", "an", "cat", "dog", "is", "are", "was", "go", "goes", "went", "to", "in",
         "on", "he", "she", "they", "it", "walk", "see", "school", "house", "very", "good",
         "however", "in", "not"]  # fmt: skip
ENDINGS = ["s", "es", "ed", "ing", "er", "ly"]
SENTENCES = ["the cat goes to school .", "they walked in the house , however .",
             "she is seeing a very good dog !", "it was not an old car ."]  # fmt: skip


def encoder(folder: str | Path, *, seed: int = 1, lower: bool = True) -> str:
    """Write a BERT encoder with a WordPiece vocabulary, lower-casing unless told not to."""
    transformers = _transformers(seed)
    config = _bert_config(transformers, folder, lower=lower)
    return _write(transformers.BertModel(config), folder)


def regressor(folder: str | Path, *, seed: int = 2, lower: bool = False, labels: int = 1) -> str:
    """Write a BERT encoder with pooler and a linear head of one output."""
    transformers = _transformers(seed)
    config = _bert_config(transformers, folder, lower=lower, num_labels=labels)
    return _write(transformers.BertForSequenceClassification(config), folder)


def causal(folder: str | Path, *, seed: int = 3) -> str:
    """Write a GPT-2 language model whose one special token is ``<|endoftext|>``."""
    transformers = _transformers(seed)
    special = ["<|endoftext|>"]
    _write_pieces(transformers, folder, special, dict.fromkeys(("bos", "eos", "unk"), special[0]))
    config = transformers.GPT2Config(
        vocab_size=_size(folder),
        n_positions=POSITIONS,
        n_embd=WIDTH,
        n_layer=2,
        n_head=4,
        bos_token_id=0,
        eos_token_id=0,
    )
    return _write(transformers.GPT2LMHeadModel(config), folder)


TEMPLATE = """\
{% for message in messages %}<|{{ message['role'] }}|>
{{ message['content'] }}
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{{ prefix or '' }}{% endif %}"""


def chat(
    folder: str | Path, *, seed: int = 5, positions: int = 4096, template: str | None = TEMPLATE
) -> str:
    """Write a Llama model that converses; ``prefix`` in its template is no standard name."""
    transformers = _transformers(seed)
    special = ["<|endoftext|>"]
    _write_pieces(transformers, folder, special, dict.fromkeys(("bos", "eos"), special[0]))
    path = Path(folder) / "tokenizer_config.json"
    settings = json.loads(path.read_text("utf-8")) | {"model_max_length": positions}
    path.write_text(json.dumps(settings), "utf-8")
    if template:
        (Path(folder) / "chat_template.jinja").write_text(template, "utf-8")
    config = transformers.LlamaConfig(
        vocab_size=_size(folder),
        max_position_embeddings=positions,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    return _write(transformers.LlamaForCausalLM(config), folder)


def seq2seq(folder: str | Path, *, seed: int = 4) -> str:
    """Write a BART encoder and decoder; texts stand between ``<s>`` and ``</s>``."""
    from tokenizers.processors import RobertaProcessing

    transformers = _transformers(seed)
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    names = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "pad": "<pad>"}
    _write_pieces(
        transformers,
        folder,
        special,
        names,
        RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False),
    )
    config = transformers.BartConfig(
        vocab_size=_size(folder),
        max_position_embeddings=POSITIONS,
        d_model=WIDTH,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=2 * WIDTH,
        decoder_ffn_dim=2 * WIDTH,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
    )
    return _write(transformers.BartForConditionalGeneration(config), folder)


def _transformers(seed: int) -> Any:
    torch = pytest.importorskip("torch", reason="torch is not installed: extra neural")
    transformers = pytest.importorskip("transformers", reason="extra neural is not installed")
    torch.manual_seed(seed)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def _write(model: Any, folder: str | Path) -> str:
    """Spread the weights, whose first values are too small to tell texts apart, and write."""
    for weights in model.parameters():
        if weights.dim() > 1:
            weights.data.mul_(10)
    model.save_pretrained(folder)
    return str(folder)


def _bert_config(transformers: Any, folder: str | Path, *, lower: bool, **more: int) -> Any:
    letters = "abcdefghijklmnopqrstuvwxyz"
    letters += "" if lower else letters.upper()
    vocabulary = dict.fromkeys(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *",.!?'-0123456789", *letters]
        + WORDS
        + ([] if lower else [word.capitalize() for word in WORDS])
        + [f"##{piece}" for piece in (*letters, *ENDINGS, *"0123456789")]
    )
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    tokenizer = transformers.BertTokenizerFast(
        vocab={word: number for number, word in enumerate(vocabulary)},
        do_lower_case=lower,
        model_max_length=POSITIONS,
    )
    tokenizer.save_pretrained(path)
    return transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=2 * WIDTH,
        max_position_embeddings=POSITIONS,
        **more,
    )


def _write_pieces(
    transformers: Any,
    folder: str | Path,
    special: list[str],
    names: dict[str, str],
    processor: Any = None,
) -> None:
    """Learn byte pairs from a few sentences and write their tokenizer."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    learned = Tokenizer(models.BPE())
    learned.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learned.decoder = decoders.ByteLevel()
    learned.train_from_iterator(
        [*SENTENCES, *WORDS],
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    if processor is not None:
        learned.post_processor = processor
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=learned,
        model_max_length=POSITIONS,
        **{f"{use}_token": token for use, token in names.items()},
    )
    tokenizer.save_pretrained(folder)


def _size(folder: str | Path) -> int:
    data = json.loads((Path(folder) / "tokenizer.json").read_text(encoding="utf-8"))
    return len(data["model"]["vocab"])


SPELLINGS = {
    "bertscore": "bertscore(model='{encoder}', layer=1)",
    "bartscore": "bartscore(model='{seq2seq}')",
    "pt-m2": "pt-m2(model='{encoder}', layer=1)",
    "sent-pt-m2": "sent-pt-m2(model='{encoder}', layer=1)",
    "pt-errant": "pt-errant(model='{encoder}', layer=1, pipeline=neutral)",
    "sent-pt-errant": "sent-pt-errant(model='{encoder}', layer=1, pipeline=neutral)",
    "uot-errant": "uot-errant(model='{encoder}', pipeline=neutral)",
    "sent-uot-errant": "sent-uot-errant(model='{encoder}', layer=1, pipeline=neutral)",
    "some": "some(grammaticality='{regressor}', fluency='{regressor}', meaning='{regressor}')",
    "impara": "impara(model='{regressor}', similarity='{encoder}', threshold=-1)",
    "scribendi": "scribendi(model='{causal}')",
}
"""How each metric that asks a model is spelled with models made here."""
