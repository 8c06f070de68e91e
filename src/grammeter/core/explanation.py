"""Explanations: why one output of one sentence got its score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from grammeter.core.edit import Edit

Verdict = Literal["matched", "spurious", "missed"]
"""An edit the references agree with; one they do not; one that the system did not make."""


@dataclass(frozen=True, slots=True)
class JudgedEdit:
    """An edit, the source tokens it replaces, and what the metric says of it."""

    edit: Edit
    original: str
    verdict: Verdict


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
    """

    value: float
    parts: Mapping[str, float] = field(default_factory=_no_parts)
    chosen: int | None = None
    edits: tuple[JudgedEdit, ...] = ()
    grids: tuple[Grid, ...] = ()
