"""Draw which outputs of a sentence stand side by side, and in which order, from a seed.

The draws depend on the texts alone, neither on the order of systems nor on other sentences: a
new system causes new questions only where it wrote something new.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from grammeter.core import UsageError
from grammeter.llm.protocol import MOST

Thing = TypeVar("Thing")


def draw_sets(source: str, outputs: Sequence[str], *, times: int, seed: int) -> list[list[str]]:
    """Draw sets of at most five outputs, so that each is in at least ``times`` of them.

    Up to five outputs stand together in every set, in different orders while there are any left.
    More are shuffled and cut into sets of five, ``times`` times; outputs that have already been
    shown fill up the last set.

    Parameters
    ----------
    source
        The sentence that they correct.
    outputs
        Distinct texts, in any order.
    times, seed
        1 or more; 0 or more.

    Returns
    -------
    list
        Sets of texts; empty if there is no output.

    Raises
    ------
    UsageError
        If ``times`` or ``seed`` is too small.
    """
    if times < 1 or seed < 0:
        raise UsageError(
            f"each output {times} times, seed {seed}", fix="Judge each once at least; seed >= 0."
        )
    if not outputs:
        return []
    random = _random(seed, "sets", source, *sorted(outputs))
    orders = _orders(sorted(outputs), times, random)
    return [shown for order in orders for shown in _cut(order)]


def reorder(source: str, targets: Sequence[str], *, orders: int, seed: int) -> list[list[int]]:
    """Return the places of targets in several orders: as they are, then random ones.

    The orders differ while there are any left.
    """
    random = _random(seed, "orders", source, *targets)
    places = list(range(len(targets)))
    return [places, *_orders(places, orders - 1, random, known=[places])]


def _cut(order: Sequence[Thing]) -> list[list[Thing]]:
    sets = [list(order[start : start + MOST]) for start in range(0, len(order), MOST)]
    if len(sets) > 1:
        sets[-1] += order[: MOST - len(sets[-1])]
    return sets


def _orders(
    things: Sequence[Thing],
    count: int,
    random: np.random.Generator,
    known: Sequence[list[Thing]] = (),
) -> list[list[Thing]]:
    """Shuffle ``count`` times; repeat an order only after all have been drawn."""
    seen = list(known)
    orders: list[list[Thing]] = []
    for _ in range(count):
        if len(seen) >= math.factorial(len(things)):
            seen = []
        while (order := _shuffled(things, random)) in seen:
            pass
        seen.append(order)
        orders.append(order)
    return orders


def _shuffled(things: Sequence[Thing], random: np.random.Generator) -> list[Thing]:
    places: list[int] = random.permutation(len(things)).tolist()
    return [things[place] for place in places]


def _random(seed: int, *texts: str) -> np.random.Generator:
    digest = hashlib.sha256("\0".join(texts).encode()).digest()
    return np.random.Generator(np.random.PCG64([seed, int.from_bytes(digest[:8], "big")]))
