"""Rank ranges and clusters from the scores of many runs.

The procedure of the script ``cluster.py`` by which WMT and Grundkiewicz et al. 2015 (section
5.1) made their tables, in all its details: which ranks are cut off, how equal scores are
ordered, and where a line is drawn between clusters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grammeter.core.errors import UsageError
from grammeter.core.statistics import FloatArray, IntArray

RankRange = tuple[int, int]
"""First and last rank, from 1."""


@dataclass(frozen=True)
class Clustering:
    """Systems in the order of their scores, with rank ranges and clusters.

    Attributes
    ----------
    order
        Columns of the scores, best first.
    ranges
        First and last rank of each, in this order.
    clusters
        Number of the cluster of each, from 1, in this order.
    """

    order: tuple[int, ...]
    ranges: tuple[RankRange, ...]
    clusters: tuple[int, ...]


def cluster_runs(
    scores: FloatArray, *, confidence: float = 0.95, order: Sequence[int] | None = None
) -> Clustering:
    """Find rank ranges and clusters.

    Parameters
    ----------
    scores
        Shape ``(runs, systems)``, columns in the alphabetical order of the systems' names;
        NaN counts as worse than any number.
    confidence
        Share of the runs whose ranks a range covers.
    order
        Columns, best first; default: by mean over the runs, as the original does.

    Raises
    ------
    UsageError
        If the confidence is impossible or leaves none of the runs.
    """
    by_rank = mean_order(scores) if order is None else list(order)
    found = rank_ranges(run_ranks(scores), confidence)
    ranges = tuple(found[column] for column in by_rank)
    return Clustering(tuple(by_rank), ranges, cluster_numbers(ranges))


def run_ranks(scores: FloatArray) -> IntArray:
    """Rank the systems within each run, from 1.

    Of equal scores the one whose name stands later in the alphabet ranks better.

    Parameters
    ----------
    scores
        As for :func:`cluster_runs`.

    Returns
    -------
    IntArray
        Shape ``(runs, systems)``; each row holds every rank once.
    """
    worst_first = _comparable(scores)[:, ::-1]  # later names first, for the sort is stable
    order = scores.shape[1] - 1 - np.argsort(-worst_first, axis=1, kind="stable")
    ranks = np.empty(scores.shape, dtype=np.int64)
    runs = np.arange(len(scores))[:, None]
    ranks[runs, order] = np.arange(1, scores.shape[1] + 1)
    return ranks


def mean_order(scores: FloatArray) -> list[int]:
    """Return the columns by mean over runs, then deviation, then name, all descending."""
    moments = np.array([_moments(column) for column in scores.T.tolist()]).reshape(-1, 2)
    return score_order(moments[:, 0], moments[:, 1])


def score_order(scores: FloatArray, *further: FloatArray) -> list[int]:
    """Return the columns by score, best first; NaN last, of equals the later column first."""
    keys = [np.where(np.isnan(values), -np.inf, values).tolist() for values in (scores, *further)]
    columns = range(len(scores))
    return sorted(columns, key=lambda at: (*(key[at] for key in keys), at), reverse=True)


def rank_ranges(ranks: IntArray, confidence: float) -> list[RankRange]:
    """Return the first and last rank that each system takes, less the outermost ones.

    Of B runs, ``ceil((B - B * confidence) / 2)`` are cut off at each end.

    Parameters
    ----------
    ranks
        Shape ``(runs, systems)``.

    Raises
    ------
    UsageError
        If the confidence is impossible or nothing is left.
    """
    runs = len(ranks)
    if not 0 < confidence <= 1:
        raise UsageError(
            f"confidence={confidence} is not possible",
            fix="Give a number between 0 and 1, such as 0.95.",
        )
    cut = math.ceil((runs - runs * confidence) / 2)
    if runs <= 2 * cut:
        raise UsageError(
            f"{runs} runs are too few for rank ranges at confidence {confidence}:"
            f" {cut} are cut off at each end",
            fix="Take more runs, or a lower confidence.",
        )
    low, high = np.sort(ranks, axis=0)[[cut, runs - 1 - cut]].tolist()
    return list(zip(low, high, strict=True))


def cluster_numbers(ranges: Sequence[RankRange]) -> tuple[int, ...]:
    """Give systems that stand in order, best first, the numbers of their clusters.

    A line is drawn below a system if its last rank is better than the first rank of every
    system further down. As in the original, systems above it are not looked at.

    Returns
    -------
    tuple
        From 1, one number for each system.
    """
    numbers: list[int] = []
    current = 1
    for place, (_, last) in enumerate(ranges):
        numbers.append(current)
        if all(last < first for first, _ in ranges[place + 1 :]):
            current += 1
    return tuple(numbers)


def _moments(values: list[float]) -> tuple[float, float]:
    """Return mean and sum of squared deviations, the same in whatever order the values come."""
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((value - mean) ** 2 for value in values)


def _comparable(scores: FloatArray) -> FloatArray:
    return np.where(np.isnan(scores), -np.inf, scores)
