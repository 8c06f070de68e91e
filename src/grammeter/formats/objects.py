"""JSON objects: what one verb writes with ``-o`` and the next one reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
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


def write_object(data: Mapping[str, Any], path: str | Path) -> None:
    """Write one JSON object, UTF-8, gzip by the name's suffix."""
    write_text(path, object_text(data) + "\n")


def object_text(data: Mapping[str, Any]) -> str:
    """Return JSON text; a NaN that was not turned into ``null`` is an error, never written."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False)
