"""What may be known of Chinese characters: simplified forms, readings, meanings, confusions."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from grammeter.core import DataError, MissingResourceError, UnknownNameError, disk_faults, require

Simplification = Literal["auto", "t2s", "none"]
"""Convert corrected texts to simplified characters: if OpenCC is here, always, never."""

FILES = ("cilin.txt", "confusion_dict.txt")
_FIX = "Name the folder 'data' of the program ChERRANT, with its cilin.txt and confusion_dict.txt."


@dataclass(frozen=True, eq=False)
class Resources:
    """Tables from the user's copy of the original program; empty ones know nothing."""

    meanings: Mapping[str, tuple[str, str, str]]
    confusions: Mapping[str, frozenset[str]]
    readings: Callable[[str], frozenset[str]]
    signature: Mapping[str, str]

    def alike(self, one: str, other: str) -> bool:
        """Whether two characters share a reading, or one is taken for the other."""
        confused = self.confusions.get(one, frozenset()), self.confusions.get(other, frozenset())
        same = self.readings(one) & self.readings(other)
        return other in confused[0] or one in confused[1] or bool(same)


@cache
def resources_of(folder: str | None) -> Resources:
    """Read resources from a folder; ``None``: there are none.

    MissingResourceError if the folder lacks a file, or pypinyin is not installed.
    """
    if folder is None:
        return Resources({}, {}, lambda _character: frozenset(), {"resources": "none"})
    readings = require("pypinyin", extra="zh")
    contents: list[bytes] = []
    for path in (Path(folder, name) for name in FILES):
        with disk_faults(path, _FIX, "cannot be read", kind=MissingResourceError):
            contents.append(path.read_bytes())
    cilin, confusion = map(_table, FILES, contents, ("gbk", "utf-8"))

    @cache
    def read(character: str) -> frozenset[str]:
        plain: Any = readings.Style.NORMAL
        return frozenset(readings.pinyin(character, style=plain, heteronym=True)[0])

    meanings = {word: (code[:1], code[1:2], code[2:4]) for code, *words in cilin for word in words}
    digest = hashlib.blake2b(b"".join(contents), digest_size=8).hexdigest()
    names = {"resources": "cilin+confusion+pinyin", "resources-hash": digest}
    confusions = {first: frozenset(others) for first, *others in confusion}
    return Resources(meanings, confusions, read, names | {"pypinyin": version("pypinyin")})


def _table(name: str, data: bytes, encoding: str) -> list[list[str]]:
    try:
        return [line.split(" ") for line in data.decode(encoding).replace("\r", "").split("\n")]
    except UnicodeDecodeError as error:
        raise DataError(f"this is not {encoding}: {error}", where=name, fix=_FIX) from None


@cache
def simplifier(wanted: Simplification) -> Callable[[str], str] | None:
    """Return what makes characters simplified, phrase by phrase; ``None`` if nothing does.

    MissingResourceError if ``t2s`` is wanted and OpenCC is not installed.
    """
    UnknownNameError.check("conversion", wanted, ("auto", "t2s", "none"))
    if wanted == "none" or (wanted == "auto" and find_spec("opencc") is None):
        return None
    return require("opencc", extra="zh").OpenCC("t2s").convert


def traditional(text: str) -> Iterator[str]:
    """Yield characters that Taiwan's common set has and the simplified one lacks."""
    for character in text:
        if "\u4e00" <= character <= "\u9fff" and not character.encode("gb2312", "ignore"):
            yield from character.encode("big5", "ignore").decode("big5")
