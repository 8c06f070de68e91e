"""The Lancaster stemmer: strips endings until none fits.

Paice 1990, "Another stemmer", ACM SIGIR Forum 24(3), 56-61, with the rules that package errant
3.0.2 has from NLTK.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files
from itertools import takewhile
from typing import NamedTuple

_VOWELS = frozenset("aeiouy")


class _Rule(NamedTuple):
    suffix: str
    replacement: str
    removed: int
    """How many letters go; those the replacement shares at its beginning stay."""
    intact: bool
    stop: bool


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a word, in lower case.

    What follows the first character that is no letter takes part only in comparing suffixes.
    """
    word = intact = word.lower()
    while rule := _fitting(word, is_intact=word == intact):
        word = word[: len(word) - len(rule.suffix)] + rule.replacement
        if rule.stop:
            break
    return word


def _fitting(word: str, *, is_intact: bool) -> _Rule | None:
    letters = "".join(takewhile(str.isalpha, word))
    for rule in _rules().get(letters[-1:], ()):
        if (
            word.endswith(rule.suffix)
            and (is_intact or not rule.intact)
            and _leaves_enough(word, rule.removed)
        ):
            return rule
    return None


def _leaves_enough(word: str, removed: int) -> bool:
    """Two letters after a vowel at the beginning, else three with a vowel among the next two."""
    left = len(word) - removed
    if word[0] in _VOWELS:
        return left >= 2
    return left >= 3 and not _VOWELS.isdisjoint(word[1:3])


@cache
def _rules() -> dict[str, list[_Rule]]:
    """Return the rules by the last letter of their suffix."""
    text = (files("grammeter.errant") / "data" / "lancaster.txt").read_text("utf-8")
    rules: dict[str, list[_Rule]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            suffix, replacement, *flags = line.split()
            rule = _rule(suffix, replacement.strip("-"), flags)
            rules.setdefault(suffix[-1], []).append(rule)
    return rules


def _rule(suffix: str, replacement: str, flags: list[str]) -> _Rule:
    pairs = zip(suffix, replacement, strict=False)
    kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return _Rule(suffix, replacement, len(suffix) - kept, "intact" in flags, "stop" in flags)
