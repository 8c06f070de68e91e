"""The SGML of NUCLE and the CoNLL shared tasks: essays with mistakes marked by character.

::

    <DOC nid="1">
    <TEXT>
    <TITLE>
    On cats
    </TITLE>
    <P>
    This are a cat.
    </P>
    </TEXT>
    <ANNOTATION teacher_id="8">
    <MISTAKE start_par="1" start_off="5" end_par="1" end_off="8">
    <TYPE>SVA</TYPE>
    <CORRECTION>is</CORRECTION>
    </MISTAKE>
    </ANNOTATION>
    </DOC>

Paragraphs, the title among them, and characters count from 0. A file of alternative
annotations has no ``TEXT``. :mod:`grammeter.formats.standoff` lays the mistakes onto tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grammeter.core import DataError
from grammeter.formats.elements import Element, parse_xml

# learners write "R&D" and "p < 0.05"; SGML took both as text, XML does not
_BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9A-Fa-f]+);)|<(?![A-Za-z/!?])")
_ESCAPED = {"&": "&amp;", "<": "&lt;"}
_DIGITS = 9
_FIX = "See the CoNLL-2014 data format: DOC > TEXT > P, DOC > ANNOTATION > MISTAKE."


@dataclass(frozen=True, slots=True)
class Mistake:
    """A marked span (character offsets in paragraphs, half-open) and what should stand there."""

    start_paragraph: int
    start: int
    end_paragraph: int
    end: int
    type: str
    correction: str
    comment: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Document:
    """An essay: its paragraphs, none if the file has no text; all mistakes by annotator."""

    id: str
    paragraphs: tuple[str, ...] = ()
    annotations: Mapping[str, tuple[Mistake, ...]] = field(
        default_factory=dict[str, tuple[Mistake, ...]]
    )
    origin: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)


def is_sgml(text: str, path: str | Path) -> bool:
    """Whether a file is SGML: by its name, or because it begins with a document."""
    return str(path).removesuffix(".gz").endswith(".sgml") or text.lstrip()[:5] == "<DOC "


def parse_sgml(text: str, where: str) -> tuple[Document, ...]:
    """Read documents from a text; ``where`` names it in messages.

    Raises :class:`DataError` with file and line: if it is not well-formed, declares entities, has
    unknown or missing elements, or offsets that are no whole numbers.
    """
    # a file is a row of documents: one root around them makes it XML, on the same lines,
    # and leaves no place where a document type or entities could be declared
    wrapped = f"<ROOT>{_BARE.sub(lambda m: _ESCAPED[m[0]], text)}</ROOT>"
    reader = _Reader(where)
    nodes = reader.children(parse_xml(wrapped, where), {"DOC"})
    if not nodes:
        raise DataError("no document in this file", where=where, fix="It needs <DOC nid=...>.")
    return tuple(map(reader.document, nodes))


def alternatives(files: Iterable[Sequence[Document]]) -> set[str]:
    """Return the annotators whose documents have no text: they saw some sentences only."""
    documents = (document for file in files for document in file if not document.paragraphs)
    return {annotator for document in documents for annotator in document.annotations}


def merge_documents(files: Iterable[Sequence[Document]]) -> tuple[Document, ...]:
    """Join the annotations that several files have of the same documents, matched by ``id``.

    A file of alternative annotations needs no text. Raises :class:`DataError` if two files have
    different texts for a document, or one annotator comes twice.
    """
    merged: dict[str, Document] = {}
    for document in (document for file in files for document in file):
        known = merged.get(document.id)
        merged[document.id] = _joined(known, document) if known else document
    return tuple(merged.values())


def _joined(first: Document, second: Document) -> Document:
    where = f"{second.origin}:{second.line}"
    if first.paragraphs and second.paragraphs and first.paragraphs != second.paragraphs:
        raise DataError(
            f"document {second.id!r} has another text than in {first.origin}:{first.line}",
            where=where,
            fix="Files that are used together must have the same essays.",
        )
    if twice := first.annotations.keys() & second.annotations.keys():
        raise DataError(
            f"annotator {min(twice)!r} comes twice in document {second.id!r}",
            where=where,
            fix="Give each annotator's file once.",
        )
    base = first if first.paragraphs else second
    return replace(base, annotations={**first.annotations, **second.annotations})


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns elements into documents; knows the file's name for messages."""

    where: str

    def document(self, node: Element) -> Document:
        parts = self.children(node, {"TEXT", "ANNOTATION"})
        paragraphs: list[str] = []
        annotations: dict[str, tuple[Mistake, ...]] = {}
        for part in parts:
            if part.tag == "TEXT":
                texts = map(self.content, self.children(part, None))
                # less the line ends by which the tags stand on lines of their own
                paragraphs += [text.removeprefix("\n").removesuffix("\n") for text in texts]
            else:
                annotator = self.attribute(part, "teacher_id")
                mistakes = map(self.mistake, self.children(part, {"MISTAKE"}))
                annotations[annotator] = (*annotations.get(annotator, ()), *mistakes)
        name = self.attribute(node, "nid")
        return Document(name, tuple(paragraphs), annotations, self.where, node.line)

    def mistake(self, node: Element) -> Mistake:
        parts = self.children(node, {"TYPE", "CORRECTION", "COMMENT"})
        texts = {part.tag: self.content(part) for part in parts}
        if len(texts) != len(parts) or not {"TYPE", "CORRECTION"} <= texts.keys():
            what = "needs one TYPE and one CORRECTION, and one COMMENT at most"
            raise node.fault(what, self.where, _FIX)
        names = (("start_par", "start_off"), ("end_par", "end_off"))
        start, end = ((self.number(node, p), self.number(node, o)) for p, o in names)
        if start > end:
            raise node.fault("ends before it starts", self.where, _FIX)
        comment = texts.get("COMMENT")
        return Mistake(*start, *end, texts["TYPE"], texts["CORRECTION"], comment, line=node.line)

    def children(self, node: Element, allowed: set[str] | None) -> list[Element]:
        if text := node.text.strip():
            what = f"has text between its elements: {text[:40]!r}"
            raise node.fault(what, self.where, _FIX)
        for child in node.children:
            if allowed is not None and child.tag not in allowed:
                what = f"does not belong here; {' or '.join(sorted(allowed))} do"
                raise child.fault(what, self.where, _FIX)
        return node.children

    def content(self, node: Element) -> str:
        if node.children:
            what = f"stands inside the text of <{node.tag}>"
            raise node.children[0].fault(what, self.where, _FIX)
        return node.text

    def attribute(self, node: Element, name: str) -> str:
        if name not in node.attributes:
            raise node.fault(f"has no {name}", self.where, _FIX)
        return node.attributes[name]

    def number(self, node: Element, name: str) -> int:
        text = self.attribute(node, name)
        if not (text.isascii() and text.isdigit()) or len(text) > _DIGITS:
            what = f"{name}={text[:40]!r} is no whole number of a usual size"
            raise node.fault(what, self.where, _FIX)
        return int(text)
