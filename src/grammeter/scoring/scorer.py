"""Each sentence's own score, whatever else is scored with it: for rows, rewards and loops."""

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeVar

from grammeter import core, models
from grammeter.formats import NO_SOURCE, Corpus
from grammeter.metrics import Metric
from grammeter.metrics import metric as make_metric
from grammeter.scoring.table import count, depends_on_corpus, score_table

Texts = Sequence[str]
References = Sequence[str | Sequence[str] | None]  # of each sentence: one, a list, or `None`
_Key = tuple[str, str, tuple[str, ...]]
T = TypeVar("T")

FATAL = (core.MissingResourceError, core.RemoteError, core.UsageError, MemoryError, OSError)
"""Faults of the run, not of a sentence."""


@dataclass(frozen=True, slots=True)
class Value:
    """A sentence's score; ``None`` where there is none, and why."""

    value: float | None
    reason: str = ""


REMEMBERED = 100_000  # sentences; with their texts some 50 MB


class Scorer:
    """Scores sentences again and again: models stay warm, known sentences are not scored again.

    ``metrics`` are spellings or metrics; models run by the ``runtime``, by default that of the
    thread that makes the scorer, see :func:`grammeter.using`; of the :data:`REMEMBERED` sentences
    used last scores are kept for later calls. Calls from several threads are answered
    one after the other: they share models and memory. Raises :class:`UsageError` if there is no
    metric, or one is unknown or named twice.

    ::

        scorer = gm.Scorer(["impara", "gleu"])
        scorer(sources, hypotheses, references)["impara"]   # a float or None for each sentence
    """

    @core.checked
    def __init__(
        self, metrics: Sequence[str | Metric], *, runtime: models.Runtime | None = None
    ) -> None:
        self._metrics = {str(spelled): make_metric(spelled) for spelled in metrics}
        if not metrics or len(self._metrics) != len(metrics):
            raise core.UsageError("no metric, or one named twice", fix="Name each once.")
        self._runtime = runtime or models.current()
        self._known: OrderedDict[_Key, tuple[Value, ...]] = OrderedDict()
        self._lock = threading.RLock()

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics, in the order given."""
        return tuple(self._metrics.values())

    @core.checked
    def __call__(
        self, sources: Texts, hypotheses: Texts, references: References | None = None
    ) -> dict[str, list[float | None]]:
        """Score each sentence alone.

        ``sources``, ``hypotheses``: as many of one as of the other; tokens are separated by white
        space. ``references``: for each sentence a text, a list of texts, or ``None``. Raises
        :class:`LengthMismatchError`, :class:`UsageError` if the lists differ in length, or a metric
        needs references that are not given, gold edits, or the whole corpus.

        Returns by spelling a score for each sentence in the metric's units; ``None`` where there is
        none: :meth:`reasons` of the same arguments says why.
        """
        values = self._values(sources, hypotheses, references)
        return {name: [row[at].value for row in values] for at, name in enumerate(self._metrics)}

    @core.checked
    def reasons(
        self, sources: Texts, hypotheses: Texts, references: References | None = None
    ) -> dict[str, list[str]]:
        """Say by spelling why a sentence has no score; an empty text where it has one."""
        values = self._values(sources, hypotheses, references)
        return {name: [row[at].reason for row in values] for at, name in enumerate(self._metrics)}

    @core.checked
    def corpus(
        self, sources: Texts, hypotheses: Texts, references: References | None = None
    ) -> dict[str, core.Score]:
        """Score all sentences as one corpus; see :meth:`__call__` for the arguments.

        Raises :class:`DataError` for a sentence that cannot be judged: a score has no notes.
        """
        return self.scored(segments_of(sources, hypotheses, references))

    def scored(self, rows: Sequence[core.Segment]) -> dict[str, core.Score]:
        """Score sentences as one corpus; see :meth:`corpus`."""
        texts = list(zip_longest(*(row.references for row in rows)))
        systems = {"": [row.hypothesis for row in rows]}
        sources = [row.source for row in rows]
        corpus = Corpus(sources=sources, references=texts, systems=systems, unjudged="error")
        with self._lock, models.using(self._runtime):
            table = score_table(corpus, self._metrics)
        return {name: table[name][""] for name in self._metrics}

    def _values(
        self, sources: Texts, hypotheses: Texts, references: References | None
    ) -> list[tuple[Value, ...]]:
        rows = segments_of(sources, hypotheses, references)
        self._check(rows)
        keys: list[_Key] = [(row.source, row.hypothesis, tuple(row.texts)) for row in rows]
        with self._lock, models.using(self._runtime):
            segments = zip(keys, rows, strict=True)
            fresh = {key: row for key, row in segments if key not in self._known}
            columns = sentence_values(self.metrics, list(fresh.values()))
            answered = dict(zip(fresh, zip(*columns, strict=True), strict=True))
            scored = [answered.get(key) or self._known[key] for key in keys]
            self._remember_values(dict(zip(keys, scored, strict=True)))
        return scored

    def _remember_values(self, scored: Mapping[_Key, tuple[Value, ...]]) -> None:
        for key, values in scored.items():
            if any(one.value is None for one in values):
                continue  # what went wrong may have passed by the next time
            self._known[key] = values
            self._known.move_to_end(key)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def _check(self, rows: Sequence[core.Segment]) -> None:
        for name, metric in self._metrics.items():
            check_alone(metric)
            if metric.needs == "gold":
                fix = "Use 'grammeter score' for it."
                raise core.UsageError(f"{name} needs gold edits", fix=fix)
            if metric.needs != "nothing" and not all(row.texts for row in rows):
                raise core.UsageError(f"{name} needs references", fix="Give one for each sentence.")


def segments_of(
    sources: Texts, hypotheses: Texts, references: References | None = None
) -> list[core.Segment]:
    """Return what a metric takes of each sentence; LengthMismatchError if the lists differ."""
    texts: dict[str, Sequence[Any]] = {"sources": sources, "hypotheses": hypotheses}
    if references is not None:
        texts["references"] = references
    for name, values in texts.items():
        if len(values) != len(sources):
            raise core.LengthMismatchError("sources", len(sources), name, len(values))
    rows = zip(sources, hypotheses, references or [None] * len(sources), strict=True)
    return [core.Segment(s, h, (t,) if isinstance(t, str) else tuple(t or ())) for s, h, t in rows]


def check_alone(metric: Metric) -> None:
    """Refuse a metric that scores an output by the whole corpus, so that no sentence has one."""
    if depends_on_corpus(metric):
        fault = f"{metric} scores an output by the whole corpus, so no sentence alone has a score"
        raise core.UsageError(fault, fix="Use 'grammeter score' for it.")


def sentence_values(
    metrics: Sequence[Metric], segments: Sequence[core.Segment]
) -> list[list[Value]]:
    """Score each segment by each metric: for each metric, a value for each segment.

    A segment that makes a metric fail has no value for it, with the reason, nor has one with an
    empty source; the others are unharmed. Models are asked for all metrics together. What is no
    segment's fault is raised.
    """
    if not all(segment.source.split() for segment in segments):
        judged = [segment for segment in segments if segment.source.split()]
        columns = [iter(column) for column in sentence_values(metrics, judged)]
        none = Value(None, f"it cannot be judged: {NO_SOURCE}")
        return [[next(c) if s.source.split() else none for s in segments] for c in columns]
    if not segments:
        return [[] for _ in metrics]
    try:
        counted = count(metrics, segments, [1] * len(segments))
        return [_values(metric, counted[metric.counting()]) for metric in metrics]
    except FATAL:
        raise
    except Exception:  # some segment made a metric fail: find out which
        return [_one_metric(metric, segments) for metric in metrics]


def isolated(
    work: Callable[[Sequence[core.Segment]], Sequence[T]], segments: Sequence[core.Segment]
) -> list[T | Value]:
    """Do work on a batch; if it fails, on its halves, until those at fault are alone: no value."""
    if not segments:
        return []
    try:
        return list(work(segments))
    except FATAL:
        raise
    except Exception as error:
        if len(segments) == 1:
            return [Value(None, " ".join(f"{type(error).__name__}: {error}".split()))]
        middle = len(segments) // 2
        return [*isolated(work, segments[:middle]), *isolated(work, segments[middle:])]


def _values(metric: Metric, statistics: core.Statistics) -> list[Value]:
    """Return each row's own score; where rows would influence each other, one by one."""
    if metric.by_row and len(statistics.labels) <= 1:
        alone = [metric.sentences(statistics)]
    else:
        alone = [metric.sentences(statistics.take([at])) for at in range(len(statistics))]
    return [Value(None, scores.reason or "no score") if math.isnan(value) else Value(value)
            for scores in alone
            for value in scores.values.tolist()]  # fmt: skip


def _one_metric(metric: Metric, segments: Sequence[core.Segment]) -> list[Value]:
    def values(some: Sequence[core.Segment]) -> list[Value]:
        return _values(metric, count([metric], some, [1] * len(some))[metric.counting()])

    return isolated(values, segments)
