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

    ``segments`` and ``statistics`` are those of all its outputs, in the order of the lines; the
    latter ``None`` where they were not counted. ``line`` is the output's position, from 0,
    ``company`` what the other systems wrote for it; ``constants`` is what
    :meth:`grammeter.Metric.constants` gave when the corpus was scored.
    """

    segments: Sequence[Segment]
    line: int
    company: Sequence[str] = ()
    statistics: Statistics | None = None
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])
