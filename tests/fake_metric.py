"""An additive metric and tables scored by it, so that tests need no real metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from grammeter.core import MetricScores, Score, ScoreTable, SegmentScores, Statistics
from grammeter.metrics import Metric


@dataclass(frozen=True, kw_only=True)
class Share(Metric):
    """Right words by all words; the statistics are the two counts."""

    name: ClassVar[str] = "share"
    title: ClassVar[str] = "share of right words"
    needs: ClassVar = "nothing"
    citation: ClassVar[str] = ""

    unit: str = "word"

    def statistics(self, segments):
        raise NotImplementedError("tests make the statistics themselves")

    def score(self, statistics):
        sums = self.summands(statistics).sum(axis=0)
        return Score(float(self.value_of(sums)), self.signature(), len(statistics))

    def sentences(self, statistics):
        values = self.value_of(self.summands(statistics))
        return SegmentScores(values, np.full(len(statistics), -1), {})

    def summands(self, statistics):
        return statistics.rows[:, 0, :].astype(float)

    def value_of(self, sums):
        return sums[..., 0] / sums[..., 1]


@dataclass(frozen=True, kw_only=True)
class Errors(Share):
    """The same figure read as a rate of errors."""

    name: ClassVar[str] = "errors"
    higher_is_better: ClassVar[bool] = False


METRICS = {"share": Share(), "errors": Errors()}


def counted(right, words):
    """Make statistics of one reference from counts by segment."""
    rows = np.stack([right, words], axis=-1)[:, None, :]
    return Statistics(rows, np.ones(rows.shape[:2], dtype=bool), (0,), ("right", "words"))


def scored(statistics, metrics=("share",)):
    """Make a table from statistics by system."""
    return ScoreTable(
        tuple(statistics),
        len(next(iter(statistics.values()))),
        {
            name: MetricScores(
                metric=name,
                signature=METRICS[name].signature({"refs": 1}),
                higher_is_better=METRICS[name].higher_is_better,
                scores={s: METRICS[name].score(rows) for s, rows in statistics.items()},
                statistics=statistics,
            )
            for name in metrics
        },
    )


def systems(qualities, *, segments=120, seed=0):
    """Draw statistics of systems, each right in a word with its own probability."""
    random = np.random.default_rng(seed)
    words = random.integers(5, 30, size=segments)
    ease = random.normal(0, 0.1, size=segments)  # shared: what makes pairing worth while
    return {
        name: counted(random.binomial(words, np.clip(quality + ease, 0, 1)), words)
        for name, quality in qualities.items()
    }
