"""Explanations: why one output of one sentence got its score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from grammeter.core.edit import Edit
from grammeter.core.score import json_number

Verdict = Literal["matched", "spurious", "missed"]
"""An edit the references agree with; one they do not; one that the system did not make."""


@dataclass(frozen=True, slots=True)
class JudgedEdit:
    """An edit, the source tokens it replaces, what the metric says of it, and what it weighs."""

    edit: Edit
    original: str
    verdict: Verdict
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """A small table of an explanation: counts by order, an alignment, sums by reference."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _no_parts() -> Mapping[str, float]:
    return {}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a sentence got its score.

    Attributes
    ----------
    value
        The sentence score, in the metric's units.
    parts
        Further figures by name.
    chosen
        Number of the reference or annotator that the score belongs to, if to one.
    edits
        The system's edits and the missed ones, in the order of the sentence.
    grids
        Whatever else shows how the score came about.
    reason
        Why the value is NaN.
    """

    value: float
    parts: Mapping[str, float] = field(default_factory=_no_parts)
    chosen: int | None = None
    edits: tuple[JudgedEdit, ...] = ()
    grids: tuple[Grid, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SentenceExplanation:
    """One output of one system, and what each metric says of it.

    Attributes
    ----------
    system, line
        Whose output; the number of the sentence, from 1.
    source, hypothesis, references
        The texts; ``None`` for a reference that the sentence lacks.
    metrics
        An :class:`Explanation` by the metric's spelling.
    """

    system: str
    line: int
    source: str
    hypothesis: str
    references: tuple[str | None, ...]
    metrics: Mapping[str, Explanation]

    def to_json(self) -> dict[str, Any]:
        """Return ``{"kind": "explanation", ...}`` with all that is known."""
        return {
            "kind": "explanation",
            "system": self.system,
            "line": self.line,
            "source": self.source,
            "hypothesis": self.hypothesis,
            "references": list(self.references),
            "metrics": {name: _to_json(each) for name, each in self.metrics.items()},
        }


def _to_json(explanation: Explanation) -> dict[str, Any]:
    value = json_number(explanation.value)
    return {
        "value": value,
        **({"reason": explanation.reason or "undefined"} if value is None else {}),
        "parts": {name: json_number(value) for name, value in explanation.parts.items()},
        "reference": explanation.chosen,
        "edits": [
            {
                "start": judged.edit.start,
                "end": judged.edit.end,
                "original": judged.original,
                "corrections": list(judged.edit.corrections),
                "type": judged.edit.type,
                "verdict": judged.verdict,
                **({} if judged.weight is None else {"weight": json_number(judged.weight)}),
            }
            for judged in explanation.edits
        ],
        "tables": [
            {"title": grid.title, "columns": list(grid.columns), "rows": [*map(list, grid.rows)]}
            for grid in explanation.grids
        ],
    }
