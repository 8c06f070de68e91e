"""Who beats whom: Table 3d of Grundkiewicz et al. 2015, with an exact sign test."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import permutations
from typing import Literal, get_args

import numpy as np

from grammeter import core
from grammeter.ranking.methods import expected_wins
from grammeter.ranking.rank import score_order
from grammeter.ranking.selection import Selection
from grammeter.stats import sign_test

HEAD_TO_HEAD = "head-to-head"
Zeros = Literal["one", "keep"]
"""A count of 0 beside a positive one becomes 1, as in the original, or stays 0."""

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


def duels(selection: Selection, *, zeros: Zeros = "one") -> HeadToHead:
    """Compare each system with each other by the judgments of a selection.

    With ``zeros`` of ``one``, where a system never won against another that did, its count is taken
    as 1 for share and p-value, as in the original; ``wins`` and ``losses`` are the true counts.
    """
    core.UnknownNameError.check("treatment of zeros", zeros, get_args(Zeros))
    systems, (wins, ties) = selection.pairs.systems, selection.pairs.counts()
    order = score_order(expected_wins(wins))
    settings = {"test": "sign, exact, two-sided", "zeros": zeros}
    signature = core.Signature.of(HEAD_TO_HEAD, {**settings, **selection.shown})
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
    unlike = "which those of one sentence are not: p-values are too small"
    yield f"the sign test takes comparisons to be independent, {unlike}"
    one_sided = sum(not cell.wins and cell.losses > 0 for cell in cells)
    if zeros == "one" and one_sided:
        pairs = "1 pair" if one_sided == 1 else f"{one_sided} pairs"
        yield (f"{pairs} of systems with all decided comparisons won by one: the other's 0 wins"
               " count as 1 for share and p-value, as in the original (--zeros"
               " keep leaves them)")  # fmt: skip


def _duel(row: str, column: str, counts: Sequence[int], zeros: Zeros) -> Duel:
    won, lost, tied = counts
    if not won + lost:
        reason = f"{tied} ties and nothing decided" if tied else "never compared"
        return Duel(row, column, math.nan, 0, 0, tied, math.nan, "", reason)
    ours, theirs = (max(count, zeros == "one") for count in (won, lost))
    pvalue = sign_test(ours, theirs)
    return Duel(row, column, ours / (ours + theirs), won, lost, tied, pvalue, mark_of(pvalue))
