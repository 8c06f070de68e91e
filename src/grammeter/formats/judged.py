"""The value that all formats of judgments are read into, its checks, and our own JSON lines.

One item a line::

    {"judge": "judge01", "segment": 61, "groups": [["AMU", "CAMB"], ["RAC"]], "ranks": [2, 1],
     "skipped": false, "seconds": 29.786, "item": "24", "document": "a-24"}

(on one line). ``segment`` counts from 1. ``ranks`` may be absent if the item was skipped;
``skipped`` is false and ``seconds``, ``item`` and ``document`` unknown where they are absent.
``scores`` (a number or null for each group) and ``replies`` (objects) come from language models
as judges.

Items of a campaign, which ``sample`` writes, are JSON lines, too::

    {"segment": 136, "systems": ["AMU", "CUUI"], "judges": ["annotator01"],
     "groups": [["AMU", "CAMB"], ["CUUI"]], "item": "17", "repeat": false, "distinct": 7,
     "probability": 0.00089, "signature": "sample|select:paper|..."}

Only ``segment`` and ``systems`` are required; see :class:`grammeter.core.Item` for the others.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar, cast, overload

from grammeter.core import DataError, Item, Ranking, Signature
from grammeter.formats.tables import (
    Shape,
    check_shape,
    checked_text,
    named,
    parse_line,
    placed,
    typed,
)
from grammeter.formats.text import checked_lines, read_text, split_lines, write_text

T = TypeVar("T")
JudgmentForm = Literal["appraise", "wmt", "jsonl"]
"""Appraise-2015 XML, WMT CSV, and our own JSON lines."""

FirstSegment = Literal[0, 1]  # the number that a file gives to the first sentence

Basis = Literal["default", "stated", "found", "format"]
"""How that number is known: assumed, stated by the user, found in the outputs, or fixed by the
format (JSON lines count from 1)."""

Separator = Literal["space", "comma", "plus"]
"""What separates the names of systems that wrote the same."""

MARKS: dict[Separator, str | None] = {"space": None, "comma": ",", "plus": "+"}
"""Separator -> what a cell is split at; None is any white space."""

_LARGEST = 10**15  # larger numbers of sentences are refused; arrays can index smaller ones
_SCALE = 5  # the lowest rank of a scale for up to five systems; for more, it is their number


@dataclass(frozen=True, slots=True)
class JudgedBlock:
    """Consecutive rankings of a file; attributes of their element, or test set and languages."""

    attributes: Mapping[str, str]
    count: int


@dataclass(frozen=True, slots=True)
class JudgmentFile:
    """How one file stored its rankings; used to write them the same way."""

    form: JudgmentForm
    first_segment: FirstSegment = 1
    basis: Basis = "format"
    separator: Separator = "space"
    blocks: tuple[JudgedBlock, ...] = ()


class Rows(Sequence[T]):
    """A dataclass that is itself the sequence of what its first field holds."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def _rows(self) -> tuple[T, ...]:
        return next(iter(vars(self).values()))


@dataclass(frozen=True)
class Judgments(Rows[Ranking]):
    """The rankings of one or more files, in their order; itself a sequence of them.

    - ``rankings``: all of them: skipped items and items with one output, too.
    - ``files``: how each file wrote its rankings, in the order of the files.
    - ``origins``: ``file:line`` of each ranking.
    - ``notices``: what readers should know: items that give no pairs, what was passed over.
    - ``notes``: what changes the meaning of results: guessed numbers, names of judges, names of
      systems.
    """

    rankings: tuple[Ranking, ...]
    files: tuple[JudgmentFile, ...] = ()
    origins: tuple[str, ...] = field(default=(), compare=False)
    notices: tuple[str, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def numbering(self) -> str:
        """How sentences were counted, for signatures: ``0 (default)``, ``1 (found)``."""
        numbers = [f"{file.first_segment} ({file.basis})" for file in self.files]
        return ", ".join(dict.fromkeys(numbers)) or "1 (format)"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must be known where sentences are looked up elsewhere by their number."""
        open_files = any(file.basis == "default" for file in self.files)
        if not open_files or any(ranking.segment == 1 for ranking in self.rankings):
            return ()
        text = "the judgments are taken to count sentences from 0; if from 1, say --first-segment 1"
        return (f"{text} (first_segment=1), or give the judged outputs (--hyps, systems=)",)


def check_scale(ranking: Ranking) -> Ranking:
    """Return the ranking; raise :class:`DataError` if a rank lies outside the scale."""
    lowest = max(_SCALE, len(ranking.systems))
    for rank in ranking.ranks:
        if rank > lowest:
            fix = f"Rank 1 is best; ranks go to {_SCALE}, or to the number of systems."
            raise DataError(f"rank {rank} lies outside the scale of 1 to {lowest}", fix=fix)
    return ranking


def joined_names(group: Sequence[str], separator: Separator) -> str:
    """Join the names of systems that wrote the same; refuse names with spaces or commas."""
    for name in group:
        if "," in name or name.split() != [name]:
            fix = "Take white space and commas out of it, or write JSON lines."
            raise DataError(f"the format cannot hold the system name {name!r}", fix=fix)
    return (MARKS[separator] or " ").join(group)


# --- JSON lines ----------------------------------------------------------------------------
_FIX = 'Write {"judge": "a", "segment": 1, "groups": [["X", "Y"], ["Z"]], "ranks": [2, 1]}.'


def _is_whole(value: Any) -> bool:
    return type(value) is int and abs(value) <= _LARGEST


def _is_number(value: Any) -> bool:  # `true` is no number
    return value is None or (type(value) in (int, float) and not abs(value) > _LARGEST)


def _list(key: str) -> Shape:
    return typed(key, "a list", list, NoneType)


_SHAPES: dict[str, Shape] = {
    "judge": named("judge"),
    "segment": [("segment", _is_whole, "a whole number")],
    "groups": [
        *typed("groups", "a list", list),
        ("a group", lambda value: isinstance(value, list) and value != [], "a list of systems"),
        *named("a system"),
    ],
    "ranks": [*_list("ranks"), ("ranks", _is_whole, "a whole number")],
    "skipped": typed("skipped", "true or false", bool),
    "seconds": [("seconds", lambda v: _is_number(v) and (v or 0) >= 0, "a number from 0 on")],
    **{key: typed(key, "a text", str, NoneType) for key in ("item", "document")},
    "scores": [*_list("scores"), ("scores", _is_number, "a number or null")],
    "replies": [*_list("replies"), *typed("replies", "a list of objects", dict)],
}
_KEYS = tuple(_SHAPES)


def parse_lines(text: str, where: str) -> Judgments:
    """Read a text; ``where`` names it in messages. Empty lines are ignored."""
    rankings: list[Ranking] = []
    origins: list[str] = []
    unknown: Counter[str] = Counter()
    for number, line in enumerate(split_lines(text), start=1):
        if line.strip():
            with placed(f"{where}:{number}"):
                data = parse_line(line, _FIX)
                unknown.update(data.keys() - set(_KEYS))
                rankings.append(check_scale(_ranking(data)))
            origins.append(f"{where}:{number}")
    start, counts = f"{where}: unknown key", sorted(unknown.items())
    notices = tuple(f"{start} {key!r}, passed over {count} times" for key, count in counts)
    return Judgments(tuple(rankings), (JudgmentFile(form="jsonl"),), tuple(origins), notices)


def parse_replies(text: str | None) -> tuple[Mapping[str, Any], ...]:
    """Read the replies of one item from JSON; raise :class:`DataError` if it is no such list."""
    if text is None:
        return ()
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    check_shape(value, _SHAPES["replies"], _FIX)
    return tuple(cast("list[Mapping[str, Any]]", value))


def format_lines(rankings: Iterable[Ranking]) -> str:
    """Return rankings as JSON lines; raise :class:`DataError` for an infinite duration."""
    lines: list[str] = []
    for ranking in rankings:
        if ranking.seconds is not None and not math.isfinite(ranking.seconds):
            raise DataError(f"a duration of {ranking.seconds} seconds", fix="Give None if unknown.")
        data = {key: getattr(ranking, key) for key in _KEYS}
        lacking = {key for key in _KEYS[6:] if data[key] is None or data[key] == ()}
        known = {key: value for key, value in data.items() if key not in lacking}
        lines.append(json.dumps(known, ensure_ascii=False) + "\n")
    return "".join(lines)


def _ranking(data: dict[str, Any]) -> Ranking:
    if "kind" in data and "judge" not in data:
        fix = "Give what judges said: Appraise XML, WMT CSV, JSON lines with judge, groups, ranks."
        raise DataError(f'these are no judgments: "kind" is {ascii(data["kind"])[:40]}', fix=fix)
    if lacking := [key for key in _KEYS[:3] if key not in data]:
        raise DataError(f"no {lacking[0]}", fix=_FIX)
    for key in _SHAPES.keys() & data.keys():
        check_shape(data[key], _SHAPES[key], _FIX)
        checked_text(json.dumps(data[key], ensure_ascii=False), key)
    lists: dict[str, Any] = {key: tuple(data.get(key) or ()) for key in ("ranks", "replies")}
    floats = [None if score is None else float(score) for score in data.get("scores") or ()]
    same = ("judge", "segment", "skipped", "item", "document")
    values: dict[str, Any] = {key: data[key] for key in same if key in data}
    values["seconds"] = None if data.get("seconds") is None else float(data["seconds"])
    groups = tuple(map(tuple[str, ...], data["groups"]))
    return Ranking(groups=groups, scores=tuple(floats) or None, **values, **lists)


# --- items of a campaign -------------------------------------------------------------------
def _names(key: str) -> Shape:
    wanted = "a list of names"
    inner = typed(f"a name in {key}", f"{wanted}, a text", str)
    return [*typed(key, wanted, list), *inner]


_ITEM_SHAPES: dict[str, Shape] = {
    "segment": typed("segment", "a whole number", int),
    "systems": _names("systems"),
    "judges": _names("judges"),
    "groups": [*typed("groups", "a list of lists of names", list), *_names("a group")],
    "item": typed("item", "a text", str),
    "repeat": typed("repeat", "true or false", bool),
    "distinct": typed("distinct", "a whole number", int),
    "probability": typed("probability", "a number", int, float),
    "signature": typed("signature", "a text", str),
    "task": typed("task", "a text", str),
}
ITEM_KEYS = tuple(_ITEM_SHAPES)  # what a line may hold, in the order in which it is written
_ITEM_FIX = 'Write one object a line: {"segment": 136, "systems": ["A", "B"], "judges": []}'


def read_items(path: str | Path) -> tuple[Item, ...]:
    """Read items, one a line; ``-`` is standard input, gzip is unpacked.

    Raises :class:`DataError` with file and line: no JSON object, an unknown or missing key, a
    value of the wrong type, or an impossible item.
    """
    items: list[Item] = []
    for number, line in enumerate(checked_lines(read_text(path), path), start=1):
        with placed(f"{path}:{number}"):
            items.append(_item(line))
    return tuple(items)


def is_items(path: str | Path) -> bool:
    """Whether a file holds items, and not judgments; the first line tells."""
    first = read_text(path).lstrip().partition("\n")[0]
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
    write_text(path, items_text(items))


def items_text(items: Iterable[Item]) -> str:
    """Return JSON lines; keys whose value is unknown are left out."""
    lines: list[str] = []
    for item in items:
        row = {key: getattr(item, key) for key in ITEM_KEYS}
        row["signature"] = item.signature and str(item.signature)
        known = {key: value for key, value in row.items() if value is not None}
        lines.append(json.dumps(known, ensure_ascii=False) + "\n")
    return "".join(lines)


def _item(line: str) -> Item:
    data: dict[str, Any] = parse_line(line, _ITEM_FIX, ITEM_KEYS)
    for key, value in data.items():
        if value is not None or key == "repeat":
            check_shape(value, _ITEM_SHAPES[key], _ITEM_FIX)
    data = {key: value for key, value in data.items() if value is not None}
    if not {"segment", "systems"} <= data.keys():
        raise DataError("an item needs the keys 'segment' and 'systems'", fix=_ITEM_FIX)
    for key in {"systems", "judges"} & data.keys():
        data[key] = tuple(data[key])
    if "groups" in data:
        data["groups"] = tuple(tuple[str, ...](group) for group in data["groups"])
    if "signature" in data:
        try:
            data["signature"] = Signature.parse(data["signature"])
        except ValueError as error:
            raise DataError(str(error), fix=_ITEM_FIX) from None
    return Item(**data)
