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
annotations has no ``TEXT``. :func:`lay_on` makes gold edits of tokenised sentences.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from grammeter.core import NOOP, DataError, Edit, GoldEdits, minimise
from grammeter.formats.elements import Element, parse_xml
from grammeter.formats.tables import placed, whole_number
from grammeter.formats.text import bare_name

# learners write "R&D" and "p < 0.05"; SGML took both as text, XML does not
_BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9A-Fa-f]+);)|<(?![A-Za-z/!?])")
_ESCAPED = {"&": "&amp;", "<": "&lt;"}
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
    annotations: Mapping[str, tuple[Mistake, ...]] = field(default_factory=dict[str, Any])
    where: str = field(default="", compare=False)  # ``file:line``


def is_sgml(text: str, path: str | Path) -> bool:
    """Whether a file is SGML: by its name, or because it begins with a document."""
    return bare_name(path).endswith(".sgml") or text.lstrip()[:5] == "<DOC "


def parse_sgml(text: str, where: str) -> tuple[Document, ...]:
    """Read documents from a text; ``where`` names it in messages.

    Raises :class:`DataError` with file and line: if it is not well-formed, declares entities, has
    unknown or missing elements, or offsets that are no whole numbers.
    """
    # a file is a row of documents: one root around them makes it XML, on the same lines,
    # and leaves no place where a document type or entities could be declared
    wrapped = f"<ROOT>{_BARE.sub(lambda m: _ESCAPED[m[0]], text)}</ROOT>"
    if not (nodes := _children(parse_xml(wrapped, where, _FIX), "DOC")):
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
        fault = f"document {second.id!r} has another text than in {first.where}"
        fix = "Files that are used together must have the same essays."
        raise DataError(fault, where=second.where, fix=fix)
    if twice := first.annotations.keys() & second.annotations.keys():
        fault = f"annotator {min(twice)!r} comes twice in document {second.id!r}"
        raise DataError(fault, where=second.where, fix="Give each annotator's file once.")
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
    with placed(node.where):
        return whole_number(_attribute(node, name), name)


# --- characters to tokens -------------------------------------------------------------------
_START, _END = attrgetter("start"), attrgetter("end")


class Layout(NamedTuple):
    """The gold edits of each sentence; mistakes that no edit of one sentence can say, and why."""

    gold: list[GoldEdits]
    left_out: list[tuple[Mistake, str]]


class _Token(NamedTuple):
    """A token: its sentence, its place there, and its characters in the paragraph."""

    sentence: int
    place: int
    start: int
    end: int


def lay_on(
    documents: Sequence[Document], sentences: Sequence[str],
    *, alternatives: Collection[str] = (), tokenise: Callable[[str], list[str]] | None = None,
) -> Layout:  # fmt: skip
    """Turn character-offset mistakes into token edits.

    The sentences are found in the paragraphs by their characters, white space aside. A span
    that cuts through a token is widened to the whole token, with the rest of the token added to
    the correction; the correction is tokenised; equal tokens at both ends are removed. Edits
    of a sentence are sorted by their start; comments are dropped; annotators are numbered from
    0, in the order in which they first appear. ``noop`` lists its annotator with ``()``.

    ``documents`` have texts, see :func:`merge_documents` for several files; ``sentences`` are all
    of theirs in order, tokens separated by white space. ``alternatives``: annotators who are not
    listed where they marked nothing; all others are, with ``()``. ``tokenise``: how corrections are
    split; default :func:`tokenise_correction`.
    """
    annotators = dict.fromkeys(name for document in documents for name in document.annotations)
    numbers = {name: number for number, name in enumerate(annotators)}
    painter = _Painter([s.split() for s in sentences], tokenise or tokenise_correction)
    left_out: list[tuple[Mistake, str]] = []
    for document in documents:
        first = painter.used
        tokens = [painter.tokens_of(document, n) for n in range(len(document.paragraphs))]
        for annotator, mistakes in document.annotations.items():
            if annotator not in alternatives:
                for by_annotator in painter.gold[first : painter.used]:
                    by_annotator.setdefault(numbers[annotator], [])
            for mistake in mistakes:
                _check_inside(document, mistake)
                if reason := painter.paint(mistake, document, tokens, numbers[annotator]):
                    left_out.append((mistake, reason))
    if painter.used < len(sentences):
        fault = f"sentence {painter.used + 1} and those after it belong to no document"
        fix = "Give the sentences of these documents only."
        raise DataError(fault, where=documents[-1].where if documents else None, fix=fix)
    gold: list[GoldEdits] = [
        {n: tuple(sorted(edits[n], key=_START)) for n in sorted(edits)} for edits in painter.gold
    ]
    return Layout(gold, left_out)


class _Painter:
    """Finds tokens in paragraphs and writes edits onto sentences."""

    def __init__(self, words: list[list[str]], tokenise: Callable[[str], list[str]]) -> None:
        self.words, self.tokenise = words, tokenise
        self.gold: list[dict[int, list[Edit]]] = [{} for _ in words]
        self.used = 0  # sentences that belong to a document

    def tokens_of(self, document: Document, paragraph: int) -> list[_Token]:
        """Take as many sentences as the paragraph has characters for."""
        text = document.paragraphs[paragraph]
        places = [place for place, letter in enumerate(text) if not letter.isspace()]
        letters = "".join(text.split())
        tokens: list[_Token] = []
        at = 0
        while at < len(letters):
            words = self.words[self.used] if self.used < len(self.words) else [" "]
            if not letters.startswith("".join(words), at):
                here = f"sentence {self.used + 1} is {' '.join(words)[:40]!r}"
                rest = f"paragraph {paragraph} goes on {text[places[at] :][:40]!r}"
                fault = f"document {document.id!r}: {rest}, but {here}"
                fix = "Give all sentences of these texts, titles too; only white space may differ."
                raise DataError(fault, where=document.where, fix=fix)
            for index, word in enumerate(words):
                tokens.append(_Token(self.used, index, places[at], places[at + len(word) - 1] + 1))
                at += len(word)
            self.used += 1
        return tokens

    def paint(
        self, mistake: Mistake, document: Document, paragraphs: Sequence[list[_Token]], number: int
    ) -> str:
        """Lay one mistake onto its sentence; return why that cannot be, or nothing."""
        if mistake.start_paragraph != mistake.end_paragraph:
            return "it crosses paragraphs"
        text = document.paragraphs[mistake.start_paragraph]
        tokens = paragraphs[mistake.start_paragraph]
        span = text[mistake.start : mistake.end]
        start = mistake.start + len(span) - len(span.lstrip())
        end = max(start, mistake.end - len(span) + len(span.rstrip()))
        # what shares a character with the span, or encloses an empty one
        head, tail = bisect_right(tokens, start, key=_END), bisect_left(tokens, end, key=_START)
        touched = tokens[head:tail]
        if mistake.type == NOOP:
            for token in touched:
                self.gold[token.sentence].setdefault(number, [])
            return ""
        if not tokens:
            return "its paragraph is empty"
        sentence, first, last, correction = *_gap(tokens, start), mistake.correction
        if touched:
            sentence, first, last = touched[0].sentence, touched[0].place, touched[-1].place + 1
            correction = text[touched[0].start : start] + correction + text[end : touched[-1].end]
            if touched[-1].sentence != sentence:
                return "it crosses sentences"
        words = " ".join(self.tokenise(correction))
        edit = minimise(Edit(first, last, words, mistake.type), self.words[sentence])
        if edit.start == edit.end and not edit.correction:
            return "it changes nothing"
        self.gold[sentence].setdefault(number, []).append(edit)
        return ""


def _gap(tokens: Sequence[_Token], at: int) -> tuple[int, int, int]:
    """Return the sentence, start and end of an insertion between tokens."""
    following = bisect_left(tokens, at, key=_START)
    before, after = tokens[following - 1], tokens[following : following + 1]
    # between two sentences, what touches the end of the first belongs to it
    touches = following > 0 and before.end == at
    if after and (after[0].sentence == before.sentence or not touches):
        return after[0].sentence, after[0].place, after[0].place
    return before.sentence, before.place + 1, before.place + 1


def _check_inside(document: Document, mistake: Mistake) -> None:
    places = (mistake.start_paragraph, mistake.start), (mistake.end_paragraph, mistake.end)
    for paragraph, offset in places:
        if paragraph >= len(document.paragraphs) or offset > len(document.paragraphs[paragraph]):
            fault = f"character {offset} in paragraph {paragraph} lies outside {document.id!r}"
            fix = "Paragraphs, the title among them, and characters count from 0."
            raise DataError(fault, where=mistake.where, fix=fix)


_SPLIT = (
    (re.compile(r'([;?!()\[\]{}<>"@#$%&])'), r" \1 "),
    (re.compile(r"([,:]|\.{2,}|--+)(?=\s|$)"), r" \1 "),
    (re.compile(r"(?<![.\s])\.(?=\s+[A-Z]|[\"')\s]*$)"), " . "),
    (re.compile(r"('s|'m|'d|'ll|'re|'ve|n't)(?=\W|$)", re.IGNORECASE), r" \1"),
    (re.compile(r"(?<=\w)'(?=\s|$)"), " '"),
    (re.compile(r"\b(can)(not)\b", re.IGNORECASE), r"\1 \2"),
)


def tokenise_correction(text: str) -> list[str]:
    """Split a correction the way the CoNLL-2014 sentences are split.

    Punctuation stands alone, a comma or colon only before white space and a full stop only at
    the end of a sentence; ``doctor's``, ``don't`` and ``cannot`` become two tokens.
    """
    for pattern, spaced in _SPLIT:
        text = pattern.sub(spaced, text)
    return text.split()
