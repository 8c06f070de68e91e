"""Text as wide as a terminal: tables fold by columns, and lines break where they may."""

import re
import shutil
from collections.abc import Sequence
from itertools import zip_longest

from grammeter.core.texts import display_width, graphemes

GAP = 2  # columns between cells
NARROWEST = 16  # columns of a text in a cell, before the table folds
_ISOLATED = "\u2068\u2069"  # around texts with right-to-left letters


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
