"""The M2 format: a sentence and its edits by several annotators.

::

    S This are a sentence .
    A 1 2|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0
    A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

A blank line ends a block. Corrections may list alternatives, ``in||at``; ``-NONE-`` or nothing
deletes. Lines ``T0-A0 ...`` (ChERRANT's corrected texts) are kept, lines ``I ...`` are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grammeter.core import DataError, Edit, GoldEdits
from grammeter.formats.text import checked_line, decode, read_bytes, split_lines, write_text

DELETION = "-NONE-"
_TEXT_LINE = re.compile(r"T\d+(-A\d+)?\s")
_FIELDS = 6
_NOOP = Edit(-1, -1, "", "noop")


@dataclass(frozen=True)
class M2Block:
    """One sentence and its edits.

    Attributes
    ----------
    source
        The text after ``S``; its tokens are separated by white space.
    lines
        ``(annotator, edit)`` in the order of the file, no-ops included.
    texts
        ChERRANT's ``T`` lines, each with the number of edits before it.
    """

    source: str
    lines: tuple[tuple[int, Edit], ...] = ()
    texts: tuple[tuple[int, str], ...] = ()

    @classmethod
    def of(cls, source: str, gold: GoldEdits) -> M2Block:
        """Build a block from gold edits; an annotator without edits gets a no-op."""
        lines = [(number, edit) for number, edits in gold.items() for edit in edits or [_NOOP]]
        return cls(source, tuple(lines))

    @cached_property
    def gold(self) -> GoldEdits:
        """Edits by annotator, ascending; in the order of the file, without no-ops.

        A sentence without any line of edits has one annotator, 0, who changes nothing.
        """
        by_annotator: dict[int, list[Edit]] = {}
        for annotator, edit in self.lines:
            edits = by_annotator.setdefault(annotator, [])
            if not edit.is_noop:
                edits.append(edit)
        return {number: tuple(edits) for number, edits in sorted(by_annotator.items())} or {0: ()}


@dataclass(frozen=True)
class M2File:
    """A whole file.

    Attributes
    ----------
    blocks
        One for each sentence.
    notices
        Faults passed over in lenient reading, with file and line.
    """

    blocks: tuple[M2Block, ...]
    notices: tuple[str, ...] = ()

    @property
    def sources(self) -> list[str]:
        """The source sentences."""
        return [block.source for block in self.blocks]


def read_m2(path: str | Path, *, lenient: bool = False) -> M2File:
    """Read an M2 file.

    Parameters
    ----------
    path
        The file, plain or gzip; ``-`` is standard input.
    lenient
        Pass over what the original programs pass over: edits outside their sentence and
        unknown lines. Each is counted in ``notices``.

    Raises
    ------
    DataError
        With file and line, for anything else than described above.
    """
    return parse_m2(decode(read_bytes(path), path), str(path), lenient=lenient)


def parse_m2(text: str, where: str, *, lenient: bool = False) -> M2File:
    """Read M2 from a text; ``where`` names it in messages."""
    reader = _Reader(where, lenient)
    for number, line in enumerate(split_lines(text), start=1):
        reader.take(number, line)
    reader.end_block()
    if not reader.blocks:
        raise DataError("no sentence in this file", where=where, fix="M2 needs lines 'S ...'.")
    return M2File(tuple(reader.blocks), tuple(reader.notices))


def write_m2(path: str | Path, blocks: Iterable[M2Block]) -> None:
    """Write an M2 file; what was read from the usual dialect comes out byte for byte.

    Raises
    ------
    DataError
        If the format cannot hold a block, or the file cannot be written.
    """
    write_text(path, format_m2(blocks))


def format_m2(blocks: Iterable[M2Block]) -> str:
    """Return blocks as M2 text; raise :class:`DataError` for what would be read differently."""
    return "".join(_format_block(block) for block in blocks)


def _format_block(block: M2Block) -> str:
    lines = [f"S {block.source}" if block.source else "S "]
    texts = list(block.texts)
    for position, (annotator, edit) in enumerate(block.lines):
        while texts and texts[0][0] == position:
            lines.append(texts.pop(0)[1])
        lines.append(_format_edit(annotator, edit))
    lines += [text for _, text in texts]
    return "\n".join(map(checked_line, lines)) + "\n\n"


def _format_edit(annotator: int, edit: Edit) -> str:
    bare = not edit.is_noop and not edit.alternatives  # between bars an empty text would be lost
    correction = "||".join(text or ("" if bare else DELETION) for text in edit.corrections)
    middle = f"{edit.type}|||{correction}|||{edit.required}|||{edit.comment}"
    line = f"A {edit.start} {edit.end}|||{middle}|||{annotator}"
    try:
        same = _parse_edit(line) == (annotator, edit)
    except ValueError:
        same = False
    if not same:
        raise DataError(
            f"M2 cannot hold this edit: {line[:80]!r}",
            fix="Bars in a text and spaces at its ends would be read differently.",
        )
    return line


def _parse_edit(line: str) -> tuple[int, Edit]:
    """Read a line ``A ...``; raise :class:`ValueError` if it is none."""
    parts = line[2:].split("|||")
    if len(parts) != _FIELDS:
        raise ValueError(f"{len(parts)} fields instead of {_FIELDS}")
    start, end = (int(offset) for offset in parts[0].split())
    annotator = int(parts[5])
    if annotator < 0:
        raise ValueError(f"annotator {annotator}, less than 0")
    correction, *alternatives = _corrections(parts[2])
    return annotator, Edit(
        start, end, correction, parts[1], tuple(alternatives), parts[3], parts[4]
    )


class _Reader:
    """Collects blocks line by line."""

    def __init__(self, where: str, lenient: bool) -> None:
        self.where = where
        self.lenient = lenient
        self.blocks: list[M2Block] = []
        self.notices: list[str] = []
        self._source: str | None = None
        self._tokens = 0
        self._lines: list[tuple[int, Edit]] = []
        self._texts: list[tuple[int, str]] = []

    def take(self, number: int, line: str) -> None:
        if line == "":
            self.end_block()
        elif line[:2] == "S " or line == "S":
            self._start_block(number, line)
        elif self._source is None:
            self._fault(number, f"outside a block: {line[:40]!r}", "Blocks begin with 'S ...'.")
        elif line[:2] == "A ":
            self._edit(number, line)
        elif _TEXT_LINE.match(line):
            self._texts.append((len(self._lines), line))
        elif line[:2] != "I ":
            self._fault(number, f"unknown line: {line[:40]!r}", "Lines begin with S or A.")

    def end_block(self) -> None:
        if self._source is not None:
            self.blocks.append(M2Block(self._source, tuple(self._lines), tuple(self._texts)))
        self._source, self._lines, self._texts = None, [], []

    def _start_block(self, number: int, line: str) -> None:
        if self._source is not None:
            raise DataError(
                "a second S line in one block",
                where=f"{self.where}:{number}",
                fix="Put a blank line before each sentence; sentences over several S lines"
                " are not supported.",
            )
        self._source = line[2:]
        self._tokens = len(self._source.split())

    def _edit(self, number: int, line: str) -> None:
        annotator, edit = self._parsed(number, line)
        inside = 0 <= edit.start <= edit.end <= self._tokens
        if inside or edit.is_noop:
            self._lines.append((annotator, edit))
            return
        self._fault(
            number,
            f"edit {edit.start} {edit.end} lies outside its sentence of {self._tokens} tokens",
            "Correct the offsets, or use --lenient to drop such edits as the original does.",
        )
        # the original drops the edit, yet the annotator counts as having seen the sentence
        self._lines.append((annotator, Edit(-1, -1, "", "noop", (), edit.required, edit.comment)))

    def _parsed(self, number: int, line: str) -> tuple[int, Edit]:
        try:
            return _parse_edit(line)
        except ValueError as error:
            raise DataError(
                f"not an edit: {error}",
                where=f"{self.where}:{number}",
                fix="Write it as: A start end|||type|||correction|||REQUIRED|||-NONE-|||annotator",
            ) from None

    def _fault(self, number: int, message: str, fix: str) -> None:
        where = f"{self.where}:{number}"
        if not self.lenient:
            raise DataError(message, where=where, fix=fix)
        self.notices.append(f"{where}: {message}; passed over")


def _corrections(field: str) -> Sequence[str]:
    stripped = [text.strip() for text in field.split("||")]
    return ["" if text == DELETION else text for text in stripped]
