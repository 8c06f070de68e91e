"""Two systems sentence by sentence: where they differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grammeter.core.errors import DataError, UsageError
from grammeter.core.score import json_number
from grammeter.core.statistics import FloatArray
from grammeter.core.table import MetricScores, ScoreTable
from grammeter.version import __version__

KIND = "difference"


@dataclass(frozen=True, eq=False)
class Difference:
    """``first`` minus ``second`` in every sentence.

    Attributes
    ----------
    columns
        The metrics, by spelling.
    values
        By metric, shape ``(3, segments)``: scores of the first, of the second, and their
        difference; NaN where a score is missing.
    order
        Numbers of the sentences that are listed, from 1, the largest difference on top.
    """

    first: str
    second: str
    columns: Mapping[str, MetricScores]
    values: Mapping[str, FloatArray]
    order: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the public shape; a NaN is ``None``."""
        whole = {
            name: [column[self.first].value, column[self.second].value]
            for name, column in self.columns.items()
        }
        return {
            "kind": KIND,
            "grammeter": __version__,
            "first": self.first,
            "second": self.second,
            "metrics": {
                name: {
                    "signature": str(column.signature),
                    "higher_is_better": column.higher_is_better,
                    **_numbers([*whole[name], whole[name][0] - whole[name][1]]),
                }
                for name, column in self.columns.items()
            },
            "segments": [
                {"segment": number}
                | {"metrics": {n: _numbers(v[:, number - 1]) for n, v in self.values.items()}}
                for number in self.order
            ],
            "notes": [*self.notes],
        }


def difference(
    table: ScoreTable,
    first: str,
    second: str,
    *,
    metrics: Sequence[str] | None = None,
    show: int = 10,
) -> Difference:
    """Subtract a system's sentence scores from another's and sort by the difference.

    Parameters
    ----------
    table
        Scores with those of sentences.
    first, second
        Names of two systems.
    metrics
        Spellings, all in the table by default; the first one sorts, the others break ties.
    show
        How many sentences to list from either end; 0 lists all.

    Raises
    ------
    UsageError
        If there is no such system or metric, one system is given twice, or ``show`` is below 0.
    DataError
        If there are no sentence scores.
    """
    columns = {name: table[name] for name in (table if metrics is None else metrics)}
    if first == second or not columns or show < 0:
        raise UsageError(
            f"no difference of {first!r} and {second!r} by {len(columns)} metrics, show={show}",
            fix="Name two systems and at least one metric, and a show from 0.",
        )
    values = {name: _values(name, column, first, second) for name, column in columns.items()}
    differences = [value[2] for value in values.values()]
    order = np.lexsort([-value for value in reversed(differences)]) + 1  # NaN sorts last
    known = order[~np.isnan(differences[0][order - 1])]
    if 0 < 2 * show < len(known):
        order = np.concatenate([known[:show], known[-show:]])
    notes = [_counted(name, columns[name], first, second, v[2]) for name, v in values.items()]
    return Difference(first, second, columns, values, tuple(order.tolist()), (*table.notes, *notes))


def _values(name: str, column: MetricScores, first: str, second: str) -> FloatArray:
    scores = {system: column[system] for system in (first, second)}
    if missing := [system for system in scores if system not in column.segments]:
        raise DataError(
            f"{name}, {missing[0]}: no scores of sentences",
            fix="Run 'grammeter score ... -o FILE' again, or give 'metric system segment value'.",
        )
    ours, theirs = (column.segments[system].values for system in scores)
    return np.stack([ours, theirs, ours - theirs])


def _counted(name: str, column: MetricScores, first: str, second: str, values: FloatArray) -> str:
    better = values if column.higher_is_better else -values
    unknown = f", unknown in {missing}" if (missing := np.isnan(better).sum()) else ""
    return (
        f"{name}: of sentences scored alone {first} is better in {(better > 0).sum()}, {second} in"
        f" {(better < 0).sum()}, they are equal in {(better == 0).sum()}{unknown}"
    )


def _numbers(values: Sequence[float] | FloatArray) -> dict[str, float | int | None]:
    return dict(zip(("first", "second", "difference"), map(json_number, values), strict=True))
