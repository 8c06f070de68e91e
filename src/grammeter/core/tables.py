"""Tables of values: columns with units, rows of raw cells, and five forms to write them in."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from grammeter.core import lazy, texts

Form = Literal["table", "tsv", "markdown", "latex", "html"]
"""For the terminal, for programs, for web pages, for papers, for notebooks and reports."""

FORMS: tuple[Form, ...] = get_args(Form)

Unit = Literal["text", "count", "score", "number", "interval", "share", "pvalue"]
"""What the cells of a column are.

A ``score`` and its ``interval`` may be given in percent, a ``number`` may not; a ``share`` always
is.
"""

Best = Literal["high", "low"]

Cell = str | float | tuple[float, float] | None
"""A value, an interval, a range of ranks (whole numbers), or nothing; a text is shown as it is."""

_NAMES = ("backslash", "asciitilde", "asciicircum", "less", "greater", "bar")
_LATEX = str.maketrans(
    {
        **{letter: rf"\text{name}{{}}" for letter, name in zip("\\~^<>|", _NAMES, strict=True)},
        **{letter: "\\" + letter for letter in "&%$#_{}"},
        **{letter: f"{{{letter}}}" for letter in "[*"},  # a bare [ may be an option of a line end
    }
)
_MARKDOWN = str.maketrans(
    {"&": "&amp;", "<": "&lt;", **{letter: "\\" + letter for letter in "\\|*_`[]"}}
)
_SIGN = re.compile(r"(?:(?<=^)|(?<=\[)|(?<= ))[+-](?=\d)")


@dataclass(frozen=True)
class Column:
    """One column of a table; the ``high`` or the ``low`` values are ``best`` and marked.

    ``digits`` for people and ``tsv`` for programs are decimals, unless others are asked for;
    ``sign`` writes ``+`` before a positive number.
    """

    head: str
    unit: Unit = "text"
    digits: int = 4
    tsv: int = 6
    best: Best | None = None
    sign: bool = False

    @classmethod
    def many(
        cls, unit: Unit, *heads: str, digits: int = 4, tsv: int = 6, best: Best | None = None
    ) -> "tuple[Column, ...]":
        """Return columns that differ in their heads alone."""
        return tuple(cls(head, unit, digits, tsv, best) for head in heads)

    @property
    def shown(self) -> str:
        """The head as people read it: an arrow says that low values are best."""
        return f"{self.head} \N{DOWNWARDS ARROW}" if self.best == "low" else self.head

    @property
    def side(self) -> Literal["l", "r"]:
        """The side at which cells stand: texts to the left, numbers to the right."""
        return "l" if self.unit == "text" else "r"


@dataclass(frozen=True)
class Style:
    """How numbers are written: ``digits`` is their decimals, by default those of the column.

    ``percent`` multiplies scores by 100, with two decimals fewer unless ``digits`` are given;
    ``width``: the columns of a terminal, that a table for people folds to; 0: as wide as it is.
    """

    form: Form = "table"
    digits: int | None = None
    percent: bool = False
    width: int = 0

    def write(self, cell: Cell, column: Column) -> str:
        """Write one cell; nothing for ``None`` and for an interval without bounds."""
        if cell is None or isinstance(cell, str):
            return cell or ""
        if isinstance(cell, tuple):
            return self._range(cell, column)
        match column.unit:
            case "count" | "text":
                return str(int(cell)) if cell % 1 == 0 else f"{cell:g}".replace("nan", "NaN")
            case "pvalue":
                return _pvalue(cell, exact=self.form == "tsv")
            case "share":
                return "NaN" if math.isnan(cell) else f"{cell:.2%}"
            case "score" | "number" | "interval":
                percent = self.percent and column.unit != "number"
                usual = column.tsv if self.form == "tsv" else column.digits
                usual = max(usual, 4) if percent else usual
                digits = usual if self.digits is None else self.digits + 2 * percent
                return texts.format_number(cell, digits, percent=percent, sign=column.sign)

    def _range(self, cell: tuple[float, float], column: Column) -> str:
        low, high = (self.write(end, column) for end in cell)
        if column.unit == "count":
            return low if low == high else f"{low}-{high}"
        return "" if "NaN" in (low, high) else f"[{low}, {high}]"


@dataclass(frozen=True)
class Table:
    """Columns, rows of as many cells, and below them ``notes``: signatures, the meaning of marks.

    ``title`` is a heading above, or empty; ``best`` has ``(row, column)`` of best cells, beside
    those that a column's values say; ``marks`` those of significance by ``(row, column)``, written
    behind a cell, raised in LaTeX.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    title: str = ""
    best: frozenset[tuple[int, int]] = frozenset()
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])

    def __post_init__(self) -> None:
        if {len(row) for row in self.rows} - {len(self.columns)}:
            raise ValueError(f"rows of {len(self.columns)} columns have other lengths")

    @classmethod
    def of(
        cls, columns: Iterable[Column | str], rows: Iterable[Sequence[Cell]],
        notes: Iterable[str] = (),
        *, title: str = "", marks: Mapping[tuple[int, int], str] | None = None,
    ) -> "Table":  # fmt: skip
        """Lay out rows; a column that is only a name holds texts."""
        heads = tuple(Column(c) if isinstance(c, str) else c for c in columns)
        return cls(heads, tuple(map(tuple, rows)), tuple(notes), title, marks=marks or {})

    @classmethod
    def side_by_side(
        cls, columns: Iterable[tuple[Column | str, Sequence[Cell]]], notes: Iterable[str] = ()
    ) -> "Table":
        """Lay columns of one length side by side."""
        heads, cells = zip(*columns, strict=True)
        return cls.of(heads, zip(*cells, strict=True), notes)

    def best_cells(self) -> frozenset[tuple[int, int]]:
        """Return the ``(row, column)`` of all cells to be marked as best."""
        best = set(self.best)
        for at, column in enumerate(self.columns):
            cells = (row[at] for row in self.rows if column.best)
            values = [cell if isinstance(cell, int | float) else math.nan for cell in cells]
            top = best_rows(values, higher_is_better=column.best == "high")
            best |= {(row, at) for row in top}
        return frozenset(best)

    def write(self, style: Style | Form = "table") -> str:
        """Write the table in one form, without its title; TSV has no notes."""
        style = Style(style) if isinstance(style, str) else style
        return _WRITERS[style.form](self, style)

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame`` of the raw values; pandas must be installed."""
        pandas: Any = lazy.require("pandas", extra="pandas")
        return pandas.DataFrame(list(self.rows), columns=[column.head for column in self.columns])


_TITLED = ("{}\n\n", "# {}\n", "## {}\n\n", "% {}\n", "<h3>{}</h3>\n")
_TITLES: Mapping[Form, str] = dict(zip(FORMS, _TITLED, strict=True))


def write_tables(tables: Sequence[Table], style: Style | Form = "table") -> str:
    """Write tables one after another, each under its title; a single one in TSV has none."""
    form = style if isinstance(style, str) else style.form
    named = form != "tsv" or len(tables) > 1
    safe = texts.escaped if form == "html" else texts.single_line
    return "\n".join(
        (_TITLES[form].format(safe(table.title)) if table.title and named else "")
        + table.write(style)
        for table in tables
    )


def write_notes(notes: Iterable[str], form: Form, width: int = 0) -> str:
    """Write notes below tables: a list in Markdown, comments in LaTeX, else lines of a width."""
    special = {"markdown": (_markdown, "- "), "latex": (texts.single_line, "% ")}
    write, start = special.get(form, (texts.terminal, ""))
    whole = (f"{start}note: {write(note)}" for note in notes)
    lines = [line for note in whole for line in texts.wrapped(note, width, "  ")]
    return _lines(["", *lines]) if lines else ""


def best_rows(values: Sequence[float], *, higher_is_better: bool) -> list[int]:
    """Return the rows of the best value; several if tied, none if all are NaN."""
    known = [value for value in values if not math.isnan(value)]
    top = (max if higher_is_better else min)(known, default=None)
    return [row for row, value in enumerate(values) if value == top]


def _to_text(table: Table, style: Style) -> str:
    """Write aligned columns, see :func:`laid_out`; wide letters count two columns."""
    table = replace(table, marks=_in_line(table))
    heads = [texts.isolated(column.shown) for column in table.columns]
    rows = [heads, *_cells(table, style, texts.isolated)]
    text = texts.laid_out(rows, [column.side for column in table.columns], style.width)
    lines = (texts.wrapped(texts.isolated(note), style.width, "  ") for note in table.notes)
    notes = [line for note in lines for line in note]
    return _lines([*text, *([""] if notes else []), *notes])


def _to_tsv(table: Table, style: Style) -> str:
    """Write tab-separated values; cells that a spreadsheet takes for formulas are shielded."""
    heads = [texts.single_line(column.head) for column in table.columns]
    rows = [heads, *_cells(table, style, texts.single_line)]
    return _lines("\t".join(map(texts.shielded, row)) for row in rows)


def _to_markdown(table: Table, style: Style) -> str:
    """Write a pipe table with the notes as a list; special characters are escaped."""
    rows = _cells(table, style, _markdown, bold="**{}**")
    rule = ["---:" if column.side == "r" else "---" for column in table.columns]
    heads = [_markdown(column.shown) for column in table.columns]
    lines = [f"| {' | '.join(row)} |" for row in (heads, rule, *rows)]
    notes = [f"- {_markdown(note)}" for note in table.notes]
    return _lines([*lines, *([""] if notes else []), *notes])


def _to_latex(table: Table, style: Style) -> str:
    """Write a ``tabular`` for the package booktabs, with notes as comments and raised marks."""
    rows = _cells(table, style, _latex, bold=r"\textbf{{{}}}", behind=_raised)
    heads = [_latex(c.head) + r" $\downarrow$" * (c.best == "low") for c in table.columns]
    top, middle = [r"\toprule", _latex_row(heads), r"\midrule"], map(_latex_row, rows)
    sides = "".join(column.side for column in table.columns)
    notes = (f"% {texts.single_line(note)}" for note in table.notes)
    ends = [r"\bottomrule", r"\end{tabular}"]
    return _lines([rf"\begin{{tabular}}{{{sides}}}", *top, *middle, *ends, *notes])


def _to_html(table: Table, style: Style) -> str:
    sides = [{"l": "left", "r": "right"}[column.side] for column in table.columns]

    def row(tag: str, cells: Iterable[str]) -> str:
        placed = zip(sides, cells, strict=True)
        return "".join(f'<{tag} style="text-align:{side}">{text}</{tag}>' for side, text in placed)

    heads = row("th", (texts.marked_up(column.shown) for column in table.columns))
    cells = _cells(table, style, texts.marked_up, bold="<b>{}</b>")
    body = "".join(f"<tr>{row('td', line)}</tr>" for line in cells)
    below = "".join(f"<br><small>{texts.escaped(note)}</small>" for note in table.notes)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{below}\n"


_WRITERS = dict(zip(FORMS, (_to_text, _to_tsv, _to_markdown, _to_latex, _to_html), strict=True))
Write = Callable[[str], str]


def _cells(
    table: Table, style: Style, write: Write, *, bold: str = "{}", behind: Write | None = None
) -> list[list[str]]:
    """Write all cells, the best in ``bold``, with their marks ``behind`` them, never bold."""
    mark, best = behind or write, table.best_cells() if bold != "{}" else ()
    return [
        [
            (bold if (y, x) in best else "{}").format(write(style.write(cell, table.columns[x])))
            + mark(table.marks.get((y, x), ""))
            for x, cell in enumerate(row)
        ]
        for y, row in enumerate(table.rows)
    ]


def _in_line(table: Table) -> dict[tuple[int, int], str]:
    """Return a mark for each cell of columns with marks, as wide as the widest of its column."""
    widths: dict[int, int] = {}
    for (_, at), mark in table.marks.items():
        widths[at] = max(widths.get(at, 0), texts.display_width(mark))
    rows = range(len(table.rows))
    return {(y, x): table.marks.get((y, x), "").ljust(w) for x, w in widths.items() for y in rows}


def _pvalue(value: float, *, exact: bool) -> str:
    if math.isnan(value):
        return "NaN"
    return f"{value:.6g}" if exact else "<0.0001" if value < 0.00005 else texts.format_number(value)


def _markdown(text: str) -> str:
    return texts.single_line(text).translate(_MARKDOWN)


def _latex(text: str) -> str:
    """Escape; the sign of a number becomes mathematics, to show a minus and not a hyphen."""
    parts = _SIGN.split(plain := texts.single_line(text))
    signs = [f"${sign}$" for sign in _SIGN.findall(plain)]
    return "".join(a.translate(_LATEX) + b for a, b in zip(parts, [*signs, ""], strict=True))


def _latex_row(cells: Collection[str]) -> str:
    return " & ".join(cells) + r" \\"


def _raised(mark: str) -> str:
    text = mark.strip().translate(_LATEX).replace("{*}", "*")
    upright = rf"\mathrm{{{text}}}" if any(c.isalpha() for c in mark) else text
    return f"$^{{{upright}}}$" if text else ""


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
