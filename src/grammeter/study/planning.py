"""How many items a ranking needs: learning curves by subsampling, and neighbours told apart.

A draw is a small campaign: some of the items at hand, whose Expected Wins are held against
those of all of them. Draws grow item by item, so that all sizes look at the same campaigns.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np

from grammeter import core, stats
from grammeter import ranking as ranks

ROUNDING = 1e-9  # a correlation that misses its target by less has reached it


@dataclass(frozen=True, eq=False)
class Campaigns:
    """Judged items, and draws from them: the first ``k`` are a campaign of ``k`` items."""

    systems: tuple[str, ...]  # in alphabetical order
    wins: core.FloatArray  # (items, systems * systems): how often the row beat the column
    drawn: core.IntArray  # (draws, longest): the numbers of the items
    against: core.FloatArray  # (systems,): scores by all items, or people's
    signature: core.Signature
    coefficient: Callable[[core.FloatArray, core.FloatArray], core.FloatArray] = stats.spearman

    @property
    def longest(self) -> int:
        """The most items that a campaign has."""
        return self.drawn.shape[1]

    def correlations(self, size: int) -> core.FloatArray:
        """Return each campaign's correlation, Spearman's with the full ranking as a rule.

        Shape ``(draws,)``, -1 to 1; 0 where the items tell nothing, so that all systems are
        equal. A system without a decided comparison scores 0.
        """
        items, cells = self.wins.shape
        sizes = list(stats.chunks(len(self.drawn), max(items, cells, size)))
        parts: list[core.FloatArray] = []
        for some, drawn in zip(sizes, np.split(self.drawn, np.cumsum(sizes)[:-1]), strict=True):
            rows = drawn[:, :size] + np.arange(some)[:, None] * items
            times = np.bincount(rows.ravel(), minlength=some * items).reshape(some, items)
            scores = _scores(times @ self.wins, len(self.systems))
            parts.append(self.coefficient(scores, self.against))
        # rounded, so that the order of the systems does not show in the last digits
        return np.round(np.nan_to_num(np.concatenate(parts)), 12)


def _scores(wins: core.FloatArray, systems: int) -> core.FloatArray:
    scores = np.nan_to_num(ranks.expected_wins(wins.reshape(*wins.shape[:-1], systems, systems)))
    return np.round(scores, 12)  # equal scores tie, whatever the order of their sums


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """How a ranking settles: its Spearman correlation with the full one, by number of items.

    All have shape ``(sizes,)``: ``sizes``, numbers of items, ascending; ``mean`` over the draws;
    ``low`` and ``high``, the quantiles ``tail`` and ``1 - tail``.
    """

    sizes: core.IntArray
    mean: core.FloatArray
    low: core.FloatArray
    high: core.FloatArray
    tail: float
    signature: core.Signature

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"kind": "learning-curve", ...}``, a list for each column."""
        return core.public_shape("learning-curve", self)


def draw_campaigns(
    rankings: Sequence[core.Ranking], *, draws: int = 1000, anew: bool = False, seed: int = 1
) -> Campaigns:
    """Draw so many campaigns, as long as there are items at hand that compare outputs.

    Each is all of them in random order, no item twice: it says how much of *these* data would have
    been enough. ``anew``: items are drawn with replacement, as if the data were all that could be
    asked: it says what a *new* campaign needs. UsageError if ``draws`` is below 1 or ``seed`` below
    0, DataError if there is nothing to draw from.
    """
    usable = [ranking for ranking in rankings if compares(ranking)]
    if not usable:
        fix = "Give judgments of several outputs."
        raise core.DataError("no item compares two outputs", fix=fix)
    if draws < 1 or seed < 0:
        raise core.UsageError(
            f"{draws} draws, seed {seed}", fix="Draw once or more; seed 0 or more."
        )
    random, items = stats.generator(seed), len(usable)
    pairs = ranks.extract_pairs(usable)
    order = ranks.order_of_units(pairs, ranks.unit_numbers(pairs, "ranking"))  # that of no file
    if anew:
        drawn = order[(random.random((draws, items)) * items).astype(np.int64)]
    else:
        drawn = random.permuted(np.tile(order, (draws, 1)), axis=1)
    wins, _ = ranks.counted(pairs.cells(pairs.ranking, items), len(pairs.systems))
    wins = wins.reshape(items, -1).astype(np.float64)
    settings: dict[str, object] = {"by": "expected-wins", "unit": "item", "items": items}
    how = "with-replacement" if anew else "without-replacement"
    signature = core.Signature.of(
        "planning", settings | {"draws": draws, "drawn": how, "seed": seed}
    )
    against = _scores(wins.sum(axis=0), len(pairs.systems))
    return Campaigns(pairs.systems, wins, drawn, against, signature)


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
        raise core.UsageError(fault, fix=f"Sizes go from 1 to {longest}, the tail from 0 to 0.5.")
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


def compares(judged: core.Ranking) -> bool:
    """Whether a ranking compares two outputs."""
    return not judged.skipped and len(judged.groups) > 1


_NOTE = (
    "draws are parts of these judgments, so with all items they agree with the full ranking however"
    " few there are; a new campaign needs more items"
)


LEVEL, POWER = 0.05, 0.8  # of the two-sided sign test that is planned for


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation(core.Plain):
    """The comparisons of two systems, and how many more separate them.

    ``wins``, ``losses`` and ``ties`` are the first one's, of all comparisons of the two; ``items``
    were judged in all; ``share`` is its share of the decided comparisons, NaN for a ``reason``.
    ``design_effect``, 1 or more, is by how much the variance of the share exceeds that of
    independent comparisons, because several judges saw one sentence. ``decided_needed``:
    :func:`decided_needed` at this share; ``items_needed`` like those at hand, these included, and
    ``items_to_go``, still to be judged; ``None``: never.
    """

    first: str
    second: str
    wins: int
    losses: int
    ties: int
    items: int
    share: float
    design_effect: float
    decided_needed: int | None
    items_needed: int | None
    items_to_go: int | None
    reason: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Outlook(core.Result):
    """How the ranking by Expected Wins settles: its curve, and :func:`items_needed`.

    ``separations`` say what it takes to tell each system and the next one of the ranking apart.
    """

    curve: LearningCurve
    items_needed: int | None
    separations: tuple[Separation, ...]
    notes: tuple[str, ...] = ()

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return the curve, then, for people, what it takes to tell neighbours apart."""
        return [self._curve()] if long else [self._curve(), self._separations()]

    def figures(self) -> Mapping[str, core.Figure]:
        """Return the curve."""
        curve = self.curve
        columns = {name: getattr(curve, name).tolist() for name in ("sizes", "mean", "low", "high")}
        return {"curve": core.Figure("learning_curve", {**columns, "tail": curve.tail})}

    def _curve(self) -> core.Table:
        curve, needed = self.curve, self.items_needed
        needs = "more items than there are" if needed is None else f"{needed} items"
        notes = (
            "Spearman correlation with the ranking by all items",
            f"a correlation of .95 in 95% of the draws takes {needs}",
            str(curve.signature),
        )
        heads = ("mean", f"{curve.tail:.0%}", f"{1 - curve.tail:.0%}")
        columns = (core.Column("items", "count"), *core.Column.many("number", *heads, tsv=4))
        figures = (x.tolist() for x in (curve.sizes, curve.mean, curve.low, curve.high))
        return core.Table.of(columns, list(zip(*figures, strict=True)), notes)

    def _separations(self) -> core.Table:
        rows = [
            (of.first, of.second, of.share, of.wins + of.losses,
             "never" if of.items_needed is None else of.items_needed, of.items_to_go)
            for of in self.separations
        ]  # fmt: skip
        counts = core.Column.many("count", "decided", "items needed", "to go")
        test = f"sign test (level {LEVEL:g}, power {POWER:g})"
        notes = (f"items until the {test} separates two systems",) if rows else ()
        columns = ("first", "second", core.Column("share", "score"), *counts)
        return core.Table.of(columns, rows, notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: that of the curve, and the rest beside it."""
        rows = [separation.to_dict() for separation in self.separations]
        rest = {"items_needed": self.items_needed, "separations": rows, "notes": [*self.notes]}
        return self.curve.to_dict() | rest


def outlook(selection: ranks.Selection, *, resamples: int = 1000, seed: int = 1) -> Outlook:
    """Compute the curve of so many drawn campaigns, and what neighbours in the ranking need."""
    campaigns = draw_campaigns(selection.rankings, draws=resamples, seed=seed)
    resampling = ranks.Resampling(runs=resamples, seed=seed)
    order = tuple(ranks.rank_systems(selection, ranks.ExpectedWins(), resampling=resampling))
    apart, notes = separations(selection.rankings, order), (*selection.notes, _NOTE)
    curve, needed = learning_curve(campaigns), items_needed(campaigns)
    return Outlook(curve, needed, apart, notes)


def separations(rankings: Sequence[core.Ranking], systems: Sequence[str]) -> tuple[Separation, ...]:
    """Plan for each system and the next one, in the given order: that of a ranking, say.

    See :func:`decided_needed` for the formula. What it adds is taken from the data: how many
    comparisons of the two an item brings, how many of them are decided, and the design effect
    (the variance of the share with sentences as units over that of independent comparisons).

    Skipped rankings and those of a single output are passed over. A system that was not judged, or
    comes twice, is an error.
    """
    if len(set(systems)) != len(systems):
        raise core.UsageError(f"a system comes twice: {', '.join(systems)}", fix="Name each once.")
    judged = [ranking for ranking in rankings if compares(ranking)]
    pairs = ranks.extract_pairs(judged)
    for name in systems:
        core.UnknownNameError.check("judged system", name, pairs.systems)

    def separation(first: str, second: str) -> Separation:
        low, high = sorted(map(pairs.systems.index, (first, second)))
        both = pairs.select((pairs.first == low) & (pairs.second == high))
        outcome = both.outcome if first < second else -both.outcome
        wins, losses = int((outcome > 0).sum()), int((outcome < 0).sum())
        decided, items = wins + losses, len(judged)
        share = wins / decided if decided else math.nan
        alone, effect = decided_needed(share), _design_effect(outcome, both.segment)
        needed = None if alone is None else math.ceil(alone * effect / (decided / items))
        return Separation(
            first=first, second=second, wins=wins, losses=losses, ties=len(both) - decided,
            items=items, share=share, design_effect=effect, decided_needed=alone,
            items_needed=needed, items_to_go=None if needed is None else max(0, needed - items),
            reason=None if decided else "no decided comparison",
        )  # fmt: skip

    return tuple(separation(first, second) for first, second in pairwise(systems))


def decided_needed(share: float) -> int | None:
    """Return how many decided comparisons separate two systems by the two-sided sign test.

    With ``p`` the share and ``z`` quantiles of the normal distribution, ::

        m = ((z(1 - LEVEL / 2) / 2 + z(POWER) * sqrt(p * (1 - p))) / |p - 1/2|) ** 2
        n = m / 4 * (1 + sqrt(1 + 2 / (m * |p - 1/2|))) ** 2

    the second line being the correction for continuity: it solves ``n * |p - 1/2| - 1/2 =
    sqrt(m * n) * |p - 1/2|``. Comparisons are taken to be independent, the share to be the true
    one, and this pair to be the only one tested. ``None`` for a share of one half, or none.
    """
    gap = abs(share - 0.5)
    if not gap > 0:
        return None
    quantile = NormalDist().inv_cdf
    spread = quantile(1 - LEVEL / 2) / 2 + quantile(POWER) * math.sqrt(share * (1 - share))
    if not (plain := (max(spread, 0) / gap) ** 2):
        return 1
    return math.ceil(plain / 4 * (1 + math.sqrt(1 + 2 / (plain * gap))) ** 2)


def _design_effect(outcome: core.IntArray, segment: core.IntArray) -> float:
    """Return the share's variance by sentences (Kish & Frankel 1974) over the independent one."""
    decided = outcome != 0
    _, sentence = np.unique(segment[decided], return_inverse=True)
    total, sentences = int(decided.sum()), len(np.unique(sentence))
    share = float((outcome > 0).sum() / total) if total else 0.5
    if sentences < 2 or share in (0, 1):
        return 1.0
    deviations = np.bincount(sentence, weights=(outcome[decided] > 0) - share)
    by_sentence = sentences / (sentences - 1) * float((deviations**2).sum()) / total**2
    return max(1.0, by_sentence / (share * (1 - share) / total))
