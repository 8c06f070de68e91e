"""Numbers and texts for people: digits, and nothing that a terminal, page or sheet would act on.

In a terminal they are as wide as it is: tables fold by columns, and lines break where they may.
"""

import math
import re
import shutil
import unicodedata
from collections.abc import Sequence
from functools import cache
from html import escape
from itertools import zip_longest
from typing import Any

_FORMULA = re.compile(r"'*(?:[=@\t\r]|[+-](?!(?:[\d.,]+(?:e[+-]?\d+)?%?[\w\s.,:\[\]*†‡–-]*)?\Z))")
"""Any number of apostrophes, and a formula; a number with its sign is none."""

JOINERS = "\u200c\u200d"  # invisible, they decide how letters of many scripts are written
GAP = 2  # columns between cells
NARROWEST = 16  # columns of a text in a cell, before the table folds
_ISOLATED = "\u2068\u2069"  # around texts with right-to-left letters


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


def terminal_width() -> int:
    """Return the columns of the terminal, or of ``COLUMNS``; 0 where standard output is no one."""
    return shutil.get_terminal_size((0, 0)).columns


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Break a line behind spaces, ``|`` and commas; all but the first are indented. 0: no limit."""
    if not width or display_width(text) <= width:
        return [text]
    if text[0] == _ISOLATED[0]:
        return [f"{_ISOLATED[0]}{t}{_ISOLATED[1]}" for t in wrapped(text[1:-1], width, indent)]
    lines = [""]
    for piece in re.split(r"(?<=[ |,])", text):
        for part in [piece] if display_width(piece) <= width - len(indent) else graphemes(piece):
            if display_width(f"{lines[-1]}{part}".rstrip()) > width:
                lines.append(indent)
            lines[-1] += part
    return [line.rstrip() for line in lines]


def laid_out(rows: Sequence[Sequence[str]], sides: Sequence[str], width: int = 0) -> list[str]:
    """Return the lines of a table, its heads in the first row; ``sides``: ``l`` or ``r``.

    Where it is wider than ``width``, long texts wrap within their cells; if that is not enough, the
    columns are shown in blocks, one below the other, each with the first column. 0: no limit.
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    blocks = [list(range(len(widths)))]
    if width and sum(widths) + GAP * (len(widths) - 1) > width:
        long = [at for at, side in enumerate(sides) if side == "l" and widths[at] > NARROWEST]
        room = width - GAP * (len(widths) - 1) - sum(widths) + sum(widths[at] for at in long)
        whole = bool(long) and room >= NARROWEST * len(long)
        for left, at in enumerate(sorted(long, key=widths.__getitem__), start=-len(long)):
            widths[at] = min(widths[at], room // -left if whole else width // 2)
            room -= widths[at]
        blocks = blocks if whole else _blocks(widths, width)
    lines: list[str] = []
    for block in blocks:
        lines += [""] if lines else []
        for number, row in enumerate(rows):
            cells = [wrapped(row[at], widths[at]) for at in block]
            for parts in zip_longest(*cells, fillvalue=""):
                padded = (
                    _pad(p, widths[at], sides[at]) for p, at in zip(parts, block, strict=True)
                )
                lines.append((" " * GAP).join(padded).rstrip())
            lines += [(" " * GAP).join("-" * widths[at] for at in block)] if number == 0 else []
    return lines


def _blocks(widths: Sequence[int], width: int) -> list[list[int]]:
    blocks = [[0]]
    for at in range(1, len(widths)):
        if sum(widths[c] + GAP for c in (*blocks[-1], at)) - GAP > width and len(blocks[-1]) > 1:
            blocks.append([0])
        blocks[-1].append(at)
    return blocks


def _pad(cell: str, width: int, side: str) -> str:
    space = " " * (width - display_width(cell))
    return space + cell if side == "r" else cell + space
