"""Essays and documents: read by their headings or from a folder, scored whole or by sentence.

``### essay_id = ID`` on a line begins an essay of the MultiGEC form; what stands before the first
is no essay. In a folder, ``ID.txt``, ``001_ID.txt`` and ``ID-System.txt`` are the document ``ID``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, get_args

from grammeter import alignment, core
from grammeter.formats import m2, recut
from grammeter.formats.corpus import NO_LABEL, Corpus
from grammeter.formats.labels import DRAWN
from grammeter.formats.text import split_lines, system_name

Level = Literal["sentence", "text", "document"]
"""What is scored as one line: a sentence, or an essay or document.

``document``: sentences are; each document has a score, and the score of a corpus is their mean.
"""
MissingEssay = Literal["error", "bang", "source", "empty"]
"""The text of an essay that an output lacks: none, ``!``, the source's, an empty one."""
MissingReference = Literal["fewer", "copy-first"]
"""An essay that a reference lacks has fewer references, or the first one twice."""
Missing = tuple[MissingEssay, MissingReference]
_HEADING = "### essay_id = "
_MOST = 10  # ids that are listed
_STAND_INS = {"bang": "!", "source": "the source", "empty": "an empty text"}


@dataclass(frozen=True)
class Essays:
    """The texts of a file or folder by id, each with its place; ``by_line``: may be sentences."""

    texts: Mapping[str, tuple[str, str]]
    where: str
    by_line: bool = False

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str, str]], where: str, by_line: bool = False) -> Essays:
        """Take ids, texts and places; raise :class:`DataError` for an empty id, or one twice."""
        texts: dict[str, tuple[str, str]] = {}
        for name, text, place in rows:
            if not name or name in texts:
                fault = f"{name!r} comes twice, first in {texts[name][1]}" if name else "no id"
                raise core.DataError(fault, where=place, fix="Give each essay an id of its own.")
            texts[name] = text, place
        return cls(texts, where, by_line)


def is_essays(text: str) -> bool:
    """Whether a line of a file begins with the heading of an essay."""
    return re.search(rf"^{_HEADING}", text, re.MULTILINE) is not None


def preface_notes(text: str, where: str) -> list[str]:
    """Return a note on what stands before the first essay, if there is anything."""
    before = " ".join(text.partition(_HEADING)[0].split())
    said = f"{where}: what stands before the first essay is left out: {before[:60]!r}"
    return [said] if before else []


def parse_essays(text: str, where: str) -> Essays:
    """Read essays; :class:`DataError`, with file and line, if an id is empty or comes twice."""
    before, *parts = text.split(_HEADING)
    lines = accumulate((part.count("\n") for part in parts), initial=1 + before.count("\n"))
    cut = [part.partition("\n") for part in parts]
    rows = [(name.strip(), body, f"{where}:{n}") for (name, _, body), n in zip(cut, lines)]  # noqa: B905 - the last is the end
    return Essays.of(rows, where)


def read_folder(folder: Path, read: Callable[[Path], str], ids: Container[str]) -> Essays:
    """Read a folder of one file a document; :class:`DataError` names a file of no document."""
    files = [p for p in sorted(folder.iterdir()) if p.is_file() and p.name[0] != "."]
    return Essays.of(((_document(p, ids), read(p), str(p)) for p in files), str(folder), True)


def _document(path: Path, ids: Container[str]) -> str:
    stem = system_name(path)
    for name in (stem, re.sub(r"^\d+_", "", stem)):
        starts = [*accumulate(name.split("-"), "{}-{}".format)]
        if start := next((start for start in reversed(starts) if start in ids), None):
            return start
    fix = "A file is named ID.txt, 001_ID.txt or ID-System.txt after its document."
    raise core.DataError("this file is of no document of the source", where=str(path), fix=fix)


def layout(
    level: Level | None, ids: Sequence[str], special: Sequence[str], whole: bool, missing: Missing
) -> Layout | None:
    """Return how texts of essays or documents are laid out; ``None`` where there are only lines.

    ``ids`` are those of the source's essays (``whole``), or the document of each sentence;
    ``special`` the files of essays and the folders.
    """
    core.UnknownNameError.check("level", level or "text", get_args(Level))
    core.UnknownNameError.check("missing_essay", missing[0], get_args(MissingEssay))
    core.UnknownNameError.check("missing_reference", missing[1], get_args(MissingReference))
    if whole and level not in (None, "text"):
        fix = "Give the source's sentences (-s, or a gold M2 file) and --documents FILE:COLUMN."
        raise core.UsageError(f"--level {level}, and the source has whole essays", fix=fix)
    if not ids and (special or level not in (None, "sentence")):
        fault = f"{special[0]}: essays or documents" if special else f"--level {level}"
        fix = "Say which sentences make a document: --documents FILE:COLUMN; or give essays (-s)."
        raise core.UsageError(f"{fault}, and the source has sentences of none", fix=fix)
    lines: Level = "text" if level == "text" or (whole and not level) else "sentence"
    if NO_LABEL in ids and (special or lines == "text"):
        fault = f"{list(ids).count(NO_LABEL)} sentences have no document, the first is"
        fix = "Each sentence needs the document that it stands in: --documents FILE:COLUMN."
        raise core.DataError(f"{fault} sentence {list(ids).index(NO_LABEL) + 1}", fix=fix)
    return Layout(ids, lines, *missing) if lines == "text" or (ids and special) else None


@dataclass
class Layout:
    """Where the essays or documents of a corpus stand among its lines; ``ids``: of each line."""

    ids: Sequence[str]
    level: Level
    missing_essay: MissingEssay
    missing_reference: MissingReference
    copied: bool = False  # of the first reference, where another had none
    missing: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    laid: dict[str, list[list[int]]] = field(default_factory=dict[str, list[list[int]]])

    def __post_init__(self) -> None:
        self.lines = core.grouped((name, line) for line, name in enumerate(self.ids))

    def output(self, system: str, essays: Essays) -> list[str]:
        """Return a system's lines; a document's text is at its first one, until it is laid back."""
        column = self._column(essays, self.laid.setdefault(system, []))
        missing = [name for name, at in self.lines.items() if column[at[0]] is None]
        self.missing[system] = missing
        if missing and self.missing_essay == "error":
            some = f"{len(missing)} of {len(self.lines)} essays are missing or empty"
            fault = f"{some}: {core.listed(missing, _MOST)}"
            fix = "Complete the output, or say what stands in: --missing-essay bang|source|empty."
            raise core.DataError(fault, where=essays.where, fix=fix)
        blank = _STAND_INS["bang"] if self.missing_essay == "bang" else ""
        return [blank if text is None else text for text in column]

    def reference(self, essays: Essays, first: Sequence[str | None] | None) -> list[str | None]:
        """Return a reference's lines; ``first`` is the first reference, if this is another."""
        if self.level == "sentence":
            fix = "Give sentences or M2 (-r), or score by document: --level text."
            raise core.UsageError(f"{essays.where}: a reference of essays, not sentences", fix=fix)
        column = self._column(essays, [])
        if first is None or self.missing_reference == "fewer":
            return column
        self.copied |= None in column
        return [old if text is None else text for text, old in zip(column, first, strict=True)]

    def _column(self, essays: Essays, laid: list[list[int]]) -> list[str | None]:
        for name, (_, place) in essays.texts.items():
            if name not in self.lines:
                fix = "Ids of outputs and references are those of the source (or of --documents)."
                raise core.DataError(f"the source has no essay {name!r}", where=place, fix=fix)
        column: list[str | None] = [""] * len(self.ids)
        for name, at in self.lines.items():
            text, _ = essays.texts.get(name, ("", ""))
            both = split_lines(text), split_lines(text.strip())  # the latter without blank ends
            rows = next((rows for rows in both if len(rows) == len(at)), None)
            if not text.strip():
                column[at[0]] = None
            elif essays.by_line and rows:
                for line, row in zip(at, rows, strict=True):
                    column[line] = row
            else:
                column[at[0]] = " ".join(text.split())
                laid.append(at)
        return column

    def finished(self, corpus: Corpus) -> Corpus:
        """Lay the outputs' texts, which have their tokens now, on the sentences; say what is so."""
        sources, systems = [source.split() for source in corpus.sources], dict(corpus.systems)
        placed: dict[str, dict[str, int]] = {}
        for system, documents in self.laid.items():
            column = systems[system] = list(systems[system])
            if self.level == "sentence":
                for at in documents:
                    of = [sources[line] for line in at]
                    parts = alignment.laid_back(column[at[0]].split(), of)
                    for line, part in zip(at, parts, strict=True):
                        column[line] = " ".join(part)
                pairs = [(column[line].split(), sources[line]) for at in documents for line in at]
                if documents:
                    placed[system] = {"documents": len(documents), **_counted(pairs)}
            for name in self.missing[system] if self.missing_essay == "source" else ():
                for line in self.lines[name]:
                    column[line] = corpus.sources[line]
        missing = {system: names for system, names in self.missing.items() if names}
        stands_in = self.missing_essay != "error" and self.laid
        texts = {"essays": len(self.lines), "missing": missing}
        settings: dict[str, object] = {"level": "text"} if self.level == "text" else {}
        settings |= corpus.settings
        settings |= {"missing-essay": self.missing_essay} if stands_in else {}
        settings |= {"sentences": "laid-back"} if placed else {}
        settings |= {"missing-reference": self.missing_reference} if self.copied else {}
        report = {**corpus.report, "texts": texts | ({"placed": placed} if placed else {})}
        notes = (*corpus.notes, *self._notes(missing, placed))
        parts: Any = {"systems": systems, "documents": self.ids, "settings": settings}
        corpus = replace(corpus, **parts, report=report, notes=notes)
        return joined(corpus, self.lines) if self.level == "text" else corpus

    def _notes(
        self, missing: Mapping[str, Sequence[str]], placed: Mapping[str, Mapping[str, int]]
    ) -> Iterator[str]:
        for system, names in missing.items():
            count, taken = f"{len(names)} of {len(self.lines)}", _STAND_INS[self.missing_essay]
            yield f"{system}: {count} essays are missing: {taken} stands in"
        for system, of in placed.items():
            text = f"texts of {of['documents']} documents are laid back on {of['sentences']} source"
            more = f"{of['empty']} got an empty text, {of['short']} less than half and"
            more += f" {of['long']} more than twice the source's tokens"
            yield f"{system}: {text} sentences: {more}"


def _counted(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> dict[str, int]:
    shares = [len(text) / max(len(source), 1) for text, source in pairs]
    short, long = sum(0 < share < 0.5 for share in shares), sum(share > 2 for share in shares)
    empty = sum(not text for text, _ in pairs)
    return {"sentences": len(pairs), "empty": empty, "short": short, "long": long}


def joined(corpus: Corpus, lines: Mapping[str, Sequence[int]]) -> Corpus:
    """Join the sentences of each document, which are scored as one then; gold edits move along.

    A document cannot be judged if one of its sentences cannot.
    """
    if corpus.own:
        whole = joined(replace(corpus, own={}), lines)
        notes = [n for part in corpus.parts for n in joined(part, lines).notes]
        own = corpus.changed_own(lambda part: joined(part, lines))
        return replace(whole, own=own, notes=tuple(dict.fromkeys([*whole.notes, *notes])))
    counts, rows = Counter[str](), lines.values()
    gold = corpus.gold or [{0: ()}] * len(corpus)
    blocks = [m2.M2Block.of(s, g) for s, g in zip(corpus.sources, gold, strict=True)]
    whole = [recut.joined([blocks[line] for line in at], counts) for at in rows]
    references = list(zip(*corpus.references, strict=True))
    first = [next((text for text in row if text is not None), None) for row in references]

    def text(column: Sequence[str | None], at: Sequence[int]) -> str | None:
        parts = [first[i] if column[i] is None else column[i] for i in at]
        lacking = sum(column[i] is None for i in at)
        if None in parts or lacking == len(at):
            return None
        counts["stood_in"] += lacking
        return " ".join(" ".join(filter(None, parts)).split())

    def texts(column: Sequence[str | None]) -> list[Any]:
        return [text(column, at) for at in rows]

    for name, labels in corpus.groups.items():
        mixed = next((key for key, at in lines.items() if len({labels[i] for i in at}) > 1), None)
        if mixed is not None:
            fault = f"sentences of the document {mixed!r} have several values of {name}"
            where, fix = corpus.origins.get(f"groups[{name}]"), "Take --level sentence."
            raise core.DataError(fault, where=where, fix=fix)
    changed: dict[str, Any] = {
        "sources": [block.source for block in whole],
        "references": [*map(texts, corpus.references)],
        "systems": {name: texts(column) for name, column in corpus.systems.items()},
        "gold": [block.gold for block in whole if corpus.gold],
        "documents": list(lines),
        "groups": {n: [labels[at[0]] for at in rows] for n, labels in corpus.groups.items()},
    }
    notes = [note for note in corpus.notes if not note.endswith(DRAWN)]
    cut = f"{len(corpus)} sentences are joined to {len(lines)} documents"
    notes += [cut] if len(lines) < len(corpus) else []
    notes += [recut.NOTES[what].format(count) for what, count in counts.items() if count]
    return replace(corpus, **changed, notes=tuple(notes))
