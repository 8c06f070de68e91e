"""Scores from several places, one table: metrics of our own, of other programs, and judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from grammeter.core import (
    DataError,
    MetricScores,
    Ranked,
    Ranking,
    ScoreTable,
    SegmentScores,
    with_sentence_numbers,
)
from grammeter.meta.judged import judged_table, ranked_table
from grammeter.ranking import notes_of

Source = ScoreTable | Ranked | Sequence[Ranking]
"""Scores of metrics; a ranking; or judgments, of people or language models."""


def join_scores(
    sources: Mapping[str, Source],
    *,
    by: str = "expected-wins",
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    segments: int = 0,
) -> ScoreTable:
    """Put scores side by side: a column for each metric, ranking and file of judgments.

    Parameters
    ----------
    sources
        By the name of the place, which names rankings and judgments as metrics, too.
    by
        How judgments score systems, see :func:`~grammeter.meta.judged.judged_table`.
    systems, drop
        Who is to take part: with ``systems``, or among those not dropped, all must be everywhere.
    segments
        How many sentences judgments are about, if more than the last one judged.

    Raises
    ------
    DataError
        If two places have a metric of one name, other systems, other texts, or other numbers of
        sentences with statistics.
    """
    tables = {name: _table(name, source, by, segments) for name, source in sources.items()}
    first, *others = tables.values()
    if not others:
        return first
    if systems is None:
        _check_systems(tables, drop)
    _check_texts(tables)
    size = max(table.segments for table in tables.values())
    columns: dict[str, MetricScores] = {}
    origin: dict[str, str] = {}
    for where, table in tables.items():
        for name, column in table.items():
            if name in columns:
                raise DataError(
                    f"{origin[name]} and {where} both have a metric {name!r}",
                    fix="Take it out of one of them, or rename the file that it is called after.",
                )
            columns[name], origin[name] = _padded(where, column, size), where
    return ScoreTable(
        tuple(dict.fromkeys(name for table in tables.values() for name in table.systems)),
        size,
        columns,
        next((table.corpus for table in tables.values() if table.corpus is not None), None),
        tuple(dict.fromkeys(note for table in tables.values() for note in table.about)),
    )


def _table(name: str, source: Source, by: str, segments: int) -> ScoreTable:
    if isinstance(source, ScoreTable):
        return source
    if isinstance(source, Ranked):
        return ranked_table(source, name)
    table = judged_table(with_sentence_numbers(source), name, by=by, segments=segments)
    return replace(table, about=tuple(dict.fromkeys([*notes_of(source), *table.about])))


def _check_systems(tables: Mapping[str, ScoreTable], drop: Sequence[str]) -> None:
    known = {name for table in tables.values() for name in table.systems} - set(drop)
    lacking = {where: sorted(known - set(table.systems)) for where, table in tables.items()}
    faults = [
        f"{where} has no scores of {', '.join(names)}" for where, names in lacking.items() if names
    ]
    if faults:
        raise DataError(
            f"scores of different systems: {'; '.join(faults)}",
            fix="Say which systems to use: --systems NAME ..., or --drop NAME ...",
        )


def _check_texts(tables: Mapping[str, ScoreTable]) -> None:
    """Refuse outputs that differ: then a system's name stands for two."""
    seen: dict[str, tuple[str, object]] = {}
    for where, table in tables.items():
        outputs: Mapping[str, object] = table.corpus["systems"] if table.corpus else {}
        for system, texts in outputs.items():
            other, known = seen.setdefault(system, (where, texts))
            if known != texts:
                raise DataError(
                    f"{other} and {where} were made from different outputs of {system!r}",
                    fix="Score the same outputs, or rename the system.",
                )


def _padded(where: str, column: MetricScores, size: int) -> MetricScores:
    """Give each system as many sentences as the longest table has; those added have no score."""
    lengths = {len(rows) for rows in (*column.segments.values(), *column.statistics.values())}
    if lengths <= {size}:
        return column
    if column.statistics:
        raise DataError(
            f"{where} has scores of {lengths.pop()} sentences, another file of {size}",
            fix="Score the same sentences.",
        )
    segments = {system: _longer(rows, size) for system, rows in column.segments.items()}
    return replace(column, segments=segments)


def _longer(rows: SegmentScores, size: int) -> SegmentScores:
    more = size - len(rows)
    return SegmentScores(
        np.pad(rows.values, (0, more), constant_values=np.nan),
        np.pad(rows.chosen, (0, more), constant_values=-1),
        {
            name: np.pad(part, (0, more), constant_values=np.nan)
            for name, part in rows.parts.items()
        },
        rows.reason or "not scored",
    )
