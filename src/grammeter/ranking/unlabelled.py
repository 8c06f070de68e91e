"""Comparisons without names: the same for the same judgments, whoever and wherever they stand.

Random draws go by position. So that a ranking does not change when systems are renamed, sentences
are renumbered or files come in another order, systems and units are put into an order that
depends on the judgments alone. Colours, numbers of 64 bits, are refined round by round: that of a
system by its comparisons and their units, that of a unit by its systems (Weisfeiler and Leman
1968). Systems of one colour cannot be told apart by any judgment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grammeter.core import IntArray
from grammeter.ranking.bootstrap import Unit, unit_numbers
from grammeter.ranking.pairs import Pairs

_Colours = NDArray[np.uint64]

_MIXERS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)
_SHIFTS = np.array([30, 27, 31], dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Unlabelled:
    """Comparisons in an order that no name and no file decides.

    Attributes
    ----------
    pairs
        The comparisons; systems, rows and the numbers of units stand in the new order.
    place
        Shape ``(systems,)``: where each system of the original order stands now.
    alike
        Shape ``(systems,)``, in the new order: equal numbers for systems that have the same
        judgments.
    """

    pairs: Pairs
    place: IntArray
    alike: IntArray


def unlabelled(pairs: Pairs, unit: Unit | None) -> Unlabelled:
    """Order comparisons by their content.

    Parameters
    ----------
    pairs
        Comparisons in any order.
    unit
        The unit that will be drawn; ``None`` and ``pair``: single comparisons.
    """
    units = unit_numbers(pairs, unit or "pair")
    systems, rows, of_units = _colours(pairs, units)
    order: IntArray = np.argsort(systems, kind="stable")
    place, place_of_unit = _places(order), _places(np.argsort(of_units, kind="stable"))
    first, second = place[pairs.first], place[pairs.second]
    swapped = first > second
    unit_now = place_of_unit[units]
    moved = Pairs(
        tuple(np.array(pairs.systems)[order].tolist()),
        pairs.judges,
        np.where(swapped, second, first),
        np.where(swapped, first, second),
        np.where(swapped, -pairs.outcome, pairs.outcome),
        unit_now if unit == "ranking" else pairs.ranking,
        unit_now if unit == "sentence" else pairs.segment,
        pairs.judge,
    )
    alike = np.unique(systems[order], return_inverse=True)[1]
    return Unlabelled(moved.select(np.lexsort((rows, unit_now))), place, alike)


def order_of_units(pairs: Pairs, units: IntArray) -> IntArray:
    """Return the numbers of units, shape ``(units,)``, in the order of their content."""
    return np.argsort(_colours(pairs, units)[2], kind="stable")


def _colours(pairs: Pairs, units: IntArray) -> tuple[_Colours, _Colours, _Colours]:
    """Return the colours of systems, comparisons and units."""
    count = len(pairs.systems)
    systems = np.zeros(count, dtype=np.uint64)
    known = 0
    while True:
        rows = _rows(pairs, systems)
        of_units = _sums(units, rows, int(units.max(initial=-1)) + 1)
        if known == (known := len(np.unique(systems))):
            return systems, rows, of_units
        seen = _mixed(rows + _mixed(of_units)[units])
        for side, outcome in ((pairs.first, pairs.outcome), (pairs.second, -pairs.outcome)):
            systems = systems + _sums(side, _mixed(seen + (outcome + 1).astype(np.uint64)), count)
        systems = _mixed(systems)


def _rows(pairs: Pairs, systems: _Colours) -> _Colours:
    """Colour comparisons; which system comes first does not matter."""
    first, second = _mixed(systems[pairs.first]), _mixed(systems[pairs.second])
    better = np.where(pairs.outcome < 0, second, first)
    tied = (pairs.outcome == 0).astype(np.uint64)
    return _mixed(np.where(tied, np.uint64(0), better) + first + second + tied)


def _sums(groups: IntArray, colours: _Colours, count: int) -> _Colours:
    """Add up the colours of each group; the order of addition does not matter."""
    sums = np.zeros(count, dtype=np.uint64)
    np.add.at(sums, groups, colours)
    return sums


def _mixed(colours: _Colours) -> _Colours:
    """Scatter numbers over all 64 bits (splitmix64, Steele, Lea and Flood 2014)."""
    mixed = colours + _MIXERS[0]
    for shift, mixer in zip(_SHIFTS[:2], _MIXERS[1:], strict=True):
        mixed = (mixed ^ (mixed >> shift)) * mixer
    return mixed ^ (mixed >> _SHIFTS[2])


def _places(order: IntArray) -> IntArray:
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places
