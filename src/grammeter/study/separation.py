"""How a ranking settles: a learning curve, and what it takes to tell two systems apart."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np

from grammeter import core
from grammeter.ranking import ExpectedWins, Resampling, Selection, extract_pairs, rank_systems
from grammeter.study import planning

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

    curve: planning.LearningCurve
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
        rows: list[tuple[core.Cell, ...]] = []
        for pair in self.separations:
            needed = "never" if pair.items_needed is None else pair.items_needed
            figures = pair.share, pair.wins + pair.losses, needed, pair.items_to_go
            rows.append((pair.first, pair.second, *figures))
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


def outlook(selection: Selection, *, resamples: int = 1000, seed: int = 1) -> Outlook:
    """Compute the curve of so many drawn campaigns, and what neighbours in the ranking need."""
    campaigns = planning.draw_campaigns(selection.rankings, draws=resamples, seed=seed)
    resampling = Resampling(runs=resamples, seed=seed)
    order = tuple(rank_systems(selection, ExpectedWins(), resampling=resampling))
    apart, notes = separations(selection.rankings, order), (*selection.notes, _NOTE)
    curve, needed = planning.learning_curve(campaigns), planning.items_needed(campaigns)
    return Outlook(curve, needed, apart, notes)


def separations(
    rankings: Sequence[core.Ranking],
    systems: Sequence[str],
    *,
    level: float = 0.05,
    power: float = 0.8,
) -> tuple[Separation, ...]:
    """Plan for each system and the next one, in the given order: that of a ranking, say.

    See :func:`decided_needed` for the formula. What it adds is taken from the data: how many
    comparisons of the two an item brings, how many of them are decided, and the design effect
    (the variance of the share with sentences as units over that of independent comparisons).

    Skipped rankings and those of a single output are passed over. ``level`` and ``power`` of the
    test lie between 0 and 1; a system that was not judged, or comes twice, is an error.
    """
    if len(set(systems)) != len(systems):
        raise core.UsageError(f"a system comes twice: {', '.join(systems)}", fix="Name each once.")
    judged = [ranking for ranking in rankings if planning.compares(ranking)]
    pairs = extract_pairs(judged)
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
