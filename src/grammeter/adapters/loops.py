"""Metrics in other people's loops: as rewards of TRL's trainers, as modules of ``evaluate``."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from grammeter import core, scoring
from grammeter.metrics import Metric
from grammeter.scoring import References, Texts

Completion = str | Sequence[Mapping[str, Any]]
"""A text, or a conversation of which the last message counts."""


class Reward:
    """A reward function ``f(prompts, completions, **columns) -> [float | None]``.

    A reward is ``None`` where the row lacks a source, a completion or the reference it needs, or
    where the metric has no score. TRL then leaves the row to the other rewards. Raises
    :class:`UsageError` if the metric is unknown, or the scorer has several.

    ``metric`` is a spelling, a metric, or a :class:`~grammeter.scoring.scorer.Scorer` of one
    metric. ``source`` is the column of the data set with the source sentence, with ``None`` the
    prompt; ``reference`` that of the reference, a text or a list of them, if the metric needs one.
    ``scale`` is a factor of the scores: negative for a metric where less is better.
    """

    def __init__(
        self, metric: str | Metric | scoring.Scorer,
        *, source: str | None = "source", reference: str | None = None, scale: float = 1.0,
    ) -> None:  # fmt: skip
        self._scorer = metric if isinstance(metric, scoring.Scorer) else scoring.Scorer([metric])
        if len(self._scorer.metrics) != 1:
            raise core.UsageError("a reward is one number", fix="Give a scorer of one metric.")
        self._source, self._reference, self._scale = source, reference, scale
        self.__name__: str = f"grammeter_{self._scorer.metrics[0].name}"

    def __call__(
        self, prompts: Sequence[Completion] = (), completions: Sequence[Completion | None] = (),
        **columns: Any,
    ) -> list[float | None]:  # fmt: skip
        """Return rewards; :class:`UsageError` if a named column is absent or lengths differ."""
        sources = self._column(self._source, columns, prompts)
        references = self._column(self._reference, columns, [()] * len(completions))
        if not len(sources) == len(completions) == len(references):
            fault = f"{len(completions)} completions, {len(sources)} sources,"
            fault += f" {len(references)} references"
            raise core.UsageError(fault, fix="Give one of each for every completion.")
        whole = zip(sources, completions, references, strict=True)
        rows = [
            (at, text_of(source), text_of(completion), texts)
            for at, (source, completion, reference) in enumerate(whole)
            if source is not None and completion is not None
            if (texts := texts_of(reference)) or self._reference is None
        ]
        rewards: list[float | None] = [None] * len(completions)
        if rows:
            places, row_sources, texts, row_references = zip(*rows, strict=True)
            needed = row_references if self._reference else None
            (values,) = self._scorer(row_sources, texts, needed).values()
            for at, value in zip(places, values, strict=True):
                rewards[at] = None if value is None else value * self._scale
        return rewards

    def _column(
        self, name: str | None, columns: Mapping[str, Any], default: Sequence[Any]
    ) -> Sequence[Any]:
        if name is None:
            return default
        if name not in columns:
            there = ", ".join(sorted(columns)) or "none"
            fault = f"the data set has no column {name!r}; there are: {there}"
            raise core.UsageError(fault, fix="Name the column when the reward is made.")
        return columns[name]


def text_of(completion: Completion) -> str:
    """Return a completion as one line."""
    if not isinstance(completion, str):
        content: object = completion[-1].get("content") if completion else ""
        if isinstance(content, list):
            parts = cast("list[Mapping[str, object]]", content)
            content = " ".join(str(part.get("text") or "") for part in parts)
        completion = str(content or "")
    return " ".join(completion.split())


def texts_of(cell: object) -> tuple[str, ...]:
    """Return the references of a row; ``None`` and NaN stand for none."""
    if isinstance(cell, str):
        return (text_of(cell),)
    if cell is None or isinstance(cell, float):
        return ()
    texts = cast("Iterable[str | None]", cell)
    return tuple(text_of(text) for text in texts if text is not None)


class Evaluate:
    """Computes metrics as an ``evaluate`` module does; that package is not needed.

    ``metrics`` are spellings or metrics; or there is a ``scorer`` whose models are loaded already.
    ::

        Evaluate("gleu").compute(predictions=[...], references=[[...], ...], sources=[...])
    """

    def __init__(self, *metrics: str | Metric, scorer: scoring.Scorer | None = None) -> None:
        if bool(metrics) == bool(scorer):
            raise core.UsageError("metrics or a scorer", fix="Give one of the two.")
        self._scorer = scorer or scoring.Scorer(metrics)
        self._rows: list[core.Segment] = []

    def add(self, *, prediction: str, source: str, reference: str | Texts | None = None) -> None:
        """Add one sentence to those of the next :meth:`compute`."""
        self.add_batch(predictions=[prediction], sources=[source], references=[reference])

    @core.checked
    def add_batch(
        self, *, predictions: Texts, sources: Texts, references: References | None = None
    ) -> None:
        """Add lists to the next :meth:`compute`; LengthMismatchError, UsageError: a text, None."""
        self._rows += scoring.segments_of(sources, predictions, references)

    def compute(
        self, *, predictions: Texts | None = None, sources: Texts | None = None,
        references: References | None = None,
    ) -> dict[str, float]:  # fmt: skip
        """Score all sentences added, and those of the arguments, as one corpus; then drop them.

        ``predictions``, ``sources``: one text for each sentence. ``references``: for each sentence
        a text or a list of texts: ``[sentences][references]``, not sacrebleu's
        ``[references][sentences]``. Returns the score under the metric's spelling, its parts as
        ``spelling.part``; NaN where there is none. Raises :class:`UsageError` if predictions or
        sources are missing, or a metric lacks references; :class:`LengthMismatchError`.
        """
        if predictions is not None or sources is not None or references is not None:
            lists: Any = {"predictions": predictions, "sources": sources}
            self.add_batch(**lists, references=references)
        if not self._rows:
            raise core.UsageError("nothing to score", fix="Give predictions and sources.")
        rows, self._rows = self._rows, []
        corpus_scores = self._scorer.scored(rows)
        scores: dict[str, float] = {}
        for name, score in corpus_scores.items():
            scores[name] = score.value
            scores |= {f"{name}.{part}": value for part, value in score.parts.items()}
        return scores
