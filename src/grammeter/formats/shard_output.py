"""Rows back to files: encoded block by block in any process, written by one.

A file is written under a temporary name and renamed when it is complete.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal, cast

from grammeter.core import DataError, UsageError, require
from grammeter.formats.shard_input import arrow_bytes, arrow_table
from grammeter.formats.shards import GZ, Shard, ShardForm, unpacked_name

ColumnKind = Literal["value", "count", "text", "list"]
"""A number or nothing, a whole number, a text, a list of edits."""

PARTIAL = ".partial"
"""Name of the temporary file used while writing."""

ROW_GROUP = 50_000
"""Rows of parquet that are written together; small groups make the footer of the file long."""

ROW_GROUP_BYTES = 1 << 25

_GZIP_LEVEL = 6

_CELL_ENDS = str.maketrans({"\t": " ", "\n": " ", "\r": " "})


def output_form(shard: Shard, form: ShardForm | None) -> ShardForm:
    """Return the format of a shard's output; raise :class:`UsageError` if it cannot be written."""
    form = form or _table_form(shard)
    if form != shard.form == "jsonl":
        raise UsageError(
            f"{shard.where}: objects of any shape have no columns for {form}",
            fix="Write jsonl, or convert the input first.",
        )
    return form


def _table_form(shard: Shard) -> ShardForm:
    return "tsv" if shard.form == "text" else shard.form


def output_name(shard: Shard, form: ShardForm) -> str:
    """Return the name of a shard's output: the input's, with another suffix if needed.

    What is packed stays packed, except for parquet, which packs its columns itself.
    """
    if form == _table_form(shard):
        return shard.name
    name = unpacked_name(Path(shard.name))
    packed = GZ if shard.name.endswith(GZ) and form != "parquet" else ""
    return f"{Path(name).stem}.{form}{packed}"


def encode(
    form: ShardForm, cells: Sequence[Mapping[str, Any]], new: Mapping[str, ColumnKind]
) -> bytes:
    """Write rows as bytes that a :class:`Sink` of the same form takes.

    Parameters
    ----------
    form
        See :func:`output_form`.
    cells
        Rows with the same columns each (JSON lines: with any).
    new
        The added columns in their order, and what they hold.
    """
    if form == "jsonl":
        # a lone surrogate of the input stays the escape that it was
        return "".join(f"{_json(row)}\n" for row in cells).encode("utf-8", "backslashreplace")
    if form == "parquet":
        return _arrow(cells, new)
    text = io.StringIO()
    if form == "csv":
        csv.writer(text, lineterminator="\n").writerows(_texts(row) for row in cells)
    else:
        for row in cells:
            line = "\t".join(cell.translate(_CELL_ENDS) for cell in _texts(row))
            text.write(f"{line}\n")
    return text.getvalue().encode("utf-8", "backslashreplace")


class Sink:
    """A file on its way out. Use :meth:`write` for blocks in order, then :meth:`finish`."""

    def __init__(self, path: Path, form: ShardForm) -> None:
        self._path, self._form = path, form
        self._partial = path.with_name(path.name + PARTIAL)
        self._raw: IO[bytes] | None = None
        self._file: IO[bytes] | None = None
        self._tables: _Tables | None = None

    def write(self, block: bytes, columns: Sequence[str]) -> None:
        """Add an encoded block; ``columns`` are the names of all columns of its rows."""
        with self._writing():
            file = self._file or self._open(columns)
            if self._form != "parquet":
                file.write(block)
                return
            if self._tables is None:
                self._tables = _Tables(file)
            self._tables.add(block)

    def finish(self) -> None:
        """Close the file, flush it to disk, and rename it."""
        with self._writing():
            if self._file is None:
                self._open(())
            self._close()
            with self._partial.open("rb") as written:
                os.fsync(written.fileno())
            self._partial.replace(self._path)

    def abandon(self) -> None:
        """Close and remove the file, whatever its state."""
        with suppress(Exception):
            self._close()
        with suppress(OSError):
            self._partial.unlink(missing_ok=True)

    def _close(self) -> None:
        """Close all streams, the innermost last, even if one of them fails."""
        with ExitStack() as closing:
            for file in (self._raw, self._file, self._tables):
                if file is not None:
                    closing.callback(file.close)

    def _open(self, columns: Sequence[str]) -> IO[bytes]:
        self._path.parent.mkdir(exist_ok=True)
        self._raw = self._partial.open("wb")
        self._file = self._raw
        if self._path.name.endswith(GZ):
            # no time and no name in the gzip head: same rows, same bytes
            packed = gzip.GzipFile("", "wb", _GZIP_LEVEL, fileobj=self._raw, mtime=0)
            self._file = cast("IO[bytes]", packed)
        if self._form in ("tsv", "csv") and columns:
            self._file.write(encode(self._form, [{name: name for name in columns}], {}))
        return self._file

    @contextmanager
    def _writing(self) -> Generator[None, None, None]:
        try:
            yield
        except OSError as error:
            raise DataError(
                f"cannot be written: {error.strerror or error}",
                where=str(self._path),
                fix="Make room or choose another folder; the same command goes on from here.",
            ) from error


class _Tables:
    """Writes Arrow tables to parquet in groups of rows."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None
        self._waiting: list[Any] = []
        self._rows = self._bytes = 0

    def add(self, block: bytes) -> None:
        table = arrow_table(block)
        if self._writer is None:
            parquet: Any = require("pyarrow.parquet", extra="records")
            self._writer = parquet.ParquetWriter(self._file, table.schema, compression="zstd")
        self._waiting.append(table.cast(self._writer.schema))
        self._rows += table.num_rows
        self._bytes += len(block)
        if self._rows >= ROW_GROUP or self._bytes >= ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        if self._rows:
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def _flush(self) -> None:
        pyarrow: Any = require("pyarrow", extra="records")
        self._writer.write_table(pyarrow.concat_tables(self._waiting), row_group_size=self._rows)
        self._waiting, self._rows, self._bytes = [], 0, 0


def _texts(row: Mapping[str, Any]) -> list[str]:
    return ["" if cell is None else cell if isinstance(cell, str) else _plain(cell)
            for cell in row.values()]  # fmt: skip


def _plain(cell: object) -> str:
    """Return the text of another cell; dates and the like without the quotes of JSON."""
    return _json(cast("object", cell)) if isinstance(cell, dict | list) else str(cell)


def _json(value: object) -> str:
    """Return JSON text; values that JSON lacks become text, NaN and infinity null."""
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _ENCODER.encode(_finite(value))


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(held) for name, held in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(held) for held in cast("Sequence[Any]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _arrow(cells: Sequence[Mapping[str, Any]], new: Mapping[str, ColumnKind]) -> bytes:
    pyarrow: Any = require("pyarrow", extra="records")
    edit = pyarrow.struct(
        [("start", pyarrow.int32()), ("end", pyarrow.int32())]
        + [(name, pyarrow.string()) for name in ("original", "correction", "type")]
    )
    types = {
        "value": pyarrow.float64(),
        "count": pyarrow.int64(),
        "text": pyarrow.string(),
        "list": pyarrow.list_(edit),
    }
    fields = [(name, types[kind]) for name, kind in new.items()]
    arrays = [pyarrow.array([row[name] for row in cells], type=kind) for name, kind in fields]
    return arrow_bytes(pyarrow.table(arrays, schema=pyarrow.schema(fields)))


def widened(original: bytes, added: bytes, rows: Sequence[int] | None = None) -> bytes:
    """Add new Arrow columns to those of the input, whose types stay as they are.

    A new column replaces one of the input with the same name. ``rows``: only these rows of
    both, counted from 0.
    """
    pyarrow: Any = require("pyarrow", extra="records")
    left, right = arrow_table(original), arrow_table(added)
    left = left.drop_columns([n for n in right.schema.names if n in left.schema.names])
    for name in right.schema.names:
        left = left.append_column(right.schema.field(name), right.column(name))
    return arrow_bytes(left if rows is None else left.take(pyarrow.array(rows, pyarrow.int64())))
