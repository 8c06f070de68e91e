"""Sentences in tables (JSON lines, TSV, CSV, parquet): whole corpora, corrections, ratings.

A table of corrections, for training, may be an M2 file or two parallel texts in place of a table.
A whole corpus is in one table.

JSON lines have one object a sentence::

    {"source": "...", "references": ["...", null], "systems": {"AMU": "..."}}

Where each system has references of its own, such as post-edits, ``references`` is an object by
system, ``{"AMU": ["..."]}``, or columns are called ``AMU.reference`` or ``AMU.reference.0``.

The tables have the columns ``source``, ``reference.0``, ``reference.1`` ..., ``system.NAME``.
A reference that a sentence lacks is ``null`` in JSON lines and parquet; TSV and CSV know texts
only, so there every sentence has every reference. Names end in ``.jsonl``, ``.tsv``, ``.csv`` or
``.parquet``, with ``.gz`` after that if packed.
"""

import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import repeat, zip_longest
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from grammeter import core, errant
from grammeter.formats import m2, tables
from grammeter.formats import text as plain
from grammeter.formats.corpus import Corpus, OwnReferences

_COLUMN = re.compile(
    r"source|system\.(?P<system>.+)|reference\.(?P<n>0|[1-9]\d*)"
    r"|(?P<own>.+)\.reference(?:\.(?:0|[1-9]\d*))?",
    re.DOTALL,
)
_KEYS = ("source", "references", "systems")
_FIX_OBJECT = """\
Write "references": ["...", null], or {"SYSTEM": ["..."]} if each has its own; "systems": {"NAME": \
"..."}."""
_FIX_COLUMNS = "Columns are source, reference.0, reference.1, ..., NAME.reference and system.NAME."


def read_records(path: str | Path) -> Corpus:
    """Read a table of sentences, plain or gzip, in the format of its name.

    Raises :class:`DataError` with file and line: columns that are unknown, missing, doubled or not
    texts, rows of unequal length, no row at all; :class:`UsageError`, :class:`MissingResourceError`
    if the name does not tell the format; for parquet, if ``pyarrow`` is not installed.
    """
    return _corpus(tables.read_columns(path, keys=_KEYS))


class Frame(Protocol):
    """A table of columns by name: of pandas or polars."""

    @property
    def columns(self) -> Any: ...  # noqa: D102


class Dataset(Protocol):
    """A table of columns by name: of ``datasets`` or pyarrow."""

    @property
    def column_names(self) -> Any: ...  # noqa: D102


def corpus_of(table: Frame | Dataset) -> Corpus:
    """Make a corpus of a table with the columns that :func:`read_records` knows.

    A reference that is ``None`` or NaN is one that the sentence lacks. Raises :class:`DataError` as
    :func:`read_records`; its lines count from 1.
    """
    columns: Any = table
    names: list[str] = getattr(table, "column_names", None) or [*columns.columns]
    cells: dict[str, list[object]] = {}
    for name in names:
        of = columns[name]
        values: list[Any] = of.to_pylist() if hasattr(of, "to_pylist") else [*of]
        cells[name] = [None if type(one) is float and isnan(one) else one for one in values]
    where = type(table).__name__
    return _corpus(tables.Columns(cells, [*range(1, len(columns) + 1)], where, where))


def _corpus(table: tables.Columns) -> Corpus:
    table = replace(table, cells=_widened(table))
    found = {name: _COLUMN.fullmatch(name) for name in table.cells}
    named = {name: of for name, of in found.items() if of}
    references = [f"reference.{n}" for n in range(sum(bool(of["n"]) for of in named.values()))]
    odd = [n for n, of in found.items() if not of or (of["n"] and n not in references)]
    faults = [f"unknown column {name!r}" for name in odd]
    faults += [f"no column {n!r}" for n in ("source", *references) if n not in table.cells]
    if faults:
        raise core.DataError(faults[0], where=table.head, fix=_FIX_COLUMNS)
    systems = {of["system"]: name for name, of in named.items() if of["system"]}
    own: dict[str, list[str]] = {}
    for name in [name for name, of in named.items() if of["own"]]:
        own.setdefault(named[name]["own"], []).append(name)
    sure = {"source", *systems.values()}
    texts = {name: tuple(table.texts(name, may_lack=name not in sure)) for name in table.cells}
    shared = tuple(texts[name] for name in references)
    columns = {of: (*shared, *(texts[name] for name in names)) for of, names in own.items()}
    unused = sorted({*own} - {*systems})
    said = f"no system has the references {core.listed(unused)}; they are not read"
    return Corpus(
        sources=texts["source"],
        references=() if own else shared,
        systems={name: texts[column] for name, column in systems.items()},
        own={name: OwnReferences(references=of) for name, of in columns.items()},
        origins=dict.fromkeys(("source", "references", "references[0]"), table.where),
        notices=(said,) if unused else (),
    )


def write_records(path: str | Path, corpus: Corpus) -> None:
    """Write texts as JSON lines, which :func:`read_records` reads: same texts, same bytes.

    Gold edits are not written, only the reference texts that were made of them. Raises
    :class:`UsageError` if the name tells another format.
    """
    if tables.sure_form(path) != "jsonl":
        fault = f"{path}: a corpus is written as JSON lines"
        raise core.UsageError(fault, fix="End the name in .jsonl, with .gz after that to pack it.")
    lines: list[str] = []
    own = {name: of.references for name, of in corpus.own.items()}
    for at, source in enumerate(corpus.sources):
        shared = [column[at] for column in corpus.references]
        references = {name: [column[at] for column in of] for name, of in own.items()} or shared
        systems = {name: column[at] for name, column in corpus.systems.items()}
        given = {"references": references, "systems": systems}
        row = {"source": source} | {name: of for name, of in given.items() if of}
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    plain.write_text(path, "".join(lines))


def _widened(table: tables.Columns) -> dict[str, list[object]]:
    """Return the cells, with a column for each text of objects and lists of JSON."""
    cells = dict(table.cells)
    for column in ("references", "systems"):
        rows: list[dict[str, Any]] = []
        for at, cell in enumerate(cells.pop(column, ())):
            with tables.placed(table.origin(at)):
                value = tables.parse_line(cell, _FIX_OBJECT) if isinstance(cell, str) else cell
                rows.append(_cells(column, value))
        cells |= tables.columned(rows, map(table.origin, range(len(rows))))
    return cells


def _cells(column: str, value: Any) -> dict[str, Any]:
    """Return the cells of texts by system, or of a list of references, or such lists by system."""
    is_object = isinstance(value, dict)
    by_system = cast("dict[str, Any]", value) if is_object else {"": value}
    if column == "systems" and is_object:
        return {f"system.{name}": text for name, text in by_system.items()}
    lists = all(isinstance(of, list) and bool(name) == is_object for name, of in by_system.items())
    if column == "systems" or not lists:
        raise core.DataError(f"{column} is no list, or object by system", fix=_FIX_OBJECT)
    return {
        f"{name}.reference.{n}".removeprefix("."): text
        for name, texts in by_system.items()
        for n, text in enumerate(texts)
    }


# --- training data -------------------------------------------------------------------------
_SOURCES = ("source", "src")
_TARGETS = ("target", "tgt", "reference", "reference.0", "correction")
_OUTPUTS = ("output", "hypothesis")
_CRITERIA = {n: (f"ave_{n[0]}", n) for n in ("grammaticality", "fluency", "meaning")}
"""Criterion -> the columns that may hold its mean score; TMU-GFM's own ``fluency`` and ``meaning``
hold single ratings, and stand behind its means."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A source sentence and its correction: the edits of one annotator, or else a text.

    ``edits`` are ``()`` where nothing is to be corrected. ``origin`` is ``file:line`` of a text or
    table; of an M2 file ``file#sentence``, or ``file#sentence.annotator`` where there are several.
    """

    source: str
    edits: tuple[core.Edit, ...] | None
    text: str | None
    origin: str

    def as_text(self) -> "Correction":
        """Return the same with a text in place of its edits, all applied, also ``Um``."""
        if self.edits is None:
            return self
        edits, _ = core.without_overlaps(self.edits)
        return replace(self, edits=None, text=" ".join(core.apply(self.source.split(), edits)))


def parallel_files(spelled: str) -> list[Path]:
    """Return the files of ``file`` or ``source.txt:reference.txt``."""
    left, colon, right = spelled.rpartition(":")
    if colon and left and right and not Path(spelled).exists():
        return [Path(left), Path(right)]
    return [Path(spelled)]


def read_parallel(
    spelled: str, *, source: str | None = None, target: str | None = None, lenient: bool = False
) -> list[Correction]:
    """Read parallel data.

    ``spelled``: an M2 file (one correction for each annotator of a sentence); two texts, line by
    line, ``source.txt:reference.txt``; or a table, told by its name, with the columns ``source``
    and ``target``. All may be packed. ``lenient``: pass over faults of an M2 file, as the original
    programs do; a warning counts them. Raises :class:`DataError` with file and line: an empty or
    damaged file, files of unequal lengths, a column that is not there.
    """
    first, *others = parallel_files(spelled)
    if others:
        sources, targets = plain.read_lines(first), plain.read_lines(others[0])
        if len(sources) != len(targets):
            raise core.LengthMismatchError(str(first), len(sources), str(others[0]), len(targets))
        origins = [f"{first}:{number}" for number in range(1, len(sources) + 1)]
    elif tables.form_of(first):
        table = tables.read_columns(first)
        sources = table.texts(source or table.first_of(_SOURCES) or _SOURCES[0])
        targets = table.texts(target or table.first_of(_TARGETS) or _TARGETS[0])
        origins = [table.origin(row) for row in range(len(sources))]
    else:
        return _read_edits(first, spelled, lenient)
    rows = zip(sources, targets, origins, strict=True)
    return [Correction(source, None, target, origin) for source, target, origin in rows]


def _read_edits(path: Path, where: str, lenient: bool) -> list[Correction]:
    text = plain.read_text(path)
    if not text.strip():
        raise core.DataError("the file is empty", where=where, fix="Give M2 or parallel texts.")
    if not m2.is_m2(text, path):
        fix = "Give an M2 file, a table, or two texts as source.txt:reference.txt."
        raise core.DataError("one text alone is no parallel data", where=where, fix=fix)
    file = m2.parse_m2(text, where, lenient=lenient)
    if file.notices:
        warning = f"{len(file.notices)} faults in {where}; the first: {file.notices[0]}"
        warnings.warn(warning, stacklevel=3)
    if silent := sum(not block.gold for block in file.blocks):
        warning = f"{where}: {silent} sentences that nobody could correct (NA) are left out"
        warnings.warn(warning, stacklevel=3)
    return [
        Correction(block.source, edits, None, f"{where}#{number}{name}")
        for number, block in enumerate(file.blocks, start=1)
        for annotator, edits in block.gold.items()
        for name in [f".{annotator}" if len(block.gold) > 1 else ""]
    ]


@dataclass(frozen=True, slots=True)
class RatedOutput:
    """An output, and its mean human score by criterion."""

    source: str
    output: str
    scores: Mapping[str, float]


def read_ratings(path: str | Path) -> list[RatedOutput]:
    """Read a table with ``source``, ``output`` and mean scores.

    The scores stand in ``ave_g``, ``ave_f``, ``ave_m``, as in TMU-GFM, or in columns named
    ``grammaticality``, ``fluency``, ``meaning``; one of the three is enough. Raises
    :class:`DataError` with file and line: no such column, a cell that is no text or number, no row.
    """
    table = tables.read_columns(path)
    sources = table.texts("source")
    outputs = table.texts(table.first_of(_OUTPUTS) or _OUTPUTS[0])
    columns = {criterion: table.first_of(names) for criterion, names in _CRITERIA.items()}
    scores = {criterion: table.numbers(name) for criterion, name in columns.items() if name}
    if not scores:
        fix = "Name the columns grammaticality, fluency, meaning, or ave_g, ave_f, ave_m."
        raise core.DataError("no column with human scores", where=str(path), fix=fix)
    rows = enumerate(zip(sources, outputs, strict=True))
    return [RatedOutput(s, o, {name: of[at] for name, of in scores.items()}) for at, (s, o) in rows]


# --- parallel files of Chinese sets --------------------------------------------------------
class Para(NamedTuple):
    """A file ``id TAB source TAB target ...``: ids and sources, and its targets, one or more."""

    ids: list[str]
    sources: list[str]
    targets: list[list[str]]

    def references(self) -> list[list[str | None]]:
        """Return the targets by reference: "no error" is the source, "cannot be annotated" none."""
        rows = zip(self.sources, self.targets, strict=True)
        return [*map(list, zip_longest(*(map(_meant, repeat(s), texts) for s, texts in rows)))]

    def outputs(self, lines: list[str], where: str) -> list[str]:
        """Return the outputs of lines ``id TAB source TAB target``; other lines as they are."""
        ids = [line.partition("\t")[0] for line in lines if "\t" in line]
        if not len(ids) == len(lines) == len(self.ids):
            return lines
        for number, (one, other) in enumerate(zip(ids, self.ids, strict=True), start=1):
            if one != other:
                fix = "Give the same ids in the same order, or texts alone."
                fault = f"the id {one!r}, where the source has {other!r}"
                raise core.DataError(fault, where=f"{where}:{number}", fix=fix)
        texts = parse_para("\n".join(lines), where).references()
        if len(texts) > 1:
            fix = "An output has one text for each sentence."
            raise core.DataError(f"up to {len(texts)} targets in a line", where=where, fix=fix)
        return [text or errant.CANNOT for text in texts[0]]


def parse_para(text: str, where: str) -> Para:
    """Read a parallel file from a text; ``where`` names it in messages."""
    para = Para([], [], [])
    for number, line in enumerate(plain.checked_lines(text.strip(), where), start=1):
        name, *cells = line.split("\t")
        if len(cells) < 2 or not all(cell.strip() for cell in cells):
            fault = f"{len(cells)} texts, or an empty one: {line[:40]!r}"
            fix = f"Write it as: id TAB source TAB target ...; {errant.NO_ERROR} if there is none."
            raise core.DataError(fault, where=f"{where}:{number}", fix=fix)
        para.ids.append(name)
        para.sources.append(cells[0])
        para.targets.append(cells[1:])
    return para


def _meant(source: str, target: str) -> str | None:
    text = target.strip()
    return None if text == errant.CANNOT else source if text == errant.NO_ERROR else target
