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
    """Number of letters removed; those that the replacement begins with are not counted."""
    intact: bool
    stop: bool


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a word, in lower case.

    The part after the first character that is no letter only takes part in comparing suffixes.
    """
    word = intact = word.lower()
    while rule := _fitting(word, is_intact=word == intact):
        word = word[: len(word) - len(rule.suffix)] + rule.replacement
        if rule.stop:
            break
    return word


def _fitting(word: str, *, is_intact: bool) -> _Rule | None:
    letters = "".join(takewhile(str.isalpha, word))
    fitting = (
        rule
        for rule in _rules().get(letters[-1:], ())
        if word.endswith(rule.suffix)
        and (is_intact or not rule.intact)
        and _leaves_enough(word, rule.removed)
    )
    return next(fitting, None)


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
            replacement = replacement.strip("-")
            pairs = zip(suffix, replacement, strict=False)
            removed = len(suffix) - len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
            rule = _Rule(suffix, replacement, removed, "intact" in flags, "stop" in flags)
            rules.setdefault(suffix[-1], []).append(rule)
    return rules
