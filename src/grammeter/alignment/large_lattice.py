"""MaxMatch where the official scorer cannot finish: lattices of tens of thousands of vertices.

A rewritten sentence of 200 tokens has 40,000 vertices and some 4e8 arcs. Here arcs are not
listed: one sweep over the vertices carries, beside the cheapest way to each vertex, the cheapest
edit under way for each number of unchanged words. Costs are integers: 1000 for an elementary
edge, 1 for each 0.001 of the scorer, ``-2000 (n + m + 2)`` for an arc that equals a gold edit.

On small inputs, where the scorer runs too, the costs are the same; the edits may differ where
two paths cost exactly the same (here the earliest beginning wins, there rounding decides).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grammeter.alignment import arcs
from grammeter.core import Edit

Integers = npt.NDArray[np.int64]
EDGE = 1000  # cost of an elementary edge, in units of the scorer's 0.001
_BITS = 32  # a cost and the vertex where its edit begins share an integer: ties go to the lowest
_VERTEX = (1 << _BITS) - 1
_FAR = 1 << 60


class _Step(NamedTuple):
    """A part of a path: an elementary edge or a phrase edit, with its assumed cost."""

    begin: int
    target: int
    cost: int


class LargeLattice:
    """All edits that can turn a source into a hypothesis; made by :func:`~.lattice.matcher`."""

    def __init__(
        self, graph: arcs.Graph, texts: arcs.Texts, *, max_unchanged: int, row0: arcs.Row0
    ) -> None:
        self._graph, self._texts, self._max_unchanged = graph, texts, max_unchanged
        self._row0: arcs.Row0 = row0
        self._match = -2 * EDGE * (len(texts.source) + len(texts.hypothesis) + 2)
        self._sweep = _Sweep(graph, texts, max_unchanged)
        self._known: dict[tuple[int, int], arcs.Arc | None] = {}

    def edits(self, gold: Iterable[Edit] = ()) -> tuple[arcs.Proposal, ...]:
        """Return the hypothesis's edits, left to right, that agree best with gold edits."""
        exact = self._matches(gold)
        closed: set[int] = set()
        while True:
            path = self._sweep.shortest(exact, closed)
            wrong = {step.begin for step in path if not self._holds(step, exact)}
            if not wrong:
                steps = (self._arc(step.begin, step.target) for step in path)
                return tuple(self._texts.proposal(arc) for arc in steps if arc and not arc.noop)
            for begin in wrong:
                closed.add(begin)
                for arc in self._arcs_from(begin):
                    if not arc.noop:
                        exact.setdefault((begin, arc.target), EDGE * arc.length + arc.times)

    def _holds(self, step: _Step, exact: Mapping[tuple[int, int], int]) -> bool:
        elementary = any(target == step.target for target, _, _ in self._graph[step.begin])
        if elementary or (step.begin, step.target) in exact:
            return True
        arc = self._arc(step.begin, step.target)
        return arc is not None and step.cost == EDGE * arc.length + arc.times

    def _arc(self, begin: int, target: int) -> arcs.Arc | None:
        if (begin, target) not in self._known:
            there = self._arcs_from(begin, target)
            self._known[begin, target] = next((a for a in there if a.target == target), None)
        return self._known[begin, target]

    def _arcs_from(self, begin: int, until: int | None = None) -> list[arcs.Arc]:
        """Return the scorer's arcs from a vertex to others, all in the rectangle to ``until``."""
        width = self._texts.width
        last_row, last_column = divmod(max(self._graph) if until is None else until, width)
        row, column = divmod(begin, width)
        firsts = range(row * width, (last_row + 1) * width, width)
        rectangle = chain.from_iterable(range(x + column, x + last_column + 1) for x in firsts)
        inside = [vertex for vertex in rectangle if vertex in self._graph]
        successors = arcs.elementary_arcs(self._graph, inside, width, self._row0)
        longer = arcs.longer_arcs(successors, self._max_unchanged, only=begin) or []
        return [*successors[begin], *dict.fromkeys(longer)]

    def _matches(self, gold: Iterable[Edit]) -> dict[tuple[int, int], int]:
        """Return the arcs that equal gold edits, by their vertices, with their cost."""
        pairs: list[tuple[int, int]] = []
        for (start, end), edits in arcs.by_span(gold).items():
            if start == end:
                pairs += self._matching_insertions(start, edits)
            else:
                pairs += chain.from_iterable(map(self._matching, edits))
        return dict.fromkeys(pairs, self._match)

    def _matching(self, gold: Edit) -> Iterable[tuple[int, int]]:
        width = self._texts.width
        for correction in gold.corrections:
            words = correction.split()
            for column in range(width - len(words)):
                begin = gold.start * width + column
                target = gold.end * width + column + len(words)
                equal = words == list(self._texts.hypothesis[column : column + len(words)])
                arc = self._arc(begin, target) if equal and begin in self._graph else None
                if arc is not None and self._texts.agree(arc, gold):
                    yield begin, target

    def _matching_insertions(self, place: int, gold: Sequence[Edit]) -> Iterable[tuple[int, int]]:
        width = self._texts.width
        row = [v for v in range(place * width, (place + 1) * width) if v in self._graph]
        if self._row0 == "3.2" and 0 < place < width:  # moves before the first token: 3.2 quirk
            row = [*(v for v in (place, place + 1) if v in self._graph), *row]
        moves = arcs.elementary_arcs(self._graph, row, width, self._row0)
        longer = arcs.longer_arcs(moves, self._max_unchanged) or []
        listed = [*chain.from_iterable(moves.values()), *dict.fromkeys(longer)]
        at_place = [arc for arc in listed if (arc.start, arc.end) == (place, place)]
        weights = arcs.weigh_insertions(at_place, gold, self._texts.agree, float(self._match))
        return [(arc.begin, arc.target) for arc, weight in weights.items() if weight < 0]


class _Sweep:
    """Shortest paths over the whole grid, one anti-diagonal at a time.

    Arrays are flat grids with a border before the first row and column, so that looking back
    never leaves them. A value packs a cost and the vertex where its last step begins.
    """

    def __init__(self, graph: arcs.Graph, texts: arcs.Texts, max_unchanged: int) -> None:
        self._rows = len(texts.source) + 1
        self._columns = texts.width
        self._pitch = self._columns + 1
        self._max_unchanged = max_unchanged
        rows, columns = np.divmod(np.arange((self._rows + 1) * self._pitch), self._pitch)
        self._number = (rows - 1) * self._columns + columns - 1
        offsets = (1, self._pitch, self._pitch + 1, self._pitch + 1)
        far = np.full(len(rows), _FAR)
        self._moves = [_Move(at, n == 3, far.copy(), far.copy()) for n, at in enumerate(offsets)]
        by_step = {1: 0, self._columns: 1, self._columns + 1: 2}
        for vertex, edges in graph.items():
            for target, times, noop in edges:
                move = self._moves[by_step[target - vertex] + noop]
                cell = self._cell(target)
                move.alone[cell] = EDGE + (0 if noop else times) << _BITS
                move.inside[cell] = EDGE << _BITS

    def _cell(self, vertex: int) -> int:
        row, column = divmod(vertex, self._columns)
        return (row + 1) * self._pitch + column + 1

    def shortest(self, exact: Mapping[tuple[int, int], int], closed: Iterable[int]) -> list[_Step]:
        """Return the cheapest path; at ``closed`` vertices none but ``exact`` edits begin."""
        best = self._fill(exact, [self._cell(vertex) for vertex in closed])
        path: list[_Step] = []
        vertex = self._rows * self._columns - 1
        while vertex:
            value = int(best[self._cell(vertex)])
            begin = value & _VERTEX
            cost = (value >> _BITS) - (int(best[self._cell(begin)]) >> _BITS)
            path.append(_Step(begin, vertex, cost))
            vertex = begin
        return path[::-1]

    def _fill(self, exact: Mapping[tuple[int, int], int], closed: Sequence[int]) -> Integers:
        size, most = len(self._number), self._max_unchanged
        shut = np.zeros(size, dtype=np.bool_)
        shut[closed] = True
        arriving: dict[int, list[tuple[int, int, int]]] = {}
        for (begin, target), cost in exact.items():
            known = arriving.setdefault(sum(divmod(target, self._columns)), [])
            known.append((begin, self._cell(target), cost))
        best = np.full(size, _FAR)
        opening = best.copy()  # where a phrase edit may begin, packed with its own vertex
        one, more = (np.full((most + 1, size), _FAR) for _ in range(2))  # edits under way
        best[self._cell(0)] = 0
        opening[self._cell(0)] = _FAR if shut[self._cell(0)] else 0
        for total in range(1, self._rows + self._columns - 1):
            first, last = max(0, total - self._columns + 1), min(self._rows - 1, total)
            rows = np.arange(first, last + 1)  # of the anti-diagonal
            cells = (rows + 1) * self._pitch + (total - rows) + 1
            reached = np.full(len(cells), _FAR)
            for move in self._moves:
                before, room = cells - move.offset, most + 1 - move.noop
                alone = (best[before] & ~_VERTEX) + move.alone[cells] + self._number[before]
                reached = np.minimum(reached, alone)
                if room:
                    begun = opening[before] + move.inside[cells]
                    one[int(move.noop), cells] = np.minimum(one[int(move.noop), cells], begun)
                    going = np.minimum(one[:room, before], more[:room, before])
                    going += move.inside[cells]
                    at = np.s_[most + 1 - room :, cells]
                    more[at] = np.minimum(more[at], going)
            best[cells] = np.minimum(reached, more[:, cells].min(axis=0) + (1 << _BITS))
            for begin, cell, cost in arriving.get(total, ()):
                total_cost = cost + (int(best[self._cell(begin)]) >> _BITS)
                best[cell] = min(int(best[cell]), (total_cost << _BITS) + begin)
            packed = (best[cells] & ~_VERTEX) + self._number[cells]
            opening[cells] = np.where(shut[cells], _FAR, packed)
        return best


class _Move(NamedTuple):
    """One kind of elementary edge: how far it looks back, and its packed cost at each cell."""

    offset: int
    noop: bool
    alone: Integers  # as an edit or unchanged word
    inside: Integers  # as a part of a phrase edit
