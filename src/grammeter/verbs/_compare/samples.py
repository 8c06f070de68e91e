"""From scores or judgments to columns, of metrics or error types, and to rows to resample."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from grammeter import core, meta, metrics
from grammeter.stats import PairedSamples
from grammeter.verbs._compare.design import ComparisonDesign

ABSENT = "neither the output nor its references have edits of this type"
SHARE = "the share of the other outputs that an output beats"
Comparable = core.ScoreTable | core.Ranked | Sequence[core.Ranking]


def paired_samples(name: str, column: core.MetricScores) -> PairedSamples:
    """Gather the rows of all systems, the choice among references made.

    Where no statistics are stored and every score is the mean of its sentence values, as with
    scores of other programs, these values are the rows. Without either, or on other segments than
    the rest, a ``DataError``; ``name`` says which metric.
    """
    if is_mean_of_sentences(column):
        values = [column.segments[system].values for system in column]
        rows = [np.stack([np.nan_to_num(of), ~np.isnan(of)], axis=-1) for of in values]
        return PairedSamples(_stacked(name, column, rows), mean_of_rows)
    if missing := [system for system in column if system not in column.statistics]:
        fix = "Run 'grammeter score ... -o FILE' again and compare what it writes; of other"
        fix += " programs' scores, give those of sentences: 'metric system segment value'."
        raise core.DataError(f"{name}, {missing[0]}: scored without statistics", fix=fix)
    scorer = metrics.metric(column.metric)
    rows = [scorer.summands(column.statistics[system]) for system in column]
    return PairedSamples(_stacked(name, column, rows), scorer.value_of)


def is_mean_of_sentences(column: core.MetricScores) -> bool:
    """Whether a column has sentence values alone, and each score is their mean or missing."""
    if column.statistics or not column.segments.keys() >= column.scores.keys():
        return False
    scored = {s: score.value for s, score in column.items() if not math.isnan(score.value)}
    return all(np.isclose(x, np.nanmean(column.segments[s].values)) for s, x in scored.items())


def resampling(column: core.MetricScores) -> str:
    """Return what a resample of a column recomputes; stands in the signature."""
    if is_mean_of_sentences(column):
        return "mean of sentence values"
    if column.type_counts and not column.statistics:  # one error type
        return "chosen references fixed"
    return metrics.metric(column.metric).resampling


def sample_notes(name: str, column: core.MetricScores, samples: PairedSamples) -> Iterator[str]:
    """Say what a reader must know of the rows: whose they are, and which are equal."""
    if is_mean_of_sentences(column) and dict(column.signature).get("scores") != "judgments":
        yield f"{name}: the mean of stored sentence values is compared; larger counts as better"
    both = zip(samples.rows, column, strict=True)
    alike = core.grouped((rows.tobytes(), system) for rows, system in both)
    for systems in alike.values():
        if len(systems) > 1:
            names = ", ".join(systems[:5]) + (", ..." if len(systems) > 5 else "")
            yield f"{name}: {names} have equal figures in every sentence"


def mean_of_rows(sums: core.FloatArray) -> core.FloatArray:
    """Divide a sum of values by how many there are."""
    number = sums[..., 1]
    return sums[..., 0] / np.where(number == 0, np.nan, number)


def _stacked(name: str, systems: Iterable[str], rows: Sequence[core.FloatArray]) -> core.FloatArray:
    counts = {system: len(matrix) for system, matrix in zip(systems, rows, strict=True)}
    if len(set(counts.values())) != 1 or 0 in counts.values():
        fault = f"{name}: systems can only be compared on the same segments; found {counts}"
        raise core.DataError(fault, fix="Score all systems in one run.")
    return np.array(rows, dtype=np.float64)


def as_table(
    scores: Comparable, name: str = "judgments", *, judged_only: bool = False
) -> core.ScoreTable:
    """Return scores as they are, and of judgments the means of what they say of sentences.

    What they say is the judges' scores where all outputs have one, else the share of the other
    outputs of an item that an output beats, ties by half; see :mod:`grammeter.meta.judged`.
    ``name`` is what judgments are called among metrics; ``judged_only`` leaves out sentences that
    nobody judged, so that the others have other numbers. Raises :class:`DataError` if nothing is
    judged, or this is a ranking.
    """
    if isinstance(scores, core.ScoreTable):
        return scores
    if isinstance(scores, core.Ranked):
        fault = f"{name}: a ranking says nothing of sentences, so nothing can be resampled"
        fix = "Give the judgments that it was made from; a ranking has ranges and clusters."
        raise core.DataError(fault, fix=fix)
    table = meta.judged_table(scores, name)
    known = np.array([~np.isnan(scores.values) for scores in table[name].segments.values()])
    judged = np.flatnonzero(known.any(axis=0))
    places = judged if judged_only else np.arange(table.segments)
    column = _means(table[name], places)
    meaning = "the judges' scores" if table[name].signature["values"] == "scores" else SHARE
    note = f"{name}: the mean of {meaning} in {len(judged)} judged sentences"
    if not known[:, judged].all():
        note += ", of each system in those where it was judged"
    counted = () if judged_only else getattr(scores, "assumptions", ())  # of files of judgments
    notes = (*table.notes, *counted, note)
    return core.ScoreTable(table.systems, len(places), {name: column}, about=notes)


def _means(column: core.MetricScores, places: core.IntArray) -> core.MetricScores:
    said = dict(column.signature)
    settings = {key: said[key] for key in ("scores", "values", "judges")}
    signature = core.Signature.of(column.metric, {**settings, "by": "mean of sentences"})
    segments = {system: scores.take(places) for system, scores in column.segments.items()}
    means = {
        system: core.Score(float(np.nanmean(scores.values)), signature, len(places))
        for system, scores in segments.items()
    }
    return core.MetricScores(column.metric, signature, True, means, segments)


TypeColumns = Mapping[str, tuple[core.MetricScores, PairedSamples]]
"""For each error type of one metric, scores and the rows to resample."""


def type_columns(
    columns: Mapping[str, core.MetricScores], segments: int, wanted: bool | core.Tier
) -> dict[str, TypeColumns]:
    """Gather the error types of all metrics that have stored them; ``wanted``: of which tier.

    ``True`` takes the types as they are stored. Without counts by type, or with those of another
    tier, a ``UsageError``.
    """
    if isinstance(wanted, str) and wanted not in core.TIERS:
        raise core.UnknownNameError("kind of types", wanted, core.TIERS)
    counted = {name: column for name, column in columns.items() if column.type_counts}
    typed = {name: _columns(name, column, segments, wanted) for name, column in counted.items()}
    if not typed:
        fault = f"no counts by error type are stored for {', '.join(columns) or 'no metric'}"
        fix = "Score again: grammeter score -m errant --types ... -o FILE"
        raise core.UsageError(fault, fix=fix)
    return typed


def own_notes(table: core.ScoreTable) -> Iterator[str]:
    """Yield what a difference means where each system has references of its own."""
    if table.blocks.get("references") == "own":
        yield "references: own: a difference is one of outputs and of their references together"


def bounded_by_sentences(
    pvalues: core.FloatArray, samples: PairedSamples, pairs: core.IntArray
) -> core.FloatArray:
    """Bound p-values by what the few sentences with an error type can show.

    If two systems differ in k sentences, an exact test that swaps them there gives at least
    ``2 ** (1 - k)``. That is also the p-value where every resample gives the same difference, so
    that a bootstrap has none: then each of these sentences speaks for the same system.
    """
    first, second = (samples.rows[at] for at in pairs.T)
    differing = (first != second).any(axis=-1).sum(axis=-1)
    least = np.minimum(1.0, np.exp2(1.0 - differing))
    return np.where(np.isnan(pvalues), least, np.maximum(pvalues, least))


def part_notes(
    name: str, what: str, parts: int, comparisons: int, design: ComparisonDesign
) -> Iterator[str]:
    """Say how many comparisons by error type or group there are, and what that means."""
    for text in design.limits_of_resamples(comparisons) if comparisons else ():
        yield f"{name}, by {what}: {text}"
    size = f"{parts} {what.removeprefix('error ')}s"
    family = f"{name}: {comparisons:,} comparisons by {what} ({size})"
    if design.correction == "none" and comparisons > 1:
        false = f"about {comparisons * design.level:.0f} come out as significant by chance alone"
        yield f"{family}, not corrected: {false}; take --correction"
    elif comparisons > 1:
        yield f"{family} are one family, corrected by {design.correction}, apart from the whole"


def _of_tier(
    name: str, column: core.MetricScores, counts: core.TypeCounts, wanted: bool | core.Tier
) -> core.TypeCounts:
    stored = dict(column.signature).get("types", "full")
    if wanted is True or wanted == stored:
        return counts
    scheme = dict(column.signature).get("type-scheme", "")
    if stored != "full" or (wanted == "main" and not any(":" in kind for kind in counts.names)):
        fault = f"{name}: types of the kind {wanted} cannot be made of those stored ({stored},"
        fault += f" {scheme})"
        fix = f"Score again with --types {wanted}, or leave the word out."
        raise core.UsageError(fault, fix=fix)
    assert isinstance(wanted, str)
    return counts.folded(wanted)


def _columns(
    name: str, column: core.MetricScores, segments: int, wanted: bool | core.Tier
) -> TypeColumns:
    scorer, signature = metrics.metric(column.metric), column.signature
    stored = column.type_counts.items()
    counts = {system: _of_tier(name, column, counts, wanted) for system, counts in stored}
    if wanted is not True and "types" in dict(signature):
        signature = signature.extended({"types": wanted})  # the tier that is compared
    bare = replace(column, signature=signature, statistics={}, segments={})
    columns: dict[str, tuple[core.MetricScores, PairedSamples]] = {}
    for kind in sorted({kind for of_system in counts.values() for kind in of_system.names}):
        rows = np.stack([of_system.by_sentence(kind, segments) for of_system in counts.values()])
        totals = rows.sum(axis=1)
        scores: dict[str, core.Score] = {}
        for system, value, total in zip(counts, scorer.type_values(totals), totals, strict=True):
            tp, fp, fn = total.tolist()
            parts = {"tp": tp, "fp": fp, "fn": fn}
            known, why = (float(value), None) if total.any() else (math.nan, ABSENT)
            scores[system] = core.Score(known, signature, segments, parts, why)
        samples = PairedSamples(rows.astype(np.float64), scorer.type_values)
        columns[kind] = replace(bare, scores=scores), samples
    return columns
