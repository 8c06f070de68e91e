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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, NoReturn, Self, TypeVar, overload

from grammeter.core import DataError, Item, Ranking, Signature, UsageError
from grammeter.formats.tables import json_lines, made, parse_line, placed
from grammeter.formats.text import checked_lines, read_text, write_text

T = TypeVar("T")
JudgmentForm = Literal["appraise", "wmt", "jsonl"]
"""Appraise-2015 XML, WMT CSV, and our own JSON lines."""

FirstSegment = Literal[0, 1]  # the number that a file gives to the first sentence

Basis = Literal["default", "stated", "found", "format"]
"""How that number is known: assumed, stated by the user, found in the outputs, or fixed by the
format (JSON lines count from 1)."""

Separator = Literal["space", "comma"]
"""What separates the names of systems that wrote the same."""

MARKS: dict[Separator, str | None] = {"space": None, "comma": ","}
"""Separator -> what a cell is split at; None is any white space."""

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


@dataclass(frozen=True, kw_only=True)
class Rows(Sequence[T]):
    """What one or more files hold, in their order; itself a sequence of it.

    - ``origins``: ``file:line`` of each.
    - ``notices``: what readers should know: items that give no pairs, what was passed over.
    - ``notes``: what changes the meaning of results: guessed numbers, names of judges or systems.
    """

    _over: ClassVar[str]
    _what: ClassVar[str] = "judgments that rank outputs"
    origins: tuple[str, ...] = field(default=(), compare=False)
    notices: tuple[str, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Put the rows of several files together."""
        columns: dict[str, tuple[Any, ...]] = {}
        for of in fields(cls):
            columns[of.name] = tuple(row for part in parts for row in getattr(part, of.name))
        return cls(**columns)

    def refuse(self) -> NoReturn:
        """Raise :class:`UsageError`: rankings are needed, and these are something else."""
        refuse(self._what, file_of(self.origins[0]) if self.origins else "these judgments")

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
        return getattr(self, self._over)


TAKERS = {
    "judgments of edits": "rank --by accept-rate, agree, meta edits, report --edit-judgments",
    "ratings": """rank, agree, meta sentence, meta system, with --criterion NAME. In Python, \
ratings.rankings(criterion) ranks them""",
}


def refuse(what: str, where: str) -> NoReturn:
    """Raise :class:`UsageError`: rankings are needed, and ``where`` holds something else."""
    fault = f"{where}: these are {what}, and outputs that were ranked are needed"
    raise UsageError(fault, fix=f"They go into: {TAKERS[what]}.")


def file_of(origin: str) -> str:
    """Return the file of ``file:line``."""
    return origin.rpartition(":")[0]


@dataclass(frozen=True)
class Judgments(Rows[Ranking]):
    """The rankings of one or more files, in their order; itself a sequence of them.

    - ``rankings``: all of them: skipped items and items with one output, too.
    - ``files``: how each file wrote its rankings, in the order of the files.
    """

    _over = "rankings"
    rankings: tuple[Ranking, ...]
    files: tuple[JudgmentFile, ...] = ()

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
    if (rank := max(ranking.ranks, default=1)) > lowest:
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


_KEYS = tuple(field.name for field in fields(Ranking))


def parse_lines(text: str, where: str) -> Judgments:
    """Read a text; ``where`` names it in messages. Empty lines are ignored."""
    rankings: dict[str, Ranking] = {}
    for origin, data in json_lines(text, where, _FIX):
        with placed(origin):
            rankings[origin] = _ranking(data)
    return Judgments(tuple(rankings.values()), (JudgmentFile("jsonl"),), origins=tuple(rankings))


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
    ranking = made(Ranking, data, _FIX)
    if not (ranking.seconds or 0) >= 0 or not all(ranking.groups):
        fault = f"{ranking.seconds} seconds, groups {list(map(list, ranking.groups))}"
        raise DataError(fault, fix="Seconds count from 0, and each group has a system.")
    return check_scale(ranking)


# --- items of a campaign -------------------------------------------------------------------
ITEM_KEYS = tuple(field.name for field in fields(Item))
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
    if data.get("signature") is not None:
        try:
            data["signature"] = Signature.parse(str(data["signature"]))
        except ValueError as error:
            raise DataError(str(error), fix=_ITEM_FIX) from None
    return made(Item, data, _ITEM_FIX)
