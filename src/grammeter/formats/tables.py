"""The one reader of tables: TSV, CSV, JSON lines, parquet, by the names of their columns."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from grammeter.core import DataError, UnknownNameError, UsageError, require
from grammeter.formats.objects import parse_line, placed
from grammeter.formats.text import decode, read_bytes, split_lines

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


@dataclass(frozen=True)
class Columns:
    """A table, column by column.

    Attributes
    ----------
    names
        In the order of the file.
    cells
        By name; texts, or what JSON lines and parquet hold.
    lines
        The line (parquet: row) of each row.
    where
        The file.
    head
        Where the columns are named: ``file:1`` for TSV and CSV, else the file.
    types
        Arrow types by name; parquet only.
    """

    names: tuple[str, ...]
    cells: dict[str, list[object]]
    lines: list[int]
    where: str
    head: str
    types: Mapping[str, str] = field(default_factory=dict[str, str])

    def __len__(self) -> int:
        return len(self.lines)

    def texts(self, name: str) -> list[str]:
        """Return a column of texts.

        Raises
        ------
        DataError
            If there is no such column, or a cell is not a text.
        """
        return [self._text(cell, name, row) for row, cell in enumerate(self._column(name))]

    def numbers(self, name: str) -> list[float]:
        """Return a column of numbers.

        Raises
        ------
        DataError
            If there is no such column, or a cell is not a finite number.
        """
        return [self._number(cell, name, row) for row, cell in enumerate(self._column(name))]

    def first_of(self, names: Sequence[str]) -> str | None:
        """Return the first of several names that is a column."""
        return next((name for name in names if name in self.cells), None)

    def origin(self, row: int) -> str:
        """Return ``file:line`` of a row, counted from 0."""
        return f"{self.where}:{self.lines[row]}"

    def _column(self, name: str) -> list[object]:
        if name not in self.cells:
            error = UnknownNameError("column", name, self.names)
            raise DataError(f"no column {name!r}", where=self.where, fix=error.fix)
        return self.cells[name]

    def _text(self, cell: object, name: str, row: int) -> str:
        if not isinstance(cell, str):
            raise DataError(
                f"{name} is {cell!r}, no text", where=self.origin(row), fix="Write a text."
            )
        return checked_text(cell, name, self.origin(row))

    def _number(self, cell: object, name: str, row: int) -> float:
        try:
            value = math.nan if isinstance(cell, bool) else float(cast("Any", cell))
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if not math.isfinite(value):
            raise DataError(
                f"{name} is {cell!r}, no number", where=self.origin(row), fix="Write a number."
            )
        return value


def has_columns(path: str | Path) -> bool:
    """Whether a file's name says that it is a table."""
    return form_of(path) is not None


def read_columns(path: str | Path, *, form: RecordForm | None = None) -> Columns:
    """Read a table; the first line of TSV and CSV names the columns.

    Parameters
    ----------
    path
        The file, plain or gzip; ``-`` is standard input.
    form
        Its format; default: by its name.

    Raises
    ------
    DataError
        With file and line: no row, rows of unequal length, a line that is not a JSON object,
        columns named twice.
    UsageError
        If the name does not tell the format.
    MissingResourceError
        For parquet, if ``pyarrow`` is not installed.
    """
    form = form or sure_form(path)
    data, where = read_bytes(path), str(path)
    if form == "parquet":
        table = _parquet(data, where)
    elif form == "jsonl":
        table = _json_lines(decode(data, path), where)
    else:
        table = _delimited(decode(data, path), where, form)
    if not len(table):
        raise DataError(
            "no row below the column heads", where=where, fix="It needs one row a sentence."
        )
    return table


def tab_cells(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line of TSV."""
    for number, line in enumerate(split_lines(text), start=1):
        yield number, line.split("\t")


def comma_cells(
    lines: Iterable[str], where: str, fix: str = _QUOTED, *, mark: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row of CSV with the number of its first line.

    ``lines`` have their ends, as cells in quotes may hold some; ``mark`` separates cells;
    ``where`` and ``fix`` are for messages.
    """
    reader = csv.reader(lines, strict=True, delimiter=mark)  # not strict, a quote swallows rows
    number = 1
    try:
        for cells in reader:
            yield number, cells
            number = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"not CSV: {error}", where=f"{where}:{number}", fix=fix) from None


def check_width(cells: Sequence[str], names: Sequence[str], where: str) -> None:
    """Raise :class:`DataError` if a row has not one cell for each column."""
    if len(cells) != len(names):
        raise DataError(
            f"{len(cells)} cells, but the first line has {len(names)}",
            where=where,
            fix="Each line needs a cell for each column, empty for an empty text.",
        )


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


def _delimited(text: str, where: str, form: RecordForm) -> Columns:
    cut = tab_cells(text) if form == "tsv" else comma_cells(io.StringIO(text, newline=""), where)
    rows = list(cut)
    if not rows:
        raise DataError("the file is empty", where=where, fix="The first line names the columns.")
    names = rows.pop(0)[1]
    _check_names(names, f"{where}:1")
    for number, row in rows:
        check_width(row, names, f"{where}:{number}")
    columns = zip(*(row for _, row in rows), strict=True) if rows else [()] * len(names)
    cells = {name: list[object](column) for name, column in zip(names, columns, strict=True)}
    return Columns(tuple(names), cells, [number for number, _ in rows], where, f"{where}:1")


def _check_names(names: Sequence[str], where: str) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice or not names:
        raise DataError(
            f"the column {twice[0]!r} comes twice" if twice else "the first line is empty",
            where=where,
            fix="Each column needs a name of its own; in TSV and CSV the first line has them.",
        )


def _json_lines(text: str, where: str) -> Columns:
    rows: list[dict[str, object]] = []
    for number, line in enumerate(split_lines(text), start=1):
        with placed(f"{where}:{number}"):
            row = parse_line(line, "Write one JSON object a line.")
            if rows and row.keys() != rows[0].keys():
                odd = ", ".join(sorted(row.keys() ^ rows[0].keys()))
                raise DataError(
                    f"other keys than in line 1: {odd}", fix="Each line needs the same keys."
                )
            rows.append(row)
    names = tuple(rows[0]) if rows else ()
    cells = {name: [row[name] for row in rows] for name in names}
    return Columns(names, cells, list(range(1, len(rows) + 1)), where, where)


def _parquet(data: bytes, where: str) -> Columns:
    arrow: Any = require("pyarrow", extra="records")
    parquet: Any = require("pyarrow.parquet", extra="records")
    try:
        table: Any = parquet.read_table(io.BytesIO(data))
        names = tuple(str(name) for name in table.column_names)
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"not parquet: {error}", where=where, fix="Write it again.") from None
    _check_names(names, where)
    try:
        columns: list[list[object]] = [list(column.to_pylist()) for column in table.columns]
    except (ValueError, OverflowError) as error:  # no UTF-8, a date beyond the year 9999
        fix = "Write it again, with texts and numbers."
        raise DataError(f"a value cannot be read: {error}", where=where, fix=fix) from None
    types = {name: str(kind) for name, kind in zip(names, table.schema.types, strict=True)}
    cells = dict(zip(names, columns, strict=True))
    return Columns(names, cells, list(range(1, table.num_rows + 1)), where, where, types)
