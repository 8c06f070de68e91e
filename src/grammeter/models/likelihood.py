"""Language models: the perplexity of texts, and the likelihood of texts given others."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from grammeter.core import FloatArray, IntArray, require
from grammeter.models import loading, service
from grammeter.models.encoder import Held, Items, Tokens
from grammeter.models.files import ModelFiles
from grammeter.models.loading import Loaded
from grammeter.models.runtime import Pair, Runtime

CPU_LOGITS, DEVICE_LOGITS = 2**27, 2**30
"""Maximum numbers in the predictions of a batch: tokens times the vocabulary."""

_SLICE = 2**25
_IGNORED = -100
Rows = Iterator[tuple[list[int], FloatArray]]


def answer(files: ModelFiles, questions: service.Questions, runtime: Runtime) -> service.Answers:
    """Measure texts by a causal language model, pairs by an encoder and decoder.

    Rows ``perplexity truncated`` or ``likelihood truncated``; logarithms are natural, in single
    precision whatever the model's number type. Equal token sequences are computed once.
    """
    texts: Any
    for measure, texts in questions.items():
        if isinstance(measure, service.Likelihood):
            answered = _likelihoods(files, measure.limit, texts, runtime)
        else:
            answered = _perplexities(files, texts, runtime)
        for positions, rows in answered:
            yield measure, positions, rows


def _perplexities(files: ModelFiles, texts: Sequence[str], runtime: Runtime) -> Rows:
    """Yield positions and rows; NaN for empty texts and those beyond the model's positions."""
    loaded = loading.load(files, "AutoModelForCausalLM", runtime)
    _check_causal(loaded)
    start = _start_of_text(loaded)
    encoded: Any = loaded.tokenizer(list(texts), add_special_tokens=False, verbose=False)
    positions = loading.gather((start, *ids) for ids in encoded["input_ids"])
    most = loaded.limit or max(map(len, positions), default=0)
    for sequence in [tokens for tokens in positions if not 1 < len(tokens) <= most]:
        there = positions.pop(sequence)
        yield there, np.tile([np.nan, len(sequence) > most], (len(there), 1))
    torch: Any = require("torch", extra="neural")

    def read(sequences: Sequence[Tokens]) -> FloatArray:
        with torch.inference_mode():
            # no mask: no token attends to the padding on the right
            inputs = loaded.padded([sequence[:-1] for sequence in sequences])
            logits = loaded.model(input_ids=inputs, use_cache=False).logits
            return np.exp(-_mean_logs(torch, loaded, logits, [text[1:] for text in sequences]))

    budget, tally = _budget(loaded, runtime), runtime.tally
    answered = loading.distinct_figures(
        files.name, positions, lambda tokens: len(tokens) - 1, budget, read, tally
    )
    for flat, perplexities in answered:
        yield flat, np.column_stack([perplexities, np.zeros(len(flat))])


def _likelihoods(files: ModelFiles, limit: int | None, pairs: list[Pair], runtime: Runtime) -> Rows:
    """Encode each condition once, then read the texts after it."""
    loaded = loading.load(files, "AutoModelForSeq2SeqLM", runtime)
    asked = Items.read(loaded, [pair[::-1] for pair in pairs], limit)
    if not all(asked.sequences):
        wanted = "Name one whose tokenizer marks the ends of texts, such as BART's."
        raise loaded.files.misfit("reads nothing where a text is empty", wanted)
    torch: Any = require("torch", extra="neural")
    encoder, budget = loaded.model.get_encoder(), _budget(loaded, runtime)

    def encode(sequences: Sequence[Tokens]) -> Any:
        with torch.inference_mode():
            batch = loaded.batch(sequences)
            return encoder(**batch).last_hidden_state[batch["attention_mask"].bool()]

    everything = np.arange(len(asked.rows))
    for held in asked.encoded(loaded, everything, encode, runtime, column=1):

        def read(batch: list[int], held: Held = held) -> FloatArray:
            return _read_pairs(loaded, asked, held, held.at[batch])

        lengths = asked.lengths[asked.rows[held.at]]
        # the decoder reads the condition's states, too
        for batch, found in loading.in_batches(lengths.max(axis=1).tolist(), budget, read):
            runtime.tally.add(lengths[batch, 0].tolist())
            yield asked.answer(held.at[batch], found[:, None])


def _read_pairs(loaded: Loaded, asked: Items, held: Held, at: IntArray) -> FloatArray:
    """Return mean log-likelihoods of rows, shape ``(rows,)``, from the conditions' states."""
    torch: Any = require("torch", extra="neural")
    if (start := loaded.model.config.decoder_start_token_id) is None:
        what = "does not say with which token its decoder begins (decoder_start_token_id)"
        raise loaded.files.misfit(what, "Name an encoder and decoder such as BART.")
    texts = asked.tokens(asked.rows[at, 0])
    states, real = held.padded(asked.rows[at, 1], asked.lengths)
    with torch.inference_mode():
        logits = loaded.model(
            encoder_outputs=(states,),
            attention_mask=real.long(),
            decoder_input_ids=loaded.padded([(int(start), *text[:-1]) for text in texts]),
            use_cache=False,
        ).logits
        return _mean_logs(torch, loaded, logits, texts)


def _mean_logs(torch: Any, loaded: Loaded, logits: Any, texts: Sequence[Tokens]) -> FloatArray:
    targets = loaded.padded(texts, fill=_IGNORED)
    rows = max(1, _SLICE // logits.shape[-1])
    slices = zip(logits.flatten(0, 1).split(rows), targets.flatten().split(rows), strict=True)
    loss = torch.nn.CrossEntropyLoss(ignore_index=_IGNORED, reduction="none")
    losses = torch.cat([loss(part.float(), expected) for part, expected in slices])
    by_token = losses.view(targets.shape).cpu().numpy().astype(np.float64)
    return -by_token.sum(axis=1) / np.array([len(text) for text in texts])


def _budget(loaded: Loaded, runtime: Runtime) -> int:
    most = CPU_LOGITS if runtime.device == "cpu" else DEVICE_LOGITS
    return max(1, min(runtime.budget, most // loaded.vocabulary))


def _start_of_text(loaded: Loaded) -> int:
    """Return the token before a text: GPT-2's is ``<|endoftext|>``."""
    for start in (loaded.tokenizer.bos_token_id, loaded.tokenizer.eos_token_id):
        if start is not None:
            return int(start)
    raise loaded.files.misfit("has no token to begin a text", "Name a causal language model.")


def _check_causal(loaded: Loaded) -> None:
    """Refuse a model that sees later tokens: a masked one, or a decoder without its encoder."""
    wanted = "Name a causal language model such as gpt2."
    if loaded.files.config().get("is_encoder_decoder"):
        raise loaded.files.misfit("has an encoder, and a text alone does not feed it", wanted)
    torch: Any = require("torch", extra="neural")
    with torch.inference_mode():
        inputs = loaded.padded([(0, 0), (0, loaded.vocabulary - 1)])
        first, second = loaded.model(input_ids=inputs, use_cache=False).logits[:, 0]
    noise = 32 * torch.finfo(first.dtype).eps * first.abs().max()
    if (first - second).abs().max() > noise:
        raise loaded.files.misfit("looks at the tokens that it shall predict", wanted)
