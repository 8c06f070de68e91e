"""A report as values: :mod:`grammeter.verbs._report` gathers it, ``rendering.html`` writes it."""

from dataclasses import dataclass, field
from typing import Any

from grammeter.core import EditVerdict, Table


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure: an SVG element with escaped texts, and a caption, plain text.

    The SVG has colours as CSS variables of the page (``fill="var(--ink)"``), so that it follows
    the theme, and a ``title`` for readers who do not see it; the page allows no ``style``.
    """

    svg: str
    caption: str
    figure: Any = field(default=None, compare=False, repr=False)  # matplotlib's, of which PNG


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page: tables and figures under one title."""

    anchor: str  # its name in the address: letters, digits and hyphens
    title: str
    words: tuple[str, ...] = ()  # plain text paragraphs above the tables: how to read them
    tables: tuple[Table, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    captions: tuple[str, ...] = ()  # of the tables; without them, each has the section's title


@dataclass(frozen=True, slots=True)
class DrawnEdit:
    """An edit as the sentence browser draws it."""

    start: int  # tokens of the source that it replaces
    end: int
    correction: str  # replacement; empty for a deletion
    type: str  # its error type, empty if unknown
    verdict: EditVerdict | None  # `None` if unknown
    remark: str = ""  # who else makes or accepts it


@dataclass(frozen=True, slots=True)
class Output:
    """A distinct output, its edits and the missed ones of the reference that the metric chose."""

    text: str
    systems: tuple[int, ...]  # places in the browser's list of those that wrote this text
    edits: tuple[DrawnEdit, ...]
    values: tuple[float, ...]  # sentence score by each metric of the browser; NaN: none
    references: tuple[str | None, ...] = ()  # of its own, where outputs do not share them


@dataclass(frozen=True, slots=True)
class PageSentence:
    """A source sentence with its references and distinct outputs, the most frequent first."""

    source: str
    references: tuple[str | None, ...]
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Browser:
    """All sentences, to filter, sort and compare."""

    systems: tuple[str, ...]
    metrics: tuple[tuple[str, bool], ...]  # spelling, and whether higher is better
    sentences: tuple[PageSentence, ...]
    judged_by: str | None  # metric whose verdicts the edits have; `None` without verdicts


@dataclass(frozen=True, slots=True)
class Page:
    """The whole report."""

    title: str
    facts: tuple[tuple[str, str], ...]  # name and value: version, counts, files
    sections: tuple[Section, ...]
    browser: Browser | None  # `None` if the scores do not contain their sentences
    notices: tuple[str, ...] = ()  # on the files; not on the page
