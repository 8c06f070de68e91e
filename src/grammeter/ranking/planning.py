"""How many items a ranking needs: learning curves by subsampling, and what a pair of systems takes.

A draw is a small campaign: some of the rankings at hand, whose Expected Wins are held against
those of all rankings. Draws grow item by item, so that all sizes look at the same campaigns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grammeter.core.errors import DataError, UsageError
from grammeter.core.judgment import Ranking
from grammeter.core.signature import Signature
from grammeter.core.statistics import FloatArray, IntArray
from grammeter.ranking.pairs import extract_pairs
from grammeter.stats.resample import chunks, generator


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """How a ranking settles: its Spearman correlation with the full one, by number of items.

    Attributes
    ----------
    sizes
        Shape ``(sizes,)``: numbers of items, ascending.
    mean, low, high
        Shape ``(sizes,)``: the mean over the draws and the quantiles of ``tail`` and
        ``1 - tail``; -1 to 1.
    tail
        The share of draws below ``low``.
    items
        How many items the full ranking has.
    signature
        What the figures depend on.
    """

    sizes: IntArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    tail: float
    items: int
    signature: Signature

    def to_json(self) -> dict[str, Any]:
        """Return ``{"kind": "learning-curve", ...}``."""
        return {
            "kind": "learning-curve",
            "signature": str(self.signature),
            "items": self.items,
            "tail": self.tail,
            "sizes": self.sizes.tolist(),
            "mean": self.mean.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Campaigns:
    """Rankings, and draws from them, whose first ``k`` make a campaign of ``k`` items.

    Attributes
    ----------
    systems
        Names, in alphabetical order.
    wins
        Shape ``(items, systems * systems)``: how often the row beat the column in each item.
    weights
        Shape ``(items,)``: how much each item counts in a ranking of drawn items.
    drawn
        Shape ``(draws, longest)``: numbers of items.
    """

    systems: tuple[str, ...]
    wins: FloatArray
    weights: FloatArray
    drawn: IntArray

    @property
    def longest(self) -> int:
        """The most items that a campaign has."""
        return self.drawn.shape[1]

    def correlations(self, size: int) -> FloatArray:
        """Return each campaign's Spearman correlation with the full ranking, shape ``(draws,)``.

        0 where the items tell nothing, so that all systems are equal.
        """
        items, cells = self.wins.shape
        weighted = self.wins * self.weights[:, None]
        full = self._scores(self.wins.sum(axis=0)[None])[0]
        found: list[FloatArray] = []
        start = 0
        for some in chunks(len(self.drawn), max(items, cells)):
            rows = self.drawn[start : start + some, :size] + np.arange(some)[:, None] * items
            times = np.bincount(rows.ravel(), minlength=some * items).reshape(some, items)
            found.append(spearman(self._scores(times @ weighted), full))
            start += some
        return np.concatenate(found)

    def _scores(self, wins: FloatArray) -> FloatArray:
        size = len(self.systems)
        return expected_wins(wins.reshape(-1, size, size))
