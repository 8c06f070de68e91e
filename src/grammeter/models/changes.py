"""Distances between changes of texts, by the means of an encoder's states."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from grammeter.core import FloatArray, IntArray, track
from grammeter.models import encoder
from grammeter.models.files import ModelFiles
from grammeter.models.loading import in_batches
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
        layer = None if measure.layer is None else encoder.layer_of(files, measure.layer)
        loaded = encoder.open_encoder(files, [layer], runtime)
        reader = encoder.Reader(loaded)
        known = reader.read(chain.from_iterable(items), measure.limit)
        numbers = np.array([[known[text] for text in item] for item in items], dtype=np.int64)
        cut = numbers[:, :, 1].sum(axis=1, keepdims=True).astype(np.float64)
        changes, pairs = np.unique(numbers[:, :, 0].reshape(-1, 2), axis=0, return_inverse=True)
        pairs, sequences = pairs.reshape(-1, 2), list(reader.numbers)
        encode = encoder.state_encoder(loaded, [None], mean_of=layer)
        # as many means at a time as memory should hold: two for a change
        lengths = np.full(len(changes), 2, dtype=np.int64)
        most = encoder.STATE_NUMBERS // loaded.model.config.hidden_size
        for chunk, at in track(chunks(pairs, lengths, most), files.name):
            chosen, places = np.unique(changes[chunk], return_inverse=True)
            texts: list[encoder.Tokens] = [sequences[number] for number in chosen.tolist()]
            means = _means(encode, texts, runtime)
            after, before = places.reshape(-1, 2).T
            first, second = np.searchsorted(chunk, pairs[at]).T
            figures = _figures(means[after] - means[before], first, second)
            yield measure, at.tolist(), np.hstack([figures, cut[at]])


def _means(encode: encoder.Encode, sequences: Sequence[encoder.Tokens], runtime: Runtime) -> Any:
    def step(batch: list[int]) -> Any:
        return encode([sequences[at] for at in batch])[None].cpu().numpy()

    means: dict[int, Any] = {}
    for batch, states in in_batches([*map(len, sequences)], runtime.budget, step, runtime.tally):
        means.update(zip(batch, states, strict=True))
    return np.stack([means[at] for at in range(len(sequences))]).astype(np.float64)


def _figures(vectors: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    one, other = vectors[first], vectors[second]
    norms = np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1)
    with np.errstate(invalid="ignore"):
        cosines = (one * other).sum(axis=1) / (norms[0] * norms[1])
    return np.column_stack([*norms, np.linalg.norm(one - other, axis=1), cosines])
