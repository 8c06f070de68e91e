"""Tables with any columns: TSV, CSV, JSON lines, parquet, read by the names of columns."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
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
    """

    names: tuple[str, ...]
    cells: dict[str, list[object]]
    lines: list[int]
    where: str

    def __len__(self) -> int:
        return len(self.lines)

    def texts(self, name: str) -> list[str]:
        """Return a column of texts.

        Raises
        ------
        DataError
            If there is no such column, or a cell is no text.
        """
        return [self._text(cell, name, row) for row, cell in enumerate(self._column(name))]

    def numbers(self, name: str) -> list[float]:
        """Return a column of numbers.

        Raises
        ------
        DataError
            If there is no such column, or a cell is no finite number.
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
            if math.isfinite(value):
                return value
        except (TypeError, ValueError, OverflowError):
            pass
        raise DataError(
            f"{name} is {cell!r}, no number", where=self.origin(row), fix="Write a number."
        )


def has_columns(path: str | Path) -> bool:
    """Whether a file's name says that it is a table."""
    return form_of(path) is not None


def read_columns(path: str | Path) -> Columns:
    """Read a table; the first line of TSV and CSV names the columns.

    Raises
    ------
    DataError
        With file and line: no row, rows of unequal columns, a line that is no JSON object,
        columns named twice.
    UsageError
        If the name does not tell the format.
    MissingResourceError
        For parquet, if ``pyarrow`` is not installed.
    """
    form = sure_form(path)
    data, where = read_bytes(path), str(path)
    if form == "parquet":
        found = _parquet(data, where)
    elif form == "jsonl":
        found = _json_lines(decode(data, path), where)
    else:
        found = _rows(decode(data, path), where, form)
    if not len(found):
        raise DataError("the file has no row", where=where, fix="It needs one row a sentence.")
    return found


def _rows(text: str, where: str, form: RecordForm) -> Columns:
    rows = tab_cells(text) if form == "tsv" else comma_cells(text, where)
    first = next(rows, None)
    if first is None:
        raise DataError("the file is empty", where=where, fix="The first line names the columns.")
    head = first[1]
    _check_names(head, f"{where}:1")
    lines: list[int] = []
    cells: dict[str, list[object]] = {name: [] for name in head}
    for number, row in rows:
        if len(row) != len(head):
            raise DataError(
                f"{len(row)} cells, but the first line has {len(head)}",
                where=f"{where}:{number}",
                fix="Each line needs a cell for each column.",
            )
        lines.append(number)
        for name, cell in zip(head, row, strict=True):
            cells[name].append(cell)
    return Columns(tuple(head), cells, lines, where)


def _check_names(names: Sequence[str], where: str) -> None:
    if len(set(names)) != len(names) or not names:
        raise DataError(
            "a column is named twice" if names else "no column is named",
            where=where,
            fix="Each column needs a name of its own; in TSV and CSV the first line has them.",
        )


def _json_lines(text: str, where: str) -> Columns:
    names: tuple[str, ...] = ()
    cells: dict[str, list[object]] = {}
    lines: list[int] = []
    for number, line in enumerate(split_lines(text), start=1):
        try:
            row: object = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise DataError(
                "no JSON object", where=f"{where}:{number}", fix="Write one JSON object a line."
            )
        found = cast("dict[str, object]", row)
        if not lines:
            names = tuple(found)
            cells = {name: [] for name in names}
        if set(found) != set(names):
            raise DataError(
                f"other keys than in line 1: {', '.join(sorted(set(found) ^ set(names)))}",
                where=f"{where}:{number}",
                fix="Each line needs the same keys.",
            )
        lines.append(number)
        for name in names:
            cells[name].append(found[name])
    return Columns(names, cells, lines, where)


def _parquet(data: bytes, where: str) -> Columns:
    table, names = parquet_table(data, where)
    _check_names(names, where)
    try:
        cells = {name: list(table.column(n).to_pylist()) for n, name in enumerate(names)}
    except (ValueError, OverflowError) as error:  # no UTF-8, a date beyond the year 9999
        fix = "Write it again, with texts and numbers."
        raise DataError(f"a value cannot be read: {error}", where=where, fix=fix) from None
    return Columns(tuple(names), cells, list(range(1, table.num_rows + 1)), where)
