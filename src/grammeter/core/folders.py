"""Folders: where caches lie, the user's own, and those in which one process works at a time."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from grammeter.core.errors import DataError, GrammeterError, UsageError, disk_faults

VARIABLE = "GRAMMETER_CACHE"
"""Names the folder of caches; ``off`` does without."""

OFF = "off"

LOCK = ".lock"
"""A file in a folder where somebody is at work."""


def cache_folder(given: str | Path | None = None) -> Path | None:
    """Return the folder of caches; ``None`` where there shall be none, or no place for one.

    ``given`` is a folder, ``off``, or ``None``: that of ``GRAMMETER_CACHE``, else the user's.
    """
    chosen = str(given or os.environ.get(VARIABLE) or "")
    if chosen == OFF:
        return None
    if chosen:
        return expanded(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "grammeter"
    return own / ".cache" / "grammeter" if (own := home()) else None


def expanded(path: str | Path) -> Path:
    """Return a path whose ``~`` stands for a user's folder; as it is where nobody has one."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def home() -> Path | None:
    """Return the user's own folder; services and containers may have none."""
    try:
        return Path.home()
    except RuntimeError:
        return None


@contextmanager
def only_one(folder: Path, *, kind: type[GrammeterError] = DataError) -> Generator[None]:
    """Make a folder and keep other processes out; UsageError if one is in, ``kind`` on a fault."""
    path = folder / LOCK
    with disk_faults(folder, "Name another folder.", kind=kind):
        folder.mkdir(parents=True, exist_ok=True)
        while (file := _locked(path)) and not _is_there(file, path):  # who had it took it away
            file.close()
    if file is None:
        fault = f"another run writes to {folder}"
        raise UsageError(fault, fix="Wait for it, or give another folder.")
    try:
        yield
    finally:
        with suppress(OSError):  # some systems keep what is open
            path.unlink(missing_ok=True)
        file.close()


def _locked(path: Path) -> IO[str] | None:
    file = path.open("w")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except (ImportError, OSError):  # a system without locks: nobody is kept out
        pass
    return file


def _is_there(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
