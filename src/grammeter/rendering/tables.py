"""Tables of text: one value, four forms (terminal, TSV, Markdown, LaTeX)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from grammeter.core import display_width, shielded, single_line, terminal

Form = Literal["table", "tsv", "markdown", "latex"]
"""For the terminal, for programs, for web pages, for papers."""

FORMS: tuple[Form, ...] = get_args(Form)

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # bare, at the start of a row, it would be an option of the line end before it
    "*": "{*}",
    **{letter: "\\" + letter for letter in "&%$#_"},
}
_MARKDOWN = {"&": "&amp;", "<": "&lt;", **{letter: "\\" + letter for letter in "\\|*_`[]"}}
_SIGN = re.compile(r"(?:(?<=^)|(?<=\[)|(?<= ))[+-](?=\d)")


@dataclass(frozen=True)
class Table:
    """A header, rows of the same length, and notes below.

    Attributes
    ----------
    align
        One letter for each column: ``l`` or ``r``.
    notes
        Lines below the table: signatures, the meaning of marks.
    best
        ``(row, column)`` of the best cells of their columns.
    marks
        Marks of significance by ``(row, column)``, written behind a cell, raised in LaTeX.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    notes: tuple[str, ...] = ()
    best: frozenset[tuple[int, int]] = frozenset()
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])

    def __post_init__(self) -> None:
        widths = {len(self.header), len(self.align), *(len(row) for row in self.rows)}
        if len(widths) != 1 or not set(self.align) <= set("lr"):
            raise ValueError(f"rows, header and align do not fit: {sorted(widths)}, {self.align!r}")


def render(table: Table, form: Form, *, bold_best: bool = False) -> str:
    """Write a table in one of four forms, with a line end after each line.

    ``bold_best`` is for LaTeX and Markdown. TSV has no notes.
    """
    if form == "table":
        return to_text(table)
    if form == "tsv":
        return to_tsv(table)
    write = to_markdown if form == "markdown" else to_latex
    return write(table, bold_best=bold_best)


def notes_text(notes: Iterable[str], form: str) -> str:
    """Write notes below tables: a list in Markdown, comments in LaTeX, else lines."""
    write, start = {"markdown": (_markdown, "- "), "latex": (single_line, "% ")}.get(
        form, (terminal, "")
    )
    lines = [f"{start}note: {write(note)}" for note in notes]
    return _lines(["", *lines]) if lines else ""


def to_text(table: Table) -> str:
    """Write aligned columns, two spaces between them, for a terminal.

    Control and bidirectional characters, with which a name could change what is displayed, are
    dropped; wide letters count two columns.
    """
    lines = [[terminal(cell) for cell in table.header], *_written(table, terminal)]
    widths = [max(display_width(cell) for cell in column) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    text = ["  ".join(map(_pad, line, widths, table.align)).rstrip() for line in lines]
    notes = [terminal(note) for note in table.notes]
    return _lines([*text, *([""] if notes else []), *notes])


def to_tsv(table: Table) -> str:
    """Write tab-separated values; a tab or line end within a cell becomes a space.

    An apostrophe precedes a cell that a spreadsheet would take for a formula.
    """
    rows = [[single_line(cell) for cell in table.header], *_written(table, single_line)]
    return _lines("\t".join(map(shielded, row)) for row in rows)


def to_markdown(table: Table, *, bold_best: bool = False) -> str:
    """Write a pipe table with the notes as a list; special characters are escaped."""
    rows = _written(table, _markdown, bold="**{}**" if bold_best else "{}")
    rule = ["---:" if side == "r" else "---" for side in table.align]
    lines = [f"| {' | '.join(row)} |" for row in (map(_markdown, table.header), rule, *rows)]
    notes = [f"- {_markdown(note)}" for note in table.notes]
    return _lines([*lines, *([""] if notes else []), *notes])


def to_latex(table: Table, *, bold_best: bool = False) -> str:
    """Write a ``tabular`` for the package booktabs, with notes as comments and raised marks."""
    bold = r"\textbf{{{}}}" if bold_best else "{}"
    rows = _written(table, _latex, bold=bold, behind=_raised)
    return _lines(
        [
            rf"\begin{{tabular}}{{{table.align}}}",
            r"\toprule",
            _latex_row([_latex(cell) for cell in table.header]),
            r"\midrule",
            *(_latex_row(row) for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            *(f"% {single_line(note)}" for note in table.notes),
        ]
    )


def best_rows(values: Sequence[float], *, higher_is_better: bool) -> list[int]:
    """Return the rows of the best value; several if tied, none if all are NaN."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return []
    top = max(known) if higher_is_better else min(known)
    return [row for row, value in enumerate(values) if value == top]


def format_number(
    value: float, digits: int = 4, *, percent: bool = False, sign: bool = False
) -> str:
    """Write a number for people.

    Parameters
    ----------
    value
        In its own units; NaN is written ``NaN``.
    digits
        Decimals in these units.
    percent
        Multiply by 100 and show two decimals fewer: 0.3501 becomes 35.01.
    sign
        Write ``+`` before a positive number.
    """
    if math.isnan(value):
        return "NaN"
    scaled, places = (value * 100, max(digits - 2, 0)) if percent else (value, digits)
    text = f"{scaled:+.{places}f}" if sign else f"{scaled:.{places}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def _pad(cell: str, width: int, side: str) -> str:
    space = " " * (width - display_width(cell))
    return space + cell if side == "r" else cell + space


def _markdown(text: str) -> str:
    return _replace(single_line(text), _MARKDOWN)


def _latex(text: str) -> str:
    """Escape; the sign of a number becomes mathematics, to show a minus and not a hyphen."""
    parts = _SIGN.split(plain := single_line(text))
    signs = [f"${sign}$" for sign in _SIGN.findall(plain)]
    escaped = [_replace(part, _LATEX) for part in parts]
    return "".join(a + b for a, b in zip(escaped, [*signs, ""], strict=True))


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _written(
    table: Table,
    write: Callable[[str], str],
    *,
    bold: str = "{}",
    behind: Callable[[str], str] | None = None,
) -> list[list[str]]:
    """Write all cells, the best in ``bold``, with their marks ``behind`` them, never bold."""
    mark, shapes = behind or write, ("{}", bold)
    return [
        [
            shapes[(y, x) in table.best].format(write(cell)) + mark(table.marks.get((y, x), ""))
            for x, cell in enumerate(row)
        ]
        for y, row in enumerate(table.rows)
    ]


def _raised(mark: str) -> str:
    """Return a mark as a mathematical superscript with upright letters."""
    text = _replace(mark.strip(), _LATEX).replace("{*}", "*")
    upright = rf"\mathrm{{{text}}}" if any(c.isalpha() for c in mark) else text
    return f"$^{{{upright}}}$" if text else ""


def _replace(text: str, by: Mapping[str, str]) -> str:
    return "".join(by.get(c, c) for c in text)


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


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
