"""Parses on disk: an SQLite file that several processes may use at once.

A parse is text, not a pickle: columns separated by one control character, their values by
another. Keys are hashes of the pipeline's identity and the sentence. The file is only a cache:
sentences that cannot be read or written are parsed again, and a file that is too large is emptied.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from grammeter.core import FAULTS, open_cache, read_cache, write_cache
from grammeter.errant.tokens import Tokens

FILE = "parses-1.sqlite"
"""The number is that of the file's format."""

SIZE_LIMIT = 1 << 30
"""Bytes; a larger file is begun anew."""

_VALUE, _COLUMN = "\x1f", "\x1e"
_SURROGATE = re.compile("[\ud800-\udfff]")
_TABLE = "parses"


class ParseCache:
    """The parses of one pipeline, in a file in ``folder``; ``None`` stores nothing.

    ``identity`` is all that a parse depends on besides the sentence.
    """

    def __init__(self, folder: Path | None, identity: str) -> None:
        self._identity = identity.encode("utf-8")
        self._folder = folder

    def read(self, sentences: Sequence[Tokens]) -> list[Tokens | None]:
        """Return the parses of sentences, ``None`` for those that are not known."""
        if self._folder is None:
            return [None] * len(sentences)
        keys = list(map(self._key, sentences))
        values = self._select(self._folder, keys)
        return [
            _decode(bare, values[key]) if key in values else None
            for bare, key in zip(sentences, keys, strict=True)
        ]

    def write(self, parses: Iterable[Tokens]) -> None:
        """Add parses, or replace those of the same sentences."""
        rows = [
            (self._key(parse), value) for parse in parses if (value := _encode(parse)) is not None
        ]
        if not rows or self._folder is None:
            return
        try:
            with closing(_connect(self._folder)) as connection:
                write_cache(connection, _TABLE, rows)
        except FAULTS:
            self._folder = None

    def _select(self, folder: Path, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the known parses; stop using a file that cannot be read."""
        if not keys:
            return {}
        try:
            with closing(_connect(folder)) as connection:
                return dict(read_cache(connection, _TABLE, keys))
        except FAULTS:
            self._folder = None
            return {}

    def _key(self, tokens: Tokens) -> bytes:
        written = f"\0{tokens.raw}" if tokens.raw else " ".join(tokens.texts)
        sentence = written.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(self._identity + b"\0" + sentence, digest_size=16).digest()


def _connect(folder: Path) -> sqlite3.Connection:
    folder.mkdir(parents=True, exist_ok=True)
    return open_cache(folder / FILE, _TABLE, "parse TEXT NOT NULL", limit=SIZE_LIMIT)


def _encode(parse: Tokens) -> str | None:
    """Write a parse without its texts; ``None`` if a value has a separator in it."""
    columns: list[Sequence[str]] = [parse.lemmas, parse.pos, parse.tags]
    if parse.parsed:
        columns += [parse.deps, [str(head) for head in parse.heads]]
    text = _COLUMN.join(_VALUE.join(column) for column in columns)
    separators = text.count(_COLUMN), text.count(_VALUE)
    expected = len(columns) - 1, len(columns) * (len(parse) - 1)
    half = _SURROGATE.search(text)  # cannot be encoded
    return text if len(parse) and separators == expected and not half else None


def _decode(bare: Tokens, value: str) -> Tokens | None:
    """Read a parse; ``None`` if the file is damaged."""
    columns = [column.split(_VALUE) for column in value.split(_COLUMN)]
    if len(columns) not in (3, 5) or any(len(column) != len(bare) for column in columns):
        return None
    lemmas, pos, tags, *rest = columns
    if not rest:
        return bare.with_columns(lemmas, pos, tags)
    deps, heads = rest
    try:
        return bare.with_columns(lemmas, pos, tags, deps, map(int, heads))
    except ValueError:
        return None
