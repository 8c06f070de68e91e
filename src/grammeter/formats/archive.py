"""The files inside a folder, a zip or a tar, read one at a time and never unpacked to disk.

Downloads are not trusted: names of members are no paths here, links are not followed, and nothing
above a size is read.
"""

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from grammeter.core import DataError
from grammeter.formats.text import gunzip

_GZIP = b"\x1f\x8b"
_DAMAGED = zlib.error, tarfile.TarError, zipfile.BadZipFile
_FAULTS = OSError, EOFError, RuntimeError, *_DAMAGED  # RuntimeError: encrypted
_FIX = "Fetch it again from its official page, or unpack it yourself and give the folder."


def contents(path: Path, *, limit: int) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of the files in a file, folder, zip or tar, but those over ``limit``."""
    try:
        if not path.is_file() and not path.is_dir():
            raise DataError("no such file or folder", where=str(path), fix="Check the path.")
        if path.is_file() and zipfile.is_zipfile(path):
            yield from _zip(path, limit)
        elif path.is_file() and tarfile.is_tarfile(path):
            yield from _tar(path, limit)
        else:
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file() and file.stat().st_size <= limit:
                    yield file.name, file.read_bytes()
    except _FAULTS as error:
        raise DataError(f"cannot be read: {error}", where=str(path), fix=_FIX) from error


def _zip(path: Path, limit: int) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.file_size <= limit:
                with archive.open(info) as member:
                    yield info.filename, member.read(info.file_size)


def _tar(path: Path, limit: int) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for info in archive:
            wanted = info.isreg() and info.size <= limit
            if member := archive.extractfile(info) if wanted else None:
                yield info.name, member.read()


def unpacked(data: bytes, name: str, *, limit: int) -> bytes | None:
    """Unpack gzip, leave other bytes as they are; ``None`` beyond ``limit`` bytes."""
    if data.startswith(_GZIP):
        return gunzip(data, name, limit=limit)
    return data if len(data) <= limit else None
