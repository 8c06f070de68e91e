"""Cells that a spreadsheet would take for formulas.

Spreadsheets compute a cell that begins with ``=``, ``+``, ``-`` or ``@``, whoever wrote it: a
system called ``=HYPERLINK(...)`` would act. An apostrophe before it makes it text, and is taken
off when the file is read back.
"""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*(?:[=@\t\r]|[+-](?!(?:[\d.,]+(?:e[+-]?\d+)?%?[\w\s.,:\[\]*†‡–-]*)?\Z))")
"""Any number of apostrophes, and a formula; a number with its sign is none."""


def shielded(text: str) -> str:
    """Return a cell that a spreadsheet shows as it is."""
    return f"'{text}" if _FORMULA.match(text) else text


def unshielded(text: str) -> str:
    """Return the cell that :func:`shielded` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text[1:]) else text
