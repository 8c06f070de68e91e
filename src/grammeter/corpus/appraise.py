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
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from grammeter.core.errors import DataError
from grammeter.core.judgment import Ranking
from grammeter.corpus.elements import Element, parse_xml, start_tag
from grammeter.corpus.judged import (
    Block,
    FirstSegment,
    JudgmentFile,
    Judgments,
    Separator,
    check_scale,
    comma_or_space,
    joined_names,
    placed,
    split_names,
    whole_number,
)

ROOT = "appraise-results"
BLOCK = "error-correction-ranking-result"
ITEM = "ranking-item"
OUTPUT = "translation"

DEFAULT_BLOCK = {"id": "grammeter", "source-language": "err", "target-language": "cor"}

_KNOWN = {
    ITEM: {"doc-id", "duration", "id", "skipped", "src-id", "user"},
    OUTPUT: {"rank", "system"},
}
_DURATION = re.compile(r"(?:(\d{1,6}) days?, )?(\d{1,9}):([0-5]?\d):([0-5]?\d)(?:\.(\d{1,6}))?\Z")
_SKIPPED = {"true": True, "false": False}
_FIX = (
    f"An item is <{ITEM} src-id=... user=...>, with <{OUTPUT} rank=... system=...> for each output."
)


def parse_appraise(text: str, where: str, *, separator: Separator | None = None) -> Judgments:
    """Read a text; ``where`` names it in messages.

    Sentences are counted as if ``src-id`` began with 0.

    Parameters
    ----------
    separator
        What stands between names; default: commas if the file has one in any ``system``, else
        spaces.

    Raises
    ------
    DataError
        With file and line: no XML, other elements, missing attributes, numbers that are none,
        a rank outside the scale, a system twice in one item.
    """
    root = parse_xml(text, where)
    reader = _Reader(where, separator or comma_or_space(_systems(root)))
    return reader.judgments(root)


def format_appraise(
    rankings: Sequence[Ranking],
    *,
    first_segment: FirstSegment = 0,
    separator: Separator = "space",
    blocks: Sequence[Block] = (),
) -> str:
    """Return rankings as XML, laid out as the published files are.

    Durations are rounded to a microsecond.

    Raises
    ------
    DataError
        If the format cannot hold something: white space or a comma in a system's name, a
        negative duration, a control character.
    ValueError
        If the blocks do not hold as many rankings as there are.
    """
    blocks = blocks or (Block(DEFAULT_BLOCK, len(rankings)),)
    if sum(block.count for block in blocks) != len(rankings):
        raise ValueError(f"{len(rankings)} rankings do not fit the blocks")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<{ROOT}>", ""]
    start = 0
    for block in blocks:
        lines += [f"{start_tag(BLOCK, block.attributes)}>"]
        for ranking in rankings[start : start + block.count]:
            lines += ["", *_item_lines(ranking, first_segment, separator)]
        lines += [f"</{BLOCK}>", ""]
        start += block.count
    return "\n".join([*lines, f"</{ROOT}>", ""])


def _systems(root: Element) -> Iterator[str]:
    outputs = (o for block in root.children for item in block.children for o in item.children)
    return (output.attributes.get("system", "") for output in outputs)


@dataclass(slots=True)
class _Reader:
    """Turns elements into rankings; knows the file's name for messages."""

    where: str
    separator: Separator
    unknown: Counter[str] = field(default_factory=Counter[str])

    def judgments(self, root: Element) -> Judgments:
        if root.tag != ROOT:
            raise self.fault(root, f"is the root where <{ROOT}> belongs")
        blocks = self.children(root, BLOCK)
        items = [item for block in blocks for item in self.children(block, ITEM)]
        rankings = tuple(self.ranking(item) for item in items)
        counted = tuple(Block(block.attributes, len(block.children)) for block in blocks)
        return Judgments(
            rankings,
            (
                JudgmentFile(
                    form="appraise",
                    first_segment=0,
                    basis="default",
                    separator=self.separator,
                    blocks=counted,
                ),
            ),
            tuple(f"{self.where}:{item.line}" for item in items),
            tuple(
                f"{self.where}: unknown attribute {name}, passed over {count} times"
                for name, count in self.unknown.items()
            ),
        )

    def ranking(self, item: Element) -> Ranking:
        outputs = self.children(item, OUTPUT)
        own = self.attributes(item, "src-id", "user")
        with placed(f"{self.where}:{item.line}"):
            skipped = own.get("skipped", "false")
            if skipped not in _SKIPPED:
                raise self.fault(item, f"has skipped={skipped!r}, not true or false")
            number = whole_number(own["src-id"], "src-id")
            seconds = _seconds(own["duration"]) if "duration" in own else None
        groups = tuple(self.group(output) for output in outputs)
        ranks = self.ranks(outputs, may_lack=_SKIPPED[skipped])
        with placed(f"{self.where}:{item.line}"):
            ranking = Ranking(
                judge=own["user"],
                segment=number + 1,
                groups=groups,
                ranks=ranks,
                skipped=_SKIPPED[skipped],
                seconds=seconds,
                item=own.get("id"),
                document=own.get("doc-id"),
            )
            return check_scale(ranking)

    def group(self, output: Element) -> tuple[str, ...]:
        with placed(f"{self.where}:{output.line}"):
            return split_names(self.attributes(output, "system")["system"], self.separator)

    def ranks(self, outputs: Sequence[Element], *, may_lack: bool) -> tuple[int, ...]:
        if may_lack and not any("rank" in output.attributes for output in outputs):
            return ()
        ranks: list[int] = []
        for output in outputs:
            with placed(f"{self.where}:{output.line}"):
                ranks.append(whole_number(self.attributes(output, "rank")["rank"], "rank"))
        return tuple(ranks)

    def children(self, element: Element, tag: str) -> list[Element]:
        if element.text.strip():
            raise self.fault(element, f"holds text: {element.text.strip()[:40]!r}")
        for child in element.children:
            if child.tag != tag:
                raise self.fault(child, f"stands where <{tag}> belongs")
            if tag == OUTPUT and (child.children or child.text.strip()):
                raise self.fault(child, "is not empty")
            for name in child.attributes.keys() - _KNOWN.get(tag, child.attributes.keys()):
                self.unknown[name] += 1
        return element.children

    def attributes(self, element: Element, *needed: str) -> dict[str, str]:
        for name in needed:
            if not element.attributes.get(name):
                raise self.fault(element, f"has no {name}")
        return element.attributes

    def fault(self, element: Element, message: str) -> DataError:
        where = f"{self.where}:{element.line}"
        return DataError(f"<{element.tag}> {message}", where=where, fix=_FIX)


def _seconds(text: str) -> float:
    found = _DURATION.match(text)
    if not found:
        raise DataError(
            f"the duration {text[:40]!r} is none", fix="Write it as H:MM:SS or H:MM:SS.ffffff."
        )
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[:4])
    whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    # one division of whole numbers: the nearest float there is, so that it can be undone
    return (whole * 10**6 + int((found[5] or "").ljust(6, "0"))) / 10**6


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
    told: dict[str, str | None] = {
        "doc-id": ranking.document,
        "duration": None if ranking.seconds is None else _duration(ranking.seconds),
        "id": ranking.item,
        "skipped": "true" if ranking.skipped else None,
        "src-id": str(ranking.segment - 1 + first),
        "user": ranking.judge,
    }
    head = "  " + start_tag(
        ITEM, {name: value for name, value in told.items() if value is not None}
    )
    if not ranking.groups:
        return [f"{head}/>"]
    return [f"{head}>", *_output_lines(ranking, separator), f"  </{ITEM}>"]


def _output_lines(ranking: Ranking, separator: Separator) -> Iterator[str]:
    for number, group in enumerate(ranking.groups):
        rank = {"rank": str(ranking.ranks[number])} if ranking.ranks else {}
        tag = start_tag(OUTPUT, rank | {"system": joined_names(group, separator)})
        yield f"    {tag}/>"
