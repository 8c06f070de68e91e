"""Many comparisons at once: adjusted p-values, and letters that show which systems differ."""

from typing import Literal, get_args

import numpy as np

from grammeter.core import BoolArray, FloatArray

Correction = Literal["none", "holm", "bonferroni", "benjamini-hochberg"]
"""How p-values of one family are adjusted."""
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)
MOST_GROUPS = 50  # with more groups than these items get no letters


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
    """Return the largest groups with no two different; ``None`` if over ``most`` or too slow.

    Insertion and absorption (Piepho 2004), for an item at a time: a group that holds it and others
    that differ from it is split in two, and what another group holds is absorbed. Groups are whole
    numbers, a bit for each item.
    """
    groups = {(1 << len(different)) - 1} - {0}
    for item, row in enumerate(different):
        bit, others = 1 << item, sum(1 << other for other in np.flatnonzero(row).tolist())
        split = {group for group in groups if group & bit and group & others}
        parts = {group ^ bit for group in split} | {group & ~others for group in split}
        groups = groups - split | parts
        groups -= {p for p in parts if any(p & group == p != group for group in groups)}
        if most is not None and len(groups) > 2 * most:
            return None
    if most is not None and len(groups) > most:
        return None
    items = range(len(different))
    return sorted((frozenset(i for i in items if group >> i & 1) for group in groups), key=sorted)
