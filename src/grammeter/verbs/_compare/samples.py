"""From scores or judgments to columns, and from a column to rows that can be resampled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from grammeter.core import (
    DataError,
    FloatArray,
    IntArray,
    MetricScores,
    Ranked,
    Ranking,
    Score,
    ScoreTable,
    Signature,
)
from grammeter.meta import judged_table
from grammeter.metrics import metric
from grammeter.stats import PairedSamples

SHARE = "the share of the other outputs that an output beats"

Comparable = ScoreTable | Ranked | Sequence[Ranking]


def paired_samples(name: str, column: MetricScores, systems: Sequence[str]) -> PairedSamples:
    """Gather the rows of some systems, the choice among references made.

    Where no statistics are stored and every score is the mean of its sentence values, as with
    scores of other programs, these values are the rows.

    Raises
    ------
    DataError
        If a system was scored without statistics, or on other segments than the rest; ``name``
        says which metric.
    """
    if is_mean_of_sentences(column):
        rows = [_values_and_presence(column.segments[system].values) for system in systems]
        return PairedSamples(_stacked(name, systems, rows), _mean)
    scorer = metric(column.metric) if column.statistics else None
    for system in systems:
        if scorer is None or system not in column.statistics:
            raise DataError(
                f"{name}, {system}: scored without statistics",
                fix="Run 'grammeter score ... -o FILE' again and compare what it writes; of other"
                " programs' scores, give those of sentences: 'metric system segment value'.",
            )
    assert scorer is not None
    rows = [scorer.summands(column.statistics[system]) for system in systems]
    return PairedSamples(_stacked(name, systems, rows), scorer.value_of)


def is_mean_of_sentences(column: MetricScores) -> bool:
    """Whether a column has sentence values alone, and each score is their mean or missing."""
    return not column.statistics and all(
        system in column.segments
        and (
            math.isnan(score.value)
            or np.isclose(score.value, np.nanmean(column.segments[system].values))
        )
        for system, score in column.items()
    )


def resampling(column: MetricScores) -> str:
    """Return what a resample of a column recomputes; stands in the signature."""
    if is_mean_of_sentences(column):
        return "mean of sentence values"
    if column.type_counts and not column.statistics:  # one error type
        return "chosen references fixed"
    return metric(column.metric).resampling


def sample_notes(name: str, column: MetricScores, samples: PairedSamples) -> Iterator[str]:
    """Say what a reader must know of the rows: whose they are, and which are equal."""
    if is_mean_of_sentences(column) and dict(column.signature).get("scores") != "judgments":
        yield f"{name}: the mean of stored sentence values is compared; larger counts as better"
    alike: dict[bytes, list[str]] = {}
    for system, rows in zip(column, samples.rows, strict=True):
        alike.setdefault(rows.tobytes(), []).append(system)
    for systems in alike.values():
        if len(systems) > 1:
            names = ", ".join(systems[:5]) + (", ..." if len(systems) > 5 else "")
            yield f"{name}: {names} have equal figures in every sentence"


def _values_and_presence(values: FloatArray) -> FloatArray:
    return np.stack([np.nan_to_num(values), ~np.isnan(values)], axis=-1)


def _mean(sums: FloatArray) -> FloatArray:
    number = sums[..., 1]
    return sums[..., 0] / np.where(number == 0, np.nan, number)


def _stacked(name: str, systems: Sequence[str], rows: Sequence[FloatArray]) -> FloatArray:
    counts = {system: len(matrix) for system, matrix in zip(systems, rows, strict=True)}
    if len(set(counts.values())) != 1 or 0 in counts.values():
        raise DataError(
            f"{name}: systems can only be compared on the same segments; found {counts}",
            fix="Score all systems in one run.",
        )
    return np.array(rows, dtype=np.float64)


def as_table(
    scores: Comparable, name: str = "judgments", *, judged_only: bool = False
) -> ScoreTable:
    """Return scores as they are, and of judgments the means of what they say of sentences.

    What they say is the judges' scores where all outputs have one, else the share of the other
    outputs of an item that an output beats, ties by half; see :mod:`grammeter.meta.judged`.

    Parameters
    ----------
    scores
        Scores of metrics, or judgments.
    name
        What judgments are called among metrics.
    judged_only
        Leave out sentences that nobody judged, so that the others have other numbers.

    Raises
    ------
    DataError
        If nothing is judged, or this is a ranking, which says nothing of sentences.
    """
    if isinstance(scores, ScoreTable):
        return scores
    if isinstance(scores, Ranked):
        raise DataError(
            f"{name}: a ranking says nothing of sentences, so nothing can be resampled",
            fix="Give the judgments that it was made from; a ranking has ranges and clusters.",
        )
    table = judged_table(scores, name)
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
    return ScoreTable(table.systems, len(places), {name: column}, about=notes)


def _means(column: MetricScores, places: IntArray) -> MetricScores:
    """Return the means of sentence values as the scores of systems."""
    said = dict(column.signature)
    settings = {key: said[key] for key in ("scores", "values", "judges")}
    signature = Signature.of(column.metric, {**settings, "by": "mean of sentences"})
    segments = {system: scores.take(places) for system, scores in column.segments.items()}
    means = {
        system: Score(float(np.nanmean(scores.values)), signature, len(places))
        for system, scores in segments.items()
    }
    return MetricScores(column.metric, signature, True, means, segments)
