"""Impacts by error type and edit, accuracy across corpora (Maeda et al. 2022, Tables 4, 6, 7)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grammeter.core import FloatArray, json_number
from grammeter.models import Regression, Request, answer
from grammeter.stats import t_interval
from grammeter.training.impacts import EditedSentence
from grammeter.training.pairs import Pair, accuracy


@dataclass(frozen=True, slots=True)
class TypeImpact:
    """The impacts of the edits of one error type (Table 6).

    ``deviation`` is the standard deviation of the sample; NaN for a single edit.
    """

    type: str
    count: int
    mean: float
    median: float
    deviation: float


@dataclass(frozen=True, slots=True)
class EditImpact:
    """One edit and its impact (Table 7)."""

    impact: float
    type: str
    original: str
    correction: str
    source: str
    origin: str


@dataclass(frozen=True, slots=True)
class Impacts:
    """Impacts of each error type and of each edit, the greatest first."""

    types: tuple[TypeImpact, ...]
    edits: tuple[EditImpact, ...]

    @classmethod
    def of(cls, sentences: Sequence[EditedSentence]) -> Impacts:
        """Return the impacts of these sentences."""
        return cls(tuple(impacts_by_type(sentences)), tuple(impacts_of_edits(sentences)))

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        one = {"deviation": None, "deviation_reason": "a single edit"}
        types = [{**asdict(row), **(one if row.count == 1 else {})} for row in self.types]
        return {"kind": "impacts", "types": types, "edits": [*map(asdict, self.edits)]}


def impacts_by_type(sentences: Sequence[EditedSentence]) -> list[TypeImpact]:
    """Return the impacts of each error type, the greatest mean first."""
    by_type: dict[str, list[float]] = {}
    for sentence in sentences:
        for edit, impact in zip(sentence.edits, sentence.impacts, strict=True):
            by_type.setdefault(edit.type, []).append(_shown(impact))
    rows = [_of_type(kind, impacts) for kind, impacts in by_type.items()]
    return sorted(rows, key=lambda row: (-row.mean, row.type))


def _of_type(kind: str, impacts: Sequence[float]) -> TypeImpact:
    return TypeImpact(
        kind,
        len(impacts),
        float(np.mean(impacts)),
        float(np.median(impacts)),
        float(np.std(impacts, ddof=1)) if len(impacts) > 1 else math.nan,
    )


def impacts_of_edits(sentences: Sequence[EditedSentence]) -> list[EditImpact]:
    """Return all edits, the greatest impact first."""
    rows = [
        EditImpact(
            _shown(impact),
            edit.type,
            " ".join(sentence.words[edit.start : edit.end]),
            edit.correction,
            sentence.source,
            sentence.origin,
        )
        for sentence in sentences
        for edit, impact in zip(sentence.edits, sentence.impacts, strict=True)
    ]
    return sorted(rows, key=lambda row: (-row.impact, row.origin, row.original))


def _shown(impact: float) -> float:
    """Return at least 0: rounding may push a cosine above 1."""
    return max(impact, 0.0)


@dataclass(frozen=True, slots=True)
class Cell:
    """Accuracy of models that were trained on one corpus and tested on another, one for each seed.

    Attributes
    ----------
    trained, tested
        Names of the corpora.
    accuracies, apart
        On all test pairs, and on those where neither set of edits contains the other.
    """

    trained: str
    tested: str
    accuracies: tuple[float, ...]
    apart: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean accuracy over the seeds."""
        return float(np.mean(self.accuracies))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean over seeds, by Student's t; NaN for one seed."""
        return t_interval(self.accuracies)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        low, high = self.interval
        reasons: dict[str, str] = {}
        if len(self.accuracies) == 1:
            reasons["interval_reason"] = "a single seed"
        if any(map(math.isnan, self.apart)):
            reasons["without_inclusion_reason"] = "all test pairs of a seed are inclusion pairs"
        return {
            "trained": self.trained,
            "tested": self.tested,
            "accuracies": [json_number(value) for value in self.accuracies],
            "mean": json_number(self.mean),
            "low": json_number(low),
            "high": json_number(high),
            "without_inclusion": [json_number(value) for value in self.apart],
            **reasons,
        }


@dataclass(frozen=True, slots=True)
class CrossDomain:
    """Accuracies for each corpus trained on and each tested on, over seeds."""

    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        cells = [cell.to_dict() for cell in self.cells]
        return {"kind": "cross-domain", "seeds": [*self.seeds], "cells": cells}


def cross_test(
    models: Mapping[tuple[str, int], Path], tests: Mapping[tuple[str, int], Sequence[Pair]]
) -> list[Cell]:
    """Test models on the held-out pairs of each corpus.

    Parameters
    ----------
    models
        Folder by corpus and seed.
    tests
        Test pairs by corpus and seed; a model meets those of its own seed, so that none of its
        own training sentences is among them.

    Returns
    -------
    list of Cell
        For each corpus of ``models``, each corpus of ``tests``, in their order.
    """
    requests: dict[tuple[str, str, int], Request] = {}
    for (trained, seed), folder in models.items():
        for (tested, other), pairs in tests.items():
            if seed == other:
                texts = [text for pair in pairs for text in (pair.low, pair.high)]
                requests[trained, tested, seed] = Request(str(folder), Regression(), texts)
    figures = dict(zip(requests, answer(list(requests.values())), strict=True))
    cells: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for (trained, tested, seed), rows in figures.items():
        accuracies = _accuracies(rows[:, 0].reshape(-1, 2), tests[tested, seed])
        cells.setdefault((trained, tested), []).append(accuracies)
    return [
        Cell(trained, tested, *(tuple(column) for column in zip(*accuracies, strict=True)))
        for (trained, tested), accuracies in cells.items()
    ]


def _accuracies(outputs: FloatArray, pairs: Sequence[Pair]) -> tuple[float, float]:
    apart = np.array([not pair.inclusion for pair in pairs], dtype=np.bool_)
    return (
        accuracy(outputs[:, 0], outputs[:, 1]),
        accuracy(outputs[apart, 0], outputs[apart, 1]),
    )
