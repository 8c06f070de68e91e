"""A report as values: :mod:`grammeter.verbs._report` gathers it, ``rendering.html`` writes it."""

from __future__ import annotations

from dataclasses import dataclass

from grammeter.core import EditVerdict, Table


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure: an SVG element with escaped texts, and a caption.

    Attributes
    ----------
    svg
        Colours as CSS variables of the page, so that it follows the theme: ``var(--ink)``,
        ``--muted``, ``--line``, ``--paper``, ``--surface``, ``--accent``, ``--accent-soft``,
        ``--matched``, ``--spurious``, ``--missed`` and, for lines and bars, ``--series-1`` to
        ``--series-6``. They are presentation attributes (``fill="var(--ink)"``): the page
        allows no ``style``. Has a ``title`` element for readers who do not see it.
    caption
        Plain text.
    """

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page: tables and figures under one title.

    ``anchor``: its name in the address: letters, digits and hyphens. ``words``: plain text
    paragraphs above the tables: how to read them. ``captions``: captions of the tables; without
    them, each has the section's title.
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

    ``start``, ``end``: tokens of the source that it replaces. ``correction``: replacement; empty
    for a deletion. ``type``: its error type, empty if unknown. ``verdict``: matched, spurious or
    missed; ``None`` if unknown.
    """

    start: int
    end: int
    correction: str
    type: str
    verdict: EditVerdict | None


@dataclass(frozen=True, slots=True)
class Output:
    """One distinct output of a sentence.

    ``systems``: places in the browser's list of the systems that wrote this text. ``edits``: edits
    of the output and missed edits of the reference that the metric chose, in the order of the
    sentence. ``values``: sentence score by each metric of the browser; NaN if there is none.
    """

    text: str
    systems: tuple[int, ...]
    edits: tuple[DrawnEdit, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PageSentence:
    """A source sentence with its references and distinct outputs, the most frequent first."""

    source: str
    references: tuple[str | None, ...]
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Browser:
    """All sentences, to filter, sort and compare.

    ``metrics``: spelling, and whether higher is better. ``judged_by``: metric whose verdicts the
    edits have; ``None`` without verdicts.
    """

    systems: tuple[str, ...]
    metrics: tuple[tuple[str, bool], ...]
    sentences: tuple[PageSentence, ...]
    judged_by: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """The whole report.

    ``facts``: name and value: version, numbers of systems and sentences, files. ``browser``:
    ``None`` if the scores do not contain their sentences. ``notices``: what a reader should know
    about the files; not on the page.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    browser: Browser | None
    notices: tuple[str, ...] = ()
