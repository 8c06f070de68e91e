"""The sections about scores: values with intervals and letters, and signatures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from grammeter.core import Cell, Column, DataError, GrammeterError, MetricScores, ScoreTable, Table
from grammeter.metrics import metric
from grammeter.rendering import Dot, Section, dot_plot
from grammeter.verbs._compare.design import ComparisonDesign
from grammeter.verbs._compare.results import Comparison, SystemResult, best_first, metric_columns
from grammeter.verbs._compare.verb import compare

NO_SENTENCES = (
    "These scores do not hold their sentences, so there are none to browse: score again with"
    " 'grammeter score -o FILE'."
)


def compared(
    table: ScoreTable, stored: Comparison | None, *, resamples: int, seed: int
) -> Comparison:
    """Return the stored comparison, else compare all systems by the metrics with statistics.

    Without such metrics it is empty. A ``DataError`` if the stored one has other values for a
    metric and system of the table, or none of them.
    """
    if stored is not None:
        _check_comparison(table, stored)
        return stored
    metrics = [name for name, column in table.items() if _obstacle(column, table.systems) is None]
    if not metrics:
        return Comparison(ComparisonDesign(), table.segments, {})
    return compare(table, resamples=resamples, seed=seed, metrics=metrics)


def scores_section(table: ScoreTable, comparison: Comparison) -> Section:
    """Show scores with their comparison."""
    notes = dict.fromkeys([*table.notes, *comparison.notes])
    words = (*_how_to_read(comparison), *([NO_SENTENCES] if table.corpus is None else []), *notes)
    drawings = tuple(
        dot_plot(
            list(_dots(column, _results(comparison, name))),
            title=f"Scores by {name}",
            caption=_caption(name, column, comparison),
        )
        for name, column in table.items()
    )
    caption = "Systems by metric, best by the first metric on top"
    tables = (_scores_table(table, comparison),)
    return Section("scores", "Scores", words, tables, drawings, (caption,))


def signatures_section(table: ScoreTable, others: Mapping[str, str]) -> Section:
    """List the signatures of all figures; ``others`` are those of other results."""
    rows = [(name, str(column.signature)) for name, column in table.items()]
    listed = Table.of(("figure", "signature"), [*rows, *others.items()])
    words = "Everything that a figure depends on, in one line: quote it with the figure."
    return Section("signatures", "Signatures", (words,), (listed,))


# --- parts ---------------------------------------------------------------------------------


def _check_comparison(table: ScoreTable, comparison: Comparison) -> None:
    common = [
        (f"{name}, {system}", result.value, column[system].value)
        for name, column in table.items()
        for system, result in _results(comparison, name).items()
        if system in column.scores and not math.isnan(result.value)
    ]
    if not common:
        raise _other_scores("no metric and system in common")
    for where, value, ours in common:
        if not math.isclose(value, ours, rel_tol=1e-9):
            raise _other_scores(f"{where}: {value}")


def _scores_table(table: ScoreTable, comparison: Comparison) -> Table:
    """Lay out a row for each system: by metric, score, interval, and letters or p-value."""
    first = next(iter(table.values()))
    names = best_first(table.systems, first, higher_is_better=first.higher_is_better)
    columns: list[tuple[Column | str, Sequence[Cell]]] = [("system", names)]
    for name, column in table.items():
        if name in comparison:
            columns += metric_columns(comparison.design, name, comparison[name], names)
        else:
            best = "high" if column.higher_is_better else "low"
            values = [column[s].value if s in column.scores else None for s in names]
            columns.append((Column(name, "score", best=best), values))
    return Table.side_by_side(columns, _notes(table, comparison))


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


def _results(comparison: Comparison, name: str) -> Mapping[str, SystemResult]:
    return comparison[name].systems if name in comparison else {}


def _how_to_read(comparison: Comparison) -> Iterator[str]:
    if not comparison:
        return
    design = comparison.design
    share = f"{design.confidence * 100:g}%"
    test = "approximate randomisation" if design.test == "randomisation" else "paired bootstrap"
    how = f"{design.resamples} resamples of the sentences, seed {design.seed}"
    yield f"Intervals: {share} of a bootstrap ({how}); they hold the sentences' difficulty, too."
    level = f"level {design.level:g}, {test}, correction: {design.correction}"
    if design.baseline is None:
        yield f"Systems that share a letter do not differ significantly ({level})."
    else:
        yield f"diff, p: against {design.baseline}, two-sided ({level})."


def _notes(table: ScoreTable, comparison: Comparison) -> Iterator[str]:
    for name, column in table.items():
        if not column.higher_is_better:
            yield f"{name}: lower is better"
        if not _results(comparison, name):
            why = _obstacle(column, table.systems) or "the comparison does not have this metric"
            yield f"{name}: no intervals: {why}"
        yield from column.remarks(name)[1:]
        for system, result in _results(comparison, name).items():
            if math.isnan(result.low) and result.reason and system in column.scores:
                yield f"{name}, {system}: no interval: {result.reason}"


def _dots(column: MetricScores, results: Mapping[str, SystemResult]) -> Iterator[Dot]:
    for system in best_first(column, column, higher_is_better=column.higher_is_better):
        result = results.get(system)
        low, high = (result.low, result.high) if result else (math.nan, math.nan)
        letters = (result.letters if result else None) or ""
        yield Dot(system, column[system].value, low, high, letters)


def _caption(name: str, column: MetricScores, comparison: Comparison) -> str:
    direction = "" if column.higher_is_better else " (lower is better)"
    if not _results(comparison, name):
        return f"Scores by {name}{direction}."
    share = f"{comparison.design.confidence * 100:g}%"
    end = "; the letters are those of the table" if comparison.design.baseline is None else ""
    return f"Scores by {name}{direction} with {share} intervals{end}."
