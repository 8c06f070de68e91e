"""Does a metric rank systems as people do? Correlations, their intervals, and Williams tests.

Chollampatt & Ng 2018, section 4.1, and Grundkiewicz et al. 2015, section 6; with what later
work asks for: intervals, leaving out systems, the best K only (Mathur et al. 2020).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np

from grammeter.core import FloatArray, MetricScores, ScoreTable, UsageError
from grammeter.meta.intervals import Sampler, interval, resampled_scores, without_each
from grammeter.meta.selection import best_first, outliers, select_systems
from grammeter.meta.system_values import (
    TESTED,
    Correlation,
    Design,
    MetricMeta,
    Pair,
    SystemMeta,
    WilliamsCell,
    pairwise_accuracy,
)
from grammeter.stats import (
    FEWEST,
    KINDS,
    CoefficientName,
    coefficients,
    correlate,
    perfect,
    williams_matrix,
)

FEWEST_TOP = 4
"""The curve of the best K begins here."""


# --- the question --------------------------------------------------------------------------


def correlate_systems(
    table: ScoreTable,
    human: Mapping[str, float],
    *,
    design: Design | None = None,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    outlier_cutoff: float | None = None,
    metrics: Sequence[str] | None = None,
    leave_one_out: bool = False,
    top_k: bool = False,
    sampler: Sampler | None = None,
    notes: Sequence[str] = (),
) -> SystemMeta:
    """Correlate metrics with people's scores of the same systems.

    Parameters
    ----------
    table, human
        Scores by metrics and by people; higher human scores are better. A metric that is
        better when lower has its sign turned, so that a good metric's coefficient is positive.
    systems, drop
        Who takes part, see :func:`~grammeter.meta.selection.select_systems`.
    outlier_cutoff
        Leave out systems whose human score lies further from the median, see
        :func:`~grammeter.meta.selection.outliers`.
    metrics
        Spellings, all in the table by default.
    leave_one_out, top_k
        Correlate again without each system, and for the best K by people.
    sampler
        Needed for the bootstrap over sentences of a metric that has statistics; one that has
        segment scores only is averaged.
    notes
        What the reader of ``human`` must know.

    Returns
    -------
    SystemMeta
        A coefficient that is undefined (a constant metric, a missing score) is NaN with a
        reason.

    Raises
    ------
    DataError
        If a system stands on one side only, or people gave one that takes part no score.
    UnknownNameError
        If there is no such metric or system.
    """
    design = design or Design()
    columns = {name: table[name] for name in (table if metrics is None else metrics)}
    chosen = best_first(select_systems(table.systems, human, systems=systems, drop=drop), human)
    chosen, far = _without_outliers(chosen, human, outlier_cutoff)
    criterion = np.array([human[name] for name in chosen])
    scores = {name: _scores(column, chosen) for name, column in columns.items()}
    resampled = resampled_scores(columns, chosen, design, sampler)
    results = {
        name: MetricMeta(
            design.signature(column, len(chosen)),
            _correlations(column, chosen, scores[name], criterion, design, resampled.get(name)),
            dict(zip(chosen, scores[name].tolist(), strict=True)),
            pairwise_accuracy(scores[name], criterion),
            _leave_one_out(chosen, scores[name], criterion) if leave_one_out else {},
            _top(scores[name], criterion) if top_k else {},
        )
        for name, column in columns.items()
    }
    williams: dict[CoefficientName, dict[str, dict[str, WilliamsCell]]] = {
        kind: _williams(results, scores, criterion, kind) for kind in TESTED
    }
    judged = dict(zip(chosen, criterion.tolist(), strict=True))
    about = tuple(dict.fromkeys([*table.notes_on(columns), *notes]))
    return SystemMeta(design, chosen, judged, results, williams, far, about)


def _without_outliers(
    systems: tuple[str, ...], human: Mapping[str, float], cutoff: float | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split systems into those that stay and those that lie far off."""
    if cutoff is None:
        return systems, ()
    if not cutoff > 0:
        raise UsageError(f"a cutoff of {cutoff} for outliers", fix="Give a number above 0.")
    far = outliers(np.array([human[name] for name in systems]), cutoff=cutoff)
    split = [tuple(n for n, out in zip(systems, far, strict=True) if out == b) for b in (0, 1)]
    return split[0], split[1]


def _scores(column: MetricScores, systems: Sequence[str]) -> FloatArray:
    """Return one metric's scores, oriented so that higher is better; NaN where there is none."""
    values = [column[name].value if name in column.scores else math.nan for name in systems]
    return np.array(values) * (1.0 if column.higher_is_better else -1.0)


def _correlations(
    column: MetricScores,
    systems: Sequence[str],
    scores: FloatArray,
    human: FloatArray,
    design: Design,
    resampled: FloatArray | str | None,
) -> dict[CoefficientName, Correlation]:
    undefined = _undefined(column, systems, scores, human)
    correlations: dict[CoefficientName, Correlation] = {}
    for kind in KINDS:
        if undefined:
            nan = math.nan
            correlations[kind] = Correlation(nan, nan, nan, nan, len(systems), undefined)
            continue
        result = correlate(scores, human, kind, ties=design.ties)
        low, high, reason = interval(result.statistic, scores, human, kind, design, resampled)
        correlations[kind] = Correlation(
            result.statistic, low, high, result.pvalue, result.n, result.reason or reason
        )
    return correlations


def _undefined(
    column: MetricScores, systems: Sequence[str], scores: FloatArray, human: FloatArray
) -> str | None:
    """Say why this metric has no correlation, if it has none."""
    missing = [name for name, value in zip(systems, scores, strict=True) if math.isnan(value)]
    if missing:
        first = column.scores.get(missing[0])
        why = f" ({first.reason})" if first is not None and first.reason else ""
        return f"no score of {', '.join(missing)}{why}"
    if np.min(scores) == np.max(scores):
        return "the metric gives all systems the same score"
    return "people give all systems the same score" if np.min(human) == np.max(human) else None


# --- fewer systems -------------------------------------------------------------------------


def _leave_one_out(
    systems: Sequence[str], scores: FloatArray, human: FloatArray
) -> dict[str, Pair]:
    n = len(systems)
    others = without_each(n)
    without = {kind: coefficients(kind)(scores[others], human[others]) for kind in TESTED}
    return {
        name: {kind: float(without[kind][i]) for kind in TESTED} for i, name in enumerate(systems)
    }


def _top(scores: FloatArray, human: FloatArray) -> dict[int, Pair]:
    """Correlate the best K systems; they come best first."""
    return {
        k: {kind: float(coefficients(kind)(scores[:k], human[:k])) for kind in TESTED}
        for k in range(min(FEWEST_TOP, len(scores)), len(scores) + 1)
    }


# --- Williams ------------------------------------------------------------------------------


def _williams(
    results: Mapping[str, MetricMeta],
    scores: Mapping[str, FloatArray],
    human: FloatArray,
    kind: CoefficientName,
) -> dict[str, dict[str, WilliamsCell]]:
    cells: dict[str, dict[str, WilliamsCell]] = {name: {} for name in results}
    values = {name: metric[kind].value for name, metric in results.items()}
    if len(human) < FEWEST or not results:
        few = f"the test needs {FEWEST} systems, here are {len(human)}"
        return {a: {b: _untested(few) for b in results if values[a] > values[b]} for a in results}
    matrix = williams_matrix(human, np.array(list(scores.values())), kind)
    for (i, first), (j, second) in permutations(enumerate(results), 2):
        undefined = [name for name in (first, second) if math.isnan(values[name])]
        if undefined:
            reason = f"{undefined[0]}: {results[undefined[0]][kind].reason}"
            cells[first][second] = _untested(reason)
        elif perfect(matrix.between[i, j]):
            cells[first][second] = _untested("the two metrics agree or oppose perfectly")
        elif values[first] > values[second]:
            t, pvalue = float(matrix.t[i, j]), float(matrix.pvalue[i, j])
            undefined = math.isnan(t)
            reason = "one set of scores follows from the other two" if undefined else None
            cells[first][second] = WilliamsCell(t, pvalue, reason)
    return cells


def _untested(reason: str) -> WilliamsCell:
    return WilliamsCell(math.nan, math.nan, reason)
