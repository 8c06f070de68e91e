"""Questions to models are put together, so that each text goes through a model once.

A metric asks by requests: a model, a measure, items. Requests of several metrics for the same
model are answered in one go: equal items are computed once, what the cache knows not at all.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from grammeter.core import FloatArray
from grammeter.models.files import ModelFiles, find_model
from grammeter.models.measures import Item, Measure
from grammeter.models.runtime import Runtime, current
from grammeter.models.store import Store

Result = TypeVar("Result")

Questions = Mapping[Measure, Sequence[Item]]
Answers = Iterator[tuple[Measure, Sequence[int], FloatArray]]

Room = Callable[[ModelFiles, Questions, Runtime], Answers]
"""What the ``answer`` of a room is: from the distinct items of each measure to rows of figures,
in any order, as they come: measure, positions of the items, shape ``(positions, columns)``."""


@dataclass(frozen=True, slots=True)
class Request:
    """Items that a model shall measure; they may repeat."""

    model: str
    measure: Measure
    items: Sequence[Item]


Steps = Generator[Sequence[Request], Sequence[FloatArray], Result]
"""Work that yields requests, is sent one array for each, shape ``(items, columns)``, and at last
returns a result."""


def run_together(works: Sequence[Steps[Result]]) -> list[Result]:
    """Run several works to their ends, answering in common what they ask in each round."""
    results: dict[int, Result] = {}
    asking: dict[int, Sequence[Request]] = {}

    def go_on(number: int, answers: Sequence[FloatArray] | None) -> None:
        try:
            work = works[number]
            asking[number] = next(work) if answers is None else work.send(answers)
        except StopIteration as end:
            results[number] = end.value

    for number in range(len(works)):
        go_on(number, None)
    while asking:
        asked, asking = asking, {}
        answers = iter(answer([request for requests in asked.values() for request in requests]))
        for number, requests in asked.items():
            go_on(number, [next(answers) for _ in requests])
    return [results[number] for number in range(len(works))]


def answer(requests: Sequence[Request]) -> list[FloatArray]:
    """Answer requests, equal items of one model and measure once; one array for each request.

    Raises
    ------
    MissingResourceError
        If a model, torch or the device is not here, or memory does not suffice for one text.
    DataError
        If a model's architecture does not fit the measure.
    """
    runtime = current()
    tables: dict[tuple[str, Measure], _Table] = {}
    for request in requests:
        key = request.model, request.measure
        tables.setdefault(key, _Table(request.measure)).add(request.items)
    for model, room in dict.fromkeys((model, measure.room) for model, measure in tables):
        here = {m: t for (name, m), t in tables.items() if (name, m.room) == (model, room)}
        _fill(find_model(model), room, here, runtime)
    return [tables[request.model, request.measure].rows(request.items) for request in requests]


class _Table:
    """The distinct items of one measure, and a row of figures for each."""

    def __init__(self, measure: Measure) -> None:
        self.positions: dict[Item, int] = {}
        self._width = len(measure.columns)
        self.figures: FloatArray = np.zeros((0, self._width))

    def add(self, items: Sequence[Item]) -> None:
        for item in items:
            self.positions.setdefault(item, len(self.positions))

    def rows(self, items: Sequence[Item]) -> FloatArray:
        at = np.array([self.positions[item] for item in items], dtype=np.int64)
        return self.figures[at].reshape(len(at), self._width)


def _fill(files: ModelFiles, room: str, tables: Mapping[Measure, _Table], runtime: Runtime) -> None:
    """Look figures up; compute those that are not known, and keep them as they come."""
    # the name, too: it tells a layer where a measure names none
    model = f"{files.hash} {files.name.rstrip('/').rpartition('/')[2]}"
    device = runtime.device.partition(":")[0]
    stores: dict[Measure, Store] = {}
    missing: dict[Measure, list[int]] = {}
    questions: dict[Measure, list[Item]] = {}
    for measure, table in tables.items():
        identity = f"{model} {measure} {runtime.dtype} {device}"
        stores[measure] = Store(runtime.cache_dir, identity, len(measure.columns))
        items = list(table.positions)
        table.figures, known = stores[measure].read(items)
        runtime.tally.known += int(known.sum())
        if not known.all():
            missing[measure] = np.flatnonzero(~known).tolist()
            questions[measure] = [items[at] for at in missing[measure]]
    if not questions:
        return
    answers: Room = importlib.import_module(room).answer
    for measure, positions, rows in answers(files, questions, runtime):
        at = [missing[measure][position] for position in positions]
        tables[measure].figures[at] = rows
        stores[measure].write([questions[measure][position] for position in positions], rows)
