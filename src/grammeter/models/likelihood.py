"""Language models: the perplexity of texts, and the likelihood of texts given others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar, cast

import numpy as np

from grammeter.core import DataError, FloatArray, require, track
from grammeter.models.batching import batches, in_batches
from grammeter.models.files import ModelFiles
from grammeter.models.loading import Loaded, load
from grammeter.models.measures import Likelihood, Pair, Perplexity, Text
from grammeter.models.runtime import Runtime
from grammeter.models.service import Answers, Questions

CAUSAL = "AutoModelForCausalLM"
SEQUENCE_TO_SEQUENCE = "AutoModelForSeq2SeqLM"

STATE_TOKENS = 2**16
"""Tokens whose encoder states are held at once: 200 MB in single precision for bart-base."""

CPU_LOGITS, DEVICE_LOGITS = 2**27, 2**30
"""Numbers that a batch's predictions may have: tokens times the vocabulary."""

_SLICE = 2**25
_IGNORED = -100

Tokens = tuple[int, ...]
Found = Iterator[tuple[list[int], FloatArray]]
Member = TypeVar("Member")


def answer(files: ModelFiles, questions: Questions, runtime: Runtime) -> Answers:
    """Measure texts by a causal language model, pairs by an encoder and decoder.

    Parameters
    ----------
    files
        What ``AutoModelForCausalLM`` loads for a
        :class:`~grammeter.models.measures.Perplexity`, ``AutoModelForSeq2SeqLM`` for a
        :class:`~grammeter.models.measures.Likelihood`.
    questions
        The distinct items of each measure.
    runtime
        Device, number type, tokens of a batch; its tally is kept.

    Yields
    ------
    measure, positions, rows
        Rows ``perplexity truncated`` or ``likelihood truncated``; logarithms are natural, of
        probabilities in single precision whatever the model's number type. Equal token
        sequences are read once and have equal figures.

    Raises
    ------
    DataError
        If the model is of another kind, or its tokenizer does not belong to it.
    """
    for measure, items in questions.items():
        if isinstance(measure, Perplexity):
            found = _perplexities(files, cast("Sequence[Text]", items), runtime)
        else:
            asked, pairs = cast("Likelihood", measure), cast("Sequence[Pair]", items)
            found = _likelihoods(files, asked, pairs, runtime)
        for positions, rows in found:
            yield measure, positions, rows


def _perplexities(files: ModelFiles, texts: Sequence[Text], runtime: Runtime) -> Found:
    """Yield positions and rows; NaN for empty texts and those beyond the model's positions."""
    loaded = load(files, CAUSAL, runtime)
    _check_causal(loaded)
    start = _start_of_text(loaded)
    encoded: Any = loaded.tokenizer(list(texts), add_special_tokens=False, verbose=False)
    positions = _gather((start, *ids) for ids in encoded["input_ids"])
    most = loaded.limit or max(map(len, positions), default=0)
    for sequence in [each for each in positions if not 1 < len(each) <= most]:
        there = positions.pop(sequence)
        yield there, np.tile([np.nan, len(sequence) > most], (len(there), 1))
    sequences = list(positions)
    lengths = [len(sequence) - 1 for sequence in sequences]
    read = _causal_reader(loaded)
    budget = _budget(loaded, runtime)
    answered = in_batches(lengths, budget, lambda batch: read([sequences[at] for at in batch]))
    total = len(batches(lengths, budget))
    for batch, means in track(answered, f"{files.name} (batches)", total):
        _add(runtime, [lengths[at] for at in batch])
        there = [positions[sequences[at]] for at in batch]
        figures = np.repeat(np.exp(-means), [len(each) for each in there])
        yield list(chain(*there)), np.column_stack([figures, np.zeros(len(figures))])


def _likelihoods(
    files: ModelFiles, measure: Likelihood, pairs: Sequence[Pair], runtime: Runtime
) -> Found:
    """Yield positions and rows, chunk by chunk of the given texts."""
    loaded = load(files, SEQUENCE_TO_SEQUENCE, runtime)
    texts = list(dict.fromkeys(chain.from_iterable(pairs)))
    inputs, cut = loaded.tokenize(texts, limit=measure.limit)
    tokens = {text: tuple(one["input_ids"]) for text, one in zip(texts, inputs, strict=True)}
    _check_marked(loaded, tokens.values())
    truncated = dict(zip(texts, cut, strict=True))
    positions = _gather((tokens[given], tokens[text]) for given, text in pairs)
    chunks = _chunks(positions)
    budget = _budget(loaded, runtime)
    answered = chain.from_iterable(_read_chunk(loaded, each, runtime, budget) for each in chunks)
    total = sum(len(batches(_lengths(each), budget)) for each in chunks)
    for batch, means in track(answered, f"{files.name} (batches)", total):
        there = [positions[pair] for pair in batch]
        figures = np.repeat(means, [len(each) for each in there])
        flat = list(chain(*there))
        counts = [sum(truncated[text] for text in pairs[position]) for position in flat]
        yield flat, np.column_stack([figures, counts])


def _gather(members: Iterable[Member]) -> dict[Member, list[int]]:
    """Return the distinct members, in their order, and where each stands."""
    found: dict[Member, list[int]] = {}
    for position, member in enumerate(members):
        found.setdefault(member, []).append(position)
    return found


TokenPair = tuple[Tokens, Tokens]


def _chunks(pairs: Iterable[TokenPair]) -> list[list[TokenPair]]:
    """Put the pairs of each given text together, long texts first, in bounded chunks."""
    by_given: dict[Tokens, list[TokenPair]] = {}
    for pair in pairs:
        by_given.setdefault(pair[0], []).append(pair)
    chunks: list[list[TokenPair]] = []
    room = 0
    for given in sorted(by_given, key=len, reverse=True):
        room -= len(given)
        if room < 0:
            chunks.append([])
            room = STATE_TOKENS - len(given)
        chunks[-1] += by_given[given]
    return chunks


def _lengths(pairs: Sequence[TokenPair]) -> list[int]:
    """Return what counts of each pair: the decoder reads the states of the given text too."""
    return [max(len(given), len(text)) for given, text in pairs]


def _read_chunk(
    loaded: Loaded, pairs: list[TokenPair], runtime: Runtime, budget: int
) -> Iterator[tuple[list[TokenPair], FloatArray]]:
    """Encode each given text once, then yield pairs and their likelihoods, batch by batch."""
    states = _encode(loaded, list(dict.fromkeys(given for given, _ in pairs)), runtime)
    read = _decoding_reader(loaded, states)
    answered = in_batches(_lengths(pairs), budget, lambda batch: read([pairs[at] for at in batch]))
    for batch, means in answered:
        chosen = [pairs[at] for at in batch]
        _add(runtime, [len(text) for _, text in chosen])
        yield chosen, means


def _encode(loaded: Loaded, texts: list[Tokens], runtime: Runtime) -> dict[Tokens, Any]:
    """Return the encoder's states of each text, shape ``(tokens, width)``."""
    torch: Any = require("torch", extra="neural")
    encoder = loaded.model.get_encoder()

    def step(batch: list[int]) -> Any:
        with torch.inference_mode():
            rows = [texts[at] for at in batch]
            mask = _padded(torch, loaded, [(1,) * len(row) for row in rows])
            padded = _padded(torch, loaded, rows)
            return encoder(input_ids=padded, attention_mask=mask).last_hidden_state

    states: dict[Tokens, Any] = {}
    for batch, found in in_batches([len(text) for text in texts], runtime.budget, step):
        _add(runtime, [len(texts[at]) for at in batch])
        states |= {texts[at]: found[row, : len(texts[at])] for row, at in enumerate(batch)}
    return states


def _decoding_reader(
    loaded: Loaded, states: dict[Tokens, Any]
) -> Callable[[Sequence[TokenPair]], FloatArray]:
    """Return what gives the mean log-likelihood of each pair of a batch, shape ``(pairs,)``."""
    torch: Any = require("torch", extra="neural")
    start = _start_of_decoder(loaded)

    def read(pairs: Sequence[TokenPair]) -> FloatArray:
        with torch.inference_mode():
            given = [states[tokens] for tokens, _ in pairs]
            logits = loaded.model(
                encoder_outputs=(torch.nn.utils.rnn.pad_sequence(given, batch_first=True),),
                attention_mask=_padded(torch, loaded, [(1,) * len(each) for each in given]),
                decoder_input_ids=_padded(
                    torch, loaded, [(start, *text[:-1]) for _, text in pairs]
                ),
                use_cache=False,
            ).logits
            return _mean_likelihoods(torch, loaded, logits, [text for _, text in pairs])

    return read


def _causal_reader(loaded: Loaded) -> Callable[[Sequence[Tokens]], FloatArray]:
    """Return what gives the mean log-likelihood of all tokens but the first, by sequence."""
    torch: Any = require("torch", extra="neural")

    def read(sequences: Sequence[Tokens]) -> FloatArray:
        with torch.inference_mode():
            # no mask: padding stands on the right, and no token looks there
            inputs = _padded(torch, loaded, [sequence[:-1] for sequence in sequences])
            logits = loaded.model(input_ids=inputs, use_cache=False).logits
            return _mean_likelihoods(torch, loaded, logits, [each[1:] for each in sequences])

    return read


def _mean_likelihoods(
    torch: Any, loaded: Loaded, logits: Any, texts: Sequence[Tokens]
) -> FloatArray:
    """Return the mean log-likelihood of each text's tokens, shape ``(texts,)``.

    ``logits`` has shape ``(texts, tokens, vocabulary)``; it is normalised slice by slice, so
    that no second array of this size is made.
    """
    targets = _padded(torch, loaded, texts, fill=_IGNORED)
    rows = max(1, _SLICE // logits.shape[-1])
    slices = zip(logits.flatten(0, 1).split(rows), targets.flatten().split(rows), strict=True)
    losses = torch.cat(
        [
            torch.nn.functional.cross_entropy(
                part.float(), wanted, ignore_index=_IGNORED, reduction="none"
            )
            for part, wanted in slices
        ]
    )
    each = losses.view(targets.shape).cpu().numpy().astype(np.float64)
    return -each.sum(axis=1) / np.array([len(text) for text in texts])


def _padded(torch: Any, loaded: Loaded, rows: Sequence[Tokens], *, fill: int = 0) -> Any:
    """Return rows of equal length on the model's device, filled up on the right."""
    padded = np.full((len(rows), max(map(len, rows))), fill, dtype=np.int64)
    for at, row in enumerate(rows):
        padded[at, : len(row)] = row
    return torch.from_numpy(padded).to(loaded.model.device)


def _budget(loaded: Loaded, runtime: Runtime) -> int:
    """Return the tokens of a batch, fewer where predictions over the vocabulary are large."""
    most = CPU_LOGITS if runtime.device == "cpu" else DEVICE_LOGITS
    return max(1, min(runtime.budget, most // _vocabulary(loaded)))


def _vocabulary(loaded: Loaded) -> int:
    return int(loaded.model.get_input_embeddings().num_embeddings)


def _add(runtime: Runtime, lengths: Sequence[int]) -> None:
    padded = len(lengths) * max(lengths)
    runtime.tally.add(texts=len(lengths), tokens=sum(lengths), padded=padded)


def _start_of_text(loaded: Loaded) -> int:
    """Return the token before a text: GPT-2's is ``<|endoftext|>``."""
    tokenizer = loaded.tokenizer
    for start in (tokenizer.bos_token_id, tokenizer.eos_token_id):
        if start is not None:
            return int(start)
    raise _misfit(loaded, "has no token for the beginning of a text", "a causal language model")


def _start_of_decoder(loaded: Loaded) -> int:
    start = loaded.model.config.decoder_start_token_id
    if start is None:
        what = "does not say with which token its decoder begins (decoder_start_token_id)"
        raise _misfit(loaded, what, "an encoder and decoder such as BART")
    return int(start)


def _check_causal(loaded: Loaded) -> None:
    """Refuse a model whose predictions are not made from what stands before alone.

    Masked language models can be loaded as causal ones, and so can decoders without their
    encoder; both give numbers.
    """
    wanted = "a causal language model such as gpt2"
    config = json.loads((loaded.files.folder / "config.json").read_text("utf-8"))
    if config.get("is_encoder_decoder"):
        raise _misfit(loaded, "has an encoder, and a text alone does not feed it", wanted)
    torch: Any = require("torch", extra="neural")
    with torch.inference_mode():
        inputs = _padded(torch, loaded, [(0, 0), (0, _vocabulary(loaded) - 1)])
        first, second = loaded.model(input_ids=inputs, use_cache=False).logits[:, 0]
    noise = 32 * torch.finfo(first.dtype).eps * first.abs().max()
    if (first - second).abs().max() > noise:
        raise _misfit(loaded, "looks at the tokens that it shall predict", wanted)


def _check_marked(loaded: Loaded, texts: Iterable[Tokens]) -> None:
    """Refuse a tokenizer that does not mark the ends of a text: an empty one has no token."""
    if not all(texts):
        wanted = "one whose tokenizer marks the ends of texts, such as BART's"
        raise _misfit(loaded, "reads nothing where a text is empty", wanted)


def _misfit(loaded: Loaded, what: str, wanted: str) -> DataError:
    return DataError(
        f"the model {loaded.files.name!r} {what}",
        where=str(loaded.files.folder),
        fix=f"Name {wanted}.",
    )
