"""Encoders with a head of one output: the quality of texts, or of pairs of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from grammeter.core import DataError, FloatArray, require, track
from grammeter.models.files import ModelFiles
from grammeter.models.loading import Loaded, batches, in_batches, load
from grammeter.models.measures import ModelInput, Regression
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
        Device, number type, tokens of a batch; its tally counts the work.

    Yields
    ------
    measure, positions, rows
        Rows ``output truncated``: the head's output, not squashed, in single precision; whether
        the text or pair was cut.

    Raises
    ------
    DataError
        If the model has no such head, or lacks weights that the measure reads.
    """
    loaded = load(files, ARCHITECTURE, runtime)
    for measure, items in questions.items():
        regression = cast("Regression", measure)
        check(loaded, regression)
        for positions, rows in _regress(loaded, regression, items, runtime):
            yield measure, positions, rows


def check(loaded: Loaded, measure: Regression) -> None:
    """Refuse a model without exactly one trained output for a text."""
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
    return loaded.files.misfit(
        what,
        f"Name a regression model, an encoder and a head with {wanted};"
        " 'grammeter train' makes such models.",
    )


@dataclass(frozen=True)
class _Sequence:
    """A model's input, and the positions of the items with this input."""

    tokens: tuple[int, ...]
    segments: tuple[int, ...]
    positions: list[int]


def _regress(
    loaded: Loaded, measure: Regression, items: Sequence[ModelInput], runtime: Runtime
) -> Iterator[tuple[list[int], FloatArray]]:
    """Yield positions and rows by batch; equal token sequences are computed once."""
    inputs, cut = loaded.tokenize(items, limit=measure.limit)
    sequences = _distinct(inputs)
    lengths = [len(sequence.tokens) for sequence in sequences]
    figures = _figures(loaded, measure)
    answered = in_batches(
        lengths,
        runtime.budget,
        lambda batch: figures([sequences[at] for at in batch]),
        runtime.tally,
    )
    total = len(batches(lengths, runtime.budget))
    for batch, outputs in track(answered, f"{loaded.files.name} (batches)", total):
        positions = [position for at in batch for position in sequences[at].positions]
        copies = [len(sequences[at].positions) for at in batch]
        truncated = [cut[position] for position in positions]
        yield positions, np.column_stack([np.repeat(outputs, copies), truncated])


def _distinct(inputs: Sequence[dict[str, list[int]]]) -> list[_Sequence]:
    sequences: dict[tuple[tuple[int, ...], tuple[int, ...]], _Sequence] = {}
    for position, one in enumerate(inputs):
        tokens = one["input_ids"]
        key = tuple(tokens), tuple(one.get("token_type_ids", (0,) * len(tokens)))
        sequences.setdefault(key, _Sequence(*key, [])).positions.append(position)
    return list(sequences.values())


def _figures(loaded: Loaded, measure: Regression) -> Callable[[Sequence[_Sequence]], FloatArray]:
    """Return a function from a batch to its figures, shape ``(sequences,)``."""
    torch: Any = require("torch", extra="neural")
    model = loaded.model
    weights = _last_layer(torch, loaded) if measure.head == "linear" else None

    def figures(sequences: Sequence[_Sequence]) -> FloatArray:
        with torch.inference_mode():
            padded = _padded(loaded, sequences)
            if weights is None:
                outputs = model(**padded).logits[:, 0].float()
            else:
                states = model.base_model(**padded).last_hidden_state
                outputs = states[:, 0].float() @ weights
        return outputs.cpu().numpy().astype(np.float64)

    return figures


def _last_layer(torch: Any, loaded: Loaded) -> Any:
    """Return the weights of the layer with the one output, shape ``(hidden,)``."""
    fitting = [layer for layer in head_layers(torch, loaded.model) if layer.out_features == 1]
    if len(fitting) != 1 or fitting[0].in_features != loaded.model.config.hidden_size:
        raise _misfit(loaded, "has no linear layer over its states", "a last linear layer")
    return fitting[0].weight[0].float()


def head_layers(torch: Any, model: Any) -> list[Any]:
    """Return the linear layers of a model outside its encoder."""
    inner = {id(module) for module in model.base_model.modules()}
    return [
        module
        for module in model.modules()
        if id(module) not in inner and isinstance(module, torch.nn.Linear)
    ]


def _padded(loaded: Loaded, sequences: Sequence[_Sequence]) -> dict[str, Any]:
    """Return the model's input for a batch."""
    padded = loaded.batch([sequence.tokens for sequence in sequences])
    if getattr(loaded.model.config, "type_vocab_size", 0) > 1:  # whatever its tokenizer says
        padded["token_type_ids"] = loaded.padded([sequence.segments for sequence in sequences])
    return padded
