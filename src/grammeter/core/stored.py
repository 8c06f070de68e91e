"""Results that were stored as JSON: told by their ``kind``, and read without surprises."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from grammeter.core.errors import DataError


@contextmanager
def reading(
    data: Mapping[str, Any], kind: str, *, verb: str, where: str | None
) -> Generator[None, None, None]:
    """Turn whatever goes wrong while reading stored values into an error with a place.

    Parameters
    ----------
    data
        The JSON object.
    kind
        What its ``kind`` must be.
    verb
        The verb of the command line that writes such files.
    where
        The file's name, if known.

    Raises
    ------
    DataError
        If ``data`` is of another kind, or the block fails on a missing or wrong value.
    """
    if data.get("kind") != kind:
        raise DataError(
            f'these are no {kind}: "kind" is {data.get("kind")!r}',
            where=where,
            fix=f"Give a file that 'grammeter {verb} -o FILE' wrote.",
        )
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(
            f"damaged {kind}: {type(error).__name__}: {error}",
            where=where,
            fix=f"Write the file again with 'grammeter {verb} -o FILE'.",
        ) from error
