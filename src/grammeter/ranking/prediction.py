"""What a ranking made of judgments predicts: section 5.3 and Table 4 of Grundkiewicz et al. 2015.

A ranking predicts a comparison twice: the clusters say who is better, or that both are equal (two
systems of one cluster); the order says who is better, and is asked only about decided comparisons.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from grammeter import core
from grammeter.ranking import rank
from grammeter.ranking.methods import Method
from grammeter.ranking.pairs import Pairs, Resampling, Unit, derived_seed, unit_numbers, unlabelled
from grammeter.ranking.selection import Selection
from grammeter.stats import generator

PREDICTION, DRAW_RADIUS = "prediction", "draw-radius"
Training = Literal["held-out", "makefile"]
"""The judgments that a fold's ranking is made from.

``held-out``: all other folds. ``makefile``: what the procedure published with the paper does;
resample k leaves out each part whose two-digit name contains the digits of k, whatever the fold,
so that the judgments to be predicted are nearly always among those used.
"""


@dataclass(frozen=True, repr=False)
class Prediction(core.Result):
    """Shares of judgments predicted, means over the folds, 0 to 1.

    ``clusters`` is of all comparisons, ties included; ``all_tied`` the same for "everything is
    tied", the share of ties: what any clustering has to beat. ``order`` is of the decided
    comparisons; a coin would have .5. ``comparisons`` were predicted, ``decided`` of them are
    decided; ``clusterings`` says how many folds had how many clusters. Of several cross-validations
    shares are means, with standard ``deviations`` by the names of the shares.
    """

    method: str
    signature: core.Signature
    clusters: float
    all_tied: float
    order: float
    comparisons: int
    decided: int
    clusterings: Mapping[int, int]
    notes: tuple[str, ...] = ()
    deviations: Mapping[str, float] = field(default_factory=dict[str, float])

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return accuracies, the baseline beside them."""
        rows = [(row, getattr(self, of), self.deviations.get(of), number)
                for row, of, number in self._shares()]  # fmt: skip
        scores = core.Column.many("score", "accuracy", "deviation", tsv=4)
        columns = (self.method, *scores, core.Column("comparisons", "count"))
        if not self.deviations:
            rows, columns = [(*row[:2], row[3]) for row in rows], (*columns[:2], columns[3])
        sizes = ", ".join(f"{size} in {count}" for size, count in self.clusterings.items())
        return [core.Table.of(columns, rows, (f"clusters in folds: {sizes}", str(self.signature)))]

    def _shares(self) -> Iterator[tuple[str, str, int]]:
        yield "clusters, all comparisons", "clusters", self.comparisons
        yield "everything tied, all comparisons", "all_tied", self.comparisons
        yield "order, decided comparisons", "order", self.decided

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        shares: dict[str, Any] = dict.fromkeys(("comparisons", "decided", "deviations"))
        for _, of, number in self._shares():
            shares[of] = {"accuracy": getattr(self, of), "n": number}
            shares[of] |= {"deviation": self.deviations[of]} if self.deviations else {}
        return core.public_shape(PREDICTION, self, **shares)


def cross_validate(
    selection: Selection, method: Method,
    *, folds: int = 100, repeats: int = 1, training: Training = "held-out",
    resampling: Resampling | None = None, confidence: float = 0.95,
) -> Prediction:  # fmt: skip
    """Measure by cross-validation how well a ranking predicts judgments.

    Units are shuffled and dealt out to the folds in turn. Each fold is predicted by a ranking made
    from ``training``: systems in the order of their mean scores over the resamples, and clusters.

    The other options are those of :func:`grammeter.rank`. ``resampling`` has the unit of folds and
    of resampling (default ``sentence``, in the paper ``pair``), and the number of resamples or runs
    for each fold (default 100). TrueSkill resamples nothing, its runs differ by their random games.
    Each of the ``repeats`` has a seed of its own, the first that of ``resampling``.
    """
    core.UnknownNameError.check("training", training, get_args(Training))
    if folds < 2 or repeats < 1:
        fault = f"{folds} folds, {repeats} repeats"
        raise core.UsageError(fault, fix="Take two at least, and one repeat.")
    first = resampling or Resampling(runs=100)
    seeds = range(first.seed, first.seed + repeats)
    predictions = [_once(selection, method, folds, training, replace(first, seed=seed), confidence)
                   for seed in core.track(seeds, "cross-validations", total=repeats)]  # fmt: skip
    return _mean(predictions, f"{seeds[0]}-{seeds[-1]}") if repeats > 1 else predictions[0]


def _mean(predictions: Sequence[Prediction], seeds: str) -> Prediction:
    first, names = predictions[0], ("clusters", "all_tied", "order")
    shares = np.array([[getattr(prediction, of) for of in names] for prediction in predictions])
    pairs = tuple((key, seeds if key == "seed" else value) for key, value in first.signature)
    sizes = sum((Counter(prediction.clusterings) for prediction in predictions), Counter[int]())
    return replace(
        first, signature=replace(first.signature, pairs=pairs),
        clusterings=dict(sorted(sizes.items())),
        deviations=dict(zip(names, shares.std(axis=0, ddof=1).tolist(), strict=True)),
        **dict(zip(names, shares.mean(axis=0).tolist(), strict=True)),
    )  # fmt: skip


def _once(
    selection: Selection, method: Method, folds: int, training: Training, resampling: Resampling,
    confidence: float,
) -> Prediction:  # fmt: skip
    unit, seed = resampling.unit or "sentence", resampling.seed
    resampling = replace(resampling, unit=unit if method.unit else None)
    bare = unlabelled(selection.pairs, unit)
    pairs, alike = bare.pairs, bare.alike.tolist()
    fold_of = deal_out(pairs, unit, folds, seed)
    trained = _held_out if training == "held-out" else _makefile
    clusterings = [
        rank.cluster_runs(scores, confidence=confidence, alike=alike)
        for scores in core.track(trained(method, pairs, fold_of, resampling), "folds", total=folds)
    ]
    parts = (pairs.select(fold_of == fold) for fold in range(folds))
    shares = np.array([_predicted(*both) for both in zip(parts, clusterings, strict=True)])
    design = {"folds": folds, "folds-of": unit, "training": training}
    design |= {**method.settings(len(pairs)), **rank.shown_design(resampling, confidence)}
    return Prediction(
        method.name, core.Signature.of(method.name, {**design, **selection.shown}),
        clusters=float(shares[:, 0].mean()), all_tied=float(shares[:, 1].mean()),
        order=float(np.nanmean(shares[:, 2])), comparisons=len(pairs),
        decided=int((pairs.outcome != 0).sum()),
        clusterings=dict(sorted(Counter(max(some.clusters) for some in clusterings).items())),
        notes=(*selection.notes, *rank.notes_of_method(method, pairs, resampling)),
    )  # fmt: skip


def deal_out(pairs: Pairs, unit: Unit, folds: int, seed: int) -> core.IntArray:
    """Shuffle the units and deal them out; return the fold of each comparison, from 0."""
    units = unit_numbers(pairs, unit)
    if (count := int(units.max()) + 1) < folds:
        fix = "Take fewer folds, or a smaller unit."
        raise core.DataError(f"{folds} folds of {count} {unit}s", fix=fix)
    return generator(seed).permutation(count)[units] % folds


def _predicted(pairs: Pairs, clustering: rank.Clustering) -> tuple[float, float, float]:
    """Return the shares predicted: by clusters, "all tied", and order (NaN if none is decided)."""
    place, cluster = (np.empty(len(pairs.systems), dtype=np.int64) for _ in range(2))
    place[list(clustering.order)] = np.arange(len(place))
    cluster[list(clustering.order)] = clustering.clusters
    first, second = pairs.first, pairs.second
    right, ordered = (np.sign(of[second] - of[first]) == pairs.outcome for of in (cluster, place))
    decided = pairs.outcome != 0
    order = float(ordered[decided].mean()) if decided.any() else float("nan")
    return float(right.mean()), float(1 - decided.mean()), order


def _held_out(
    method: Method, pairs: Pairs, fold_of: core.IntArray, resampling: Resampling
) -> Iterator[core.FloatArray]:
    for fold in range(int(fold_of.max()) + 1):
        folded = replace(resampling, seed=derived_seed(resampling.seed, fold))
        yield method.runs(pairs.select(fold_of != fold), folded)


def _makefile(
    method: Method, pairs: Pairs, fold_of: core.IntArray, resampling: Resampling
) -> Iterator[core.FloatArray]:
    folds = int(fold_of.max()) + 1
    scores: list[core.FloatArray] = []
    for number in range(resampling.runs):
        remaining = _parts_without(str(number), folds)
        folded = replace(resampling, runs=folds, seed=derived_seed(resampling.seed, number))
        scores.append(method.runs(pairs.select(remaining[fold_of]), folded))
    yield from np.stack(scores, axis=1)


def _parts_without(digits: str, folds: int) -> core.BoolArray:
    width = len(str(folds - 1))
    remaining = np.array([digits not in f"{part:0{width}d}" for part in range(folds)])
    if not remaining.any():
        fault = f"makefile training with {folds} folds leaves nothing in resample {digits}"
        raise core.UsageError(fault, fix="Take 100 folds, as the paper does.")
    return remaining


# --- the draw radius -----------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Radius(core.Plain):
    """A radius, the number of clusters that it leaves, and the share of comparisons predicted."""

    radius: float
    clusters: int
    accuracy: float


@dataclass(frozen=True, repr=False)
class DrawRadius(core.Result, kind=DRAW_RADIUS):
    """What clusters by a radius predict, from none to the one that makes all systems equal.

    ``radii`` ascend; each is the least that leaves so few clusters. Accuracy is that on the
    judgments of the ranking itself, all ``comparisons``.
    """

    method: str
    signature: core.Signature
    radii: tuple[Radius, ...]
    comparisons: int
    notes: tuple[str, ...] = ()

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each radius."""
        rows = [(row.radius, row.clusters, row.accuracy) for row in self.radii]
        columns = (core.Column("radius", "score"), core.Column("clusters", "count"))
        below = (
            f"accuracy of {self.method} on the {self.comparisons} comparisons that it was made of;"
            " neighbours whose scores differ by no more than the radius share a cluster",
            str(self.signature),
        )
        return [core.Table.of((*columns, core.Column("accuracy", "score", tsv=4)), rows, below)]


def predict_by_radius(selection: Selection, method: Method) -> DrawRadius:
    """Predict judgments by clusters of neighbours, for each radius; no score: a cluster alone."""
    pairs = selection.pairs
    scores = method.score(*pairs.counts())
    order = rank.score_order(scores)
    gaps = np.round(-np.diff(scores[order]), 12)
    gaps[np.isnan(gaps)] = np.inf
    radii: list[Radius] = []
    for radius in sorted({0.0, *gaps[np.isfinite(gaps)].tolist()}):
        numbers = (1 + np.cumsum([False, *(gaps > radius)])).tolist()
        clustering = rank.Clustering(tuple(order), ((1, len(order)),) * len(order), tuple(numbers))
        radii.append(Radius(radius, numbers[-1], _predicted(pairs, clustering)[0]))
    signature = core.Signature.of(method.name, {**method.settings(len(pairs)), **selection.shown})
    return DrawRadius(method.name, signature, tuple(radii), len(pairs), selection.notes)
