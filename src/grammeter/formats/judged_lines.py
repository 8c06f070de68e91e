"""Rankings in JSON lines, one item a line.

::

    {"judge": "judge01", "segment": 61, "groups": [["AMU", "CAMB"], ["RAC"]], "ranks": [2, 1],
     "skipped": false, "seconds": 29.786, "item": "24", "document": "a-24"}

(on one line). ``segment`` counts from 1. ``ranks`` may be absent if the item was skipped;
``skipped`` is false and ``seconds``, ``item`` and ``document`` unknown where they are absent.
``scores`` (a number or null for each group) and ``replies`` (objects) are what language models
gave as judges.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, cast

from grammeter.core import DataError, Ranking
from grammeter.formats.judged import (
    LARGEST,
    JudgmentFile,
    Judgments,
    check_scale,
    placed,
)
from grammeter.formats.objects import parse_line
from grammeter.formats.text import split_lines

KEYS = (
    "judge", "segment", "groups", "ranks", "skipped", "seconds", "item", "document", "scores",
    "replies",
)  # fmt: skip

_FIX = 'Write {"judge": "a", "segment": 1, "groups": [["X", "Y"], ["Z"]], "ranks": [2, 1]}.'


def parse_lines(text: str, where: str) -> Judgments:
    """Read a text; ``where`` names it in messages. Empty lines are ignored."""
    rankings: list[Ranking] = []
    origins: list[str] = []
    unknown: Counter[str] = Counter()
    for number, line in enumerate(split_lines(text), start=1):
        if line.strip():
            with placed(f"{where}:{number}"):
                data = parse_line(line, _FIX)
                unknown.update(data.keys() - set(KEYS))
                rankings.append(check_scale(_ranking(data)))
            origins.append(f"{where}:{number}")
    notices = tuple(
        f"{where}: unknown key {key!r}, passed over {count} times"
        for key, count in sorted(unknown.items())
    )
    return Judgments(tuple(rankings), (JudgmentFile(form="jsonl"),), tuple(origins), notices)


def parse_replies(text: str | None) -> tuple[Mapping[str, Any], ...]:
    """Read the replies of one item from JSON; raise :class:`DataError` if it is no such list."""
    if text is None:
        return ()
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    return tuple(_reply(reply) for reply in _list("replies", value))


def format_lines(rankings: Iterable[Ranking]) -> str:
    """Return rankings as JSON lines; raise :class:`DataError` for an infinite duration."""
    return "".join(f"{_line(ranking)}\n" for ranking in rankings)


def _line(ranking: Ranking) -> str:
    if ranking.seconds is not None and not math.isfinite(ranking.seconds):
        raise DataError(
            f"a duration of {ranking.seconds} seconds", fix="Write None where it is unknown."
        )
    data = {key: getattr(ranking, key) for key in KEYS}
    lacking = {key for key in KEYS[6:] if data[key] is None or data[key] == ()}
    return json.dumps({k: v for k, v in data.items() if k not in lacking}, ensure_ascii=False)


def _ranking(data: dict[str, object]) -> Ranking:
    if "kind" in data and "judge" not in data:
        raise DataError(
            f'these are no judgments: "kind" is {ascii(data["kind"])[:40]}',
            fix="Give what judges said: Appraise XML, WMT CSV, or JSON lines with judge, groups"
            " and ranks.",
        )
    for key in KEYS[:3]:
        if key not in data:
            raise DataError(f"no {key}", fix=_FIX)
    skipped = data.get("skipped", False)
    if not isinstance(skipped, bool):
        raise _wrong("skipped", skipped, "true or false")
    return Ranking(
        judge=_text("judge", data["judge"]),
        segment=_number("segment", data["segment"]),
        groups=tuple(_group(group) for group in _list("groups", data["groups"])),
        ranks=tuple(_number("ranks", rank) for rank in _list("ranks", data.get("ranks", []))),
        skipped=skipped,
        seconds=_seconds(data.get("seconds")),
        item=_name("item", data.get("item")),
        document=_name("document", data.get("document")),
        scores=_scores(data.get("scores")),
        replies=tuple(_reply(reply) for reply in _list("replies", data.get("replies") or [])),
    )


def _scores(value: object) -> tuple[float | None, ...] | None:
    """Return scores; an empty list, as a skipped item may have it, means that there are none."""
    if not value and value in (None, []):
        return None
    return tuple(_score(score) for score in _list("scores", value))


def _score(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > LARGEST:
        raise _wrong("scores", value, "a number or null")
    return float(value)


def _reply(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _wrong("replies", value, "a list of objects")
    _text("replies", json.dumps(value, ensure_ascii=False))
    return cast("dict[str, Any]", value)


def _group(value: object) -> tuple[str, ...]:
    group = tuple(_text("a system", name) for name in _list("a group", value))
    if not group:
        raise _wrong("a group", value, "a list of systems")
    return group


def _list(key: str, value: object) -> list[object]:
    if not isinstance(value, list):
        raise _wrong(key, value, "a list")
    return cast("list[object]", value)


def _number(key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > LARGEST:
        raise _wrong(key, value, "a whole number")
    return value


def _seconds(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        raise _wrong("seconds", value, "a number from 0 on")
    return float(value)


def _name(key: str, value: object) -> str | None:
    return None if value is None else _text(key, value, may_be_empty=True)


def _text(key: str, value: object, *, may_be_empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or may_be_empty):
        raise _wrong(key, value, "a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _wrong(key, value, "Unicode text: half a surrogate pair") from None
    return value


def _wrong(key: str, value: object, wanted: str) -> DataError:
    return DataError(f"{key} is {ascii(value)[:40]}, not {wanted}", fix=_FIX)
