"""Many comparisons at once: adjusted p-values, and letters that show which systems differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, get_args

import numpy as np

from grammeter.core.statistics import BoolArray, FloatArray

Correction = Literal["none", "holm", "bonferroni", "benjamini-hochberg"]
"""How p-values of one family are adjusted."""

CORRECTIONS: tuple[Correction, ...] = get_args(Correction)


def adjust(pvalues: FloatArray, correction: Correction) -> FloatArray:
    """Adjust the p-values of one family of comparisons.

    An adjusted p-value may be held against the same level as a single one. ``bonferroni``
    (Dunn 1961) and ``holm`` (Holm 1979; never weaker) bound the chance of any false alarm;
    ``benjamini-hochberg`` (Benjamini & Hochberg 1995, step-up) bounds the expected share of
    false alarms among all alarms.

    Parameters
    ----------
    pvalues
        Shape ``(m,)``; a NaN stays NaN and is no member of the family.

    Returns
    -------
    FloatArray
        Shape ``(m,)``, none above 1, in the order given.
    """
    adjusted = np.array(pvalues, dtype=np.float64)
    members = ~np.isnan(adjusted)
    family = adjusted[members]
    if correction == "bonferroni":
        adjusted[members] = np.minimum(family * len(family), 1.0)
    elif correction != "none":
        adjusted[members] = _stepwise(family, correction)
    return adjusted


def compact_letters(different: BoolArray) -> list[str]:
    """Give each item letters: two items share a letter exactly if they do not differ.

    Insert and absorb (Piepho 2004, "An algorithm for a letter-based representation of
    all-pairwise comparisons"), without its sweeping step: every letter stands for
    a largest possible group in which no two items differ. Group ``a`` holds the first item.

    Parameters
    ----------
    different
        Shape ``(n, n)``, symmetric: which items differ significantly.

    Returns
    -------
    list
        ``n`` texts such as ``"ab"``; after ``z`` comes ``a'``.
    """
    groups = letter_groups(different)
    return [
        "".join(_letter(number) for number, group in enumerate(groups) if item in group)
        for item in range(len(different))
    ]


def letter_groups(different: BoolArray) -> list[frozenset[int]]:
    """Return the largest groups of items in which no two differ, in the order of their items."""
    groups = [frozenset(range(len(different)))] if len(different) else []
    for i, j in np.argwhere(np.triu(different, 1)).tolist():
        groups = _absorb(_insert(groups, i, j))
    return sorted(groups, key=sorted)


def _stepwise(family: FloatArray, correction: Literal["holm", "benjamini-hochberg"]) -> FloatArray:
    """Adjust by rank; running extremes keep the order of the p-values."""
    order = np.argsort(family, kind="stable")
    m, ranks = len(family), np.arange(1, len(family) + 1)
    if correction == "holm":
        stepped = np.maximum.accumulate(family[order] * (m + 1 - ranks))
    else:
        stepped = np.minimum.accumulate((family[order] * m / ranks)[::-1])[::-1]
    adjusted = np.empty_like(family)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _insert(groups: Iterable[frozenset[int]], i: int, j: int) -> Iterator[frozenset[int]]:
    """Split each group that holds two items that differ."""
    for group in groups:
        if i in group and j in group:
            yield group - {i}
            yield group - {j}
        else:
            yield group


def _absorb(groups: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Drop groups that lie within others."""
    distinct = set(groups)
    return [group for group in distinct if not any(group < other for other in distinct)]


def _letter(number: int) -> str:
    return chr(ord("a") + number % 26) + "'" * (number // 26)
