"""Encoders: similarity of texts by the states of their tokens, or by the means of the states."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

import numpy as np

from grammeter.core import BoolArray, FloatArray, IntArray, UsageError, require, track
from grammeter.models.files import ModelFiles
from grammeter.models.loading import Loaded, batches, in_batches, load
from grammeter.models.runtime import ModelInput, Runtime
from grammeter.models.service import Answers, MeanSimilarity, Measure, Questions, TokenSimilarity
from grammeter.models.similarity import Held, SimilarityQuestion, chunks

STATE_NUMBERS = 2**25  # maximum numbers in the token states held at once: 128 MB
Tokens = tuple[int, ...]
Encode = Callable[[Sequence[Tokens]], dict[int | None, Any]]
_ENDS_WITH_ITS_LAST_BLOCK = frozenset(
    ("albert", "bert", "camembert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta")
)
_LANGUAGE_MODELS = ("ForCausalLM", "GPT2LMHeadModel")
_FIX = "Name an encoder such as BERT, with its own tokenizer."


def layer_of(files: ModelFiles, layer: int | None) -> int:
    """Return the layer that a :class:`TokenSimilarity` reads, without loading torch.

    ``None``: the published one, by the name of the model or its folder; for models without one, or
    with fewer layers, three quarters of the depth, rounded down, at least 1. Raises UsageError if
    the model has no such layer; MissingResourceError if its configuration lacks the depth.
    """
    depth = files.depth()[1]
    if layer is None:
        published = files.published_layer()
        return max(1, depth * 3 // 4) if published is None or published > depth else published
    if not 1 <= layer <= depth:
        fault = f"layer={layer}, but the model {files.name!r} has {depth} layers"
        raise UsageError(fault, fix=f"Use 1 to {depth}, or leave it out.")
    return layer


def answer(files: ModelFiles, questions: Questions, runtime: Runtime) -> Answers:
    """Compare pairs of texts; all measures share one pass of each distinct token sequence.

    Rows ``precision recall f1 truncated`` and ``cosine truncated``, in single precision whatever
    the model's number type. Pairs of equal token sequences have equal figures. If a text has only
    special tokens, precision, recall and f1 of its pairs are 0.
    """
    layers = {  # whose token states a measure reads; None: the means of the last one
        measure: layer_of(files, measure.layer) if isinstance(measure, TokenSimilarity) else None
        for measure in questions
    }
    loaded = open_encoder(files, list(layers.values()), runtime)
    reader = Reader(loaded)
    read = [_ask(reader, measure, layers[measure], items) for measure, items in questions.items()]
    for question in read:
        yield from question.settle()
    for held in _encoded(loaded, list(reader.numbers), read, runtime):
        for question, at in zip(read, held.pairs, strict=True):
            yield from question.compare(held, at, runtime)
        held.states.clear()  # before the next states need the memory


@dataclass(frozen=True, eq=False)
class TokenCosines:
    """The tokens of a candidate and a reference, special ones included, and their similarities."""

    tokens: tuple[tuple[str, ...], tuple[str, ...]]  # as the tokenizer writes them
    weights: tuple[FloatArray, FloatArray]  # of the tokens of either text, 0 for special ones
    cosines: FloatArray  # shape (tokens of the candidate, tokens of the reference)


def token_cosines(
    files: ModelFiles, measure: TokenSimilarity, pair: tuple[str, str], runtime: Runtime
) -> TokenCosines:
    """Compare all tokens of one pair of texts, as :func:`answer` does for BERTScore."""
    layer = layer_of(files, measure.layer)
    loaded = open_encoder(files, [layer], runtime)
    reader = Reader(loaded)
    texts = [reader.stripped(text) for text in pair]
    known, sequences = reader.read(texts, None), list(reader.numbers)
    first, second = (sequences[known[text][0]] for text in texts)
    encode, weights = state_encoder(loaded, [layer]), reader.weights(measure.idf)
    states = encode([first, second])[layer]
    cosines = states[: len(first)] @ states[len(first) :].T
    name: Any = loaded.tokenizer.convert_ids_to_tokens
    return TokenCosines(
        tokens=(tuple(name(list(first))), tuple(name(list(second)))),
        weights=(weights[list(first)], weights[list(second)]),
        cosines=cosines.cpu().numpy().astype(np.float64),
    )


def open_encoder(files: ModelFiles, layers: Sequence[int | None], runtime: Runtime) -> Loaded:
    """Load a model with no more blocks than are read."""
    config = files.config()
    kinds: Any = config.get("architectures")
    names = map(str, cast("list[object]", kinds) if isinstance(kinds, list) else ())
    if config.get("is_decoder") or any(name.endswith(_LANGUAGE_MODELS) for name in names):
        raise files.misfit("is a language model, not an encoder", _FIX)
    settings: dict[str, int] = {}
    numbered = [layer for layer in layers if layer is not None]
    # others end with a norm, which would act on another layer's states
    if len(numbered) == len(layers) and config.get("model_type") in _ENDS_WITH_ITS_LAST_BLOCK:
        settings[files.depth()[0]] = max(numbered)
    loaded = load(files, "AutoModel", runtime, **settings)
    borders = loaded.tokenizer.cls_token_id, loaded.tokenizer.sep_token_id
    if not loaded.model.config.is_encoder_decoder and borders == (None, None):
        raise files.misfit("is no encoder: its tokenizer has neither [CLS] nor [SEP]", _FIX)
    return loaded


class Reader:
    """Converts texts to token sequences; equal ones have the same number, from 0."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._texts: dict[int | None, dict[str, tuple[int, bool]]] = {}
        self.numbers: dict[Tokens, int] = {}  # of all token sequences so far
        names = ("cls_token_id", "sep_token_id", "bos_token_id", "eos_token_id")
        borders: set[Any] = {getattr(loaded.tokenizer, name, None) for name in names}
        self._special: set[int] = borders - {None}  # matched but not counted
        # bert_score, which defines BERTScore, reads RoBERTa's texts with a space before them
        self._before = " " if loaded.model.config.model_type == "roberta" else ""

    def read(self, texts: Iterable[str], limit: int | None) -> Mapping[str, tuple[int, bool]]:
        """Return the number of each text's sequence, and whether the text was cut to ``limit``."""
        known = self._texts.setdefault(limit, {})
        new = [text for text in dict.fromkeys(texts) if text not in known]
        inputs, cut = self._loaded.tokenize(new, limit=limit)
        for text, one, was_cut in zip(new, inputs, cut, strict=True):
            tokens = tuple(one["input_ids"])
            known[text] = self.numbers.setdefault(tokens, len(self.numbers)), was_cut
        return known

    def stripped(self, text: str) -> str:
        """Return a text as BERTScore encodes it."""
        text = text.strip()
        return self._before + text if text else ""

    def weights(self, texts: Sequence[str] | None) -> FloatArray:
        """Return each token's weight: 1, or its idf, log((n + 1) / (df + 1)); special tokens 0."""
        weights = np.ones(self._loaded.vocabulary)
        if texts is not None:
            inputs, _ = self._loaded.tokenize([self.stripped(text) for text in texts], limit=None)
            distinct = [token for one in inputs for token in set(one["input_ids"])]
            having = np.bincount(np.array(distinct, dtype=np.int64), minlength=len(weights))
            weights = np.log((len(texts) + 1) / (having + 1))
        weights[list(self._special)] = 0.0
        return weights

    def bare(self, *, special: bool) -> BoolArray:
        """Return which sequences have no tokens or, with ``special``, only special ones."""
        ignored = self._special if special else set[int]()
        return np.array([ignored.issuperset(tokens) for tokens in self.numbers], dtype=np.bool_)


def _ask(
    reader: Reader, measure: Measure, layer: int | None, items: Sequence[ModelInput]
) -> SimilarityQuestion:
    pairs: list[Any] = list(items)
    limit = measure.limit if isinstance(measure, MeanSimilarity) else None
    idf = measure.idf if isinstance(measure, TokenSimilarity) else None
    if isinstance(measure, TokenSimilarity):
        pairs = [tuple(map(reader.stripped, pair)) for pair in pairs]
    known = reader.read((text for pair in pairs for text in pair), limit)
    numbered = np.array([[known[text] for text in pair] for pair in pairs], dtype=np.int64)
    distinct, pair_of = np.unique(numbered[:, :, 0], axis=0, return_inverse=True)
    bare: BoolArray = reader.bare(special=layer is not None)[distinct]
    return SimilarityQuestion(
        measure=measure, layer=layer, weights=reader.weights(idf),
        pairs=distinct, pair_of=pair_of.ravel(), truncated=numbered[:, :, 1].sum(axis=1),
        figures=np.full((len(distinct), len(measure.columns) - 1), np.nan),
        bare=np.any(bare, axis=1),
    )  # fmt: skip


def _encoded(
    loaded: Loaded, texts: list[Tokens], asked: Sequence[SimilarityQuestion], runtime: Runtime
) -> Iterator[Held]:
    layers = {question.layer for question in asked}
    lengths = np.array([len(tokens) for tokens in texts], dtype=np.int64)
    capacity = STATE_NUMBERS // (loaded.model.config.hidden_size * len(layers))
    planned = list(_plan(asked, lengths, capacity))
    total = sum(len(batches(lengths[part].tolist(), runtime.budget)) for part, _ in planned)
    encode = state_encoder(loaded, layers)
    parts = (Held(numbers, texts, pairs) for numbers, pairs in planned)
    passes = chain.from_iterable(_batches(held, encode, runtime) for held in parts)
    for held in track(passes, f"{loaded.files.name} (batches)", total):
        if not held.missing:
            yield held


def _plan(
    questions: Sequence[SimilarityQuestion], lengths: IntArray, capacity: int
) -> Iterator[tuple[IntArray, list[IntArray]]]:
    """Yield the sequences of each chunk and, by question, the pairs that they answer."""
    waiting = [np.flatnonzero(~question.bare) for question in questions]
    owner = np.repeat(np.arange(len(questions)), [len(at) for at in waiting])
    position = np.concatenate(waiting)
    pairs = [question.pairs[at] for question, at in zip(questions, waiting, strict=True)]
    for numbers, members in chunks(np.concatenate(pairs), lengths, capacity):
        owned = [members[owner[members] == number] for number in range(len(questions))]
        yield numbers, [position[at] for at in owned]


def _batches(held: Held, encode: Encode, runtime: Runtime) -> Iterator[Held]:
    def step(batch: list[int]) -> dict[int | None, Any]:
        return encode([held.sequences[at] for at in batch])

    for batch, states in in_batches(held.lengths.tolist(), runtime.budget, step, runtime.tally):
        held.put(batch, states)
        yield held


def state_encoder(
    loaded: Loaded, layers: Iterable[int | None], *, mean_of: int | None = None
) -> Encode:
    """Return a function for a batch's states in single precision.

    By layer, token states of length 1, shape ``(tokens, width)``; for ``None`` the means of the
    states of layer ``mean_of``, the last ones by default, shape ``(sequences, width)``.
    """
    torch: Any = require("torch", extra="neural")
    model = loaded.model.get_encoder() if loaded.model.config.is_encoder_decoder else loaded.model
    distinct = set(layers)

    def encode(sequences: Sequence[Tokens]) -> dict[int | None, Any]:
        states: dict[int | None, Any] = {}
        with torch.inference_mode():
            batch = loaded.batch(sequences)
            real = batch["attention_mask"]
            outputs = model(**batch, output_hidden_states=True)
            for layer in distinct - {None}:
                tokens = outputs.hidden_states[layer][real.bool()].float()
                states[layer] = torch.nn.functional.normalize(tokens, dim=-1)
            if None in distinct:
                last = mean_of is None
                means = outputs.last_hidden_state if last else outputs.hidden_states[mean_of]
                total = (means.float() * real[:, :, None]).sum(1)
                states[None] = total / real.sum(1, keepdim=True)
        return states

    return encode
