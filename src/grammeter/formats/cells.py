"""Tables of any columns: their format by name, and their cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from grammeter.core import DataError, UsageError, require
from grammeter.formats.text import split_lines

RecordForm = Literal["jsonl", "tsv", "csv", "parquet"]
FORMS: tuple[RecordForm, ...] = ("jsonl", "tsv", "csv", "parquet")

_QUOTED = "Cells with commas, quotes or line ends stand in double quotes, quotes doubled."


def form_of(path: str | Path) -> RecordForm | None:
    """Return the format of a table by its file's name; ``None`` for any other name."""
    suffix = str(path).removesuffix(".gz").rpartition(".")[2].lower()
    return next((form for form in FORMS if suffix == form), None)


def sure_form(path: str | Path) -> RecordForm:
    """Return the format of a table by its file's name; raise :class:`UsageError` if it is none."""
    form = form_of(path)
    if form is None:
        raise UsageError(
            f"the name {str(path)!r} does not tell the format",
            fix=f"Let it end in .{', .'.join(FORMS)}, with .gz after that if packed.",
        )
    return form


def tab_cells(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line of TSV."""
    for number, line in enumerate(split_lines(text), start=1):
        yield number, line.split("\t")


def comma_cells(
    lines: Iterable[str], where: str, fix: str = _QUOTED, *, mark: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row of CSV with the number of its first line.

    Parameters
    ----------
    lines
        With their ends; a cell in quotes may hold some.
    where, fix
        The file, and advice, for messages.
    mark
        The separator.

    Raises
    ------
    DataError
        With file and line, if the quotes are wrong.
    """
    reader = csv.reader(lines, strict=True, delimiter=mark)  # not strict, a quote swallows rows
    number = 1
    try:
        for cells in reader:
            yield number, cells
            number = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"not CSV: {error}", where=f"{where}:{number}", fix=fix) from None


def parquet_table(data: bytes, where: str) -> tuple[Any, list[str]]:
    """Return the Arrow table of a parquet file, and the names of its columns.

    Raises
    ------
    DataError
        If it is not parquet, or damaged.
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


def checked_text(text: str, what: str, where: str | None = None) -> str:
    """Return the text; raise :class:`DataError` if it holds half a surrogate pair.

    ``what`` names the text in the message.
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
