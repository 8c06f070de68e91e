"""Open a campaign database for as long as a function needs it, also without write access."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from grammeter.campaign import conf
from grammeter.campaign.conf import is_file


@contextmanager
def opened(
    database: str | Path, *, make: bool = False, reading: str | None = None
) -> Generator[None]:
    """Open a database: create a missing one with ``make``; ``reading`` is a read-only address."""
    conf.configure(database, reading=reading)
    from traceback import clear_frames

    from django.db import connections

    from grammeter.campaign.services import database as databases

    try:
        (databases.open_or_make if make else databases.open_existing)(database)
        with databases.explained(database):
            yield
    except BaseException as error:
        clear_frames(error.__traceback__)  # open cursors must be closed before their database
        raise
    finally:
        connections.close_all()


@contextmanager
def opened_for_reading(database: str | Path) -> Generator[bool]:
    """Open a database for reading; yield whether it is writable, too."""
    with address_for_reading(database) as address, opened(database, reading=address):
        yield address is None


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
