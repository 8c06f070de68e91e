"""Corpus x metrics -> score table: the only loop over systems and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grammeter.core.errors import UsageError
from grammeter.core.score import Score
from grammeter.core.segment import Segment
from grammeter.core.statistics import IntArray, Statistics
from grammeter.core.table import MetricScores, ScoreTable
from grammeter.corpus.corpus import Corpus
from grammeter.metrics.asking import Asking
from grammeter.metrics.base import Metric
from grammeter.metrics.registry import metric as make_metric
from grammeter.neural.service import run_together


def score(corpus: Corpus, metrics: Sequence[str | Metric], *, types: bool = False) -> ScoreTable:
    """Score all systems of a corpus with several metrics.

    Parameters
    ----------
    corpus
        Sources, references and systems.
    metrics
        Spellings or metrics; each is a key of the result as it is given.
    types
        Also score by error type, for the metrics that know them; one at least must.

    Raises
    ------
    UsageError
        If there is no system or metric, a metric is named twice or is unknown, or the corpus
        lacks what a metric needs.
    """
    check_listed(metrics)
    if not corpus.systems:
        raise UsageError("no system outputs", fix="Give one at least (--hyps).")
    wanted = {str(given): make_metric(given) for given in metrics}
    if not wanted or len(wanted) != len(metrics):
        raise UsageError(
            "a metric is named twice" if wanted else "no metric",
            fix="Name each metric once; 'grammeter list' shows them.",
        )
    for metric in wanted.values():
        check_needs(metric, corpus)
    of_metrics = (metric.notice for metric in wanted.values())
    notes = tuple(dict.fromkeys(filter(None, [*corpus.notes, *of_metrics])))
    batch = _Batch(corpus)
    counted = count(list(wanted.values()), batch.segments, batch.copies)
    columns: dict[str, MetricScores] = {}
    for spelled, metric in wanted.items():
        column = _score_one(metric, corpus, batch, counted[metric.counting()])
        columns[spelled] = replace(column, types=_types(metric, corpus)) if types else column
    if types and not any(column.types for column in columns.values()):
        raise UsageError(
            f"no error types: {', '.join(wanted)} tell none apart",
            fix="Ask for errant, or leave --types out.",
        )
    return ScoreTable(tuple(corpus.systems), len(corpus), columns, corpus.to_json(), notes)


class _Batch:
    """The segments of all systems, equal outputs of one sentence taken once."""

    def __init__(self, corpus: Corpus) -> None:
        self.segments: list[Segment] = []
        self.copies: list[int] = []
        self.rows: dict[str, IntArray] = {}
        known: dict[tuple[int, str], int] = {}
        for system in corpus.systems:
            rows: list[int] = []
            for line, segment in enumerate(corpus.segments(system)):
                position = known.setdefault((line, segment.hypothesis), len(self.segments))
                if position == len(self.segments):
                    self.segments.append(segment)
                    self.copies.append(0)
                self.copies[position] += 1
                rows.append(position)
            self.rows[system] = np.array(rows, dtype=np.int64)


def count(
    metrics: Sequence[Metric], segments: Sequence[Segment], copies: Sequence[int]
) -> dict[object, Statistics]:
    """Count once for all metrics that share rows; what they ask of models is asked together.

    Parameters
    ----------
    metrics
        The rows of each are found under its ``counting()``.
    segments, copies
        What is scored, and how many systems wrote each; see :meth:`Metric.pooled_statistics`.
    """
    distinct = {metric.counting(): metric for metric in reversed(metrics)}
    asking = {key: metric for key, metric in distinct.items() if isinstance(metric, Asking)}
    answered = run_together([metric.steps(segments) for metric in asking.values()])
    counted: dict[object, Statistics] = dict(zip(asking, answered, strict=True))
    for key, metric in distinct.items():
        if key not in counted:
            counted[key] = metric.pooled_statistics(segments, copies)
        _check_rows(metric, counted[key], len(segments))
    return counted


def _check_rows(metric: Metric, rows: object, number: int) -> None:
    """Refuse what a metric counted wrongly: its rows would be taken for other sentences."""
    if not isinstance(rows, Statistics) or len(rows) != number:
        made = f"{len(rows)} rows" if isinstance(rows, Statistics) else type(rows).__name__
        raise UsageError(
            f"{metric.name}: statistics() made {made} of {number} segments",
            fix="A metric returns Statistics with one row for each segment, in their order.",
        )


def _score_one(metric: Metric, corpus: Corpus, batch: _Batch, rows: Statistics) -> MetricScores:
    statistics = {system: rows.take(at) for system, at in batch.rows.items()}
    signature = metric.signature(_context(metric, corpus))
    scores = {
        system: metric.score(own).with_signature(signature) for system, own in statistics.items()
    }
    sentences = {system: metric.sentences(own) for system, own in statistics.items()}
    return MetricScores(
        str(metric), signature, metric.higher_is_better, scores, sentences, statistics
    )


def _types(metric: Metric, corpus: Corpus) -> dict[str, dict[str, Score]]:
    found = {system: metric.type_scores(corpus.segments(system)) for system in corpus.systems}
    return {system: scores for system, scores in found.items() if scores}


def _context(metric: Metric, corpus: Corpus) -> dict[str, object]:
    """Return what the signature says of the texts, references and systems of this run."""
    form: dict[str, object] = {"unicode": corpus.normalisation} if corpus.normalisation else {}
    if metric.pooled:
        form["pool"] = len(corpus.systems)
    if metric.needs == "nothing":
        return form
    if metric.needs == "texts" or (metric.needs == "gold or texts" and not corpus.gold):
        return {"refs": len(corpus.references), "reftext": corpus.text_rule} | form
    annotators = {number for gold in corpus.gold for number in gold}
    return {"refs": len(annotators), "gold": "m2"} | form


def check_listed(metrics: Sequence[str | Metric]) -> None:
    """Refuse one spelling where a list belongs: its letters would be read as names."""
    if isinstance(metrics, str):
        raise UsageError(
            f"metrics is one text, {metrics!r}, where a list belongs", fix=f"Write [{metrics!r}]."
        )


def check_needs(metric: Metric, corpus: Corpus) -> None:
    """Refuse a corpus that lacks what the metric holds hypotheses against."""
    has = {
        "gold": bool(corpus.gold),
        "texts": bool(corpus.references),
        "gold or texts": bool(corpus.gold or corpus.references),
        "nothing": True,
    }
    if not has[metric.needs]:
        what = "gold edits" if metric.needs == "gold" else "references"
        given = "an .m2 file" if metric.needs == "gold" else "texts or an .m2 file"
        raise UsageError(
            f"{metric.name} needs {what}, and there are none", fix=f"Give {given} with -r."
        )
