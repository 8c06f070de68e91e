"""Edits with what a metric says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from grammeter.core.edit import Edit

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
