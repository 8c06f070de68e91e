"""Scores as tables: of corpora, by error type, and by sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grammeter.core import (
    MetricScores,
    Score,
    ScoreTable,
    SegmentScores,
    UnknownNameError,
    json_number,
    shielded,
    single_line,
)
from grammeter.rendering.tables import Column, Table, best_rows, format_number, of_columns

COUNTS = ("tp", "fp", "fn")
SHARES = ("precision", "recall")
ALL = "all types"
"""The last row: the metric's own score."""

RARE = 10
"""With fewer edits in the references, one edit changes recall by more than 0.1."""

ByType = Mapping[str, Mapping[str, Score]]
"""Scores by system and error type."""


@dataclass(frozen=True, slots=True)
class Style:
    """How numbers are written; see :func:`~grammeter.rendering.tables.format_number`."""

    percent: bool = False
    digits: int = 4

    def write(self, score: Score | None, part: str | None) -> str:
        """Write the value of a score or a part of it; counts as they are, ``None`` as nothing."""
        value = None if score is None else score.value if part is None else score.parts.get(part)
        if value is None:
            return ""
        if part in COUNTS:
            return f"{value:g}"
        return format_number(value, self.digits, percent=self.percent)


def types_tables(table: ScoreTable, style: Style, parts: Sequence[str] = ()) -> Iterator[Table]:
    """Lay out scores by error type for people: a row a type, a column a system.

    The most frequent types of the references come first. A single system has all parts; several
    systems have only ``parts``.
    """
    for name, column in table.items():
        if column.types:
            shown = parts or ((*COUNTS, *SHARES) if len(column.types) == 1 else ())
            yield _pivot(f"{name} by type", column, column.types, style, shown)
        if column.gold_types:
            yield _pivot(f"{name}, recall by gold type", column, column.gold_types, style, ())


def long_types_tables(table: ScoreTable, style: Style) -> Iterator[Table]:
    """Lay out scores by error type for programs: a row a metric, system and type."""
    for head, types, parts, value in (
        ("type", {n: c.types for n, c in table.items()}, (*COUNTS, *SHARES), "f"),
        ("gold_type", {n: c.gold_types for n, c in table.items()}, ("tp", "fn"), "recall"),
    ):
        rows = tuple(
            (
                system,
                name,
                kind,
                *(style.write(score, part) for part in parts),
                style.write(score, None),
            )
            for name, by_type in types.items()
            for system, scores in by_type.items()
            for kind, score in scores.items()
        )
        if rows:
            header = ("system", "metric", head, *parts, value)
            yield Table(header, rows, "lll" + "r" * (len(parts) + 1))


def gold_range(kind: str, types: ByType) -> tuple[float, float]:
    """Return the least and the largest number of edits of a type in the systems' references."""
    sizes = [_gold(scores[kind]) if kind in scores else 0 for scores in types.values()]
    return min(sizes), max(sizes)


def commonest_first(types: ByType) -> list[str]:
    """Return all types, the most frequent in the references first."""
    kinds = {kind for scores in types.values() for kind in scores}
    return sorted(kinds, key=lambda kind: (-gold_range(kind, types)[1], kind))


def _pivot(
    title: str, column: MetricScores, types: ByType, style: Style, parts: Sequence[str]
) -> Table:
    kinds = commonest_first(types)
    cells = [(system, part) for system in types for part in (*parts, None)]
    rows: list[tuple[str, ...]] = [
        (
            kind,
            span(gold_range(kind, types)),
            *(style.write(types[system].get(kind), part) for system, part in cells),
        )
        for kind in kinds
    ]
    if types is column.types:
        rows.append(_whole(column, style, cells))
    heads = [system if part is None else f"{system} {part}" for system, part in cells]
    notes = tuple(_notes(kinds, types))
    best = _best(kinds, types, cells)
    return Table((title, "gold", *heads), tuple(rows), "lr" + "r" * len(cells), notes, best)


def _whole(
    column: MetricScores, style: Style, cells: Sequence[tuple[str, str | None]]
) -> tuple[str, ...]:
    sizes = [_gold(column[system]) for system in column.types]
    values = (style.write(column[system], part) for system, part in cells)
    return (ALL, span((min(sizes), max(sizes))), *values)


def _best(
    kinds: Sequence[str], types: ByType, cells: Sequence[tuple[str, str | None]]
) -> frozenset[tuple[int, int]]:
    """Return the cells of the best systems of each type; none for a single system."""
    places = [place for place, (_, part) in enumerate(cells, start=2) if part is None]
    if len(places) < 2:
        return frozenset()
    values = [
        [scores[kind].value if kind in scores else 0.0 for scores in types.values()]
        for kind in kinds
    ]
    return frozenset(
        (row, places[at])
        for row, scores in enumerate(values)
        if any(scores)
        for at in best_rows(scores, higher_is_better=True)
    )


def _notes(kinds: Sequence[str], types: ByType) -> Iterator[str]:
    several = any(low != high for low, high in (gold_range(kind, types) for kind in kinds))
    by_system = ", which differ by system" if several else ""
    yield f"gold: edits of this type in the chosen references (tp + fn){by_system}"
    rare = sum(gold_range(kind, types)[1] < RARE for kind in kinds)
    if rare:
        yield f"{rare} of {len(kinds)} types have fewer than {RARE}: their figures say little"


def _gold(score: Score) -> float:
    return score.parts["tp"] + score.parts["fn"]


def span(sizes: tuple[float, float]) -> str:
    """Write a range of numbers: ``7-8``, or one number."""
    low, high = sizes
    return f"{high:g}" if low == high else f"{low:g}-{high:g}"


HEADER = ("system", "segment", "metric", "value", "reference", "parts")


def segments_tsv(table: ScoreTable) -> str:
    """Return TSV with the header ``system segment metric value reference parts``.

    ``segment`` counts from 1; ``value`` has all digits, ``null`` if there is none;
    ``reference`` is the number of the chosen reference or annotator, or empty; ``parts`` is a
    JSON object, with ``corpus_reference`` and ``corpus_value`` if the corpus score chose another
    reference.
    """
    lines = ["\t".join(HEADER)]
    for name, column in table.items():
        for system, scores in column.segments.items():
            head, middle = shielded(single_line(system)), shielded(single_line(name))
            lines += [
                f"{head}\t{number}\t{middle}\t{rest}"
                for number, rest in enumerate(_rows(scores), start=1)
            ]
    return "\n".join(lines) + "\n"


def _rows(scores: SegmentScores) -> Iterator[str]:
    names = list(scores.parts)
    columns = [scores.parts[name].tolist() for name in names]
    figures = zip(*columns, strict=True) if columns else ([()] * len(scores))
    rows = zip(scores.values.tolist(), scores.chosen.tolist(), figures, strict=True)
    for (value, chosen, parts), choice in zip(rows, _choices(scores), strict=True):
        numbers = {name: json_number(part) for name, part in zip(names, parts, strict=True)}
        shown: dict[str, object] = {**numbers, **choice}
        if math.isnan(value):
            shown["reason"] = scores.reason or "undefined"
        text = "null" if math.isnan(value) else repr(value)
        yield f"{text}\t{chosen if chosen >= 0 else ''}\t{json.dumps(shown, ensure_ascii=False)}"


def _choices(scores: SegmentScores) -> Iterator[dict[str, object]]:
    """Yield for each sentence the reference of the corpus score, if it is another one."""
    if scores.in_corpus is None:
        yield from ({} for _ in range(len(scores)))
        return
    chosen, values = scores.in_corpus.chosen.tolist(), scores.in_corpus.values.tolist()
    for sentence_choice, other, value in zip(scores.chosen.tolist(), chosen, values, strict=True):
        named: dict[str, object] = {"corpus_reference": other, "corpus_value": json_number(value)}
        yield named if other != sentence_choice else {}


def scores_table(
    table: ScoreTable, *, percent: bool = False, digits: int = 4, parts: Sequence[str] = ()
) -> Table:
    """Lay out corpus scores: a row for each system, a column for each metric.

    Parameters
    ----------
    percent, digits
        As for :func:`format_number`.
    parts
        Parts of the scores, such as ``precision``, each in a column before the score.

    Raises
    ------
    UnknownNameError
        If no metric has one of the parts.
    """
    columns = [Column("system", table.systems, "l")]
    for name, column, part in _columns(table, parts):
        values = [column[s].value if s in column.scores else math.nan for s in table.systems]
        best = best_rows(values, higher_is_better=column.higher_is_better) if part is None else ()
        cells = [_cell(column, system, part, percent, digits) for system in table.systems]
        columns.append(Column(name if part is None else f"{name} {part}", cells, best=best))
    notes = (note for name, column in table.items() for note in score_notes(name, column))
    return of_columns(columns, notes)


def score_notes(name: str, column: MetricScores) -> list[str]:
    """Return the notes of a metric's column: signature, direction, missing scores."""
    lower = "" if column.higher_is_better else " (lower is better)"
    missing = [
        f"{name}, {system}: no score: {score.reason or 'undefined'}"
        for system, score in column.items()
        if math.isnan(score.value)
    ]
    return [f"{name}{lower}: {column.signature}", *missing]


def _columns(
    table: ScoreTable, wanted: Sequence[str]
) -> Iterator[tuple[str, MetricScores, str | None]]:
    """Yield metric, scores and part for each column; part ``None`` is the score itself."""
    there = {
        name: {part for score in column.scores.values() for part in score.parts}
        for name, column in table.items()
    }
    for part in wanted:
        if not any(part in known for known in there.values()):
            raise UnknownNameError("part of these scores", part, set[str]().union(*there.values()))
    for name, column in table.items():
        yield from ((name, column, part) for part in wanted if part in there[name])
        yield name, column, None


def _cell(column: MetricScores, system: str, part: str | None, percent: bool, digits: int) -> str:
    """Write a score or a part of it; counts as they are."""
    if system not in column.scores:
        return ""
    score = column[system]
    value = score.value if part is None else score.parts.get(part)
    if value is None or (part is not None and isinstance(value, int)):
        return "" if value is None else str(value)
    return format_number(value, digits, percent=percent)
