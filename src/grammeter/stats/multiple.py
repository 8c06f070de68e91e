"""Many comparisons at once: adjusted p-values, and letters that show which systems differ."""

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np

from grammeter.core import BoolArray, FloatArray

Correction = Literal["none", "holm", "bonferroni", "benjamini-hochberg"]
"""How p-values of one family are adjusted."""
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)
MOST_GROUPS = 50  # with more groups than these items get no letters
MOST_STEPS = 100_000  # most steps of the search for groups


def adjust(pvalues: FloatArray, correction: Correction) -> FloatArray:
    """Adjust the p-values of one family of comparisons.

    An adjusted p-value may be held against the same level as a single one. ``bonferroni``
    (Dunn 1961) and ``holm`` (Holm 1979; never weaker) bound the chance of any false alarm;
    ``benjamini-hochberg`` (Benjamini & Hochberg 1995, step-up) bounds the expected share of
    false alarms among all alarms.

    Of shape ``(m,)``, in the order given, none above 1; a NaN stays NaN, outside of the family.
    """
    adjusted = np.array(pvalues, dtype=np.float64)
    order = np.argsort(adjusted, kind="stable")  # NaN last
    m = int((~np.isnan(adjusted)).sum())
    family, ranks = adjusted[order[:m]], np.arange(1, m + 1)
    if correction == "bonferroni":
        family = family * m
    elif correction == "holm":
        family = np.maximum.accumulate(family * (m + 1 - ranks))
    elif correction == "benjamini-hochberg":
        family = np.minimum.accumulate((family * m / ranks)[::-1])[::-1]
    adjusted[order[:m]] = np.minimum(family, 1.0)
    return adjusted


def compact_letters(different: BoolArray) -> list[str] | None:
    """Give each item letters: two items share a letter exactly if they do not differ.

    Every letter stands for a largest possible group in which no two items differ, as in the
    letters of Piepho (2004) without his sweeping step. Group ``a`` holds the first item.

    ``different``, shape ``(n, n)`` and symmetric, says which items differ significantly. Each item
    gets a text such as ``"ab"``; after ``z`` comes ``a'``. ``None`` with more than
    :data:`MOST_GROUPS` groups: nobody could read them.
    """
    if (groups := letter_groups(different, most=MOST_GROUPS)) is None:
        return None
    letters = [chr(ord("a") + number % 26) + "'" * (number // 26) for number in range(len(groups))]
    named = dict(zip(letters, groups, strict=True)).items()
    return ["".join(a for a, group in named if item in group) for item in range(len(different))]


def letter_groups(different: BoolArray, *, most: int | None = None) -> list[frozenset[int]] | None:
    """Return the largest groups with no two different; ``None`` if over ``most`` or too slow."""
    groups: list[int] = []
    alike = ~different & ~np.eye(len(different), dtype=np.bool_)
    neighbours = [sum(1 << item for item in np.flatnonzero(row).tolist()) for row in alike]
    for steps, group in enumerate(_cliques(neighbours)):
        if group:
            groups.append(group)
        if most is not None and (len(groups) > most or steps > MOST_STEPS):
            return None
    items = range(len(different))
    return sorted((frozenset(i for i in items if group >> i & 1) for group in groups), key=sorted)


def _cliques(neighbours: list[int]) -> Iterator[int]:
    """Find all maximal cliques (Bron & Kerbosch 1973, with pivots as of Tomita et al. 2006).

    Sets are whole numbers, a bit for each vertex; ``neighbours`` has one for each. Yields a clique,
    or 0 for a step without one.
    """
    stack = [(0, (1 << len(neighbours)) - 1, 0)] if neighbours else []
    while stack:
        clique, candidates, excluded = stack.pop()
        yield clique if not candidates | excluded else 0
        if not candidates:
            continue
        near = {v: (candidates & neighbours[v]).bit_count() for v in _bits(candidates | excluded)}
        pivot = max(near, key=near.__getitem__)
        for vertex in _bits(candidates & ~neighbours[pivot]):
            bit, others = 1 << vertex, neighbours[vertex]
            stack.append((clique | bit, candidates & others, excluded & others))
            candidates &= ~bit
            excluded |= bit


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
