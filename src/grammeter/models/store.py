"""The cache of figures: an SQLite file that several processes may use at once.

It is emptied when it has grown too large; figures that cannot be read or written are computed
again, with a warning. Keys are hashes of the model, the measure and the item.
"""

from __future__ import annotations

import hashlib
import sqlite3
import warnings
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from grammeter.core import (
    FAULTS,
    BoolArray,
    FloatArray,
    UsageError,
    open_cache,
    read_cache,
    write_cache,
)
from grammeter.models.measures import Item

FILE = "figures-1.sqlite"
"""Name of the file, with the version of its format and of the arithmetic of the figures."""

SIZE_LIMIT = 4 << 30
"""Maximum bytes; a larger file is emptied."""

_TABLE = "figures"


def check_folder(folder: str | Path) -> None:
    """Create the folder of a store.

    Raises
    ------
    UsageError
        If it cannot be created or is not writable.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with closing(_connect(path)) as connection:
            connection.execute("DELETE FROM figures WHERE key IS NULL")  # there is none
    except FAULTS as error:
        if _is_busy(error):
            return
        raise UsageError(
            f"figures cannot be kept in {str(folder)!r}: {_words(error)}",
            fix=f"Name a folder that can be written, or delete {FILE} there if it is damaged;"
            " without --cache-dir nothing is kept.",
        ) from None


class Store:
    """The figures of one measure by one model.

    Parameters
    ----------
    folder
        Folder of the file; ``None``: no cache.
    identity
        Everything that a figure depends on besides the item.
    width
        Number of figures of an item.
    """

    def __init__(self, folder: str | Path | None, identity: str, width: int) -> None:
        self._folder = None if folder is None else Path(folder)
        self._identity = hashlib.blake2b(identity.encode("utf-8"), digest_size=16).digest()
        self._width = width

    def read(self, items: Sequence[Item]) -> tuple[FloatArray, BoolArray]:
        """Return figures, shape ``(items, width)``, and which items are known."""
        figures = np.full((len(items), self._width), np.nan)
        known = np.zeros(len(items), dtype=np.bool_)
        if self._folder is None or not items:
            return figures, known
        places = {self._key(item): place for place, item in enumerate(items)}
        try:
            with closing(_connect(self._folder)) as connection:
                for key, value in read_cache(connection, _TABLE, list(places)):
                    if isinstance(value, bytes) and len(value) == 8 * self._width:
                        figures[places[key]] = np.frombuffer(value, dtype="<f8")
                        known[places[key]] = True
        except FAULTS as error:
            self._give_up(error)
        return figures, known

    def write(self, items: Sequence[Item], rows: FloatArray) -> None:
        """Add or replace the figures of items."""
        if self._folder is None or not items:
            return
        values = np.ascontiguousarray(rows, dtype="<f8")
        pairs = [(self._key(item), row.tobytes()) for item, row in zip(items, values, strict=True)]
        try:
            with closing(_connect(self._folder)) as connection:
                write_cache(connection, _TABLE, pairs)
        except FAULTS as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """Stop using the file."""
        warnings.warn(
            f"{self._folder}: figures are not kept any more: {_words(error)}", stacklevel=2
        )
        self._folder = None

    def _key(self, item: Item) -> bytes:
        texts = (item,) if isinstance(item, str) else item
        digest = hashlib.blake2b(self._identity, digest_size=16)
        for text in texts:
            content = text.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "little") + content)
        return digest.digest()


def _connect(folder: Path) -> sqlite3.Connection:
    return open_cache(folder / FILE, _TABLE, "value BLOB NOT NULL", limit=SIZE_LIMIT)


def _is_busy(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
