"""Judgments in the place of scores: each judge's opinion of a sentence, averaged by system."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grammeter.core import (
    DataError,
    IntArray,
    MetricScores,
    Ranked,
    Ranking,
    Score,
    ScoreTable,
    Signature,
)
from grammeter.meta import judged_table

SHARE = "the share of the other outputs that an output beats"

Comparable = ScoreTable | Ranked | Sequence[Ranking]


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
