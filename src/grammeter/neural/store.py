"""Figures on disk: an SQLite file that several processes may use at once.

The file is only a cache: what cannot be read or written is computed anew, and it is emptied
when it has grown too large. Keys are hashes of the model, the measure and the item.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from grammeter.core.statistics import BoolArray, FloatArray
from grammeter.neural.measures import Item

FILE = "figures-1.sqlite"
"""The number is that of the file's format and of the arithmetic behind the figures."""

SIZE_LIMIT = 4 << 30
"""Bytes; a larger file is begun anew."""

_WAIT = 30.0
_AT_ONCE = 500


class Store:
    """The figures of one measure under one model.

    Parameters
    ----------
    folder
        Where the file lies or shall lie; ``None`` remembers nothing.
    identity
        All that a figure depends on besides the item.
    width
        How many figures an item has.
    """

    def __init__(self, folder: Path | None, identity: str, width: int) -> None:
        self._folder = folder
        self._identity = hashlib.blake2b(identity.encode("utf-8"), digest_size=16).digest()
        self._width = width

    def read(self, items: Sequence[Item]) -> tuple[FloatArray, BoolArray]:
        """Return figures, shape ``(items, width)``, and which of them are known."""
        figures = np.full((len(items), self._width), np.nan)
        known = np.zeros(len(items), dtype=np.bool_)
        connection = self._open() if items else None
        if connection is None:
            return figures, known
        places = {self._key(item): place for place, item in enumerate(items)}
        with closing(connection):
            try:
                for key, value in _select(connection, list(places)):
                    row = np.frombuffer(value, dtype="<f8")
                    if len(row) == self._width:
                        figures[places[key]], known[places[key]] = row, True
            except sqlite3.Error:
                self._folder = None
        return figures, known

    def write(self, items: Sequence[Item], rows: FloatArray) -> None:
        """Add the figures of items, or replace them."""
        connection = self._open() if len(items) else None
        if connection is None:
            return
        values = np.ascontiguousarray(rows, dtype="<f8")
        pairs = [(self._key(item), row.tobytes()) for item, row in zip(items, values, strict=True)]
        with closing(connection):
            try:
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO figures VALUES (?, ?)", pairs)
            except sqlite3.Error:
                self._folder = None

    def _open(self) -> sqlite3.Connection | None:
        """Open the file; from then on do without one that cannot be opened."""
        if self._folder is None:
            return None
        path = self._folder / FILE
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=_WAIT)
        except (OSError, sqlite3.Error):
            self._folder = None
            return None
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS figures (key BLOB PRIMARY KEY, value BLOB NOT NULL)"
                " WITHOUT ROWID"
            )
            if path.stat().st_size > SIZE_LIMIT:
                connection.execute("DELETE FROM figures")
                connection.commit()
                connection.execute("VACUUM")
        except (OSError, sqlite3.Error):
            connection.close()
            self._folder = None
            return None
        return connection

    def _key(self, item: Item) -> bytes:
        texts = (item,) if isinstance(item, str) else item
        digest = hashlib.blake2b(self._identity, digest_size=16)
        for text in texts:
            content = text.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "little") + content)
        return digest.digest()


def _select(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    rows: list[tuple[bytes, bytes]] = []
    for start in range(0, len(keys), _AT_ONCE):
        part = keys[start : start + _AT_ONCE]
        marks = ",".join("?" * len(part))
        rows += connection.execute(
            f"SELECT key, value FROM figures WHERE key IN ({marks})",  # noqa: S608
            part,
        )
    return rows
