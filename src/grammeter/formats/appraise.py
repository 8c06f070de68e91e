"""Rankings in the XML of Appraise, as of 2015.

::

    <appraise-results>
    <error-correction-ranking-result id="a" source-language="err" target-language="cor">
      <ranking-item doc-id="a-24" duration="00:00:29.786000" id="24" src-id="60" user="judge01">
        <translation rank="2" system="AMU CAMB"/>
        <translation rank="1" system="RAC"/>
      </ranking-item>
      <ranking-item doc-id="a-37" id="37" skipped="true" src-id="37" user="judge01"/>
    </error-correction-ranking-result>
    </appraise-results>

``system`` names all systems that wrote the same, separated by spaces, or by commas. ``src-id``
counts sentences from 0 or from 1, and the file does not tell which.

Other versions of Appraise, and tools that follow it, write other elements around the items, and
have the number of the sentence in ``id``; the campaigns of WMT have it in a ``ranking-task``:
``<WMT15-results><HIT><ranking-task id="60"><ranking-result user="judge01">``. All are read, the
first form is written.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any, NamedTuple

from grammeter.core import DataError, Ranking
from grammeter.formats import foreign, judged, tables
from grammeter.formats.elements import Element, parse_xml, start_tag

_ROOT = "appraise-results"
_BLOCK = "error-correction-ranking-result"
_ITEM = "ranking-item"
_OUTPUT = "translation"
_RESULT = "ranking-result"
_TASK = "ranking-task"
_AROUND = re.compile(rf"{_ROOT}|{_BLOCK}|{_RESULT}|{_TASK}|HIT|WMT[\w-]*-results")
_FIX = f"An item is <{_ITEM} src-id=... user=...>, with <{_OUTPUT} rank=... system=...> per output."
_DEFAULT_BLOCK = {"id": "grammeter", "source-language": "err", "target-language": "cor"}
_DURATION = re.compile(r"(?:(\d{1,6}) days?, )?(\d{1,9}):([0-5]?\d):([0-5]?\d)(?:\.(\d{1,6}))?\Z")
_SKIPPED = {"true": True, "false": False, "1": True, "0": False}
_SHUT_WRONGLY = re.compile(r"</appraise-result>\s*\Z")


class _Item(NamedTuple):
    """One judge's ranking, the element around it, and what numbers its sentence, if anything."""

    element: Element
    around: Element
    sentence: str | None


def parse_appraise(text: str, where: str, systems: Iterable[str] = ()) -> judged.Judgments:
    """Read a text called ``where``, sentences from 0; ``systems`` as in ``foreign.find_names``."""
    # some versions of Appraise forgot a letter of their own end tag
    items = [*_items(parse_xml(_SHUT_WRONGLY.sub(f"</{_ROOT}>", text), where, _FIX))]
    from_id = not any(item.sentence for item in items)
    rows = [_row(item, from_id) for item in items]
    guess = "no src-id: the id of an item is taken as its sentence's number"
    runs = groupby(items, key=lambda item: item.around)
    blocks = [judged.JudgedBlock(around.attributes, len([*of])) for around, of in runs]
    said: dict[str, Any] = {"blocks": blocks, "guesses": [guess] if from_id else []}
    return foreign.judgments_of(rows, where, systems, form="appraise", **said)


def format_appraise(
    rankings: Sequence[Ranking],
    *, first_segment: judged.FirstSegment = 0, separator: judged.Separator = "space",
    blocks: Sequence[judged.JudgedBlock] = (),
) -> str:  # fmt: skip
    """Return rankings as XML, laid out as the published files are; times to a microsecond.

    Raises :class:`DataError` for what the format cannot hold: white space or a comma in a
    system's name, a negative duration, a control character.
    """
    blocks = blocks or (judged.JudgedBlock(_DEFAULT_BLOCK, len(rankings)),)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<{_ROOT}>", ""]
    start = 0
    for block in blocks:
        lines += [f"{start_tag(_BLOCK, block.attributes)}>"]
        for ranking in rankings[start : start + block.count]:
            lines += ["", *_item_lines(ranking, first_segment, separator)]
        lines += [f"</{_BLOCK}>", ""]
        start += block.count
    return "\n".join([*lines, f"</{_ROOT}>", ""])


# --- elements to items ---------------------------------------------------------------------
def _items(root: Element) -> Iterator[_Item]:
    waiting = [(root, Element("", {}, root.where, _FIX), "")]
    while waiting:  # no recursion: a hostile file is deep
        element, around, task = waiting.pop()
        if element.text.strip():
            raise element.fault(f"holds text: {element.text.strip()[:40]!r}")
        if _is_item(element):
            yield _Item(element, around, task or _attribute(element, foreign.SENTENCE))
            continue
        if not _AROUND.fullmatch(element.tag):
            raise element.fault(f"stands where <{_ITEM}> belongs")
        if element.tag == _TASK and all(child.tag == _RESULT for child in element.children):
            task = _attribute(element, (*foreign.SENTENCE, "id")) or ""
        else:
            around, task = element, ""
        waiting += [(child, around, task) for child in reversed(element.children)]


def _attribute(element: Element, spelled: Sequence[str]) -> str | None:
    values = (element.attributes[name] for name in foreign.find(element.attributes, spelled))
    return next((value for value in values if value), None)


def _is_item(element: Element) -> bool:
    """Whether an element is one ranking; ``ranking-result`` is one at WMT, holds some elsewhere."""
    if element.tag != _RESULT:
        return element.tag == _ITEM
    judged_alone = _attribute(element, foreign.JUDGE) is not None
    return judged_alone or any(child.tag == _OUTPUT for child in element.children)


# --- items to rows -------------------------------------------------------------------------
def _row(item: _Item, from_id: bool) -> foreign.Row:
    """Read an item; ``from_id``: its ``id`` has the number of the sentence."""
    element, attributes = item.element, item.element.attributes
    with tables.placed(element.where):
        word = attributes.get("skipped", "false")
        if (skipped := _SKIPPED.get(word.lower())) is None:
            raise element.fault(f"has skipped={word!r}, not true or false")
        number = item.sentence or (attributes.get("id") if from_id else None)
        if not number:
            raise element.fault("has no src-id")
        document = next(iter(foreign.find(attributes, foreign.DOCUMENT)), "")
        around = item.around.attributes
        languages = tuple(around[name] for name in foreign.find_languages(around))
        unranked = not any(_attribute(output, foreign.RANK) for output in element.children)
        return foreign.Row(
            where=element.where,
            judge=_attribute(element, foreign.JUDGE),
            sentence=tables.whole_number(number, "src-id"),
            outputs=tuple(_output(o, skipped and unranked) for o in element.children),
            item=None if from_id else attributes.get("id"),
            document=attributes.get(document),
            languages=languages,
            skipped=skipped,
            seconds=_seconds(attributes.get("duration")),
        )


def _output(element: Element, unranked: bool) -> foreign.Output:
    if element.tag != _OUTPUT or element.children or element.text.strip():
        raise element.fault(f"stands where an empty <{_OUTPUT}> belongs")
    names, rank = (_attribute(element, s) for s in (foreign.SYSTEM, foreign.RANK))
    if not names or not (rank or unranked):
        raise element.fault("has no system or no rank")
    with tables.placed(element.where):
        number = tables.whole_number(rank, "rank") if rank else None
        return foreign.Output(names, number, element.where)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    if not (match := _DURATION.match(text)):
        raise DataError(f"the duration {text[:40]!r} is none", fix="Write H:MM:SS, H:MM:SS.ffffff.")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[:4])
    micro = int((match[5] or "").ljust(6, "0"))
    return timedelta(days, seconds, micro, minutes=minutes, hours=hours).total_seconds()


def _duration(seconds: float) -> str:
    if not 0 <= seconds < 10**9:
        fault = f"a duration of {seconds} seconds cannot be written"
        raise DataError(fault, fix="Give 0 or more seconds.")
    span = timedelta(seconds=seconds)
    hours, rest = divmod(span.days * 86400 + span.seconds, 3600)
    text = f"{hours:02d}:{rest // 60:02d}:{rest % 60:02d}"
    return f"{text}.{span.microseconds:06d}" if span.microseconds else text


def _item_lines(ranking: Ranking, first: int, separator: judged.Separator) -> list[str]:
    if not ranking.judge:
        raise DataError("a judge without a name", fix="Name the judge of each ranking.")
    attributes: dict[str, str | None] = {
        "doc-id": ranking.document,
        "duration": None if ranking.seconds is None else _duration(ranking.seconds),
        "id": ranking.item,
        "skipped": "true" if ranking.skipped else None,
        "src-id": str(ranking.segment - 1 + first),
        "user": ranking.judge,
    }
    named = {name: value for name, value in attributes.items() if value is not None}
    head = f"  {start_tag(_ITEM, named)}"
    if not ranking.groups:
        return [f"{head}/>"]
    lines = [f"{head}>"]
    for number, group in enumerate(ranking.groups):
        cells = {"rank": str(ranking.ranks[number])} if ranking.ranks else {}
        cells["system"] = judged.joined_names(group, separator)
        lines.append(f"    {start_tag(_OUTPUT, cells)}/>")
    return [*lines, f"  </{_ITEM}>"]
