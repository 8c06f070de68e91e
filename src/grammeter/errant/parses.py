"""Word classes without a pipeline: of the words alone, or of parses made elsewhere."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from grammeter.core import DataError
from grammeter.errant import classify, pipelines
from grammeter.errant.tokens import Tokens, from_words

_SUFFIXES = (".conllu", ".conllu.gz")
_COLUMNS = 10
_PLACE = re.compile(r"(\d{1,9})(?:-(\d{1,9})|(\.\d+))?")  # 8, 8-9 or 8.1


class PlainClasses:
    """Gives each token the class ``X``, or ``PUNCT``, and its small letters as its lemma.

    So ERRANT's own alignment and merging work in any language, without linguistic information.
    """

    notice = None

    def signature(self) -> dict[str, str]:
        """Return the name that stands for a pipeline."""
        return {"pipeline": pipelines.PLAIN}

    def parse(self, sentences: Iterable[Tokens], *, dependencies: bool = False) -> list[Tokens]:
        """Fill in lemmas and classes; there are no dependencies."""
        return [
            one.with_columns(one.lowers, map(_plain_class, one.texts), ["X"] * len(one))
            for one in sentences
        ]


@cache
def _plain_class(text: str) -> str:
    return "X" if any(map(str.isalnum, text)) else "PUNCT"


def time_of_parse(pipeline: str | None) -> int:
    """Return when a file of parses was written, in ns; 0: ``pipeline`` names no such file."""
    path = Path(pipeline or "")
    if path.is_file():
        return path.stat().st_mtime_ns
    if path.name.endswith(_SUFFIXES):
        raise DataError("there is no such file", where=str(path), fix="Check the path.")
    return 0


class Parses:
    """Parses made elsewhere, read from a CoNLL-U file; a sentence is found by its tokens.

    A word that is split in parts (``du``: 1-2) is one token with the lemma and classes of its first
    part, and a word with spaces (``1 000``) is as many tokens; empty nodes (``8.1``) are left out.
    Of several parses of one sentence the first holds. DataError if it is no CoNLL-U file.
    """

    def __init__(self, path: Path) -> None:
        data = _content(path)
        self._path, self._hash = path, hashlib.blake2b(data, digest_size=8).hexdigest()
        self._known: dict[tuple[str, ...], Tokens] = {}
        others = 0
        for sentence in _sentences(data, path):
            others += self._known.setdefault(sentence.texts, sentence) != sentence
        again = f"{path}: {others} sentences are parsed again, differently; the first parse holds"
        self.notice = again if others else None

    def signature(self) -> dict[str, str]:
        """Return the file's name and the hash of its content."""
        return {"pipeline": self._path.name, "pipeline-hash": self._hash}

    def parse(self, sentences: Iterable[Tokens], *, dependencies: bool = False) -> list[Tokens]:
        """Return parses with lemmas, classes and tags; DataError names a missing sentence."""
        wanted = list(sentences)
        missing = [one for one in wanted if len(one) and one.texts not in self._known]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            fault = f"no parse of the sentence {' '.join(missing[0].texts)!r}{more}"
            fix = "Parse the sources, the reference texts and all outputs, token by token as they"
            fix += " stand there, into this one file."
            raise DataError(fault, where=str(self._path), fix=fix)
        return [self._known[one.texts] if len(one) else one for one in wanted]


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError, zlib.error) as error:
        fix = "Check its permissions, or make it again."
        raise DataError(f"cannot be read: {error}", where=str(path), fix=fix) from error


def _sentences(data: bytes, path: Path) -> Iterator[Tokens]:
    tokens: list[tuple[str, str, str, str]] = []  # text, lemma, class, tag
    whole, parts = "", 0  # a word that is split, and how many of its parts are still to come
    for number, line in enumerate([*data.split(b"\n"), b""], start=1):
        columns = _columns(line, f"{path}:{number}")
        if columns == [""] and tokens:
            texts, *others = zip(*tokens, strict=True)
            yield from_words(texts).with_columns(*others)
            tokens, parts = [], 0
        place = _PLACE.fullmatch(columns[0])
        if place is None or place[3]:
            continue
        if place[2]:
            whole, parts = columns[1], int(place[2]) - int(place[1]) + 1
            continue
        text, lemma, upos, tag = columns[1:5]
        if parts:
            text, whole, parts = whole, "", parts - 1
        if upos not in classify.TYPED_CLASSES | classify.RARE_CLASSES:
            fault = f"{upos!r} is no universal part of speech (column 4)"
            fix = "Parse with a model for Universal Dependencies, or take pipeline=plain."
            raise DataError(fault, where=f"{path}:{number}", fix=fix)
        one = len(words := text.split()) == 1 and lemma != "_"
        tokens += [(word, lemma if one else word.lower(), upos, tag) for word in words]


def _columns(line: bytes, where: str) -> list[str]:
    """Return the columns of a line with a token; of any other its text or, if blank, nothing."""
    fix = "Give a CoNLL-U file: a token a line, a blank line after each sentence."
    try:
        text = line.decode("utf-8-sig").strip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError("not UTF-8", where=where, fix=fix) from error
    columns = text.split("\t")
    if not text.strip() or text.startswith("#"):
        return [text.strip()]
    if len(columns) != _COLUMNS or not _PLACE.fullmatch(columns[0]):
        fault = f"no line of CoNLL-U, which has {_COLUMNS} columns: {text[:40]!r}"
        raise DataError(fault, where=where, fix=fix)
    return columns
