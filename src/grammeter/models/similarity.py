"""Compare pairs of token sequences, in groups so that few states are held at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grammeter.core import BoolArray, FloatArray, IntArray, require
from grammeter.models import loading, service
from grammeter.models.runtime import Runtime

Tokens = tuple[int, ...]
_BELOW_ANY_COSINE = -2.0


def chunks(pairs: IntArray, lengths: IntArray, room: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Split pairs into chunks of few tokens, so that most sequences are in one chunk only.

    Yields the sequences of a chunk, ascending, and the positions of the pairs that they answer.

    Pairs that are connected by common sequences stay together if they fit into a chunk; else
    those with the same second sequence do. ``pairs``, ``(pairs, 2)``, are numbers of sequences,
    ``lengths`` their tokens. A chunk has at most ``room`` tokens, or a single longer pair.
    """
    component = _components(pairs, len(lengths))
    sizes = np.bincount(component, weights=lengths)
    components = component[pairs[:, 0]]
    held: dict[int, None] = {}
    members: list[int] = []
    size, current = 0, -1
    for position in np.lexsort((pairs[:, 0], pairs[:, 1], components)).tolist():
        both = dict.fromkeys(pairs[position].tolist())
        needed = size + int(sum(lengths[number] for number in both if number not in held))
        if components[position] != current:
            current = components[position]
            needed = max(needed, size + int(sizes[current]))
        if held and needed > room:
            yield np.array(sorted(held)), np.array(members)
            held, members, size = {}, [], 0
        size += int(sum(lengths[number] for number in both if number not in held))
        held |= both
        members.append(position)
    if members:
        yield np.array(sorted(held)), np.array(members)


def _components(pairs: IntArray, count: int) -> IntArray:
    from scipy.sparse import coo_matrix, csgraph  # pyright: ignore[reportMissingTypeStubs]

    links = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (count, count))
    graph: Any = csgraph
    return graph.connected_components(links, directed=False)[1].astype(np.int64)


class Held:
    """The states of the sequences of one chunk, and the pairs of each question that they answer."""

    def __init__(self, numbers: IntArray, sequences: list[Tokens], pairs: list[IntArray]) -> None:
        self.pairs: Sequence[IntArray] = pairs  # by question, positions of pairs
        self.sequences: list[Tokens] = [sequences[number] for number in numbers.tolist()]
        self.lengths: IntArray = np.array([len(s) for s in self.sequences], dtype=np.int64)
        self.tokens: IntArray = np.concatenate(self.sequences)  # one sequence after the other
        # by layer, states of length 1, shape (tokens, width); None: means, (sequences, width)
        self.states: dict[int | None, Any] = {}
        self._starts: IntArray = np.cumsum(self.lengths) - self.lengths
        self.numbers: IntArray = numbers
        self.missing: int = len(numbers)  # sequences that have not been encoded
        self._torch: Any = require("torch", extra="neural")

    def put(self, batch: Sequence[int], states: Mapping[int | None, Any]) -> None:
        """Store the encoder's states of some sequences of the chunk, by their places."""
        spans = ((self._starts[at], self.lengths[at]) for at in batch)
        ranges: list[IntArray] = [np.arange(start, start + length) for start, length in spans]
        for layer, values in states.items():
            rows, size = np.concatenate(ranges), len(self.tokens)
            if layer is None:
                rows, size = np.array(batch), len(self.lengths)
            if layer not in self.states:
                self.states[layer] = values.new_empty((size, values.shape[1]))
            self.states[layer][self._torch.from_numpy(rows).to(values.device)] = values
        self.missing -= len(batch)

    def padded(self, layer: int, places: IntArray, weights: FloatArray) -> tuple[Any, Any, Any]:
        """Return states ``(sequences, longest, width)``; mask, weights ``(sequences, longest)``."""
        lengths: IntArray = self.lengths[places][:, None]
        columns: IntArray = np.arange(int(lengths.max()))[None, :]
        real: BoolArray = columns < lengths
        rows = np.where(real, self._starts[places][:, None] + columns, 0)
        weighed = np.where(real, weights[rows], 0.0).astype(np.float32)
        whole = self.states[layer]
        arrays = map(self._torch.from_numpy, (rows, real, weighed))
        at, mask, factors = (array.to(whole.device) for array in arrays)
        return whole[at], mask, factors


@dataclass(frozen=True, eq=False)
class SimilarityQuestion:
    """A measure, the distinct pairs of sequences of its items, and their figures."""

    measure: service.Measure
    layer: int | None  # whose token states are compared; None: the means of the last states
    weights: FloatArray  # of all tokens of the vocabulary
    pairs: IntArray  # shape (pairs, 2), numbers of sequences
    pair_of: IntArray  # shape (items,): position of the item's pair
    truncated: IntArray  # shape (items,): how many of its texts were cut
    figures: FloatArray  # shape (pairs, columns without "truncated"), filled step by step
    bare: BoolArray  # shape (pairs,): whether a text has nothing to compare

    def settle(self) -> service.Answers:
        """Answer pairs with a bare text, which need no states: 0, or NaN for a cosine."""
        at = np.flatnonzero(self.bare)
        self.figures[at] = np.nan if self.layer is None else 0.0
        yield from self._rows(at)

    def compare(self, held: Held, at: IntArray, runtime: Runtime) -> service.Answers:
        """Answer pairs whose states are held."""
        pairs = np.searchsorted(held.numbers, self.pairs[at])  # places in the chunk
        if self.layer is None:
            self.figures[at] = compare_means(held.states[None], pairs)
        else:
            layer, weights = self.layer, self.weights[held.tokens]

            def step(batch: list[int]) -> FloatArray:
                return compare_tokens(held, layer, weights, pairs[batch])

            lengths = held.lengths[pairs].sum(axis=1).tolist()
            for batch, figures in loading.in_batches(lengths, runtime.budget, step):
                self.figures[at[batch]] = figures
        yield from self._rows(at)

    def _rows(self, at: IntArray) -> service.Answers:
        done = np.zeros(len(self.pairs), dtype=np.bool_)
        done[at] = True
        positions = np.flatnonzero(done[self.pair_of])
        if len(positions):
            rows = self.figures[self.pair_of[positions]]
            cut = self.truncated[positions, None].astype(np.float64)
            yield self.measure, positions.tolist(), np.hstack([rows, cut])


def compare_tokens(held: Held, layer: int, weights: FloatArray, pairs: IntArray) -> FloatArray:
    """Match the tokens of candidates and references greedily by their cosines.

    Zhang et al. (2020), section 3: each token is matched with the most similar token of the
    other side, including special tokens; the weighted mean over the candidate's tokens is the
    precision, that over the reference's the recall.

    ``weights`` belong to the chunk's tokens, 0 for special ones; ``pairs`` are places in it, shape
    ``(pairs, 2)``: candidate and reference. Returns precision, recall and f1, -1 to 1, shape
    ``(pairs, 3)``: the first two NaN where all weights are 0, f1 0 where it is undefined.
    """
    candidates, real, weighed = held.padded(layer, pairs[:, 0], weights)
    references, real_too, weighed_too = held.padded(layer, pairs[:, 1], weights)
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


def compare_means(means: Any, pairs: IntArray) -> FloatArray:
    """Return cosines, -1 to 1, ``(pairs, 1)``, of mean states ``(sequences, width)``."""
    torch: Any = require("torch", extra="neural")
    first, second = (means[torch.from_numpy(side).to(means.device)] for side in pairs.T.copy())
    return torch.cosine_similarity(first, second, dim=1).cpu().numpy().astype(np.float64)[:, None]
