"""Encoders: how similar texts are, and how far apart changes of texts, by the encoder's states."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self, cast

import numpy as np

from grammeter.core import BoolArray, FloatArray, IntArray, UsageError, require, track
from grammeter.models.files import ModelFiles
from grammeter.models.loading import Loaded, batches, in_batches, load
from grammeter.models.runtime import Runtime
from grammeter.models.service import (
    Answers,
    ChangeDistance,
    MeanSimilarity,
    Questions,
    TokenSimilarity,
)

_ENDS_WITH_ITS_LAST_BLOCK = frozenset(
    ("albert", "bert", "camembert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta")
)
_LANGUAGE_MODELS = ("ForCausalLM", "GPT2LMHeadModel")
_FIX = "Name an encoder such as BERT, with its own tokenizer."
_BELOW_ANY_COSINE = -2.0
Rows = Iterator[tuple[list[int], FloatArray]]
STATE_NUMBERS = 2**25  # maximum numbers in the states held at once: 128 MB
Tokens = tuple[int, ...]
Encode = Callable[[Sequence[Tokens]], Any]


# --- items of texts as token sequences, each encoded once, as many at a time as memory holds ----
@dataclass(frozen=True, eq=False)
class Held:
    """States of the sequences of some rows; ``starts`` has the first state of each sequence."""

    at: IntArray  # positions of the rows
    states: Any  # one sequence after the other, shape (states, width)
    starts: IntArray  # shape (sequences,)

    def padded(self, numbers: IntArray, lengths: IntArray) -> tuple[Any, Any]:
        """Return states ``(numbers, longest, width)`` and a mask, ``(numbers, longest)``."""
        torch: Any = require("torch", extra="neural")
        columns: IntArray = np.arange(int(lengths[numbers].max()))[None, :]
        real: BoolArray = columns < lengths[numbers][:, None]
        rows = np.where(real, self.starts[numbers][:, None] + columns, 0)
        at, mask = (torch.from_numpy(of).to(self.states.device) for of in (rows, real))
        return self.states[at], mask


@dataclass(frozen=True, eq=False)
class Items:
    """Items of equally many texts, as distinct rows of numbers of distinct token sequences."""

    sequences: list[Tokens]
    rows: IntArray  # shape (rows, texts), ordered by the last column
    row_of: IntArray  # shape (items,)
    cut: IntArray  # shape (items,): how many of the texts were cut

    @classmethod
    def read(cls, loaded: Loaded, items: Sequence[Any], limit: int | None) -> Self:
        """Convert items, tuples of texts, of each of which at most ``limit`` tokens are taken."""
        texts = list(dict.fromkeys(chain.from_iterable(items)))
        inputs, were_cut = loaded.tokenize(texts, limit=limit)
        tokens = [tuple(one["input_ids"]) for one in inputs]
        number = {sequence: n for n, sequence in enumerate(dict.fromkeys(tokens))}
        read = zip(texts, tokens, were_cut, strict=True)
        known = {text: (number[sequence], was_cut) for text, sequence, was_cut in read}
        table = np.array([[known[text] for text in item] for item in items], dtype=np.int64)
        rows, row_of = np.unique(table[:, ::-1, 0], axis=0, return_inverse=True)
        return cls(list(number), rows[:, ::-1], row_of.ravel(), table[:, :, 1].sum(axis=1))

    def tokens(self, numbers: IntArray) -> list[Tokens]:
        """Return sequences by their numbers."""
        chosen: list[int] = numbers.tolist()
        return [self.sequences[number] for number in chosen]

    @property
    def lengths(self) -> IntArray:
        """Number of tokens of each sequence."""
        return np.array([len(tokens) for tokens in self.sequences], dtype=np.int64)

    def split(self, ignored: Collection[int] = ()) -> tuple[IntArray, IntArray]:
        """Return the rows with a sequence that has only ``ignored`` tokens, and the others."""
        empty = [set(ignored).issuperset(tokens) for tokens in self.sequences]
        bare = np.array(empty, dtype=np.bool_)[self.rows].any(axis=1)
        return np.flatnonzero(bare), np.flatnonzero(~bare)

    def answer(self, at: IntArray, figures: FloatArray) -> tuple[list[int], FloatArray]:
        """Return the positions of the items of some rows, and their figures and ``truncated``."""
        place = np.full(len(self.rows), -1)
        place[at] = np.arange(len(at))
        positions = np.flatnonzero(place[self.row_of] >= 0)
        rows = figures[place[self.row_of[positions]]]
        return positions.tolist(), np.column_stack([rows, self.cut[positions].astype(np.float64)])

    def encoded(
        self, loaded: Loaded, at: IntArray, encode: Encode, runtime: Runtime,
        *, column: int | None = None, each: int | None = None,
    ) -> Iterator[Held]:  # fmt: skip
        """Yield the states of the rows at ``at``, as many rows at a time as memory should hold.

        ``encode`` returns the states of a batch of sequences, one sequence after the other: one for
        each token, or ``each`` of a sequence. ``column``: only that of the rows is encoded.
        """
        torch: Any = require("torch", extra="neural")
        lengths, rows = self.lengths, self.rows[at]
        rows = rows if column is None else rows[:, column : column + 1]
        sizes = lengths if each is None else np.full_like(lengths, each)
        capacity = STATE_NUMBERS // loaded.model.config.hidden_size
        planned = list(chunks(rows, sizes, capacity))
        total = sum(len(batches(lengths[held].tolist(), runtime.budget)) for held, _ in planned)

        def passes(held: IntArray, part: slice) -> Iterator[Held | None]:
            parts, order = list[Any](), list[int]()

            def step(batch: list[int]) -> Any:
                return encode(self.tokens(held[batch]))

            own = lengths[held].tolist()
            for batch, states in in_batches(own, runtime.budget, step, runtime.tally):
                parts.append(states)
                order.extend(cast("list[int]", held[batch].tolist()))
                if len(order) < len(held):
                    yield None
            starts = np.zeros_like(sizes)
            starts[order] = np.cumsum(sizes[order]) - sizes[order]
            yield Held(at[part], torch.cat(parts), starts)

        steps = chain.from_iterable(passes(*chunk) for chunk in planned)
        yield from filter(None, track(steps, f"{loaded.files.name} (batches)", total))


def chunks(rows: IntArray, sizes: IntArray, room: int) -> Iterator[tuple[IntArray, slice]]:
    """Split rows into ranges whose sequences have at most ``room`` states, or a single longer row.

    ``rows``, ``(rows, texts)``, are numbers of sequences, ``sizes`` the number of their states.
    Yields the sequences of a range, ascending, and the range.
    """
    each: list[int] = sizes.tolist()
    held: set[int] = set()
    size = start = 0
    for end, row in enumerate(cast("list[list[int]]", rows.tolist())):
        new = {*row} - held
        if held and new and size + sum(each[number] for number in new) > room:
            yield np.array(sorted(held)), slice(start, end)
            held, new, size, start = set[int](), {*row}, 0, end
        size += sum(each[number] for number in new)
        held |= new
    if held:
        yield np.array(sorted(held)), slice(start, len(rows))


# --- what is compared ----------------------------------------------------------------------
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
    """Compare texts, each distinct token sequence once through the encoder for each measure.

    Rows ``precision recall f1 truncated``, ``cosine truncated`` or ``first second distance cosine
    truncated``, from states in single precision whatever the model's number type. Items of equal
    token sequences have equal figures. If a text has only special tokens, precision, recall and f1
    of its pairs are 0; a change that the encoder cannot see is exactly zero.
    """
    measure: Any
    items: Any
    for measure, items in questions.items():
        compare: Any = _by_tokens if isinstance(measure, TokenSimilarity) else _by_means
        for positions, figures in compare(files, measure, items, runtime):
            yield measure, positions, figures


def _by_tokens(
    files: ModelFiles, measure: TokenSimilarity, pairs: Sequence[tuple[str, str]], runtime: Runtime
) -> Rows:
    layer = layer_of(files, measure.layer)
    loaded = open_encoder(files, layer, runtime)
    asked = Items.read(loaded, [_stripped(loaded, pair) for pair in pairs], None)
    weights, encode = _weights(loaded, measure.idf), state_encoder(loaded, layer)
    bare, there = asked.split(_special(loaded))
    if len(bare):
        yield asked.answer(bare, np.zeros((len(bare), 3)))
    for held in asked.encoded(loaded, there, encode, runtime):

        def step(batch: list[int], held: Held = held) -> FloatArray:
            return compare_tokens(loaded, asked, held, weights, held.at[batch])

        figures = np.empty((len(held.at), 3))
        lengths = asked.lengths[asked.rows[held.at]].sum(axis=1).tolist()
        for batch, found in in_batches(lengths, runtime.budget, step):
            figures[batch] = found
        yield asked.answer(held.at, figures)


def compare_tokens(
    loaded: Loaded, asked: Items, held: Held, weights: FloatArray, at: IntArray
) -> FloatArray:
    """Match the tokens of candidates and references greedily by their cosines.

    Zhang et al. (2020), section 3: each token is matched with the most similar token of the
    other side, including special tokens; the weighted mean over the candidate's tokens is the
    precision, that over the reference's the recall.

    ``weights`` are those of the vocabulary, 0 for special tokens; ``at`` are positions of rows:
    candidate and reference. Returns precision, recall and f1, -1 to 1, shape ``(rows, 3)``: the
    first two NaN where all weights are 0, f1 0 where it is undefined.
    """
    torch: Any = require("torch", extra="neural")
    of_tokens = torch.from_numpy(weights.astype(np.float32)).to(held.states.device)
    sides: list[Any] = []
    for numbers in asked.rows[at].T:
        states, real = held.padded(numbers, asked.lengths)
        tokens = loaded.padded(asked.tokens(numbers))
        sides.append((states, real, of_tokens[tokens] * real))
    (candidates, real, weighed), (references, real_too, weighed_too) = sides
    cosines = candidates @ references.transpose(1, 2)
    # padding must not win where all real cosines are negative
    best = cosines.masked_fill(~real_too[:, None, :], _BELOW_ANY_COSINE).amax(2)
    best_too = cosines.masked_fill(~real[:, :, None], _BELOW_ANY_COSINE).amax(1)
    precision = (weighed * best).sum(1) / weighed.sum(1)
    recall = (weighed_too * best_too).sum(1) / weighed_too.sum(1)
    p, r = (figures.cpu().numpy().astype(np.float64) for figures in (precision, recall))
    defined = np.isfinite(p) & np.isfinite(r) & (p + r != 0)
    below = np.where(defined, p + r, 1.0)
    return np.column_stack([p, r, np.where(defined, 2 * p * r, 0.0) / below])


def _by_means(
    files: ModelFiles, measure: ChangeDistance | MeanSimilarity, items: Sequence[Any],
    runtime: Runtime,
) -> Rows:  # fmt: skip
    changes = isinstance(measure, ChangeDistance)
    layer = layer_of(files, measure.layer) if changes and measure.layer is not None else None
    loaded = open_encoder(files, layer, runtime)
    asked = Items.read(loaded, items, measure.limit)
    bare, there = asked.split()
    if len(bare):
        yield asked.answer(bare, np.full((len(bare), len(measure.columns) - 1), np.nan))
    encode, figures = state_encoder(loaded, layer, means=True), _distances if changes else _cosines
    for held in asked.encoded(loaded, there, encode, runtime, each=1):
        states = [held.states[held.starts[numbers]] for numbers in asked.rows[held.at].T]
        yield asked.answer(held.at, figures(*states))


def _cosines(first: Any, second: Any) -> FloatArray:
    torch: Any = require("torch", extra="neural")
    return torch.cosine_similarity(first, second, dim=1).cpu().numpy().astype(np.float64)[:, None]


def _distances(*states: Any) -> FloatArray:
    """Return norms of two changes, (after, before) each, their distance and their cosine."""
    after, before, *others = (mean.cpu().numpy().astype(np.float64) for mean in states)
    one, other = after - before, others[0] - others[1]
    norms = np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1)
    with np.errstate(invalid="ignore"):
        cosines = (one * other).sum(axis=1) / (norms[0] * norms[1])
    return np.column_stack([*norms, np.linalg.norm(one - other, axis=1), cosines])


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
    loaded = open_encoder(files, layer, runtime)
    read, _ = loaded.tokenize(_stripped(loaded, pair), limit=None)
    first, second = (one["input_ids"] for one in read)
    states = state_encoder(loaded, layer)([tuple(first), tuple(second)])
    cosines = states[: len(first)] @ states[len(first) :].T
    name, weights = loaded.tokenizer.convert_ids_to_tokens, _weights(loaded, measure.idf)
    return TokenCosines(
        tokens=(tuple(name(first)), tuple(name(second))),
        weights=(weights[first], weights[second]),
        cosines=cosines.cpu().numpy().astype(np.float64),
    )


def open_encoder(files: ModelFiles, layer: int | None, runtime: Runtime) -> Loaded:
    """Load a model with no more blocks than are read."""
    config = files.config()
    kinds: Any = config.get("architectures")
    names = map(str, cast("list[object]", kinds) if isinstance(kinds, list) else ())
    if config.get("is_decoder") or any(name.endswith(_LANGUAGE_MODELS) for name in names):
        raise files.misfit("is a language model, not an encoder", _FIX)
    settings: dict[str, int] = {}
    # others end with a norm, which would act on another layer's states
    if layer is not None and config.get("model_type") in _ENDS_WITH_ITS_LAST_BLOCK:
        settings[files.depth()[0]] = layer
    loaded = load(files, "AutoModel", runtime, **settings)
    borders = loaded.tokenizer.cls_token_id, loaded.tokenizer.sep_token_id
    if not loaded.model.config.is_encoder_decoder and borders == (None, None):
        raise files.misfit("is no encoder: its tokenizer has neither [CLS] nor [SEP]", _FIX)
    return loaded


def _special(loaded: Loaded) -> set[int]:
    """Return the tokens that are matched but not counted."""
    names = ("cls_token_id", "sep_token_id", "bos_token_id", "eos_token_id")
    borders: set[Any] = {getattr(loaded.tokenizer, name, None) for name in names}
    return borders - {None}


def _stripped(loaded: Loaded, texts: Sequence[str]) -> list[str]:
    """Return texts as BERTScore encodes them: bert_score puts a space before RoBERTa's."""
    before = " " if loaded.model.config.model_type == "roberta" else ""
    return [before + text.strip() if text.strip() else "" for text in texts]


def _weights(loaded: Loaded, texts: Sequence[str] | None) -> FloatArray:
    """Return each token's weight: 1, or its idf, log((n + 1) / (df + 1)); special tokens 0."""
    weights = np.ones(loaded.vocabulary)
    if texts is not None:
        inputs, _ = loaded.tokenize(_stripped(loaded, texts), limit=None)
        distinct = [token for one in inputs for token in set(one["input_ids"])]
        having = np.bincount(np.array(distinct, dtype=np.int64), minlength=len(weights))
        weights = np.log((len(texts) + 1) / (having + 1))
    weights[list(_special(loaded))] = 0.0
    return weights


def state_encoder(loaded: Loaded, layer: int | None, *, means: bool = False) -> Encode:
    """Return a function for a batch's states in single precision; ``layer`` None: the last ones.

    They are token states of length 1, one sequence after the other, shape ``(tokens, width)``, or
    the means over the tokens of each sequence, shape ``(sequences, width)``.
    """
    torch: Any = require("torch", extra="neural")
    model = loaded.model.get_encoder() if loaded.model.config.is_encoder_decoder else loaded.model

    def encode(sequences: Sequence[Tokens]) -> Any:
        with torch.inference_mode():
            batch = loaded.batch(sequences)
            real = batch["attention_mask"]
            outputs = model(**batch, output_hidden_states=layer is not None)
            last = layer is None
            states = (outputs.last_hidden_state if last else outputs.hidden_states[layer]).float()
            if means:
                return (states * real[:, :, None]).sum(1) / real.sum(1, keepdim=True)
            return torch.nn.functional.normalize(states[real.bool()], dim=-1)

    return encode
