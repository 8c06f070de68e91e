"""The edits of a correction, by words alone, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from grammeter.core import Edit

Part = Literal["same", "insert", "delete", "replace"]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words of a sentence, changed or not.

    Attributes
    ----------
    old, new
        The words in the source and in the correction; one of them is empty for an insertion
        and for a deletion.
    number
        Number of a change in the sentence, from 1; else 0.
    """

    kind: Part
    old: str
    new: str
    number: int = 0


@lru_cache(maxsize=20_000)
def edits_of(source: str, output: str) -> tuple[Edit, ...]:
    """Return the edits of an output; adjacent changes are one edit.

    The same texts always give the same edits: verdicts are stored by the place of the edit.
    """
    old, new = source.split(), output.split()
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        Edit(start, end, " ".join(new[new_start:new_end]))
        for kind, start, end, new_start, new_end in blocks
        if kind != "equal"
    )


def pieces(source: str, edits: Sequence[Edit]) -> list[Piece]:
    """Split a source at its edits, which must not overlap, in their order."""
    words = source.split()
    parts: list[Piece] = []
    done = 0
    for number, edit in enumerate(edits, start=1):
        parts += [*_same(words[done : edit.start]), _changed(words, edit, number)]
        done = edit.end
    return parts + _same(words[done:])


def in_context(words: Sequence[str], edit: Edit) -> list[Piece]:
    """Return an edit with the word before and the word after it."""
    before, after = words[max(0, edit.start - 1) : edit.start], words[edit.end : edit.end + 1]
    return [*_same(before), _changed(words, edit, 0), *_same(after)]


def _changed(words: Sequence[str], edit: Edit, number: int) -> Piece:
    old = " ".join(words[edit.start : edit.end])
    kind: Part = "insert" if not old else "replace" if edit.correction else "delete"
    return Piece(kind, old, edit.correction, number)


def _same(words: Sequence[str]) -> list[Piece]:
    text = " ".join(words)
    return [Piece("same", text, text)] if text else []
