"""Mistakes marked by character (SGML), laid onto tokenised sentences as gold edits."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from grammeter.core import NOOP, DataError, Edit, GoldEdits, minimise
from grammeter.formats.sgml import Document, Mistake


class LeftOut(NamedTuple):
    """A mistake that no edit of one sentence can say, and why."""

    document: str
    annotator: str
    mistake: Mistake
    reason: str


class Layout(NamedTuple):
    """The gold edits of each sentence, and what could not be laid on."""

    gold: list[GoldEdits]
    left_out: list[LeftOut]


@dataclass(frozen=True, slots=True)
class _Token:
    """A token: its sentence, its place there, and its characters in the paragraph."""

    sentence: int
    index: int
    start: int
    end: int


@dataclass(slots=True)
class _Run:
    """The tokens of one paragraph, in order."""

    text: str
    tokens: list[_Token] = field(default_factory=list[_Token])
    sentences: list[int] = field(default_factory=list[int])

    def touched(self, start: int, end: int) -> list[_Token]:
        """Return the tokens that share a character with the span, or enclose an empty one."""
        first = bisect_right(self.tokens, start, key=lambda token: token.end)
        last = bisect_left(self.tokens, end, key=lambda token: token.start)
        return self.tokens[first:last]

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """Take white space off both ends of a span."""
        while start < end and self.text[start].isspace():
            start += 1
        while start < end and self.text[end - 1].isspace():
            end -= 1
        return start, end


def lay_on(
    documents: Sequence[Document],
    sentences: Sequence[str],
    *,
    alternatives: Collection[str] = (),
    tokenise: Callable[[str], list[str]] | None = None,
) -> Layout:
    """Turn character-offset mistakes into token edits.

    The sentences are found in the paragraphs by their characters, white space aside. A span
    that cuts through a token is widened to the whole token, with the rest of the token added to
    the correction; the correction is tokenised; equal tokens at both ends are removed. Edits
    of a sentence are sorted by their start; comments are dropped; annotators are numbered from
    0, in the order in which they first appear.

    Parameters
    ----------
    documents
        With texts; see :func:`~grammeter.formats.sgml.merge_documents` for several files.
    sentences
        All sentences of all documents in order, tokens separated by white space.
    alternatives
        Annotators who looked at some sentences only: they are not listed where they marked
        nothing. All others are listed, with ``()``.
    tokenise
        How corrections are split; default :func:`tokenise_correction`.

    Returns
    -------
    Layout
        One item for each sentence. Left out is a mistake that crosses sentences or paragraphs,
        or one that changes nothing. ``noop`` lists its annotator with ``()``.
    """
    annotators = dict.fromkeys(a.annotator for d in documents for a in d.annotations)
    numbers = {name: number for number, name in enumerate(annotators)}
    gold: list[dict[int, list[Edit]]] = [{} for _ in sentences]
    painter = _Painter([s.split() for s in sentences], gold, tokenise or tokenise_correction)
    left_out: list[LeftOut] = []
    rest = iter(range(len(sentences)))
    for document in documents:
        runs = [painter.run(document, p, rest) for p in range(len(document.paragraphs))]
        members = [sentence for run in runs for sentence in run.sentences]
        for annotation in document.annotations:
            number = numbers[annotation.annotator]
            if annotation.annotator not in alternatives:
                for sentence in members:
                    gold[sentence].setdefault(number, [])
            for mistake in annotation.mistakes:
                _check_inside(document, mistake)
                if reason := painter.paint(mistake, runs, number):
                    left_out.append(LeftOut(document.id, annotation.annotator, mistake, reason))
    unused = next(rest, None)
    if unused is not None:
        raise DataError(
            f"sentence {unused + 1} and those after it belong to no document",
            where=documents[-1].origin if documents else None,
            fix="Give the sentences of these documents only.",
        )
    return Layout([_sorted(by_annotator) for by_annotator in gold], left_out)


@dataclass(slots=True)
class _Painter:
    """Finds tokens in paragraphs and writes edits onto sentences."""

    tokens: list[list[str]]
    gold: list[dict[int, list[Edit]]]
    tokenise: Callable[[str], list[str]]

    def run(self, document: Document, paragraph: int, rest: Iterator[int]) -> _Run:
        """Take as many sentences as the paragraph has characters for."""
        text = document.paragraphs[paragraph].text
        run = _Run(text)
        places = [place for place, letter in enumerate(text) if not letter.isspace()]
        letters = "".join(text.split())
        at = 0
        while at < len(letters):
            sentence = next(rest, None)
            words = [] if sentence is None else self.tokens[sentence]
            if sentence is None or not letters.startswith("".join(words), at):
                raise _differs(document, paragraph, text[places[at] :], sentence, words)
            run.sentences.append(sentence)
            for index, word in enumerate(words):
                end = places[at + len(word) - 1] + 1
                run.tokens.append(_Token(sentence, index, places[at], end))
                at += len(word)
        return run

    def paint(self, mistake: Mistake, runs: Sequence[_Run], number: int) -> str:
        """Lay one mistake onto its sentence; return why that cannot be, or nothing."""
        if mistake.start_paragraph != mistake.end_paragraph:
            return "it crosses paragraphs"
        run = runs[mistake.start_paragraph]
        start, end = run.trimmed(mistake.start, mistake.end)
        if mistake.type != NOOP:
            return self._edit(run, start, end, mistake, number)
        for token in run.touched(start, end):
            self.gold[token.sentence].setdefault(number, [])
        return ""

    def _edit(self, run: _Run, start: int, end: int, mistake: Mistake, number: int) -> str:
        touched = run.touched(start, end)
        if not touched:
            return self._insert(run, start, mistake, number)
        first, last = touched[0], touched[-1]
        if first.sentence != last.sentence:
            return "it crosses sentences"
        correction = run.text[first.start : start] + mistake.correction + run.text[end : last.end]
        edit = Edit(first.index, last.index + 1, correction, mistake.type)
        return self._add(first.sentence, number, edit)

    def _insert(self, run: _Run, at: int, mistake: Mistake, number: int) -> str:
        if not run.tokens:
            return "its paragraph is empty"
        following = bisect_left(run.tokens, at, key=lambda token: token.start)
        at_end = following == len(run.tokens)
        token = run.tokens[following - at_end]
        index = token.index + at_end
        before = run.tokens[following - 1] if following else token
        if before.sentence != token.sentence and before.end == at:
            # between two sentences, what touches the end of the first belongs to it
            token, index = before, before.index + 1
        edit = Edit(index, index, mistake.correction, mistake.type)
        return self._add(token.sentence, number, edit)

    def _add(self, sentence: int, number: int, wide: Edit) -> str:
        words = " ".join(self.tokenise(wide.correction))
        edit = minimise(replace(wide, correction=words), self.tokens[sentence])
        if edit.start == edit.end and not edit.correction:
            return "it changes nothing"
        self.gold[sentence].setdefault(number, []).append(edit)
        return ""


def _check_inside(document: Document, mistake: Mistake) -> None:
    start, end = mistake.start_paragraph, mistake.end_paragraph
    for paragraph, offset in ((start, mistake.start), (end, mistake.end)):
        if paragraph >= len(document.paragraphs):
            fault = f"paragraph {paragraph} of {len(document.paragraphs)}"
        elif offset > len(document.paragraphs[paragraph].text):
            length = len(document.paragraphs[paragraph].text)
            fault = f"character {offset} of {length} in paragraph {paragraph}"
        else:
            continue
        raise DataError(
            f"a mistake lies outside document {document.id!r}: {fault}",
            where=f"{document.origin}:{mistake.line}",
            fix="Paragraphs, the title among them, and characters count from 0.",
        )


def _differs(
    document: Document, paragraph: int, text: str, sentence: int | None, words: Sequence[str]
) -> DataError:
    here = "there is no sentence left"
    if sentence is not None:
        here = f"sentence {sentence + 1} is {' '.join(words)[:40]!r}"
    return DataError(
        f"paragraph {paragraph} of document {document.id!r} goes on {text[:40]!r}, but {here}",
        where=f"{document.origin}:{document.line}",
        fix="Give all sentences of these documents, titles too, with the characters of the"
        " documents; only white space may differ.",
    )


def _sorted(by_annotator: dict[int, list[Edit]]) -> GoldEdits:
    return {
        number: tuple(sorted(by_annotator[number], key=lambda edit: edit.start))
        for number in sorted(by_annotator)
    }


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
