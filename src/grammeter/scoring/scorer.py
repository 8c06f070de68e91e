"""Scores inside other people's loops: models stay warm, known sentences are not scored again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from grammeter.core import LengthMismatchError, Score, Segment, UsageError, checked
from grammeter.formats import Corpus
from grammeter.metrics import Metric
from grammeter.metrics import metric as make_metric
from grammeter.models import Runtime, current, using
from grammeter.scoring.sentences import Value, check_alone, sentence_values
from grammeter.scoring.table import check_listed, score_table

Texts = Sequence[str]
References = Sequence[str | Sequence[str] | None]
"""For each sentence a reference, a list of them, or ``None``."""

_Key = tuple[str, str, tuple[str, ...]]

REMEMBERED = 100_000
"""Sentences; with their texts some 50 MB."""


class Scorer:
    """Scores sentences again and again.

    Calls from several threads are answered one after the other: they share models and memory.

    Parameters
    ----------
    metrics
        Spellings or metrics.
    runtime
        How models run; default: that of the thread that makes the scorer, see
        :func:`grammeter.using`.
    remember
        How many sentences' scores are kept for later calls, those used last.

    Raises
    ------
    UsageError
        If there is no metric, or one is unknown or named twice.

    Examples
    --------
    ::

        scorer = gm.Scorer(["impara", "gleu"])
        scorer(sources, hypotheses, references)["impara"]   # a float or None for each sentence
    """

    @checked
    def __init__(
        self,
        metrics: Sequence[str | Metric],
        *,
        runtime: Runtime | None = None,
        remember: int = REMEMBERED,
    ) -> None:
        check_listed(metrics)
        self._metrics = {str(spelled): make_metric(spelled) for spelled in metrics}
        if not metrics or len(self._metrics) != len(metrics):
            raise UsageError("no metric, or one named twice", fix="Name each once.")
        if remember < 0:
            raise UsageError(f"remember={remember}", fix="Use 0 or more.")
        self._runtime = runtime or current()
        self._remember = remember
        self._known: OrderedDict[_Key, tuple[Value, ...]] = OrderedDict()
        self._lock = threading.RLock()

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics, in the order given."""
        return tuple(self._metrics.values())

    @checked
    def __call__(
        self, sources: Texts, hypotheses: Texts, references: References | None = None
    ) -> dict[str, list[float | None]]:
        """Score each sentence alone.

        Parameters
        ----------
        sources, hypotheses
            As many of one as of the other; tokens are separated by white space.
        references
            For each sentence a text, a list of texts, or ``None``.

        Returns
        -------
        dict
            By spelling, a score for each sentence in the metric's units; ``None`` where there is
            none: :meth:`reasons` of the same arguments says why.

        Raises
        ------
        LengthMismatchError
            If the lists differ in length.
        UsageError
            If a metric needs references that are not given, needs gold edits, or scores an output
            by the whole corpus only.
        """
        values = self._values(sources, hypotheses, references)
        return {name: [row[at].value for row in values] for at, name in enumerate(self._metrics)}

    @checked
    def reasons(
        self, sources: Texts, hypotheses: Texts, references: References | None = None
    ) -> dict[str, list[str]]:
        """Say by spelling why a sentence has no score; an empty text where it has one."""
        values = self._values(sources, hypotheses, references)
        return {name: [row[at].reason for row in values] for at, name in enumerate(self._metrics)}

    @checked
    def corpus(
        self, sources: Texts, hypotheses: Texts, references: References | None = None
    ) -> dict[str, Score]:
        """Score all sentences as one corpus; see :meth:`__call__` for the arguments."""
        rows = _segments(sources, hypotheses, references)
        columns = max((len(row.references) for row in rows), default=0)
        texts = [
            [row.references[at] if at < len(row.references) else None for row in rows]
            for at in range(columns)
        ]
        corpus = Corpus(sources=list(sources), references=texts, systems={"": list(hypotheses)})
        with self._lock, using(self._runtime):
            table = score_table(corpus, self._metrics)
        return {name: table[name][""] for name in self._metrics}

    def _values(
        self, sources: Texts, hypotheses: Texts, references: References | None
    ) -> list[tuple[Value, ...]]:
        rows = _segments(sources, hypotheses, references)
        self._check(rows)
        keys: list[_Key] = [(row.source, row.hypothesis, tuple(row.texts)) for row in rows]
        with self._lock, using(self._runtime):
            fresh = dict(zip(keys, rows, strict=True))
            for key in [key for key in fresh if key in self._known]:
                del fresh[key]
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
        while len(self._known) > self._remember:
            self._known.popitem(last=False)

    def _check(self, rows: Sequence[Segment]) -> None:
        for name, metric in self._metrics.items():
            check_alone(metric)
            if metric.needs == "gold":
                raise UsageError(f"{name} needs gold edits", fix="Use 'grammeter score' for it.")
            if metric.needs != "nothing" and not all(row.texts for row in rows):
                raise UsageError(f"{name} needs references", fix="Give one for each sentence.")


def _segments(sources: Texts, hypotheses: Texts, references: References | None) -> list[Segment]:
    texts: dict[str, Sequence[Any]] = {"sources": sources, "hypotheses": hypotheses}
    if references is not None:
        texts["references"] = references
    for name, values in texts.items():
        if isinstance(values, str):
            raise UsageError(f"{name} is one text where a list belongs", fix="Write [text].")
        if len(values) != len(sources):
            raise LengthMismatchError("sources", len(sources), name, len(values))
    rows = zip(sources, hypotheses, references or [None] * len(sources), strict=True)
    return [Segment(source, hypothesis, _tuple(texts)) for source, hypothesis, texts in rows]


def _tuple(texts: str | Sequence[str] | None) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts or ())
