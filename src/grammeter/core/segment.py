"""What one metric call sees: a source sentence, a hypothesis and what it is held against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from grammeter.core.edit import Edit, GoldEdits


@dataclass(frozen=True, slots=True)
class Segment:
    """One output of one system for one source sentence.

    ``references`` holds one text per reference, ``None`` where this sentence lacks it;
    ``gold`` the edits by annotator. Either may be empty. Segments of one source line share
    the very same ``references`` and ``gold`` objects, so that a metric can do the work on
    them once. ``previous`` and ``following`` are the source sentences before and after, empty
    where there is none; judges read them.
    """

    source: str
    hypothesis: str
    references: tuple[str | None, ...] = ()
    gold: GoldEdits = field(default_factory=dict[int, tuple[Edit, ...]])
    previous: str = ""
    following: str = ""

    @property
    def texts(self) -> list[str]:
        """The references that this sentence has."""
        return [text for text in self.references if text is not None]


def reference_texts(segments: Iterable[Segment]) -> tuple[str, ...]:
    """Return the reference texts of the source lines that the segments belong to, sorted.

    Segments of one line share their references, which are taken once for it; a text that
    several lines or references have is there as often.
    """
    lines = {id(each.references): each.texts for each in segments}
    return tuple(sorted(text for texts in lines.values() for text in texts))
