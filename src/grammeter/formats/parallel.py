"""Training data: sources with their corrections, as edits or texts; outputs with human scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grammeter.core import DataError, Edit, LengthMismatchError
from grammeter.formats.m2 import M2Block, is_m2, parse_m2
from grammeter.formats.tables import Columns, form_of, read_columns
from grammeter.formats.text import decode, read_bytes, read_lines

SOURCES = ("source", "src")
TARGETS = ("target", "tgt", "reference", "reference.0", "correction")
"""Columns that are taken if none is named, the first that is there."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A source sentence and its correction: edits, or else a text.

    Attributes
    ----------
    source
        Tokens separated by white space.
    edits
        Of one annotator of an M2 file, ``()`` where nothing is to be corrected; ``None`` if the
        correction is a text.
    text
        The corrected sentence, where it is not told by edits.
    origin
        ``file:line`` of a text or table; of an M2 file ``file#sentence``, or
        ``file#sentence.annotator`` where a sentence has several.
    """

    source: str
    edits: tuple[Edit, ...] | None
    text: str | None
    origin: str


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

    Parameters
    ----------
    spelled
        An M2 file (one correction for each annotator of a sentence); two texts, line by line,
        ``source.txt:reference.txt``; or a table whose name ends in ``.tsv``, ``.csv``,
        ``.jsonl`` or ``.parquet``. All may be packed.
    source, target
        Columns of a table.
    lenient
        Pass over faulty edits and lines of an M2 file, as the original programs do; a warning
        counts them.

    Raises
    ------
    DataError
        With file and line: an empty or damaged file, files of unequal lengths, a column that is
        not there.
    """
    files = parallel_files(spelled)
    if len(files) == 2:
        return list(_lines(*files))
    if form_of(files[0]):
        return list(_rows(files[0], source, target))
    text = decode(read_bytes(files[0]), files[0])
    if not text.strip():
        raise DataError(
            "the file is empty", where=spelled, fix="Give an M2 file or parallel texts."
        )
    if not is_m2(text, files[0]):
        raise DataError(
            "one text alone is no parallel data",
            where=spelled,
            fix="Give an M2 file, a table, or two texts as source.txt:reference.txt.",
        )
    file = parse_m2(text, spelled, lenient=lenient)
    if file.notices:
        warning = f"{len(file.notices)} faults in {spelled}; the first: {file.notices[0]}"
        warnings.warn(warning, stacklevel=2)
    blocks = enumerate(file.blocks, start=1)
    return [row for number, block in blocks for row in _annotated(block, f"{spelled}#{number}")]


def _annotated(block: M2Block, origin: str) -> Iterator[Correction]:
    for annotator, edits in block.gold.items():
        place = origin if len(block.gold) == 1 else f"{origin}.{annotator}"
        yield Correction(block.source, edits, None, place)


def _lines(source: Path, target: Path) -> Iterator[Correction]:
    sources, targets = read_lines(source), read_lines(target)
    if len(sources) != len(targets):
        raise LengthMismatchError(str(source), len(sources), str(target), len(targets))
    for number, pair in enumerate(zip(sources, targets, strict=True), start=1):
        yield Correction(pair[0], None, pair[1], f"{source}:{number}")


def _rows(path: Path, source: str | None, target: str | None) -> Iterator[Correction]:
    table = read_columns(path)
    sources = table.texts(source or table.first_of(SOURCES) or SOURCES[0])
    targets = table.texts(target or table.first_of(TARGETS) or TARGETS[0])
    for row, pair in enumerate(zip(sources, targets, strict=True)):
        yield Correction(pair[0], None, pair[1], table.origin(row))


COLUMNS = {
    "grammaticality": ("ave_g", "grammaticality"),
    "fluency": ("ave_f", "fluency"),
    "meaning": ("ave_m", "meaning"),
}
"""Criterion -> the columns that may hold its mean score, the first that is there; TMU-GFM's
``fluency`` and ``meaning`` hold single ratings, and stand behind its means."""

OUTPUTS = ("output", "hypothesis")


@dataclass(frozen=True, slots=True)
class Rating:
    """An output, and its mean human score by criterion."""

    source: str
    output: str
    scores: Mapping[str, float]


def read_ratings(path: str | Path) -> list[Rating]:
    """Read a table with ``source``, ``output`` and mean scores.

    The scores stand in ``ave_g``, ``ave_f``, ``ave_m``, as in TMU-GFM, or in columns named
    ``grammaticality``, ``fluency``, ``meaning``; one of the three is enough.

    Raises
    ------
    DataError
        With file and line: no such column, a cell that is no text or number, no row.
    """
    table = read_columns(path)
    sources = table.texts("source")
    outputs = table.texts(table.first_of(OUTPUTS) or OUTPUTS[0])
    scores = _scores(table)
    if not scores:
        raise DataError(
            "no column with human scores",
            where=str(path),
            fix="Name the columns grammaticality, fluency, meaning, or ave_g, ave_f, ave_m.",
        )
    return [
        Rating(source, output, {criterion: column[row] for criterion, column in scores.items()})
        for row, (source, output) in enumerate(zip(sources, outputs, strict=True))
    ]


def _scores(table: Columns) -> dict[str, list[float]]:
    named = {criterion: table.first_of(names) for criterion, names in COLUMNS.items()}
    return {criterion: table.numbers(name) for criterion, name in named.items() if name}
