"""Caches on disk: an SQLite file with one table, keys and values, for several processes."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

FAULTS = (OSError, sqlite3.Error, UnicodeDecodeError)
"""What a file may fail by; the last one where a damaged file gets into the words of an error."""

_WAIT = 30.0
_AT_ONCE = 500


def private_file(path: Path) -> None:
    """Make an empty file and its folder for their owner alone, as SQLite's other files are then."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


class Cache:
    """Keys, which are bytes, and values in an SQLite file; None as ``path`` stores nothing.

    ``value`` is the column of ``table`` for values, as SQL declares it: ``parse TEXT NOT NULL``. A
    file of more than ``limit`` bytes is emptied. After one of :data:`FAULTS`, which ``on_fault``
    gets, nothing is read or stored any more.
    """

    def __init__(
        self, path: Path | None, table: str, value: str,
        *, limit: int, on_fault: Callable[[Exception], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self._path, self._table, self._value = path, table, value
        self._limit, self._on_fault = limit, on_fault

    def __bool__(self) -> bool:
        """Whether anything is stored."""
        return self._path is not None

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        """Return the values of those of the keys that are there."""
        values: dict[bytes, Any] = {}

        def read(connection: sqlite3.Connection) -> None:
            for start in range(0, len(keys), _AT_ONCE):
                part = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT * FROM {self._table} WHERE key IN ({marks})"  # noqa: S608
                values.update(connection.execute(query, part))

        self._try(read, keys)
        return values

    def write(self, rows: Sequence[tuple[bytes, Any]]) -> None:
        """Add keys and values, or replace the values of keys that are there; all or none."""
        query = f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?)"  # noqa: S608 - a name of ours
        self._try(lambda connection: connection.executemany(query, rows), rows)

    def open(self, path: Path) -> sqlite3.Connection:
        """Open the file with its table; one of FAULTS if that fails, or it is none of SQLite."""
        path.parent.mkdir(parents=True, exist_ok=True)
        private_file(path)
        connection = sqlite3.connect(path, timeout=_WAIT)
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            table = f"{self._table} (key BLOB PRIMARY KEY, {self._value})"
            connection.execute(f"CREATE TABLE IF NOT EXISTS {table} WITHOUT ROWID")
            if path.stat().st_size > self._limit:
                with connection:
                    connection.execute(f"DELETE FROM {self._table}")  # noqa: S608
                connection.execute("VACUUM")
        except BaseException:
            connection.close()
            raise
        return connection

    def _try(self, work: Callable[[sqlite3.Connection], object], items: Sequence[object]) -> None:
        if self._path is None or not items:
            return
        try:
            with closing(self.open(self._path)) as connection, connection:
                work(connection)
        except FAULTS as error:
            self._path = None
            self._on_fault(error)
