"""Batches: sorted by length, bounded in tokens, halved where memory ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Result = TypeVar("Result")


def batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Split positions into batches of similar length, the longest first.

    Parameters
    ----------
    lengths
        Tokens of each text.
    budget
        Tokens of a batch at most, padding included; a longer text is a batch of its own.

    Returns
    -------
    batches
        Every position once; equal lengths stay in their order, so the split is the same
        whatever came before.
    """
    order = sorted(range(len(lengths)), key=lambda position: (-lengths[position], position))
    result: list[list[int]] = []
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, lengths[order[start]]))
        result.append(order[start : start + size])
        start += size
    return result


def in_batches(
    lengths: Sequence[int], budget: int, step: Callable[[list[int]], Result]
) -> Iterator[tuple[list[int], Result]]:
    """Do ``step`` for each batch; where memory does not suffice, for its halves.

    Yields
    ------
    positions, result
        As the step gave it; after a halving the later batches are smaller too.

    Raises
    ------
    RuntimeError
        What the step raises, if one text alone is too much.
    """
    waiting = batches(lengths, budget)[::-1]
    most = max(map(len, waiting), default=0)
    while waiting:
        batch = waiting.pop()
        if len(batch) > most:
            waiting += [batch[most:], batch[:most]]
            continue
        try:
            result = step(batch)
        except RuntimeError as error:
            if len(batch) == 1 or not is_out_of_memory(error):
                raise
            most = len(batch) // 2
            waiting.append(batch)
            continue
        yield batch, result


def is_out_of_memory(error: BaseException) -> bool:
    """Whether torch could not get memory: on a GPU an own class, elsewhere only a text."""
    text = str(error).lower()
    return type(error).__name__ == "OutOfMemoryError" or any(
        phrase in text for phrase in ("out of memory", "can't allocate memory")
    )
