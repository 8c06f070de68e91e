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
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from grammeter.core import DataError, Item, Ranking, Signature, UnknownNameError
from grammeter.formats.text import checked_lines, read_text, write_text

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

_FIX = 'Write one object a line: {"segment": 136, "systems": ["A", "B"], "judges": []}'


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


def is_items(path: str | Path) -> bool:
    """Whether a file holds items, and not judgments; the first line tells."""
    first = read_text(path).lstrip().partition("\n")[0]
    return first.startswith("{") and '"systems"' in first


def items_of(rankings: Iterable[Ranking]) -> tuple[Item, ...]:
    """Return what judges were shown, each distinct set of outputs of a sentence once."""
    shown: dict[tuple[int, frozenset[tuple[str, ...]]], Item] = {}
    for ranking in rankings:
        if ranking.groups:
            item = Item(
                segment=ranking.segment,
                systems=tuple(group[0] for group in ranking.groups),
                groups=ranking.groups,
            )
            shown.setdefault((ranking.segment, frozenset(ranking.groups)), item)
    return tuple(shown.values())


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
            raise ValueError("this is no JSON object")
        return _from_json(cast("dict[str, object]", data))
    except (DataError, UnknownNameError) as error:
        raise DataError(error.message, where=where, fix=error.fix) from None
    except json.JSONDecodeError as error:
        message = f"no JSON: {error.msg} at character {error.colno}"
        raise DataError(message, where=where, fix=_FIX) from None
    except (ValueError, RecursionError) as error:
        raise DataError(str(error), where=where, fix=_FIX) from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key comes twice: {[key for key, _ in pairs]}")
    return found


def _from_json(data: Mapping[str, object]) -> Item:
    for key in data:
        if key not in KEYS:
            raise UnknownNameError("key", key, KEYS)
    segment, systems = _whole(data, "segment"), _names(data, "systems")
    if segment is None or systems is None:
        raise ValueError("an item needs the keys 'segment' and 'systems'")
    signature = _text(data, "signature")
    return Item(
        segment=segment,
        systems=systems,
        groups=_groups(data),
        judges=_names(data, "judges") or (),
        item=_text(data, "item"),
        repeat=_repeat(data),
        distinct=_whole(data, "distinct"),
        probability=_number(data, "probability"),
        signature=None if signature is None else Signature.parse(signature),
    )


def _text(data: Mapping[str, object], key: str) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise _mistyped(key, value, "a text")
    return value


def _whole(data: Mapping[str, object], key: str) -> int | None:
    value = data.get(key)
    if value is not None and type(value) is not int:  # `true` is no number
        raise _mistyped(key, value, "a whole number")
    return value


def _number(data: Mapping[str, object], key: str) -> float | None:
    value = data.get(key)
    if value is not None and type(value) not in (int, float):
        raise _mistyped(key, value, "a number")
    return cast("float | None", value)


def _repeat(data: Mapping[str, object]) -> bool:
    value = data.get("repeat", False)
    if not isinstance(value, bool):
        raise _mistyped("repeat", value, "true or false")
    return value


def _names(data: Mapping[str, object], key: str) -> tuple[str, ...] | None:
    value = data.get(key)
    return None if value is None else _list_of_texts(value, key)


def _groups(data: Mapping[str, object]) -> tuple[tuple[str, ...], ...]:
    value = data.get("groups")
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _mistyped("groups", value, "a list of lists of names")
    return tuple(_list_of_texts(group, "groups") for group in cast("list[object]", value))


def _list_of_texts(value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _mistyped(key, value, "a list of names")
    texts = cast("list[object]", value)
    if not all(isinstance(text, str) for text in texts):
        raise _mistyped(key, texts, "a list of names")
    return tuple(cast("list[str]", texts))


def _mistyped(key: str, value: object, expected: str) -> ValueError:
    return ValueError(f"{key} is {json.dumps(value, ensure_ascii=False)[:60]}, not {expected}")
