"""How many items a ranking needs: learning curves by subsampling, and neighbours told apart.

A draw is a small campaign: some of the items at hand, whose Expected Wins are held against
those of all of them. Draws grow item by item, so that all sizes look at the same campaigns.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
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
    weights: core.FloatArray  # (items,): how much each counts in a campaign that has it
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
        weighted = self.wins * self.weights[:, None]
        sizes = list(stats.chunks(len(self.drawn), max(items, cells, size)))
        parts: list[core.FloatArray] = []
        for some, drawn in zip(sizes, np.split(self.drawn, np.cumsum(sizes)[:-1]), strict=True):
            rows = drawn[:, :size] + np.arange(some)[:, None] * items
            times = np.bincount(rows.ravel(), minlength=some * items).reshape(some, items)
            scores = _scores(times @ weighted, len(self.systems))
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
        return ranks.public_shape("learning-curve", self)


def draw_campaigns(
    rankings: Sequence[core.Ranking], *, draws: int = 1000, longest: int | None = None,
    chances: Sequence[float] | None = None, weights: Sequence[float] | None = None,
    full_weights: Sequence[float] | None = None, seed: int = 1,
) -> Campaigns:  # fmt: skip
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
        fix = "Give judgments of several outputs."
        raise core.DataError("no item compares two outputs", fix=fix)
    longest = len(usable) if longest is None else longest
    if draws < 1 or longest < 1 or seed < 0 or (chances is None and longest > len(usable)):
        fault = f"{draws} draws of {longest} from {len(usable)} items, seed {seed}"
        raise core.UsageError(fault, fix="Draw fewer, or with chances; a seed is 0 or more.")
    random = stats.generator(seed)
    pairs = ranks.extract_pairs([rankings[at] for at in usable])
    order = ranks.order_of_units(pairs, ranks.unit_numbers(pairs, "ranking"))  # that of no file
    if chances is None:
        drawn = random.permuted(np.tile(order, (draws, 1)), axis=1)[:, :longest]
    else:
        steps = np.cumsum(_chosen(chances, len(rankings), usable)[order])
        share = random.random((draws, longest))
        drawn = order[np.searchsorted(steps / steps[-1], share, side="right")]
    wins, _ = ranks.counted(pairs.cells(pairs.ranking, len(usable)), len(pairs.systems))
    settings: dict[str, object] = {"by": "expected-wins", "unit": "item", "items": len(usable)}
    how = "without-replacement" if chances is None else "with-replacement"
    weighted = weights is not None or full_weights is not None
    settings |= {"draws": draws, "drawn": how, "weighted": weighted, "seed": seed}
    wins = wins.reshape(len(usable), -1).astype(np.float64)
    counted, full = (_chosen(of, len(rankings), usable) for of in (weights, full_weights))
    against = _scores(full @ wins, len(pairs.systems))
    signature = core.Signature.of("planning", settings)
    return Campaigns(pairs.systems, wins, counted, drawn, against, signature)


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


def _chosen(numbers: Sequence[float] | None, items: int, usable: Sequence[int]) -> core.FloatArray:
    values = np.ones(items) if numbers is None else np.asarray(numbers, dtype=np.float64)
    if len(values) != items or not (values >= 0).all() or not values[usable].any():
        fix = "Give one for each, none of them negative, and one above 0 at least."
        raise core.UsageError(f"{len(values)} numbers for {items} rankings", fix=fix)
    return values[usable]


def compares(judged: core.Ranking) -> bool:
    """Whether a ranking compares two outputs."""
    return not judged.skipped and len(judged.groups) > 1


_NOTE = (
    "draws are parts of these judgments, so with all items they agree with the full ranking however"
    " few there are; a new campaign needs more items"
)


@dataclass(frozen=True, slots=True)
class Separation:
    """The comparisons of two systems, and how many more separate them.

    ``wins``, ``losses`` and ``ties`` are the first one's, of all comparisons of the two; ``items``
    were judged in all. ``design_effect``, 1 or more, is by how much the variance of the share
    exceeds that of independent comparisons, because several judges saw one sentence.
    ``decided_needed`` is the number of independent decided comparisons until the two-sided sign
    test of this ``level`` separates the two with this ``power`` at this share; ``None``: never.
    """

    first: str
    second: str
    wins: int
    losses: int
    ties: int
    items: int
    design_effect: float
    decided_needed: int | None
    level: float
    power: float

    @property
    def share(self) -> float:
        """The first system's share of the decided comparisons; NaN if there is none."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else math.nan

    @property
    def items_needed(self) -> int | None:
        """Items like those at hand until the two separate, these included."""
        if self.decided_needed is None:
            return None
        per_item = (self.wins + self.losses) / self.items
        return math.ceil(self.decided_needed * self.design_effect / per_item)

    @property
    def items_to_go(self) -> int | None:
        """How many of them are still to be judged."""
        return None if self.items_needed is None else max(0, self.items_needed - self.items)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name; ``null`` where there is none."""
        reason = {} if self.wins + self.losses else {"reason": "no decided comparison"}
        needed = {"items_needed": self.items_needed, "items_to_go": self.items_to_go}
        return asdict(self) | reason | {"share": core.json_number(self.share), **needed}


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
        planned = [f"level {pair.level:g}, power {pair.power:g}" for pair in self.separations[:1]]
        notes = (f"items until the sign test separates two systems: {pair}" for pair in planned)
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


def separations(
    rankings: Sequence[core.Ranking], systems: Sequence[str],
    *, level: float = 0.05, power: float = 0.8,
) -> tuple[Separation, ...]:  # fmt: skip
    """Plan for each system and the next one, in the given order: that of a ranking, say.

    See :func:`decided_needed` for the formula. What it adds is taken from the data: how many
    comparisons of the two an item brings, how many of them are decided, and the design effect
    (the variance of the share with sentences as units over that of independent comparisons).

    Skipped rankings and those of a single output are passed over. ``level`` and ``power`` of the
    test lie between 0 and 1; a system that was not judged, or comes twice, is an error.
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
        share = wins / (wins + losses) if wins + losses else math.nan
        needed = decided_needed(share, level=level, power=power)
        counts = wins, losses, len(both) - wins - losses, len(judged)
        effect = _design_effect(outcome, both.segment)
        return Separation(first, second, *counts, effect, needed, level, power)

    return tuple(separation(first, second) for first, second in pairwise(systems))


def decided_needed(share: float, *, level: float = 0.05, power: float = 0.8) -> int | None:
    """Return how many decided comparisons separate two systems by the two-sided sign test.

    With ``p`` the share and ``z`` quantiles of the normal distribution, ::

        m = ((z(1 - level / 2) / 2 + z(power) * sqrt(p * (1 - p))) / |p - 1/2|) ** 2
        n = m / 4 * (1 + sqrt(1 + 2 / (m * |p - 1/2|))) ** 2

    the second line being the correction for continuity: it solves ``n * |p - 1/2| - 1/2 =
    sqrt(m * n) * |p - 1/2|``. Comparisons are taken to be independent, the share to be the true
    one, and this pair to be the only one tested. ``None`` for a share of one half, or none.
    """
    if not (0 < level < 1 and 0 < power < 1 and (math.isnan(share) or 0 <= share <= 1)):
        raise core.UsageError(f"share {share}, level {level}, power {power}", fix="0 to 1, each.")
    gap = abs(share - 0.5)
    if not gap > 0:
        return None
    quantile = NormalDist().inv_cdf
    spread = quantile(1 - level / 2) / 2 + quantile(power) * math.sqrt(share * (1 - share))
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
