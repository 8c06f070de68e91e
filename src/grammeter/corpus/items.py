"""Items of a campaign in JSON lines: what ``sample`` writes and a campaign reads.

One object a line::

    {"segment": 136, "systems": ["AMU", "CUUI"], "judges": ["annotator01"],
     "groups": [["AMU", "CAMB"], ["CUUI"]], "item": "17", "repeat": false, "distinct": 7,
     "probability": 0.00089, "signature": "sample|select:paper|..."}

``segment`` counts from 1. Only ``segment`` and ``systems`` are required; see
:class:`grammeter.core.item.Item` for what the keys mean.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from grammeter.core.errors import DataError, UnknownNameError
from grammeter.core.item import Item
from grammeter.core.signature import Signature
from grammeter.corpus.text import checked_lines, read_text, write_text

KEYS = (
    "segment",
    "systems",
    "judges",
    "groups",
    "item",
    "repeat",
    "distinct",
    "probability",
    "signature",
)
"""What a line may hold, in the order in which it is written."""


def read_items(path: str | Path) -> tuple[Item, ...]:
    """Read items, one a line; ``-`` is standard input, gzip is unpacked.

    Raises
    ------
    DataError
        With file and line: no JSON object, an unknown or missing key, a value of the wrong
        type, or an impossible item; without a line if the file is empty.
    """
    lines = checked_lines(read_text(path), path)
    return tuple(_item(line, f"{path}:{number}") for number, line in enumerate(lines, start=1))


def write_items(path: str | Path, items: Iterable[Item]) -> None:
    """Write items, one a line; :func:`read_items` gives them back. Same items, same bytes."""
    write_text(path, items_text(items))


def items_text(items: Iterable[Item]) -> str:
    """Return JSON lines; keys whose value is unknown are left out."""
    return "".join(json.dumps(_to_json(item), ensure_ascii=False) + "\n" for item in items)


def _to_json(item: Item) -> dict[str, Any]:
    known = {
        "segment": item.segment,
        "systems": list(item.systems),
        "judges": list(item.judges),
        "groups": [list(group) for group in item.groups],
        "item": item.item,
        "repeat": item.repeat,
        "distinct": item.distinct,
        "probability": item.probability,
        "signature": None if item.signature is None else str(item.signature),
    }
    return {key: value for key, value in known.items() if value is not None}


def _item(line: str, where: str) -> Item:
    try:
        data: object = json.loads(line, object_pairs_hook=_object)
        if not isinstance(data, dict):
            raise ValueError("a line is no JSON object")
        return _from_json(cast("dict[str, object]", data))
    except DataError as error:
        raise DataError(error.message, where=where, fix=error.fix) from None
    except UnknownNameError as error:
        raise DataError(error.message, where=where, fix=error.fix) from None
    except (ValueError, RecursionError) as error:
        raise DataError(
            str(error), where=where, fix='Write {"segment": 136, "systems": ["A", "B"]}, one a line.'
        ) from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key comes twice: {[key for key, _ in pairs]}")
    return found


def _from_json(data: Mapping[str, object]) -> Item:
    for key in data:
        if key not in KEYS:
            raise UnknownNameError("key", key, KEYS)
    item = Item(
        segment=_required(data, "segment", _whole),
        systems=_required(data, "systems", _names),
        groups=_optional(data, "groups", _groups) or (),
        judges=_optional(data, "judges", _names) or (),
        repeat=bool(_optional(data, "repeat", _truth)),
    )
    return replace(
        item,
        item=_optional(data, "item", _text),
        distinct=_optional(data, "distinct", _whole),
        probability=_optional(data, "probability", _number),
        signature=_optional(data, "signature", _signature),
    )


def _required[T](data: Mapping[str, object], key: str, read: Callable[[object], T]) -> T:
    if key not in data:
        raise ValueError(f"no {key!r}")
    return _read(data, key, read)


def _optional[T](data: Mapping[str, object], key: str, read: Callable[[object], T]) -> T | None:
    return None if data.get(key) is None else _read(data, key, read)


def _read[T](data: Mapping[str, object], key: str, read: Callable[[object], T]) -> T:
    try:
        return read(data[key])
    except (TypeError, ValueError) as error:
        raise ValueError(f"{key}: {error}") from None
