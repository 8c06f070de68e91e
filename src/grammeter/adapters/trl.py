"""Metrics as rewards: functions of the shape that TRL's trainers call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from grammeter.core import UsageError
from grammeter.metrics import Metric
from grammeter.scoring import Scorer

Completion = str | Sequence[Mapping[str, Any]]
"""A text, or a conversation of which the last message counts."""


class Reward:
    """A reward function ``f(prompts, completions, **columns) -> [float | None]``.

    ``None`` where it does not apply: the row has no source, no completion or no reference where one
    is needed, the metric no score. TRL then leaves the row to the other rewards.

    Parameters
    ----------
    metric
        A spelling, a metric, or a :class:`~grammeter.scoring.scorer.Scorer` of one metric.
    source
        The column of the data set that holds the source sentence; ``None``: the prompt is it.
    reference
        The column of the reference, a text or a list of them, if the metric needs one.
    scale
        What scores are multiplied by: negative for a metric where less is better.

    Raises
    ------
    UsageError
        If the metric is unknown, or the scorer has several.
    """

    def __init__(
        self,
        metric: str | Metric | Scorer,
        *,
        source: str | None = "source",
        reference: str | None = None,
        scale: float = 1.0,
    ) -> None:
        self._scorer = metric if isinstance(metric, Scorer) else Scorer([metric])
        if len(self._scorer.metrics) != 1:
            raise UsageError("a reward is one number", fix="Give a scorer of one metric.")
        self._source, self._reference, self._scale = source, reference, scale
        self.__name__: str = f"grammeter_{self._scorer.metrics[0].name}"

    def __call__(
        self,
        prompts: Sequence[Completion] = (),
        completions: Sequence[Completion | None] = (),
        **columns: Any,
    ) -> list[float | None]:
        """Return a reward for each completion.

        Raises
        ------
        UsageError
            If the data set lacks a column that was named, or columns differ in length.
        """
        sources = self._column(self._source, columns, prompts)
        references = self._column(self._reference, columns, [()] * len(completions))
        if not len(sources) == len(completions) == len(references):
            raise UsageError(
                f"{len(completions)} completions, {len(sources)} sources,"
                f" {len(references)} references",
                fix="Give one of each for every completion.",
            )
        rows = [
            (at, _text(source), _text(completion), _texts(reference))
            for at, (source, completion, reference) in enumerate(
                zip(sources, completions, references, strict=True)
            )
            if source is not None and completion is not None and self._refers(reference)
        ]
        rewards: list[float | None] = [None] * len(completions)
        if rows:
            places, own, written, held = zip(*rows, strict=True)
            given = held if self._reference else None
            (values,) = self._scorer(own, written, given).values()
            for at, value in zip(places, values, strict=True):
                rewards[at] = None if value is None else value * self._scale
        return rewards

    def _refers(self, reference: object) -> bool:
        """Whether a row has the reference that it needs, if it needs one."""
        return self._reference is None or bool(_texts(reference))

    def _column(
        self, name: str | None, columns: Mapping[str, Any], default: Sequence[Any]
    ) -> Sequence[Any]:
        if name is None:
            return default
        if name not in columns:
            there = ", ".join(sorted(columns)) or "none"
            raise UsageError(
                f"the data set has no column {name!r}; there are: {there}",
                fix="Name the column when the reward is made.",
            )
        return columns[name]


def _text(given: Completion) -> str:
    """Return the words of a text or of the last message, on one line."""
    if not isinstance(given, str):
        given = _content(given[-1].get("content")) if given else ""
    return " ".join(given.split())


def _content(content: object) -> str:
    """Return what a message says: a text, or the texts of its parts."""
    if isinstance(content, list):
        parts = cast("list[Mapping[str, object]]", content)
        return " ".join(str(part.get("text") or "") for part in parts)
    return str(content or "")


def _texts(given: object) -> tuple[str, ...]:
    """Return the references of a row; what is missing, ``None`` or NaN, is none."""
    if isinstance(given, str):
        return (_text(given),)
    if given is None or isinstance(given, float):
        return ()
    held = cast("Iterable[str | None]", given)
    return tuple(_text(text) for text in held if text is not None)
