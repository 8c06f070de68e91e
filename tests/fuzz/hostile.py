"""Files that are large, deep or no files at all; each reader gets all of them."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from fuzz.kept import KEPT
from fuzz.readers import READERS
from fuzz.trial import Failure, trial

MB = 10**6

LAUGHS = b"".join(
    (
        b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY l0 "lol">',
        *(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">'.encode() for n in range(1, 10)),
        b"]><a>&l9;</a>",
    )
)

HUGE: Mapping[str, Callable[[], bytes]] = {
    "a word of 50 MB": lambda: b"x" * (50 * MB),
    "a line of 10 MB": lambda: b"a b " * (10 * MB // 4),
    "an M2 sentence of 4 MB": lambda: b"S " + b"a b " * MB + b"\nA 0 1|||X|||y|||R|||-|||0\n",
    "half a million lines": lambda: b"a\n" * (MB // 2),
    "a million empty lines": lambda: b"\n" * MB,
    "10 MB of brackets": lambda: b"[" * (10 * MB),
    "10 MB of objects": lambda: b'{"a":' * (2 * MB),
    "10 MB of closed brackets": lambda: b"[" * (5 * MB) + b"]" * (5 * MB),
    "a number of 10 MB": lambda: b"1" * (10 * MB),
    "a JSON number of 10 MB": lambda: b'{"segment": ' + b"9" * (10 * MB) + b"}\n",
    "a million elements inside each other": lambda: b"<a>" * MB,
    "a million attributes": lambda: (
        b"<a " + b" ".join(b'a%d="1"' % n for n in range(MB)) + b"></a>"
    ),
    "a comment of 10 MB": lambda: b"<!--" + b"x" * (10 * MB),
    "a billion laughs": lambda: LAUGHS,
    "10 MB of quotes": lambda: b'"' * (10 * MB),
    "10 MB of commas": lambda: b"," * (10 * MB),
    "10 MB of tabs": lambda: b"\t" * (10 * MB),
    "10 MB of bars": lambda: b"A 0 1" + b"|||" * (3 * MB),
    "10 MB of parentheses": lambda: b"(" * (10 * MB),
    "2 million times 'not'": lambda: b"not " * (2 * MB),
    "10 MB of NUL": lambda: b"\0" * (10 * MB),
    "10 MB of CR": lambda: b"\r" * (10 * MB),
    "10 MB of half surrogates": lambda: b"\\ud800" * (MB * 10 // 6),
    "a gzip bomb": lambda: gzip.compress(bytes(2**22), mtime=0) * 300,
    "gzip in gzip in gzip": lambda: gzip.compress(gzip.compress(gzip.compress(bytes(2**24)))),
    "nothing": lambda: b"",
    "a byte order mark": lambda: b"\xef\xbb\xbf",
    "CR alone": lambda: b"\r",
    "1e999": lambda: b"1e999",
    "-0": lambda: b"-0",
}
"""What is read."""

FILES = [
    name
    for name in READERS
    if name not in {"spelling", "metric", "keep", "reply", "signature", "training pairs", *KEPT}
]
"""Readers that open the file themselves."""


def huge(name: str, folder: Path, only: list[str] | None = None) -> list[Failure]:
    """Try a reader on the huge files."""
    reader = READERS[name]
    path = folder / f"huge{reader.suffix}"
    failures: list[Failure] = []
    for what in only or HUGE:
        path.write_bytes(HUGE[what]())
        told = trial(partial(reader.call, path))
        failures += [Failure(name, what, told, {})] if told else []
    path.unlink()
    return failures


def odd(name: str, folder: Path) -> list[Failure]:
    """Try a reader on what is no ordinary file."""
    reader = READERS[name]
    failures: list[Failure] = []
    for number, make in enumerate(KINDS):
        place = folder / str(number)
        place.mkdir()
        path = make(place, reader.suffix, reader.seeds()[0])
        told = trial(partial(reader.call, path))
        failures += [Failure(name, make.__name__, told, {})] if told else []
        shutil.rmtree(place)
    return failures


def folder_(place: Path, suffix: str, data: bytes) -> Path:
    path = place / f"a{suffix}"
    path.mkdir()
    return path


def loop(place: Path, suffix: str, data: bytes) -> Path:
    path = place / f"a{suffix}"
    path.symlink_to(path)
    return path


def dangling(place: Path, suffix: str, data: bytes) -> Path:
    path = place / f"a{suffix}"
    path.symlink_to(place / "nowhere")
    return path


def absent(place: Path, suffix: str, data: bytes) -> Path:
    return place / f"a{suffix}"


def null(place: Path, suffix: str, data: bytes) -> Path:
    path = place / f"a{suffix}"
    path.symlink_to("/dev/null")
    return path


def zero(place: Path, suffix: str, data: bytes) -> Path:
    path = place / f"a{suffix}"
    path.symlink_to("/dev/zero")
    return path


def in_a_line(place: Path, suffix: str, data: bytes) -> Path:
    path = place / f"a\nb \t\x1b[31m{suffix}"
    path.write_bytes(data)
    return path


def too_long(place: Path, suffix: str, data: bytes) -> Path:
    return place / ("a" * 300 + suffix)


def no_text(place: Path, suffix: str, data: bytes) -> Path:
    path = place / f"\udcff\udcfe{suffix}"
    path.write_bytes(data)
    return path


KINDS = (folder_, loop, dangling, absent, null, zero, in_a_line, too_long, no_text)
"""What is no ordinary file, or has no ordinary name."""
