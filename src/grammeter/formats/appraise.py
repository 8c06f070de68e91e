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

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grammeter.core import DataError, Ranking
from grammeter.formats import spellings
from grammeter.formats.appraise_elements import (
    BLOCK,
    ITEM,
    OUTPUT,
    ROOT,
    ItemElement,
    attribute_of,
    fault_of,
    find_blocks,
    unknown_attributes,
)
from grammeter.formats.elements import Element, parse_xml, start_tag
from grammeter.formats.equal_outputs import Names, find_names
from grammeter.formats.judged import (
    FirstSegment,
    JudgedBlock,
    JudgmentFile,
    Judgments,
    Separator,
    check_scale,
    joined_names,
    judge_notes,
    judge_of,
    parse_replies,
    whole_number,
    with_languages,
)
from grammeter.formats.tables import placed

DEFAULT_BLOCK = {"id": "grammeter", "source-language": "err", "target-language": "cor"}

_DURATION = re.compile(r"(?:(\d{1,6}) days?, )?(\d{1,9}):([0-5]?\d):([0-5]?\d)(?:\.(\d{1,6}))?\Z")
_SKIPPED = {"true": True, "false": False, "1": True, "0": False}
_SHUT_WRONGLY = re.compile(r"</appraise-result>\s*\Z")


def parse_appraise(
    text: str,
    where: str,
    *,
    separator: Separator | None = None,
    systems: Iterable[str] = (),
) -> Judgments:
    """Read a text; ``where`` names it in messages. Sentences are counted from 0.

    ``separator`` and ``systems``: see :func:`~grammeter.formats.equal_outputs.find_names`.
    """
    # some versions of Appraise forgot a letter of their own end tag
    root = parse_xml(_SHUT_WRONGLY.sub(f"</{ROOT}>", text), where)
    blocks = find_blocks(root, where)
    items = [item for block in blocks for item in block.items]
    cells = [[attribute_of(o, spellings.SYSTEM) or "" for o in item.outputs] for item in items]
    names = find_names(cells, separator=separator, is_system={*systems}.__contains__)
    reader = _Reader.of(where, items, names)
    return Judgments(
        tuple(reader.ranking(item) for item in items),
        (
            JudgmentFile(
                form="appraise",
                first_segment=0,
                basis="default",
                separator=names.separator,
                blocks=tuple(JudgedBlock(block.attributes, len(block.items)) for block in blocks),
            ),
        ),
        tuple(f"{where}:{item.element.line}" for item in items),
        tuple(unknown_attributes(items, where)),
        tuple(reader.notes(items)),
    )


def format_appraise(
    rankings: Sequence[Ranking],
    *,
    first_segment: FirstSegment = 0,
    separator: Separator = "space",
    blocks: Sequence[JudgedBlock] = (),
) -> str:
    """Return rankings as XML, laid out as the published files are; times to a microsecond.

    Raises
    ------
    DataError
        If the format cannot hold something: white space or a comma in a system's name, a
        negative duration, a control character.
    """
    blocks = blocks or (JudgedBlock(DEFAULT_BLOCK, len(rankings)),)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<{ROOT}>", ""]
    start = 0
    for block in blocks:
        lines += [f"{start_tag(BLOCK, block.attributes)}>"]
        for ranking in rankings[start : start + block.count]:
            lines += ["", *_item_lines(ranking, first_segment, separator)]
        lines += [f"</{BLOCK}>", ""]
        start += block.count
    return "\n".join([*lines, f"</{ROOT}>", ""])


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns items into rankings."""

    where: str
    names: Names
    from_id: bool  # whether ``id`` has the number of the sentence
    pairs: tuple[str, ...]  # of languages, if the file has several

    @classmethod
    def of(cls, where: str, items: Sequence[ItemElement], names: Names) -> _Reader:
        numbered = any(item.task or item.attribute(spellings.SENTENCE) for item in items)
        pairs = sorted({"-".join(item.languages) for item in items if item.languages})
        return cls(where, names, not numbered, tuple(pairs) if len(pairs) > 1 else ())

    def notes(self, items: Sequence[ItemElement]) -> Iterator[str]:
        nameless = sum(not item.attribute(spellings.JUDGE) for item in items)
        yield from judge_notes(self.where, nameless, len(items))
        yield from (f"{self.where}: {note}" for note in self.names.notes)
        if self.from_id:
            yield f"{self.where}: no src-id: the id of an item is taken as its sentence's number"
        if self.pairs:
            names = ", ".join(self.pairs)
            yield f"{self.where}: several language pairs: {names}; their sentences are kept apart"

    def ranking(self, item: ItemElement) -> Ranking:
        element = item.element
        with placed(f"{self.where}:{element.line}"):
            skipped = element.attributes.get("skipped", "false")
            if skipped.lower() not in _SKIPPED:
                raise self.fault(element, f"has skipped={skipped!r}, not true or false")
            number = whole_number(self.sentence(item), "src-id")
            duration = element.attributes.get("duration")
            seconds = None if duration is None else _seconds(duration)
        groups = tuple(self.group(output) for output in item.outputs)
        ranks = self.ranks(item.outputs, may_lack=_SKIPPED[skipped.lower()])
        with placed(f"{self.where}:{element.line}"):
            ranking = Ranking(
                judge=item.attribute(spellings.JUDGE) or judge_of(self.where),
                segment=number + 1,
                groups=groups,
                ranks=ranks,
                skipped=_SKIPPED[skipped.lower()],
                seconds=seconds,
                item=None if self.from_id else element.attributes.get("id"),
                document=self.document(item),
                scores=_scores(item.outputs),
                replies=parse_replies(element.attributes.get("replies")),
            )
            return check_scale(ranking)

    def sentence(self, item: ItemElement) -> str:
        named = (*spellings.SENTENCE, *(["id"] if self.from_id else []))
        number = item.task or item.attribute(named)
        if not number:
            raise self.fault(item.element, "has no src-id")
        return number

    def document(self, item: ItemElement) -> str | None:
        """Return the document, with its languages if the file has several pairs of them."""
        names = spellings.find(item.element.attributes, spellings.DOCUMENT)
        name = item.element.attributes[names[0]] if names else None
        return with_languages(name, "-".join(item.languages)) if self.pairs else name

    def group(self, output: Element) -> tuple[str, ...]:
        cell = attribute_of(output, spellings.SYSTEM)
        if not cell:
            raise self.fault(output, "has no system")
        with placed(f"{self.where}:{output.line}"):
            return self.names.split(cell)

    def ranks(self, outputs: Sequence[Element], *, may_lack: bool) -> tuple[int, ...]:
        cells = [attribute_of(output, spellings.RANK) for output in outputs]
        if may_lack and not any(cells):
            return ()
        ranks: list[int] = []
        for output, cell in zip(outputs, cells, strict=True):
            if not cell:
                raise self.fault(output, "has no rank")
            with placed(f"{self.where}:{output.line}"):
                ranks.append(whole_number(cell, "rank"))
        return tuple(ranks)

    def fault(self, element: Element, message: str) -> DataError:
        return fault_of(element, message, self.where)


def _scores(outputs: Sequence[Element]) -> tuple[float | None, ...] | None:
    cells = [output.attributes.get("score") for output in outputs]
    return tuple(_score(cell) for cell in cells) if any(c is not None for c in cells) else None


def _score(cell: str | None) -> float | None:
    if not cell:
        return None
    try:
        return float(cell)
    except ValueError:
        fix = "Write it in digits, or leave it out."
        raise DataError(f"score is {cell[:40]!r}, no number", fix=fix) from None


def _seconds(text: str) -> float:
    match = _DURATION.match(text)
    if not match:
        raise DataError(
            f"the duration {text[:40]!r} is none", fix="Write it as H:MM:SS or H:MM:SS.ffffff."
        )
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[:4])
    whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    # one division of whole numbers: the nearest float there is, so that it can be undone
    return (whole * 10**6 + int((match[5] or "").ljust(6, "0"))) / 10**6


def _duration(seconds: float) -> str:
    if not 0 <= seconds < 10**9:
        raise DataError(
            f"a duration of {seconds} seconds cannot be written", fix="Give 0 or more seconds."
        )
    whole, micro = divmod(round(seconds * 10**6), 10**6)
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    text = f"{hours:02d}:{minute:02d}:{second:02d}"
    return f"{text}.{micro:06d}" if micro else text


def _item_lines(ranking: Ranking, first: FirstSegment, separator: Separator) -> list[str]:
    if not ranking.judge:
        raise DataError("a judge without a name", fix="Name the judge of each ranking.")
    attributes: dict[str, str | None] = {
        "doc-id": ranking.document,
        "duration": None if ranking.seconds is None else _duration(ranking.seconds),
        "id": ranking.item,
        "skipped": "true" if ranking.skipped else None,
        "replies": json.dumps(ranking.replies) if ranking.replies else None,
        "src-id": str(ranking.segment - 1 + first),
        "user": ranking.judge,
    }
    named = {name: value for name, value in attributes.items() if value is not None}
    head = f"  {start_tag(ITEM, named)}"
    if not ranking.groups:
        return [f"{head}/>"]
    return [f"{head}>", *_output_lines(ranking, separator), f"  </{ITEM}>"]


def _output_lines(ranking: Ranking, separator: Separator) -> Iterator[str]:
    for number, group in enumerate(ranking.groups):
        rank = {"rank": str(ranking.ranks[number])} if ranking.ranks else {}
        if ranking.scores is not None:
            score = ranking.scores[number]
            rank["score"] = "" if score is None else repr(score)
        tag = start_tag(OUTPUT, rank | {"system": joined_names(group, separator)})
        yield f"    {tag}/>"
