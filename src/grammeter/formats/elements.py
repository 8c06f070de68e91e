"""XML as a tree of elements that know their lines; document types and entities are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grammeter.core import DataError

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPED = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
}


@dataclass(slots=True)
class Element:
    """An element, with the line of its start tag."""

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list["Element"])


class _Builder:
    """Makes elements of what the parser reports."""

    def __init__(self) -> None:
        self.open = [Element("", {}, 1)]
        self.expat: Any = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.expat.CurrentLineNumber)
        self.open[-1].children.append(element)
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        self.open[-1].text += text

    def close(self) -> Element:
        return self.open[0].children[0]


def element_tree(text: str) -> Element:
    """Build the tree of an XML text; faults are those of defusedxml, as it raises them."""
    parser, _ = _parser()
    parser.feed(text)
    return parser.close()


def _parser() -> tuple[Any, Any]:
    """Return a parser that builds elements, and the expat parser that knows its line."""
    from defusedxml.ElementTree import DefusedXMLParser

    builder = _Builder()
    parser: Any = DefusedXMLParser(target=builder, forbid_dtd=True)
    builder.expat = parser.parser
    return parser, builder.expat


def parse_xml(text: str, where: str) -> Element:
    """Read an XML text; ``where`` names it in messages.

    Raises
    ------
    DataError
        With file and line: if it is not well-formed, or declares a document type or entities.
    """
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError

    parser, expat = _parser()
    try:
        parser.feed(text)
        return parser.close()
    except ParseError as error:
        raise DataError(
            f"no XML that can be parsed: {str(error).partition(':')[0]}",
            where=f"{where}:{error.position[0]}",
            fix="Elements are closed in the order in which they were opened, and the file ends"
            " with its root's end tag.",
        ) from None
    except DefusedXmlException:
        raise DataError(
            "declares a document type or entities, which is refused",
            where=f"{where}:{expat.CurrentLineNumber}",
            fix="Take <!DOCTYPE ...> out of the file.",
        ) from None


def start_tag(tag: str, attributes: Mapping[str, str]) -> str:
    """Write ``<tag a="b"``, without the closing bracket.

    Raises
    ------
    DataError
        If a value holds a character that XML cannot carry.
    """
    return f"<{tag}" + "".join(f' {name}="{_escape(text)}"' for name, text in attributes.items())


def _escape(text: str) -> str:
    match = _NOT_XML.search(text)
    if match:
        raise DataError(
            f"U+{ord(match[0]):04X} cannot stand in XML: {text[:40]!r}",
            fix="Take control characters out of the text.",
        )
    return "".join(_ESCAPED.get(letter, letter) for letter in text)
