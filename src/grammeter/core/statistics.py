"""Sufficient statistics: what is counted once and scored many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Statistics:
    """One row per segment, one slot per competing reference, one column per count.

    ``rows``, shape ``(segments, slots, columns)``, are whole numbers for counts, floats for
    weights, 0 in an absent slot; ``present``, ``(segments, slots)``, says whether this segment has
    this reference. ``labels``, ascending, number the reference or annotator in each slot;
    ``columns`` names each count.
    """

    rows: npt.NDArray[Any]
    present: BoolArray
    labels: tuple[int, ...]
    columns: tuple[str, ...]

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

    def take(self, indices: Sequence[int] | IntArray) -> Statistics:
        """Return the chosen segments, in the given order, repetitions allowed."""
        chosen = np.asarray(indices, dtype=np.int64)
        return Statistics(self.rows[chosen], self.present[chosen], self.labels, self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists; an absent slot is ``null``, and so is a number that is NaN."""
        finite = np.isfinite(self.rows)
        numbers: Any = self.rows if finite.all() else np.where(finite, self.rows, cast("Any", None))
        rows = [
            [row if there else None for row, there in zip(slots, present, strict=True)]
            for slots, present in zip(numbers.tolist(), self.present.tolist(), strict=True)
        ]
        return {"labels": list(self.labels), "columns": list(self.columns), "rows": rows}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Statistics:
        """Read what :meth:`to_dict` wrote."""
        empty = [0] * len(data["columns"])
        present = [[slot is not None for slot in slots] for slots in data["rows"]]
        rows = [[slot or empty for slot in slots] for slots in data["rows"]]
        shape = (len(rows), len(data["labels"]), len(empty))
        numbers = np.array(rows) if rows else np.zeros(shape, dtype=np.int64)
        if numbers.dtype == np.object_:
            numbers = numbers.astype(np.float64)  # null is NaN
        if numbers.dtype.kind not in "iuf":
            raise ValueError("statistics are numbers")
        return cls(
            numbers.reshape(shape),
            np.array(present, dtype=np.bool_).reshape(shape[:2]),
            tuple(data["labels"]),
            tuple(data["columns"]),
        )


@dataclass(frozen=True, eq=False)
class CorpusChoice:
    """The references that a corpus score chose, and each segment's score against them.

    Shapes ``(segments,)``: ``chosen`` numbers the reference or annotator, ``values`` are in the
    metric's units.
    """

    chosen: IntArray
    values: FloatArray

    def take(self, indices: IntArray) -> CorpusChoice:
        """Return those of some segments, in the given order."""
        return CorpusChoice(self.chosen[indices], self.values[indices])


@dataclass(frozen=True, eq=False)
class SegmentScores:
    """A score for each segment alone: no other sentence decides which reference is chosen.

    Shapes are ``(segments,)``: ``values`` in the metric's units, NaN with a ``reason``; ``chosen``,
    the number of the reference or annotator, -1 where the score belongs to none (a mean over
    references, say); ``parts``, further figures by name. ``in_corpus`` is what the corpus score
    chose, for a metric that chooses by running totals; ``None`` for one whose corpus score has no
    choice of its own.
    """

    values: FloatArray
    chosen: IntArray
    parts: dict[str, npt.NDArray[Any]]
    reason: str | None = None
    in_corpus: CorpusChoice | None = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, indices: Sequence[int] | IntArray) -> SegmentScores:
        """Return the chosen segments, in the given order."""
        at = np.asarray(indices, dtype=np.int64)
        parts = {name: column[at] for name, column in self.parts.items()}
        in_corpus = self.in_corpus and self.in_corpus.take(at)
        return SegmentScores(self.values[at], self.chosen[at], parts, self.reason, in_corpus)
