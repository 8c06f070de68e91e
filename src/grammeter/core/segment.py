"""What a metric sees: a sentence, a hypothesis, what it is held against, and what is around it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grammeter.core.edit import Edit, GoldEdits
from grammeter.core.statistics import Statistics


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The corpus that one output of one system was scored with.

    ``segments`` and ``statistics`` are those of all its outputs, in the order of the lines; the
    latter ``None`` where they were not counted. ``line`` is the output's position, from 0,
    ``company`` what the other systems wrote for it; ``constants`` is what
    :meth:`grammeter.Metric.constants` gave when the corpus was scored.
    """

    segments: Sequence[Segment]
    line: int
    company: Sequence[str] = ()
    statistics: Statistics | None = None
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])
