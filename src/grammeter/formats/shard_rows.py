"""Rows of shards: encoded block by block in any process, written by one, renamed at the end."""

import csv
import gzip
import io
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import IO, Any, Literal, cast

from grammeter.core import UsageError, disk_faults, plain, require
from grammeter.formats.shards import GZ, Block, Row, Shard, ShardForm

ColumnKind = Literal["value", "count", "text", "list"]
"""A number or nothing, a whole number, a text, a list of edits."""

PARTIAL = ".partial"  # name of the temporary file used while writing

# rows of parquet that are written together; small groups make the footer of the file long
_ROW_GROUP = 20_000
_GZIP_LEVEL = 6
_FIX = "Make room or choose another folder; the same command goes on from here."
_CELL_ENDS = str.maketrans({"\t": " ", "\n": " ", "\r": " "})


def parse_block(block: Block) -> list[Row]:
    """Return the rows of a block; what cannot be read becomes a row with a fault."""
    if block.form == "parquet":
        table, first = block.records[0], block.first
        try:
            return [Row(line, cells) for line, cells in enumerate(table.to_pylist(), start=first)]
        except (ValueError, OverflowError):  # no UTF-8, a date beyond the year 9999
            return [_arrow_row(first + at, table.slice(at, 1)) for at in range(table.num_rows)]
    numbered = enumerate(block.records, start=block.first)
    if block.form == "jsonl":
        return [_json_row(line, data) for line, data in numbered]
    return [_listed_row(block.columns, line, record) for line, record in numbered]


def _arrow_row(line: int, table: Any) -> Row:
    try:
        return Row(line, table.to_pylist()[0])
    except (ValueError, OverflowError) as error:
        return Row(line, dict.fromkeys(table.schema.names), f"cannot be read: {error}")


def _json_row(line: int, text: str) -> Row:
    shown, fault = _readable(text)
    cells: object = None
    try:
        cells = None if fault else _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        fault = f"no JSON: {error}"
    if isinstance(cells, dict):
        return Row(line, cast("dict[str, Any]", cells))
    return Row(line, {"raw": shown}, fault or "no JSON object")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _listed_row(columns: Sequence[str], line: int, cells: Sequence[str]) -> Row:
    """Put cells under the columns; the last column takes all that are too many."""
    readable = [_readable(cell) for cell in cells]
    texts, last = [text for text, _ in readable], len(columns) - 1
    fault = next((fault for _, fault in readable if fault), None)
    if fault is None and len(cells) != len(columns):
        fault = f"{len(cells)} cell{'s' * (len(cells) != 1)} in {len(columns)} columns"
    padded = [*texts[:last], " ".join(texts[last:]), *[""] * (last - len(texts))]
    return Row(line, dict(zip(columns, padded, strict=True)), fault)


def _readable(text: str) -> tuple[str, str | None]:
    """Return a text with escapes for bytes that are no UTF-8, and the first one as a fault."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        data = text.encode("utf-8", "surrogateescape")
        fault = f"not UTF-8: byte 0x{ord(text[error.start]) - 0xDC00:02x}"
        return data.decode("utf-8", "backslashreplace"), fault
    return text, None


# --- rows to files --------------------------------------------------------------------------
def output_of(shard: Shard, form: ShardForm | None) -> tuple[ShardForm, str]:
    """Return format and name of a shard's output; packed stays packed, except for parquet.

    Raises :class:`UsageError` if it cannot be written.
    """
    usual: ShardForm = "tsv" if shard.form == "text" else shard.form
    if form in (None, usual):
        return usual, shard.name
    if shard.form == "jsonl":
        fault = f"{shard.where}: objects of any shape have no columns for {form}"
        raise UsageError(fault, fix="Write jsonl, or convert the input first.")
    packed = GZ if shard.name.endswith(GZ) and form != "parquet" else ""
    return form, f"{Path(shard.name.removesuffix(GZ)).stem}.{form}{packed}"


def encode(
    form: ShardForm, cells: Sequence[Mapping[str, Any]], new: Mapping[str, ColumnKind]
) -> Any:
    """Make bytes, or a table of Arrow, of rows with equal columns, for a :class:`Sink`."""
    if form == "jsonl":
        # a lone surrogate of the input stays the escape that it was
        return "".join(f"{_json(row)}\n" for row in cells).encode("utf-8", "backslashreplace")
    if form == "parquet":
        return _arrow(cells, new)
    text = io.StringIO()
    if form == "csv":
        csv.writer(text, lineterminator="\n").writerows(map(_text, row.values()) for row in cells)
    else:
        for row in cells:
            line = "\t".join(cell.translate(_CELL_ENDS) for cell in map(_text, row.values()))
            text.write(f"{line}\n")
    return text.getvalue().encode("utf-8", "backslashreplace")


class Sink:
    """A file on its way out. Use :meth:`write` for blocks in order, then :meth:`finish`."""

    def __init__(self, path: Path, form: ShardForm) -> None:
        self._path, self._form = path, form
        self._partial = path.with_name(path.name + PARTIAL)
        self._streams = ExitStack()  # closes all, the outermost first, even if one of them fails
        self._file: IO[bytes] | _Tables | None = None

    def write(self, block: Any, columns: Sequence[str]) -> None:
        """Add an encoded block; ``columns`` are the names of all columns of its rows."""
        with disk_faults(self._path, _FIX):
            (self._file or self._open(columns)).write(block)

    def finish(self) -> None:
        """Close the file, flush it to disk, and rename it."""
        with disk_faults(self._path, _FIX):
            self._streams.close()
            with self._partial.open("rb") as written:
                os.fsync(written.fileno())
            self._partial.replace(self._path)

    def abandon(self) -> None:
        """Close and remove the file, whatever its state."""
        with suppress(Exception):
            self._streams.close()
        with suppress(OSError):
            self._partial.unlink(missing_ok=True)

    def _open(self, columns: Sequence[str]) -> "IO[bytes] | _Tables":
        self._path.parent.mkdir(exist_ok=True)
        file: Any = self._streams.enter_context(self._partial.open("wb"))
        if self._path.name.endswith(GZ):
            # no time and no name in the gzip head: same rows, same bytes
            packed = gzip.GzipFile("", "wb", _GZIP_LEVEL, fileobj=file, mtime=0)
            file = self._streams.enter_context(packed)
        if self._form == "parquet":
            file = self._streams.enter_context(closing(_Tables(file)))
        self._file = file
        if self._form in ("tsv", "csv"):
            file.write(encode(self._form, [{name: name for name in columns}], {}))
        return file


class _Tables:
    """A file of parquet, whose row groups are some blocks long."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None
        self._waiting: list[Any] = []

    def write(self, table: Any) -> None:
        if self._writer is None:
            parquet: Any = require("pyarrow.parquet", extra="records")
            self._writer = parquet.ParquetWriter(self._file, table.schema, compression="zstd")
        self._waiting.append(table.cast(self._writer.schema))
        if sum(map(len, self._waiting)) >= _ROW_GROUP:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if any(map(len, self._waiting)):
            pyarrow: Any = require("pyarrow", extra="records")
            self._writer.write_table(pyarrow.concat_tables(self._waiting))
        self._waiting = []


def _text(cell: object) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, dict | list):
        return _json(cast("object", cell))
    return "" if cell is None else str(cell)


def _json(value: object) -> str:
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _ENCODER.encode(plain(value))


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str, allow_nan=False)


def _arrow(cells: Sequence[Mapping[str, Any]], new: Mapping[str, ColumnKind]) -> Any:
    pyarrow: Any = require("pyarrow", extra="records")
    whole, text = pyarrow.int32(), pyarrow.string()
    edit = {"start": whole, "end": whole, "original": text, "correction": text, "type": text}
    edits = pyarrow.list_(pyarrow.struct(list(edit.items())))
    types = {"value": pyarrow.float64(), "count": pyarrow.int64(), "text": text, "list": edits}
    fields = [(name, types[kind]) for name, kind in new.items()]
    arrays = [pyarrow.array([row[name] for row in cells], type=kind) for name, kind in fields]
    return pyarrow.table(arrays, schema=pyarrow.schema(fields))


def widened(left: Any, right: Any, rows: Sequence[int] | None = None) -> Any:
    """Add or replace columns of an Arrow table; types stay. ``rows``: only these, from 0."""
    pyarrow: Any = require("pyarrow", extra="records")
    left = left.drop_columns([n for n in right.schema.names if n in left.schema.names])
    for name in right.schema.names:
        left = left.append_column(right.schema.field(name), right.column(name))
    return left if rows is None else left.take(pyarrow.array(rows, pyarrow.int64()))
