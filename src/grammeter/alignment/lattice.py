"""MaxMatch: the edits of a hypothesis that agree best with gold edits.

Dahlmeier & Ng 2012, "Better evaluation for grammatical error correction", section 3, as the
official scorer 3.2 computes it, quirks included. All optimal alignments of source and hypothesis
form a graph; phrase edits with at most ``max_unchanged`` unchanged words become longer arcs; arcs
that equal a gold edit get a large negative weight; the shortest path gives the edits.
"""

from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from grammeter.alignment import arcs
from grammeter.core import Edit

if TYPE_CHECKING:
    from grammeter.alignment.large_lattice import LargeLattice

ARC_LIMIT = 200_000  # above this many phrase edits a lattice is handled without listing them


def matcher(
    source: Sequence[str], hypothesis: Sequence[str], *, max_unchanged: int = 2,
    row0: arcs.Row0 = "3.2", trim: bool = True, arc_limit: float = ARC_LIMIT,
) -> "Lattice | LargeLattice":  # fmt: skip
    """Prepare to match the tokens of a hypothesis with any gold edits of its source.

    An edit holds ``max_unchanged`` unchanged words, 0 or more; ``row0`` says which offsets
    insertions before the first token have. ``trim`` leaves out runs of unchanged words at both
    ends: exact unless a gold edit replaces words with themselves. Above ``arc_limit`` phrase edits
    are not listed: :mod:`~.alignment.large_lattice`.
    """
    graph = arcs.optimal_moves(source, hypothesis)
    window = _window(graph, max_unchanged, trim)
    texts = arcs.Texts(source, hypothesis)
    vertices = list(graph)[window.first : window.last + 1]
    successors = arcs.elementary_arcs(graph, vertices, texts.width, row0)
    branching = vertices[window.branching - window.first]
    longer = arcs.longer_arcs(successors, max_unchanged, limit=arc_limit, hidden=branching)
    if longer is None:
        from grammeter.alignment.large_lattice import LargeLattice

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
        self,
        texts: arcs.Texts,
        vertices: list[int],
        listed: list[arcs.Arc],
        offset: int,
        edges: int,
    ) -> None:
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
        for span, edits in arcs.by_span(gold).items():
            there = self._by_span.get(span, [])
            matching = [arc for arc in there if any(agree(arc, edit) for edit in edits)]
            if matching and span[0] == span[1]:
                weights |= arcs.weigh_insertions(there, edits, agree, self._match)
            else:
                weights |= dict.fromkeys(matching, self._match)
        return weights

    @cached_property
    def _by_span(self) -> dict[tuple[int, int], list[arcs.Arc]]:
        return arcs.by_span(self._arcs)


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
