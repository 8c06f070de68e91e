"""Ratios of two strings: how much of their characters is the same, in order."""

from __future__ import annotations

import re

_ABOVE_ASCII = re.compile(r"[^\x00-\x7f]+")
_NO_WORD = re.compile(r"\W")


def levenshtein_ratio(first: str, second: str) -> float:
    """Return 1 less the share of characters to delete and insert; 0 to 1.

    A substitution is a deletion and an insertion, so of ``a`` and ``b`` nothing is the same.
    Two empty strings are equal: 1. Characters are code points; nothing is prepared.
    """
    total = len(first) + len(second)
    if not total:
        return 1.0
    return 1 - (total - 2 * common_subsequence(first, second)) / total


def token_sort_ratio(first: str, second: str) -> float:
    """Return the ratio of two strings whose tokens are sorted, in hundredths; 0 to 1.

    Characters above U+007F are dropped first, then whatever is neither letter, digit nor
    underscore becomes a blank, and letters become small. Strings that are equal after that have
    ratio 1, so ``.`` and ``!`` too.
    """
    ratio = levenshtein_ratio(_sorted_tokens(first), _sorted_tokens(second))
    return round(100 * ratio) / 100


def common_subsequence(first: str, second: str) -> int:
    """Return the length of the longest common subsequence of two strings.

    All of ``first`` is one number with a bit for each character, so that a character of
    ``second`` costs a few operations on whole numbers (Hyyrö 2004).
    """
    places: dict[str, int] = {}
    for position, letter in enumerate(first):
        places[letter] = places.get(letter, 0) | 1 << position
    everything = unmatched = (1 << len(first)) - 1
    for letter in second:
        met = unmatched & places.get(letter, 0)
        unmatched = ((unmatched + met) | (unmatched - met)) & everything
    return len(first) - unmatched.bit_count()


def _sorted_tokens(text: str) -> str:
    letters = _NO_WORD.sub(" ", _ABOVE_ASCII.sub("", text))
    return " ".join(sorted(letters.lower().split()))
