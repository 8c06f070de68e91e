"""Numbers and texts for people: digits, and nothing that a terminal, page or sheet would act on."""

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

_FORMULA = re.compile(r"'*(?:[=@\t\r]|[+-](?!(?:[\d.,]+(?:e[+-]?\d+)?%?[\w\s.,:\[\]*†‡–-]*)?\Z))")
"""Any number of apostrophes, and a formula; a number with its sign is none."""

JOINERS = "\u200c\u200d"  # invisible, they decide how letters of many scripts are written


def shielded(text: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would compute; see :func:`unshielded`."""
    return f"'{text}" if _FORMULA.match(text) else text


def unshielded(text: str) -> str:
    """Return the cell that :func:`shielded` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text[1:]) else text


def format_number(
    value: float, digits: int = 4, *, percent: bool = False, sign: bool = False
) -> str:
    """Write a number for people, with these decimals in its own units; NaN is ``NaN``.

    ``percent`` multiplies by 100 and shows two decimals fewer: 0.3501 becomes 35.01; ``sign``
    writes ``+`` before a positive number.
    """
    if math.isnan(value):
        return "NaN"
    scaled, places = (value * 100, max(digits - 2, 0)) if percent else (value, digits)
    text = f"{scaled:+.{places}f}" if sign else f"{scaled:.{places}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def terminal(text: str) -> str:
    """Drop what could forge a terminal's display: control, format and bidirectional characters."""
    without, line = ("Cf", "Cs"), single_line(text)
    return "".join(c for c in line if c in JOINERS or unicodedata.category(c) not in without)


def isolated(text: str) -> str:
    """Return :func:`terminal`'s text; right-to-left letters don't reorder its line (UAX #9)."""
    safe = terminal(text)
    return f"\u2068{safe}\u2069" if runs_left(safe) else safe


def runs_left(text: str) -> bool:
    """Whether a text has letters that are written from right to left."""
    return not text.isascii() and any(unicodedata.bidirectional(c) in ("R", "AL") for c in text)


def single_line(text: str) -> str:
    """Turn white space into plain spaces and drop other control characters."""
    spaced = "".join(" " if c.isspace() else c for c in text)
    return "".join(c for c in spaced if unicodedata.category(c) != "Cc")


def escaped(text: str) -> str:
    """Return a text that is only text in HTML; control and bidirectional characters are dropped."""
    shown = f"\t\n{JOINERS}"
    safe = (c for c in text if c in shown or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return escape("".join(safe))


def marked_up(text: str) -> str:
    """Return :func:`escaped`'s text; right-to-left letters don't reorder what stands beside it."""
    return f"<bdi>{escaped(text)}</bdi>" if runs_left(text) else escaped(text)


def listed(names: Sequence[str], most: int = 5) -> str:
    """Join names; of many, the first ones and the number of the others."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def display_width(text: str) -> int:
    """Return the columns that a text takes on a terminal: a grapheme cluster those of its base."""
    bases = [cluster[0] for cluster in graphemes(text)]
    shown = (c for c in bases if unicodedata.category(c) not in ("Mn", "Me", "Cf"))
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in shown)


def graphemes(text: str) -> list[str]:
    """Split a text into what its readers take for characters: grapheme clusters (UAX #29).

    Marks stay with their base, as do jamo in a syllable, flags and joined emoji. Conjuncts of
    Indic scripts are not joined.
    """
    if text.isascii():
        return list(text)
    cluster, conjunct = _patterns()
    return [each for part in conjunct.split(text) for each in cluster.findall(part)]


@cache
def _patterns() -> tuple[Any, Any]:
    """Return the patterns of a cluster, and of the place behind a virama and before a letter."""
    import regex

    between = r"(?V1)(?<=\p{ccc=9}[\p{M}\u200c\u200d]*)(?=\p{Lo})"
    return regex.compile(r"\X"), regex.compile(between)
