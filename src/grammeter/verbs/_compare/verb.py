"""``compare``: systems on the same sentences, with intervals, p-values and letters."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any, overload

import numpy as np

from grammeter import core, formats, stats
from grammeter.verbs._compare import samples
from grammeter.verbs._compare.design import RESAMPLES, ComparisonDesign, Test, least_pvalue
from grammeter.verbs._compare.differences import Difference
from grammeter.verbs._compare.differences import difference as subtract
from grammeter.verbs._compare.results import Comparison, MetricComparison, PairResult, SystemResult
from grammeter.verbs._compare.units import Groups, Units

SHOWN = 10

MOST_COMPARISONS = 100_000
"""With more comparisons nobody could read the result, and it would take minutes."""

TOO_MANY_LETTERS = (
    f"{{}}: no letters, because the systems form more than {stats.MOST_GROUPS} groups that overlap;"
    " see the pairs in the JSON, or compare with a baseline"
)


@overload
def compare(  # pyright: ignore[reportOverlappingOverload] - else the last
    table: samples.Comparable | str | Path, *, difference: Sequence[str], **options: Any
) -> Difference: ...
@overload
def compare(table: samples.Comparable | str | Path, **options: Any) -> Comparison: ...
@core.checked
def compare(
    table: samples.Comparable | str | Path,
    *, baseline: str | None = None, test: Test = "bootstrap", resamples: int | None = None,
    seed: int = 1, confidence: float = 0.95, correction: stats.Correction = "none",
    metrics: Sequence[str] | None = None, types: bool | core.Tier = False,
    difference: Sequence[str] | None = None, show: int = SHOWN, unit: str | None = None,
) -> Comparison | Difference:  # fmt: skip
    """Compare systems on the same sentences, against a baseline or every pair.

    Scores by group, if the table has them, are compared as well: units are drawn in each group.

    Raises :class:`UsageError` if a name is unknown, a number out of range, or an option has no
    effect; :class:`DataError` if the table has no statistics, or systems have different segments.

    Parameters
    ----------
    table
        Scores with statistics, or with sentence values whose mean is the score; or judgments,
        whose sentence means are compared; or a file of these.
    baseline
        Name of a system; ``None`` compares every pair and gives letters.
    test
        Where p-values come from; intervals always come from the bootstrap.
    resamples
        How often the sentences are drawn. ``None`` chooses 1,000 or, with a correction, at least
        80 for each comparison; where these take more than seconds, as with hundreds of systems,
        ``benjamini-hochberg`` takes the place of ``holm`` and ``bonferroni``, and a note says so.
    seed
        Where chance starts; the draws are shared by all systems and metrics.
    confidence
        Of the intervals; ``1 - confidence`` is the level at which letters tell systems apart.
    correction
        For the family of all comparisons under one metric.
    metrics
        Spellings to compare, all in the table by default.
    types
        Also compare by error type: ``operation``, ``main`` or ``full``, or ``True`` for the types
        as they are stored. Under one metric all types and pairs are one family.
    difference
        Two systems: list sentences, or types, sorted by the first one's score minus the second's
        under the first metric, and test nothing.
    show
        With ``difference``: how many from either end, 0: all.
    unit
        What is drawn, and swapped, as a whole: ``sentence``, ``document``, or a column of groups.
        By default documents, where the table knows them (``score --documents``), else sentences.
    """
    is_file = isinstance(table, str | Path)
    source = formats.read_any_scores(table) if is_file else table
    name = formats.metric_name(table) if is_file else "judgments"
    scores = samples.as_table(source, name, judged_only=difference is None)
    notices: tuple[str, ...] = getattr(source, "notices", ())
    design = ComparisonDesign(
        baseline=baseline, test=test, resamples=RESAMPLES if resamples is None else resamples,
        seed=seed, confidence=confidence, correction=correction,
    )  # fmt: skip
    core.check_home(difference is not None, "--difference", show=show != SHOWN)
    if difference is None:
        fixed = resamples is not None
        units = Units.of(scores, unit)
        design = replace(design, unit=units.name, units=units.count)
        options: Any = {"metrics": metrics, "types": types}
        compared = _compare_systems(scores, design, units, fixed=fixed, **options)
        chosen = units.drawn if unit is None else ()
        return replace(compared, notes=(*compared.notes, *chosen), notices=notices)
    usual = asdict(ComparisonDesign())
    tests = {name: value != usual[name] for name, value in asdict(design).items()}
    tests |= {"resamples": resamples is not None, "unit": unit is not None, "units": False}
    core.check_home(False, "comparisons other than --difference", **tests)
    if len(difference) != 2:
        raise core.UsageError(f"a difference of {len(difference)} systems", fix="Name two.")
    listed = subtract(scores, *difference, metrics=metrics, types=types, show=show)
    return replace(listed, notices=notices)


def _compare_systems(
    table: core.ScoreTable, design: ComparisonDesign, units: Units,
    *, fixed: bool, metrics: Sequence[str] | None = None, types: bool | core.Tier = False,
) -> Comparison:  # fmt: skip
    """Compare systems; the number of resamples is ``fixed`` or chosen, see :func:`compare`."""
    columns = {name: table[name] for name in (table if metrics is None else metrics)}
    systems = max((len(column) for column in columns.values()), default=0)
    comparisons = design.comparisons(systems)
    by_type = samples.type_columns(columns, table.segments, types) if types else {}
    if (most := comparisons * max(map(len, by_type.values()), default=0)) > MOST_COMPARISONS:
        fault = f"{most:,} comparisons: each type of {systems} systems by all pairs"
        fix = "Name a baseline, compare fewer systems, or take the types operation or main."
        raise core.UsageError(fault, fix=fix)
    wanted = design
    design, notes = design.settled(systems, comparisons, fixed=fixed)
    by_group = Groups.of(table, columns, units)
    parts = 1 if by_group is None else 2 + len(by_group.units)
    design.check_size(parts * sum(len(column) for column in columns.values()))
    groups = [units.samples(name, column) for name, column in columns.items()]
    notes = [*table.notes_on(columns), *notes, *samples.own_notes(table)]
    judged = table.segments - len(table.skipped)
    notes += design.limits(judged, comparisons) if columns else []
    for (name, column), group in zip(columns.items(), groups, strict=True):
        notes += samples.sample_notes(name, column, group)
    results = dict(zip(columns, _compare_columns(columns, groups, design), strict=True))
    for name, of in by_type.items():
        summed = {kind: (column, units.summed(rows)) for kind, (column, rows) in of.items()}
        types_of, said = _parts(name, summed, wanted, "error type", fixed=fixed)
        results[name] = replace(results[name], types=types_of)
        notes += said
    if by_group is not None:
        for name, of in by_group.columns.items():
            groups_of, said = _parts(name, of, wanted, "group", fixed=fixed, strata=by_group.strata)
            results[name] = replace(results[name], groups=groups_of)
            notes += said
        notes += by_group.limits(design)
    if by_type and (without := [name for name in columns if name not in by_type]):
        notes.append(f"no comparison by error type of {', '.join(without)}: none are stored")
    if design.baseline is None:
        notes += [TOO_MANY_LETTERS.format(name) for name, of in results.items() if not of.lettered]
    return Comparison(design, table.segments, results, tuple(notes))


def _parts(
    name: str, of: samples.TypeColumns, design: ComparisonDesign, what: str,
    *, fixed: bool, strata: core.IntArray | None = None,
) -> tuple[dict[str, MetricComparison], list[str]]:  # fmt: skip
    """Compare the systems by error type or group; all parts and pairs are one family."""
    systems = max((len(column) for column, _ in of.values()), default=0)
    comparisons = design.comparisons(systems) * len(of)
    design, notes = design.settled(systems * len(of), comparisons, fixed=fixed)
    columns = {part: column for part, (column, _) in of.items()}
    drawn = [rows for _, rows in of.values()]
    compared = _compare_columns(columns, drawn, design, together=True, strata=strata)
    notes += samples.part_notes(name, what, len(of), comparisons, design)
    return dict(zip(columns, compared, strict=True)), notes


def _compare_columns(
    columns: Mapping[str, core.MetricScores], groups: Sequence[stats.PairedSamples],
    design: ComparisonDesign, *, together: bool = False, strata: core.IntArray | None = None,
) -> list[MetricComparison]:  # fmt: skip
    """Compare systems under each column; ``together``: p-values of all are one family."""
    pairs = [_pairs(column, design.baseline) for column in columns.values()]
    drawn: Any = {"resamples": design.resamples, "seed": design.seed}
    resampled = stats.bootstrap(groups, **drawn, strata=strata)
    if design.test == "bootstrap":
        parts = zip(groups, resampled, pairs, strict=True)
        shown = [stats.bootstrap_pvalues(*of_column) for of_column in parts]
    else:
        shown = stats.randomisation_pvalues(groups, pairs, **drawn)
    raw: list[core.FloatArray] = []  # not below what so many sentences can show
    for column, group, of, pvalues in zip(columns.values(), groups, pairs, shown, strict=True):
        least = np.maximum(pvalues, least_pvalue(group.rows.shape[1]))
        least = samples.bounded_by_sentences(least, group, of) if together else least
        raw.append(np.where(_missing(column)[of].any(axis=1), np.nan, least))
    if together and raw:
        ends = np.cumsum([len(p) for p in raw])[:-1]
        adjusted = np.split(stats.adjust(np.concatenate(raw), design.correction), ends)
    else:
        adjusted = [stats.adjust(p, design.correction) for p in raw]
    parts = zip(columns.values(), pairs, resampled, raw, adjusted, strict=True)
    return [_result(column, design, chosen, *figures) for column, chosen, *figures in parts]


def _missing(column: core.MetricScores) -> core.BoolArray:
    return np.array([math.isnan(score.value) for score in column.values()], dtype=np.bool_)


def _pairs(column: core.MetricScores, baseline: str | None) -> core.IntArray:
    """Return which systems are compared, by number; the baseline stands second."""
    names = list(column)
    if baseline is None:
        pairs = list(combinations(range(len(names)), 2))
    elif baseline not in names:
        raise core.UnknownNameError("system", baseline, names)
    else:
        base = names.index(baseline)
        pairs = [(number, base) for number in range(len(names)) if number != base]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _result(
    column: core.MetricScores, design: ComparisonDesign, pairs: core.IntArray, *of: core.FloatArray
) -> MetricComparison:
    """Put figures together; where the table has no score, nothing else is claimed."""
    resampled, raw, adjusted = of
    names, values = list(column), [score.value for score in column.values()]
    low, high = stats.percentile_interval(resampled, design.confidence)
    unknown = _missing(column) | (high - low <= stats.RELATIVE_TOLERANCE * np.abs(high))
    bounds = np.where(unknown, np.nan, [low, high]).T.tolist()
    defined: core.BoolArray = np.asarray(np.isfinite(resampled).all(axis=1))
    is_type = column.type_counts and not (column.statistics or column.segments)
    systems: dict[str, SystemResult] = {}
    for at, (name, (low, high)) in enumerate(zip(names, bounds, strict=True)):
        gold = column[name].parts["tp"] + column[name].parts["fn"] if is_type else None
        why = _reason(column, defined, low, at)
        systems[name] = SystemResult(gold=gold, value=values[at], low=low, high=high, reason=why)
    numbers: list[list[int]] = pairs.tolist()
    compared: list[PairResult] = []
    for (one, other), *pvalues in zip(numbers, adjusted.tolist(), raw.tolist(), strict=True):
        pvalue, uncorrected = pvalues[0], None if design.correction == "none" else pvalues[1]
        why = _reason(column, defined, pvalue, one, other)
        figures = (values[one] - values[other], pvalue, uncorrected, why)
        compared.append(PairResult(names[one], names[other], *figures))
    signature = design.signature(column.signature, samples.resampling(column))
    if design.baseline is None:
        different: core.BoolArray = np.zeros((len(names), len(names)), dtype=np.bool_)
        first, second = pairs.T
        different[first, second] = different[second, first] = adjusted <= design.level
        for name, letters in _letters(column, np.nan_to_num(bounds), different).items():
            systems[name] = replace(systems[name], letters=letters)
        return MetricComparison(signature, column.higher_is_better, systems, tuple(compared))
    for pair in compared:
        figures = {name: getattr(pair, name) for name in ("difference", "pvalue", "pvalue_raw")}
        reason = systems[pair.first].reason or pair.reason
        systems[pair.first] = replace(systems[pair.first], **figures, reason=reason)
    base = systems[design.baseline]
    reason, zero = base.reason or "this is the baseline", base.value - base.value
    systems[design.baseline] = replace(base, difference=zero, pvalue=math.nan, reason=reason)
    return MetricComparison(signature, column.higher_is_better, systems, ())


def _reason(
    column: core.MetricScores, defined: core.BoolArray, number: float, *systems: int
) -> str | None:
    """Say why a number about some systems is NaN, if it is."""
    if not math.isnan(number):
        return None
    names = list(column)
    for name in (names[system] for system in systems):
        if math.isnan(column[name].value):
            return f"{name}: {column[name].reason or 'undefined'}"
    if not defined[[*systems]].all():
        return "a score is undefined in some resamples"
    what = "score" if len(systems) == 1 else "difference"
    return f"every resample gives the same {what}, which does not show how it varies"


def _letters(
    column: core.MetricScores, bounds: core.FloatArray, different: core.BoolArray
) -> dict[str, str]:
    """Give letters to the systems that have a score, from the best one on; {} if too many.

    Of equal scores the one with the lower interval comes first, so that the order of systems in
    the file decides nothing.
    """
    names, sign = list(column), -1 if column.higher_is_better else 1
    values = [sign * score.value for score in column.values()]
    known = [at for at, value in enumerate(values) if not math.isnan(value)]
    order = sorted(known, key=lambda at: (values[at], *bounds[at], names[at]))
    letters = stats.compact_letters(different[np.ix_(order, order)])
    return {names[at]: text for at, text in zip(order, letters or (), strict=bool(letters))}
