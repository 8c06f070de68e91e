"""XML as a tree of elements that know their lines; document types and entities are refused."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grammeter.core import DataError

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPED = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"} | {c: f"&#{ord(c)};" for c in "\t\n\r"}
)


@dataclass(slots=True, eq=False)
class Element:
    """An element, with the place of its start tag, and what to do if it is faulty."""

    tag: str
    attributes: dict[str, str]
    where: str  # ``file:line``
    fix: str
    text: str = ""
    children: "list[Element]" = field(default_factory=list["Element"])

    def fault(self, message: str) -> DataError:
        """Return the error of this element."""
        return DataError(f"<{self.tag}> {message}", where=self.where, fix=self.fix)


class _Builder:
    def __init__(self, where: str, fix: str) -> None:
        self.where, self.fix = where, fix
        self.open = [Element("", {}, where, fix)]
        self.expat: Any = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, f"{self.where}:{self.expat.CurrentLineNumber}", self.fix)
        self.open[-1].children.append(element)
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        self.open[-1].text += text

    def close(self) -> Element:
        return self.open[0].children[0]


def parse_xml(text: str, where: str, fix: str) -> Element:
    """Read an XML text; ``where`` names it in messages, ``fix`` is what to do about its faults."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser, ParseError

    builder = _Builder(where, fix)
    parser: Any = DefusedXMLParser(target=builder, forbid_dtd=True)
    builder.expat = parser.parser
    try:
        parser.feed(text)
        return parser.close()
    except ParseError as error:
        fault = f"no XML that can be parsed: {str(error).partition(':')[0]}"
        fix = "Close elements in order, the root last; write &lt; and &amp; for < and & in texts."
        raise DataError(fault, where=f"{where}:{error.position[0]}", fix=fix) from None
    except DefusedXmlException:
        fault = "declares a document type or entities, which is refused"
        where = f"{where}:{builder.expat.CurrentLineNumber}"
        fix = "Take <!DOCTYPE ...> out of the file."
        raise DataError(fault, where=where, fix=fix) from None


def start_tag(tag: str, attributes: Mapping[str, str]) -> str:
    """Write ``<tag a="b"``, without the closing bracket; refuse what XML cannot carry."""
    for text in attributes.values():
        if match := _NOT_XML.search(text):
            fault = f"U+{ord(match[0]):04X} cannot stand in XML: {text[:40]!r}"
            raise DataError(fault, fix="Take control characters out of the text.")
    pairs = (f' {name}="{text.translate(_ESCAPED)}"' for name, text in attributes.items())
    return f"<{tag}" + "".join(pairs)
