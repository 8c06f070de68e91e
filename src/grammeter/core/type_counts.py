"""Counts by error type: sparse rows from which scores by type are made and compared."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core.score import Counts
from grammeter.core.statistics import IntArray

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
