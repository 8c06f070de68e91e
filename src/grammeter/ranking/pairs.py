"""Pairwise comparisons, the input of every ranking method: extracted, resampled, without names.

A resample is never built; only its counts are. With comparisons as the unit they are one
multinomial draw over the cells (first better, second better, tie) of all pairs of systems; with
larger units, the number of times that each unit was drawn times the counts of the unit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, product
from operator import itemgetter
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from grammeter import core
from grammeter.core import BoolArray, FloatArray, IntArray, Ranking, UnknownNameError, UsageError
from grammeter.stats import chunks, generator, resample_counts

Extraction = Literal["expanded", "unexpanded", "first-listed"]
"""Who is compared for an output that several systems wrote.

``expanded``: all of them; ``unexpanded``: the first of the alphabet among the chosen systems;
``first-listed``: the one that the judgment lists first, and nobody if it is not chosen.
"""
EXTRACTIONS: tuple[Extraction, ...] = get_args(Extraction)
Unit = Literal["pair", "ranking", "sentence", "document"]
"""The unit of resampling.

``pair``: one comparison of two systems (Grundkiewicz et al. 2015), as if the comparisons of one
item were independent; ``ranking``: one item of one judge; ``sentence``: all items of a sentence;
``document``: all items of a document, where it is known.
"""
UNITS: tuple[Unit, ...] = get_args(Unit)
COLUMNS = {"ranking": "ranking", "sentence": "segment", "document": "document"}
"""Where :class:`Pairs` have the numbers of a unit."""
FEW_DOCUMENTS = 20
_Colours = NDArray[np.uint64]
_MIXERS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)
_SHIFTS = np.array([30, 27, 31], dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Comparisons of two systems, column by column, each of shape ``(pairs,)``.

    ``systems`` and ``judges`` are names, in alphabetical order; all other columns hold numbers:
    ``first`` and ``second``, positions in ``systems``, ``first < second``; ``outcome``, 1 if the
    first system is better, -1 if the second is, 0 for a tie; the position of the ``ranking`` in the
    data, the number of the ``segment``, the position of the ``judge``, and the number of the
    ``document``, -1 if it is not known.
    """

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    first: IntArray
    second: IntArray
    outcome: IntArray
    ranking: IntArray
    segment: IntArray
    judge: IntArray
    document: IntArray

    def __len__(self) -> int:
        return len(self.outcome)

    def select(self, chosen: BoolArray | IntArray) -> "Pairs":
        """Return some comparisons; the names of systems and judges stay."""
        columns = (getattr(self, field.name)[chosen] for field in fields(self)[2:])
        return Pairs(self.systems, self.judges, *columns)

    def counts(self) -> tuple[IntArray, IntArray]:
        """Count wins of the row over the column, and ties: both ``(systems, systems)``."""
        cells = self.cells(np.zeros(len(self), dtype=np.int64), 1)
        (wins,), (ties,) = counted(cells, len(self.systems))
        return wins, ties

    def cells(self, units: IntArray, count: int) -> IntArray:
        """Count the outcomes of each unit; ``units`` numbers that of each comparison.

        Shape ``(count, 3 * pairs of systems)``: first better, second better, tie of each in turn.
        """
        first, second = np.triu_indices(len(self.systems), 1)
        number = np.zeros((len(self.systems),) * 2, dtype=np.int64)
        number[first, second] = np.arange(len(first))
        outcome = np.array([2, 0, 1])[self.outcome]  # tie, first better; -1 is the last: second
        cell = 3 * number[self.first, self.second] + outcome
        width = 3 * len(first)
        return np.bincount(units * width + cell, minlength=count * width).reshape(count, width)


def counted(cells: IntArray | FloatArray, systems: int) -> tuple[IntArray, IntArray]:
    """Return the wins and ties, shape ``(rows, systems, systems)``, of rows of cells."""
    first, second = np.triu_indices(systems, 1)
    won, lost, tied = np.moveaxis(cells.reshape(len(cells), len(first), 3), -1, 0)
    wins, ties = (np.zeros((len(cells), systems, systems), dtype=np.int64) for _ in range(2))
    wins[:, first, second], wins[:, second, first] = won, lost
    ties[:, first, second] = ties[:, second, first] = tied
    return wins, ties


def by_first_listed(rankings: Sequence[Ranking], extraction: Extraction) -> Sequence[Ranking]:
    """Leave one system behind each output if only the first one listed counts; before a choice."""
    if extraction != "first-listed":
        return rankings
    return [replace(r, groups=tuple(group[:1] for group in r.groups)) for r in rankings]


def extract_pairs(rankings: Sequence[Ranking], *, extraction: Extraction = "expanded") -> Pairs:
    """Compare systems two by two; those behind one output tie; skipped rankings give nothing."""
    systems = tuple(sorted({name for ranking in rankings for name in ranking.systems}))
    judges = tuple(sorted({ranking.judge for ranking in rankings}))
    place = {name: number for number, name in enumerate(systems)}
    who = {name: number for number, name in enumerate(judges)}
    places = sorted({(r.segment, r.document_name or "") for r in rankings})
    documents = {name: at for at, name in enumerate(dict.fromkeys(name for _, name in places))}
    rows: list[tuple[int, ...]] = []
    for number, ranking in enumerate(rankings):
        document = documents[ranking.document_name] if ranking.document_name else -1
        tail = (number, ranking.segment, who[ranking.judge], document)
        for first, second, outcome in _compared(ranking, extraction):
            a, b = place[first], place[second]
            rows.append((a, b, outcome, *tail) if a < b else (b, a, -outcome, *tail))
    return Pairs(systems, judges, *np.array(rows, dtype=np.int64).reshape(-1, 7).T)


def _compared(ranking: Ranking, extraction: Extraction) -> list[tuple[str, str, int]]:
    if ranking.skipped:
        return []
    groups = ranking.groups
    if extraction != "expanded":
        first = min if extraction == "unexpanded" else itemgetter(0)
        groups = tuple((first(group),) for group in groups)
    compared = [(a, b, 0) for group in groups for a, b in combinations(group, 2)]
    for (group, rank), (other, worse) in combinations(zip(groups, ranking.ranks, strict=False), 2):
        outcome = (worse > rank) - (worse < rank)
        compared += [(a, b, outcome) for a, b in product(group, other)]
    return compared


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """How resamples are drawn.

    ``unit`` is drawn as a whole, ``None`` for a method whose own chance makes the runs differ. So
    many ``processes`` share work that takes long; the result does not depend on it. Above 1, a
    script needs the usual guard ``if __name__ == "__main__":``.
    """

    unit: Unit | None = "sentence"
    runs: int = 1000
    seed: int = 1
    processes: int = 1

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in UNITS:
            raise UnknownNameError("resampling unit", self.unit, UNITS)
        core.check_drawing(self.runs, self.seed, least=1)
        if self.processes < 1:
            raise UsageError(f"{self.processes} processes", fix="Take one at least.")


def derived_seed(seed: int, *numbers: int) -> int:
    """Return a seed for a part of the work, independent of those of the other parts."""
    return int(np.random.SeedSequence(seed, spawn_key=numbers).generate_state(1, np.uint64)[0])


def unit_numbers(pairs: Pairs, unit: Unit) -> IntArray:
    """Return each comparison's unit, 0 on without gaps; UsageError for unknown documents."""
    if unit == "pair":
        return np.arange(len(pairs))
    numbers: IntArray = getattr(pairs, COLUMNS[unit])
    if numbers.min(initial=0) < 0:
        fix = "Name them: rank --documents FILE:COLUMN; for meta, score --documents FILE:COLUMN."
        raise UsageError("it is not known which document each judgment is of", fix=fix)
    return np.unique(numbers, return_inverse=True)[1]


def document_notes(pairs: Pairs, unit: Unit | None) -> Iterator[str]:
    """Say how many documents are drawn, and if they are few."""
    if unit == "document":
        count = len(np.unique(unit_numbers(pairs, unit)))
        few = ": so few that no interval is to be trusted" if count < FEW_DOCUMENTS else ""
        yield f"judgments are drawn by document ({count}){few}"


def resampled_counts(pairs: Pairs, resampling: Resampling) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield :func:`counted` resamples, each of as many units as gave a comparison."""
    assert resampling.unit is not None
    runs, seed, size = resampling.runs, resampling.seed, len(pairs)
    if resampling.unit == "pair":
        cells = pairs.cells(np.zeros(size, dtype=np.int64), 1)[0]
        filled, random = np.flatnonzero(cells), generator(seed)
        for some in chunks(runs, len(cells)):
            drawn = np.zeros((some, len(cells)), dtype=np.int64)
            drawn[:, filled] = random.multinomial(size, cells[filled] / size, size=some)
            yield counted(drawn, len(pairs.systems))
        return
    numbers = unit_numbers(pairs, resampling.unit)
    per_unit = pairs.cells(numbers, int(numbers.max(initial=-1)) + 1).astype(np.float64)
    units, width = per_unit.shape
    for counts in resample_counts(units, runs, seed=seed, width=width):
        yield counted(counts @ per_unit, len(pairs.systems))  # whole numbers: exact in any order


@dataclass(frozen=True, eq=False)
class Unlabelled:
    """Comparisons in an order that no name and no file decides.

    Random draws go by position. So that a ranking does not change when systems are renamed,
    sentences are renumbered or files come in another order, systems and units are put into an
    order that depends on the judgments alone. Colours, numbers of 64 bits, are refined round by
    round: that of a system by its comparisons and their units, that of a unit by its systems
    (Weisfeiler and Leman 1968). Systems of one colour cannot be told apart by any judgment.

    In ``pairs``, systems, rows and numbers of units stand in the new order. ``place``, shape
    ``(systems,)``, is where each system of the original order stands now; ``alike``, in the new
    order, has equal numbers for systems that have the same judgments.
    """

    pairs: Pairs
    place: IntArray
    alike: IntArray


def unlabelled(pairs: Pairs, unit: Unit | None) -> Unlabelled:
    """Order comparisons by their content and by the unit to be drawn; ``None``: by ``pair``."""
    units = unit_numbers(pairs, unit or "pair")
    systems, rows, of_units = _colours(pairs, units)
    order = np.argsort(systems, kind="stable")
    place = np.argsort(order)
    first, second = place[pairs.first], place[pairs.second]
    unit_now = np.argsort(np.argsort(of_units, kind="stable"))[units]
    column = COLUMNS.get(unit or "pair")
    moved = replace(
        pairs, systems=tuple(np.array(pairs.systems)[order].tolist()),
        first=np.minimum(first, second), second=np.maximum(first, second),
        outcome=np.where(first > second, -pairs.outcome, pairs.outcome),
        **({column: unit_now} if column else {}),
    )  # fmt: skip
    alike = np.unique(systems[order], return_inverse=True)[1]
    return Unlabelled(moved.select(np.lexsort((rows, unit_now))), place, alike)


def order_of_units(pairs: Pairs, units: IntArray) -> IntArray:
    """Return the numbers of units, shape ``(units,)``, in the order of their content."""
    return np.argsort(_colours(pairs, units)[2], kind="stable")


def _colours(pairs: Pairs, units: IntArray) -> tuple[_Colours, _Colours, _Colours]:
    count = len(pairs.systems)
    systems, known = np.zeros(count, dtype=np.uint64), 0
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
    first, second = _mixed(systems[pairs.first]), _mixed(systems[pairs.second])
    better = np.where(pairs.outcome < 0, second, first)
    tied = (pairs.outcome == 0).astype(np.uint64)
    return _mixed(np.where(tied, np.uint64(0), better) + first + second + tied)


def _sums(groups: IntArray, colours: _Colours, count: int) -> _Colours:
    sums = np.zeros(count, dtype=np.uint64)
    np.add.at(sums, groups, colours)
    return sums


def _mixed(colours: _Colours) -> _Colours:
    """Scatter numbers over all 64 bits (splitmix64, Steele, Lea and Flood 2014)."""
    mixed = colours + _MIXERS[0]
    for shift, mixer in zip(_SHIFTS[:2], _MIXERS[1:], strict=True):
        mixed = (mixed ^ (mixed >> shift)) * mixer
    return mixed ^ (mixed >> _SHIFTS[2])
