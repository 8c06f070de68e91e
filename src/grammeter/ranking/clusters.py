"""Rank ranges and clusters from the scores of many runs.

The procedure of the script ``cluster.py`` by which WMT and Grundkiewicz et al. 2015 (section
5.1) made their tables: which ranks are cut off, and where a line is drawn between clusters. One
thing differs: systems of equal scores share the ranks that they span, where the script prefers
the later name of the alphabet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grammeter.core import FloatArray, IntArray, UsageError

RankRange = tuple[int, int]
"""First and last rank, from 1."""

ROUNDING = 1e-12
"""Scores that differ by less, relative to the largest of them, are equal."""


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
    scores: FloatArray,
    *,
    confidence: float = 0.95,
    alike: Sequence[int] | None = None,
) -> Clustering:
    """Find rank ranges and clusters of systems ordered by their means over the runs.

    Parameters
    ----------
    scores
        Shape ``(runs, systems)``, columns in the alphabetical order of the systems' names;
        NaN counts as worse than any number.
    confidence
        Share of the runs whose ranks a range covers.
    alike
        Shape ``(systems,)``: columns with equal numbers have the same judgments, so their ranks
        are pooled and their ranges equal; default: none have.

    Raises
    ------
    UsageError
        If the confidence is impossible or leaves none of the runs.
    """
    by_rank = mean_order(scores)
    of_column = rank_ranges(*run_ranks(scores), confidence, alike=alike)
    ranges = tuple(of_column[column] for column in by_rank)
    return Clustering(tuple(by_rank), ranges, cluster_numbers(ranges))


def run_ranks(scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Rank the systems within each run, from 1; equal scores share all ranks that they span.

    Scores are equal if only rounding tells them apart (:data:`ROUNDING`). The original gives
    equal scores to the later name of the alphabet.

    Parameters
    ----------
    scores
        As for :func:`cluster_runs`.

    Returns
    -------
    first, last
        Shape ``(runs, systems)``: 1 and the number of better systems; the number of systems
        that are as good or better.
    """
    order = np.argsort(-_comparable(scores), axis=1, kind="stable")
    group = _groups(np.take_along_axis(_comparable(scores), order, axis=1))
    places: IntArray = np.arange(1, scores.shape[1] + 1, dtype=np.int64)
    starts = np.diff(group, axis=1, prepend=-1) > 0
    ends = np.diff(group, axis=1, append=scores.shape[1]) > 0
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    backwards = np.where(ends, places, scores.shape[1])[:, ::-1]
    last = np.minimum.accumulate(backwards, axis=1)[:, ::-1]
    ranks = np.empty((2, *scores.shape), dtype=np.int64)
    for at, some in enumerate((first, last)):
        np.put_along_axis(ranks[at], order, some, axis=1)
    return ranks[0], ranks[1]


def equalised(scores: FloatArray, alike: IntArray) -> FloatArray:
    """Return scores in which those that are equal but for rounding are equal.

    Parameters
    ----------
    scores
        Shape ``(systems,)``; NaN stays NaN.
    alike
        Shape ``(systems,)``: systems with equal numbers share the mean of their scores.
    """
    shared = np.bincount(alike, scores)[alike] / np.bincount(alike)[alike]
    order = np.argsort(-_comparable(shared), kind="stable")
    group = _groups(_comparable(shared)[order][None])[0]
    best_of_group = np.unique(group, return_index=True)[1]
    result = np.empty(len(scores))
    result[order] = shared[order][best_of_group][group]
    return result


def mean_order(scores: FloatArray) -> list[int]:
    """Return the columns by mean over runs, then deviation, then name, all descending."""
    moments = np.array([_moments(column) for column in scores.T.tolist()]).reshape(-1, 2)
    return score_order(moments[:, 0], moments[:, 1])


def score_order(scores: FloatArray, *further: FloatArray) -> list[int]:
    """Return the columns by score, best first; NaN last, of equals the later column first."""
    keys = [np.where(np.isnan(values), -np.inf, values).tolist() for values in (scores, *further)]
    columns = range(len(scores))
    return sorted(columns, key=lambda at: (*(key[at] for key in keys), at), reverse=True)


def rank_ranges(
    first: IntArray, last: IntArray, confidence: float, *, alike: Sequence[int] | None = None
) -> list[RankRange]:
    """Return the first and last rank that each system takes, less the outermost ones.

    Of B runs, ``ceil((B - B * confidence) / 2)`` are cut off at each end.

    Parameters
    ----------
    first, last
        Shape ``(runs, systems)``, from :func:`run_ranks`.
    alike
        See :func:`cluster_runs`.

    Raises
    ------
    UsageError
        If the confidence is impossible or nothing is left.
    """
    runs, systems = first.shape
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
    classes = list(range(systems)) if alike is None else alike
    ranges: list[RankRange] = []
    for number in classes:
        pooled = [column for column, other in enumerate(classes) if other == number]
        at = cut * len(pooled)
        low, high = np.sort(first[:, pooled], axis=None), np.sort(last[:, pooled], axis=None)
        ranges.append((int(low[at]), int(high[-1 - at])))
    return ranges


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
    """Return mean and sum of squared deviations; the order of the values does not matter."""
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((value - mean) ** 2 for value in values)


def _groups(descending: FloatArray) -> IntArray:
    """Return the number of each score's group of equals, from 0 in each row; rows descend."""
    finite = np.where(np.isfinite(descending), np.abs(descending), 0.0)
    rounding = ROUNDING * finite.max(axis=1, initial=0.0, keepdims=True)
    with np.errstate(invalid="ignore"):  # no score beside no score
        steps = descending[:, :-1] - descending[:, 1:] > rounding
    return np.cumsum(np.pad(steps, ((0, 0), (1, 0))), axis=1)


def _comparable(scores: FloatArray) -> FloatArray:
    return np.where(np.isnan(scores), -np.inf, scores)
