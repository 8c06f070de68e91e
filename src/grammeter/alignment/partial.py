"""Subsets of an annotator's edits: chains of growing subsets, and random subsets.

Every function takes its random stream, so that a caller's seed determines the result.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Sequence
from random import Random

from grammeter.core import Edit, apply, without_overlaps


def partial_text(source: Sequence[str], edits: Sequence[Edit]) -> str:
    """Apply edits to a sentence and return its text.

    Insertions at one place stand in the order in which they are given. Where the first or the
    last word is deleted, one blank stays in its place, as in the published program of MAEGE
    (Choshen & Abend 2018); metrics on words ignore it.

    Raises
    ------
    ValueError
        If an edit reaches outside the sentence or two edits overlap.
    """
    words = apply(source, edits)
    ordered = sorted((e for e in edits if not e.is_noop), key=lambda e: (e.start, e.end))
    if not words or not ordered:
        return " ".join(words)
    first, last = ordered[0], ordered[-1]
    before = " " if first.start == 0 and not first.correction.split() else ""
    after = " " if last.end == len(source) and not last.correction.split() else ""
    return before + " ".join(words) + after


def appliable(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return the edits that can be applied together, in their own order.

    Of two that overlap the one that stands later in the sentence is left out.
    """
    left = Counter(without_overlaps(edits)[0])
    chosen: list[Edit] = []
    for edit in edits:
        if left[edit]:
            left[edit] -= 1
            chosen.append(edit)
    return tuple(chosen)


def orders(size: int, limit: int, random: Random) -> list[tuple[int, ...]]:
    """Return orders in which so many edits may be applied.

    Returns
    -------
    list of tuple
        All ``size!`` orders if these are fewer than ``limit``, else ``limit`` random ones, which
        may repeat.
    """
    if math.factorial(size) < limit:
        return list(itertools.permutations(range(size)))
    return [tuple(random.sample(range(size), size)) for _ in range(limit)]


def chain(source: Sequence[str], edits: Sequence[Edit], order: Sequence[int]) -> tuple[str, ...]:
    """Return the texts with the first 0, 1, ... of the edits applied, in this order.

    Returns
    -------
    tuple of str
        ``len(order) + 1`` texts, the unchanged sentence first.
    """
    chosen = [edits[number] for number in order]
    return tuple(partial_text(source, chosen[:size]) for size in range(len(chosen) + 1))


def draw_subset(size: int, random: Random) -> frozenset[int]:
    """Draw a subset of ``size`` edits: its own size uniform in 1 to ``size``, then its members.

    The draw of Maeda et al. 2022 (IMPARA), section 2.3.
    """
    return frozenset(random.sample(range(size), random.randint(1, size)))


def flip_some(subset: Collection[int], size: int, random: Random) -> frozenset[int]:
    """Take each of ``size`` edits out of a subset, or into it, with probability ``1 / size``.

    The neighbour of Maeda et al. 2022 (IMPARA), section 2.3; it may be empty or the same.
    """
    flipped = (number for number in range(size) if random.random() < 1 / size)
    return frozenset(subset) ^ frozenset(flipped)
