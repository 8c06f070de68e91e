"""Files to rows, in two steps, so that memory does not grow with the file.

:func:`read_blocks` reads raw records, cheap enough for one process; :func:`parse_block` makes
rows of them, in any process.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from grammeter.core import DataError, require
from grammeter.formats.shards import TEXT_COLUMNS, Block, Row, Shard
from grammeter.formats.tables import comma_cells
from grammeter.formats.text import encoding_notices

_NO_CELLS: list[str] = []

_STRAY = (
    "The row that begins there has a stray quote or line end; where the rows after it end is"
    " unknown."
)
_PARALLEL = "Parallel texts need one line for each sentence, in the same order."


def read_blocks(shard: Shard, rows: int) -> Iterator[Block]:
    """Read a shard, ``rows`` rows at a time.

    A table without rows is one block without records, so that its columns are known.

    Raises
    ------
    DataError
        If the file is damaged as a whole: no gzip data, no parquet, a head that is no UTF-8,
        quotes that are never closed, parallel texts of unequal lengths.
    """
    if shard.form == "parquet":
        yield from _parquet_blocks(shard, rows)
    elif shard.form == "text":
        yield from _text_blocks(shard, rows)
    else:
        yield from _line_blocks(shard, rows)


def parse_block(block: Block) -> list[Row]:
    """Return the rows of a block; what cannot be read becomes a row with a fault."""
    if block.form == "jsonl":
        return [_json_row(block.first + at, line) for at, line in enumerate(block.records)]
    if block.form == "parquet":
        return _arrow_rows(block)
    return [_listed_row(block, block.first + at, rec) for at, rec in enumerate(block.records)]


def odd_ends(shard: Shard) -> list[str]:
    """Return notices on the first lines of a shard's files: byte order marks, CR LF."""
    notices: list[str] = []
    for path in shard.paths if shard.form != "parquet" else ():
        with closing(_Reading(path)) as file:
            notices += encoding_notices(file.first_line(), path)
    return notices


_LONGEST = 1 << 26
"""Bytes of one line."""


class _Reading:
    """An open file: its lines, and how much of it was read."""

    def __init__(self, path: Path) -> None:
        self._raw = path.open("rb")
        packed = self._raw.peek(2)[:2] == b"\x1f\x8b"
        self._file = cast("IO[bytes]", gzip.GzipFile(fileobj=self._raw) if packed else self._raw)
        self._size = max(path.stat().st_size, 1)
        self._path = path

    def first_line(self) -> bytes:
        """Return the first line with its end."""
        return next(self._read(), b"")

    def lines(self) -> Iterator[bytes]:
        """Yield lines less their ends; the byte order mark is dropped."""
        first = True
        for line in self._read():
            text = line.removesuffix(b"\n").removesuffix(b"\r")
            yield text.removeprefix(b"\xef\xbb\xbf") if first else text
            first = False

    def _read(self) -> Iterator[bytes]:
        # what is short cannot have a long line; a packed file may be short, and be gigabytes
        whole = self._file is self._raw and self._size <= _LONGEST
        try:
            yield from self._file if whole else self._bounded()
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"cannot be read: {error}", where=str(self._path), fix="Fetch or pack it again."
            ) from error

    def _bounded(self) -> Iterator[bytes]:
        for number, line in enumerate(iter(partial(self._file.readline, _LONGEST), b""), start=1):
            if len(line) == _LONGEST:
                raise DataError(
                    f"a line of more than {_LONGEST >> 20} MiB",
                    where=f"{self._path}:{number}",
                    fix="Unpack the file and look at it: a row is a line.",
                )
            yield line

    @property
    def share(self) -> float:
        return min(self._raw.tell() / self._size, 1.0)

    def close(self) -> None:
        self._file.close()
        self._raw.close()


def _line_blocks(shard: Shard, rows: int) -> Generator[Block]:
    with closing(_Reading(shard.paths[0])) as file:
        lines = file.lines()
        if shard.form == "jsonl":
            yield from _cut(shard, file, lines, rows, 1, ())
        elif shard.form == "tsv":
            columns = _head(next(lines, b"").split(b"\t"), shard)
            yield from _cut(shard, file, lines, rows, 2, columns)
        else:
            cells = _csv_cells(shard, lines)
            head = [cell.encode("utf-8", "surrogateescape") for cell in next(cells, _NO_CELLS)]
            yield from _cut(shard, file, cells, rows, 2, _head(head, shard))


def _csv_cells(shard: Shard, lines: Iterator[bytes]) -> Iterator[list[str]]:
    """Yield rows; a cell in quotes may hold line ends."""
    texts = (line.decode("utf-8", "surrogateescape") + "\n" for line in lines)
    return (cells for _, cells in comma_cells(texts, shard.where, _STRAY))


def _text_blocks(shard: Shard, rows: int) -> Generator[Block]:
    files = [_Reading(path) for path in shard.paths]
    try:
        columns = TEXT_COLUMNS[: len(files)]
        yield from _cut(shard, files[0], _parallel(shard, files), rows, 1, columns)
    finally:
        for file in files:
            file.close()


def _parallel(shard: Shard, files: Sequence[_Reading]) -> Iterator[bytes]:
    """Yield lines of all files side by side; a tab inside a text becomes a blank."""
    sides = [file.lines() for file in files]
    for number, first in enumerate(sides[0], start=1):
        others = [next(side, None) for side in sides[1:]]
        short = [path for path, line in zip(shard.paths[1:], others, strict=True) if line is None]
        if short:
            what = f"ends before line {number} of {shard.paths[0]}"
            raise DataError(what, where=str(short[0]), fix=_PARALLEL)
        yield b"\t".join(line.replace(b"\t", b" ") for line in (first, *others) if line is not None)
    for path, side in zip(shard.paths[1:], sides[1:], strict=True):
        if next(side, None) is not None:
            raise DataError(f"has more lines than {shard.paths[0]}", where=str(path), fix=_PARALLEL)


def _cut(
    shard: Shard,
    file: _Reading,
    records: Iterator[Any],
    rows: int,
    first: int,
    columns: tuple[str, ...],
) -> Generator[Block]:
    begin = first
    while taken := tuple(islice(records, rows)):
        yield Block(shard.form, first, columns, taken, file.share)
        first += len(taken)
    if first == begin and columns:
        yield Block(shard.form, first, columns, (), 1.0)


def _head(cells: Sequence[bytes], shard: Shard) -> tuple[str, ...]:
    try:
        names = tuple(cell.decode("utf-8") for cell in cells)
    except UnicodeDecodeError:
        raise DataError(
            "the head is not UTF-8", where=f"{shard.where}:1", fix="Convert the file."
        ) from None
    if not any(names):
        raise DataError(
            "there is no line that names the columns",
            where=f"{shard.where}:1",
            fix="Give the file a head: source<TAB>hypothesis",
        )
    _check_once(names, shard)
    return names


def _check_once(names: Sequence[str], shard: Shard) -> None:
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise DataError(
            f"two columns are called {min(twice)!r}", where=f"{shard.where}:1", fix="Rename one."
        )


def _parquet_blocks(shard: Shard, rows: int) -> Generator[Block]:
    pyarrow: Any = require("pyarrow", extra="records")
    parquet: Any = require("pyarrow.parquet", extra="records")
    try:
        with closing(parquet.ParquetFile(shard.paths[0])) as file:
            yield from _arrow_blocks(shard, file, rows)
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        raise DataError(
            f"no sound parquet: {str(error).partition(chr(10))[0]}",
            where=shard.where,
            fix="Write it again.",
        ) from None


def _arrow_blocks(shard: Shard, file: Any, rows: int) -> Generator[Block]:
    pyarrow: Any = require("pyarrow", extra="records")
    total, first, schema = file.metadata.num_rows, 1, file.schema_arrow
    columns = tuple(schema.names)
    _check_once(columns, shard)
    for batch in file.iter_batches(batch_size=rows):
        done = (first + batch.num_rows - 1) / total
        yield Block("parquet", first, columns, (arrow_bytes(batch),), done)
        first += batch.num_rows
    if not total:
        empty = arrow_bytes(pyarrow.Table.from_batches([], schema))
        yield Block("parquet", 1, columns, (empty,), 1.0)


def arrow_bytes(batch: Any) -> bytes:
    """Write a record batch or table of Arrow as bytes, its schema included."""
    pyarrow: Any = require("pyarrow", extra="records")
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write(batch)
    return sink.getvalue().to_pybytes()


def arrow_table(data: bytes) -> Any:
    """Read what :func:`arrow_bytes` wrote, as a table."""
    pyarrow: Any = require("pyarrow", extra="records")
    return pyarrow.ipc.open_stream(data).read_all()


def _arrow_rows(block: Block) -> list[Row]:
    table = arrow_table(block.records[0])
    try:
        return [Row(block.first + at, cells) for at, cells in enumerate(table.to_pylist())]
    except (ValueError, OverflowError):  # no UTF-8, a date beyond the year 9999
        return [_arrow_row(block.first + at, table.slice(at, 1)) for at in range(table.num_rows)]


def _arrow_row(line: int, table: Any) -> Row:
    cells: dict[str, Any] = {}
    faults: list[str] = []
    for name in table.schema.names:
        try:
            cells[name] = table.column(name)[0].as_py()
        except UnicodeDecodeError as error:
            cells[name] = _shown(error.object)
            faults.append(f"{name} is not UTF-8: byte 0x{error.object[error.start]:02x}")
        except (ValueError, OverflowError) as error:
            cells[name] = None
            faults.append(f"{name} cannot be read: {error}")
    return Row(line, cells, "; ".join(faults) or None)


def _json_row(line: int, data: bytes) -> Row:
    try:
        cells = _DECODER.decode(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Row(line, {"raw": _shown(data)}, f"not UTF-8: byte 0x{data[error.start]:02x}")
    except (ValueError, RecursionError) as error:
        return Row(line, {"raw": _shown(data)}, f"no JSON: {error}")
    if not isinstance(cells, dict):
        return Row(line, {"raw": _shown(data)}, "no JSON object")
    return Row(line, cells)  # pyright: ignore[reportUnknownArgumentType]


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _listed_row(block: Block, line: int, record: Any) -> Row:
    cells: list[str]
    if isinstance(record, bytes):
        try:
            cells = record.decode("utf-8").split("\t")
        except UnicodeDecodeError as error:
            cells = _shown(record).split("\t")
            fault = f"not UTF-8: byte 0x{record[error.start]:02x}"
            return Row(line, _paired(block.columns, cells), fault)
    else:
        cells = record
        if any(_half(cell) for cell in cells):
            shown = [_shown(cell.encode("utf-8", "surrogateescape")) for cell in cells]
            return Row(line, _paired(block.columns, shown), "not UTF-8")
    if len(cells) != len(block.columns):
        count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
        return Row(line, _paired(block.columns, cells), f"{count} in {len(block.columns)} columns")
    return Row(line, dict(zip(block.columns, cells, strict=True)))


def _paired(columns: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """Put cells under the columns; the last column takes all that are too many."""
    last = len(columns) - 1
    padded = [*cells[:last], " ".join(cells[last:]), *[""] * (last - len(cells))]
    return dict(zip(columns, padded, strict=True))


def _half(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text)


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
