"""Metrics as rewards: functions of the shape that TRL's trainers call."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from grammeter import core, metrics, scoring

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
        self, metric: str | metrics.Metric | scoring.Scorer,
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
            (at, _text(source), _text(completion), texts)
            for at, (source, completion, reference) in enumerate(whole)
            if source is not None and completion is not None
            if (texts := _texts(reference)) or self._reference is None
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


def _text(completion: Completion) -> str:
    if not isinstance(completion, str):
        content: object = completion[-1].get("content") if completion else ""
        if isinstance(content, list):
            parts = cast("list[Mapping[str, object]]", content)
            content = " ".join(str(part.get("text") or "") for part in parts)
        completion = str(content or "")
    return " ".join(completion.split())


def _texts(cell: object) -> tuple[str, ...]:
    """Return the references of a row; ``None`` and NaN stand for none."""
    if isinstance(cell, str):
        return (_text(cell),)
    if cell is None or isinstance(cell, float):
        return ()
    texts = cast("Iterable[str | None]", cell)
    return tuple(_text(text) for text in texts if text is not None)
