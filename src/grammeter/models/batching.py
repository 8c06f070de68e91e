"""Batches: sorted by length, bounded in tokens, halved when memory runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from grammeter.core import MissingResourceError

if TYPE_CHECKING:
    from grammeter.models.runtime import Tally

Result = TypeVar("Result")

_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "alloc_failed")


def batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Split positions into batches of similar length, the longest first.

    Parameters
    ----------
    lengths
        Tokens of each text.
    budget
        Maximum tokens of a batch, including padding; a longer text is a batch of its own.

    Returns
    -------
    batches
        Every position once; equal lengths stay in their order.
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
    lengths: Sequence[int],
    budget: int,
    step: Callable[[list[int]], Result],
    tally: Tally | None = None,
) -> Iterator[tuple[list[int], Result]]:
    """Run ``step`` on each batch; when memory runs out, continue with half as many tokens.

    ``tally`` counts the batches that succeed.

    Yields
    ------
    positions, result
        Each position once.

    Raises
    ------
    MissingResourceError
        If memory does not suffice for a single text.
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
            waiting = [[rest[at] for at in positions] for positions in smaller][::-1]
            continue
        if tally is not None:
            tally.add([lengths[position] for position in batch])
        yield batch, result


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out: a class of its own on a GPU, else a text."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error).lower()
    return any(phrase in text for phrase in _OUT_OF_MEMORY)
