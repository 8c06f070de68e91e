"""Items of a campaign in JSON lines: what ``sample`` writes and a campaign reads.

One object a line::

    {"segment": 136, "systems": ["AMU", "CUUI"], "judges": ["annotator01"],
     "groups": [["AMU", "CAMB"], ["CUUI"]], "item": "17", "repeat": false, "distinct": 7,
     "probability": 0.00089, "signature": "sample|select:paper|..."}

``segment`` counts from 1. Only ``segment`` and ``systems`` are required; see
:class:`grammeter.core.Item` for what the keys mean.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grammeter.core import DataError, Item, Ranking, Signature, UnknownNameError
from grammeter.formats import tables, text


def _names(key: str) -> tables.Shape:
    wanted = "a list of names"
    inner = tables.typed(f"a name in {key}", f"{wanted}, a text", str)
    return [*tables.typed(key, wanted, list), *inner]


_SHAPES: dict[str, tables.Shape] = {
    "segment": tables.typed("segment", "a whole number", int),
    "systems": _names("systems"),
    "judges": _names("judges"),
    "groups": [*tables.typed("groups", "a list of lists of names", list), *_names("a group")],
    "item": tables.typed("item", "a text", str),
    "repeat": tables.typed("repeat", "true or false", bool),
    "distinct": tables.typed("distinct", "a whole number", int),
    "probability": tables.typed("probability", "a number", int, float),
    "signature": tables.typed("signature", "a text", str),
}
KEYS = tuple(_SHAPES)  # what a line may hold, in the order in which it is written

_FIX = 'Write one object a line: {"segment": 136, "systems": ["A", "B"], "judges": []}'


def read_items(path: str | Path) -> tuple[Item, ...]:
    """Read items, one a line; ``-`` is standard input, gzip is unpacked.

    Raises :class:`DataError` with file and line: no JSON object, an unknown or missing key, a
    value of the wrong type, or an impossible item.
    """
    items: list[Item] = []
    for number, line in enumerate(text.checked_lines(text.read_text(path), path), start=1):
        with tables.placed(f"{path}:{number}"):
            items.append(_item(line))
    return tuple(items)


def is_items(path: str | Path) -> bool:
    """Whether a file holds items, and not judgments; the first line tells."""
    first = text.read_text(path).lstrip().partition("\n")[0]
    return first.startswith("{") and '"systems"' in first


def items_of(rankings: Iterable[Ranking]) -> tuple[Item, ...]:
    """Return what judges saw, each distinct set of outputs of a sentence once."""
    shown: dict[tuple[int, frozenset[tuple[str, ...]]], Item] = {}
    for ranking in rankings:
        if ranking.groups:
            systems = tuple(group[0] for group in ranking.groups)
            item = Item(segment=ranking.segment, systems=systems, groups=ranking.groups)
            shown.setdefault((ranking.segment, frozenset(ranking.groups)), item)
    return tuple(shown.values())


def write_items(path: str | Path, items: Iterable[Item]) -> None:
    """Write items, one a line; :func:`read_items` gives them back. Same items, same bytes."""
    text.write_text(path, items_text(items))


def items_text(items: Iterable[Item]) -> str:
    """Return JSON lines; keys whose value is unknown are left out."""
    return "".join(json.dumps(_to_json(item), ensure_ascii=False) + "\n" for item in items)


def _to_json(item: Item) -> dict[str, Any]:
    known = {key: getattr(item, key) for key in KEYS}
    known["signature"] = item.signature and str(item.signature)
    return {key: value for key, value in known.items() if value is not None}


def _item(line: str) -> Item:
    data: dict[str, Any] = tables.parse_line(line, _FIX, once=True)
    for key, value in data.items():
        if key not in KEYS:
            error = UnknownNameError("key", key, KEYS)
            raise DataError(error.message, fix=error.fix)
        if value is not None or key == "repeat":
            tables.check_shape(value, _SHAPES[key], _FIX)
    data = {key: value for key, value in data.items() if value is not None}
    if not {"segment", "systems"} <= data.keys():
        raise DataError("an item needs the keys 'segment' and 'systems'", fix=_FIX)
    for key in {"systems", "judges"} & data.keys():
        data[key] = tuple(data[key])
    if "groups" in data:
        data["groups"] = tuple(tuple[str, ...](group) for group in data["groups"])
    if "signature" in data:
        try:
            data["signature"] = Signature.parse(data["signature"])
        except ValueError as error:
            raise DataError(str(error), fix=_FIX) from None
    return Item(**data)
