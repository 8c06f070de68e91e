"""Where the items stand in the XML of Appraise: other versions have other elements around them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grammeter.core import DataError
from grammeter.formats import spellings
from grammeter.formats.elements import Element

ROOT = "appraise-results"
BLOCK = "error-correction-ranking-result"
ITEM = "ranking-item"
OUTPUT = "translation"
RESULT = "ranking-result"
TASK = "ranking-task"

_AROUND = re.compile(rf"{ROOT}|{BLOCK}|{RESULT}|{TASK}|HIT|WMT[\w-]*-results")
_OF_ITEM_ALONE = ("id", "duration", "skipped", "replies")
_OF_ITEM = {*spellings.JUDGE, *spellings.SENTENCE, *spellings.DOCUMENT, *_OF_ITEM_ALONE}
_OF_OUTPUT = {*spellings.SYSTEM, *spellings.RANK, "score"}
_FIX = (
    f"An item is <{ITEM} src-id=... user=...>, with <{OUTPUT} rank=... system=...> for each output."
)


@dataclass(frozen=True, slots=True)
class ItemElement:
    """One judge's ranking, as elements."""

    element: Element
    task: str | None  # the number of the sentence, if the element around the item has it
    languages: tuple[str, ...]  # of the elements around the item

    @property
    def outputs(self) -> Sequence[Element]:
        """The elements of its outputs."""
        return self.element.children

    def attribute(self, spelled: Sequence[str]) -> str | None:
        """Return an attribute; see :func:`attribute_of`."""
        return attribute_of(self.element, spelled)


@dataclass(frozen=True, slots=True)
class BlockElement:
    """The attributes of an element that holds items, and these."""

    attributes: Mapping[str, str]
    items: Sequence[ItemElement]


def find_blocks(root: Element, where: str) -> list[BlockElement]:
    """Return the elements that hold items, in the order of the file."""
    if _is_item(root):
        return [_block(Element("", {}, root.line, children=[root]), where)]
    if not _AROUND.fullmatch(root.tag):
        raise fault_of(root, f"is the root where <{ROOT}> belongs", where)
    blocks: list[BlockElement] = []
    waiting = [root]
    while waiting:  # no recursion: a hostile file is deep
        element = waiting.pop()
        _check_empty(element, where)
        if all(_is_item(child) or _is_task(child) for child in element.children):
            blocks.append(_block(element, where))
        else:
            _check_around(element, where)
            waiting += reversed(element.children)
    return blocks


def attribute_of(element: Element, spelled: Sequence[str]) -> str | None:
    """Return the first attribute with one of these names that is not empty."""
    values = (element.attributes[name] for name in spellings.find(element.attributes, spelled))
    return next((value for value in values if value), None)


def unknown_attributes(items: Sequence[ItemElement], where: str) -> Iterator[str]:
    """Count the attributes that are not used."""
    counts = Counter[str]()
    for item in items:
        counts.update(n for n in item.element.attributes if spellings.plain(n) not in _OF_ITEM)
        for output in item.outputs:
            counts.update(n for n in output.attributes if spellings.plain(n) not in _OF_OUTPUT)
    for name, count in counts.items():
        yield f"{where}: unknown attribute {name}, passed over {count} times"


def fault_of(element: Element, message: str, where: str) -> DataError:
    """Return the error of an element."""
    return DataError(f"<{element.tag}> {message}", where=f"{where}:{element.line}", fix=_FIX)


def _is_item(element: Element) -> bool:
    """Whether an element is one ranking; ``ranking-result`` is one at WMT, holds some elsewhere."""
    return element.tag == ITEM or (
        element.tag == RESULT
        and (
            attribute_of(element, spellings.JUDGE) is not None
            or any(child.tag == OUTPUT for child in element.children)
        )
    )


def _is_task(element: Element) -> bool:
    """Whether an element has the number of a sentence, around what judges said of it."""
    return element.tag == TASK and all(
        child.tag == RESULT and _is_item(child) for child in element.children
    )


def _check_around(element: Element, where: str) -> None:
    """Raise an error at the first child that is neither an item nor may hold items."""
    items = [child for child in element.children if _is_item(child) or _is_task(child)]
    strangers = [c for c in element.children if not _AROUND.fullmatch(c.tag) and c not in items]
    if strangers:
        belongs = BLOCK if element.tag == ROOT else ITEM
        raise fault_of(strangers[0], f"stands where <{belongs}> belongs", where)
    if items:
        raise fault_of(items[0], "stands beside an element that may hold items", where)


def _block(element: Element, where: str) -> BlockElement:
    languages = tuple(
        element.attributes[name]
        for spelled in (spellings.SOURCE_LANGUAGE, spellings.TARGET_LANGUAGE)
        for name in spellings.find(element.attributes, spelled)
    )
    items: list[ItemElement] = []
    for child in element.children:
        _check_empty(child, where)
        task = attribute_of(child, (*spellings.SENTENCE, "id")) if child.tag == TASK else None
        for item in child.children if child.tag == TASK else [child]:
            _check_outputs(item, where)
            items.append(ItemElement(item, task, languages))
    return BlockElement(element.attributes, items)


def _check_outputs(item: Element, where: str) -> None:
    _check_empty(item, where)
    for output in item.children:
        if output.tag != OUTPUT:
            raise fault_of(output, f"stands where <{OUTPUT}> belongs", where)
        if output.children or output.text.strip():
            raise fault_of(output, "is not empty", where)


def _check_empty(element: Element, where: str) -> None:
    if element.text.strip():
        raise fault_of(element, f"holds text: {element.text.strip()[:40]!r}", where)
