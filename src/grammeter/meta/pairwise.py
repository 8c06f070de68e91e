"""Pairwise accuracy: how often a metric prefers the system that people prefer.

Kocmi et al. 2021 ("To Ship or Not to Ship", WMT), section 4; used by the WMT metrics tasks since.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from grammeter.core import FloatArray, json_number


@dataclass(frozen=True, slots=True)
class PairwiseAccuracy:
    """How many pairs of systems a metric orders as people do.

    Attributes
    ----------
    correct, pairs
        ``pairs`` are those to which people give different scores; ``correct`` of them the metric
        orders alike. The value is their ratio, NaN without a pair.
    metric_ties
        Pairs, of ``pairs``, to which the metric gives equal scores: they are not correct.
    human_ties
        Pairs that people tie: they do not count.
    """

    correct: int
    pairs: int
    metric_ties: int
    human_ties: int
    reason: str | None = None

    @property
    def value(self) -> float:
        """Correct pairs by all that people decide; 0 to 1."""
        return self.correct / self.pairs if self.pairs and self.reason is None else math.nan

    def to_json(self) -> dict[str, Any]:
        """Return plain values; a NaN is ``None`` with a reason."""
        data: dict[str, Any] = {
            "value": json_number(self.value),
            "correct": self.correct,
            "n": self.pairs,
            "ties": {"metric": self.metric_ties, "human": self.human_ties},
        }
        return data | ({"reason": self.reason} if self.reason else {})


def pairwise_accuracy(scores: FloatArray, human: FloatArray) -> PairwiseAccuracy:
    """Compare every two systems.

    Parameters
    ----------
    scores, human
        Shape ``(systems,)``; higher is better on both sides.
    """
    if not np.isfinite(scores).all():
        return PairwiseAccuracy(0, 0, 0, 0, "a system has no score")
    first, second = np.triu_indices(len(human), 1)
    ours, theirs = (np.sign(side[first] - side[second]) for side in (scores, human))
    decided = theirs != 0
    reason = None if decided.any() else "people give all systems the same score"
    return PairwiseAccuracy(
        int((ours == theirs)[decided].sum()),
        int(decided.sum()),
        int((ours == 0)[decided].sum()),
        int((~decided).sum()),
        reason,
    )
