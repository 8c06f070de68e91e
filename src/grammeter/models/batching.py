"""Batches: sorted by length, bounded in tokens, halved where memory ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from grammeter.core import MissingResourceError

Result = TypeVar("Result")

_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "alloc_failed")


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
    """Do ``step`` for each batch; where memory ends, half as many tokens go at once from there on.

    Yields
    ------
    positions, result
        As the step gave it; each position once.

    Raises
    ------
    MissingResourceError
        If memory does not suffice for one text alone.
    """
    waiting = batches(lengths, budget)[::-1]
    while waiting:
        batch = waiting.pop()
        try:
            result = step(batch)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            longest = lengths[batch[0]]
            if len(batch) == 1:
                raise MissingResourceError(
                    f"memory does not suffice for one text of {longest} tokens",
                    fix="Use --device cpu, a shorter number type (--dtype bfloat16), or a smaller"
                    " model.",
                ) from error
            rest = [*batch, *(position for later in waiting[::-1] for position in later)]
            smaller = batches([lengths[position] for position in rest], len(batch) // 2 * longest)
            waiting = [[rest[at] for at in each] for each in smaller][::-1]
            continue
        yield batch, result


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory was not to be had: on a GPU an own class, elsewhere only a text."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error).lower()
    return any(phrase in text for phrase in _OUT_OF_MEMORY)
