"""Features of a sentence: its distinct outputs, their distances, the spread of a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations

import numpy as np

from grammeter.core import FloatArray, MetricScores

Groups = tuple[tuple[str, ...], ...]
"""The systems behind each distinct output of one sentence."""


def group_outputs(texts: Mapping[str, str]) -> Groups:
    """Group the systems that wrote the same, white space at both ends aside.

    Systems stand in their given order, groups in that of their first system.
    """
    by_text: dict[str, list[str]] = {}
    for name, text in texts.items():
        by_text.setdefault(text.strip(), []).append(name)
    return tuple(tuple(names) for names in by_text.values())


def multiplicities(groups: Groups) -> tuple[int, ...]:
    """Return how many systems stand behind each output, ascending."""
    return tuple(sorted(map(len, groups)))


@cache
def expected_systems(counts: tuple[int, ...], per_item: int) -> float:
    """Return C: how many systems an item of a sentence is expected to cover.

    Grundkiewicz et al. 2015, section 4.1: the mean of ``j`` over ``min(M, N)..N`` weighted by
    ``c(j)``, the number of ways to choose at most M outputs that ``j`` systems made.

    Parameters
    ----------
    counts
        How many of the N systems made each distinct output.
    per_item
        M, how many outputs an item shows at most.
    """
    total = sum(counts)
    ways = _ways(counts, per_item)
    sums = range(min(per_item, total), total + 1)
    return sum(ways[j] * j for j in sums) / sum(ways[j] for j in sums)


def _ways(counts: Sequence[int], largest: int) -> list[int]:
    """Count the subsets of at most ``largest`` numbers by their sum: exact, whole numbers."""
    total = sum(counts)
    by_size = [[1] + [0] * total, *([0] * (total + 1) for _ in range(largest))]
    for count in counts:
        for size in range(largest, 0, -1):  # descending: each number is taken once at most
            smaller, row = by_size[size - 1], by_size[size]
            for reached in range(count, total + 1):
                row[reached] += smaller[reached - count]
    return [sum(column) for column in zip(*by_size, strict=True)]


def diversity(texts: Mapping[str, str]) -> float:
    """Return how far outputs differ: the mean distance over all pairs of systems, 0 to 1.

    The distance of two outputs is ``1 - 2 * common / (length + length)``, ``common`` being the
    length of the longest common subsequence of their tokens; 0 for equal outputs.
    """
    groups = group_outputs(texts)
    tokens = [texts[group[0]].split() for group in groups]
    total = sum(
        len(groups[i]) * len(groups[j]) * _distance(tokens[i], tokens[j])
        for i, j in combinations(range(len(groups)), 2)
    )
    return total / (len(texts) * (len(texts) - 1) / 2)


def _distance(first: Sequence[str], second: Sequence[str]) -> float:
    both = len(first) + len(second)
    return 1 - 2 * _common(first, second) / both if both else 0.0


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, bit-parallel (Hyyro 2004)."""
    places: dict[str, int] = {}
    for place, token in enumerate(first):
        places[token] = places.get(token, 0) | 1 << place
    everywhere = (1 << len(first)) - 1
    free = everywhere
    for token in second:
        met = free & places.get(token, 0)
        free = ((free + met) | (free - met)) & everywhere
    return len(first) - free.bit_count()


def spread(column: MetricScores, systems: Sequence[str]) -> FloatArray:
    """Return the standard deviation of a metric's sentence scores over the systems.

    Systems without a score for a sentence are left out there; where one system at most has a
    score, the spread is 0.

    Returns
    -------
    FloatArray
        Shape ``(sentences,)``, in the metric's units.
    """
    values = np.stack([column.segments[name].values for name in systems])
    known = np.isfinite(values)
    times = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, values, 0).sum(axis=0) / times
    squares = np.where(known, (values - means) ** 2, 0).sum(axis=0)
    return np.sqrt(squares / times)
