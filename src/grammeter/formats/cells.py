"""What all tables share, whatever their columns: how they are told apart, and cut into cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from grammeter.core import DataError, UsageError, require
from grammeter.formats.text import split_lines

RecordForm = Literal["jsonl", "tsv", "csv", "parquet"]
FORMS: tuple[RecordForm, ...] = ("jsonl", "tsv", "csv", "parquet")

_QUOTED = "Cells with commas, quotes or line ends stand in double quotes, quotes doubled."


def form_of(path: str | Path) -> RecordForm | None:
    """Return the format that a file's name tells, ``None`` if it tells none of them."""
    suffix = str(path).removesuffix(".gz").rpartition(".")[2]
    return next((form for form in FORMS if suffix == form), None)


def sure_form(path: str | Path) -> RecordForm:
    """Return the format that a file's name tells.

    Raises
    ------
    UsageError
        If it tells none of them.
    """
    form = form_of(path)
    if form is None:
        raise UsageError(
            f"the name {str(path)!r} does not tell the format",
            fix=f"Let it end in .{', .'.join(FORMS)}, with .gz after that if packed.",
        )
    return form


def tab_cells(text: str) -> Iterator[tuple[int, list[str]]]:
    """Return the cells of each line of TSV, with the line's number."""
    for number, line in enumerate(split_lines(text), start=1):
        yield number, line.split("\t")


def comma_cells(
    text: str, where: str, fix: str = _QUOTED, *, mark: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Return the cells of each row of CSV, with the number of its first line.

    ``mark`` stands between cells.

    Raises
    ------
    DataError
        With file (``where``) and line, where quotes do not fit.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=mark)
    number = 1
    try:
        for cells in reader:
            yield number, cells
            number = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"not CSV: {error}", where=f"{where}:{number}", fix=fix) from None


def parquet_table(data: bytes, where: str) -> tuple[Any, list[str]]:
    """Return the table of a parquet file, as Arrow has it, and the names of its columns.

    Raises
    ------
    DataError
        If it is none, or damaged.
    MissingResourceError
        If ``pyarrow`` is not installed.
    """
    arrow: Any = require("pyarrow", extra="records")
    parquet: Any = require("pyarrow.parquet", extra="records")
    try:
        table: Any = parquet.read_table(io.BytesIO(data))
        return table, [str(name) for name in table.column_names]
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"not parquet: {error}", where=where, fix="Write it again.") from None


def checked_text(text: str, what: str, where: str) -> str:
    """Return a text as it is.

    Raises
    ------
    DataError
        If it cannot be written as UTF-8; the message says ``what`` it is.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        letter = f"U+{ord(text[error.start]):04X}"
        raise DataError(
            f"{what} holds {letter}, half a surrogate pair, no character",
            where=where,
            fix="Repair the text where it was made.",
        ) from None
    return text
