"""Each sentence's own score, whatever else is scored with it: for rows, rewards and loops.

A corpus score chooses among references as it goes along; here every sentence stands alone, so
that its value depends on neither the batch nor the order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grammeter.core import MissingResourceError, RemoteError, Segment, Statistics, UsageError
from grammeter.metrics import Metric
from grammeter.scoring.table import count

T = TypeVar("T")

FATAL = (MissingResourceError, RemoteError, UsageError, MemoryError, OSError)
"""Faults of the run, not of a sentence."""


@dataclass(frozen=True, slots=True)
class Value:
    """A sentence's score; ``None`` where there is none, and why."""

    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why the work on a single sentence failed."""

    reason: str


def check_alone(metric: Metric) -> None:
    """Refuse a metric that scores an output by the whole corpus.

    Raises
    ------
    UsageError
        If no sentence alone has a score.
    """
    if metric.pooled or getattr(metric, "idf", False):
        raise UsageError(
            f"{metric} scores an output by the whole corpus, so no sentence alone has a score",
            fix="Use 'grammeter score' for it.",
        )


def sentence_values(metrics: Sequence[Metric], segments: Sequence[Segment]) -> list[list[Value]]:
    """Score each segment by each metric.

    A segment that makes a metric fail has no value for it, with the reason; the others are
    unharmed. Models are asked for all metrics together.

    Returns
    -------
    list
        For each metric, a value for each segment.

    Raises
    ------
    MissingResourceError, RemoteError, UsageError, MemoryError, OSError
        Of a metric, where its cause is no segment.
    """
    if not segments:
        return [[] for _ in metrics]
    try:
        counted = count(metrics, segments, [1] * len(segments))
        return [_values(metric, counted[metric.counting()]) for metric in metrics]
    except FATAL:
        raise
    except Exception:  # some segment made a metric fail: find out which
        return [_one_metric(metric, segments) for metric in metrics]


def isolated(
    work: Callable[[Sequence[Segment]], Sequence[T]], segments: Sequence[Segment]
) -> list[T | Fault]:
    """Do work on a batch; if it fails, on its halves, until those at fault are alone."""
    if not segments:
        return []
    try:
        return list(work(segments))
    except FATAL:
        raise
    except Exception as error:
        if len(segments) == 1:
            return [Fault(" ".join(f"{type(error).__name__}: {error}".split()))]
        middle = len(segments) // 2
        return [*isolated(work, segments[:middle]), *isolated(work, segments[middle:])]


def _values(metric: Metric, statistics: Statistics) -> list[Value]:
    """Return each row's own score; where rows would influence each other, one by one."""
    if metric.by_row and len(statistics.labels) <= 1:
        alone = [metric.sentences(statistics)]
    else:
        alone = [metric.sentences(statistics.take([at])) for at in range(len(statistics))]
    return [
        Value(None, scores.reason or "no score") if math.isnan(value) else Value(value)
        for scores in alone
        for value in scores.values.tolist()
    ]


def _one_metric(metric: Metric, segments: Sequence[Segment]) -> list[Value]:
    def values(some: Sequence[Segment]) -> list[Value]:
        return _values(metric, count([metric], some, [1] * len(some))[metric.counting()])

    results = isolated(values, segments)
    return [Value(None, one.reason) if isinstance(one, Fault) else one for one in results]
