"""How far judges agree who rated the same outputs, for each criterion.

Cohen's kappa (1960, weighted 1968) takes chance from each judge's own frequencies here; its weights
are the distances of the values themselves, not of their places among those that occur.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

import numpy as np

from grammeter import core, stats
from grammeter.core import FloatArray, Rating
from grammeter.ranking.agreement_results import AGREEMENT
from grammeter.ranking.selection import notes_of, of_judges

LEVELS: tuple[stats.Level, ...] = get_args(stats.Level)
WEIGHTS = {"none": 0, "linear": 1, "quadratic": 2}
"""Weights of kappa: the power of the distance of two values; with 0 all that differ are equal."""


@dataclass(frozen=True, slots=True)
class RatedPair(core.Plain):
    """Two judges on the ``n`` outputs that both rated; NaN with a ``reason``, by figure.

    ``exact`` is the share of equal ratings, ``kappa`` is by weights, ``difference`` the mean of the
    first judge's ratings less that of the second's.
    """

    n: int
    exact: float
    kappa: Mapping[str, float]
    pearson: float
    spearman: float
    difference: float
    reason: str | None = None

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, judges: tuple[str, str]) -> "RatedPair":
        """Compare ratings, shape ``(outputs,)``, NaN where there is none."""
        both = ~np.isnan(x) & ~np.isnan(y)
        x, y = x[both], y[both]
        kappa = {name: weighted_kappa(x, y, power) for name, power in WEIGHTS.items()}
        flat = [name for name, of in zip(judges, (x, y), strict=True) if len(of) and not np.ptp(of)]
        reason = f"all ratings by {' and by '.join(flat)} are equal" if flat else None
        if not len(x):
            reason = "no output was rated by both"
        means = (float(of.mean()) if len(x) else float("nan") for of in (x == y, x - y))
        exact, difference = means
        rho = float(stats.pearson(x, y)), float(stats.spearman(x, y))
        return cls(len(x), exact, kappa, *rho, difference, reason)


@dataclass(frozen=True, slots=True)
class RatedAlpha(core.Plain):
    """Krippendorff's alpha over all judges, by level of measurement; ``n``: values compared."""

    nominal: float
    ordinal: float
    interval: float
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class CriterionAgreement(core.Plain):
    """Agreement on one criterion."""

    alpha: RatedAlpha
    pairs: Mapping[tuple[str, str], RatedPair]


@dataclass(frozen=True, repr=False)
class RatingAgreement(core.Result, kind=AGREEMENT):
    """Agreement of judges on ratings, by criterion."""

    signature: core.Signature
    criteria: Mapping[str, CriterionAgreement]
    notes: tuple[str, ...] = ()

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each criterion and two judges, then alpha by criterion."""
        numbers = core.Column.many("number", "exact", *WEIGHTS, "Pearson", "Spearman", "difference")
        rows = [
            (name, " | ".join(judges), p.n, p.exact, *p.kappa.values(), p.pearson, p.spearman,
             p.difference, p.reason)
            for name, of in self.criteria.items()
            for judges, p in of.pairs.items()
        ]  # fmt: skip
        columns = ("criterion", "judges", core.Column("outputs", "count"), *numbers)
        alphas = [
            (name, *(getattr(of.alpha, level) for level in LEVELS), of.alpha.n, of.alpha.reason)
            for name, of in self.criteria.items()
        ]
        heads = (*core.Column.many("number", *LEVELS), core.Column("values", "count"))
        below = ("none, linear, quadratic: kappa by its weights", str(self.signature))
        return [
            core.Table.of((*columns, ""), rows, below),
            core.Table.of(("alpha", *heads, ""), alphas),
        ]


def rating_agreement(
    ratings: Sequence[Rating], *, judges: Sequence[str] | None = None,
    without_judges: Sequence[str] | None = None,
) -> RatingAgreement:  # fmt: skip
    """Measure the agreement of judges on ratings; see :func:`grammeter.agree`."""
    chosen = of_judges(ratings, judges, without_judges)
    by_criterion = core.grouped((rating.criterion, rating) for rating in chosen)
    criteria = {name: _agreement(of) for name, of in by_criterion.items()}
    notes = [*notes_of(ratings)]
    if missing := sum(rating.score is None for rating in chosen):
        notes.append(f"{missing} of {len(chosen)} ratings are missing and left out")
    count = len({rating.judge for rating in chosen})
    settings = {"unit": "output", "judges": count, "ratings": len(chosen)}
    signature = core.Signature.of(AGREEMENT, settings | {"criteria": "+".join(criteria)})
    return RatingAgreement(signature, criteria, tuple(notes))


def weighted_kappa(x: FloatArray, y: FloatArray, power: int) -> float:
    """Return Cohen's kappa of paired values, shape ``(n,)``; NaN if all values are equal.

    Two values disagree by their distance to a ``power``; 0: by 1 if they differ (Cohen 1968).
    """
    if not len(x):
        return float("nan")
    values, places = np.unique(np.concatenate([x, y]), return_inverse=True)
    apart = np.abs(values[:, None] - values[None])
    distance = apart**power if power else (apart > 0).astype(np.float64)
    shares = (np.bincount(of, minlength=len(values)) / len(x) for of in np.split(places, 2))
    one, other = shares
    chance = float(one @ distance @ other)
    observed = float(distance[places[: len(x)], places[len(x) :]].mean())
    return 1 - observed / chance if chance else float("nan")


def _agreement(ratings: Sequence[Rating]) -> CriterionAgreement:
    outputs = {key: at for at, key in enumerate(dict.fromkeys(r.output for r in ratings))}
    judges = {name: at for at, name in enumerate(sorted({r.judge for r in ratings}))}
    values = np.full((len(outputs), len(judges)), np.nan)
    for rating in ratings:
        if rating.score is not None:
            values[outputs[rating.output], judges[rating.judge]] = rating.score
    nominal, ordinal, interval = (stats.krippendorff_alpha(values, level=of) for of in LEVELS)
    pairs = {
        (one, other): RatedPair.of(values[:, judges[one]], values[:, judges[other]], (one, other))
        for one, other in combinations(judges, 2)
    }
    figures = nominal.value, ordinal.value, interval.value
    alpha = RatedAlpha(*figures, nominal.n, nominal.reason)
    return CriterionAgreement(alpha, pairs)
