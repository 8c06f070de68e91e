"""Tables of any length, in shards: one input file each, two or three for parallel texts.

:mod:`~grammeter.formats.shard_input` reads them a block of rows at a time,
:mod:`~grammeter.formats.shard_output` writes them the same way.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import exists, isdir, isfile  # false for what is no name, too
from pathlib import Path
from typing import Any, Literal

from grammeter.core import DataError, UsageError
from grammeter.formats.tables import sure_form

ShardForm = Literal["jsonl", "tsv", "csv", "parquet", "text"]
"""What a shard is; ``text``: parallel plain texts, one sentence a line."""

TEXT_COLUMNS = ("source", "hypothesis", "reference")
"""What the files of a shard of parallel texts hold, in their order."""

GZ = ".gz"

_FIX = (
    "Let it end in .jsonl, .tsv, .csv or .parquet, or name parallel texts as"
    " source.txt:hypothesis.txt."
)


@dataclass(frozen=True, slots=True)
class Shard:
    """One piece of the input.

    Attributes
    ----------
    name
        File name, also that of its output; for parallel texts that of the second file.
    paths
        One file; for parallel texts sources, hypotheses and, if any, references.
    """

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
    """Raw records of one shard.

    Attributes
    ----------
    first
        Number of its first row in the file: its line, of parquet the row from 1, of CSV the row
        with the head as 1, whatever line ends are in cells.
    columns
        Names of the columns; empty for JSON lines, where each record names its own.
    records
        Bytes of a line, cells of a line of CSV, or one table of Arrow in its own format.
    done
        Share of the shard that was read with this block, 0 to 1.
    """

    form: ShardForm
    first: int
    columns: tuple[str, ...]
    records: tuple[Any, ...]
    done: float


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes
    ----------
    line
        Its number in the file; see :class:`Block`.
    cells
        By column; of a row that could not be read, what could be, or nothing.
    fault
        Why it could not be read.
    """

    line: int
    cells: Mapping[str, Any]
    fault: str | None = None


def find_shards(names: Sequence[str], form: ShardForm | None = None) -> list[Shard]:
    """Return the shards of files, patterns and ``source.txt:hypothesis.txt[:reference.txt]``.

    Parameters
    ----------
    names
        As the shell passes them; a pattern in quotes (``'dir/*.parquet'``) is resolved here,
        sorted by name.
    form
        Format of the files; default: by their names.

    Raises
    ------
    DataError
        If a file is not there, or a pattern matches none.
    UsageError
        If a name does not tell the format, or two shards have one name.
    """
    shards = [shard for spelled in names for shard in _spelled(spelled, form)]
    if not shards:
        raise UsageError("no input", fix="Name one file at least.")
    seen: dict[str, Shard] = {}
    for shard in shards:
        other = seen.setdefault(shard.name, shard)
        if other is not shard:
            raise UsageError(
                f"two inputs are called {shard.name}: {other.where} and {shard.where}",
                fix="Their outputs would be one file. Rename one, or run twice.",
            )
    return shards


def unpacked_name(path: Path) -> str:
    """Return a file's name less ``.gz``."""
    return path.name.removesuffix(GZ)


def _spelled(spelled: str, form: ShardForm | None) -> Iterator[Shard]:
    parts = spelled.split(":")
    if 2 <= len(parts) <= 3 and all(parts) and not exists(spelled):
        paths = tuple(_existing(part) for part in parts)
        yield Shard(_table_name(paths[1]), "text", paths)
        return
    names = [spelled]
    if glob.has_magic(spelled) and not exists(spelled):
        names = sorted(glob.glob(spelled, recursive=True))
        if not names:
            raise DataError("no file fits this pattern", where=spelled, fix="Check the folder.")
    for name in names:
        path = _existing(name)
        yield Shard(path.name, form or sure_form(path.name, _FIX), (path,))


def _existing(name: str) -> Path:
    path = Path(name)
    if isfile(path):
        return path
    if name == "-":
        raise UsageError(
            "standard input cannot be read again, as a run that goes on must",
            fix="Write it to a file first.",
        )
    what = "this is a folder, not a file" if isdir(path) else "there is no such file"
    fix = f"Name its files: '{path / '*.parquet'}'" if isdir(path) else "Check the path."
    raise DataError(what, where=name, fix=fix)


def _table_name(hypotheses: Path) -> str:
    """Return the name of the table that parallel texts become; packed if the texts are."""
    name = unpacked_name(hypotheses)
    packed = GZ if hypotheses.name.endswith(GZ) else ""
    return f"{name.removesuffix('.txt') or name}.tsv{packed}"
