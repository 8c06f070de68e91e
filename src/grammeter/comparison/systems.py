"""Paired comparison of systems: intervals, p-values and letters from a score table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from grammeter.comparison.design import Design, Test
from grammeter.comparison.results import Comparison, MetricComparison, PairResult, SystemResult
from grammeter.core.errors import DataError, UnknownNameError
from grammeter.core.statistics import BoolArray, FloatArray, IntArray
from grammeter.core.table import MetricScores, ScoreTable
from grammeter.metrics.registry import metric
from grammeter.stats.multiple import Correction, adjust, compact_letters
from grammeter.stats.resample import PairedSamples, bootstrap, percentile_interval
from grammeter.stats.significance import bootstrap_pvalues, randomisation_pvalues


def compare(
    table: ScoreTable,
    *,
    baseline: str | None = None,
    test: Test = "bootstrap",
    resamples: int = 1000,
    seed: int = 1,
    confidence: float = 0.95,
    correction: Correction = "none",
    metrics: Sequence[str] | None = None,
) -> Comparison:
    """Compare systems on the same sentences, against a baseline or every pair.

    Parameters
    ----------
    table
        Scores with statistics.
    baseline
        Name of a system; ``None`` compares every pair and gives letters.
    test
        Where p-values come from; intervals always come from the bootstrap.
    resamples, seed
        Shared by all systems and metrics; the unit is the sentence.
    confidence
        Of the intervals; ``1 - confidence`` is the level at which letters tell systems apart.
    correction
        For the family of all comparisons under one metric.
    metrics
        Spellings to compare, all in the table by default.

    Raises
    ------
    UnknownNameError
        If there is no such system, metric, test or correction.
    UsageError
        If a number is out of range.
    DataError
        If the table has no statistics, or systems have different segments.
    """
    design = Design(
        baseline=baseline, test=test, resamples=resamples, seed=seed,
        confidence=confidence, correction=correction,
    )  # fmt: skip
    columns = {name: table[name] for name in (table if metrics is None else metrics)}
    return Comparison(design, table.segments, _compare_columns(columns, design), table.notes)


@dataclass(frozen=True, eq=False)
class _Figures:
    """One metric's figures: arrays by system or, where they end in ``pairs``, by pair."""

    column: MetricScores
    names: list[str]
    pairs: IntArray
    low: FloatArray
    high: FloatArray
    raw: FloatArray
    adjusted: FloatArray

    def reason(self, number: float, *systems: int) -> str | None:
        """Say why a number about some systems is NaN, if it is."""
        if not math.isnan(number):
            return None
        for name in (self.names[system] for system in systems):
            if math.isnan(self.column[name].value):
                return f"{name}: {self.column[name].reason or 'undefined'}"
        return "a score is undefined in some resamples"


def _compare_columns(
    columns: Mapping[str, MetricScores], design: Design
) -> dict[str, MetricComparison]:
    pairs = [_pairs(column, design.baseline) for column in columns.values()]
    groups = [paired_samples(name, column, list(column)) for name, column in columns.items()]
    resampled = bootstrap(groups, resamples=design.resamples, seed=design.seed)
    if design.test == "bootstrap":
        raw = [bootstrap_pvalues(*found) for found in zip(groups, resampled, pairs, strict=True)]
    else:
        raw = randomisation_pvalues(groups, pairs, resamples=design.resamples, seed=design.seed)
    found = zip(columns.items(), pairs, resampled, raw, strict=True)
    return {
        name: _result(_figures(column, design, chosen, values, pvalues), design)
        for (name, column), chosen, values, pvalues in found
    }


def paired_samples(name: str, column: MetricScores, systems: Sequence[str]) -> PairedSamples:
    """Gather the rows of some systems, the choice among references made.

    Raises
    ------
    DataError
        If a system was scored without statistics, or on other segments than the rest; ``name``
        says which metric.
    """
    scorer = metric(column.metric)
    for system in systems:
        if system not in column.statistics:
            raise DataError(
                f"{name}, {system}: scored without statistics",
                fix="Run 'grammeter score ... -o FILE' again and compare what it writes.",
            )
    rows = [scorer.summands(column.statistics[system]) for system in systems]
    counts = {system: len(each) for system, each in zip(systems, rows, strict=True)}
    if len(set(counts.values())) != 1 or 0 in counts.values():
        raise DataError(
            f"{name}: systems can only be compared on the same segments; found {counts}",
            fix="Score all systems in one run.",
        )
    return PairedSamples(np.array(rows, dtype=np.float64), scorer.value_of)


def _pairs(column: MetricScores, baseline: str | None) -> IntArray:
    """Return which systems are compared, by number; the baseline stands second."""
    names = list(column)
    if baseline is None:
        pairs = list(combinations(range(len(names)), 2))
    elif baseline not in names:
        raise UnknownNameError("system", baseline, names)
    else:
        base = names.index(baseline)
        pairs = [(number, base) for number in range(len(names)) if number != base]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _figures(
    column: MetricScores, design: Design, pairs: IntArray, resampled: FloatArray, raw: FloatArray
) -> _Figures:
    """Finish the figures; where the table has no score, nothing else is claimed."""
    missing = np.array([math.isnan(score.value) for score in column.values()])
    low, high = percentile_interval(resampled, design.confidence)
    low, high = np.where(missing, np.nan, low), np.where(missing, np.nan, high)
    raw = np.where(missing[pairs].any(axis=1), np.nan, raw)
    adjusted = adjust(raw, design.correction)
    return _Figures(column, list(column), pairs, low, high, raw, adjusted)


def _result(figures: _Figures, design: Design) -> MetricComparison:
    column = figures.column
    pairs = tuple(_pair(figures, design, number) for number in range(len(figures.pairs)))
    systems = {name: _system(figures, number) for number, name in enumerate(figures.names)}
    if design.baseline is None:
        for name, letters in _letters(figures, design.level).items():
            systems[name] = replace(systems[name], letters=letters)
    else:
        systems[design.baseline] = _baseline(systems[design.baseline])
        for pair in pairs:
            systems[pair.first] = _versus(systems[pair.first], pair)
    return MetricComparison(
        design.signature(column.signature, metric(column.metric).resampling),
        column.higher_is_better,
        systems,
        pairs if design.baseline is None else (),
    )


def _system(figures: _Figures, number: int) -> SystemResult:
    low, high = float(figures.low[number]), float(figures.high[number])
    value = figures.column[figures.names[number]].value
    return SystemResult(value=value, low=low, high=high, reason=figures.reason(low, number))


def _pair(figures: _Figures, design: Design, number: int) -> PairResult:
    first, second = (int(system) for system in figures.pairs[number])
    names, column = figures.names, figures.column
    pvalue = float(figures.adjusted[number])
    return PairResult(
        first=names[first],
        second=names[second],
        difference=column[names[first]].value - column[names[second]].value,
        pvalue=pvalue,
        pvalue_raw=None if design.correction == "none" else float(figures.raw[number]),
        reason=figures.reason(pvalue, first, second),
    )


def _baseline(system: SystemResult) -> SystemResult:
    reason = system.reason or "this is the baseline"
    return replace(system, difference=system.value - system.value, pvalue=math.nan, reason=reason)


def _versus(system: SystemResult, pair: PairResult) -> SystemResult:
    return replace(
        system,
        difference=pair.difference,
        pvalue=pair.pvalue,
        pvalue_raw=pair.pvalue_raw,
        reason=system.reason or pair.reason,
    )


def _letters(figures: _Figures, level: float) -> dict[str, str]:
    """Give letters to the systems that have a score, from the best one on."""
    values = [figures.column[name].value for name in figures.names]
    sign = -1 if figures.column.higher_is_better else 1
    known = [number for number, value in enumerate(values) if not math.isnan(value)]
    order = sorted(known, key=lambda number: sign * values[number])
    different: BoolArray = np.zeros((len(values), len(values)), dtype=np.bool_)
    first, second = figures.pairs.T
    different[first, second] = different[second, first] = figures.adjusted <= level
    letters = compact_letters(different[np.ix_(order, order)])
    return {figures.names[number]: own for number, own in zip(order, letters, strict=True)}
