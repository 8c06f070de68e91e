"""Scores: a value, its parts, and where it comes from; F-measures from counts by one division.

F is ``(1 + beta**2) * correct / (beta**2 * gold + proposed)``. With ``beta**2`` as a fraction of
whole numbers, both sides of the division are whole, and the quotient is the number nearest to
the true value: equal fractions are equal numbers. Precision and recall, each rounded before, would
lead to neighbours of it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

from grammeter.core.signature import Signature

FINEST = 10**6
"""The greatest denominator of a beta that is taken as a fraction: ``0.3`` is 3/10."""


@cache
def beta_weights(beta: float) -> tuple[float, float]:
    """Return what recall and precision weigh: whole numbers whose ratio is ``beta**2``.

    A beta that is no fraction with a denominator of :data:`FINEST` at most gives ``beta**2, 1``.
    """
    simple = Fraction(beta).limit_denominator(FINEST)
    if float(simple) != beta:
        return beta * beta, 1.0
    return float(simple.numerator**2), float(simple.denominator**2)


def f_fraction(correct: Any, proposed: Any, gold: Any, beta: float) -> tuple[Any, Any]:
    """Return what F divides by what: numbers, or arrays of one shape.

    ``correct``, ``proposed`` and ``gold`` are counts or weights, ``beta`` the weight of recall.
    Where ``gold`` is 0 and ``correct`` is not, recall is 1 if ``correct`` is given in its place.
    """
    recall, precision = beta_weights(beta)
    return (recall + precision) * correct, recall * gold + precision * proposed


def f_measure(correct: float, proposed: float, gold: float, beta: float) -> float:
    """Return F: 1 where nothing is proposed and nothing is to be found, else 0 without a hit."""
    found = gold or correct
    above, below = f_fraction(correct, proposed, found, beta)
    return above / below if below else float(not found)  # with beta 0 what is missed has no weight


@dataclass(frozen=True, slots=True)
class Counts:
    """True positives, false positives and false negatives; weights are allowed."""

    tp: float
    fp: float
    fn: float

    @property
    def precision(self) -> float:
        """``tp / (tp + fp)``; 1 where nothing was proposed."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 1.0

    @property
    def recall(self) -> float:
        """``tp / (tp + fn)``; 1 where there was nothing to find."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 1.0

    def f(self, beta: float) -> float:
        """F-measure; recall weighs ``beta`` times as much as precision, 0 where undefined.

        Counts with equal F as fractions have equal F as numbers.
        """
        return f_measure(self.tp, self.tp + self.fp, self.tp + self.fn, beta)

    def parts(self) -> dict[str, float]:
        """``precision recall tp fp fn``, as promised for edit-based metrics."""
        shares = {"precision": self.precision, "recall": self.recall}
        return shares | {"tp": self.tp, "fp": self.fp, "fn": self.fn}


@dataclass(frozen=True)
class Score:
    """What one metric says of one system.

    ``value`` is in the metric's own units (0 to 1 for an F-score), NaN with a ``reason`` if there
    is none; ``parts`` are further figures by name, ``n`` the number of segments; ``signature`` is
    everything that the value depends on.
    """

    value: float
    signature: Signature
    n: int
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    reason: str | None = None

    def __float__(self) -> float:
        return self.value

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"value": ..., "parts": {...}}``; NaN becomes ``null`` with a reason."""
        data: dict[str, Any] = {"value": json_number(self.value)}
        if data["value"] is None:
            data["reason"] = self.reason or "undefined"
        data["parts"] = {name: json_number(value) for name, value in self.parts.items()}
        return data


def json_number(value: float) -> float | int | None:
    """Return a number that JSON can hold: whole counts as integers, NaN as ``None``."""
    if isinstance(value, int):
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else None


def read_number(value: object) -> float:
    """Read what :func:`json_number` returned, ``None`` as NaN; :class:`ValueError` for others."""
    if isinstance(value, int | float):
        float(value)  # fails for what no float can hold
        return value
    if value is None:
        return float("nan")
    raise ValueError(f"{value!r} is no number")
