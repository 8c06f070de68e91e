"""Read a database that may not be written: another user's, or one on a read-only disk."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from grammeter.campaign.conf import is_file


@contextmanager
def address_for_reading(database: str | Path) -> Generator[str | None]:
    """Yield the address by which SQLite reads a file that may not be written.

    ``None`` if the file or its folder may be written, so that it is opened as always, or if it
    is no file. The latest answers may lie in ``FILE-wal``. SQLite reads them where ``FILE-shm``
    is there and up to date; else both files are copied to a private folder for as long as it
    takes, because SQLite would have to write beside them.
    """
    path = Path(database)
    if not is_file(database) or not path.is_file() or _is_writable(path):
        yield None
        return
    wal = Path(f"{path}-wal")
    if not wal.exists() or not wal.stat().st_size:
        yield _uri(path, "immutable=1")
    elif _can_be_read(_uri(path, "mode=ro")):
        yield _uri(path, "mode=ro")
    else:
        with tempfile.TemporaryDirectory(prefix="grammeter-") as folder:
            copy = Path(folder) / path.name
            shutil.copyfile(path, copy)
            shutil.copyfile(wal, f"{copy}-wal")
            yield _uri(copy, "mode=rw")


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)


def _uri(path: Path, query: str) -> str:
    return f"file:{quote(str(path.resolve()))}?{query}"


def _can_be_read(address: str) -> bool:
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        return False
    return True
