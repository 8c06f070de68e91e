"""Paired comparison of systems: intervals, p-values and letters from a score table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core.errors import DataError, UnknownNameError, UsageError
from grammeter.core.html import html_records
from grammeter.core.named import Named
from grammeter.core.score import json_number
from grammeter.core.signature import Signature
from grammeter.core.statistics import BoolArray, FloatArray, IntArray
from grammeter.core.table import MetricScores, ScoreTable
from grammeter.metrics.registry import metric
from grammeter.stats.multiple import CORRECTIONS, Correction, adjust, compact_letters
from grammeter.stats.resample import PairedSamples, bootstrap, percentile_interval
from grammeter.stats.significance import bootstrap_pvalues, randomisation_pvalues
from grammeter.version import __version__

KIND = "comparison"

Test = Literal["bootstrap", "randomisation"]
"""Paired bootstrap or approximate randomisation, both two-sided."""

TESTS: tuple[Test, ...] = get_args(Test)

FEW_SEGMENTS = 30
"""With fewer than these a bootstrap is overconfident; a notice says so."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """How systems are compared: everything that a comparison's signature adds.

    Raises
    ------
    UsageError
        If a value is out of range or unknown.
    """

    baseline: str | None = None
    test: Test = "bootstrap"
    resamples: int = 1000
    seed: int = 1
    confidence: float = 0.95
    correction: Correction = "none"

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise UnknownNameError("test", self.test, TESTS)
        if self.correction not in CORRECTIONS:
            raise UnknownNameError("correction", self.correction, CORRECTIONS)
        if self.resamples < 1 or self.seed < 0:
            raise UsageError(
                f"resamples={self.resamples}, seed={self.seed} is not possible",
                fix="Take at least one resample and a seed of at least 0.",
            )
        if not 0 < self.confidence < 1:
            raise UsageError(
                f"confidence={self.confidence} is not possible",
                fix="Give a number between 0 and 1, such as 0.95.",
            )

    @property
    def level(self) -> float:
        """The level of significance; rounded, so that 1 - 0.9 is 0.1."""
        return round(1 - self.confidence, 12)

    def limits(self, segments: int, comparisons: int) -> Iterator[str]:
        """Say what this design cannot show with so many segments and comparisons."""
        if segments < FEW_SEGMENTS and self.test == "bootstrap":
            yield (
                f"{segments} segments are few for a bootstrap: intervals and p-values come out too"
                " small; take p-values from --test randomisation"
            )
        strict = self.correction in ("holm", "bonferroni")
        smallest = (comparisons if strict else 1) / (self.resamples + 1)
        if comparisons and smallest > self.level:
            yield (
                f"no p-value can be below {smallest:.3g} here ({self.resamples} resamples,"
                f" {comparisons} comparisons, correction {self.correction}): take more --resamples"
            )

    def signature(self, of: Signature, resampling: str) -> Signature:
        """Extend a metric's signature; the prefix keeps apart what metrics also call so."""
        return of.extended(
            {
                "test": self.test,
                "test-resamples": self.resamples,
                "test-seed": self.seed,
                "test-unit": "sentence",
                "test-baseline": self.baseline,
                "confidence": self.confidence,
                "correction": self.correction,
                "resampling": resampling,
            }
        )


@dataclass(frozen=True, kw_only=True)
class SystemResult:
    """What a comparison says of one system under one metric.

    Attributes
    ----------
    value
        The corpus score as the table has it, in the metric's units.
    low, high
        Bootstrap percentile interval of the system's own score.
    difference, pvalue
        Value less the baseline's value, and the p-value after correction; ``None`` where every
        pair is compared.
    pvalue_raw
        The p-value before correction; ``None`` where nothing is corrected.
    letters
        Two systems that share a letter do not differ significantly; ``None`` with a baseline.
    reason
        Why a number is NaN.
    """

    value: float
    low: float
    high: float
    difference: float | None = None
    pvalue: float | None = None
    pvalue_raw: float | None = None
    letters: str | None = None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what applies to this system; a NaN is ``None``."""
        data: dict[str, Any] = _numbers(
            self, "value", "low", "high", "difference", "pvalue", "pvalue_raw"
        )
        if self.difference is None:
            data["letters"] = self.letters
        return data | _reason_json(self.reason)


@dataclass(frozen=True, kw_only=True)
class PairResult:
    """The first system's value less the second's, with p-values as in :class:`SystemResult`."""

    first: str
    second: str
    difference: float
    pvalue: float
    pvalue_raw: float | None = None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values; a NaN is ``None``."""
        numbers = _numbers(self, "difference", "pvalue", "pvalue_raw")
        return {"first": self.first, "second": self.second, **numbers, **_reason_json(self.reason)}


@dataclass(frozen=True)
class MetricComparison(Named[SystemResult], over="systems", what="system"):
    """All systems under one metric, by name; ``pairs`` is empty where there is a baseline."""

    signature: Signature
    higher_is_better: bool
    systems: Mapping[str, SystemResult]
    pairs: tuple[PairResult, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return signature, direction, results by system and, without a baseline, by pair."""
        data: dict[str, Any] = {
            "signature": str(self.signature),
            "higher_is_better": self.higher_is_better,
            "systems": {name: result.to_json() for name, result in self.systems.items()},
        }
        every_pair = any(result.difference is None for result in self.systems.values())
        return data | ({"pairs": [pair.to_json() for pair in self.pairs]} if every_pair else {})


@dataclass(frozen=True)
class Comparison(Named[MetricComparison], over="metrics", what="metric in this comparison"):
    """Systems compared: ``comparison["m2"]["CAMB"].pvalue``."""

    design: Design
    segments: int
    metrics: Mapping[str, MetricComparison]
    about: tuple[str, ...] = ()
    """Notes of the scores that were compared."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits these figures, in sentences for a reader."""
        sizes = [len(found) for found in self.metrics.values()]
        systems = max(sizes, default=0)
        pairs = systems * (systems - 1) // 2 if self.design.baseline is None else systems - 1
        return (*self.about, *self.design.limits(self.segments, pairs))

    def _repr_html_(self) -> str:
        """Show the figures in a notebook: a row for each metric and system."""
        found = {f"{m}, {s}": r.to_json() for m, own in self.items() for s, r in own.items()}
        return html_records("metric, system", found, notes=self.notes)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; a NaN is ``None`` with a reason beside it."""
        return {
            "kind": KIND,
            "grammeter": __version__,
            "segments": self.segments,
            **asdict(self.design),
            "metrics": {name: found.to_json() for name, found in self.metrics.items()},
            "notes": [*self.notes],
        }


def compare_systems(
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


def _numbers(result: object, *keys: str) -> dict[str, float | int | None]:
    found: dict[str, float | None] = {key: getattr(result, key) for key in keys}
    return {key: json_number(value) for key, value in found.items() if value is not None}


def _reason_json(reason: str | None) -> dict[str, str]:
    return {} if reason is None else {"reason": reason}


compare = compare_systems
"""What :mod:`grammeter` calls it."""
