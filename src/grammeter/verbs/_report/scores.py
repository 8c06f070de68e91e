"""The sections about scores: values with intervals and letters, and signatures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grammeter.core import DataError, GrammeterError, MetricScores, ScoreTable
from grammeter.metrics import metric
from grammeter.rendering import (
    Column,
    Dot,
    Section,
    Table,
    best_rows,
    dot_plot,
    format_number,
    interval_text,
    of_columns,
    pvalue_text,
    score_notes,
)
from grammeter.verbs._compare.results import Comparison
from grammeter.verbs._compare.verb import compare

Shape = Mapping[str, Any]
"""The public JSON shape of a result, as ``compare -o`` writes it."""


def compared(table: ScoreTable, *, resamples: int, seed: int) -> Comparison | None:
    """Compare all systems by the metrics with statistics; ``None`` if there are none."""
    metrics = [name for name, column in table.items() if _obstacle(column, table.systems) is None]
    if not metrics:
        return None
    return compare(table, resamples=resamples, seed=seed, metrics=metrics)


def check_comparison(table: ScoreTable, shape: Shape) -> None:
    """Refuse a comparison of other scores.

    Raises
    ------
    DataError
        If it has other values for a metric and system of the table, or none of them.
    """
    known = 0
    for name, column in table.items():
        for system, result in _results(shape, name).items():
            if system in column.scores and result["value"] is not None:
                known += 1
                if not math.isclose(result["value"], column[system].value, rel_tol=1e-9):
                    raise _other_scores(f"{name}, {system}: {result['value']}")
    if not known:
        raise _other_scores("no metric and system in common")


def scores_section(table: ScoreTable, shape: Shape | None) -> Section:
    """Lay out and draw scores with their comparison."""
    names = best_first(table)
    notes = dict.fromkeys([*table.notes, *(shape or {}).get("notes", ())])
    words = [*_how_to_read(shape), *_without_sentences(table), *notes]
    drawings = [
        dot_plot(
            list(_dots(name, column, shape)),
            title=f"Scores by {name}",
            caption=_caption(name, column, shape),
        )
        for name, column in table.items()
    ]
    return Section(
        "scores",
        "Scores",
        tuple(words),
        (scores_table(table, names, shape),),
        tuple(drawings),
        ("Systems by metric, best by the first metric on top",),
    )


def scores_table(table: ScoreTable, names: Sequence[str], shape: Shape | None) -> Table:
    """Lay out a row for each system: by metric, score, interval, and letters or p-value."""
    columns = [Column("system", names, "l")]
    for name, column in table.items():
        columns += _columns(name, column, names, shape)
    return of_columns(columns, _notes(table, shape))


def signatures_section(table: ScoreTable, others: Mapping[str, str]) -> Section:
    """List the signatures of all figures; ``others`` are those of other results."""
    rows = [(name, str(column.signature)) for name, column in table.items()]
    rows += list(others.items())
    words = "Everything that a figure depends on, in one line: quote it with the figure."
    return Section(
        "signatures", "Signatures", (words,), (Table(("figure", "signature"), tuple(rows), "ll"),)
    )


def best_first(table: ScoreTable) -> list[str]:
    """Return the systems, best by the first metric first, without a score last."""
    first = next(iter(table.values()))
    sign = -1 if first.higher_is_better else 1
    known = [s for s in table.systems if s in first and not math.isnan(first[s].value)]
    known.sort(key=lambda system: sign * first[system].value)
    return known + [system for system in table.systems if system not in known]


def finite(value: float | None) -> float:
    """Return a number of a JSON shape, NaN for ``None``."""
    return math.nan if value is None else value


def number(value: float | None, digits: int = 4, *, sign: bool = False) -> str:
    """Write a number of a JSON shape."""
    return format_number(finite(value), digits, sign=sign)


def pvalue(value: float | None) -> str:
    """Write a p-value of a JSON shape."""
    return pvalue_text(finite(value))


def interval(result: Shape) -> str:
    """Write the interval of a JSON shape; nothing if there is none."""
    return interval_text(finite(result.get("low")), finite(result.get("high")))


# --- parts ---------------------------------------------------------------------------------


def _obstacle(column: MetricScores, systems: Sequence[str]) -> str | None:
    """Return the reason why systems cannot be compared by a metric, if there is one."""
    lengths = {len(column.statistics[s]) for s in systems if s in column.statistics}
    if any(system not in column.statistics for system in systems) or lengths in (set(), {0}):
        return "no statistics are stored, as with scores of other programs"
    if len(lengths) > 1:
        return "systems were scored on other segments"
    try:
        metric(column.metric)
    except GrammeterError as error:
        return error.message
    return None


def _other_scores(where: str) -> DataError:
    return DataError(
        f"the comparison is of other scores ({where})",
        fix="Compare the scores of this report, or leave the comparison out: it is made anew.",
    )


def _results(shape: Shape | None, name: str) -> Shape:
    return {} if shape is None else shape["metrics"].get(name, {"systems": {}})["systems"]


def _baseline(shape: Shape | None) -> str | None:
    return None if shape is None else shape["baseline"]


def _how_to_read(shape: Shape | None) -> Iterator[str]:
    if shape is None:
        return
    share = f"{shape['confidence'] * 100:g}%"
    test = "approximate randomisation" if shape["test"] == "randomisation" else "paired bootstrap"
    how = f"{shape['resamples']} resamples of the sentences, seed {shape['seed']}"
    yield f"Intervals: {share} of a bootstrap ({how}); they hold the sentences' difficulty, too."
    level = f"level {1 - shape['confidence']:g}, {test}, correction: {shape['correction']}"
    if _baseline(shape) is None:
        yield f"Systems that share a letter do not differ significantly ({level})."
    else:
        yield f"diff, p: against {_baseline(shape)}, two-sided ({level})."


def _without_sentences(table: ScoreTable) -> Iterator[str]:
    if table.corpus is None:
        yield (
            "These scores do not hold their sentences, so there are none to browse: score again"
            " with 'grammeter score -o FILE'."
        )


def _columns(
    name: str, column: MetricScores, names: Sequence[str], shape: Shape | None
) -> Iterator[Column]:
    values = [column[s].value if s in column.scores else math.nan for s in names]
    shown = [format_number(column[s].value) if s in column.scores else "" for s in names]
    best = best_rows(values, higher_is_better=column.higher_is_better)
    yield Column(name, shown, best=best)
    results = _results(shape, name)
    if shape is None or not results:
        return
    rows: list[Shape] = [results.get(system, {}) for system in names]
    yield Column(f"{shape['confidence'] * 100:g}% interval", [interval(row) for row in rows])
    if _baseline(shape) is None:
        yield Column("letters", [row.get("letters") or "" for row in rows], "l")
        return
    rows = [{} if s == _baseline(shape) else row for s, row in zip(names, rows, strict=True)]
    yield Column("diff", [number(row["difference"], sign=True) if row else "" for row in rows])
    yield Column("p", [pvalue(row["pvalue"]) if row else "" for row in rows])


def _notes(table: ScoreTable, shape: Shape | None) -> Iterator[str]:
    for name, column in table.items():
        if not column.higher_is_better:
            yield f"{name}: lower is better"
        if not _results(shape, name):
            why = _obstacle(column, table.systems) or "the comparison does not have this metric"
            yield f"{name}: no intervals: {why}"
        yield from score_notes(name, column)[1:]
        for system, result in _results(shape, name).items():
            missing = result.get("low") is None
            if missing and result.get("reason") and system in column.scores:
                yield f"{name}, {system}: no interval: {result['reason']}"


def _dots(name: str, column: MetricScores, shape: Shape | None) -> Iterator[Dot]:
    results = _results(shape, name)
    sign = -1 if column.higher_is_better else 1
    order = sorted(
        column, key=lambda s: (math.isnan(v := column[s].value), 0 if math.isnan(v) else sign * v)
    )
    for system in order:
        result = results.get(system, {})
        low, high = finite(result.get("low")), finite(result.get("high"))
        yield Dot(system, column[system].value, low, high, result.get("letters") or "")


def _caption(name: str, column: MetricScores, shape: Shape | None) -> str:
    direction = "" if column.higher_is_better else " (lower is better)"
    if not _results(shape, name):
        return f"Scores by {name}{direction}."
    assert shape is not None
    caption = f"Scores by {name}{direction} with {shape['confidence'] * 100:g}% intervals"
    return (
        f"{caption}; the letters are those of the table."
        if _baseline(shape) is None
        else f"{caption}."
    )
