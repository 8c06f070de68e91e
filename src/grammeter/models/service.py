"""Measures and requests: what models compute, and each text through a model only once.

A request names a model, a measure and items. Requests for the same model are answered together:
equal items are computed once, items in the cache not at all.
"""

import hashlib
import importlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from grammeter.core import FloatArray
from grammeter.models.files import ModelFiles, find_model
from grammeter.models.runtime import ModelInput, Runtime, Store, current


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What a model computes, with all that its figures depend on: a row of figures for each item.

    ``str`` identifies a measure and is part of the cache's key. The last of the ``columns``,
    ``truncated``, counts the texts of the item that were longer than the model's limit.
    """

    columns: ClassVar[tuple[str, ...]]  # the names of an item's figures
    room: ClassVar[str]  # the module whose ``answer`` computes them

    def __init_subclass__(cls, *, room: str, columns: str) -> None:
        super().__init_subclass__()
        cls.room, cls.columns = f"grammeter.models.{room}", (*columns.split(), "truncated")

    def __str__(self) -> str:
        return repr(self)


@dataclass(frozen=True, kw_only=True)
class TokenSimilarity(Measure, room="encoder", columns="precision recall f1"):
    """BERTScore of (candidate, reference) pairs, not rescaled.

    It reads the output of block ``layer``, counted from 1; ``None``: the published one, else three
    quarters of the depth. The document frequencies in the texts of ``idf`` weight the tokens;
    ``None``: all weights are 1.
    """

    layer: int | None = None
    idf: tuple[str, ...] | None = None

    def __str__(self) -> str:
        if self.idf is None:
            return f"TokenSimilarity(layer={self.layer})"
        texts = "".join(f"{len(text)} {text}" for text in sorted(self.idf))
        digest = hashlib.blake2b(texts.encode("utf-8", "surrogatepass"), digest_size=16)
        return f"TokenSimilarity(layer={self.layer}, idf={digest.hexdigest()})"


@dataclass(frozen=True, kw_only=True)
class MeanSimilarity(Measure, room="encoder", columns="cosine"):
    """Cosine of the mean last states of two texts (IMPARA), of at most ``limit`` tokens each."""

    limit: int | None = 128


@dataclass(frozen=True, kw_only=True)
class ChangeDistance(Measure, room="encoder", columns="first second distance cosine"):
    """How two changes move the mean states, for texts (after, before, after, before) (UOT-ERRANT).

    A change is the vector from the mean state of the text before to that of the text after, special
    tokens included; the figures are the L2 norms of both vectors, their euclidean distance and
    cosine, NaN if one of them is zero. ``layer``, from 1, says whose states; ``None``: the last
    ones. ``limit`` is the maximum tokens of a text.
    """

    layer: int | None = None
    limit: int | None = 128


@dataclass(frozen=True, kw_only=True)
class Regression(Measure, room="regressor", columns="output"):
    """The one output of a regression head, for texts or pairs of texts (SOME, IMPARA).

    The head ``pooler`` is a dense layer and tanh over the first state, then linear with bias, as in
    BERT's sequence classifiers; ``linear`` the weights of the last layer on the first state itself,
    no bias, as in IMPARA's paper. ``limit``: maximum tokens; the longer side is cut first.
    """

    head: Literal["pooler", "linear"] = "pooler"
    limit: int | None = 128


@dataclass(frozen=True, kw_only=True)
class Perplexity(Measure, room="likelihood", columns="perplexity"):
    """Perplexity of texts under a causal language model (Scribendi).

    NaN for an empty text, and for one with more tokens than the model has positions, which
    ``truncated`` marks although nothing is cut.
    """


@dataclass(frozen=True, kw_only=True)
class Likelihood(Measure, room="likelihood", columns="likelihood"):
    """Mean log-likelihood of a text given another (BARTScore); ``limit`` tokens of either."""

    limit: int | None = 1024


Result = TypeVar("Result")
Questions = Mapping[Measure, Sequence[ModelInput]]
Answers = Iterator[tuple[Measure, Sequence[int], FloatArray]]
Room = Callable[[ModelFiles, Questions, Runtime], Answers]
"""The ``answer`` of a room: from the distinct items of each measure to rows of figures, in any
order: measure, positions of the items, shape ``(positions, columns)``."""


@dataclass(frozen=True, slots=True)
class Request:
    """Items to measure by a model; they may repeat."""

    model: str
    measure: Measure
    items: Sequence[ModelInput]


Steps = Generator[Sequence[Request], Sequence[FloatArray], Result]
"""Yields requests, receives one array for each, ``(items, columns)``, and returns a result."""


def run_together(works: Sequence[Steps[Result]]) -> list[Result]:
    """Run several generators to their ends; answer the requests of each round together."""
    results: dict[int, Result] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(works)))  # None starts a generator
    while answers:
        pending: dict[int, Sequence[Request]] = {}
        for number, arrays in answers.items():
            try:
                pending[number] = works[number].send(arrays)
            except StopIteration as end:
                results[number] = end.value
        if not pending:
            break
        arrays = iter(answer([request for requests in pending.values() for request in requests]))
        answers = {n: [next(arrays) for _ in requests] for n, requests in pending.items()}
    return [results[number] for number in range(len(works))]


def answer(requests: Sequence[Request]) -> list[FloatArray]:
    """Return one array for each request; equal items of one model and measure are computed once.

    Raises MissingResourceError if a model, torch or the device is missing, or memory does not
    suffice for one text; DataError if a model's architecture does not fit the measure.
    """
    asked: dict[tuple[str, Measure], dict[ModelInput, None]] = {}
    for request in requests:
        asked.setdefault((request.model, request.measure), {}).update(dict.fromkeys(request.items))
    tables: dict[tuple[str, Measure], tuple[dict[ModelInput, int], FloatArray]] = {}
    for model, room in dict.fromkeys((model, measure.room) for model, measure in asked):
        here = {m: [*i] for (name, m), i in asked.items() if (name, m.room) == (model, room)}
        for measure, rows in _figures(find_model(model), room, here, current()).items():
            tables[model, measure] = {item: n for n, item in enumerate(here[measure])}, rows
    both = ((request.items, *tables[request.model, request.measure]) for request in requests)
    return [rows[[positions[item] for item in items]] for items, positions, rows in both]


def _figures(
    files: ModelFiles, room: str, asked: Mapping[Measure, list[ModelInput]], runtime: Runtime
) -> dict[Measure, FloatArray]:
    # the name, too: it decides the layer if a measure names none
    model = f"{files.hash} {files.name.rstrip('/').rpartition('/')[2]}"
    device = runtime.device.partition(":")[0]
    stores: dict[Measure, Store] = {}
    figures: dict[Measure, FloatArray] = {}
    missing: dict[Measure, list[int]] = {}
    for measure, items in asked.items():
        identity = f"{model} {measure} {runtime.dtype} {device}"
        stores[measure] = Store(runtime.cache_dir, identity, len(measure.columns))
        figures[measure], known = stores[measure].read(items)
        runtime.tally.known += int(known.sum())
        if not known.all():
            missing[measure] = np.flatnonzero(~known).tolist()
    if not missing:
        return figures
    questions = {m: [asked[m][at] for at in places] for m, places in missing.items()}
    answers: Room = importlib.import_module(room).answer
    for measure, positions, rows in answers(files, questions, runtime):
        figures[measure][[missing[measure][position] for position in positions]] = rows
        stores[measure].write([questions[measure][position] for position in positions], rows)
    return figures
