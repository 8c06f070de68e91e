"""Sentences to systems: comparisons, by people or by a metric, turned into scores of systems.

People's judgments are aggregated by Expected Wins or TrueSkill, a metric's sentence scores as a
rule by averaging. Goto et al. 2025 aggregate both in one way: each sentence's scores are a
ranking of the systems, and the rankings go through the same method as people's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from grammeter.core import (
    DataError,
    FloatArray,
    IntArray,
    MetricScores,
    Ranking,
    Score,
    ScoreTable,
    Signature,
    UnknownNameError,
)
from grammeter.ranking import method_of, select

Aggregate = Literal["mean", "expected-wins", "trueskill", "bradley-terry"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)


def human_scores(
    rankings: Sequence[Ranking], *, by: str = "expected-wins"
) -> tuple[dict[str, float], Signature, tuple[str, ...]]:
    """Score systems by all of people's judgments, without resampling them.

    Parameters
    ----------
    by
        A method of :func:`grammeter.rank`.

    Returns
    -------
    scores, signature, notes
        Scores by system, NaN for one that the method cannot score; what the judgments note, such
        as that they are few.

    Raises
    ------
    DataError
        If nothing is decided.
    UsageError
        If there is no such method.
    """
    method, chosen = method_of(by), select(rankings)
    scores = method.score(*chosen.pairs.counts())
    shown = {**method.settings(len(chosen.pairs)), **chosen.shown}
    by_system = dict(zip(chosen.pairs.systems, scores.tolist(), strict=True))
    return by_system, Signature.of(method.name, shown), chosen.notes


def with_aggregates(table: ScoreTable, aggregates: Sequence[Aggregate]) -> ScoreTable:
    """Add a column for each metric and way of aggregating: ``m2 by trueskill``.

    Raises
    ------
    DataError
        If a metric has no sentence scores of a system.
    UnknownNameError
        If there is no such way.
    """
    columns: dict[str, MetricScores] = {}
    for name, column in table.items():
        columns[name] = column
        for by in aggregates:
            columns[f"{name} by {by}"] = aggregated(name, column, by)
    return replace(table, columns=columns)


def aggregated(name: str, column: MetricScores, by: Aggregate) -> MetricScores:
    """Score systems by a metric's sentence scores; see :func:`with_aggregates`."""
    if by not in AGGREGATES:
        raise UnknownNameError("way of aggregating", by, AGGREGATES)
    values = _sentence_values(name, column)
    n = values.shape[1]
    if by == "mean":
        means = values.mean(axis=1)
        scores, shown = means if column.higher_is_better else -means, {"sentences": n}
        reason = "sentences without a score"
    else:
        scores, shown = _ranked(values, by)
        reason = "no decided comparison"
    signature = column.signature.extended({"aggregate": by, **shown})
    by_system = {
        system: Score(value, signature, n, reason=reason if math.isnan(value) else None)
        for system, value in zip(column, scores.tolist(), strict=True)
    }
    new = f"{column.metric} by {by}"
    if by == "mean":
        return MetricScores(new, signature, column.higher_is_better, by_system, column.segments)
    return MetricScores(new, signature, True, by_system)


def comparisons(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Compare systems two by two, sentence by sentence.

    Parameters
    ----------
    values
        Shape ``(systems, sentences)``, higher is better; a sentence without a score (NaN) of
        one of the two compares nothing.

    Returns
    -------
    wins, ties
        Shape ``(systems, systems)``: how often the row beats the column, how often they tie.
    """
    size = len(values)
    wins, ties = (np.zeros((size, size), dtype=np.int64) for _ in range(2))
    for row, scores in enumerate(values):
        wins[row] = (scores > values).sum(axis=1)
        ties[row] = (scores == values).sum(axis=1)
    np.fill_diagonal(ties, 0)
    return wins, ties


def _sentence_values(name: str, column: MetricScores) -> FloatArray:
    """Return sentence scores, shape ``(systems, sentences)``, oriented: higher is better."""
    missing = [system for system in column if system not in column.segments]
    if missing:
        raise DataError(
            f"{name}: no sentence scores of {', '.join(missing)}",
            fix="Aggregate what 'grammeter score -o FILE' wrote, or a file with segments.",
        )
    values = np.array([column.segments[system].values for system in column])
    return values if column.higher_is_better else -values


def _ranked(values: FloatArray, by: str) -> tuple[FloatArray, Mapping[str, object]]:
    method = method_of(by)
    wins, ties = comparisons(values)
    tied = int(ties.sum() // 2)
    counts = {"comparisons": int(wins.sum()) + tied, "tied": tied}
    if not wins.any():
        return np.full(len(values), math.nan), counts
    # the prefix keeps the method's settings apart from settings of the metric with the same name
    settings = method.settings(counts["comparisons"])
    shown = {f"aggregate-{key}": value for key, value in settings.items()}
    return method.score(wins, ties), shown | counts
