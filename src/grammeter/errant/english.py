"""The tables of words, tags and relations of ERRANT's English rules.

They stand in ``data/english.json``; the words that are no spelling errors in the resource
``en_gb_large``.
"""

from __future__ import annotations

import gzip
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class SimilarityRow:
    """Lengths of a word and its replacement, their similarity, and the type that follows."""

    lengths: tuple[tuple[int, int | None], tuple[int, int | None]]
    compare: Callable[[float, float], bool]
    bound: float
    type: str

    def fits(self, one: int, other: int, similarity: float) -> bool:
        """Whether this row applies to words of these lengths and this similarity."""
        return self.compare(similarity, self.bound) and all(
            low <= length and (high is None or length <= high)
            for length, (low, high) in zip((one, other), self.lengths, strict=True)
        )


@dataclass(frozen=True)
class English:
    """The tables of ``data/english.json``."""

    categories: Mapping[str, str]
    open: frozenset[str]
    rare: frozenset[str]
    relations: Mapping[str, str]
    arguments: frozenset[str]
    contractions: frozenset[str]
    stems: Mapping[str, str]
    pairs: Mapping[str, Mapping[tuple[str, str], str]]
    similarity: tuple[SimilarityRow, ...]
    auxiliary: frozenset[str] = frozenset({"aux", "auxpass"})


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq, ">=": operator.ge, ">": operator.gt, "<": operator.lt
}  # fmt: skip


@cache
def english() -> English:
    """Return the tables, read once."""
    text = (files("grammeter.errant") / "data" / "english.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    pairs = {name: rows for name, rows in data["pairs"].items() if name != "about"}
    return English(
        categories={tag: name for name, tags in data["categories"].items() for tag in tags},
        open=frozenset(data["open"]),
        rare=frozenset(data["rare"]),
        relations=data["relations"],
        arguments=frozenset(data["arguments"]),
        contractions=frozenset(data["contractions"]),
        stems=data["stems"],
        pairs={name: {(a, b): kind for a, b, kind in rows} for name, rows in pairs.items()},
        similarity=tuple(
            SimilarityRow((one, other), _COMPARISONS[sign], float(bound), type_)
            for one, other, test, type_ in data["similarity"]["rows"]
            for sign, bound in [test.split()]
        ),
    )


@cache
def dictionary() -> frozenset[str]:
    """Return the British English words that are no spelling errors."""
    packed = (files("grammeter.resources") / "en_gb_large" / "words.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("utf-8").split())
