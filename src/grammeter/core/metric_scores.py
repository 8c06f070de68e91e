"""All that one metric says of several systems, and its JSON form."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from grammeter.core.result import Named, plain
from grammeter.core.score import Score, read_number
from grammeter.core.signature import Signature
from grammeter.core.statistics import SegmentScores, Statistics, TypeCounts

Stored = TypeVar("Stored")

BY_SYSTEM = ("scores", "segments", "statistics", "types", "type_counts", "gold_types")
"""What :class:`MetricScores` holds by system."""

ByType = Mapping[str, Mapping[str, Score]]
"""Scores by system and error type."""


@dataclass(frozen=True, eq=False)
class MetricScores(Named[Score], over="scores", what="system"):
    """All that one metric, canonically spelled, says: a :class:`Score` by system name.

    ``signature`` is what all its scores depend on. By system: ``segments``, each segment's own
    score, and ``statistics``, the rows from which anything can be scored anew, both empty where
    only corpus scores are known; ``types``, a score for each error type, if asked for, with
    ``type_counts``, the counts by sentence that these come from, if the metric counts;
    ``gold_types``, the recall of each type of the gold edits, as their annotators named it.
    ``notes`` are what a reader must know before believing this metric's numbers, a sentence each.
    """

    metric: str
    signature: Signature
    higher_is_better: bool
    scores: Mapping[str, Score]
    segments: Mapping[str, SegmentScores] = field(default_factory=dict[str, SegmentScores])
    statistics: Mapping[str, Statistics] = field(default_factory=dict[str, Statistics])
    types: ByType = field(default_factory=dict[str, Mapping[str, Score]])
    type_counts: Mapping[str, TypeCounts] = field(default_factory=dict[str, TypeCounts])
    gold_types: ByType = field(default_factory=dict[str, Mapping[str, Score]])
    notes: tuple[str, ...] = ()

    def of_systems(self, names: Mapping[str, str]) -> "MetricScores":
        """Return the scores of some systems only: ``names`` maps their new names to the old."""
        parts: dict[str, Any] = {part: getattr(self, part) for part in BY_SYSTEM}
        chosen = {
            part: {new: held[old] for new, old in names.items() if old in held}
            for part, held in parts.items()
        }
        return replace(self, **chosen)

    def remarks(self, name: str) -> list[str]:
        """Return lines below a table: the signature, the direction, why scores are missing."""
        lower = "" if self.higher_is_better else " (lower is better)"
        missing = [
            f"{name}, {system}: no score: {score.reason or 'undefined'}"
            for system, score in self.scores.items()
            if math.isnan(score.value)
        ]
        return [f"{name}{lower}: {self.signature}", *missing]

    def details(self) -> dict[str, Any]:
        """Return what the public shape leaves out: sentences, statistics, counts by type."""
        rows = {"statistics": self.statistics, "sentences": self.segments}
        return plain({"metric": self.metric, **rows, "types": self.type_counts})

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: signature, direction, a score by system."""
        shape = {"signature": str(self.signature), "higher_is_better": self.higher_is_better}
        systems = {name: score.to_dict() for name, score in self.scores.items()}
        parts = {"types": self.types, "gold_types": self.gold_types, "notes": self.notes}
        return shape | {"systems": systems} | {key: plain(of) for key, of in parts.items() if of}


def read_column(
    spelling: str, shape: Mapping[str, Any], details: Mapping[str, Any], segments: int
) -> MetricScores:
    """Read a metric of a stored table; raise what is amiss as the error that it causes."""
    signature = Signature.parse(shape["signature"])

    def scores(of: Mapping[str, Any]) -> dict[str, Score]:
        return {name: _score(data, signature, segments) for name, data in of.items()}

    def stored(part: str, read: Callable[[Any], Stored]) -> dict[str, Stored]:
        return {system: read(data) for system, data in details.get(part, {}).items()}

    types, gold = (
        {system: scores(of) for system, of in shape.get(key, {}).items()}
        for key in ("types", "gold_types")
    )
    return MetricScores(
        details.get("metric", spelling), signature, shape["higher_is_better"],
        scores(shape["systems"]), stored("sentences", _sentences_from_json),
        stored("statistics", Statistics.from_dict), types, stored("types", TypeCounts.from_dict),
        gold, tuple(shape.get("notes", ())),
    )  # fmt: skip


def _score(data: Mapping[str, Any], signature: Signature, segments: int) -> Score:
    parts = {key: read_number(value) for key, value in data.get("parts", {}).items()}
    return Score(read_number(data["value"]), signature, segments, parts, data.get("reason"))


def _sentences_from_json(data: Mapping[str, Any]) -> SegmentScores:
    values = np.array([read_number(value) for value in data["values"]], dtype=np.float64)
    chosen = np.array(data["chosen"], dtype=np.int64)
    parts = {name: np.array([*map(read_number, of)]) for name, of in data["parts"].items()}
    other = _sentences_from_json(data["in_corpus"]) if data.get("in_corpus") else None
    columns = (chosen, *parts.values(), *(() if other is None else (other.values,)))
    if any(column.shape != values.shape for column in columns):
        raise ValueError("the figures of sentences differ in length")
    return SegmentScores(values, chosen, parts, data.get("reason"), other)
