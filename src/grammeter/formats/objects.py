"""JSON objects: whole files, as verbs write them with ``-o``, and lines of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from grammeter.core import DataError
from grammeter.formats.text import read_text, write_text

_FIX = "Give a file that grammeter wrote with -o."
_JSONError = json.JSONDecodeError


def read_object(path: str | Path) -> dict[str, Any]:
    """Read one JSON object from a file, plain or gzip; ``-`` is standard input.

    Raises
    ------
    DataError
        If the file is absent or holds no JSON object, with the line where it breaks off.
    """
    return parse_object(read_text(path), str(path))


def parse_object(text: str, where: str) -> dict[str, Any]:
    """Read one JSON object from a text; ``where`` names it in messages."""
    try:
        data: object = json.loads(text)
    except _JSONError as error:
        raise DataError(
            f"no JSON: {error.msg}", where=f"{where}:{error.lineno}", fix=_FIX
        ) from None
    except (ValueError, RecursionError) as error:  # a number too long, brackets too deep
        raise DataError(f"no JSON that can be read: {error}", where=where, fix=_FIX) from None
    if not isinstance(data, dict):
        raise DataError("no JSON object", where=where, fix=_FIX)
    return cast("dict[str, Any]", data)


@contextmanager
def placed(where: str) -> Generator[None, None, None]:
    """Add the place in the file to errors that have none."""
    try:
        yield
    except DataError as error:
        raise DataError(error.message, where=error.where or where, fix=error.fix) from None


def parse_line(line: str, fix: str, *, once: bool = False) -> dict[str, object]:
    """Read one JSON object from a line of JSON lines.

    Parameters
    ----------
    line, fix
        The line, and advice for messages.
    once
        Refuse a key that occurs twice in one object.

    Raises
    ------
    DataError
        If it is something else; without a place, see :func:`placed`.
    """
    try:
        data: object = json.loads(line, object_pairs_hook=_unique if once else None)
    except (ValueError, RecursionError) as error:
        why = f"{error.msg} at character {error.colno}" if isinstance(error, _JSONError) else error
        raise DataError(f"not JSON: {why}", fix=fix) from None
    if not isinstance(data, dict):
        raise DataError("no JSON object", fix=fix)
    return cast("dict[str, object]", data)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    data = dict(pairs)
    if len(data) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} comes twice")
    return data


def write_object(data: Mapping[str, Any], path: str | Path) -> None:
    """Write one JSON object as UTF-8; gzip if the name ends in ``.gz``."""
    write_text(path, object_text(data) + "\n")


def object_text(data: Mapping[str, Any]) -> str:
    """Return JSON text; raise :class:`ValueError` for NaN, which callers turn into ``null``."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False)
