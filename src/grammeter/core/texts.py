"""Numbers and texts for people: digits, and nothing that a terminal, page or sheet would act on."""

import math
import re
import unicodedata
from collections.abc import Sequence
from html import escape

_FORMULA = re.compile(r"'*(?:[=@\t\r]|[+-](?!(?:[\d.,]+(?:e[+-]?\d+)?%?[\w\s.,:\[\]*†‡–-]*)?\Z))")
"""Any number of apostrophes, and a formula; a number with its sign is none."""


def shielded(text: str) -> str:
    """Return a cell that a spreadsheet shows as it is, and does not compute as a formula.

    An apostrophe before it makes it text; :func:`unshielded` takes it off.
    """
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
    return "".join(c for c in single_line(text) if unicodedata.category(c) not in ("Cf", "Cs"))


def single_line(text: str) -> str:
    """Turn white space into plain spaces and drop other control characters."""
    spaced = "".join(" " if c.isspace() else c for c in text)
    return "".join(c for c in spaced if unicodedata.category(c) != "Cc")


def escaped(text: str) -> str:
    """Return a text that is only text in HTML; control and bidirectional characters are dropped."""
    safe = (c for c in text if c in "\t\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return escape("".join(safe))


def listed(names: Sequence[str], most: int = 5) -> str:
    """Join names; of many, the first ones and the number of the others."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def display_width(text: str) -> int:
    """Return the columns that a text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )
