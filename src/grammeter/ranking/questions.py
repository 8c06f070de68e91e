"""What judgments say beside a ranking: who beats whom, and what a ranking made of them predicts.

Head to head is Table 3d of Grundkiewicz et al. 2015, with an exact sign test; the prediction is the
cross-validation of their section 5.3 and Table 4. A ranking predicts a comparison twice: the
clusters say who is better, or that both are equal (two systems of one cluster); the order says who
is better, and is asked only about decided comparisons.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import permutations
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import (
    BoolArray,
    Column,
    DataError,
    Figure,
    FloatArray,
    IntArray,
    Result,
    Signature,
    Table,
    UnknownNameError,
    UsageError,
    track,
)
from grammeter.ranking.methods import Method, expected_wins
from grammeter.ranking.pairs import Pairs, Resampling, Unit, derived_seed, unit_numbers, unlabelled
from grammeter.ranking.rank import (
    Clustering,
    cluster_runs,
    notes_of_method,
    score_order,
    shown_design,
)
from grammeter.ranking.selection import Selection
from grammeter.ranking.shapes import Plain, public_shape
from grammeter.stats import generator, sign_test

HEAD_TO_HEAD, PREDICTION = "head-to-head", "prediction"

Zeros = Literal["one", "keep"]
"""A count of 0 beside a positive one becomes 1, as in the original, or stays 0."""

ZEROS: tuple[Zeros, ...] = get_args(Zeros)

MARKS = ((0.01, "**"), (0.05, "*"), (0.10, "+"))
"""Largest p-value of each mark. The paper prints a double dagger, a dagger and a star."""


@dataclass(frozen=True, slots=True)
class Duel(Plain):
    """Two systems compared, seen from the column's side.

    ``share`` is the column's share of the decided comparisons, NaN with a ``reason`` if there is
    none; ``wins``, ``losses`` and ``ties`` are the column's. ``pvalue`` is that of the exact sign
    test, two-sided; ``mark`` is ``**`` for p <= .01, ``*`` for p <= .05, ``+`` for p <= .10, else
    empty.
    """

    row: str
    column: str
    share: float
    wins: int
    losses: int
    ties: int
    pvalue: float
    mark: str
    reason: str | None = None


@dataclass(frozen=True, repr=False)
class HeadToHead(Result):
    """All systems against all others, in the order of Expected Wins."""

    systems: tuple[str, ...]
    signature: Signature
    cells: tuple[Duel, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, names: tuple[str, str]) -> Duel:
        """Return the cell of a row and a column."""
        for cell in self.cells:
            if (cell.row, cell.column) == names:
                return cell
        raise UnknownNameError("pair of systems", " ".join(names), self.systems)

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return shares of wins as a matrix; for programs a row for each cell."""
        if long:
            counts = Column.many("count", "wins", "losses", "ties")
            columns = ("row", "column", Column("share", "score", 2), *counts)
            rows = [astuple(duel)[:-1] for duel in self.cells]
            return [Table.of((*columns, Column("pvalue", "pvalue"), "mark"), rows)]
        shares = {(duel.row, duel.column): duel.share for duel in self.cells}
        matrix = [(row, *(shares.get((row, of)) for of in self.systems)) for row in self.systems]
        marks = {(row, 1 + column): duel.mark for row, column, duel in self._placed()}
        notes = (
            "share of the decided comparisons with the row's system that the column's system wins",
            "exact two-sided sign test: ** p <= .01, * p <= .05, + p <= .10",
            str(self.signature),
        )
        heads = Column.many("score", *self.systems, digits=2)
        return [Table.of(("", *heads), matrix, notes, marks=marks)]

    def figures(self) -> Mapping[str, Figure]:
        """Return the shares as a map."""
        shares = np.full((len(self.systems), len(self.systems)), np.nan)
        marks = [[""] * len(self.systems) for _ in self.systems]
        for row, column, duel in self._placed():
            shares[row, column], marks[row][column] = duel.share, duel.mark
        data = {"systems": self.systems, "shares": shares, "marks": marks}
        return {"shares": Figure("head_to_head_map", data)}

    def _placed(self) -> Iterator[tuple[int, int, Duel]]:
        """Yield the row, the column and what they hold."""
        places = {system: place for place, system in enumerate(self.systems)}
        yield from ((places[duel.row], places[duel.column], duel) for duel in self.cells)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        return public_shape(HEAD_TO_HEAD, self)


def duels(selection: Selection, *, zeros: Zeros = "one") -> HeadToHead:
    """Compare each system with each other by the judgments of a selection.

    With ``zeros`` of ``one``, where a system never won against another that did, its count is taken
    as 1 for share and p-value, as in the original; ``wins`` and ``losses`` are the true counts.
    """
    if zeros not in ZEROS:
        raise UnknownNameError("treatment of zeros", zeros, ZEROS)
    systems, (wins, ties) = selection.pairs.systems, selection.pairs.counts()
    order = score_order(expected_wins(wins))
    settings = {"test": "sign, exact, two-sided", "zeros": zeros}
    signature = Signature.of(HEAD_TO_HEAD, {**settings, **selection.shown})
    counts = (wins.T, wins, ties)  # wins of the column, of the row
    cells = tuple(
        _duel(systems[row], systems[column], [int(of[row, column]) for of in counts], zeros)
        for row, column in permutations(order, 2)
    )
    names = tuple(systems[at] for at in order)
    return HeadToHead(names, signature, cells, (*selection.notes, *_duel_notes(cells, zeros)))


def mark_of(pvalue: float) -> str:
    """Return the mark of a p-value; NaN has none."""
    return next((mark for level, mark in MARKS if pvalue <= level), "")


def _duel_notes(cells: Sequence[Duel], zeros: Zeros) -> Iterator[str]:
    yield (
        "the sign test takes comparisons to be independent, which those of one sentence are not:"
        " p-values are too small"
    )
    one_sided = sum(not cell.wins and cell.losses > 0 for cell in cells)
    if zeros == "one" and one_sided:
        pairs = "1 pair" if one_sided == 1 else f"{one_sided} pairs"
        yield (
            f"{pairs} of systems with all decided comparisons won by one: the other's 0 wins count"
            " as 1 for share and p-value, as in the original (--zeros keep leaves them)"
        )


def _duel(row: str, column: str, counts: Sequence[int], zeros: Zeros) -> Duel:
    won, lost, tied = counts
    if not won + lost:
        reason = f"{tied} ties and nothing decided" if tied else "never compared"
        return Duel(row, column, math.nan, 0, 0, tied, math.nan, "", reason)
    least = 1 if zeros == "one" else 0
    ours, theirs = max(won, least), max(lost, least)
    pvalue = sign_test(ours, theirs)
    return Duel(row, column, ours / (ours + theirs), won, lost, tied, pvalue, mark_of(pvalue))


Training = Literal["held-out", "makefile"]
"""The judgments that a fold's ranking is made from.

``held-out``: all other folds. ``makefile``: what the procedure published with the paper does;
resample k leaves out each part whose two-digit name contains the digits of k, whatever the fold,
so that the judgments to be predicted are nearly always among those used.
"""

TRAININGS: tuple[Training, ...] = get_args(Training)


@dataclass(frozen=True, repr=False)
class Prediction(Result):
    """Shares of judgments predicted, means over the folds, 0 to 1.

    ``clusters`` is of all comparisons, ties included; ``all_tied`` the same for "everything is
    tied", the share of ties: what any clustering has to beat. ``order`` is of the decided
    comparisons; a coin would have .5. ``comparisons`` were predicted, ``decided`` of them are
    decided; ``clusterings`` says how many folds had how many clusters.
    """

    method: str
    signature: Signature
    clusters: float
    all_tied: float
    order: float
    comparisons: int
    decided: int
    clusterings: Mapping[int, int]
    notes: tuple[str, ...] = ()

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return accuracies, the baseline beside them."""
        rows = [
            ("clusters, all comparisons", self.clusters, self.comparisons),
            ("everything tied, all comparisons", self.all_tied, self.comparisons),
            ("order, decided comparisons", self.order, self.decided),
        ]
        columns = (self.method, Column("accuracy", "score", tsv=4), Column("comparisons", "count"))
        sizes = ", ".join(f"{size} in {count}" for size, count in self.clusterings.items())
        return [Table.of(columns, rows, (f"clusters in folds: {sizes}", str(self.signature)))]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        numbers = {
            "clusters": self.comparisons,
            "all_tied": self.comparisons,
            "order": self.decided,
        }
        shares = {of: {"accuracy": getattr(self, of), "n": n} for of, n in numbers.items()}
        return public_shape(PREDICTION, self, **shares, comparisons=None, decided=None)


def cross_validate(
    selection: Selection,
    method: Method,
    *,
    folds: int = 100,
    training: Training = "held-out",
    resampling: Resampling | None = None,
    confidence: float = 0.95,
) -> Prediction:
    """Measure by cross-validation how well a ranking predicts judgments.

    Units are shuffled and dealt out to the folds in turn. Each fold is predicted by a ranking
    made from ``training``: systems in the order of their mean scores over the resamples, and
    their clusters.

    The other options are those of :func:`grammeter.rank`. ``resampling`` has the unit of folds and
    of resampling (default ``sentence``, in the paper ``pair``), and the number of resamples or runs
    for each fold (default 100). TrueSkill resamples nothing, its runs differ by their random games.
    """
    if training not in TRAININGS:
        raise UnknownNameError("training", training, TRAININGS)
    if folds < 2:
        raise UsageError(f"{folds} folds", fix="Take two at least.")
    resampling = resampling or Resampling(runs=100)
    unit, seed = resampling.unit or "sentence", resampling.seed
    resampling = replace(resampling, unit=unit if method.unit else None)
    bare = unlabelled(selection.pairs, unit)
    pairs, alike = bare.pairs, bare.alike.tolist()
    fold_of = deal_out(pairs, unit, folds, seed)
    trained = _held_out if training == "held-out" else _makefile
    runs = trained(method, pairs, fold_of, resampling)
    clusterings = [
        cluster_runs(scores, confidence=confidence, alike=alike)
        for scores in track(runs, "folds", total=folds)
    ]
    shares = np.array(
        [
            _predicted(pairs.select(fold_of == fold), clustering)
            for fold, clustering in enumerate(clusterings)
        ]
    )
    design = {"folds": folds, "folds-of": unit, "training": training}
    design |= {**method.settings(len(pairs)), **shown_design(resampling, confidence)}
    return Prediction(
        method.name,
        Signature.of(method.name, {**design, **selection.shown}),
        clusters=float(shares[:, 0].mean()),
        all_tied=float(shares[:, 1].mean()),
        order=float(np.nanmean(shares[:, 2])),
        comparisons=len(pairs),
        decided=int((pairs.outcome != 0).sum()),
        clusterings=dict(sorted(Counter(max(some.clusters) for some in clusterings).items())),
        notes=(*selection.notes, *notes_of_method(method, pairs, resampling)),
    )


def deal_out(pairs: Pairs, unit: Unit, folds: int, seed: int) -> IntArray:
    """Shuffle the units and deal them out; return the fold of each comparison, from 0."""
    units = unit_numbers(pairs, unit)
    count = int(units.max()) + 1
    if count < folds:
        fix = "Take fewer folds, or a smaller unit."
        raise DataError(f"{folds} folds of {count} {unit}s", fix=fix)
    return generator(seed).permutation(count)[units] % folds


def _predicted(pairs: Pairs, clustering: Clustering) -> tuple[float, float, float]:
    """Return the shares predicted: by clusters, "all tied", and order (NaN if none is decided)."""
    place, cluster = (np.empty(len(pairs.systems), dtype=np.int64) for _ in range(2))
    place[list(clustering.order)] = np.arange(len(place))
    cluster[list(clustering.order)] = clustering.clusters
    right, ordered = (
        np.sign(of[pairs.second] - of[pairs.first]) == pairs.outcome for of in (cluster, place)
    )
    decided = pairs.outcome != 0
    order = float(ordered[decided].mean()) if decided.any() else float("nan")
    return float(right.mean()), float(1 - decided.mean()), order


def _held_out(
    method: Method, pairs: Pairs, fold_of: IntArray, resampling: Resampling
) -> Iterator[FloatArray]:
    """Yield the scores of each fold's resamples, made from the other folds."""
    for fold in range(int(fold_of.max()) + 1):
        seed = derived_seed(resampling.seed, fold)
        yield method.runs(pairs.select(fold_of != fold), replace(resampling, seed=seed))


def _makefile(
    method: Method, pairs: Pairs, fold_of: IntArray, resampling: Resampling
) -> Iterator[FloatArray]:
    """Yield the scores of each fold's resamples as the published procedure makes them."""
    folds = int(fold_of.max()) + 1
    scores: list[FloatArray] = []
    for number in range(resampling.runs):
        remaining = _parts_without(str(number), folds)
        seed = derived_seed(resampling.seed, number)
        each_fold = replace(resampling, runs=folds, seed=seed)
        scores.append(method.runs(pairs.select(remaining[fold_of]), each_fold))
    yield from np.stack(scores, axis=1)


def _parts_without(digits: str, folds: int) -> BoolArray:
    width = len(str(folds - 1))
    remaining = np.array([digits not in f"{part:0{width}d}" for part in range(folds)])
    if not remaining.any():
        fault = f"makefile training with {folds} folds leaves nothing in resample {digits}"
        raise UsageError(fault, fix="Take 100 folds, as the paper does.")
    return remaining
