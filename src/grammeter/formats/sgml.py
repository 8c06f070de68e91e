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
    where: str = field(default="", compare=False)  # ``file:line``


@dataclass(frozen=True, slots=True)
class Document:
    """An essay: its paragraphs, none if the file has no text; all mistakes by annotator."""

    id: str
    paragraphs: tuple[str, ...] = ()
    annotations: Mapping[str, tuple[Mistake, ...]] = field(
        default_factory=dict[str, tuple[Mistake, ...]]
    )
    where: str = field(default="", compare=False)  # ``file:line``


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
    nodes = _children(parse_xml(wrapped, where, _FIX), "DOC")
    if not nodes:
        raise DataError("no document in this file", where=where, fix="It needs <DOC nid=...>.")
    return tuple(map(_document, nodes))


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
    if first.paragraphs and second.paragraphs and first.paragraphs != second.paragraphs:
        raise DataError(
            f"document {second.id!r} has another text than in {first.where}",
            where=second.where,
            fix="Files that are used together must have the same essays.",
        )
    if twice := first.annotations.keys() & second.annotations.keys():
        raise DataError(
            f"annotator {min(twice)!r} comes twice in document {second.id!r}",
            where=second.where,
            fix="Give each annotator's file once.",
        )
    base = first if first.paragraphs else second
    return replace(base, annotations={**first.annotations, **second.annotations})


def _document(node: Element) -> Document:
    paragraphs: list[str] = []
    annotations: dict[str, tuple[Mistake, ...]] = {}
    for part in _children(node, "TEXT", "ANNOTATION"):
        if part.tag == "TEXT":
            texts = map(_content, _children(part))
            # less the line ends by which the tags stand on lines of their own
            paragraphs += [text.removeprefix("\n").removesuffix("\n") for text in texts]
        else:
            annotator = _attribute(part, "teacher_id")
            mistakes = map(_mistake, _children(part, "MISTAKE"))
            annotations[annotator] = (*annotations.get(annotator, ()), *mistakes)
    return Document(_attribute(node, "nid"), tuple(paragraphs), annotations, node.where)


def _mistake(node: Element) -> Mistake:
    parts = _children(node, "CORRECTION", "COMMENT", "TYPE")
    texts = {part.tag: _content(part) for part in parts}
    if len(texts) != len(parts) or not {"TYPE", "CORRECTION"} <= texts.keys():
        raise node.fault("needs one TYPE and one CORRECTION, and one COMMENT at most")
    names = (("start_par", "start_off"), ("end_par", "end_off"))
    start, end = ((_number(node, paragraph), _number(node, at)) for paragraph, at in names)
    if start > end:
        raise node.fault("ends before it starts")
    words = texts["TYPE"], texts["CORRECTION"], texts.get("COMMENT")
    return Mistake(*start, *end, *words, node.where)


def _children(node: Element, *allowed: str) -> list[Element]:
    if text := node.text.strip():
        raise node.fault(f"has text between its elements: {text[:40]!r}")
    for child in node.children:
        if allowed and child.tag not in allowed:
            raise child.fault(f"does not belong here; {' or '.join(allowed)} do")
    return node.children


def _content(node: Element) -> str:
    if node.children:
        raise node.children[0].fault(f"stands inside the text of <{node.tag}>")
    return node.text


def _attribute(node: Element, name: str) -> str:
    if name not in node.attributes:
        raise node.fault(f"has no {name}")
    return node.attributes[name]


def _number(node: Element, name: str) -> int:
    text = _attribute(node, name)
    if not (text.isascii() and text.isdigit()) or len(text) > _DIGITS:
        raise node.fault(f"{name}={text[:40]!r} is no whole number of a usual size")
    return int(text)
