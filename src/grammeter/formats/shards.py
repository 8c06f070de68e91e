"""Tables of any length, in shards: one input file each, two or three for parallel texts.

Files become rows in two steps, so that memory does not grow with the file: :func:`read_blocks`
reads raw records, cheap enough for one process; :mod:`~grammeter.formats.shard_rows` makes rows
of them, in any, and writes rows the same way.
"""

import glob
import gzip
import io
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from os.path import exists, isfile  # false for what is no name, too
from pathlib import Path
from typing import IO, Any, Literal, cast

from grammeter.core import DataError, UsageError, require
from grammeter.formats import tables, text

ShardForm = Literal["jsonl", "tsv", "csv", "parquet", "text"]
"""What a shard is; ``text``: parallel plain texts, one sentence a line."""

TEXT_COLUMNS = ("source", "hypothesis", "reference")
"""What the files of a shard of parallel texts hold, in their order."""

GZ = ".gz"
_NAMES = "End it in .jsonl, .tsv, .csv, .parquet; parallel texts are source.txt:hypothesis.txt."
_STRAY = "The row that begins there has a stray quote or line end; where later rows end is unknown."
_LONGEST = 1 << 26  # characters of one line


@dataclass(frozen=True, slots=True)
class Shard:
    """A file, or parallel texts: sources, hypotheses, maybe references (named by the second)."""

    name: str
    form: ShardForm
    paths: tuple[Path, ...]

    @property
    def where(self) -> str:
        """The file to name in messages."""
        return str(self.paths[-1] if self.form == "text" else self.paths[0])

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self.paths)


@dataclass(frozen=True, slots=True)
class Block:
    """Raw records of one shard: a line of JSON, cells, or one table of Arrow.

    ``first`` is the number of the first row in the file: its line, of parquet the row from 1, of
    CSV the row with the head as 1, whatever line ends are in cells. ``columns`` are empty for
    JSON lines, where each record names its own. ``done`` is the share that was read, 0 to 1. In
    texts, a byte that is no UTF-8 is a lone surrogate (PEP 383).
    """

    form: ShardForm
    first: int
    columns: tuple[str, ...]
    records: tuple[Any, ...]
    done: float


@dataclass(frozen=True, slots=True)
class Row:
    """One row: number as in :class:`Block`, readable cells by column, fault if there is one."""

    line: int
    cells: Mapping[str, Any]
    fault: str | None = None


def find_shards(names: Sequence[str]) -> list[Shard]:
    """Return the shards of files, patterns and ``source.txt:hypothesis.txt[:reference.txt]``.

    A pattern (``'dir/*.parquet'``) is resolved here, sorted by name. Raises :class:`DataError` if
    there is no such file, :class:`UsageError` if a name does not tell the format.
    """
    shards = [shard for spelled in names for shard in _spelled(spelled)]
    if not shards:
        raise UsageError("no input", fix="Name one file at least.")
    return shards


def _spelled(spelled: str) -> Iterator[Shard]:
    parts = spelled.split(":")
    if 2 <= len(parts) <= 3 and all(parts) and not exists(spelled):
        paths = tuple(_existing(part) for part in parts)
        name = paths[1].name.removesuffix(GZ)
        packed = GZ if paths[1].name.endswith(GZ) else ""
        yield Shard(f"{name.removesuffix('.txt') or name}.tsv{packed}", "text", paths)
        return
    names = [spelled]
    if glob.has_magic(spelled) and not exists(spelled):
        names = sorted(glob.glob(spelled, recursive=True))
        if not names:
            raise DataError("no file fits this pattern", where=spelled, fix="Check the folder.")
    for path in map(_existing, names):
        if text.bare_name(path) != str(path).removesuffix(GZ):
            fault = f"{path}: batch reads rows as it goes, of packed files those by gzip alone"
            raise UsageError(fault, fix="Unpack the file, or pack it by gzip.")
        yield Shard(path.name, tables.sure_form(path, _NAMES), (path,))


def _existing(name: str) -> Path:
    if name == "-":
        fault = "standard input cannot be read again, as a run that goes on must"
        raise UsageError(fault, fix="Write it to a file first.")
    if not isfile(name):
        fix = "Name files, or a pattern for those of a folder: 'folder/*.parquet'."
        raise DataError("there is no such file", where=name, fix=fix)
    return Path(name)


# --- files to blocks -----------------------------------------------------------------------
def read_blocks(shard: Shard, rows: int) -> Iterator[Block]:
    """Read a shard, ``rows`` rows at a time.

    A table without rows is one block without records, so that its columns are known. Raises
    :class:`DataError` if the file is damaged as a whole: no gzip data, no parquet, a head that is
    no UTF-8, quotes that are never closed, parallel texts of unequal lengths.
    """
    return _parquet_blocks(shard, rows) if shard.form == "parquet" else _line_blocks(shard, rows)


def odd_ends(shard: Shard) -> list[str]:
    """Return notices on the first lines of a shard's files: byte order marks, CR LF."""
    notices: list[str] = []
    for path in shard.paths if shard.form != "parquet" else ():
        with _sound(path), _opened(path) as (texts, _):
            notices += text.encoding_notices(texts.buffer.readline(_LONGEST), path)
    return notices


@contextmanager
def _opened(path: Path) -> Generator[tuple[Any, IO[bytes]]]:
    """Open a file, gzip or not: its text, bytes of no UTF-8 as lone surrogates; its bytes."""
    with path.open("rb") as raw:
        packed = raw.peek(2)[:2] == b"\x1f\x8b"
        file = cast("IO[bytes]", gzip.GzipFile(fileobj=raw) if packed else raw)
        texts = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="\n")
        yield texts, raw


@contextmanager
def _sound(path: Path) -> Generator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        fix = "Fetch or pack it again."
        raise DataError(f"cannot be read: {error}", where=str(path), fix=fix) from error


def _lines(path: Path, texts: IO[str]) -> Iterator[str]:
    """Yield lines less their ends."""
    with _sound(path):
        for number, line in enumerate(iter(partial(texts.readline, _LONGEST), ""), start=1):
            if len(line) == _LONGEST:
                fault = f"a line of more than {_LONGEST >> 20} million characters"
                fix = "Unpack the file and look at it: a row is a line."
                raise DataError(fault, where=f"{path}:{number}", fix=fix)
            yield line.removesuffix("\n").removesuffix("\r")


def _line_blocks(shard: Shard, rows: int) -> Generator[Block]:
    with ExitStack() as stack:
        files = [stack.enter_context(_opened(path)) for path in shard.paths]
        lines = [_lines(path, file) for path, (file, _) in zip(shard.paths, files, strict=True)]
        columns, records = _records(shard, lines)
        begin = first = 1 if shard.form in ("jsonl", "text") else 2
        size = max(shard.paths[0].stat().st_size, 1)
        while taken := tuple(islice(records, rows)):
            yield Block(shard.form, first, columns, taken, min(files[0][1].tell() / size, 1.0))
            first += len(taken)
        if first == begin:
            yield Block(shard.form, first, columns, (), 1.0)


def _records(shard: Shard, files: list[Iterator[str]]) -> tuple[tuple[str, ...], Iterator[Any]]:
    if shard.form == "jsonl":
        return (), files[0]
    if shard.form == "text":
        return TEXT_COLUMNS[: len(files)], _parallel(shard, files)
    cells = (line.split("\t") for line in files[0])
    if shard.form == "csv":  # a cell in quotes may hold line ends
        ended = (f"{line}\n" for line in files[0])
        cells = (row for _, row in tables.comma_cells(ended, shard.where, _STRAY))
    return _head(next(cells, [""]), shard), cells


def _parallel(shard: Shard, files: Sequence[Iterator[str]]) -> Iterator[list[str]]:
    """Yield lines of all files side by side; a tab inside a text becomes a blank."""
    for number, row in enumerate(zip_longest(*files), start=1):
        if None in row:
            fault, where = f"ends before line {number}", str(shard.paths[row.index(None)])
            fix = "Parallel texts need one line for each sentence, in the same order."
            raise DataError(fault, where=where, fix=fix)
        yield [line.replace("\t", " ") for line in row]


def _head(names: Sequence[str], shard: Shard) -> tuple[str, ...]:
    where = f"{shard.where}:1"
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        raise DataError("the head is not UTF-8", where=where, fix="Convert the file.") from None
    tables.check_names(names if any(names) else (), where)
    return tuple(names)


def _parquet_blocks(shard: Shard, rows: int) -> Generator[Block]:
    pyarrow: Any = require("pyarrow", extra="records")
    parquet: Any = require("pyarrow.parquet", extra="records")
    try:
        with closing(parquet.ParquetFile(shard.paths[0])) as file:
            total, first, schema = file.metadata.num_rows, 1, file.schema_arrow
            columns = tuple(schema.names)
            tables.check_names(columns, shard.where)
            for batch in file.iter_batches(batch_size=rows) if total else [None]:
                table = pyarrow.Table.from_batches([batch] if batch else [], schema)
                done = (first + len(table) - 1) / total if total else 1.0
                yield Block("parquet", first, columns, (table,), done)
                first += len(table)
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        fault = f"no sound parquet: {str(error).partition(chr(10))[0]}"
        raise DataError(fault, where=shard.where, fix="Write it again.") from None
