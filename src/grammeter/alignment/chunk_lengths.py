"""Chunks counted by kind and length, and sums of them weighed by length (CLEME)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grammeter.alignment.verdicts import (
    KINDS,
    WHOLE,
    Curve,
    Judged,
    counts_by_length,
    length_weight,
)
from grammeter.core import FloatArray, IntArray, Statistics

_CENTRE = {("changed", WHOLE), ("length", WHOLE)}
"""Columns from which the average length comes."""


def rows_by_length(judged: Sequence[Judged]) -> tuple[tuple[str, ...], IntArray]:
    """Return columns such as ``tp@2``, with ``changed`` and ``length``, and a row for each."""
    counted = list(map(counts_by_length, judged))
    columns = sorted({column for row in counted for column in row} | _CENTRE)
    rows = [[row[column] for column in columns] for row in counted]
    names = tuple(name if n == WHOLE else f"{name}@{n}" for name, n in columns)
    return names, np.array(rows, dtype=np.int64).reshape(-1, len(columns))


def average_length(statistics: Statistics) -> float:
    """Return the mean length in tokens of the chunks that references change; 0 without any."""
    changed = _total(statistics, "changed")
    return _total(statistics, "length") / changed if changed else 0.0


def changes_nothing(statistics: Statistics) -> bool:
    """Whether chunks are counted by length, and no reference changes any."""
    return "changed" in statistics.columns and not _total(statistics, "changed")


def weighted_sums(
    statistics: Statistics, curves: tuple[Curve, Curve, Curve], average: float
) -> FloatArray:
    """Weigh chunks by how far their lengths are from an average.

    Returns
    -------
    FloatArray
        Shape ``(segments, slots, 5)``, in the order of ``KINDS``.
    """
    sums = np.zeros((*statistics.present.shape, len(KINDS)))
    for number, column in enumerate(statistics.columns):
        name, _, length = column.partition("@")
        if name in KINDS:  # one column after the other: equal counts give equal sums
            kind = KINDS.index(name)
            weight = length_weight(curves, kind, int(length) - average) if length else 1.0
            sums[..., kind] += statistics.rows[..., number] * weight
    return sums


def _total(statistics: Statistics, column: str) -> int:
    return int(statistics.rows[..., statistics.columns.index(column)].sum())
