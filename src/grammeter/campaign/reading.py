"""Read a database without write access: another user's, or one on a read-only disk."""

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
    """Yield SQLite's address for reading a file without write access; else ``None``.

    The latest answers may be in ``FILE-wal``. SQLite reads them if ``FILE-shm`` is up to date;
    otherwise both files are copied to a temporary folder, because SQLite would have to write.
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
