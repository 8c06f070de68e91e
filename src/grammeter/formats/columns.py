"""The one reader of tables: TSV, CSV, JSON lines, parquet, by the names of their columns."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from grammeter.core import DataError, UnknownNameError
from grammeter.formats.cells import (
    RecordForm,
    checked_text,
    comma_cells,
    form_of,
    parquet_table,
    sure_form,
    tab_cells,
)
from grammeter.formats.judged import placed
from grammeter.formats.objects import parse_line
from grammeter.formats.text import decode, read_bytes, split_lines


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


def _delimited(text: str, where: str, form: RecordForm) -> Columns:
    cut = tab_cells(text) if form == "tsv" else comma_cells(io.StringIO(text, newline=""), where)
    rows = list(cut)
    if not rows:
        raise DataError("the file is empty", where=where, fix="The first line names the columns.")
    names = rows.pop(0)[1]
    _check_names(names, f"{where}:1")
    for number, row in rows:
        if len(row) != len(names):
            raise DataError(
                f"{len(row)} cells, but the first line has {len(names)}",
                where=f"{where}:{number}",
                fix="Each line needs a cell for each column, empty for an empty text.",
            )
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
    table, names = parquet_table(data, where)
    _check_names(names, where)
    try:
        cells = {name: list(table.column(n).to_pylist()) for n, name in enumerate(names)}
    except (ValueError, OverflowError) as error:  # no UTF-8, a date beyond the year 9999
        fix = "Write it again, with texts and numbers."
        raise DataError(f"a value cannot be read: {error}", where=where, fix=fix) from None
    types = {name: str(table.schema.field(n).type) for n, name in enumerate(names)}
    return Columns(tuple(names), cells, list(range(1, table.num_rows + 1)), where, where, types)
