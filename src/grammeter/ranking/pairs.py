"""Pairwise comparisons from rankings, the input of every ranking method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal

import numpy as np

from grammeter.core import BoolArray, IntArray, Ranking

Extraction = Literal["expanded", "unexpanded"]
"""``expanded``: all systems behind an output are compared; ``unexpanded``: one for each output."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Comparisons of two systems, column by column.

    Attributes
    ----------
    systems
        Names, in alphabetical order; all other columns hold numbers.
    first, second
        Shape ``(pairs,)``: positions in ``systems``, ``first < second``.
    outcome
        1 if the first system is better, -1 if the second is, 0 for a tie.
    ranking, segment, judge
        Position of the ranking in the data, number of the sentence, and position in ``judges``.
    judges
        Names, in alphabetical order.
    """

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    first: IntArray
    second: IntArray
    outcome: IntArray
    ranking: IntArray
    segment: IntArray
    judge: IntArray

    def __len__(self) -> int:
        return len(self.outcome)

    def select(self, chosen: BoolArray | IntArray) -> Pairs:
        """Return some comparisons; the names of systems and judges stay."""
        columns = (self.first, self.second, self.outcome, self.ranking, self.segment, self.judge)
        return Pairs(self.systems, self.judges, *(column[chosen] for column in columns))

    def counts(self, weights: IntArray | None = None) -> tuple[IntArray, IntArray]:
        """Count comparisons, each ``weights`` times.

        Returns
        -------
        wins, ties
            Shape ``(systems, systems)``: how often the row beat the column; how often they
            tied (symmetric).
        """
        size = len(self.systems)
        times = np.ones(len(self), dtype=np.int64) if weights is None else weights
        wins, ties = (np.zeros((size, size), dtype=np.int64) for _ in range(2))
        won, lost = self.outcome > 0, self.outcome < 0
        np.add.at(wins, (self.first[won], self.second[won]), times[won])
        np.add.at(wins, (self.second[lost], self.first[lost]), times[lost])
        tied = self.outcome == 0
        np.add.at(ties, (self.first[tied], self.second[tied]), times[tied])
        return wins, ties + ties.T


def extract_pairs(rankings: Sequence[Ranking], *, extraction: Extraction = "expanded") -> Pairs:
    """Compare the systems of each ranking two by two.

    Systems behind one output tie. In ``unexpanded`` extraction the alphabetically first system
    stands for its group. Skipped rankings give nothing.
    """
    systems = tuple(sorted({name for ranking in rankings for name in ranking.systems}))
    judges = tuple(sorted({ranking.judge for ranking in rankings}))
    place = {name: number for number, name in enumerate(systems)}
    who = {name: number for number, name in enumerate(judges)}
    rows: list[tuple[int, int, int, int, int, int]] = []
    for number, ranking in enumerate(rankings):
        tail = (number, ranking.segment, who[ranking.judge])
        for first, second, outcome in _compared(ranking, extraction):
            a, b = place[first], place[second]
            rows.append((a, b, outcome, *tail) if a < b else (b, a, -outcome, *tail))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 6).T
    return Pairs(systems, judges, *columns)


def _compared(ranking: Ranking, extraction: Extraction) -> list[tuple[str, str, int]]:
    if extraction == "unexpanded":
        groups: list[tuple[str, ...]] = [(min(group),) for group in ranking.groups]
    else:
        groups = list(ranking.groups)
    compared = [(a, b, 0) for group in groups for a, b in combinations(group, 2)]
    ranked = list(zip(groups, ranking.ranks, strict=False))  # a skipped ranking has no ranks
    for (group, rank), (other, worse) in combinations(ranked, 2):
        outcome = (worse > rank) - (worse < rank)
        compared += [(a, b, outcome) for a, b in product(group, other)]
    return compared if not ranking.skipped else []
