"""Paired comparison of systems: intervals, p-values and letters from a score table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from grammeter.core import (
    BoolArray,
    FloatArray,
    IntArray,
    MetricScores,
    ScoreTable,
    Tier,
    UnknownNameError,
)
from grammeter.stats import (
    MOST_GROUPS,
    RELATIVE_TOLERANCE,
    PairedSamples,
    adjust,
    bootstrap,
    bootstrap_pvalues,
    compact_letters,
    percentile_interval,
    randomisation_pvalues,
)
from grammeter.verbs._compare.design import ComparisonDesign, least_pvalue
from grammeter.verbs._compare.results import Comparison, MetricComparison, PairResult, SystemResult
from grammeter.verbs._compare.samples import paired_samples, resampling, sample_notes
from grammeter.verbs._compare.types import (
    TypeColumns,
    bounded_by_sentences,
    check_number,
    type_columns,
    type_notes,
)

TOO_MANY_LETTERS = (
    f"{{}}: no letters, because the systems form more than {MOST_GROUPS} groups that overlap;"
    " see the pairs in the JSON, or compare with a baseline"
)


def compare_systems(
    table: ScoreTable,
    design: ComparisonDesign,
    *,
    fixed: bool,
    metrics: Sequence[str] | None = None,
    types: bool | Tier = False,
) -> Comparison:
    """Compare systems; the number of resamples is ``fixed`` or chosen, see :func:`compare`."""
    baseline, correction = design.baseline, design.correction
    columns = {name: table[name] for name in (table if metrics is None else metrics)}
    systems = max((len(column) for column in columns.values()), default=0)
    comparisons = systems * (systems - 1) // 2 if baseline is None else systems - 1
    by_type = type_columns(columns, table.segments, types) if types else {}
    for of in by_type.values():
        check_number(comparisons * len(of.columns), systems)
    note = None
    if not fixed:
        design, note = design.settled(systems, comparisons)
    design.check_size(sum(len(column) for column in columns.values()))
    groups = [paired_samples(name, column, list(column)) for name, column in columns.items()]
    notes = [*table.notes_on(columns), *([note] if note else [])]
    notes += design.limits(table.segments, comparisons) if columns else []
    for (name, column), group in zip(columns.items(), groups, strict=True):
        notes += sample_notes(name, column, group)
    results = dict(zip(columns, _compare_columns(columns, groups, design), strict=True))
    for name, of in by_type.items():
        wanted = replace(design, correction=correction)
        results[name], said = _with_types(results[name], name, of, wanted, fixed=fixed)
        notes += said
    if by_type and (without := [name for name in columns if name not in by_type]):
        notes.append(f"no comparison by error type of {', '.join(without)}: none are stored")
    if baseline is None:
        notes += [TOO_MANY_LETTERS.format(name) for name, of in results.items() if not of.lettered]
    return Comparison(design, table.segments, results, tuple(notes))


@dataclass(frozen=True, eq=False)
class _Figures:
    """One metric's figures: arrays by system or, where they end in ``pairs``, by pair."""

    column: MetricScores
    names: list[str]
    pairs: IntArray
    defined: BoolArray
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
        if not all(self.defined[system] for system in systems):
            return "a score is undefined in some resamples"
        what = "score" if len(systems) == 1 else "difference"
        return f"every resample gives the same {what}, which does not show how it varies"


def _with_types(
    whole: MetricComparison,
    name: str,
    of: TypeColumns,
    design: ComparisonDesign,
    *,
    fixed: bool,
) -> tuple[MetricComparison, list[str]]:
    """Compare the systems by error type; all types and pairs are one family."""
    systems = len(whole.systems)
    pairs = systems * (systems - 1) // 2 if design.baseline is None else systems - 1
    comparisons = pairs * len(of.columns)
    note = None
    if not fixed:
        design, note = design.settled(systems * len(of.columns), comparisons)
    compared = _compare_columns(of.columns, of.samples, design, together=True)
    notes = [note] if note else []
    notes += type_notes(name, len(of.columns), comparisons, design)
    results = zip(of.columns.items(), compared, strict=True)
    types = {kind: _with_gold(result, column) for (kind, column), result in results}
    return replace(whole, types=types), notes


def _with_gold(result: MetricComparison, column: MetricScores) -> MetricComparison:
    """Say how many edits of this type the references of each system have."""
    gold = {name: score.parts["tp"] + score.parts["fn"] for name, score in column.items()}
    systems = {name: replace(system, gold=gold[name]) for name, system in result.items()}
    return replace(result, systems=systems)


def _compare_columns(
    columns: Mapping[str, MetricScores],
    groups: Sequence[PairedSamples],
    design: ComparisonDesign,
    *,
    together: bool = False,
) -> list[MetricComparison]:
    """Compare systems under each column; ``together``: p-values of all are one family."""
    pairs = [_pairs(column, design.baseline) for column in columns.values()]
    resampled = bootstrap(groups, resamples=design.resamples, seed=design.seed)
    if design.test == "bootstrap":
        raw = [bootstrap_pvalues(*parts) for parts in zip(groups, resampled, pairs, strict=True)]
    else:
        raw = randomisation_pvalues(groups, pairs, resamples=design.resamples, seed=design.seed)
    raw = [
        np.maximum(p, least_pvalue(group.rows.shape[1]))
        for p, group in zip(raw, groups, strict=True)
    ]
    if together:
        raw = [bounded_by_sentences(*parts) for parts in zip(raw, groups, pairs, strict=True)]
    missing = [
        _missing(column)[chosen].any(axis=1)
        for column, chosen in zip(columns.values(), pairs, strict=True)
    ]
    raw = [np.where(absent, np.nan, p) for absent, p in zip(missing, raw, strict=True)]
    if together and raw:
        ends = np.cumsum([len(p) for p in raw])[:-1]
        adjusted = np.split(adjust(np.concatenate(raw), design.correction), ends)
    else:
        adjusted = [adjust(p, design.correction) for p in raw]
    parts = zip(columns.values(), pairs, resampled, raw, adjusted, strict=True)
    return [
        _result(_figures(column, design, chosen, values, *pvalues), design)
        for column, chosen, values, *pvalues in parts
    ]


def _missing(column: MetricScores) -> BoolArray:
    return np.array([math.isnan(score.value) for score in column.values()], dtype=np.bool_)


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
    column: MetricScores,
    design: ComparisonDesign,
    pairs: IntArray,
    resampled: FloatArray,
    raw: FloatArray,
    adjusted: FloatArray,
) -> _Figures:
    """Finish the figures; where the table has no score, nothing else is claimed."""
    defined: BoolArray = np.asarray(np.isfinite(resampled).all(axis=1))
    low, high = percentile_interval(resampled, design.confidence)
    missing_interval = _missing(column) | (high - low <= RELATIVE_TOLERANCE * np.abs(high))
    low, high = (np.where(missing_interval, np.nan, bound) for bound in (low, high))
    return _Figures(column, list(column), pairs, defined, low, high, raw, adjusted)


def _result(figures: _Figures, design: ComparisonDesign) -> MetricComparison:
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
        design.signature(column.signature, resampling(column)),
        column.higher_is_better,
        systems,
        pairs if design.baseline is None else (),
    )


def _system(figures: _Figures, number: int) -> SystemResult:
    low, high = float(figures.low[number]), float(figures.high[number])
    value = figures.column[figures.names[number]].value
    return SystemResult(value=value, low=low, high=high, reason=figures.reason(low, number))


def _pair(figures: _Figures, design: ComparisonDesign, number: int) -> PairResult:
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
    """Give letters to the systems that have a score, from the best one on; {} if too many.

    Of equal scores the one with the lower interval comes first, so that the order of systems in
    the file decides nothing.
    """
    values = [figures.column[name].value for name in figures.names]
    sign = -1 if figures.column.higher_is_better else 1
    known = [number for number, value in enumerate(values) if not math.isnan(value)]
    low, high = np.nan_to_num(figures.low), np.nan_to_num(figures.high)
    order = sorted(known, key=lambda n: (sign * values[n], low[n], high[n], figures.names[n]))
    different: BoolArray = np.zeros((len(values), len(values)), dtype=np.bool_)
    first, second = figures.pairs.T
    different[first, second] = different[second, first] = figures.adjusted <= level
    letters = compact_letters(different[np.ix_(order, order)])
    if letters is None:
        return {}
    return {figures.names[number]: text for number, text in zip(order, letters, strict=True)}
