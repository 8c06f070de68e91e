"""Plain text: UTF-8, one sentence a line."""

import codecs
import io
import os
import re
import secrets
import stat
import sys
import zlib
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import cast

from grammeter.core import DataError, UsageError

STDIN = "-"
MAX_RATIO = 200  # unpacked bytes for each packed byte; text packs three- to tenfold
_SUFFIXES = (".txt", ".tok", ".out", ".hyp", ".cor", ".m2", ".sgml", ".md", ".gz", ".bz2", ".xz")
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "lzma"}
_PACKERS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}  # some builds of Python lack the last two
_PACKED_NAME = re.compile(r"\.(gz|bz2|xz)$")
_FREE_BYTES = 64 * 2**20  # files up to this size are harmless, whatever their ratio
_BLOCK = 2**20
_LINE_END = re.compile(r"\r*\n|\r")
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_PRIVATE = 0o600
_ENDLESS = ("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_HIDDEN = re.compile("[\xa0\u2007\u202f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""No-break spaces; soft hyphens, zero-width and bidirectional characters, but not the joiners."""


def read_bytes(path: str | Path) -> bytes:
    """Read a file (``-``: standard input), unpacked; UTF-16 with its mark becomes UTF-8.

    Raises :class:`DataError` if it cannot be read, is damaged, or would unpack without end.
    """
    try:
        if os.path.realpath(path) in _ENDLESS:
            raise DataError("this device never ends", where=str(path), fix="Name a file.")
        data = sys.stdin.buffer.read() if str(path) == STDIN else Path(path).read_bytes()
    except FileNotFoundError:
        fix = "No file fits this pattern." if "*" in str(path) else "Check the path."
        raise DataError("there is no such file", where=str(path), fix=fix) from None
    except IsADirectoryError:
        fix = "Name the file inside it; outputs, a file a document, need --documents FILE:COLUMN."
        raise DataError("this is a folder, not a file", where=str(path), fix=fix) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL, or what no file system can spell
        raise _no_file("read", path, error) from error
    limit = max(len(data) * MAX_RATIO, _FREE_BYTES)
    if (content := unpacked(data, str(path), limit=limit)) is None:
        fault = f"these packed data unpack to more than {MAX_RATIO} times their size"
        raise DataError(fault, where=str(path), fix="Unpack the file yourself if you trust it.")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with suppress(UnicodeDecodeError):  # then it is none, and the reader says what is wrong
            return content.decode("utf-16").encode()
    return content


def _no_file(done: str, path: str | Path, error: Exception) -> DataError:
    where = str(path) if str(path).isprintable() else ascii(str(path))
    fault = f"cannot be {done}: {getattr(error, 'strerror', error)}"
    return DataError(fault, where=where, fix="Check the path and its permissions.")


def unpacked(data: bytes, where: str, *, limit: int) -> bytes | None:
    """Unpack gzip, bzip2 or xz, leave other bytes as they are; ``None`` beyond ``limit`` bytes."""
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        raise DataError("the file is packed by zstd", where=where, fix="Unpack it: zstd -d FILE")
    name = next((name for magic, name in _MAGIC.items() if data.startswith(magic)), None)
    if name is None:
        return data if len(data) <= limit else None
    form, content = import_module(name), io.BytesIO()
    other = cast("type[Exception]", getattr(form, "LZMAError", OSError))
    try:
        with form.open(io.BytesIO(data)) as stream:
            while content.tell() <= limit and (block := stream.read(_BLOCK)):
                content.write(block)
    except (OSError, EOFError, zlib.error, other) as error:
        fault = f"damaged {name} data: {error}"
        raise DataError(fault, where=where, fix="Fetch or pack the file again.") from None
    return content.getvalue() if content.tell() <= limit else None


def bare_name(path: str | Path) -> str:
    """Return a path less the suffix of a packed file."""
    return _PACKED_NAME.sub("", str(path))


def decode(data: bytes, path: str | Path) -> str:
    """Decode UTF-8 and drop a byte order mark; name the first line that is something else."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        read = error.object  # the data less the byte order mark: positions count from there
        line = read.count(b"\n", 0, error.start) + 1
        fault = f"not UTF-8: byte 0x{read[error.start]:02x}"
        fix = "Convert the file, for example: iconv -f LATIN1 -t UTF-8 FILE"
        raise DataError(fault, where=f"{path}:{line}", fix=fix) from None


def with_line_feeds(text: str) -> str:
    """Return a text whose lines end in a line feed alone."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def split_lines(text: str) -> list[str]:
    r"""Split at ``\n`` only and take one ``\r`` off each line; a last newline ends a line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def read_text(path: str | Path) -> str:
    """Read a whole UTF-8 file; see :func:`read_bytes` and :func:`decode` for the errors."""
    return decode(read_bytes(path), path)


def read_lines(path: str | Path) -> list[str]:
    """Read a text of one line at least, one sentence a line; empty lines are kept."""
    return checked_lines(read_text(path), path)


def checked_lines(text: str, path: str | Path) -> list[str]:
    """Split a file's text into lines; raise :class:`DataError` if there is none."""
    if not (lines := split_lines(text)):
        raise DataError("the file is empty", where=str(path), fix="It needs one sentence a line.")
    return lines


def write_text(path: str | Path, text: str, *, private: bool = False) -> None:
    """Write a text as UTF-8, packed by the name's suffix ``.gz``, ``.bz2`` or ``.xz``.

    The file is replaced at once, when it is complete. Only links, devices, pipes and files of
    others are written in place. ``private``: readable by its owner alone, from its first byte
    on; a device keeps its mode. Raises :class:`DataError` if the text holds a lone surrogate or
    the file cannot be written, :class:`UsageError` for ``-``, which is standard input.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        fault = f"U+{ord(text[error.start]):04X} is half a surrogate pair, no character"
        raise DataError(fault, where=f"{path}:{line}", fix="Repair it where it was made.") from None
    write_bytes(path, data, private=private)


def write_bytes(path: str | Path, data: bytes, *, private: bool = False) -> None:
    """Write a file of bytes; see :func:`write_text`."""
    if str(path) == STDIN:
        raise UsageError("'-' is standard input, no file to write", fix="Give a file's name.")
    target = Path(path)
    content = data
    if name := _PACKERS.get(target.suffix):  # no time and no name inside: same text, same bytes
        content = import_module(name).compress(data, **{"mtime": 0} if name == "gzip" else {})
    try:
        if _is_replaceable(target):
            _replace(target, content, private=private)
        else:
            if private and target.is_file():
                target.chmod(_PRIVATE)
            target.write_bytes(content)
    except (OSError, ValueError) as error:
        raise _no_file("written", path, error) from error


def _is_replaceable(target: Path) -> bool:
    """Whether the target is absent, or an ordinary file of ours."""
    try:
        status = target.lstat()
    except FileNotFoundError:
        return True
    ours = status.st_uid == os.geteuid() and status.st_gid in (os.getegid(), *os.getgroups())
    may = os.access(target, os.W_OK) and os.access(target.parent, os.W_OK)
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and ours and may


def _replace(target: Path, data: bytes, *, private: bool) -> None:
    fresh = target.with_name(f".{secrets.token_hex(8)}.part")  # as short for the longest name
    try:
        with open(os.open(fresh, _FRESH, _PRIVATE if private else 0o666), "wb") as file:
            if target.exists():
                status = target.stat()
                os.chown(fresh, -1, status.st_gid)
                fresh.chmod(_PRIVATE if private else stat.S_IMODE(status.st_mode))
            file.write(data)
        fresh.replace(target)
    except BaseException:  # an interrupt, too
        fresh.unlink(missing_ok=True)
        raise


def check_folder(path: str | Path | None) -> None:
    """Raise :class:`DataError` if the folder of a file to be written does not exist."""
    if path is not None and not Path(path).absolute().parent.is_dir():
        raise DataError("cannot be written: no such folder", where=str(path), fix="Make it first.")


def checked_line(line: str) -> str:
    """Return the line; raise :class:`DataError` if it contains a line end."""
    if "\n" in line or line.endswith("\r"):
        raise DataError(f"a sentence holds a line end: {line[:40]!r}", fix="A sentence is a line.")
    return line


def system_name(path: str | Path) -> str:
    """Return a file's name less known suffixes: ``out/AMU.txt.gz`` is ``AMU``."""
    name = Path(path).name
    while name.endswith(_SUFFIXES):
        name = name.rpartition(".")[0]
    return name or Path(path).name


def encoding_notices(data: bytes, path: str | Path) -> list[str]:
    """Return notices on a file's encoding: a byte order mark, CR line ends."""
    marked, ends = data.startswith(codecs.BOM_UTF8), b"\r\n" in data
    notices = [f"{path}: begins with a byte order mark; it is dropped"] if marked else []
    return notices + ([f"{path}: line ends are CR LF; the CR is taken off"] if ends else [])


def space_notices(text: str, path: str | Path) -> list[str]:
    """Return a notice if the sentences of a file contain unusual white space."""
    lines = split_lines(text)
    odd = sum(line != " ".join(line.split()) for line in lines)
    text = f"{odd} of {len(lines)} lines have other white space than single spaces"
    return [f"{path}: {text}; tokens are split at any white space"] if odd else []


def hidden_notes(text: str, path: str | Path) -> list[str]:
    """Return a note if a file has no-break spaces or characters that nobody sees."""
    if (first := _HIDDEN.search(text)) is None:
        return []
    counts = Counter(_HIDDEN.findall(text)).most_common()
    shown = ", ".join(f"U+{ord(c):04X} x {count}" for c, count in counts)
    line = text.count("\n", 0, first.start()) + 1
    text = f"no-break or invisible characters ({shown}), first in line {line}: no-break spaces"
    more = "split tokens, and invisible characters make tokens differ that look alike"
    return [f"{path}: {text} {more}"]
