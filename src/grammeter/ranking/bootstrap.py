"""Resampled judgments: how often each system beat each other in bootstrap samples.

A resample is never built; only its counts are. With comparisons as the unit they are one
multinomial draw over the cells (first better, second better, tie) of all pairs of systems; with
larger units, the number of times that each unit was drawn times the counts of the unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from grammeter.core import FloatArray, IntArray, UnknownNameError, UsageError
from grammeter.ranking.pairs import Pairs
from grammeter.stats import chunks, generator, resample_counts

_Colours = NDArray[np.uint64]

_MIXERS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)
_SHIFTS = np.array([30, 27, 31], dtype=np.uint64)

Unit = Literal["pair", "ranking", "sentence"]
"""The unit of resampling.

``pair``: one comparison of two systems (Grundkiewicz et al. 2015), as if the comparisons of one
item were independent; ``ranking``: one item of one judge; ``sentence``: all items of a sentence.
"""

UNITS: tuple[Unit, ...] = get_args(Unit)


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """How resamples are drawn.

    Attributes
    ----------
    unit
        What is drawn as a whole; ``None`` for a method whose own chance makes the runs differ.
    runs
        How many resamples.
    seed
        Where the random numbers start, at least 0.
    processes
        How many processes share work that takes long; the result does not depend on it. Above
        1, a script needs the usual guard ``if __name__ == "__main__":``.

    Raises
    ------
    UsageError
        If a value is out of range or unknown.
    """

    unit: Unit | None = "sentence"
    runs: int = 1000
    seed: int = 1
    processes: int = 1

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in UNITS:
            raise UnknownNameError("resampling unit", self.unit, UNITS)
        if self.runs < 1 or self.seed < 0 or self.processes < 1:
            raise UsageError(
                f"{self.runs} resamples, seed {self.seed}, {self.processes} processes",
                fix="Take at least one resample and one process, and a seed of at least 0.",
            )


def derived_seed(seed: int, *numbers: int) -> int:
    """Return a seed for a part of the work, independent of those of the other parts."""
    return int(np.random.SeedSequence(seed, spawn_key=numbers).generate_state(1, np.uint64)[0])


def unit_numbers(pairs: Pairs, unit: Unit) -> IntArray:
    """Return the number of each comparison's unit, from 0 on without gaps."""
    if unit == "pair":
        return np.arange(len(pairs))
    return np.unique(pairs.ranking if unit == "ranking" else pairs.segment, return_inverse=True)[1]


def resampled_counts(pairs: Pairs, resampling: Resampling) -> Iterator[tuple[IntArray, IntArray]]:
    """Draw bootstrap resamples and count who beat whom.

    Each resample draws as many units as gave a comparison, with replacement, all equally
    likely.

    Parameters
    ----------
    pairs
        At least one comparison.
    resampling
        Its ``unit`` must be named.

    Yields
    ------
    wins, ties
        Shape ``(some runs, systems, systems)``, as :meth:`Pairs.counts` returns them.
    """
    if resampling.unit == "pair":
        drawn = _resampled_pairs(pairs, resampling)
    else:
        drawn = _resampled_units(pairs, resampling)
    for cells in drawn:
        yield _counted(cells, len(pairs.systems))


def _resampled_pairs(pairs: Pairs, resampling: Resampling) -> Iterator[IntArray]:
    size = len(pairs)
    cells = np.bincount(_cell_numbers(pairs), minlength=_cell_count(pairs))
    filled = np.flatnonzero(cells)
    random = generator(resampling.seed)
    for some in chunks(resampling.runs, len(cells)):
        drawn = np.zeros((some, len(cells)), dtype=np.int64)
        drawn[:, filled] = random.multinomial(size, cells[filled] / size, size=some)
        yield drawn


def _resampled_units(pairs: Pairs, resampling: Resampling) -> Iterator[IntArray]:
    assert resampling.unit is not None
    per_unit = cells_of_units(pairs, unit_numbers(pairs, resampling.unit))
    units, width = per_unit.shape
    for counts in resample_counts(units, resampling.runs, seed=resampling.seed, width=width):
        yield (counts @ per_unit).astype(np.int64)  # whole numbers: exact in any order


def cells_of_units(pairs: Pairs, units: IntArray) -> FloatArray:
    """Count the outcomes of each unit.

    Parameters
    ----------
    units
        Shape ``(comparisons,)``: the number of each comparison's unit.

    Returns
    -------
    FloatArray
        Shape ``(units, 3 * pairs of systems)``: whole numbers of first better, second better
        and tie for each pair of systems in turn.
    """
    width = _cell_count(pairs)
    count = int(units.max(initial=-1)) + 1
    flat = np.bincount(units * width + _cell_numbers(pairs), minlength=count * width)
    return flat.reshape(count, width).astype(np.float64)


def _cell_count(pairs: Pairs) -> int:
    systems = len(pairs.systems)
    return 3 * systems * (systems - 1) // 2


def _cell_numbers(pairs: Pairs) -> IntArray:
    systems = len(pairs.systems)
    number = np.zeros((systems, systems), dtype=np.int64)
    rows, columns = _all_pairs(systems)
    number[rows, columns] = np.arange(len(rows))
    outcome = np.array([2, 0, 1])[pairs.outcome]  # tie, first better; -1 is the last: second
    return 3 * number[pairs.first, pairs.second] + outcome


def _counted(cells: IntArray, systems: int) -> tuple[IntArray, IntArray]:
    first, second = _all_pairs(systems)
    won, lost, tied = np.moveaxis(cells.reshape(len(cells), -1, 3), -1, 0)
    wins, ties = (np.zeros((len(cells), systems, systems), dtype=np.int64) for _ in range(2))
    wins[:, first, second], wins[:, second, first] = won, lost
    ties[:, first, second] = ties[:, second, first] = tied
    return wins, ties


def _all_pairs(systems: int) -> tuple[IntArray, IntArray]:
    first, second = np.array(list(combinations(range(systems), 2)), dtype=np.int64).reshape(-1, 2).T
    return first, second


# --- comparisons without names -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Unlabelled:
    """Comparisons in an order that no name and no file decides.

    Random draws go by position. So that a ranking does not change when systems are renamed,
    sentences are renumbered or files come in another order, systems and units are put into an
    order that depends on the judgments alone. Colours, numbers of 64 bits, are refined round by
    round: that of a system by its comparisons and their units, that of a unit by its systems
    (Weisfeiler and Leman 1968). Systems of one colour cannot be told apart by any judgment.

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
