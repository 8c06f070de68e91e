"""Tables of any length, in shards: one input file each, two or three for parallel texts.

Files become rows in two steps, so that memory does not grow with the file: :func:`read_blocks`
reads raw records, cheap enough for one process; :mod:`~grammeter.formats.shard_rows` makes rows
of them, in any, and writes rows the same way.
"""

import glob
import gzip
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from os.path import exists, isdir, isfile  # false for what is no name, too
from pathlib import Path
from typing import IO, Any, Literal, cast

from grammeter.core import DataError, UsageError, require
from grammeter.formats import tables, text

ShardForm = Literal["jsonl", "tsv", "csv", "parquet", "text"]
"""What a shard is; ``text``: parallel plain texts, one sentence a line."""

TEXT_COLUMNS = ("source", "hypothesis", "reference")
"""What the files of a shard of parallel texts hold, in their order."""

GZ = ".gz"
_NO_CELLS: list[str] = []
_NAMES = "End it in .jsonl, .tsv, .csv, .parquet; parallel texts are source.txt:hypothesis.txt."
_STRAY = "The row that begins there has a stray quote or line end; where later rows end is unknown."
_PARALLEL = "Parallel texts need one line for each sentence, in the same order."
_LONGEST = 1 << 26  # bytes of one line


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
    """Raw records of one shard: bytes of a line, cells of CSV, or one table of Arrow as bytes.

    ``first`` is the number of the first row in the file: its line, of parquet the row from 1, of
    CSV the row with the head as 1, whatever line ends are in cells. ``columns`` are empty for
    JSON lines, where each record names its own. ``done`` is the share that was read, 0 to 1.
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


def find_shards(names: Sequence[str], form: ShardForm | None = None) -> list[Shard]:
    """Return the shards of files, patterns and ``source.txt:hypothesis.txt[:reference.txt]``.

    A pattern (``'dir/*.parquet'``) is resolved here, sorted by name; ``form`` is by default what
    the names tell. Raises :class:`DataError` if there is no such file, :class:`UsageError` if a
    name does not tell the format, or two shards have one name.
    """
    shards = [shard for spelled in names for shard in _spelled(spelled, form)]
    if not shards:
        raise UsageError("no input", fix="Name one file at least.")
    seen: dict[str, Shard] = {}
    for shard in shards:
        if (other := seen.setdefault(shard.name, shard)) is not shard:
            fault = f"two inputs are called {shard.name}: {other.where} and {shard.where}"
            raise UsageError(fault, fix="Outputs would be one file. Rename one, or run twice.")
    return shards


def _spelled(spelled: str, form: ShardForm | None) -> Iterator[Shard]:
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
        yield Shard(path.name, form or tables.sure_form(path, _NAMES), (path,))


def _existing(name: str) -> Path:
    path = Path(name)
    if isfile(path):
        return path
    if name == "-":
        fault = "standard input cannot be read again, as a run that goes on must"
        raise UsageError(fault, fix="Write it to a file first.")
    what = "this is a folder, not a file" if isdir(path) else "there is no such file"
    fix = f"Name its files: '{path / '*.parquet'}'" if isdir(path) else "Check the path."
    raise DataError(what, where=name, fix=fix)


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
        with closing(_Reading(path)) as file:
            notices += text.encoding_notices(next(file.lines(), b""), path)
    return notices


class _Reading:
    def __init__(self, path: Path) -> None:
        self._raw = path.open("rb")
        packed = self._raw.peek(2)[:2] == b"\x1f\x8b"
        self._file = cast("IO[bytes]", gzip.GzipFile(fileobj=self._raw) if packed else self._raw)
        self._size = max(path.stat().st_size, 1)
        self._path = path

    def lines(self) -> Iterator[bytes]:
        # what is short cannot have a long line; a packed file may be short, and be gigabytes
        whole = self._file is self._raw and self._size <= _LONGEST
        try:
            yield from self._file if whole else self._bounded()
        except (OSError, EOFError, zlib.error) as error:
            fix = "Fetch or pack it again."
            raise DataError(f"cannot be read: {error}", where=str(self._path), fix=fix) from error

    def texts(self) -> Iterator[bytes]:
        """Yield lines less their ends; the byte order mark is dropped."""
        lines = self.lines()
        for line in lines:
            yield _text(line).removeprefix(b"\xef\xbb\xbf")
            break
        yield from map(_text, lines)

    def _bounded(self) -> Iterator[bytes]:
        for number, line in enumerate(iter(partial(self._file.readline, _LONGEST), b""), start=1):
            if len(line) == _LONGEST:
                fault = f"a line of more than {_LONGEST >> 20} MiB"
                fix = "Unpack the file and look at it: a row is a line."
                raise DataError(fault, where=f"{self._path}:{number}", fix=fix)
            yield line

    @property
    def share(self) -> float:
        return min(self._raw.tell() / self._size, 1.0)

    def close(self) -> None:
        self._file.close()
        self._raw.close()


def _text(line: bytes) -> bytes:
    return line.removesuffix(b"\n").removesuffix(b"\r")


def _line_blocks(shard: Shard, rows: int) -> Generator[Block]:
    with ExitStack() as stack:
        files = [stack.enter_context(closing(_Reading(path))) for path in shard.paths]
        columns, records = _records(shard, [file.texts() for file in files])
        begin = first = 1 if shard.form in ("jsonl", "text") else 2
        while taken := tuple(islice(records, rows)):
            yield Block(shard.form, first, columns, taken, files[0].share)
            first += len(taken)
        if first == begin and columns:
            yield Block(shard.form, first, columns, (), 1.0)


def _records(shard: Shard, files: list[Iterator[bytes]]) -> tuple[tuple[str, ...], Iterator[Any]]:
    if shard.form == "jsonl":
        return (), files[0]
    if shard.form == "text":
        return TEXT_COLUMNS[: len(files)], _parallel(shard, files)
    texts = (line.decode("utf-8", "surrogateescape") + "\n" for line in files[0])
    if shard.form == "tsv":
        return _head(next(texts, "\n")[:-1].split("\t"), shard), files[0]
    # a cell in quotes may hold line ends
    cells = (cells for _, cells in tables.comma_cells(texts, shard.where, _STRAY))
    return _head(next(cells, _NO_CELLS), shard), cells


def _parallel(shard: Shard, files: Sequence[Iterator[bytes]]) -> Iterator[bytes]:
    """Yield lines of all files side by side; a tab inside a text becomes a blank."""
    for number, first in enumerate(files[0], start=1):
        others = [next(file, None) for file in files[1:]]
        short = [path for path, line in zip(shard.paths[1:], others, strict=True) if line is None]
        if short:
            what = f"ends before line {number} of {shard.paths[0]}"
            raise DataError(what, where=str(short[0]), fix=_PARALLEL)
        yield b"\t".join(line.replace(b"\t", b" ") for line in (first, *others) if line is not None)
    for path, file in zip(shard.paths[1:], files[1:], strict=True):
        if next(file, None) is not None:
            raise DataError(f"has more lines than {shard.paths[0]}", where=str(path), fix=_PARALLEL)


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
            for batch in file.iter_batches(batch_size=rows) if total else [schema.empty_table()]:
                done = (first + batch.num_rows - 1) / total if total else 1.0
                yield Block("parquet", first, columns, (arrow_bytes(batch),), done)
                first += batch.num_rows
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        fault = f"no sound parquet: {str(error).partition(chr(10))[0]}"
        raise DataError(fault, where=shard.where, fix="Write it again.") from None


def arrow_bytes(batch: Any) -> bytes:
    """Write a record batch or table of Arrow as bytes, its schema included."""
    pyarrow: Any = require("pyarrow", extra="records")
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write(batch)
    return sink.getvalue().to_pybytes()


def arrow_table(data: bytes) -> Any:
    """Read what :func:`arrow_bytes` wrote, as a table."""
    return require("pyarrow", extra="records").ipc.open_stream(data).read_all()
