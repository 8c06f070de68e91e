"""Head to head: how often each system is preferred to each other, with an exact sign test.

Grundkiewicz et al. 2015, Table 3d.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any, Literal, get_args

from grammeter.core import Signature, UnknownNameError
from grammeter.ranking.methods import expected_wins
from grammeter.ranking.rank import score_order
from grammeter.ranking.selection import Selection, figures_of
from grammeter.stats import sign_test
from grammeter.version import __version__

KIND = "head-to-head"

Zeros = Literal["one", "keep"]
"""A count of 0 beside a positive one becomes 1, as in the original, or stays 0."""

ZEROS: tuple[Zeros, ...] = get_args(Zeros)

MARKS = ((0.01, "**"), (0.05, "*"), (0.10, "+"))
"""Largest p-value of each mark. The paper prints a double dagger, a dagger and a star."""


@dataclass(frozen=True, slots=True)
class Duel:
    """Two systems compared, seen from the column's side.

    Attributes
    ----------
    share
        The column's share of the decided comparisons; NaN with a ``reason`` if there is none.
    wins, losses, ties
        Of the column system.
    pvalue, mark
        Of the exact sign test, two-sided: ``**`` for p <= .01, ``*`` for p <= .05, ``+`` for
        p <= .10, else nothing.
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

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape of a cell; NaN becomes ``None`` with a reason."""
        return figures_of(asdict(self))


@dataclass(frozen=True)
class HeadToHead:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        return {
            "kind": KIND,
            "grammeter": __version__,
            "signature": str(self.signature),
            "systems": list(self.systems),
            "cells": [cell.to_dict() for cell in self.cells],
            "notes": [*self.notes],
        }


def duels(selection: Selection, *, zeros: Zeros = "one") -> HeadToHead:
    """Compare each system with each other by the judgments of a selection.

    With ``zeros`` of ``one``, where a system never won against another that did, its count is
    taken as 1 for share and p-value, as in the original; ``wins`` and ``losses`` are the true
    counts.
    """
    if zeros not in ZEROS:
        raise UnknownNameError("treatment of zeros", zeros, ZEROS)
    systems, (wins, ties) = selection.pairs.systems, selection.pairs.counts()
    order = score_order(expected_wins(wins))
    settings = {"test": "sign, exact, two-sided", "zeros": zeros}
    signature = Signature.of(KIND, {**settings, **selection.shown})
    cells = tuple(
        _duel(
            systems[row],
            systems[column],
            int(wins[column, row]),
            int(wins[row, column]),
            int(ties[row, column]),
            zeros,
        )
        for row, column in permutations(order, 2)
    )
    names = tuple(systems[at] for at in order)
    return HeadToHead(names, signature, cells, (*selection.notes, *_notes(cells, zeros)))


def mark_of(pvalue: float) -> str:
    """Return the mark of a p-value; NaN has none."""
    return next((mark for level, mark in MARKS if pvalue <= level), "")


def _notes(cells: Sequence[Duel], zeros: Zeros) -> Iterator[str]:
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


def _duel(row: str, column: str, won: int, lost: int, tied: int, zeros: Zeros) -> Duel:
    if not won + lost:
        reason = f"{tied} ties and nothing decided" if tied else "never compared"
        return Duel(row, column, math.nan, 0, 0, tied, math.nan, "", reason)
    least = 1 if zeros == "one" else 0
    ours, theirs = max(won, least), max(lost, least)
    pvalue = sign_test(ours, theirs)
    return Duel(row, column, ours / (ours + theirs), won, lost, tied, pvalue, mark_of(pvalue))
