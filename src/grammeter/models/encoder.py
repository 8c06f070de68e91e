"""Encoders: how similar texts are by the states of their tokens, or by the means of these."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from grammeter.core import (
    BoolArray,
    DataError,
    FloatArray,
    IntArray,
    MissingResourceError,
    UsageError,
    require,
    track,
)
from grammeter.models.batching import batches, in_batches
from grammeter.models.files import ModelFiles
from grammeter.models.loading import Loaded, load
from grammeter.models.measures import Item, MeanSimilarity, Measure, TokenSimilarity
from grammeter.models.runtime import Runtime
from grammeter.models.service import Answers, Questions
from grammeter.models.similarity import Held, Question, chunks

PUBLISHED_LAYERS: Mapping[str, int] = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "distilbert-base-uncased": 5,
    "roberta-large": 17,
    "bart-base": 6,
}
"""Layers that the authors of BERTScore chose, by the model's name without its owner."""

STATE_NUMBERS = 2**25
"""Numbers in the token states that are held at once: 128 MB."""

Tokens = tuple[int, ...]
Encode = Callable[[Sequence[Tokens]], dict[int | None, Any]]

_DEPTHS = ("encoder_layers", "num_hidden_layers", "n_layers", "n_layer", "num_layers")
_ENDS_WITH_ITS_LAST_BLOCK = frozenset(
    ("albert", "bert", "camembert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta")
)
_LANGUAGE_MODELS = ("ForCausalLM", "GPT2LMHeadModel")


def layer_of(files: ModelFiles, layer: int | None) -> int:
    """Return the layer that a :class:`TokenSimilarity` reads; needs no torch.

    ``None`` is the published one, by the name of the model or its folder; for other models
    three quarters of the depth, rounded down, at least 1.

    Raises
    ------
    UsageError
        If the model has no such layer.
    MissingResourceError
        If its configuration does not tell the depth.
    """
    depth = _depth(files)[1]
    published = PUBLISHED_LAYERS.get(files.name.rstrip("/").rpartition("/")[2], depth + 1)
    if layer is None:
        return published if published <= depth else max(1, depth * 3 // 4)
    if not 1 <= layer <= depth:
        raise UsageError(
            f"layer={layer}, but the model {files.name!r} has {depth} layers",
            fix=f"Use 1 to {depth}, or leave it out.",
        )
    return layer


def answer(files: ModelFiles, questions: Questions, runtime: Runtime) -> Answers:
    """Compare pairs of texts; all measures share one pass of each distinct token sequence.

    Parameters
    ----------
    files
        An encoder, or an encoder and decoder, of which the encoder is used.
    questions
        The distinct pairs of each :class:`~grammeter.models.measures.TokenSimilarity` and
        :class:`~grammeter.models.measures.MeanSimilarity`.
    runtime
        Device, number type, tokens of a batch; its tally is kept.

    Yields
    ------
    measure, positions, rows
        Rows ``precision recall f1 truncated`` and ``cosine truncated``, in single precision
        whatever the model's number type. Pairs of equal token sequences have equal figures.
        A pair with a text of special tokens alone has precision, recall and f1 0.

    Raises
    ------
    UsageError
        If the model has no such layer.
    DataError
        If it is no encoder.
    """
    layers = {measure: _layer(files, measure) for measure in questions}
    loaded = _open(files, list(layers.values()), runtime)
    reader = _Reader(loaded)
    asked = [_ask(reader, measure, layers[measure], items) for measure, items in questions.items()]
    for question in asked:
        yield from question.settle()
    for held in _encoded(loaded, reader.sequences, asked, runtime):
        for question, at in zip(asked, held.pairs, strict=True):
            yield from question.compare(held, at, runtime)
        held.clear()  # before the next states need the room


@dataclass(frozen=True, eq=False)
class TokenCosines:
    """The tokens of a candidate and a reference, and how similar each two are.

    Attributes
    ----------
    tokens
        Of the two texts, special tokens included, as the tokenizer writes them.
    weights
        Of the tokens of either text, 0 for special ones.
    cosines
        Shape ``(tokens of the candidate, tokens of the reference)``.
    """

    tokens: tuple[tuple[str, ...], tuple[str, ...]]
    weights: tuple[FloatArray, FloatArray]
    cosines: FloatArray


def token_cosines(
    files: ModelFiles, measure: TokenSimilarity, pair: tuple[str, str], runtime: Runtime
) -> TokenCosines:
    """Compare all tokens of one pair of texts, as :func:`answer` does for BERTScore."""
    layer = layer_of(files, measure.layer)
    loaded = _open(files, [layer], runtime)
    reader = _Reader(loaded)
    texts = [reader.stripped(text) for text in pair]
    known = reader.read(texts, None)
    first, second = (reader.sequences[known[text][0]] for text in texts)
    encode, weights = _encoder(loaded, [layer]), reader.weights(measure.idf)
    states = encode([first, second])[layer]
    cosines = states[: len(first)] @ states[len(first) :].T
    name: Any = loaded.tokenizer.convert_ids_to_tokens
    return TokenCosines(
        tokens=(tuple(name(list(first))), tuple(name(list(second)))),
        weights=(weights[list(first)], weights[list(second)]),
        cosines=cosines.cpu().numpy().astype(np.float64),
    )


def _layer(files: ModelFiles, measure: Measure) -> int | None:
    """Return the layer whose token states a measure reads; ``None`` for means of the last one."""
    return layer_of(files, measure.layer) if isinstance(measure, TokenSimilarity) else None


def _config(files: ModelFiles) -> dict[str, Any]:
    path = files.folder / "config.json"
    try:
        config: Any = json.loads(path.read_text("utf-8"))
        if isinstance(config, dict):
            return config  # pyright: ignore[reportUnknownVariableType]
    except (ValueError, RecursionError):
        pass
    raise MissingResourceError(
        "not a JSON object", where=str(path), fix="Fetch or write the model again."
    )


def _depth(files: ModelFiles) -> tuple[str, int]:
    """Return how a model's configuration calls the number of its blocks, and this number."""
    config = _config(files)
    for name in _DEPTHS:
        if isinstance(config.get(name), int):
            return name, config[name]
    raise MissingResourceError(
        f"the model {files.name!r} does not say how many layers it has",
        where=str(files.folder / "config.json"),
        fix="Use an encoder such as BERT.",
    )


def _open(files: ModelFiles, layers: Sequence[int | None], runtime: Runtime) -> Loaded:
    """Load a model with no more blocks than are read."""
    config = _config(files)
    kinds: Any = config.get("architectures")
    names = map(str, cast("list[object]", kinds) if isinstance(kinds, list) else ())
    if config.get("is_decoder") or any(name.endswith(_LANGUAGE_MODELS) for name in names):
        raise _misfit(files, "is a language model, not an encoder")
    settings: dict[str, int] = {}
    wanted = [layer for layer in layers if layer is not None]
    # others end with a norm, which would act on another layer's states
    if len(wanted) == len(layers) and config.get("model_type") in _ENDS_WITH_ITS_LAST_BLOCK:
        settings[_depth(files)[0]] = max(wanted)
    loaded = load(files, "AutoModel", runtime, **settings)
    borders = loaded.tokenizer.cls_token_id, loaded.tokenizer.sep_token_id
    if not loaded.model.config.is_encoder_decoder and borders == (None, None):
        raise _misfit(files, "is no encoder: its tokenizer has neither [CLS] nor [SEP]")
    return loaded


def _misfit(files: ModelFiles, what: str) -> DataError:
    return DataError(
        f"the model {files.name!r} {what}",
        where=str(files.folder),
        fix="Name an encoder such as BERT, with its own tokenizer.",
    )


def _special_tokens(loaded: Loaded) -> set[int]:
    """Return the numbers of tokens at the borders of a text, which are matched but not counted."""
    names = ("cls_token_id", "sep_token_id", "bos_token_id", "eos_token_id")
    return {getattr(loaded.tokenizer, name, None) for name in names} - {None}  # pyright: ignore


class _Reader:
    """Reads texts as token sequences; equal ones have the same number, counted from 0."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._texts: dict[int | None, dict[str, tuple[int, bool]]] = {}
        self._numbers: dict[Tokens, int] = {}
        self._vocabulary = int(loaded.model.get_input_embeddings().num_embeddings)
        self._special = _special_tokens(loaded)
        # the program that defines BERTScore reads RoBERTa's texts as if others stood before
        self._before = " " if loaded.model.config.model_type == "roberta" else ""

    @property
    def sequences(self) -> list[Tokens]:
        """All token sequences so far, by number."""
        return list(self._numbers)

    def read(self, texts: Iterable[str], limit: int | None) -> Mapping[str, tuple[int, bool]]:
        """Return the number of each text's sequence, and whether the text was cut to ``limit``."""
        known = self._texts.setdefault(limit, {})
        new = [text for text in dict.fromkeys(texts) if text not in known]
        inputs, cut = self._loaded.tokenize(new, limit=limit)
        for text, one, was_cut in zip(new, inputs, cut, strict=True):
            tokens = tuple(one["input_ids"])
            known[text] = self._numbers.setdefault(tokens, len(self._numbers)), was_cut
        return known

    def stripped(self, text: str) -> str:
        """Return a text as BERTScore encodes it."""
        text = text.strip()
        return self._before + text if text else ""

    def weights(self, texts: Sequence[str] | None) -> FloatArray:
        """Return the weight of each token of the vocabulary: 1, or its idf in ``texts``.

        The idf is log((n + 1) / (df + 1)), where df of n texts have the token; special tokens
        weigh 0.
        """
        weights = np.ones(self._vocabulary)
        if texts is not None:
            inputs, _ = self._loaded.tokenize([self.stripped(text) for text in texts], limit=None)
            found = Counter(token for one in inputs for token in set(one["input_ids"]))
            having = np.zeros(self._vocabulary)
            having[list(found)] = list(found.values())
            weights = np.log((len(texts) + 1) / (having + 1))
        weights[list(self._special)] = 0.0
        return weights

    def bare(self, *, special: bool) -> BoolArray:
        """Say which sequences have no token or, with ``special``, none but special ones."""
        ignored: set[int] = self._special if special else set()
        return np.array([ignored.issuperset(each) for each in self._numbers], dtype=np.bool_)


def _ask(reader: _Reader, measure: Measure, layer: int | None, items: Sequence[Item]) -> Question:
    """Read the texts of a measure's items."""
    pairs: list[Any] = list(items)
    limit, idf = None, None
    if isinstance(measure, TokenSimilarity):
        pairs = [(reader.stripped(first), reader.stripped(second)) for first, second in pairs]
        idf = measure.idf
    elif isinstance(measure, MeanSimilarity):
        limit = measure.limit
    known = reader.read((text for pair in pairs for text in pair), limit)
    found = np.array([[known[text] for text in pair] for pair in pairs], dtype=np.int64)
    distinct, pair_of = np.unique(found[:, :, 0], axis=0, return_inverse=True)
    bare: BoolArray = reader.bare(special=layer is not None)[distinct]
    return Question(
        measure=measure,
        layer=layer,
        weights=reader.weights(idf),
        pairs=distinct,
        pair_of=pair_of.ravel(),
        truncated=found[:, :, 1].sum(axis=1),
        figures=np.full((len(distinct), len(measure.columns) - 1), np.nan),
        bare=np.any(bare, axis=1),
    )


def _encoded(
    loaded: Loaded,
    sequences: Sequence[Tokens],
    asked: Sequence[Question],
    runtime: Runtime,
) -> Iterator[Held]:
    """Encode chunk by chunk; yield the states of each."""
    layers = {question.layer for question in asked}
    lengths = np.array([len(each) for each in sequences], dtype=np.int64)
    capacity = STATE_NUMBERS // (loaded.model.config.hidden_size * len(layers))
    planned = list(_plan(asked, lengths, capacity))
    total = sum(len(batches(lengths[each].tolist(), runtime.budget)) for each, _ in planned)
    encode = _encoder(loaded, layers)

    def passes() -> Iterator[Held]:
        for numbers, pairs in planned:
            held = Held(numbers, sequences, pairs)
            yield from _batches(held, encode, runtime)

    for held in track(passes(), f"{loaded.files.name} (batches)", total):
        if held.complete:
            yield held


def _plan(
    asked: Sequence[Question], lengths: IntArray, capacity: int
) -> Iterator[tuple[IntArray, list[IntArray]]]:
    """Yield the sequences of each chunk and, by question, the pairs that they answer."""
    waiting = [np.flatnonzero(~question.bare) for question in asked]
    owner = np.repeat(np.arange(len(asked)), [len(at) for at in waiting])
    position = np.concatenate(waiting)
    pairs = [question.pairs[at] for question, at in zip(asked, waiting, strict=True)]
    for chunk in chunks(np.concatenate(pairs), lengths, capacity):
        owned = [chunk.pairs[owner[chunk.pairs] == number] for number in range(len(asked))]
        yield chunk.sequences, [position[at] for at in owned]


def _batches(held: Held, encode: Encode, runtime: Runtime) -> Iterator[Held]:
    """Encode a chunk; yield it after each batch."""
    lengths = held.lengths
    encoded = in_batches(
        lengths.tolist(), runtime.budget, lambda batch: encode([held.sequences[at] for at in batch])
    )
    for batch, states in encoded:
        held.put(batch, states)
        runtime.tally.add(
            texts=len(batch),
            tokens=int(lengths[batch].sum()),
            padded=len(batch) * int(lengths[batch].max()),
        )
        yield held


def _encoder(loaded: Loaded, layers: Iterable[int | None]) -> Encode:
    """Return what gives a batch's states in single precision.

    By layer, token states of length 1, shape ``(tokens, width)``; for ``None`` the means of the
    last states, shape ``(sequences, width)``.
    """
    torch: Any = require("torch", extra="neural")
    model = loaded.model.get_encoder() if loaded.model.config.is_encoder_decoder else loaded.model
    wanted = set(layers)

    def encode(sequences: Sequence[Tokens]) -> dict[int | None, Any]:
        with torch.inference_mode():
            tokens, real = _padded(loaded, sequences)
            outputs = model(input_ids=tokens, attention_mask=real, output_hidden_states=True)
            found: dict[int | None, Any] = {}
            for layer in wanted:
                if layer is None:
                    found[layer] = _means(outputs.last_hidden_state.float(), real)
                else:
                    states = outputs.hidden_states[layer][real.bool()].float()
                    found[layer] = torch.nn.functional.normalize(states, dim=-1)
        return found

    return encode


def _means(states: Any, real: Any) -> Any:
    """Average the states of the real tokens: ``(sequences, longest, width)`` less the middle."""
    return (states * real[:, :, None]).sum(1) / real.sum(1, keepdim=True)


def _padded(loaded: Loaded, sequences: Sequence[Tokens]) -> tuple[Any, Any]:
    """Return tokens and mask, padded on the right, on the model's device."""
    torch: Any = require("torch", extra="neural")
    width = max(map(len, sequences))
    tokens = np.full((len(sequences), width), loaded.model.config.pad_token_id or 0)
    real = np.zeros_like(tokens)
    for row, sequence in enumerate(sequences):
        tokens[row, : len(sequence)] = sequence
        real[row, : len(sequence)] = 1
    device = loaded.model.device
    return torch.from_numpy(tokens).to(device), torch.from_numpy(real).to(device)
