"""Explanations as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from grammeter.core import (
    Attribution,
    Explanation,
    Grid,
    JudgedEdit,
    SentenceExplanation,
    interleaved,
)
from grammeter.rendering.tables import Table, format_number, terminal, to_text

_MARKS = {"matched": "+", "spurious": "-", "missed": "?"}

_FIGURE = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?")

_METHODS = {"shapley": "Shapley values", "leave-one-out": "Leave one out"}


def explanation_text(explained: SentenceExplanation, *, digits: int = 4) -> str:
    """Return the sentence, its references, and the explanation of each metric."""
    return "\n".join(_lines(explained, digits)) + "\n"


def _lines(explained: SentenceExplanation, digits: int) -> Iterator[str]:
    yield f"{terminal(explained.system)}, line {explained.line}"
    yield f"  source      {terminal(explained.source)}"
    yield f"  output      {terminal(explained.hypothesis)}"
    for number, text in enumerate(explained.references):
        yield f"  reference {number} {'(none)' if text is None else terminal(text)}"
    for name, explanation in explained.metrics.items():
        yield ""
        yield from _metric_lines(name, explanation, explained.source.split(), digits)
        if explanation.attribution is not None:
            source = explained.source.split()
            yield from _attribution_lines(explanation.attribution, explanation, source, digits)


def _metric_lines(
    name: str, explanation: Explanation, source: Sequence[str], digits: int
) -> Iterator[str]:
    head = f"{terminal(name)}  {format_number(explanation.value, digits)}"
    yield head if explanation.chosen is None else f"{head}  (reference {explanation.chosen})"
    if explanation.corpus_value is not None and explanation.corpus_chosen != explanation.chosen:
        value = format_number(explanation.corpus_value, digits)
        yield f"  chosen by the corpus: reference {explanation.corpus_chosen}, {value}"
    if explanation.parts:
        yield "  " + "  ".join(
            f"{key} {_short(value, digits)}" for key, value in explanation.parts.items()
        )
    if explanation.reason is not None:
        yield f"  NaN: {terminal(explanation.reason)}"
    if explanation.edits:
        yield f"  {_drawn(source, explanation.edits)}"
    yield from (f"  {line}" for line in _edit_lines(explanation.edits, digits))
    for grid in explanation.grids:
        yield f"  {grid.title}"
        yield from (f"    {line}" for line in _grid_lines(grid))


def _drawn(source: Sequence[str], edits: Iterable[JudgedEdit]) -> str:
    """Write the sentence with its edits, such as ``[+ go -> goes]``, signs as in the list."""
    return " ".join(
        terminal(piece)
        if isinstance(piece, str)
        else f"[{_MARKS[piece.verdict]} {_change(piece.original, piece.edit.correction)}]"
        for piece in interleaved(source, edits)
    )


def _change(original: str, correction: str) -> str:
    return f"{terminal(original)} -> {terminal(correction)}".strip()


def _short(value: float, digits: int) -> str:
    return str(int(value)) if float(value).is_integer() else format_number(value, digits)


def _edit_lines(edits: tuple[JudgedEdit, ...], digits: int) -> list[str]:
    if not edits:
        return []
    rows = [
        (
            f"{_MARKS[judged.verdict]} {judged.verdict}",
            f"{judged.edit.start}:{judged.edit.end}",
            f"[{judged.original} -> {' | '.join(judged.edit.corrections)}]",
            judged.edit.type,
            _weight(judged, digits),
        )
        for judged in edits
    ]
    return _filled_lines(("verdict", "span", "edit", "type", "weight"), rows, "llllr")


def _attribution_lines(
    attribution: Attribution, explanation: Explanation, source: Sequence[str], digits: int
) -> Iterator[str]:
    """Yield the contribution of each edit, with the metric's verdict."""
    yield f"  {_attribution_head(attribution, digits)}"
    if attribution.reason is not None:
        yield f"    NaN: {terminal(attribution.reason)}"
    rows: list[tuple[str, ...]] = []
    for number, (edit, value) in enumerate(zip(attribution.edits, attribution.values, strict=True)):
        judged = explanation.judged(edit, source)
        rows.append(
            (
                f"{edit.start}:{edit.end}",
                f"[{' '.join(source[edit.start : edit.end])} -> {edit.correction}]",
                edit.type,
                judged.verdict if judged else "",
                _weight(judged, digits),
                format_number(value, digits, sign=True),
                ""
                if attribution.errors is None
                else format_number(attribution.errors[number], digits),
            )
        )
    columns = ("span", "edit", "type", "verdict", "weight", "value", "error")
    yield from (f"    {line}" for line in _filled_lines(columns, rows, "llllrrr"))


def _attribution_head(attribution: Attribution, digits: int) -> str:
    how = _METHODS[attribution.method]
    if attribution.orders is not None:
        how += f" from {attribution.orders} random orders"
    total, baseline = (
        format_number(value, digits) for value in (attribution.total, attribution.baseline)
    )
    if not attribution.edits:
        return f"{how}: the output has no edits"
    return f"{how}: {total} with all edits, {baseline} with none"


def _weight(judged: JudgedEdit | None, digits: int) -> str:
    if judged is None or judged.weight is None:
        return ""
    return format_number(judged.weight, digits)


def _filled_lines(header: Sequence[str], rows: Sequence[tuple[str, ...]], align: str) -> list[str]:
    """Return the lines of a table without its empty columns."""
    if not rows:
        return []
    columns = [at for at in range(len(header)) if any(row[at] for row in rows)]
    cells = tuple(tuple(row[at] for at in columns) for row in rows)
    names = tuple(header[at] for at in columns)
    return to_text(Table(names, cells, "".join(align[at] for at in columns))).splitlines()


def _grid_lines(grid: Grid) -> list[str]:
    columns = zip(*grid.rows, strict=True) if grid.rows else [()] * len(grid.columns)
    align = "".join(
        "r" if place and all(map(_is_figure, cells)) else "l" for place, cells in enumerate(columns)
    )
    return to_text(Table(grid.columns, grid.rows, align)).splitlines()


def _is_figure(cell: str) -> bool:
    """Whether a cell holds a number, which is aligned right."""
    return cell in ("", "NaN", "-") or _FIGURE.fullmatch(cell) is not None
