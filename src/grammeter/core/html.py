"""Values as HTML for notebooks: escaped texts, a plain table, edits drawn into a sentence."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from html import escape

from grammeter.core.verdict import JudgedEdit, interleaved

MARKS = {"matched": "✓", "spurious": "✗", "missed": "○"}
"""What tells verdicts apart besides a word; a missed edit is also in brackets."""

_LEFT = 'style="text-align:left"'
_RIGHT = 'style="text-align:right"'


def escaped(text: str) -> str:
    """Return a text that is only text in HTML; control and bidirectional characters are dropped."""
    kept = (c for c in text if c in "\t\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return escape("".join(kept))


def number(value: float, digits: int = 4) -> str:
    """Write a number for people; ``NaN`` where there is none."""
    return "NaN" if math.isnan(value) else f"{value:.{digits}f}"


def html_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    best: Collection[tuple[int, int]] = (),
    notes: Iterable[str] = (),
) -> str:
    """Write a table whose first column holds names and all others numbers.

    Parameters
    ----------
    header, rows
        Texts; they are escaped here.
    best
        ``(row, column)`` of cells in bold.
    notes
        Lines below the table.
    """
    heads = "".join(_cell("th", place, text) for place, text in enumerate(header))
    body = "".join(
        f"<tr>{''.join(_cell('td', at, text, (y, at) in best) for at, text in enumerate(row))}</tr>"
        for y, row in enumerate(rows)
    )
    below = "".join(f"<br><small>{escaped(note)}</small>" for note in notes)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{below}"


def drawn_edits(source: Sequence[str], edits: Iterable[JudgedEdit]) -> str:
    """Write a sentence with its edits: ``<del>`` and ``<ins>``, a mark, the verdict as a hint."""
    return " ".join(
        escaped(piece) if isinstance(piece, str) else _drawn(piece)
        for piece in interleaved(source, edits)
    )


def _cell(tag: str, place: int, text: str, bold: bool = False) -> str:
    shown = f"<b>{escaped(text)}</b>" if bold else escaped(text)
    return f"<{tag} {_RIGHT if place else _LEFT}>{shown}</{tag}>"


def _drawn(judged: JudgedEdit) -> str:
    edit = judged.edit
    old = f"<del>{escaped(judged.original)}</del>" if judged.original else ""
    new = f"<ins>{escaped(edit.correction)}</ins>" if edit.correction else ""
    hint = escaped(f"{judged.verdict} {edit.type}".rstrip())
    drawn = f"{MARKS[judged.verdict]}{' '.join(filter(None, (old, new)))}"
    shown = f"[<i>{drawn}</i>]" if judged.verdict == "missed" else drawn
    return f'<span title="{hint}">{shown}</span>'
