"""The score table: metric x system x segment, by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from grammeter.core.html import number
from grammeter.core.named import Named
from grammeter.core.score import Score, json_number
from grammeter.core.shown import Layout, Shown
from grammeter.core.signature import Signature
from grammeter.core.statistics import CorpusChoice, FloatArray, SegmentScores, Statistics
from grammeter.core.stored import reading
from grammeter.core.type_counts import TypeCounts
from grammeter.version import __version__

SCORES_KIND = "scores"


_BY_SYSTEM = ("scores", "segments", "statistics", "types", "type_counts", "gold_types")
"""What :class:`MetricScores` holds by system."""


@dataclass(frozen=True, eq=False)
class MetricScores(Named[Score], over="scores", what="system"):
    """All that one metric says: a :class:`Score` by system name.

    Attributes
    ----------
    metric
        The metric's canonical spelling.
    signature
        What all its scores depend on.
    segments, statistics
        By system: each segment's own score, and the rows from which anything can be scored
        anew. Empty where only corpus scores are known.
    types
        By system: a score for each error type, where they were asked for.
    type_counts
        By system: the counts by sentence that these come from, if the metric counts.
    gold_types
        By system: the recall of each type of the gold edits, as their annotators named it.
    constants
        What sentence scores take from files besides the texts and models, as JSON values; see
        :meth:`grammeter.Metric.constants`.
    notes
        What a reader must know before believing this metric's numbers, a sentence each.
    """

    metric: str
    signature: Signature
    higher_is_better: bool
    scores: Mapping[str, Score]
    segments: Mapping[str, SegmentScores] = field(default_factory=dict[str, SegmentScores])
    statistics: Mapping[str, Statistics] = field(default_factory=dict[str, Statistics])
    types: Mapping[str, Mapping[str, Score]] = field(default_factory=dict[str, Mapping[str, Score]])
    type_counts: Mapping[str, TypeCounts] = field(default_factory=dict[str, TypeCounts])
    gold_types: Mapping[str, Mapping[str, Score]] = field(
        default_factory=dict[str, Mapping[str, Score]]
    )
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: tuple[str, ...] = ()

    def of_systems(self, names: Mapping[str, str]) -> MetricScores:
        """Return the scores of some systems only: ``names`` maps their new names to the old."""
        parts: dict[str, Any] = {part: getattr(self, part) for part in _BY_SYSTEM}
        chosen = {
            part: {new: held[old] for new, old in names.items() if old in held}
            for part, held in parts.items()
        }
        return replace(self, **chosen)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: signature, direction, a score by system."""
        return {
            "signature": str(self.signature),
            "higher_is_better": self.higher_is_better,
            "systems": {name: score.to_dict() for name, score in self.scores.items()},
            **({"types": _types_to_json(self.types)} if self.types else {}),
            **({"gold_types": _types_to_json(self.gold_types)} if self.gold_types else {}),
            **({"notes": [*self.notes]} if self.notes else {}),
        }


@dataclass(frozen=True, eq=False)
class ScoreTable(Shown, Named[MetricScores], over="columns", what="metric in this table"):
    """Scores of several systems by several metrics: ``table["m2"]["AMU"].value``.

    The key of a metric is the spelling that was asked for.

    Attributes
    ----------
    systems
        Names, in the order in which they were given.
    segments
        How many sentences each system was scored on.
    columns
        :class:`MetricScores` by spelling.
    corpus
        The texts that were scored, as plain JSON values, so that a stored table can explain
        itself; ``None`` where they are unknown.
    about
        What a reader must know of the texts and of the table, a sentence each.
    """

    systems: tuple[str, ...]
    segments: int
    columns: Mapping[str, MetricScores]
    corpus: Mapping[str, Any] | None = None
    about: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know before believing the numbers."""
        return self.notes_on(self.columns)

    def notes_on(self, metrics: Iterable[str]) -> tuple[str, ...]:
        """Return the notes of the table and of some of its metrics, each once."""
        of_metrics = [note for name in metrics for note in self[name].notes]
        return tuple(dict.fromkeys([*self.about, *of_metrics]))

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape, without segments and statistics."""
        return {
            "kind": SCORES_KIND,
            "grammeter": __version__,
            "segments": self.segments,
            "systems": list(self.systems),
            "metrics": {name: column.to_dict() for name, column in self.columns.items()},
            "notes": [*self.notes],
        }

    def to_full_dict(self) -> dict[str, Any]:
        """Return the public shape and, under ``details`` and ``corpus``, all that is known."""
        details = {
            name: {
                "metric": column.metric,
                "statistics": {s: rows.to_dict() for s, rows in column.statistics.items()},
                "sentences": {s: _sentences_to_json(x) for s, x in column.segments.items()},
                "types": {s: counts.to_dict() for s, counts in column.type_counts.items()},
                "constants": dict(column.constants),
            }
            for name, column in self.columns.items()
        }
        return self.to_dict() | {"details": details, "corpus": self.corpus}

    __repr__ = Shown.short

    def _layout(self) -> Layout:
        """Lay out a row for each system, the best in bold."""
        values = [
            [column[s].value if s in column.scores else math.nan for s in self.systems]
            for column in self.columns.values()
        ]
        best = frozenset(
            (row, place)
            for place, (column, own) in enumerate(
                zip(self.columns.values(), values, strict=True), start=1
            )
            for row, value in enumerate(own)
            if value == (np.nanmax if column.higher_is_better else np.nanmin)([*own, value])
        )
        rows = [
            (system, *(number(own[row]) for own in values))
            for row, system in enumerate(self.systems)
        ]
        notes = [f"{name}: {column.signature}" for name, column in self.columns.items()]
        return Layout(("system", *self.columns), rows, best, [*notes, *self.notes])

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, where: str | None = None) -> ScoreTable:
        """Read what :meth:`to_dict` or :meth:`to_full_dict` wrote.

        Raises
        ------
        DataError
            If it is something else; ``where`` names the file.
        """
        with reading(data, SCORES_KIND, verb="score", where=where):
            details = data.get("details", {})
            columns = {
                name: _column(name, shape, details.get(name, {}), data["segments"])
                for name, shape in data["metrics"].items()
            }
            systems = tuple(data["systems"])
            of_metrics = {note for column in columns.values() for note in column.notes}
            about = tuple(note for note in data.get("notes", ()) if note not in of_metrics)
            return _checked(cls(systems, data["segments"], columns, data.get("corpus"), about))


def _checked(table: ScoreTable) -> ScoreTable:
    """Return the table; raise :class:`ValueError` where parts of it do not fit the others."""
    known, count = set(table.systems), table.segments
    told: list[Any] = [*known, *(column.metric for column in table.columns.values())]
    directions: list[Any] = [column.higher_is_better for column in table.columns.values()]
    if len(known) < len(table.systems) or not all(isinstance(name, str) for name in told):
        raise ValueError("the systems and metrics are not texts that differ")
    if not all(isinstance(higher, bool) for higher in directions):
        raise ValueError("higher_is_better is not true or false")
    if type(count) is not int or count < 0:
        raise ValueError(f"segments is {count!r}")
    if table.corpus is not None and not known <= set(table.corpus["systems"]):
        raise ValueError("the corpus lacks systems")
    for name, column in table.columns.items():
        by_system = [getattr(column, part) for part in _BY_SYSTEM]
        sizes = {len(part) for part in (*column.segments.values(), *column.statistics.values())}
        if not all(known.issuperset(part) for part in by_system) or not sizes <= {count}:
            raise ValueError(f"{name} has scores of other systems or sentences")
        if any((own.rows[:, 0] >= count).any() for own in column.type_counts.values()):
            raise ValueError(f"{name} has error types of other sentences")
    return table


def _column(
    spelling: str, shape: Mapping[str, Any], details: Mapping[str, Any], segments: int
) -> MetricScores:
    signature = Signature.parse(shape["signature"])
    scores = {
        system: _score(data, signature, segments) for system, data in shape["systems"].items()
    }
    types, gold_types = (
        {
            system: {kind: _score(data, signature, segments) for kind, data in kinds.items()}
            for system, kinds in shape.get(key, {}).items()
        }
        for key in ("types", "gold_types")
    )
    counts = {s: TypeCounts.from_dict(d) for s, d in details.get("types", {}).items()}
    statistics = {s: Statistics.from_dict(d) for s, d in details.get("statistics", {}).items()}
    sentences = {s: _sentences_from_json(d) for s, d in details.get("sentences", {}).items()}
    metric = details.get("metric", spelling)
    return MetricScores(
        metric,
        signature,
        shape["higher_is_better"],
        scores,
        sentences,
        statistics,
        types,
        counts,
        gold_types,
        dict(details.get("constants", {})),
        tuple(shape.get("notes", ())),
    )


def _score(data: Mapping[str, Any], signature: Signature, segments: int) -> Score:
    return Score(
        value=_number(data["value"]),
        signature=signature,
        n=segments,
        parts={key: _number(value) for key, value in data.get("parts", {}).items()},
        reason=data.get("reason"),
    )


def _types_to_json(types: Mapping[str, Mapping[str, Score]]) -> dict[str, Any]:
    return {
        system: {kind: score.to_dict() for kind, score in kinds.items()}
        for system, kinds in types.items()
    }


def _number(value: object) -> float:
    if isinstance(value, int | float):
        float(value)  # fails for what no float can hold
        return value
    if value is None:
        return float("nan")
    raise ValueError(f"{value!r} is no number")


def _sentences_to_json(scores: SegmentScores) -> dict[str, Any]:
    return {
        **_choice_to_json(scores),
        "reason": scores.reason,
        "parts": {
            name: [json_number(value) for value in column.tolist()]
            for name, column in scores.parts.items()
        },
        **({"in_corpus": _choice_to_json(scores.in_corpus)} if scores.in_corpus else {}),
    }


def _choice_to_json(scores: SegmentScores | CorpusChoice) -> dict[str, Any]:
    values = [json_number(value) for value in scores.values.tolist()]
    return {"values": values, "chosen": scores.chosen.tolist()}


def _sentences_from_json(data: Mapping[str, Any]) -> SegmentScores:
    in_corpus = data.get("in_corpus")
    found = SegmentScores(
        values=_values(data),
        chosen=np.array(data["chosen"], dtype=np.int64),
        parts={
            name: np.array([_number(value) for value in column])
            for name, column in data["parts"].items()
        },
        reason=data["reason"],
        in_corpus=in_corpus
        and CorpusChoice(np.array(in_corpus["chosen"], dtype=np.int64), _values(in_corpus)),
    )
    beside = (found.in_corpus.chosen, found.in_corpus.values) if found.in_corpus else ()
    columns = (found.chosen, *found.parts.values(), *beside)
    if any(column.shape != found.values.shape for column in columns):
        raise ValueError("the figures of sentences differ in length")
    return found


def _values(data: Mapping[str, Any]) -> FloatArray:
    return np.array([_number(value) for value in data["values"]], dtype=np.float64)
