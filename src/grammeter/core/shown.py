"""Results that show themselves: ``print(result)`` and a notebook show the same table."""

from __future__ import annotations

import math
import unicodedata
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from grammeter.core.html import html_table, number


@dataclass(frozen=True)
class Layout:
    """A table whose first column holds names and all others numbers, as texts.

    Attributes
    ----------
    best
        ``(row, column)`` of cells that are bold where that is possible.
    notes
        Lines below the table.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: frozenset[tuple[int, int]] = frozenset()
    notes: Sequence[str] = ()


class Shown:
    """Base of results: a subclass says by ``_layout`` what its table is."""

    @abstractmethod
    def _layout(self) -> Layout: ...

    def __str__(self) -> str:
        """Return the table that ``print`` shows."""
        layout = self._layout()
        return "\n".join([*aligned([layout.header, *layout.rows]), *map(terminal, layout.notes)])

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        layout = self._layout()
        return html_table(layout.header, layout.rows, best=layout.best, notes=layout.notes)

    def short(self) -> str:
        """Return what ``repr`` shows: the kind of result and the size of its table."""
        layout = self._layout()
        return f"<{type(self).__name__}: {len(layout.rows)} rows, {', '.join(layout.header)}>"


def records_layout(
    name: str, records: Mapping[str, Mapping[str, Any]], *, notes: Sequence[str] = ()
) -> Layout:
    """Lay out JSON values by name: a row for each, a column for each of their keys."""
    keys = list(dict.fromkeys(key for record in records.values() for key in record))
    rows = [
        (own, *(_written(record.get(key, "")) for key in keys)) for own, record in records.items()
    ]
    return Layout((name, *keys), rows, notes=notes)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of columns, two spaces between them: names to the left, numbers to the right."""
    cells = [[terminal(cell) for cell in row] for row in rows]
    widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    return ["  ".join(map(_pad, row, widths, range(len(row)))).rstrip() for row in cells]


def terminal(text: str) -> str:
    """Drop what could forge a terminal's display: control, format and bidirectional characters."""
    return "".join(c for c in single_line(text) if unicodedata.category(c) not in ("Cf", "Cs"))


def single_line(text: str) -> str:
    """Turn white space into plain spaces and drop other control characters."""
    spaced = "".join(" " if c.isspace() else c for c in text)
    return "".join(c for c in spaced if unicodedata.category(c) != "Cc")


def display_width(text: str) -> int:
    """Return the columns that a text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def _pad(cell: str, width: int, place: int) -> str:
    space = " " * (width - display_width(cell))
    return space + cell if place else cell + space


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "-".join(map(str, dict.fromkeys(cast("list[object]", value))))
    if isinstance(value, float) or value is None:
        return number(math.nan if value is None else value)
    return str(value)
