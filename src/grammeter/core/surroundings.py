"""What a sentence was scored with: the other sentences of its system, the other systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grammeter.core.segment import Segment
from grammeter.core.statistics import Statistics


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The corpus that one output of one system was scored with.

    Attributes
    ----------
    segments
        All outputs of the system, in the order of the lines.
    line
        Position of the output among them, from 0.
    company
        What the other systems wrote for this line.
    statistics
        The rows of all outputs of the system; ``None`` where they were not counted.
    constants
        What :meth:`grammeter.Metric.constants` gave when the corpus was scored.
    """

    segments: Sequence[Segment]
    line: int
    company: Sequence[str] = ()
    statistics: Statistics | None = None
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])
