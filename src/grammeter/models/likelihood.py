"""Language models: the perplexity of texts, and the likelihood of texts given others."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from grammeter.core import FloatArray, require, track
from grammeter.models import loading, service
from grammeter.models.files import ModelFiles
from grammeter.models.loading import Loaded
from grammeter.models.runtime import Pair, Runtime

STATE_TOKENS = 2**16  # maximum tokens whose encoder states are held at once: for bart-base 200 MB
CPU_LOGITS, DEVICE_LOGITS = 2**27, 2**30
"""Maximum numbers in the predictions of a batch: tokens times the vocabulary."""

_SLICE = 2**25
_IGNORED = -100
Tokens = tuple[int, ...]
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
    loaded = loading.load(files, "AutoModelForSeq2SeqLM", runtime)
    texts = list(dict.fromkeys(chain.from_iterable(pairs)))
    inputs, cut = loaded.tokenize(texts, limit=limit)
    tokens = {text: tuple(one["input_ids"]) for text, one in zip(texts, inputs, strict=True)}
    if not all(tokens.values()):
        wanted = "Name one whose tokenizer marks the ends of texts, such as BART's."
        raise loaded.files.misfit("reads nothing where a text is empty", wanted)
    truncated = dict(zip(texts, cut, strict=True))
    positions = loading.gather((tokens[condition], tokens[text]) for condition, text in pairs)
    chunks, budget = _chunks(positions), _budget(loaded, runtime)
    answered = chain.from_iterable(_read_chunk(loaded, chunk, runtime, budget) for chunk in chunks)
    total = sum(len(loading.batches(_lengths(chunk), budget)) for chunk in chunks)
    for batch, means in track(answered, f"{files.name} (batches)", total):
        flat, figures = loading.spread([positions[pair] for pair in batch], means)
        counts = [sum(truncated[text] for text in pairs[position]) for position in flat]
        yield flat, np.column_stack([figures, counts])


TokenPair = tuple[Tokens, Tokens]


def _chunks(pairs: Iterable[TokenPair]) -> list[list[TokenPair]]:
    by_condition: dict[Tokens, list[TokenPair]] = {}
    for pair in pairs:
        by_condition.setdefault(pair[0], []).append(pair)
    chunks: list[list[TokenPair]] = []
    room = 0
    for condition in sorted(by_condition, key=len, reverse=True):
        room -= len(condition)
        if room < 0:
            chunks.append([])
            room = STATE_TOKENS - len(condition)
        chunks[-1] += by_condition[condition]
    return chunks


def _lengths(pairs: Sequence[TokenPair]) -> list[int]:
    """Return the lengths that bound batches: the decoder reads the condition's states, too."""
    return [max(len(condition), len(text)) for condition, text in pairs]


def _read_chunk(
    loaded: Loaded, pairs: list[TokenPair], runtime: Runtime, budget: int
) -> Iterator[tuple[list[TokenPair], FloatArray]]:
    """Encode each condition once, then yield pairs and their likelihoods, batch by batch."""
    states = _encode(loaded, list(dict.fromkeys(condition for condition, _ in pairs)), runtime)

    def read(batch: list[int]) -> FloatArray:
        return _read_pairs(loaded, states, [pairs[at] for at in batch])

    for batch, means in loading.in_batches(_lengths(pairs), budget, read):
        chosen = [pairs[at] for at in batch]
        runtime.tally.add([len(text) for _, text in chosen])
        yield chosen, means


def _encode(loaded: Loaded, texts: list[Tokens], runtime: Runtime) -> dict[Tokens, Any]:
    torch: Any = require("torch", extra="neural")
    encoder = loaded.model.get_encoder()

    def step(batch: list[int]) -> Any:
        with torch.inference_mode():
            return encoder(**loaded.batch([texts[at] for at in batch])).last_hidden_state

    states: dict[Tokens, Any] = {}
    lengths = [len(text) for text in texts]
    for batch, encoded in loading.in_batches(lengths, runtime.budget, step, runtime.tally):
        states |= {texts[at]: encoded[row, : lengths[at]] for row, at in enumerate(batch)}
    return states


def _read_pairs(loaded: Loaded, states: dict[Tokens, Any], pairs: list[TokenPair]) -> FloatArray:
    """Return mean log-likelihoods of pairs, shape ``(pairs,)``, from the conditions' states."""
    torch: Any = require("torch", extra="neural")
    if (start := loaded.model.config.decoder_start_token_id) is None:
        what = "does not say with which token its decoder begins (decoder_start_token_id)"
        raise loaded.files.misfit(what, "Name an encoder and decoder such as BART.")
    with torch.inference_mode():
        encoded = [states[condition] for condition, _ in pairs]
        logits = loaded.model(
            encoder_outputs=(torch.nn.utils.rnn.pad_sequence(encoded, batch_first=True),),
            attention_mask=loaded.padded([(1,) * len(rows) for rows in encoded]),
            decoder_input_ids=loaded.padded([(int(start), *text[:-1]) for _, text in pairs]),
            use_cache=False,
        ).logits
        return _mean_logs(torch, loaded, logits, [text for _, text in pairs])


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
