"""A report as values: what stands on the page, before anybody draws it.

:mod:`grammeter.verbs._report` gathers it; :mod:`grammeter.rendering.html` writes the page.
"""

from __future__ import annotations

from dataclasses import dataclass

from grammeter.core import EditVerdict
from grammeter.rendering.tables import Table


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure: an SVG element of ours (all texts in it escaped), and what it says in words.

    Attributes
    ----------
    svg
        Colours as CSS variables of the page, so that it follows the theme: ``var(--ink)``,
        ``--muted``, ``--line``, ``--paper``, ``--surface``, ``--accent``, ``--accent-soft``,
        ``--matched``, ``--spurious``, ``--missed`` and, for lines and bars, ``--series-1`` to
        ``--series-6``. They stand in presentation attributes (``fill="var(--ink)"``): the page
        allows no ``style``. A ``title`` element for readers who do not see it.
    caption
        Plain text.
    """

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter of the page: tables and figures under one head.

    Attributes
    ----------
    anchor
        Its place in the address: letters, digits and hyphens.
    words
        Plain text paragraphs above the tables: how to read them.
    captions
        What each table is, one for each or none at all; without them, it has the section's title.
    """

    anchor: str
    title: str
    words: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    captions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DrawnEdit:
    """An edit as the sentence browser draws it.

    Attributes
    ----------
    start, end
        The tokens of the source that it replaces.
    correction
        What it puts there; empty for a deletion.
    type
        Its error type, empty if unknown.
    verdict
        Matched, spurious or missed; ``None`` where nothing says which.
    """

    start: int
    end: int
    correction: str
    type: str
    verdict: EditVerdict | None


@dataclass(frozen=True, slots=True)
class Output:
    """One distinct output of a sentence.

    Attributes
    ----------
    systems
        Places in the browser's list of systems: all that wrote this text.
    edits
        Those of the output and those that it misses, in the order of the sentence; the missed
        ones of the reference that the metric chose.
    values
        The sentence score by each metric of the browser, NaN where there is none.
    """

    text: str
    systems: tuple[int, ...]
    edits: tuple[DrawnEdit, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PageSentence:
    """One source sentence with its references and distinct outputs, the commonest first."""

    source: str
    references: tuple[str | None, ...]
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Browser:
    """All sentences, to be filtered, sorted and read side by side.

    Attributes
    ----------
    metrics
        Spelling, and whether more is better.
    judged_by
        The metric whose verdicts the edits have; ``None`` if they have none.
    """

    systems: tuple[str, ...]
    metrics: tuple[tuple[str, bool], ...]
    sentences: tuple[PageSentence, ...]
    judged_by: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """The whole report.

    Attributes
    ----------
    facts
        Name and value: version, numbers of systems and sentences, files.
    browser
        ``None`` where the scores do not hold their sentences.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    browser: Browser | None
