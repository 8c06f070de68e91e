"""Edits: spans of source tokens, what replaces them, and what a metric says of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

NOOP = "noop"
"""Type of the line by which an annotator says "nothing to correct"; written exactly so."""

UNANNOTATABLE = "NA"
"""Type of the line by which an annotator says that the sentence cannot be annotated."""

DETECTION_ONLY = frozenset({"Um", "UNK"})
"""Types of edits that mark an error without a trustworthy correction."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the source tokens ``start:end`` by ``correction``.

    Offsets count tokens from 0, half-open; ``start == end`` inserts before token ``start``.
    ``correction`` is text, its tokens joined by one space; empty deletes. ``alternatives``
    are further corrections that count as right, ``required`` and ``comment`` are the M2
    columns of these names, kept so that a file can be written as it was read.
    """

    start: int
    end: int
    correction: str
    type: str = ""
    alternatives: tuple[str, ...] = ()
    required: str = "REQUIRED"
    comment: str = "-NONE-"

    @property
    def corrections(self) -> tuple[str, ...]:
        """All corrections that count as right, the first one first."""
        return (self.correction, *self.alternatives)

    @property
    def is_noop(self) -> bool:
        """Whether this says "nothing to correct" instead of changing something."""
        return self.type == NOOP


GoldEdits = Mapping[int, tuple[Edit, ...]]
"""The edits of one sentence by annotator number, ascending; ``()``: checked, nothing to correct."""


def apply(tokens: Sequence[str], edits: Iterable[Edit]) -> list[str]:
    """Apply edits, in any order; insertions at one place keep theirs, no-ops change nothing.

    ValueError if an edit reaches outside the sentence or two edits overlap.
    """
    result: list[str] = []
    done = 0
    for edit in sorted((e for e in edits if not e.is_noop), key=lambda e: (e.start, e.end)):
        inside = 0 <= edit.start <= edit.end <= len(tokens)
        if not inside or edit.start < done:
            kind = "overlaps another edit" if inside else "lies outside the sentence"
            raise ValueError(f"edit {edit.start} {edit.end} {edit.correction!r} {kind}")
        result += tokens[done : edit.start]
        result += edit.correction.split()
        done = edit.end
    return result + list(tokens[done:])


def without_overlaps(edits: Iterable[Edit]) -> tuple[list[Edit], list[Edit]]:
    """Split edits, sorted by span, into those that can be applied together and the rest.

    An edit is left out if it starts before the end of the last one kept.
    """
    kept: list[Edit] = []
    left_out: list[Edit] = []
    for edit in sorted((e for e in edits if not e.is_noop), key=lambda e: (e.start, e.end)):
        (left_out if kept and edit.start < kept[-1].end else kept).append(edit)
    return kept, left_out


def minimise(edit: Edit, source: Sequence[str]) -> Edit:
    """Drop equal tokens at both ends of an edit; its alternatives are dropped with them.

    ``source`` are the tokens of the whole sentence. An edit that changes nothing becomes an
    empty insertion at its start.
    """
    old = list(source[edit.start : edit.end])
    new = edit.correction.split()
    start, end = edit.start, edit.end
    if old == new:
        old, new, end = [], [], start
    while old and new and old[0] == new[0]:
        old, new, start = old[1:], new[1:], start + 1
    while old and new and old[-1] == new[-1]:
        old, new, end = old[:-1], new[:-1], end - 1
    return replace(edit, start=start, end=end, correction=" ".join(new), alternatives=())


EditVerdict = Literal["matched", "spurious", "missed"]
"""An edit the references agree with; one they do not; one that the system did not make."""


@dataclass(frozen=True, slots=True)
class JudgedEdit:
    """An edit, the source tokens it replaces, what the metric says of it, and what it weighs."""

    edit: Edit
    original: str
    verdict: EditVerdict
    weight: float | None = None


def interleaved(source: Sequence[str], edits: Iterable[JudgedEdit]) -> Iterator[str | JudgedEdit]:
    """Yield the words of a sentence with edits in the places of those that they replace.

    No edit and no word is left out: of two edits that overlap, the second follows the first.
    """
    done = 0
    for judged in sorted(edits, key=lambda j: (j.edit.start, j.edit.end, j.verdict == "missed")):
        yield from source[done : judged.edit.start]
        yield judged
        done = max(done, judged.edit.end)
    yield from source[done:]
