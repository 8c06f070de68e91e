"""Explanations as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from grammeter.core.explanation import Explanation, Grid, JudgedEdit, SentenceExplanation
from grammeter.report.tables import Table, format_number, terminal, to_text

_MARKS = {"matched": "+", "spurious": "-", "missed": "?"}


def explanation_text(explained: SentenceExplanation, *, digits: int = 4) -> str:
    """Return the sentence, its references, and what each metric says of it."""
    return "\n".join(_lines(explained, digits)) + "\n"


def _lines(explained: SentenceExplanation, digits: int) -> Iterator[str]:
    yield f"{terminal(explained.system)}, line {explained.line}"
    yield f"  source      {terminal(explained.source)}"
    yield f"  output      {terminal(explained.hypothesis)}"
    for number, text in enumerate(explained.references):
        yield f"  reference {number} {'(none)' if text is None else terminal(text)}"
    for name, explanation in explained.metrics.items():
        yield ""
        yield from _metric_lines(name, explanation, digits)


def _metric_lines(name: str, explanation: Explanation, digits: int) -> Iterator[str]:
    head = f"{terminal(name)}  {format_number(explanation.value, digits)}"
    yield head if explanation.chosen is None else f"{head}  (reference {explanation.chosen})"
    if explanation.parts:
        yield "  " + "  ".join(
            f"{key} {_short(value, digits)}" for key, value in explanation.parts.items()
        )
    yield from (f"  {line}" for line in _edit_lines(explanation.edits))
    for grid in explanation.grids:
        yield f"  {grid.title}"
        yield from (f"    {line}" for line in _grid_lines(grid))


def _short(value: float, digits: int) -> str:
    return str(int(value)) if float(value).is_integer() else format_number(value, digits)


def _edit_lines(edits: tuple[JudgedEdit, ...]) -> list[str]:
    if not edits:
        return []
    rows = tuple(
        (
            f"{_MARKS[judged.verdict]} {judged.verdict}",
            f"{judged.edit.start}:{judged.edit.end}",
            f"[{judged.original} -> {' | '.join(judged.edit.corrections)}]",
            judged.edit.type,
        )
        for judged in edits
    )
    return to_text(Table(("verdict", "span", "edit", "type"), rows, "llll")).splitlines()


def _grid_lines(grid: Grid) -> list[str]:
    align = "l" + "r" * (len(grid.columns) - 1)
    return to_text(Table(grid.columns, grid.rows, align)).splitlines()
