"""Caches on disk: an SQLite file with one table, keys and values, for several processes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FAULTS = (OSError, sqlite3.Error, UnicodeDecodeError)
"""What a file may fail by; the last one where a damaged file gets into the words of an error."""

_WAIT = 30.0
_AT_ONCE = 500


def private_file(path: Path) -> None:
    """Make an empty file, and its folder, for the eyes of their owner alone; leave others alone.

    SQLite gives the files that it writes beside a database the mode of the database. Raises OSError
    if it cannot be made.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def open_cache(path: Path, table: str, value: str, *, limit: int) -> sqlite3.Connection:
    """Open a file with its table; empty one that has more than ``limit`` bytes.

    The first column of ``table``, ``key``, holds bytes; ``value`` is the second as SQL declares it:
    ``parse TEXT NOT NULL``. OSError, sqlite3.Error or UnicodeDecodeError if the file cannot be
    opened, or is none of SQLite.
    """
    private_file(path)
    connection = sqlite3.connect(path, timeout=_WAIT)
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {table} (key BLOB PRIMARY KEY, {value}) WITHOUT ROWID"
        )
        if path.stat().st_size > limit:
            with connection:
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a name of ours
            connection.execute("VACUUM")
    except BaseException:
        connection.close()
        raise
    return connection


def read_cache(
    connection: sqlite3.Connection, table: str, keys: Sequence[bytes]
) -> Iterator[tuple[bytes, Any]]:
    """Return key and value of those of the keys that are there."""
    for start in range(0, len(keys), _AT_ONCE):
        part = keys[start : start + _AT_ONCE]
        marks = ",".join("?" * len(part))
        query = f"SELECT * FROM {table} WHERE key IN ({marks})"  # noqa: S608 - a name of ours
        yield from connection.execute(query, part)


def write_cache(
    connection: sqlite3.Connection, table: str, rows: Sequence[tuple[bytes, Any]]
) -> None:
    """Add keys and values, or replace the values of keys that are there; all or none."""
    with connection:
        connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", rows)  # noqa: S608
