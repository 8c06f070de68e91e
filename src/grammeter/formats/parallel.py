"""Parallel data for training: sources with their corrections, as edits or as texts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grammeter.core import DataError, Edit, LengthMismatchError
from grammeter.formats.columns import has_columns, read_columns
from grammeter.formats.m2 import M2Block, parse_m2
from grammeter.formats.outputs import is_m2
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
    if has_columns(files[0]):
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
