"""How many items a ranking needs: learning curves by subsampling.

A draw is a small campaign: some of the items at hand, whose Expected Wins are held against
those of all of them. Draws grow item by item, so that all sizes look at the same campaigns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grammeter.core import DataError, FloatArray, IntArray, Ranking, Signature, UsageError
from grammeter.ranking import (
    counted,
    expected_wins,
    extract_pairs,
    order_of_units,
    public_shape,
    unit_numbers,
)
from grammeter.stats import chunks, generator, spearman

ROUNDING = 1e-9  # a correlation that misses its target by less has reached it


@dataclass(frozen=True, eq=False)
class Campaigns:
    """Judged items, and draws from them: the first ``k`` are a campaign of ``k`` items."""

    systems: tuple[str, ...]  # in alphabetical order
    wins: FloatArray  # (items, systems * systems): how often the row beat the column
    weights: FloatArray  # (items,): how much each counts in a campaign that has it
    full_weights: FloatArray  # (items,): how much each counts in the full ranking
    drawn: IntArray  # (draws, longest): the numbers of the items
    signature: Signature
    against: FloatArray | None = None  # (systems,): scores such as people's; `None`: of all items
    coefficient: Callable[[FloatArray, FloatArray], FloatArray] = spearman

    @property
    def longest(self) -> int:
        """The most items that a campaign has."""
        return self.drawn.shape[1]

    def correlations(self, size: int) -> FloatArray:
        """Return each campaign's correlation, Spearman's with the full ranking as a rule.

        Shape ``(draws,)``, -1 to 1; 0 where the items tell nothing, so that all systems are
        equal. A system without a decided comparison scores 0.
        """
        items, cells = self.wins.shape
        weighted = self.wins * self.weights[:, None]
        full = self.against
        full = self._scores(self.full_weights @ self.wins) if full is None else full
        sizes = list(chunks(len(self.drawn), max(items, cells, size)))
        parts: list[FloatArray] = []
        for some, drawn in zip(sizes, np.split(self.drawn, np.cumsum(sizes)[:-1]), strict=True):
            rows = drawn[:, :size] + np.arange(some)[:, None] * items
            times = np.bincount(rows.ravel(), minlength=some * items).reshape(some, items)
            parts.append(self.coefficient(self._scores(times @ weighted), full))
        # rounded, so that the order of the systems does not show in the last digits
        return np.round(np.nan_to_num(np.concatenate(parts)), 12)

    def _scores(self, wins: FloatArray) -> FloatArray:
        size = len(self.systems)
        scores = np.nan_to_num(expected_wins(wins.reshape(*wins.shape[:-1], size, size)))
        return np.round(scores, 12)  # equal scores tie, whatever the order of their sums


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """How a ranking settles: its Spearman correlation with the full one, by number of items.

    All have shape ``(sizes,)``: ``sizes``, numbers of items, ascending; ``mean`` over the draws;
    ``low`` and ``high``, the quantiles ``tail`` and ``1 - tail``.
    """

    sizes: IntArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    tail: float
    signature: Signature

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"kind": "learning-curve", ...}``, a list for each column."""
        return public_shape("learning-curve", self)


def draw_campaigns(
    rankings: Sequence[Ranking],
    *,
    draws: int = 1000,
    longest: int | None = None,
    chances: Sequence[float] | None = None,
    weights: Sequence[float] | None = None,
    full_weights: Sequence[float] | None = None,
    seed: int = 1,
) -> Campaigns:
    """Draw campaigns from the items at hand that compare outputs.

    Without ``chances``, each campaign is a part of the data in random order, no item twice: it says
    how much of *these* data would have been enough. With ``chances``, items are drawn with
    replacement, as if the data were all that could be asked: it says what a *new* campaign needs.

    There are so many ``draws``, the ``longest`` of as many items as there are by default. For each
    ranking, ``chances`` say how likely it is to be drawn (in proportion), ``weights`` how much it
    counts then, and ``full_weights`` in the full ranking; default for weights: 1. UsageError or
    DataError if numbers do not fit, or there is nothing to draw from.
    """
    if not (usable := [at for at, ranking in enumerate(rankings) if compares(ranking)]):
        raise DataError("no item compares two outputs", fix="Give judgments of several outputs.")
    longest = len(usable) if longest is None else longest
    if draws < 1 or longest < 1 or seed < 0 or (chances is None and longest > len(usable)):
        fault = f"{draws} draws of {longest} from {len(usable)} items, seed {seed}"
        raise UsageError(fault, fix="Draw fewer, or with chances; a seed is 0 or more.")
    random = generator(seed)
    pairs = extract_pairs([rankings[at] for at in usable])
    order = order_of_units(pairs, unit_numbers(pairs, "ranking"))  # that of no file
    if chances is None:
        drawn = random.permuted(np.tile(order, (draws, 1)), axis=1)[:, :longest]
    else:
        steps = np.cumsum(_chosen(chances, len(rankings), usable)[order])
        share = random.random((draws, longest))
        drawn = order[np.searchsorted(steps / steps[-1], share, side="right")]
    wins, _ = counted(pairs.cells(pairs.ranking, len(usable)), len(pairs.systems))
    settings: dict[str, object] = {"by": "expected-wins", "unit": "item", "items": len(usable)}
    how = "without-replacement" if chances is None else "with-replacement"
    weighted = weights is not None or full_weights is not None
    settings |= {"draws": draws, "drawn": how, "weighted": weighted, "seed": seed}
    return Campaigns(
        systems=pairs.systems,
        wins=wins.reshape(len(usable), -1).astype(np.float64),
        weights=_chosen(weights, len(rankings), usable),
        full_weights=_chosen(full_weights, len(rankings), usable),
        drawn=drawn,
        signature=Signature.of("planning", settings),
    )


def learning_curve(
    campaigns: Campaigns, *, sizes: Sequence[int] | None = None, tail: float = 0.05
) -> LearningCurve:
    """Compute how campaigns agree with the full ranking as they grow.

    ``sizes`` are numbers of items, from 1 to those of the longest campaign; default: about 20, each
    a constant factor above the one before. ``tail``, between 0 and 0.5, is that of the quantiles.
    """
    longest = campaigns.longest
    wanted = np.geomspace(min(5, longest), longest, 20) if sizes is None else sizes
    chosen = np.unique(np.rint(wanted).astype(np.int64))
    if not len(chosen) or chosen[0] < 1 or chosen[-1] > longest or not 0 < tail < 0.5:
        fault = f"sizes {chosen.tolist()} of campaigns of {longest} items, tail {tail}"
        raise UsageError(fault, fix=f"Sizes go from 1 to {longest}, the tail from 0 to 0.5.")
    correlations = np.stack([campaigns.correlations(int(size)) for size in chosen])
    low, high = np.quantile(correlations, [tail, 1 - tail], axis=1)
    signature = campaigns.signature.extended({"tail": tail})
    return LearningCurve(chosen, correlations.mean(axis=1), low, high, tail, signature)


def items_needed(campaigns: Campaigns, *, target: float = 0.95, share: float = 0.95) -> int | None:
    """Return how many items it takes until campaigns agree with the full ranking.

    At least a ``share`` of the campaigns must have a correlation of ``target`` or more; ``None`` if
    the longest campaigns do not agree. Found by bisection, which takes agreement to grow with the
    items; with few draws it may waver by an item or two.
    """

    def enough(size: int) -> bool:
        return bool(np.mean(campaigns.correlations(size) >= target - ROUNDING) >= share)

    too_few, needed = 0, campaigns.longest
    if not enough(needed):
        return None
    while needed - too_few > 1:
        middle = (too_few + needed) // 2
        too_few, needed = (too_few, middle) if enough(middle) else (middle, needed)
    return needed


def _chosen(numbers: Sequence[float] | None, items: int, usable: Sequence[int]) -> FloatArray:
    values = np.ones(items) if numbers is None else np.asarray(numbers, dtype=np.float64)
    if len(values) != items or not (values >= 0).all() or not values[usable].any():
        fix = "Give one for each, none of them negative, and one above 0 at least."
        raise UsageError(f"{len(values)} numbers for {items} rankings", fix=fix)
    return values[usable]


def compares(ranking: Ranking) -> bool:
    """Whether a ranking compares two outputs."""
    return not ranking.skipped and len(ranking.groups) > 1
