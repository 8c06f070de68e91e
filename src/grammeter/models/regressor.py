"""Encoders with a head of one output: the quality of texts, or of pairs of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from grammeter.core import DataError, FloatArray, require, track
from grammeter.models.batching import batches, in_batches
from grammeter.models.files import ModelFiles
from grammeter.models.loading import Loaded, load
from grammeter.models.measures import Item, Regression
from grammeter.models.runtime import Runtime
from grammeter.models.service import Answers, Questions

ARCHITECTURE = "AutoModelForSequenceClassification"


def answer(files: ModelFiles, questions: Questions, runtime: Runtime) -> Answers:
    """Measure texts and pairs by the model's head.

    Parameters
    ----------
    files
        An encoder with a head of one output, as ``AutoModelForSequenceClassification`` loads it.
    questions
        The distinct items of each :class:`~grammeter.models.measures.Regression`.
    runtime
        Device, number type, tokens of a batch; its tally is kept.

    Yields
    ------
    measure, positions, rows
        Rows ``output truncated``: the head's figure, not squashed, in single precision; whether
        the text or pair was cut.

    Raises
    ------
    DataError
        If the model has no such head, or lacks weights that the measure reads.
    """
    loaded = load(files, ARCHITECTURE, runtime)
    for measure, items in questions.items():
        asked = cast("Regression", measure)
        check(loaded, asked)
        for positions, rows in _regress(loaded, asked, items, runtime):
            yield measure, positions, rows


def check(loaded: Loaded, measure: Regression) -> None:
    """Refuse a model that does not give one trained figure for a text."""
    outputs = loaded.model.config.num_labels
    if outputs != 1:
        raise _misfit(
            loaded, f"gives {outputs} figures for a text, where one is needed", "one output"
        )
    if measure.head == "pooler" and loaded.random:
        raise _misfit(
            loaded, f"lacks weights of its head: {', '.join(loaded.random)}", "all its weights"
        )
    if loaded.model.config.pad_token_id is None:
        raise _misfit(loaded, "has no padding token, so texts cannot go together", "padding")


def _misfit(loaded: Loaded, what: str, wanted: str) -> DataError:
    return DataError(
        f"the model {loaded.files.name!r} {what}",
        where=str(loaded.files.folder),
        fix=f"Name a regression model, an encoder and a head with {wanted};"
        " 'grammeter train' makes such models.",
    )


@dataclass(frozen=True)
class _Sequence:
    """What the model reads of a text or pair, and the items that come to this."""

    tokens: tuple[int, ...]
    segments: tuple[int, ...]
    positions: list[int]


def _regress(
    loaded: Loaded, measure: Regression, items: Sequence[Item], runtime: Runtime
) -> Iterator[tuple[list[int], FloatArray]]:
    """Yield positions and rows, batch by batch; equal token sequences are read once."""
    inputs, cut = loaded.tokenize(items, limit=measure.limit)
    sequences = _distinct(inputs)
    lengths = [len(sequence.tokens) for sequence in sequences]
    figures = _figures(loaded, measure)
    answered = in_batches(
        lengths, runtime.budget, lambda batch: figures([sequences[at] for at in batch])
    )
    total = len(batches(lengths, runtime.budget))
    for batch, outputs in track(answered, f"{loaded.files.name} (batches)", total):
        runtime.tally.add(
            texts=len(batch),
            tokens=sum(lengths[at] for at in batch),
            padded=len(batch) * max(lengths[at] for at in batch),
        )
        positions = [position for at in batch for position in sequences[at].positions]
        copies = [len(sequences[at].positions) for at in batch]
        truncated = [cut[position] for position in positions]
        yield positions, np.column_stack([np.repeat(outputs, copies), truncated])


def _distinct(inputs: Sequence[dict[str, list[int]]]) -> list[_Sequence]:
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], _Sequence] = {}
    for position, one in enumerate(inputs):
        key = tuple(one["input_ids"]), tuple(one.get("token_type_ids", ()))
        found.setdefault(key, _Sequence(*key, [])).positions.append(position)
    return list(found.values())


def _figures(loaded: Loaded, measure: Regression) -> Callable[[Sequence[_Sequence]], FloatArray]:
    """Return what gives the figure of each sequence of a batch, shape ``(sequences,)``."""
    torch: Any = require("torch", extra="neural")
    model = loaded.model
    weights = _last_layer(torch, loaded) if measure.head == "linear" else None

    def figures(sequences: Sequence[_Sequence]) -> FloatArray:
        with torch.inference_mode():
            padded = _padded(torch, loaded, sequences)
            if weights is None:
                outputs = model(**padded).logits[:, 0].float()
            else:
                states = model.base_model(**padded).last_hidden_state
                outputs = states[:, 0].float() @ weights
        return outputs.cpu().numpy().astype(np.float64)

    return figures


def _last_layer(torch: Any, loaded: Loaded) -> Any:
    """Return the weights of the layer that gives the one output, shape ``(hidden,)``."""
    fitting = [layer for layer in head_layers(torch, loaded.model) if layer.out_features == 1]
    if len(fitting) != 1 or fitting[0].in_features != loaded.model.config.hidden_size:
        raise _misfit(loaded, "has no linear layer over its states", "a last linear layer")
    return fitting[0].weight[0].float()


def head_layers(torch: Any, model: Any) -> list[Any]:
    """Return the linear layers of a model that are no part of its encoder."""
    inner = {id(module) for module in model.base_model.modules()}
    return [
        module
        for module in model.modules()
        if id(module) not in inner and isinstance(module, torch.nn.Linear)
    ]


def _padded(torch: Any, loaded: Loaded, sequences: Sequence[_Sequence]) -> dict[str, Any]:
    """Return what the model takes: padded on the right, padding masked."""
    width = max(len(sequence.tokens) for sequence in sequences)
    tokens = np.full((len(sequences), width), loaded.model.config.pad_token_id, dtype=np.int64)
    mask = np.zeros_like(tokens)
    segments = np.zeros_like(tokens)
    for row, sequence in enumerate(sequences):
        tokens[row, : len(sequence.tokens)] = sequence.tokens
        mask[row, : len(sequence.tokens)] = 1
        segments[row, : len(sequence.segments)] = sequence.segments
    padded = {"input_ids": tokens, "attention_mask": mask}
    if getattr(loaded.model.config, "type_vocab_size", 0) > 1:  # whatever its tokenizer says
        padded["token_type_ids"] = segments
    return {name: torch.from_numpy(array).to(loaded.model.device) for name, array in padded.items()}
