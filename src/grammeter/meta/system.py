"""Does a metric rank systems as people do? Correlations, their intervals, and Williams tests.

Chollampatt & Ng 2018, section 4.1, and Grundkiewicz et al. 2015, section 6; with what later
work asks for: intervals, leaving out systems, the best K only (Mathur et al. 2020).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import permutations

import numpy as np

from grammeter import stats
from grammeter.core import FloatArray, IntArray, MetricScores, ScoreTable, UsageError
from grammeter.meta import system_values
from grammeter.meta.judged import MEAN, JudgedScores
from grammeter.meta.sides import best_first, outliers, select_systems
from grammeter.meta.system_values import TESTED, Correlation, Design, MetricMeta, Pair, SystemMeta
from grammeter.ranking import notes_of_few_systems

Sampler = Callable[[MetricScores, Sequence[str]], stats.PairedSamples | None]
"""Gathers the summable rows of some systems; ``None`` where the scores have no rows."""
Summed = Callable[[stats.PairedSamples], stats.PairedSamples]
FEWEST_TOP = 4  # the curve of the best K begins here

FEWEST_RESAMPLED = 5
"""Systems that a bootstrap over systems needs: four allow only 35 different resamples."""


def correlate_systems(
    table: ScoreTable, human: Mapping[str, float], *, design: Design | None = None,
    systems: Sequence[str] | None = None, drop: Sequence[str] = (),
    outlier_cutoff: float | None = None, metrics: Sequence[str] | None = None,
    leave_one_out: bool = False, top_k: bool = False, sampler: Sampler | None = None,
    summed: Summed = lambda samples: samples, notes: Sequence[str] = (),
) -> SystemMeta:  # fmt: skip
    """Correlate metrics with people's scores of the same systems; higher human scores are better.

    A metric that is better when lower has its sign turned, so that a good metric's coefficient is
    positive. A coefficient that is undefined (a constant metric, a missing score) is NaN with a
    reason. Who takes part is for :func:`~grammeter.meta.sides.select_systems` and, where there is
    an ``outlier_cutoff``, :func:`~grammeter.meta.sides.outliers` to say; ``metrics`` are spellings,
    by default all. ``leave_one_out`` and ``top_k`` correlate again without each system, and for the
    best K by people. The ``sampler`` is needed for the bootstrap over sentences of a metric that
    has statistics; one that has segment scores only is averaged, ``summed`` adds up the rows of
    what is drawn as a whole. ``notes`` are what the reader of ``human`` must know.

    A system on one side only, or without a score by people, is a DataError; a metric or system
    that there is not, an UnknownNameError.
    """
    design = design or Design()
    columns = chosen_columns(table, metrics)
    chosen = best_first(select_systems(table.systems, human, systems=systems, drop=drop), human)
    far: tuple[str, ...] = ()
    if outlier_cutoff is not None:
        if not outlier_cutoff > 0:
            fault = f"a cutoff of {outlier_cutoff} for outliers"
            raise UsageError(fault, fix="Give a number above 0.")
        apart = outliers(np.array([human[name] for name in chosen]), cutoff=outlier_cutoff)
        far = tuple(name for name, out in zip(chosen, apart, strict=True) if out)
        chosen = tuple(name for name in chosen if name not in far)
    criterion = np.array([human[name] for name in chosen])
    scores = {name: oriented(column, chosen) for name, column in columns.items()}
    resampled = _resampled_scores(columns, chosen, design, sampler, summed)
    results: dict[str, MetricMeta] = {}
    for name, values in scores.items():
        undefined = _missing(columns[name], chosen, values) or constant(values, criterion)
        again = resampled.get(name)
        results[name] = MetricMeta(
            design.signature(columns[name], len(chosen)),
            correlations(values, criterion, design, undefined, resampled=again),
            dict(zip(chosen, values.tolist(), strict=True)), _pairwise_accuracy(values, criterion),
            _leave_one_out(chosen, values, criterion) if leave_one_out else {},
            {k: {kind: float(stats.coefficients(kind)(values[:k], criterion[:k]))
                 for kind in TESTED}
             for k in range(min(FEWEST_TOP, len(chosen)), len(chosen) + 1) if top_k},
        )  # fmt: skip
    judged = dict(zip(chosen, criterion.tolist(), strict=True))
    away = [f"left out as outliers by people's scores: {', '.join(far)}"] if far else []
    few = notes_of_few_systems(len(chosen))
    said = tuple(dict.fromkeys([*table.notes_on(columns), *notes, *away, *few]))
    williams = (_williams(results, scores, criterion, kind) for kind in TESTED)
    tests = dict(zip(TESTED, williams, strict=True))
    return SystemMeta(design, chosen, judged, results, tests, far, said)


def chosen_columns(table: ScoreTable, metrics: Sequence[str] | None) -> Mapping[str, MetricScores]:
    """Return the scores of some metrics, by default of all."""
    return {name: table[name] for name in (table if metrics is None else metrics)}


def oriented(column: MetricScores, systems: Sequence[str]) -> FloatArray:
    """Return one metric's scores, turned so that higher is better; NaN where there is none."""
    values = [column[name].value if name in column.scores else math.nan for name in systems]
    return np.array(values) * (1.0 if column.higher_is_better else -1.0)


def correlations(
    scores: FloatArray, human: FloatArray, design: Design, undefined: str | None, *,
    kinds: Iterable[stats.CoefficientName] = stats.KINDS, resampled: FloatArray | str | None = None,
) -> dict[stats.CoefficientName, Correlation]:  # fmt: skip
    """Correlate one metric; ``undefined`` says why that is impossible, if it is.

    ``resampled`` has shape ``(resamples, systems)``, or says why there is nothing to resample.
    """
    if undefined:
        return dict.fromkeys(kinds, Correlation(*[math.nan] * 4, n=len(scores), reason=undefined))
    results: dict[stats.CoefficientName, Correlation] = {}
    for kind in kinds:
        result = stats.correlate(scores, human, kind, ties=design.ties)
        low, high, reason = _interval(result.statistic, scores, human, kind, design, resampled)
        reason, figures = result.reason or reason, (result.statistic, low, high, result.pvalue)
        results[kind] = Correlation(*figures, result.n, reason)
    return results


def constant(scores: FloatArray, human: FloatArray, systems: str = "all systems") -> str | None:
    """Say whose scores are all the same, if they are."""
    if np.min(scores) == np.max(scores):
        return f"the metric gives {systems} the same score"
    return f"people give {systems} the same score" if np.min(human) == np.max(human) else None


def _missing(column: MetricScores, systems: Sequence[str], scores: FloatArray) -> str | None:
    missing = [name for name, value in zip(systems, scores, strict=True) if math.isnan(value)]
    if not missing:
        return None
    first = column.scores.get(missing[0])
    why = f" ({first.reason})" if first is not None and first.reason else ""
    return f"no score of {', '.join(missing)}{why}"


def _pairwise_accuracy(scores: FloatArray, human: FloatArray) -> system_values.PairwiseAccuracy:
    """Compare every two systems; higher is better on both sides."""
    if not np.isfinite(scores).all():
        return system_values.PairwiseAccuracy(
            0, 0, {"metric": 0, "human": 0}, "a system has no score"
        )
    first, second = np.triu_indices(len(human), 1)
    ours, theirs = (np.sign(side[first] - side[second]) for side in (scores, human))
    decided = theirs != 0
    cells = ((ours == theirs) & decided, decided, (ours == 0) & decided, ~decided)
    reason = None if decided.any() else "people give all systems the same score"
    correct, n, tied, human_ties = (int(cell.sum()) for cell in cells)
    ties = {"metric": tied, "human": human_ties}
    return system_values.PairwiseAccuracy(correct, n, ties, reason)


def _leave_one_out(
    systems: Sequence[str], scores: FloatArray, human: FloatArray
) -> dict[str, Pair]:
    others = _without_each(len(systems))
    without = {kind: stats.coefficients(kind)(scores[others], human[others]) for kind in TESTED}
    return {name: {kind: float(values[at]) for kind, values in without.items()}
            for at, name in enumerate(systems)}  # fmt: skip


def _without_each(n: int) -> IntArray:
    """Return the numbers of the other units for each of n, shape ``(n, n - 1)``."""
    return np.array([np.delete(np.arange(n), out) for out in range(n)])


def _williams(
    results: Mapping[str, MetricMeta], scores: Mapping[str, FloatArray], human: FloatArray,
    kind: stats.CoefficientName,
) -> dict[str, dict[str, system_values.WilliamsCell]]:  # fmt: skip
    cells: dict[str, dict[str, system_values.WilliamsCell]] = {name: {} for name in results}
    values = {name: metric[kind].value for name, metric in results.items()}
    untested = partial(system_values.WilliamsCell, math.nan, math.nan)
    if len(human) < stats.FEWEST or not results:
        few = untested(f"the test needs {stats.FEWEST} systems, here are {len(human)}")
        return {a: {b: few for b in results if values[a] > values[b]} for a in results}
    matrix = stats.williams_matrix(human, np.array(list(scores.values())), kind)
    for (i, first), (j, second) in permutations(enumerate(results), 2):
        undefined = [name for name in (first, second) if math.isnan(values[name])]
        if undefined:
            reason = f"{undefined[0]}: {results[undefined[0]][kind].reason}"
            cells[first][second] = untested(reason)
        elif stats.perfect(matrix.between[i, j]):
            cells[first][second] = untested("the two metrics agree or oppose perfectly")
        elif values[first] > values[second]:
            t, pvalue = float(matrix.t[i, j]), float(matrix.pvalue[i, j])
            reason = "one set of scores follows from the other two" if math.isnan(t) else None
            cells[first][second] = system_values.WilliamsCell(t, pvalue, reason)
    return cells


def _interval(
    value: float, scores: FloatArray, human: FloatArray, kind: stats.CoefficientName,
    design: Design, resampled: FloatArray | str | None,
) -> tuple[float, float, str | None]:  # fmt: skip
    """Return the interval that the design asks for around the coefficient of all systems.

    Where the plain interval of a bootstrap over systems is undefined, so is the corrected one.
    """
    of, fisher = stats.coefficients(kind, ties=design.ties), design.interval == "fisher"
    fewest = stats.FEWEST_FISHER[kind] if fisher else FEWEST_RESAMPLED
    reason = resampled if isinstance(resampled, str) else None
    if design.interval == "none":
        reason = "no interval was asked for"
    elif isinstance(resampled, np.ndarray):
        return stats.defined_interval(of(resampled, human), design.confidence)
    elif not reason and len(scores) < fewest:
        reason = f"an interval needs {fewest} systems at least, here are {len(scores)}"
    elif fisher and abs(value) == 1:
        reason = "Fisher's z gives no interval around 1 or -1"
    if reason:
        return math.nan, math.nan, reason
    if fisher:
        return *stats.fisher_interval(value, len(scores), kind, confidence=design.confidence), None
    again = stats.bootstrap_coefficients(
        scores, human, kind, resamples=design.resamples, seed=design.seed, ties=design.ties
    )
    low, high, reason = stats.defined_interval(again, design.confidence)
    if reason is not None or design.interval == "systems":
        return low, high, reason
    others = _without_each(len(scores))
    jackknife = of(scores[others], human[others])
    low, high = stats.bca_interval(again[np.isfinite(again)], value, jackknife, design.confidence)
    if math.isnan(low):
        return low, high, "the correction is undefined: a bias or an acceleration without bounds"
    return (low, high, None) if low < high else (math.nan, math.nan, stats.SAME)


def _resampled_scores(
    columns: Mapping[str, MetricScores], systems: Sequence[str], design: Design,
    sampler: Sampler | None, summed: Summed,
) -> dict[str, FloatArray | str]:  # fmt: skip
    """Score the same resamples for all metrics: ``(resamples, systems)`` by metric, or a reason."""
    if design.interval != "sentences":
        return {}
    groups = {name: _samples(of, systems, sampler, summed) for name, of in columns.items()}
    there = {name: group for name, group in groups.items() if group is not None}
    drawn = stats.bootstrap(list(there.values()), resamples=design.resamples, seed=design.seed)
    nothing = "no statistics and no segment scores to resample"
    scores: dict[str, FloatArray | str] = dict.fromkeys(columns, nothing)
    for name, values in zip(there, drawn, strict=True):
        scores[name] = values.T * (1.0 if columns[name].higher_is_better else -1.0)
    return scores


def _samples(
    column: MetricScores, systems: Sequence[str], sampler: Sampler | None, summed: Summed
) -> stats.PairedSamples | None:
    if sampler is not None and all(name in column.statistics for name in systems):
        return sampler(column, systems)
    by_rank = isinstance(column, JudgedScores) and column.by != MEAN  # no mean of its sentences
    if by_rank or not all(name in column.segments for name in systems):
        return None
    values = np.array([column.segments[name].values for name in systems])
    there = np.isfinite(values) | (not isinstance(column, JudgedScores))
    rows = np.stack([np.where(there, values, 0.0), there.astype(np.float64)], axis=-1)
    mean = stats.PairedSamples(rows, lambda sums: sums[..., 0] / np.maximum(sums[..., 1], 1))
    return summed(mean)
