"""Essays and documents: read by their headings or from a folder, scored whole or by sentence.

``### essay_id = ID`` on a line begins an essay of the MultiGEC form; what stands before the first
is no essay. In a folder, ``ID.txt``, ``001_ID.txt`` and ``ID-System.txt`` are the document ``ID``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from grammeter import alignment, core
from grammeter.formats import m2, recut
from grammeter.formats.corpus import Corpus
from grammeter.formats.text import split_lines, system_name

Level = Literal["sentence", "text"]
"""What is scored as one line: a sentence, or an essay or document."""
MissingEssay = Literal["error", "bang", "source", "empty"]
"""The text of an essay that an output lacks: none, ``!``, the source's, an empty one."""
MissingReference = Literal["fewer", "copy-first"]
"""An essay that a reference lacks has fewer references, or the first one twice."""

_HEADING = "### essay_id = "
_MOST = 10  # ids that are listed
_STAND_INS = {"bang": "!", "source": "the source", "empty": "an empty text"}


@dataclass(frozen=True)
class Essays:
    """The texts of a file or folder by id, where each of them begins, and where all are."""

    texts: Mapping[str, str]
    places: Mapping[str, str]
    where: str
    by_line: bool = False  # a text with as many lines as its document has sentences has these


def is_essays(text: str) -> bool:
    """Whether a file's text begins with the heading of an essay."""
    return re.match(rf"\s*{_HEADING}", text) is not None


def parse_essays(text: str, where: str) -> Essays:
    """Read essays; :class:`DataError`, with file and line, if an id is empty or comes twice."""
    before, *parts = text.split(_HEADING)
    line = 1 + before.count("\n")
    rows: list[tuple[str, str, str]] = []
    for part in parts:
        name, _, body = part.partition("\n")
        rows.append((name.strip(), body, f"{where}:{line}"))
        line += part.count("\n")
    return _essays(rows, where)


def read_folder(folder: Path, read: Callable[[Path], str], ids: Iterable[str]) -> Essays:
    """Read a folder of one file a document; :class:`DataError` names a file of no document."""
    names, known = sorted(folder.iterdir()), set(ids)
    files = [path for path in names if path.is_file() and path.name[0] != "."]
    rows = [(_document(path, known), read(path), str(path)) for path in files]
    return _essays(rows, str(folder), by_line=True)


def _essays(rows: Iterable[tuple[str, str, str]], where: str, *, by_line: bool = False) -> Essays:
    texts: dict[str, str] = {}
    places: dict[str, str] = {}
    for name, text, place in rows:
        if not name or name in texts:
            fault = f"{name!r} comes twice, first in {places[name]}" if name else "there is no id"
            raise core.DataError(fault, where=place, fix="Give each essay an id of its own.")
        texts[name], places[name] = text, place
    return Essays(texts, places, where, by_line)


def _document(path: Path, known: set[str]) -> str:
    stem = system_name(path)
    for name in (stem, re.sub(r"^\d+_", "", stem)):
        parts = name.split("-")
        for end in range(len(parts), 0, -1):
            if (start := "-".join(parts[:end])) in known:
                return start
    fix = "A file is named ID.txt, 001_ID.txt or ID-System.txt after its document."
    raise core.DataError("this file is of no document of the source", where=str(path), fix=fix)


def layout(
    level: Level | None, ids: Sequence[str], special: Sequence[str], *, whole: bool
) -> Layout | None:
    """Return how texts of essays or documents are laid out; ``None`` where there are only lines.

    ``ids`` are those of the source's essays (``whole``), or the document of each sentence;
    ``special`` the files of essays and the folders.
    """
    documents = "Say which sentences make a document (--documents FILE:COLUMN), or give"
    if whole and level == "sentence":
        fix = "Give the source's sentences (-s, or a gold M2 file) and --documents FILE:COLUMN."
        raise core.UsageError("--level sentence, and the source has whole essays", fix=fix)
    if not ids and (special or level == "text"):
        fault = f"{special[0]}: essays or documents" if special else "--level text"
        fault = f"{fault}, and the source has sentences of unknown documents"
        raise core.UsageError(fault, fix=f"{documents} an essay file as source (-s).")
    level = level or ("text" if whole else "sentence")
    return Layout(ids, level) if level == "text" or (ids and special) else None


@dataclass
class Layout:
    """Where the essays or documents of a corpus stand among its lines; ``ids``: of each line."""

    ids: Sequence[str]
    level: Level
    missing_essay: MissingEssay = "error"
    missing_reference: MissingReference = "fewer"
    copied: bool = False  # of the first reference, where another had none
    missing: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    laid: dict[str, list[list[int]]] = field(default_factory=dict[str, list[list[int]]])

    def __post_init__(self) -> None:
        self.lines: dict[str, list[int]] = {}
        for line, name in enumerate(self.ids):
            self.lines.setdefault(name, []).append(line)

    def output(self, system: str, essays: Essays) -> list[str]:
        """Return a system's lines; a document's text is at its first one, until it is laid back."""
        column = self._column(essays, self.laid.setdefault(system, []))
        missing = [name for name, at in self.lines.items() if column[at[0]] is None]
        self.missing[system] = missing
        if missing and self.missing_essay == "error":
            more = ", ..." if len(missing) > _MOST else ""
            fault = f"{len(missing)} of {len(self.lines)} essays are missing or empty:"
            fix = "Complete the output, or say what stands in: --missing-essay bang|source|empty."
            names = f" {', '.join(missing[:_MOST])}{more}"
            raise core.DataError(fault + names, where=essays.where, fix=fix)
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
        strangers = [name for name in essays.texts if name not in self.lines]
        if strangers:
            fault = f"the source has no essay {strangers[0]!r}"
            fix = "Ids of outputs and references are those of the source (or of --documents)."
            raise core.DataError(fault, where=essays.places[strangers[0]], fix=fix)
        column: list[str | None] = [""] * len(self.ids)
        for name, at in self.lines.items():
            text = essays.texts.get(name, "")
            rows = split_lines(text)
            if not text.strip():
                column[at[0]] = None
            elif essays.by_line and len(rows) == len(at) > 1:
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
            column = list(systems[system])
            for at in documents if self.level == "sentence" else ():
                parts = alignment.laid_back(column[at[0]].split(), [sources[line] for line in at])
                for line, part in zip(at, parts, strict=True):
                    column[line] = " ".join(part)
            if self.missing_essay == "source":
                for line in (line for name in self.missing[system] for line in self.lines[name]):
                    column[line] = corpus.sources[line]
            systems[system] = column
            if self.level == "sentence":
                lines = [line for at in documents for line in at]
                pairs = [(column[line].split(), sources[line]) for line in lines]
                placed[system] = {"documents": len(documents), **_counted(pairs)}
        missing = {system: names for system, names in self.missing.items() if names}
        texts = {"essays": len(self.lines), "missing": missing}
        stands_in = self.missing_essay != "error" and bool(self.laid)
        settings: dict[str, object] = {"level": "text"} if self.level == "text" else {}
        settings |= corpus.settings
        settings |= {"missing-essay": self.missing_essay} if stands_in else {}
        settings |= {"sentences": "laid-back"} if placed else {}
        settings |= {"missing-reference": "copy-first"} if self.copied else {}
        corpus = replace(
            corpus,
            systems=systems,
            documents=self.ids,
            settings=settings,
            report={**corpus.report, "texts": texts | ({"placed": placed} if placed else {})},
            notes=(*corpus.notes, *self._notes(missing, placed)),
        )
        return joined(corpus, self.lines) if self.level == "text" else corpus

    def _notes(
        self, missing: Mapping[str, Sequence[str]], placed: Mapping[str, Mapping[str, int]]
    ) -> Iterator[str]:
        for system, names in missing.items():
            taken = _STAND_INS[self.missing_essay]
            count = f"{len(names)} of {len(self.lines)} essays"
            yield f"{system}: {count} are missing: {taken} stands in"
        for system, of in placed.items():
            yield (
                f"{system}: texts of {of['documents']} documents are laid back on {of['sentences']}"
                f" source sentences: {of['empty']} got an empty text, {of['short']} less than half"
                f" and {of['long']} more than twice the source's tokens"
            )


def _counted(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> dict[str, int]:
    shares = [len(text) / max(len(source), 1) for text, source in pairs]
    short, long = sum(0 < share < 0.5 for share in shares), sum(share > 2 for share in shares)
    empty = sum(not text for text, _ in pairs)
    return {"sentences": len(pairs), "empty": empty, "short": short, "long": long}


def joined(corpus: Corpus, lines: Mapping[str, Sequence[int]]) -> Corpus:
    """Join the sentences of each document, which are scored as one then; gold edits move along.

    A document cannot be judged if one of its sentences cannot.
    """
    joiner = recut.Joiner()
    gold = corpus.gold or [{0: ()}] * len(corpus)
    blocks = [m2.M2Block.of(s, g) for s, g in zip(corpus.sources, gold, strict=True)]
    whole = [joiner.joined([blocks[line] for line in at]) for at in lines.values()]
    rows = zip(*corpus.references, strict=True) if corpus.references else [()] * len(corpus)
    first = [next((text for text in row if text is not None), None) for row in rows]

    def text(column: Sequence[str | None], at: Sequence[int]) -> str | None:
        parts = [first[i] if column[i] is None else column[i] for i in at]
        none = None in parts or all(column[i] is None for i in at)
        return None if none else " ".join(t for part in parts for t in (part or "").split())

    def texts(column: Sequence[str | None]) -> list[Any]:
        return [text(column, at) for at in lines.values()]

    for name, labels in corpus.groups.items():
        mixed = next((key for key, at in lines.items() if len({labels[i] for i in at}) > 1), None)
        if mixed is not None:
            fault = f"sentences of the document {mixed!r} have several values of {name}"
            where, fix = (
                corpus.origins.get(f"groups[{name}]"),
                "Score by sentence: --level sentence.",
            )
            raise core.DataError(fault, where=where, fix=fix)
    note = (
        f"{joiner.stood_in} times an annotator who is not listed for a sentence of a document has"
        " the edits of the first who is"
    )
    return replace(
        corpus,
        sources=[block.source for block in whole],
        references=[*map(texts, corpus.references)],
        systems={name: texts(column) for name, column in corpus.systems.items()},
        gold=[
            block.gold if all(gold[i] for i in at) else {}
            for block, at in zip(whole, lines.values(), strict=True)
        ]
        if corpus.gold
        else (),
        documents=list(lines),
        groups={n: [labels[at[0]] for at in lines.values()] for n, labels in corpus.groups.items()},
        notes=(*corpus.notes, *([note] if joiner.stood_in else [])),
    )
