"""What a metric sees, segments, and sufficient statistics: counted once, scored many times.

Counts by error type are sparse rows, from which scores by type are made and compared.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, cast, get_args

import numpy as np
import numpy.typing as npt

from grammeter.core.edit import Edit, GoldEdits
from grammeter.core.score import Counts

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Statistics:
    """One row per segment, one slot per competing reference, one column per count.

    ``rows``, shape ``(segments, slots, columns)``, are whole numbers for counts, floats for
    weights, 0 in an absent slot; ``present``, ``(segments, slots)``, says whether this segment has
    this reference. ``labels``, ascending, number the reference or annotator in each slot;
    ``columns`` names each count. A sentence that cannot be judged keeps its place: ``judged``,
    ``(segments,)``, says which can be, ``None`` that all can; metrics score these alone.
    """

    rows: npt.NDArray[Any]
    present: BoolArray
    labels: tuple[int, ...]
    columns: tuple[str, ...]
    judged: BoolArray | None = None

    def __post_init__(self) -> None:
        expected = (*self.present.shape, len(self.columns))
        if self.rows.shape != expected or self.present.shape[1] != len(self.labels):
            raise ValueError(f"statistics of shape {self.rows.shape} do not fit {expected}")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def slots(self) -> int:
        """How many references compete."""
        return len(self.labels)

    def take(self, indices: Sequence[int] | IntArray) -> "Statistics":
        """Return the chosen segments, in the given order, repetitions allowed."""
        at = np.asarray(indices, dtype=np.int64)
        judged = None if self.judged is None else self.judged[at]
        return Statistics(self.rows[at], self.present[at], self.labels, self.columns, judged)

    @property
    def counted(self) -> "Statistics":
        """The rows of the sentences that can be judged."""
        at = self.judged
        return self if at is None else replace(self.take(np.flatnonzero(at)), judged=None)

    def among(self, judged: BoolArray) -> "Statistics":
        """Give these rows the places of the sentences that can be judged, among all."""
        rows, present = spread(self.rows, judged), spread(self.present, judged)
        return Statistics(rows, present, self.labels, self.columns, judged)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists; an absent slot is ``null``, so is NaN, and a row not judged."""
        finite = np.isfinite(self.rows)
        numbers: Any = self.rows if finite.all() else np.where(finite, self.rows, cast("Any", None))
        rows: list[Any] = [
            [row if there else None for row, there in zip(slots, present, strict=True)]
            for slots, present in zip(numbers.tolist(), self.present.tolist(), strict=True)
        ]
        for at in [] if self.judged is None else np.flatnonzero(~self.judged).tolist():
            rows[at] = None
        return {"labels": list(self.labels), "columns": list(self.columns), "rows": rows}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Statistics":
        """Read what :meth:`to_dict` wrote."""
        empty = [0] * len(data["columns"])
        judged = np.array([slots is not None for slots in data["rows"]], dtype=np.bool_)
        lines = [slots or [None] * len(data["labels"]) for slots in data["rows"]]
        present = [[slot is not None for slot in slots] for slots in lines]
        rows = [[slot or empty for slot in slots] for slots in lines]
        shape = (len(rows), len(data["labels"]), len(empty))
        numbers = np.array(rows) if rows else np.zeros(shape, dtype=np.int64)
        if numbers.dtype == np.object_:
            numbers = numbers.astype(np.float64)  # null is NaN
        if numbers.dtype.kind not in "iuf":
            raise ValueError("statistics are numbers")
        there = np.array(present, dtype=np.bool_).reshape(shape[:2])
        names = (tuple(data["labels"]), tuple(data["columns"]))
        return cls(numbers.reshape(shape), there, *names, None if judged.all() else judged)


def spread(values: npt.NDArray[Any], judged: BoolArray, fill: float = 0) -> npt.NDArray[Any]:
    """Give values of the sentences that can be judged their places among all."""
    places = np.full((len(judged), *values.shape[1:]), fill, dtype=values.dtype)
    places[judged] = values
    return places


Key = TypeVar("Key")
Value = TypeVar("Value")


def grouped(items: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the values of each key, keys and values in the order in which they come."""
    groups: dict[Key, list[Value]] = {}
    for key, value in items:
        groups.setdefault(key, []).append(value)
    return groups


@dataclass(frozen=True, eq=False)
class SegmentScores:
    """A score for each segment alone: no other sentence decides which reference is chosen.

    Shapes are ``(segments,)``: ``values`` in the metric's units, NaN with a ``reason``; ``chosen``,
    the number of the reference or annotator, -1 where the score belongs to none (a mean over
    references, say); ``parts``, further figures by name. ``in_corpus`` is what the corpus score
    chose and the scores against it, for a metric that chooses by running totals; ``None`` for one
    whose corpus score has no choice of its own.
    """

    values: FloatArray
    chosen: IntArray
    parts: dict[str, npt.NDArray[Any]] = field(default_factory=dict[str, npt.NDArray[Any]])
    reason: str | None = None
    in_corpus: "SegmentScores | None" = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, indices: Sequence[int] | IntArray) -> "SegmentScores":
        """Return the chosen segments, in the given order."""
        at = np.asarray(indices, dtype=np.int64)
        parts = {name: column[at] for name, column in self.parts.items()}
        in_corpus = self.in_corpus and self.in_corpus.take(at)
        return SegmentScores(self.values[at], self.chosen[at], parts, self.reason, in_corpus)

    def among(self, judged: BoolArray) -> "SegmentScores":
        """Give these the places of the sentences that can be judged; the others are NaN."""
        values, chosen = spread(self.values, judged, np.nan), spread(self.chosen, judged, -1)
        parts = {name: spread(column, judged) for name, column in self.parts.items()}
        why = " or ".join(filter(None, [self.reason, "the sentence cannot be judged"]))
        in_corpus = self.in_corpus and self.in_corpus.among(judged)
        return SegmentScores(values, chosen, parts, why, in_corpus)


@dataclass(frozen=True, slots=True)
class Segment:
    """One output of one system for one source sentence.

    ``references`` holds one text per reference, ``None`` where this sentence lacks it;
    ``gold`` the edits by annotator. Either may be empty. Segments of one source line share
    the very same ``references`` and ``gold`` objects, so that a metric can do the work on
    them once. ``previous`` and ``following`` are the source sentences before and after, empty
    where there is none; judges read them.
    """

    source: str
    hypothesis: str
    references: tuple[str | None, ...] = ()
    gold: GoldEdits = field(default_factory=dict[int, tuple[Edit, ...]])
    previous: str = ""
    following: str = ""

    @property
    def texts(self) -> list[str]:
        """The references that this sentence has."""
        return [text for text in self.references if text is not None]


def reference_texts(segments: Iterable[Segment]) -> tuple[str, ...]:
    """Return the reference texts of the source lines that the segments belong to, sorted.

    Segments of one line share their references, which are taken once for it; a text that
    several lines or references have is there as often.
    """
    lines = {id(each.references): each.texts for each in segments}
    return tuple(sorted(text for texts in lines.values() for text in texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The corpus that one output of one system was scored with.

    ``segments`` and ``statistics`` are those of all its outputs, in the order of the lines; the
    latter ``None`` where they were not counted. ``line`` is the output's position, from 0,
    ``company`` what the other systems wrote for it.
    """

    segments: Sequence[Segment]
    line: int
    company: Sequence[str] = ()
    statistics: Statistics | None = None


# --- by error type -------------------------------------------------------------------------
Tier = Literal["operation", "main", "full"]
"""How much of an error type is kept: ``R``, ``NOUN:NUM`` or ``R:NOUN:NUM``."""

TIERS: tuple[Tier, ...] = get_args(Tier)

UNKNOWN = "UNK"
"""Type of an edit that marks an error without a correction."""

OUTCOMES = ("tp", "fp", "fn")
"""True positives, false positives, false negatives: the last three columns of the rows."""


def tier_of(kind: str, tier: Tier) -> str:
    """Return the part of an error type that a tier keeps.

    ERRANT's package cuts by position, whatever the types are: the first letter is the operation,
    all after the second the main type. ``UNK`` stays whole.
    """
    if kind == UNKNOWN or tier == "full":
        return kind
    return kind[:1] if tier == "operation" else kind[2:]


@dataclass(frozen=True, eq=False)
class TypeCounts:
    """The edits of one system by sentence and error type; what is zero has no row.

    ``names`` are the error types, in alphabetical order; ``rows``, shape ``(n, 5)``, the number of
    the sentence from 0, the type's position in ``names``, true positives, false positives, false
    negatives.
    """

    names: tuple[str, ...]
    rows: IntArray

    def __post_init__(self) -> None:
        rows = self.rows
        inside = not rows.size or (rows.min() >= 0 and rows[:, 1].max() < len(self.names))
        if rows.shape[1:] != (5,) or not inside:
            raise ValueError("counts by type do not fit the names of the types")

    @classmethod
    def of(cls, edits: Iterable[tuple[int, str, str]]) -> "TypeCounts":
        """Count edits, each with its sentence (from 0), its type and one of :data:`OUTCOMES`."""
        counts = Counter(edits)
        names = tuple(sorted({name for _, name, _ in counts}))
        place = {name: number for number, name in enumerate(names)}
        cells = sorted({(sentence, place[name]) for sentence, name, _ in counts})
        rows = [
            (sentence, at, *(counts[sentence, names[at], outcome] for outcome in OUTCOMES))
            for sentence, at in cells
        ]
        return cls(names, np.array(rows, dtype=np.int64).reshape(-1, 5))

    def among(self, places: Sequence[int]) -> "TypeCounts":
        """Give the sentences other numbers, those of their ``places`` (from 0)."""
        rows = self.rows.copy()
        rows[:, 0] = np.asarray(places, dtype=np.int64)[rows[:, 0]]
        return TypeCounts(self.names, rows)

    def folded(self, tier: Tier) -> "TypeCounts":
        """Return the counts of full types by what a tier keeps of them."""
        kinds = [tier_of(name, tier) for name in self.names]
        names = tuple(sorted(set(kinds)))
        places = np.array([names.index(kind) for kind in kinds], dtype=np.int64)
        keys = np.stack([self.rows[:, 0], places[self.rows[:, 1]]], axis=-1)
        cells, inverse = np.unique(keys, axis=0, return_inverse=True)
        counts = np.zeros((len(cells), 3), dtype=np.int64)
        np.add.at(counts, inverse.reshape(-1), self.rows[:, 2:])
        return TypeCounts(names, np.concatenate([cells, counts], axis=1))

    def totals(self) -> dict[str, Counts]:
        """Return the counts of the corpus by type, in alphabetical order."""
        sums = np.zeros((len(self.names), 3), dtype=np.int64)
        np.add.at(sums, self.rows[:, 1], self.rows[:, 2:])
        return {name: Counts(*row) for name, row in zip(self.names, sums.tolist(), strict=True)}

    def by_sentence(self, name: str, sentences: int) -> IntArray:
        """Return the counts of one type, shape ``(sentences, 3)``; zeros if it never occurs."""
        counts = np.zeros((sentences, 3), dtype=np.int64)
        if name in self.names:
            rows = self.rows[self.rows[:, 1] == self.names.index(name)]
            counts[rows[:, 0]] = rows[:, 2:]
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists."""
        return {"names": list(self.names), "rows": self.rows.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "TypeCounts":
        """Read what :meth:`to_dict` wrote."""
        return cls(tuple(data["names"]), np.array(data["rows"], dtype=np.int64).reshape(-1, 5))


@dataclass(frozen=True)
class CountedTypes:
    """Counts by error type and system, ``settings`` for the signature, ``notes`` for readers."""

    systems: Mapping[str, TypeCounts]
    settings: Mapping[str, object]
    notes: tuple[str, ...] = ()
