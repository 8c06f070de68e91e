"""Ratings: systems by their means, with intervals and ranges of ranks; how far judges agree.

A mean is that over segments of the mean over judges, or that over all ratings. A z-score is taken
within each judge's ratings for a criterion: less their mean, over their standard deviation, with
n - 1 as the export of Appraise has it. What was rated once for several systems counts for each of
them, also there. Segments are resampled.

Judges are compared on the outputs that both rated. Cohen's kappa (1960, weighted 1968) takes chance
from each judge's own frequencies here; its weights are the distances of the values themselves, not
of their places among those that occur.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from grammeter import core, stats
from grammeter.core import FloatArray, IntArray, Rating
from grammeter.ranking.agreement_results import AGREEMENT
from grammeter.ranking.pairs import Resampling
from grammeter.ranking.rank import rows_of_runs, shown_design
from grammeter.ranking.selection import FEW, chosen_systems, notes_of, of_judges

Average = Literal["segments", "ratings"]
"""What a mean is over: segments, each with the mean over its judges, or all ratings alike."""

RATED = ("mean", "z-score")
"""The ways to rank systems by ratings as numbers."""


@dataclass(frozen=True, slots=True)
class RatedMean(core.Plain):
    """A system's ratings for one criterion; ``n`` of them, and how many are ``missing``.

    ``sd`` is that of all ratings, with n - 1. NaN with a ``reason``.
    """

    mean: float
    sd: float
    z: float
    n: int
    missing: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RatedCriterion(core.Plain):
    """A criterion's scale, and each system's ratings for it."""

    scale: core.Scale
    systems: Mapping[str, RatedMean]


@dataclass(frozen=True, repr=False)
class RatedSystems(core.Ranked, over="rows", what="system"):
    """Systems ranked by ratings for a ``criterion``; figures of all ``criteria`` beside it.

    ``counted`` is that criterion; ``intervals`` are those of the scores, of means alone.
    """

    criterion: str = ""
    counted: RatedCriterion = field(default_factory=lambda: RatedCriterion((0, 1), {}))
    criteria: Mapping[str, RatedCriterion] = field(default_factory=dict[str, RatedCriterion])
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, Any])

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape of a ranking, with the criteria."""
        data = super().to_dict()
        for row in data["systems"]:
            of = self.counted.systems[row["system"]]
            ends = zip(("low", "high"), self.intervals.get(row["system"], ()), strict=False)
            row |= {end: core.json_number(value) for end, value in ends}
            row |= {"n": of.n, "missing": of.missing}
        return {**data, "criterion": self.criterion, "criteria": core.plain(self.criteria)}

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each system, best first; then the means of all criteria."""
        (ranked,) = super().tables(long=long)
        rows: list[Sequence[core.Cell]] = []
        for row, cells in zip(self.rows, ranked.rows, strict=True):
            of, ends = self.counted.systems[row.system], self.intervals.get(row.system)
            interval = () if ends is None else ends if long else (ends,)
            rows.append((*cells, *interval, of.n, of.missing))
        heads = ("low", "high") if long else ("interval",)
        interval = core.Column.many("number", *heads) if self.intervals else ()
        unit = "number" if self.intervals else "score"  # a mean has the unit of its scale
        columns = [replace(c, unit=unit) if c.unit == "score" else c for c in ranked.columns]
        counts = core.Column.many("count", "n", "missing")
        first = core.Table.of((*columns, *interval, *counts), rows, ranked.notes)
        scores = core.Column.many("number", "mean", "sd", "z")
        means = [(name, system, m.mean, m.sd, m.z, m.n, m.missing)
                 for name, criterion in self.criteria.items()
                 for system, m in criterion.systems.items()]  # fmt: skip
        return [first, core.Table.of(("criterion", "system", *scores, *counts), means)]


class _Scores(NamedTuple):
    """Ratings for one criterion, an entry for each system that wrote what was rated."""

    values: FloatArray  # (entries,): NaN where missing
    z: FloatArray  # (entries,)
    system: IntArray  # (entries,): -1 for those that are not ranked
    segment: IntArray  # (entries,)

    @classmethod
    def of(cls, ratings: Sequence[Rating], systems: Sequence[str]) -> "_Scores":
        names = {name: at for at, name in enumerate(systems)}
        entries = [(r, names.get(name, -1)) for r in ratings for name in r.systems]
        scores = [np.nan if r.score is None else r.score for r, _ in entries]
        values, system = np.array(scores, np.float64), np.array([of for _, of in entries], np.int64)
        judge, segment = (
            np.unique([getattr(r, name) for r, _ in entries], return_inverse=True)[1]
            for name in ("judge", "segment")
        )
        return cls(values, z_scores(values, judge), system, segment)

    def sums(self, values: FloatArray, systems: int, average: Average) -> FloatArray:
        """Return what a mean is made of: sum and number, shape ``(systems, segments, 2)``."""
        there = (self.system >= 0) & ~np.isnan(values)
        place = self.system[there], self.segment[there]
        sums = np.zeros((systems, int(self.segment.max(initial=-1)) + 1, 2))
        np.add.at(sums[..., 0], place, values[there])
        np.add.at(sums[..., 1], place, 1.0)
        return sums / np.maximum(sums[..., 1:], 1) if average == "segments" else sums

    def summary(self, names: Sequence[str], average: Average) -> dict[str, RatedMean]:
        """Return the figures of each system."""
        both = (_mean(self.sums(v, len(names), average).sum(axis=1)) for v in (self.values, self.z))
        figures = zip(names, *both, strict=True)
        return {name: _rated(mean, z, self.values[self.system == at])
                for at, (name, mean, z) in enumerate(figures)}  # fmt: skip


def z_scores(values: FloatArray, judge: IntArray) -> FloatArray:
    """Return z-scores within each judge's values, both of shape ``(n,)``; NaN stays NaN.

    The deviation has n - 1; where it is 0, or there is one value, it counts as 1.
    """
    z = np.full(len(values), np.nan)
    for number in np.unique(judge):
        mine = (judge == number) & ~np.isnan(values)
        of = values[mine]
        deviation = of.std(ddof=1) if len(of) > 1 and np.ptp(of) else 1.0
        z[mine] = (of - (of.mean() if len(of) else 0)) / deviation
    return z


def rank_by_means(
    ratings: Sequence[Rating], criterion: Sequence[Rating], scales: Mapping[str, core.Scale], *,
    by: str, average: Average = "segments", resampling: Resampling, confidence: float = 0.95,
    judges: Sequence[str] | None = None, without_judges: Sequence[str] | None = None,
    systems: Sequence[str] | None = None, drop: Sequence[str] = (),
) -> RatedSystems:  # fmt: skip
    """Rank systems by their mean rating for one criterion; see :func:`grammeter.rank`.

    ``ratings`` are those for all criteria, which have ``scales``; ``criterion`` those that count.
    """
    chosen = of_judges(criterion, judges, without_judges)
    known = {name for rating in chosen for name in rating.systems}
    names = sorted(chosen_systems("rated system", known, systems, drop))
    scores = _Scores.of(chosen, names)
    sums = scores.sums(scores.z if by == "z-score" else scores.values, len(names), average)
    sums = sums[:, sums[..., 1].any(axis=0)]
    if not sums.size:
        raise core.DataError("no output has a rating", fix="Rate one at least.")
    samples = stats.PairedSamples(sums, _mean)
    (drawn,) = stats.bootstrap([samples], resamples=resampling.runs, seed=resampling.seed)
    _, alike = np.unique(samples.rows.reshape(len(names), -1), axis=0, return_inverse=True)
    reasons = [None if np.isfinite(of) else "no rating" for of in samples.observed]
    of: Any = names, samples.observed, drawn.T, reasons, confidence, alike.ravel().tolist()
    rows = tuple(rows_of_runs(*of))
    ends = np.array(stats.percentile_interval(drawn, confidence)).T.tolist()
    settings: dict[str, object] = {
        "criterion": chosen[0].criterion, "average": average,
        **shown_design(resampling, confidence),
        "judges": len({r.judge for r in chosen}) if judges is None else "+".join(judges),
        **({"without": "+".join(without_judges)} if without_judges else {}),
        "systems": len(names), "ratings": len(chosen),
    }  # fmt: skip
    notes = (*notes_of(ratings), *_notes(by, chosen, sums))
    signature = core.Signature.of(by, settings)
    ranked = core.Ranked(by, signature, rows, notes)
    intervals = {name: (low, high) for name, (low, high) in zip(names, ends, strict=True)}
    same: Any = {"judges": judges, "without_judges": without_judges, "average": average}
    return with_criteria(ranked, ratings, criterion, scales, intervals=intervals, **same)


def with_criteria(
    ranked: core.Ranked, ratings: Sequence[Rating], criterion: Sequence[Rating],
    scales: Mapping[str, core.Scale], *, average: Average = "segments",
    judges: Sequence[str] | None = None, without_judges: Sequence[str] | None = None,
    intervals: Mapping[str, tuple[float, float]] | None = None,
) -> RatedSystems:  # fmt: skip
    """Put the figures of all criteria beside a ranking; see :func:`rank_by_means`."""
    names = sorted(ranked)

    def figures(of: Sequence[Rating], scale: core.Scale) -> RatedCriterion:
        chosen = of_judges(of, judges, without_judges)
        return RatedCriterion(scale, _Scores.of(chosen, names).summary(names, average))

    groups = core.grouped((rating.criterion, rating) for rating in ratings)
    name = criterion[0].criterion
    criteria = {name: figures(groups.get(name, ()), scale) for name, scale in scales.items()}
    counted = criteria.get(name) or figures(criterion, (0.0, 1.0))
    values = {part.name: getattr(ranked, part.name) for part in fields(core.Ranked)}
    beside: Any = {"criteria": criteria, "intervals": intervals or {}}
    return RatedSystems(**values, criterion=name, counted=counted, **beside)


def _mean(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        mean: FloatArray = sums[..., 0] / sums[..., 1]
    return mean


def _rated(mean: float, z: float, values: FloatArray) -> RatedMean:
    rated = values[~np.isnan(values)]
    sd = float(rated.std(ddof=1)) if len(rated) > 1 else float("nan")
    reason = ("no rating", "one rating has no deviation", None)[min(len(rated), 2)]
    return RatedMean(float(mean), sd, float(z), len(rated), len(values) - len(rated), reason)


def _notes(by: str, ratings: Sequence[Rating], sums: FloatArray) -> list[str]:
    judges = sorted({rating.judge for rating in ratings})
    rated, notes = sums[..., 1].any(axis=0).sum(), list[str]()
    if len(judges) > 1:
        notes.append(f"ratings of {len(judges)} judges are averaged: {core.listed(judges)}")
    if by == "z-score" and len(judges) == 1:
        notes.append("one judge: z-scores change the unit alone, not the order")
    if missing := sum(rating.score is None for rating in ratings):
        notes.append(f"{missing} of {len(ratings)} ratings are missing and left out")
    if not (sums[..., 1] > 0).all():
        notes.append("not all systems are rated in the same sentences: means are of different ones")
    if rated < FEW:
        notes.append(f"few ratings: {rated} sentences; below {FEW} intervals and ranges of ranks"
                     " are too narrow")  # fmt: skip
    return notes


# --- agreement -----------------------------------------------------------------------------
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
