"""JSON objects and tables (TSV, CSV, JSON lines, parquet): files to named values and back."""

import csv
import io
import json
import math
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args, get_type_hints

from grammeter.core import DataError, UnknownNameError, UsageError, fitted, require
from grammeter.formats.text import bare_name, decode, read_bytes, read_text, split_lines, write_text

Value = TypeVar("Value")
RecordForm = Literal["jsonl", "tsv", "csv", "parquet"]
_OBJECT_FIX = "Give a file that grammeter wrote with -o."
_ENDS = "Let it end in .jsonl, .tsv, .csv, .parquet, with .gz after that if packed."
_SAME = "Each line needs the same keys, in lists and objects, too; null for a text that it lacks."
_LARGEST = 10**15
_OVERFLOW = 1e100
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
_QUOTED = "Cells with commas, quotes or line ends stand in double quotes, quotes doubled."


# --- JSON objects --------------------------------------------------------------------------
def shipped(name: str) -> Any:
    """Read a JSON file of this room."""
    return json.loads(files("grammeter.formats").joinpath(name).read_bytes())


def read_object(path: str | Path) -> dict[str, Any]:
    """Read a JSON object, gzip or not (``-``: standard input); :class:`DataError` with line."""
    return parse_object(read_text(path), str(path))


def parse_object(text: str, where: str) -> dict[str, Any]:
    """Read one JSON object from a text; ``where`` names it in messages."""
    try:
        return parse_line(text, _OBJECT_FIX)
    except DataError as error:
        line = getattr(error.__cause__, "lineno", None)
        where = f"{where}:{line}" if line else where
        raise DataError(error.message, where=where, fix=error.fix) from None


def write_object(data: Mapping[str, Any], path: str | Path) -> None:
    """Write one JSON object as UTF-8; gzip if the name ends in ``.gz``."""
    write_text(path, object_text(data) + "\n")


def object_text(data: Mapping[str, Any]) -> str:
    """Return JSON text; raise :class:`ValueError` for NaN, which callers turn into ``null``."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


@contextmanager
def placed(where: str) -> Generator[None, None, None]:
    """Add the place in the file to errors that have none."""
    try:
        yield
    except DataError as error:
        raise DataError(error.message, where=error.where or where, fix=error.fix) from None


def parse_line(line: str, fix: str, keys: Sequence[str] = ()) -> dict[str, Any]:
    """Read an object from JSON lines; ``keys``: refuse others, and one that occurs twice."""
    try:
        data: object = json.loads(line, object_pairs_hook=_unique if keys else None)
    except (ValueError, RecursionError) as error:
        why = error
        if isinstance(error, json.JSONDecodeError):
            why = f"{error.msg} at character {error.colno}"
        raise DataError(f"not JSON: {why}", fix=fix) from error
    if not isinstance(data, dict):
        raise DataError("no JSON object", fix=fix)
    row = cast("dict[str, Any]", data)
    if "\\ud" in line.lower():
        checked_text(json.dumps(row, ensure_ascii=False), "the line")
    if keys and (unknown := next((key for key in row if key not in keys), None)) is not None:
        error = UnknownNameError("key", unknown, keys)
        raise DataError(error.message, fix=error.fix)
    return row


def json_lines(text: str, where: str, fix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``file:line`` and object of each line that is not empty."""
    for number, line in enumerate(split_lines(text), start=1):
        if line.strip():
            with placed(f"{where}:{number}"):
                data = parse_line(line, fix)
            yield f"{where}:{number}", data


def fitting(name: str, value: Any, hint: Any, fix: str) -> Any:
    """Return a value of JSON as a type has it, lists as tuples; DataError if it is no such value.

    Numbers beyond 10**15 are refused: arrays can index smaller ones.
    """
    if hint is str and type(value) is str:
        return value
    try:
        return fitted(name, _as_tuples(value, _number_of(hint)), hint)
    except UsageError as error:
        raise DataError(error.message, fix=fix) from None


@cache
def _number_of(hint: Any) -> type[int | float]:
    return float if "float" in str(hint) else int


def _as_tuples(value: Any, kind: type[int | float]) -> Any:
    if isinstance(value, list):
        return tuple([_as_tuples(item, kind) for item in cast("list[Any]", value)])
    if type(value) not in (int, float):
        return value
    if abs(value) > _LARGEST:
        raise UsageError(f"{ascii(value)[:40]} is too large a number")
    return kind(value) if type(value) is int else value


def made(cls: type[Value], data: Mapping[str, Any], fix: str) -> Value:
    """Make a dataclass of an object of JSON, see :func:`fitting`; other keys do not count.

    ``null`` stands for what has a default. Raises :class:`DataError` for what is lacking.
    """
    values: dict[str, Any] = {}
    for name, hint, needed in _fields(cls):
        value = data.get(name)
        if needed and value in (None, ""):
            raise DataError(f"no {name}", fix=fix)
        if value is not None:
            values[name] = fitting(name, value, hint, fix)
    return cls(**values)


@cache
def _fields(cls: Any) -> list[tuple[str, Any, bool]]:
    hints = get_type_hints(cls)
    bare = (each.default is MISSING and each.default_factory is MISSING for each in fields(cls))
    return [(each.name, hints[each.name], of) for each, of in zip(fields(cls), bare, strict=True)]


def number(value: object, name: str, missing: Sequence[str | None] = ()) -> float:
    """Read a cell or value of JSON as a number; NaN for ``missing`` words.

    Raises :class:`DataError` for words, NaN, and numbers so large that squares of them overflow.
    """
    text = value.strip().lower() if isinstance(value, str) else value
    if (text is None or isinstance(text, str)) and text in missing:
        return math.nan
    is_text = isinstance(text, str) and _NUMBER.fullmatch(text) is not None
    found: Any = float(cast("str", text)) if is_text else text
    if not (is_text or type(text) in (int, float)) or not abs(found) <= _OVERFLOW:
        none = f", or {missing[0]!r} where there is none" if missing else ""
        fault = f"{name} is {ascii(value)[:40]}, no number"
        raise DataError(fault, fix=f"Write a decimal number{none}.")
    return float(found)  # not before: an int may be too large for a float


def whole_number(value: object, name: str, least: int = 0, most: int = _LARGEST) -> int:
    """Read a cell or value of JSON as a whole number; :class:`DataError` for anything else."""
    text = str(value).strip()
    if isinstance(value, bool) or not _WHOLE.fullmatch(text) or not least <= int(text) <= most:
        fault = f"{name} is {ascii(value)[:40]}, no whole number from {least}"
        raise DataError(fault, fix=f"Write digits, from {least} on, to {most:.0e} at most.")
    return int(text)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    data = dict(pairs)
    if len(data) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {_doubled(names)!r} comes twice")
    return data


def _doubled(names: Sequence[str]) -> str | None:
    return next((name for name in names if names.count(name) > 1), None)


# --- tables --------------------------------------------------------------------------------
def form_of(path: str | Path) -> RecordForm | None:
    """Return the format of a table by its file's name; ``None`` for any other name."""
    suffix = bare_name(path).rpartition(".")[2].lower()
    return next((form for form in get_args(RecordForm) if suffix == form), None)


def sure_form(path: str | Path, fix: str = _ENDS) -> RecordForm:
    """Return the format of a table by its file's name; raise :class:`UsageError` if it is none."""
    if (form := form_of(path)) is None:
        raise UsageError(f"the name {str(path)!r} does not tell the format", fix=fix)
    return form


@dataclass(frozen=True)
class Columns:
    """A table, column by column."""

    cells: dict[str, list[object]]  # by column; texts, or what JSON lines and parquet hold
    lines: list[int]  # the line (parquet: row) of each row
    where: str
    head: str  # where the columns are named: ``file:1`` for TSV and CSV, else the file

    def texts(self, name: str, *, may_lack: bool = False) -> list[Any]:
        """Return a column of texts, and nothing else; ``may_lack``: but ``None``."""
        for row, cell in enumerate(self._column(name)):
            if isinstance(cell, str):
                checked_text(cell, name, self.origin(row))
            elif cell is not None or not may_lack:
                fault = f"{name} is {cell!r}, no text"
                raise DataError(fault, where=self.origin(row), fix="Write a text.")
        return cast("list[Any]", self.cells[name])

    def numbers(self, name: str) -> list[float]:
        """Return a column of finite numbers, and nothing else."""
        numbers: list[float] = []
        for row, cell in enumerate(self._column(name)):
            with placed(self.origin(row)):
                numbers.append(number(cell, name))
        return numbers

    def rows(self, *needed: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield ``file:line`` and the cells of each row by column; refuse to lack a column."""
        for name in needed:
            self._column(name)
        for at, cells in enumerate(zip(*self.cells.values(), strict=True)):
            yield self.origin(at), dict(zip(self.cells, cells, strict=True))

    def first_of(self, names: Sequence[str]) -> str | None:
        """Return the first of several names that is a column."""
        return next((name for name in names if name in self.cells), None)

    def origin(self, row: int) -> str:
        """Return ``file:line`` of a row, counted from 0."""
        return f"{self.where}:{self.lines[row]}"

    def _column(self, name: str) -> list[object]:
        if name not in self.cells:
            error = UnknownNameError("column", name, self.cells)
            raise DataError(f"no column {name!r}", where=self.where, fix=error.fix)
        return self.cells[name]


def read_columns(
    path: str | Path, *, form: RecordForm | None = None, keys: Sequence[str] = ()
) -> Columns:
    """Read a table of one row at least, in the format of its name or in ``form``."""
    form = form or sure_form(path)
    return parse_columns(read_bytes(path), path, form, keys)


def parse_columns(
    data: bytes, path: str | Path, form: RecordForm, keys: Sequence[str] = ()
) -> Columns:
    """Read a table of one row at least from a file's bytes; ``keys``: of JSON, refuse others."""
    where = str(path)
    if form == "parquet":
        table = _parquet(data, where)
    elif form == "jsonl":
        table = _json_columns(decode(data, path), where, keys)
    else:
        table = _delimited(decode(data, path), where, form)
    if not table.lines:
        raise DataError("no row below the column heads", where=where, fix="Write a row a sentence.")
    return table


def comma_cells(
    lines: Iterable[str], where: str, fix: str = _QUOTED, *, mark: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row of CSV with its first line; ``lines`` have their ends."""
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
        fault = f"{len(cells)} cells, but the first line has {len(names)}"
        fix = "Each line needs a cell for each column, empty for an empty text."
        raise DataError(fault, where=where, fix=fix)


def checked_text(text: str, what: str, where: str | None = None) -> str:
    """Return the text; raise :class:`DataError` if it holds half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        letter = f"U+{ord(text[error.start]):04X}"
        fault = f"{what} holds {letter}, half a surrogate pair, no character"
        raise DataError(fault, where=where, fix="Repair the text where it was made.") from None
    return text


def _delimited(text: str, where: str, form: RecordForm) -> Columns:
    rows = list(enumerate((line.split("\t") for line in split_lines(text)), start=1))
    if form == "csv":
        rows = list(comma_cells(io.StringIO(text, newline=""), where))
    if not rows:
        raise DataError("the file is empty", where=where, fix="The first line names the columns.")
    names = rows.pop(0)[1]
    check_names(names, f"{where}:1")
    for number, row in rows:
        check_width(row, names, f"{where}:{number}")
    columns = zip(*(row for _, row in rows), strict=True) if rows else [()] * len(names)
    cells = {name: list[object](column) for name, column in zip(names, columns, strict=True)}
    return Columns(cells, [number for number, _ in rows], where, f"{where}:1")


def check_names(names: Sequence[str], where: str) -> None:
    """Raise :class:`DataError` if there are no columns, or two of one name."""
    if (twice := _doubled(names)) is not None or not names:
        fault = "the first line is empty" if twice is None else f"the column {twice!r} comes twice"
        fix = "Each column needs a name of its own; in TSV and CSV the first line has them."
        raise DataError(fault, where=where, fix=fix)


def _json_columns(text: str, where: str, keys: Sequence[str]) -> Columns:
    lines = split_lines(text)
    origins = [f"{where}:{number}" for number in range(1, len(lines) + 1)]
    rows: list[dict[str, object]] = []
    for origin, line in zip(origins, lines, strict=True):
        with placed(origin):
            rows.append(parse_line(line, "Write one JSON object a line.", keys))
    if not rows:
        raise DataError("the file is empty", where=where, fix="It needs one JSON object a line.")
    return Columns(columned(rows, origins), list(range(1, len(rows) + 1)), where, where)


def columned(rows: Sequence[Mapping[str, Any]], origins: Iterable[str]) -> dict[str, list[object]]:
    """Return rows by column; :class:`DataError` if one has other columns than the first."""
    for row, origin in zip(rows, origins, strict=True):
        if odd := ", ".join(sorted(row.keys() ^ rows[0].keys())):
            raise DataError(f"other keys than in line 1: {odd}", where=origin, fix=_SAME)
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _parquet(data: bytes, where: str) -> Columns:
    arrow: Any = require("pyarrow", extra="records")
    parquet: Any = require("pyarrow.parquet", extra="records")
    names: list[str] = []
    try:
        table: Any = parquet.read_table(io.BytesIO(data))
        names = [str(name) for name in table.column_names]
        columns: list[list[object]] = [list(column.to_pylist()) for column in table.columns]
    # ValueError: no UTF-8, or a date beyond the year 9999
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        what = "a value cannot be read" if names else "not parquet"
        fix = "Write it again, with texts and numbers."
        raise DataError(f"{what}: {error}", where=where, fix=fix) from None
    check_names(names, where)
    cells = dict(zip(names, columns, strict=True))
    return Columns(cells, list(range(1, table.num_rows + 1)), where, where)
