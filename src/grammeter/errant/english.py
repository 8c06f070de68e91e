"""What ERRANT's English rules know: words, tags, relations (``data/english.json``) and stems."""

from __future__ import annotations

import gzip
import json
import operator
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from itertools import takewhile
from typing import Any, NamedTuple

SimilarityRow = tuple[tuple[int, int], tuple[int, int], Callable[[float, float], bool], float, str]
"""Lengths of a word and of its replacement, how to compare their similarity to what, the type."""


class English:
    """The tables of ``data/english.json``."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.categories: dict[str, str] = {
            tag: name for name, tags in data["categories"].items() for tag in tags
        }
        self.open = frozenset[str](data["open"])
        self.rare = frozenset[str](data["rare"])
        self.relations: dict[str, str] = data["relations"]
        self.arguments = frozenset[str](data["arguments"])
        self.auxiliary = frozenset(("aux", "auxpass"))
        self.contractions = frozenset[str](data["contractions"])
        self.stems: dict[str, str] = data["stems"]
        self.pairs: dict[str, dict[tuple[str, str], str]] = {
            name: {(one, other): kind for one, other, kind in rows}
            for name, rows in data["pairs"].items()
            if name != "about"
        }
        self.similarity: list[SimilarityRow] = [
            (one, other, getattr(operator, test), bound, kind)
            for one, other, test, bound, kind in data["similarity"]["rows"]
        ]


@cache
def english() -> English:
    """Return the tables, read once."""
    return English(json.loads(_data("english.json")))


@cache
def dictionary() -> frozenset[str]:
    """Return the British English words that are no spelling errors."""
    packed = (files("grammeter.resources") / "en_gb_large" / "words.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("utf-8").split())


def _data(name: str) -> str:
    return (files("grammeter.errant") / "data" / name).read_text("utf-8")


_VOWELS = frozenset("aeiouy")


class _Rule(NamedTuple):
    """A rule for stems; ``removed`` letters go, less those that the replacement begins with."""

    suffix: str
    replacement: str
    removed: int
    intact: bool
    stop: bool


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a word, in lower case, by stripping endings until none fits.

    The part after the first character that is no letter only takes part in comparing suffixes.
    Paice 1990, "Another stemmer", ACM SIGIR Forum 24(3), 56-61, with the rules that package
    errant 3.0.2 has from NLTK.
    """
    word = intact = word.lower()
    while rule := _fitting(word, is_intact=word == intact):
        word = word[: len(word) - len(rule.suffix)] + rule.replacement
        if rule.stop:
            break
    return word


def _fitting(word: str, *, is_intact: bool) -> _Rule | None:
    letters = "".join(takewhile(str.isalpha, word))
    # two letters stay after a vowel at the beginning, else three with a vowel among the next two
    least = 2 if word[:1] in _VOWELS else 3 if _VOWELS & {*word[1:3]} else len(word) + 1
    for rule in _rules().get(letters[-1:], ()):
        fits = word.endswith(rule.suffix) and (is_intact or not rule.intact)
        if fits and len(word) - rule.removed >= least:
            return rule
    return None


@cache
def _rules() -> dict[str, list[_Rule]]:  # by the last letter of the suffix
    rules: dict[str, list[_Rule]] = {}
    for line in _data("lancaster.txt").splitlines():
        if not line.startswith("#"):
            suffix, replacement, *flags = line.split()
            replacement = replacement.strip("-")
            pairs = zip(suffix, replacement, strict=False)
            removed = len(suffix) - len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
            rule = _Rule(suffix, replacement, removed, "intact" in flags, "stop" in flags)
            rules.setdefault(suffix[-1], []).append(rule)
    return rules
