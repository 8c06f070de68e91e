"""Tables from columns: a head, cells, and which of them are best."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from grammeter.rendering.tables import Table, best_rows, format_number


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    align
        ``l`` or ``r``.
    best
        Rows whose cells are best.
    marks
        Marks of significance by row.
    """

    head: str
    cells: Sequence[str]
    align: str = "r"
    best: Collection[int] = ()
    marks: Mapping[int, str] = field(default_factory=dict[int, str])


def of_columns(columns: Sequence[Column], notes: Iterable[str] = ()) -> Table:
    """Lay columns of one length side by side."""
    return Table(
        tuple(column.head for column in columns),
        tuple(zip(*(column.cells for column in columns), strict=True)),
        "".join(column.align for column in columns),
        tuple(notes),
        frozenset((row, at) for at, column in enumerate(columns) for row in column.best),
        {
            (row, at): mark
            for at, column in enumerate(columns)
            for row, mark in column.marks.items()
        },
    )


def number_column(
    head: str, values: Sequence[float], digits: int = 4, *, higher: bool | None = None
) -> Column:
    """Write numbers; the best is marked if it is said whether ``higher`` is better."""
    best = () if higher is None else best_rows(values, higher_is_better=higher)
    return Column(head, [format_number(value, digits) for value in values], best=best)


def interval_text(low: float, high: float, digits: int = 4) -> str:
    """Write an interval; nothing if there is none."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"[{format_number(low, digits)}, {format_number(high, digits)}]"


def pvalue_text(pvalue: float) -> str:
    """Write a p-value for people."""
    return "<0.0001" if pvalue < 0.00005 else format_number(pvalue)


def six_digits(pvalue: float | None) -> str:
    """Write a p-value for programs."""
    return "" if pvalue is None else "NaN" if math.isnan(pvalue) else f"{pvalue:.6g}"
