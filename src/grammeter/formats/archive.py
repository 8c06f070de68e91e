"""The files inside a folder, a zip or a tar, read without unpacking them to disk.

Downloads are not trusted: members with absolute paths, ``..`` or links are refused, and their
number, total size and ratio to the packed size are limited.
"""

import bz2
import gzip
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, cast

from grammeter.core import DataError
from grammeter.formats.text import MAX_RATIO, gunzip

MAX_MEMBERS = 20_000
MAX_TOTAL = 512 * 2**20  # bytes of all members together
_FREE_BYTES = 2**20  # totals up to this size are harmless, whatever their ratio
_BLOCK = 2**16
_GZIP = b"\x1f\x8b"
_BZIP2 = b"BZh"
_DAMAGED = zlib.error, tarfile.TarError, zipfile.BadZipFile
_FAULTS = OSError, EOFError, NotImplementedError, *_DAMAGED
_FIX = "Fetch it again from its official page, or unpack it yourself and give the folder."


def contents(path: Path, *, limit: int) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of the files in a file, folder, zip or tar, but those over ``limit``."""
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
        if is_file and zipfile.is_zipfile(path):
            yield from _zip(path, limit, _Budget(path))
        elif is_file and _is_tar(path):
            yield from _tar(path, limit, _Budget(path))
        elif is_file or path.is_dir():
            inside = (file for file in sorted(path.rglob("*")) if file.is_file())
            for file in [path] if is_file else inside:
                if file.stat().st_size <= limit:
                    name = file.name if is_file else file.relative_to(path).as_posix()
                    yield name, file.read_bytes()
        else:
            raise OSError("no file and no folder")
    except FileNotFoundError:
        raise DataError("no such file or folder", where=str(path), fix="Check the path.") from None
    except _FAULTS as error:
        raise DataError(f"cannot be read: {error}", where=str(path), fix=_FIX) from error


def unpacked(data: bytes, name: str, *, limit: int) -> bytes | None:
    """Unpack gzip, leave other bytes as they are; ``None`` beyond ``limit`` bytes."""
    if data.startswith(_GZIP):
        return gunzip(data, name, limit=limit)
    return data if len(data) <= limit else None


class _Budget:
    """Counts what an archive unpacks to and stops it in time."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self.limit = min(MAX_TOTAL, max(path.stat().st_size * MAX_RATIO, _FREE_BYTES))
        self.members = self.total = 0

    def member(self, name: str) -> None:
        self.members += 1
        if self.members > MAX_MEMBERS:
            raise self.refused(f"more than {MAX_MEMBERS} members")
        windows = "\\" in name or re.match(r"[A-Za-z]:", name)
        if name.startswith("/") or windows or ".." in name.split("/"):
            raise self.refused(f"the member {name!r} points outside the archive")

    def spend(self, size: int) -> None:
        self.total += size
        if self.total > self.limit:
            raise self.refused(f"it unpacks to more than {self.limit} bytes")

    def refused(self, reason: str) -> DataError:
        return DataError(f"this archive is not safe: {reason}", where=self.where, fix=_FIX)


def _zip(path: Path, limit: int, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            budget.member(info.filename)
            if stat.S_ISLNK(info.external_attr >> 16) or info.flag_bits & 1:
                raise budget.refused(f"the member {info.filename!r} is a link or encrypted")
            budget.spend(info.file_size)
            if not info.is_dir() and info.file_size <= limit:
                with archive.open(info) as member:
                    yield info.filename, member.read(info.file_size)


def _tar(path: Path, limit: int, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    def read(size: int) -> bytes:
        data = stream.read(min(size, _BLOCK))
        budget.spend(len(data))
        return data

    counted: Any = SimpleNamespace(read=read)
    with _stream(path) as stream, tarfile.open(fileobj=counted, mode="r|") as tar:
        for info in tar:
            budget.member(info.name)
            if not info.isreg() and not info.isdir():
                raise budget.refused(f"the member {info.name!r} is a link or a device")
            member = tar.extractfile(info) if info.size <= limit else None
            if member is not None:
                yield info.name, member.read()


def _is_tar(path: Path) -> bool:
    try:
        with _stream(path) as stream:
            tarfile.TarInfo.frombuf(stream.read(tarfile.BLOCKSIZE), "utf-8", "surrogateescape")
    except _FAULTS:
        return False
    return True


def _stream(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        head = file.read(len(_BZIP2))
    if head.startswith(_GZIP):
        return cast("IO[bytes]", gzip.GzipFile(path))
    return bz2.BZ2File(path) if head == _BZIP2 else path.open("rb")
