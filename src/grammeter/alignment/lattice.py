"""MaxMatch: the edits of a hypothesis that agree best with gold edits.

Dahlmeier & Ng 2012, "Better evaluation for grammatical error correction", section 3, as the
official scorer 3.2 computes it, quirks included. All optimal alignments of source and hypothesis
form a graph; phrase edits with at most ``max_unchanged`` unchanged words become longer arcs; arcs
that equal a gold edit get a large negative weight; the shortest path gives the edits.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grammeter.alignment import arcs
from grammeter.core import Edit, grouped

ARC_LIMIT = 200_000  # above this many phrase edits a lattice is handled without listing them


def matcher(
    source: Sequence[str], hypothesis: Sequence[str], *, max_unchanged: int = 2,
    row0: arcs.Row0 = "3.2", trim: bool = True, arc_limit: float = ARC_LIMIT,
) -> "Lattice | LargeLattice":  # fmt: skip
    """Prepare to match the tokens of a hypothesis with any gold edits of its source.

    An edit holds ``max_unchanged`` unchanged words, 0 or more; ``row0`` says which offsets
    insertions before the first token have. ``trim`` leaves out runs of unchanged words at both
    ends: exact unless a gold edit replaces words with themselves. Above ``arc_limit`` phrase edits
    are not listed: :class:`LargeLattice`.
    """
    graph = arcs.optimal_moves(source, hypothesis)
    window = _window(graph, max_unchanged, trim)
    texts = arcs.Texts(source, hypothesis)
    vertices = list(graph)[window.first : window.last + 1]
    successors = arcs.elementary_arcs(graph, vertices, texts.width, row0)
    branching = vertices[window.branching - window.first]
    longer = arcs.longer_arcs(successors, max_unchanged, limit=arc_limit, hidden=branching)
    if longer is None:
        return LargeLattice(graph, texts, max_unchanged=max_unchanged, row0=row0)
    remaining, hidden = _without_noops(longer, window)
    elementary = sum(times for edges in graph.values() for _, times, _ in edges)
    listed = [*chain.from_iterable(successors.values()), *remaining]
    return Lattice(texts, vertices, listed, window.first, elementary + len(remaining) + hidden)


class Lattice:
    """All edits that can turn a source into a hypothesis, listed.

    Arcs are ``listed`` in the order of the scorer's list of edges, which decides among ties; that
    list has ``edges``. ``offset`` is the distance of the first vertex from the beginning.
    """

    def __init__(
        self, texts: arcs.Texts, vertices: list[int], listed: list[arcs.Arc], offset: int,
        edges: int,
    ) -> None:  # fmt: skip
        self._texts, self._size, self._arcs = texts, len(vertices), listed
        self._offset, self._match = float(offset), -float(edges)
        at = {vertex: place for place, vertex in enumerate(vertices)}
        weights = (_weight(arc.length, 0 if arc.noop else arc.times) for arc in listed)
        self._edges = [(at[a.begin], at[a.target], w) for a, w in zip(listed, weights, strict=True)]

    def edits(self, gold: Iterable[Edit] = ()) -> tuple[arcs.Proposal, ...]:
        """Return the hypothesis's edits, left to right, that agree best with gold edits."""
        weights = self._matching_weights(gold)
        if not weights:
            return self._without_gold
        rows = zip(self._arcs, self._edges, strict=True)
        return self._shortest([(begin, end, weights.get(arc, w)) for arc, (begin, end, w) in rows])

    @cached_property
    def _without_gold(self) -> tuple[arcs.Proposal, ...]:
        return self._shortest(self._edges)

    def _shortest(self, edges: Sequence[tuple[int, int, float]]) -> tuple[arcs.Proposal, ...]:
        """Bellman-Ford in the order of the edges: among ties the order and rounding decide."""
        distance = [float("inf")] * self._size
        distance[0] = self._offset
        arrived = [-1] * self._size
        changed = True
        while changed:
            changed = False
            for index, (begin, target, weight) in enumerate(edges):
                reached = distance[begin] + weight
                if reached < distance[target]:
                    distance[target], arrived[target], changed = reached, index, True
        path: list[arcs.Arc] = []
        vertex = self._size - 1
        while vertex:
            path.append(self._arcs[arrived[vertex]])
            vertex = edges[arrived[vertex]][0]
        return tuple(self._texts.proposal(arc) for arc in reversed(path) if not arc.noop)

    def _matching_weights(self, gold: Iterable[Edit]) -> dict[arcs.Arc, float]:
        weights: dict[arcs.Arc, float] = {}
        agree = self._texts.agree
        for span, edits in grouped(((e.start, e.end), e) for e in gold).items():
            there = self._by_span.get(span, [])
            matching = [arc for arc in there if any(agree(arc, edit) for edit in edits)]
            if matching and span[0] == span[1]:
                weights |= arcs.weigh_insertions(there, edits, agree, self._match)
            else:
                weights |= dict.fromkeys(matching, self._match)
        return weights

    @cached_property
    def _by_span(self) -> dict[tuple[int, int], list[arcs.Arc]]:
        return grouped(((arc.start, arc.end), arc) for arc in self._arcs)


class _Window(NamedTuple):
    """The range of vertices, by position, that can change the result; unchanged ends cannot."""

    first: int  # up to it all distances are whole numbers
    branching: int  # the first vertex with a choice
    last: int  # every path to the end goes through it
    leading_noops: int  # noop arcs at the ends: their number enters the weight of a match
    trailing_noops: int


def _window(graph: arcs.Graph, max_unchanged: int, trim: bool) -> _Window:
    edges = list(graph.values())
    end = len(edges) - 1
    branching = 0
    while branching < end and _only_noop(edges[branching]):
        branching += 1
    if not trim or branching == end:
        return _Window(0, 0, end, 0, 0)
    tail = end
    while tail and _only_noop(edges[tail - 1]):
        tail -= 1
    # With two unchanged words a noop arc may jump over the last vertex that matters, so keep
    # one more; with three or more, which vertices are jumped over is not worth the bookkeeping.
    last = min(end, tail + {0: 0, 1: 1, 2: 3}.get(max_unchanged, end))
    leading = sum(max(0, min(k, max_unchanged - 1)) for k in range(1, branching))
    trailing = end - last if max_unchanged == 2 else 0
    return _Window(max(0, branching - max_unchanged), branching, last, leading, trailing)


def _only_noop(edges: Sequence[tuple[int, int, bool]]) -> bool:
    return len(edges) == 1 and edges[0][2]


def _without_noops(longer: Sequence[arcs.Arc], window: _Window) -> tuple[list[arcs.Arc], int]:
    """Remove longer noop arcs as the original: it skips the arc after each; count hidden ones."""
    hidden, odd = divmod(window.leading_noops, 2)
    look = not odd
    remaining: list[arcs.Arc] = []
    for arc in longer:
        look = not (look and arc.noop)
        remaining += [arc] * look
    return remaining, hidden + (window.trailing_noops + (not look)) // 2


@cache
def _weight(length: int, times: int) -> float:
    """Return the weight of an arc without a gold edit, added up in the original's steps."""
    weight = float(length)
    for _ in range(times):
        weight += arcs.EPSILON
    return weight


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
    """All edits that can turn a source into a hypothesis, where the official scorer cannot finish.

    A rewritten sentence of 200 tokens has 40,000 vertices and some 4e8 arcs. Here arcs are not
    listed: one sweep over the vertices carries, beside the cheapest way to each vertex, the
    cheapest edit under way for each number of unchanged words. Costs are integers: 1000 for an
    elementary edge, 1 for each 0.001 of the scorer, ``-2000 (n + m + 2)`` for an arc that equals a
    gold edit. On small inputs, where the scorer runs too, the costs are the same; the edits may
    differ where two paths cost exactly the same (here the earliest beginning wins, there rounding
    decides).
    """

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
        for (start, end), edits in grouped(((e.start, e.end), e) for e in gold).items():
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
