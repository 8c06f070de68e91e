"""Stems of English words, and how much of two strings is the same."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from grammeter.core import bit_places, letter_distance


@cache
def _rules(name: str) -> Mapping[str, str]:
    """Return a table of ``porter.json``: ``irregular``, or the suffixes of a step."""
    return json.loads(files("grammeter.alignment").joinpath("porter.json").read_bytes())[name]


def stem(word: str) -> str:
    """Return the stem of a word in lower case, by Porter's algorithm.

    M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. A word of the form
    [C](VC)^m[V], where C and V are runs of consonants and vowels, has measure m; most suffixes
    go only if what stays has a measure above 0 or 1.

    Departures from the paper are those of the Natural Language Toolkit's stemmer, so that figures
    can be compared: words of one or two letters stay (not "is" -> "i"), irregular forms stand in a
    list, "dies" and "died" keep "die", y turns to i only after a consonant that does not begin
    the word ("enjoy" stays), "-bli", "-fulli" and "-logi" are suffixes of step 2, "-alli" may give
    way to another suffix, and a vowel with a consonant ("are" less e) counts as a short word.
    """
    irregular = _rules("irregular")
    if word in irregular or len(word) <= 2:
        return irregular.get(word, word)
    word = _uninflected(word)
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1]).endswith("c"):
        word = word[:-1] + "i"
    word = _replaced(_adverb(word), _rules("step 3"), above=0)
    word = _replaced(word, _rules("step 4"), above=1)
    if word.endswith("e"):
        measure = _measure(word[:-1])
        word = word[:-1] if measure > 1 or (measure == 1 and not _is_short(word[:-1])) else word
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _shape(word: str) -> str:
    """Write c and v for consonants and vowels; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        shape += "v" if letter in "aeiou" or (letter == "y" and shape.endswith("c")) else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _is_short(word: str) -> bool:
    """Whether it ends in consonant, vowel, consonant but w, x, y; or is vowel and consonant."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _uninflected(word: str) -> str:
    """Remove a plural, a past or a progressive: steps 1a and 1b."""
    if word.endswith("s") and not word.endswith(("ss", "ies")):
        word = word[:-2] if word.endswith("sses") else word[:-1]
    if word.endswith(("ies", "ied")):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and "v" in _shape(rest):  # add an e, or remove a double letter
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if rest[-2:-1] == rest[-1] and _shape(rest).endswith("c"):
                return rest if rest[-1] in "lsz" else rest[:-1]
            return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest
    return word


def _adverb(word: str) -> str:
    """Step 2, with the suffixes that need more than a table."""
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _adverb(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, _rules("step 2"), above=0)


def _replaced(word: str, rules: Mapping[str, str], *, above: int) -> str:
    """Replace the longest suffix that fits, if the rest has a measure greater than ``above``."""
    for length in range(min(len(word), 7), 1, -1):
        suffix = word[-length:]
        if suffix in rules:
            rest = word[:-length]
            stays = suffix == "ion" and not rest.endswith(("s", "t"))
            return word if stays or _measure(rest) <= above else rest + rules[suffix]
    return word


def levenshtein_ratio(first: str, second: str) -> float:
    """Return 1 less the share of characters to delete and insert; 0 to 1.

    A substitution is a deletion and an insertion, so of ``a`` and ``b`` nothing is the same.
    Two empty strings are equal: 1. Characters are code points; nothing is prepared.
    """
    return 1 - letter_distance(first, second)


def token_sort_ratio(first: str, second: str) -> float:
    """Return the ratio of two strings whose tokens are sorted, in hundredths; 0 to 1.

    Characters above U+007F are dropped first, then whatever is neither letter, digit nor
    underscore becomes a blank, and letters become small. Strings that are equal after that have
    ratio 1, so ``.`` and ``!`` too.
    """
    ascii_texts = (re.sub(r"[^\x00-\x7f]+", "", text) for text in (first, second))
    one, other = (" ".join(sorted(re.sub(r"\W", " ", t).lower().split())) for t in ascii_texts)
    return round(100 * levenshtein_ratio(one, other)) / 100


def edit_distance(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many items to insert, delete or substitute (Levenshtein 1966), at least.

    Bit-parallel (Myers 1999, as Hyyrö 2003 has it for whole texts): an integer is a column.
    """
    if not first:
        return len(second)
    places, every = bit_places(first)
    up, down, distance, last = every, 0, len(first), len(first) - 1
    for item in second:
        equal = places.get(item, 0)
        diagonal = (((equal & up) + up) ^ up) | equal | down
        right, left = down | ~(diagonal | up), up & diagonal
        distance += (right >> last & 1) - (left >> last & 1)
        right = right << 1 | 1
        up, down = (left << 1 | ~(diagonal | right)) & every, right & diagonal & every
    return distance
