"""Pairs of token sequences: grouped so that few states are held at once, and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grammeter.core import BoolArray, FloatArray, IntArray, require
from grammeter.models.batching import in_batches
from grammeter.models.measures import Measure
from grammeter.models.runtime import Runtime
from grammeter.models.service import Answers

Tokens = tuple[int, ...]

_BELOW_ANY_COSINE = -2.0


@dataclass(frozen=True, eq=False)
class Chunk:
    """Sequences whose states are held at the same time, and the pairs that these answer.

    Attributes
    ----------
    sequences
        Numbers of sequences, ascending, each once.
    pairs
        Positions of pairs.
    """

    sequences: IntArray
    pairs: IntArray


def chunks(pairs: IntArray, lengths: IntArray, capacity: int) -> Iterator[Chunk]:
    """Split pairs into chunks of few tokens, so that most sequences are in one chunk only.

    Pairs that hang together by common sequences stay together where they fit; of those that do
    not, the ones with the same second sequence do.

    Parameters
    ----------
    pairs
        Shape ``(pairs, 2)``, numbers of sequences.
    lengths
        Tokens of each sequence.
    capacity
        Tokens of a chunk at most; a pair with more is a chunk of its own.

    Yields
    ------
    chunk
        Every pair is in one.
    """
    component = _components(pairs, len(lengths))
    sizes = np.bincount(component, weights=lengths)
    components = component[pairs[:, 0]]
    held: dict[int, None] = {}
    members: list[int] = []
    size, current = 0, -1
    for position in np.lexsort((pairs[:, 0], pairs[:, 1], components)).tolist():
        wanted = dict.fromkeys(pairs[position].tolist())
        needed = size + int(sum(lengths[each] for each in wanted if each not in held))
        if components[position] != current:
            current = components[position]
            needed = max(needed, size + int(sizes[current]))
        if held and needed > capacity:
            yield Chunk(np.array(sorted(held)), np.array(members))
            held, members, size = {}, [], 0
        size += int(sum(lengths[each] for each in wanted if each not in held))
        held |= wanted
        members.append(position)
    if members:
        yield Chunk(np.array(sorted(held)), np.array(members))


def _components(pairs: IntArray, count: int) -> IntArray:
    """Return the connected component of each sequence, pairs being the edges."""
    from scipy.sparse import coo_matrix, csgraph  # pyright: ignore[reportMissingTypeStubs]

    links = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (count, count))
    graph: Any = csgraph
    return graph.connected_components(links, directed=False)[1].astype(np.int64)


class States:
    """The states of all tokens of some sequences, one after the other, on the model's device.

    Parameters
    ----------
    lengths
        Tokens of each sequence; its place here is the number by which it is asked for.
    """

    def __init__(self, lengths: IntArray) -> None:
        self._torch: Any = require("torch", extra="neural")
        self.lengths: IntArray = lengths
        self.starts: IntArray = np.cumsum(lengths) - lengths
        self._flat: Any = None

    def put(self, sequences: Sequence[int], states: Any) -> None:
        """Keep the states of sequences, shape ``(tokens, width)``, in their order."""
        if self._flat is None:
            shape = int(self.lengths.sum()), states.shape[1]
            self._flat = self._torch.empty(shape, dtype=states.dtype, device=states.device)
        rows: list[IntArray] = [
            np.arange(self.starts[at], self.starts[at] + self.lengths[at]) for at in sequences
        ]
        self._flat[self._index(np.concatenate(rows))] = states

    def padded(self, sequences: IntArray, weights: FloatArray) -> tuple[Any, Any, Any]:
        """Return states, which of them are real, and the weights of their tokens.

        ``weights`` are those of all tokens, in the order of :attr:`starts`. Shapes
        ``(sequences, longest, width)`` and twice ``(sequences, longest)``.
        """
        lengths: IntArray = self.lengths[sequences][:, None]
        places: IntArray = np.arange(int(lengths.max()))[None, :]
        real: BoolArray = places < lengths
        rows = np.where(real, self.starts[sequences][:, None] + places, 0)
        weighed = np.where(real, weights[rows], 0.0).astype(np.float32)
        device = self._flat.device
        return (
            self._flat[self._index(rows)],
            self._torch.from_numpy(real).to(device),
            self._torch.from_numpy(weighed).to(device),
        )

    def _index(self, rows: IntArray) -> Any:
        return self._torch.from_numpy(rows).to(self._flat.device)


class Held:
    """The states of the sequences of one chunk, and the pairs of each question that they answer.

    Attributes
    ----------
    pairs
        By question, positions of pairs.
    lengths, tokens
        Of the chunk's sequences, in its order; their tokens one after the other.
    states
        By layer, each state of length 1.
    means
        Shape ``(sequences, width)``, if a question needs them.
    """

    def __init__(
        self, numbers: IntArray, sequences: Sequence[Tokens], pairs: Sequence[IntArray]
    ) -> None:
        self.pairs: Sequence[IntArray] = pairs
        self.sequences: list[Tokens] = [sequences[number] for number in numbers.tolist()]
        self.lengths: IntArray = np.array([len(each) for each in self.sequences], dtype=np.int64)
        self.tokens: IntArray = np.concatenate(self.sequences)
        self.states: dict[int, States] = {}
        self.means: Any = None
        self._numbers = numbers
        self._missing = len(numbers)

    @property
    def complete(self) -> bool:
        """Whether all sequences have been encoded."""
        return not self._missing

    def places(self, numbers: IntArray) -> IntArray:
        """Return where sequences stand in the chunk."""
        return np.searchsorted(self._numbers, numbers)

    def put(self, batch: Sequence[int], states: Mapping[int | None, Any]) -> None:
        """Keep what the encoder gave for some sequences of the chunk."""
        for layer, given in states.items():
            if layer is not None:
                self.states.setdefault(layer, States(self.lengths)).put(batch, given)
                continue
            if self.means is None:
                self.means = given.new_empty((len(self.lengths), given.shape[1]))
            self.means[list(batch)] = given
        self._missing -= len(batch)

    def clear(self) -> None:
        """Let go of the states."""
        self.states.clear()
        self.means = None


@dataclass(frozen=True, eq=False)
class Question:
    """A measure, the distinct pairs of sequences that its items come to, and their figures.

    Attributes
    ----------
    layer
        Whose token states are compared; ``None``: the means of the last states.
    weights
        Of all tokens of the vocabulary.
    pairs
        Shape ``(pairs, 2)``, numbers of sequences.
    pair_of, truncated
        Shape ``(items,)``: the position of each item's pair; how many of its texts were cut.
    figures
        Shape ``(pairs, columns less truncated)``, filled as they come.
    bare
        Shape ``(pairs,)``: those with a text that has nothing to compare.
    """

    measure: Measure
    layer: int | None
    weights: FloatArray
    pairs: IntArray
    pair_of: IntArray
    truncated: IntArray
    figures: FloatArray
    bare: BoolArray

    def settle(self) -> Answers:
        """Answer pairs with a bare text, which need no states: all 0, but no cosine of nothing."""
        at = np.flatnonzero(self.bare)
        self.figures[at] = np.nan if self.layer is None else 0.0
        yield from self._rows(at)

    def compare(self, held: Held, at: IntArray, runtime: Runtime) -> Answers:
        """Answer pairs whose states are held."""
        pairs = held.places(self.pairs[at])
        if self.layer is None:
            self.figures[at] = compare_means(held.means, pairs)
        else:
            states, weights = held.states[self.layer], self.weights[held.tokens]
            lengths = held.lengths[pairs].sum(axis=1).tolist()
            compared = in_batches(
                lengths,
                runtime.budget,
                lambda batch: compare_tokens(states, weights, pairs[batch]),
            )
            for batch, figures in compared:
                self.figures[at[batch]] = figures
        yield from self._rows(at)

    def _rows(self, at: IntArray) -> Answers:
        done = np.zeros(len(self.pairs), dtype=np.bool_)
        done[at] = True
        positions = np.flatnonzero(done[self.pair_of])
        if len(positions):
            rows = self.figures[self.pair_of[positions]]
            cut = self.truncated[positions, None].astype(np.float64)
            yield self.measure, positions.tolist(), np.hstack([rows, cut])


def compare_tokens(states: States, weights: FloatArray, pairs: IntArray) -> FloatArray:
    """Match the tokens of candidates and references greedily by their cosines.

    Zhang et al. (2020), section 3: each token takes the most similar one of the other side,
    special tokens among them; the weighted mean over the candidate's tokens is the precision,
    that over the reference's the recall.

    Parameters
    ----------
    states
        Of length 1.
    weights
        Of all their tokens, 0 for special ones.
    pairs
        Shape ``(pairs, 2)``: candidate and reference, by their numbers in ``states``.

    Returns
    -------
    figures
        Shape ``(pairs, 3)``, -1 to 1: precision, recall, f1. Precision or recall is NaN where
        all weights are 0; f1 is 0 where it is undefined.
    """
    candidates, real, weighed = states.padded(pairs[:, 0], weights)
    references, real_too, weighed_too = states.padded(pairs[:, 1], weights)
    cosines = candidates @ references.transpose(1, 2)
    # padding must not win where all real cosines are negative
    best = cosines.masked_fill(~real_too[:, None, :], _BELOW_ANY_COSINE).amax(2)
    best_too = cosines.masked_fill(~real[:, :, None], _BELOW_ANY_COSINE).amax(1)
    precision = (weighed * best).sum(1) / weighed.sum(1)
    recall = (weighed_too * best_too).sum(1) / weighed_too.sum(1)
    return _with_f1(precision.cpu().numpy(), recall.cpu().numpy())


def _with_f1(precision: FloatArray, recall: FloatArray) -> FloatArray:
    p, r = precision.astype(np.float64), recall.astype(np.float64)
    defined = np.isfinite(p) & np.isfinite(r) & (p + r != 0)
    below = np.where(defined, p + r, 1.0)
    return np.column_stack([p, r, np.where(defined, 2 * p * r, 0.0) / below])


def compare_means(means: Any, pairs: IntArray) -> FloatArray:
    """Return the cosines of mean states, shape ``(pairs, 1)``, -1 to 1.

    ``means`` has shape ``(sequences, width)``.
    """
    torch: Any = require("torch", extra="neural")
    first, second = (means[torch.from_numpy(side).to(means.device)] for side in pairs.T.copy())
    return torch.cosine_similarity(first, second, dim=1).cpu().numpy().astype(np.float64)[:, None]
