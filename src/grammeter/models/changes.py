"""Distances between changes of texts, by the means of an encoder's states."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from grammeter.core import FloatArray, IntArray, track
from grammeter.models.encoder import (
    STATE_NUMBERS,
    Reader,
    Tokens,
    layer_of,
    open_encoder,
    state_encoder,
)
from grammeter.models.files import ModelFiles
from grammeter.models.loading import Loaded, in_batches
from grammeter.models.runtime import Runtime
from grammeter.models.service import Answers, ChangeDistance, Questions
from grammeter.models.similarity import chunks


def answer(files: ModelFiles, questions: Questions, runtime: Runtime) -> Answers:
    """Compare changes: rows ``first second distance cosine truncated``, in single precision.

    Texts of equal tokens have equal states, so a change that the encoder cannot see is exactly
    zero. Each text of a sentence is encoded once, also where several systems ask for it.
    """
    for measure, items in questions.items():
        assert isinstance(measure, ChangeDistance)
        layer = None if measure.layer is None else layer_of(files, measure.layer)
        loaded = open_encoder(files, [layer], runtime)
        reader = Reader(loaded)
        known = reader.read(chain.from_iterable(items), measure.limit)
        numbers = np.array([[known[text] for text in item] for item in items], dtype=np.int64)
        cut = numbers[:, :, 1].sum(axis=1, keepdims=True).astype(np.float64)
        changes, pairs = np.unique(numbers[:, :, 0].reshape(-1, 2), axis=0, return_inverse=True)
        states = _States(loaded, list(reader.numbers), layer, runtime)
        for at, figures in track(states.compare(changes, pairs.reshape(-1, 2)), files.name):
            yield measure, at.tolist(), np.hstack([figures, cut[at]])


class _States:
    """Mean states of token sequences, as many at a time as memory should hold."""

    def __init__(
        self, loaded: Loaded, sequences: Sequence[Tokens], layer: int | None, runtime: Runtime
    ) -> None:
        self._encode = state_encoder(loaded, [None], mean_of=layer)
        self._sequences, self._runtime = sequences, runtime
        self._most = STATE_NUMBERS // loaded.model.config.hidden_size

    def compare(self, changes: IntArray, pairs: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield positions of pairs of changes, and their figures, shape ``(positions, 4)``.

        ``changes``, ``(changes, 2)``: sequences after and before; ``pairs``: of changes.
        """
        lengths = np.full(len(changes), 2, dtype=np.int64)
        for chunk, at in chunks(pairs, lengths, self._most):
            numbers, places = np.unique(changes[chunk], return_inverse=True)
            means = self._means(numbers)
            after, before = places.reshape(-1, 2).T
            first, second = np.searchsorted(chunk, pairs[at]).T
            yield at, _figures(means[after] - means[before], first, second)

    def _means(self, numbers: IntArray) -> Any:
        sequences: list[Tokens] = [self._sequences[number] for number in numbers.tolist()]

        def step(batch: list[int]) -> Any:
            return self._encode([sequences[at] for at in batch])[None].cpu().numpy()

        lengths = [len(tokens) for tokens in sequences]
        tally, means = self._runtime.tally, dict[int, Any]()
        for batch, states in in_batches(lengths, self._runtime.budget, step, tally):
            means.update(zip(batch, states, strict=True))
        return np.stack([means[at] for at in range(len(sequences))]).astype(np.float64)


def _figures(vectors: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    one, other = vectors[first], vectors[second]
    norms = np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1)
    with np.errstate(invalid="ignore"):
        cosines = (one * other).sum(axis=1) / (norms[0] * norms[1])
    return np.column_stack([*norms, np.linalg.norm(one - other, axis=1), cosines])
