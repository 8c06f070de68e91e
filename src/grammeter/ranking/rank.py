"""A ranking with rank ranges and clusters, from the scores of many runs; and who beats whom.

Ranges and clusters follow the script ``cluster.py`` by which WMT and Grundkiewicz et al. 2015
(section 5.1) made their tables: which ranks are cut off, and where a line is drawn between
clusters. One thing differs: systems of equal scores share the ranks that they span, where the
script prefers the later name of the alphabet. Who beats whom is the paper's Table 3d, with an exact
sign test.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import permutations

import numpy as np

from grammeter import core
from grammeter.ranking.methods import ExpectedWins, Method, expected_wins
from grammeter.ranking.pairs import Pairs, Resampling, document_notes, unit_numbers, unlabelled
from grammeter.ranking.selection import Selection
from grammeter.stats import sign_test

RankRange = tuple[int, int]  # first and last rank, from 1
ROUNDING = 1e-12  # scores that differ by less, relative to the largest of them, are equal


def rank_systems(
    selection: Selection, method: Method,
    *, resampling: Resampling | None = None, confidence: float = 0.95,
) -> core.Ranked:  # fmt: skip
    """Rank systems by the judgments of a selection, as :func:`grammeter.rank` describes it.

    ``resampling`` is by the unit of the method by default; a range covers the ranks in a share of
    ``confidence`` of the resamples. It is an error if that leaves no runs.
    """
    resampling = resampling or Resampling(unit=method.unit)
    pairs = selection.pairs
    settings = {**method.settings(len(pairs)), **shown_design(resampling, confidence)}
    return core.Ranked(
        method.name,
        core.Signature.of(method.name, {**settings, **selection.shown}),
        tuple(_rows(method, pairs, resampling, confidence)),
        (*selection.notes, *notes_of_method(method, pairs, resampling)),
    )


def _rows(
    method: Method, pairs: Pairs, resampling: Resampling, confidence: float
) -> Iterator[core.RankedSystem]:
    bare = unlabelled(pairs, resampling.unit)
    scores = _equalised(method.score(*bare.pairs.counts()), bare.alike)[bare.place]
    runs = method.runs(bare.pairs, resampling)[:, bare.place]
    alike, reasons = bare.alike[bare.place].tolist(), list(_reasons(method, pairs))
    yield from rows_of_runs(pairs.systems, scores, runs, reasons, confidence, alike)


def rows_of_runs(
    names: Sequence[str], scores: core.FloatArray, runs: core.FloatArray,
    reasons: Sequence[str | None], confidence: float, alike: Sequence[int] | None = None,
) -> Iterator[core.RankedSystem]:  # fmt: skip
    """Yield systems, best first: scores ``(systems,)``, those of runs ``(runs, systems)``."""
    ranges = rank_ranges(*run_ranks(runs), confidence, alike=alike)
    order = score_order(scores, *(-np.array(ends) for ends in zip(*ranges, strict=True)))
    clusters = cluster_numbers([ranges[at] for at in order])
    for at, cluster in zip(order, clusters, strict=True):
        yield core.RankedSystem(names[at], float(scores[at]), ranges[at], cluster, reasons[at])


def _equalised(scores: core.FloatArray, alike: core.IntArray) -> core.FloatArray:
    """Make scores ``(systems,)`` equal where only rounding differs; those alike get their mean."""
    shared = np.bincount(alike, scores)[alike] / np.bincount(alike)[alike]
    order = np.argsort(-_comparable(shared), kind="stable")
    group = _groups(_comparable(shared)[order][None])[0]
    best_of_group, result = np.unique(group, return_index=True)[1], np.empty(len(scores))
    result[order] = shared[order][best_of_group][group]
    return result


def _reasons(method: Method, pairs: Pairs) -> Iterator[str | None]:
    wins, ties = pairs.counts()
    missing, meaning = method.missing(wins, ties)
    compared: core.BoolArray = np.any(wins + wins.T + ties, axis=1)
    decided: core.BoolArray = np.any(wins + wins.T, axis=1)
    for at, row in enumerate(missing & ~np.eye(len(wins), dtype=np.bool_)):
        if not compared[at]:
            yield "never compared with any system"
        elif not decided[at]:
            yield "all its comparisons are ties"
        else:
            others = [pairs.systems[other] for other in np.flatnonzero(row)]
            yield f"{meaning}: {core.listed(others)}" if others else None


def notes_of_method(method: Method, pairs: Pairs, resampling: Resampling) -> Iterator[str]:
    """Yield what ranges leave out, and how many systems never met."""
    if resampling.unit is None:
        yield ("runs of TrueSkill differ in their random games alone, as in the papers, not in the"
               " judgments: ranges are too narrow, clusters too many; --unit sentence (in Python"
               " unit='sentence') resamples the judgments, too")  # fmt: skip
    elif resampling.unit == "pair":
        yield ("the unit 'pair' takes comparisons of one item to be independent, which they are"
               " not: ranges are too narrow, clusters too many")  # fmt: skip
    elif len(np.unique(unit_numbers(pairs, resampling.unit))) == 1:
        yield (f"all judgments are of one {resampling.unit}: resampling it changes nothing, so"
               " ranges and clusters mean nothing")  # fmt: skip
    yield from document_notes(pairs, resampling.unit)
    wins, ties = pairs.counts()
    met = (wins + wins.T + ties > 0)[np.triu_indices(len(wins), 1)]
    if not met.all() and method == ExpectedWins():
        yield (f"{(~met).sum()} of {len(met)} pairs of systems were never compared, and an opponent"
               " never met counts as 0: --divisor met-opponents averages"
               " over the others")  # fmt: skip


def shown_design(resampling: Resampling, confidence: float) -> Mapping[str, object]:
    """Return the settings of the resampling for a signature."""
    runs = {"resamples": resampling.runs, "seed": resampling.seed}
    return {"unit": resampling.unit or "game", **runs, "confidence": f"{confidence:.10g}"}


@dataclass(frozen=True)
class Clustering:
    """Systems in an order, best first: their columns, rank ranges, and clusters from 1."""

    order: tuple[int, ...]
    ranges: tuple[RankRange, ...]
    clusters: tuple[int, ...]


def cluster_runs(
    scores: core.FloatArray, *, confidence: float = 0.95, alike: Sequence[int] | None = None
) -> Clustering:
    """Find rank ranges and clusters of systems ordered by their means over the runs.

    Scores: ``(runs, systems)``, columns in the alphabetical order of names, NaN worse than any
    number. For ``alike`` see :func:`rank_ranges`.
    """
    by_rank = mean_order(scores)
    of_column = rank_ranges(*run_ranks(scores), confidence, alike=alike)
    ranges = tuple(of_column[column] for column in by_rank)
    return Clustering(tuple(by_rank), ranges, cluster_numbers(ranges))


def run_ranks(scores: core.FloatArray) -> tuple[core.IntArray, core.IntArray]:
    """Rank the systems within each run, from 1: the first and last rank, ``(runs, systems)``.

    These are 1 and the number of better systems, and the number that are as good or better.
    Scores are equal if only rounding tells them apart (:data:`ROUNDING`). The original gives
    equal scores to the later name of the alphabet.
    """
    order = np.argsort(-_comparable(scores), axis=1, kind="stable")
    group = _groups(np.take_along_axis(_comparable(scores), order, axis=1))
    places: core.IntArray = np.arange(1, scores.shape[1] + 1, dtype=np.int64)
    starts = np.diff(group, axis=1, prepend=-1) > 0
    ends = np.diff(group, axis=1, append=scores.shape[1]) > 0
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, places, len(scores.T))[:, ::-1], axis=1)[:, ::-1]
    back = np.argsort(order, axis=1)
    return np.take_along_axis(first, back, axis=1), np.take_along_axis(last, back, axis=1)


def mean_order(scores: core.FloatArray) -> list[int]:
    """Return the columns by mean over runs (exact sums), then deviation, then name, descending."""
    means = [math.fsum(column) / len(scores) for column in scores.T.tolist()]
    squares = [math.fsum(column) for column in ((scores - means) ** 2).T.tolist()]
    return score_order(np.array(means), np.array(squares))


def score_order(scores: core.FloatArray, *further: core.FloatArray) -> list[int]:
    """Return the columns by score, best first; NaN last, of equals the later column first."""
    keys = [_comparable(values) for values in (*reversed(further), scores)]
    return np.lexsort(keys)[::-1].tolist()


def rank_ranges(
    first: core.IntArray, last: core.IntArray, confidence: float,
    *, alike: Sequence[int] | None = None,
) -> list[RankRange]:  # fmt: skip
    """Return the first and last rank that each system takes, less the outermost ones.

    Of B runs, ``ceil((B - B * confidence) / 2)`` are cut off at each end of the ranks ``(runs,
    systems)``. Columns with equal numbers in ``alike``, shape ``(systems,)``, have the same
    judgments, so their ranks are pooled and their ranges equal; default: none have.
    """
    runs, systems = first.shape
    if not 0 < confidence <= 1:
        fix = "Give a number between 0 and 1, such as 0.95."
        raise core.UsageError(f"confidence={confidence} is not possible", fix=fix)
    cut = math.ceil((runs - runs * confidence) / 2)
    if runs <= 2 * cut:
        fault = f"{runs} runs are too few for rank ranges at confidence {confidence}"
        fix = "Take more runs, or a lower confidence."
        raise core.UsageError(f"{fault}: {cut} are cut off at each end", fix=fix)
    classes: core.IntArray = np.asarray(range(systems) if alike is None else alike, dtype=np.int64)
    ranges: list[RankRange] = []
    for pooled in (classes == number for number in classes):
        at = cut * int(pooled.sum())
        low, high = np.sort(first[:, pooled], axis=None), np.sort(last[:, pooled], axis=None)
        ranges.append((int(low[at]), int(high[-1 - at])))
    return ranges


def cluster_numbers(ranges: Sequence[RankRange]) -> tuple[int, ...]:
    """Give systems that stand in order, best first, the numbers of their clusters, from 1.

    A line is drawn below a system if its last rank is better than the first rank of every
    system further down. As in the original, systems above it are not looked at.
    """
    lines = [all(last < low for low, _ in ranges[at + 1 :]) for at, (_, last) in enumerate(ranges)]
    return tuple(1 + sum(lines[:place]) for place in range(len(ranges)))


def _groups(descending: core.FloatArray) -> core.IntArray:
    """Return the number of each score's group of equals, from 0 in each row; rows descend."""
    finite = np.where(np.isfinite(descending), np.abs(descending), 0.0)
    rounding = ROUNDING * finite.max(axis=1, initial=0.0, keepdims=True)
    with np.errstate(invalid="ignore"):  # no score beside no score
        steps = descending[:, :-1] - descending[:, 1:] > rounding
    return np.cumsum(np.pad(steps, ((0, 0), (1, 0))), axis=1)


def _comparable(scores: core.FloatArray) -> core.FloatArray:
    return np.where(np.isnan(scores), -np.inf, scores)


# --- head to head --------------------------------------------------------------------------
HEAD_TO_HEAD = "head-to-head"
MARKS = ((0.01, "**"), (0.05, "*"), (0.10, "+"))
"""Largest p-value of each mark. The paper prints a double dagger, a dagger and a star."""


@dataclass(frozen=True, slots=True)
class Duel(core.Plain):
    """Two systems compared, seen from the column's side.

    ``share`` is the column's share of the decided comparisons, NaN with a ``reason`` if there is
    none; ``wins``, ``losses`` and ``ties`` are the column's; ``pvalue`` that of the exact two-sided
    sign test; ``mark`` is ``**`` for p <= .01, ``*`` for p <= .05, ``+`` for p <= .10, else empty.
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
class HeadToHead(core.Result, kind=HEAD_TO_HEAD):
    """All systems against all others, in the order of Expected Wins."""

    systems: tuple[str, ...]
    signature: core.Signature
    cells: tuple[Duel, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, names: tuple[str, str]) -> Duel:
        """Return the cell of a row and a column."""
        for cell in self.cells:
            if (cell.row, cell.column) == names:
                return cell
        raise core.UnknownNameError("pair of systems", " ".join(names), self.systems)

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return shares of wins as a matrix; for programs a row for each cell."""
        if long:
            counts = core.Column.many("count", "wins", "losses", "ties")
            columns = ("row", "column", core.Column("share", "score", 2), *counts)
            rows = [astuple(duel)[:-1] for duel in self.cells]
            return [core.Table.of((*columns, core.Column("pvalue", "pvalue"), "mark"), rows)]
        shares = {(duel.row, duel.column): duel.share for duel in self.cells}
        matrix = [(row, *(shares.get((row, of)) for of in self.systems)) for row in self.systems]
        marks = {(row, 1 + column): duel.mark for row, column, duel in self._placed()}
        notes = (
            "share of the decided comparisons with the row's system that the column's system wins",
            "exact two-sided sign test: ** p <= .01, * p <= .05, + p <= .10",
            str(self.signature),
        )
        heads = core.Column.many("score", *self.systems, digits=2)
        return [core.Table.of(("", *heads), matrix, notes, marks=marks)]

    def figures(self) -> Mapping[str, core.Figure]:
        """Return the shares as a map."""
        shares = np.full((len(self.systems), len(self.systems)), np.nan)
        marks = [[""] * len(self.systems) for _ in self.systems]
        for row, column, duel in self._placed():
            shares[row, column], marks[row][column] = duel.share, duel.mark
        data = {"systems": self.systems, "shares": shares, "marks": marks}
        return {"shares": core.Figure("head_to_head_map", data)}

    def _placed(self) -> Iterator[tuple[int, int, Duel]]:
        places = {system: place for place, system in enumerate(self.systems)}
        yield from ((places[duel.row], places[duel.column], duel) for duel in self.cells)


def duels(selection: Selection) -> HeadToHead:
    """Compare each system with each other by the judgments of a selection.

    Where a system never won against another that did, its count is taken as 1 for share and
    p-value, as in the original; ``wins`` and ``losses`` are the true counts.
    """
    systems, (wins, ties) = selection.pairs.systems, selection.pairs.counts()
    order = score_order(expected_wins(wins))
    settings = {"test": "sign, exact, two-sided", "zeros": "one"}
    signature = core.Signature.of(HEAD_TO_HEAD, {**settings, **selection.shown})
    counts = (wins.T, wins, ties)  # wins of the column, of the row
    cells = tuple(
        _duel(systems[row], systems[column], [int(of[row, column]) for of in counts])
        for row, column in permutations(order, 2)
    )
    names = tuple(systems[at] for at in order)
    return HeadToHead(names, signature, cells, (*selection.notes, *_duel_notes(cells)))


def mark_of(pvalue: float) -> str:
    """Return the mark of a p-value; NaN has none."""
    return next((mark for level, mark in MARKS if pvalue <= level), "")


def _duel_notes(cells: Sequence[Duel]) -> Iterator[str]:
    unlike = "which those of one sentence are not: p-values are too small"
    yield f"the sign test takes comparisons to be independent, {unlike}"
    if one_sided := sum(not cell.wins and cell.losses > 0 for cell in cells):
        pairs = "1 pair" if one_sided == 1 else f"{one_sided} pairs"
        yield (f"{pairs} of systems with all decided comparisons won by one: the other's 0 wins"
               " count as 1 for share and p-value, as in the original")  # fmt: skip


def _duel(row: str, column: str, counts: Sequence[int]) -> Duel:
    won, lost, tied = counts
    if not won + lost:
        reason = f"{tied} ties and nothing decided" if tied else "never compared"
        return Duel(row, column, math.nan, 0, 0, tied, math.nan, "", reason)
    ours, theirs = (max(count, 1) for count in (won, lost))
    pvalue = sign_test(ours, theirs)
    return Duel(row, column, ours / (ours + theirs), won, lost, tied, pvalue, mark_of(pvalue))
