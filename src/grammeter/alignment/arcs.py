"""The arcs of MaxMatch's lattice: optimal moves, found with bit vectors, joined to phrase edits.

MaxMatch needs all optimal moves of two edit-distance tables: with substitutions at cost 1 and
at cost 2. Neither table is filled: each hypothesis token yields integers whose bit ``i`` says,
for source token ``i``, which moves keep the value of that cell (Hyyro 2003, "A bit-vector
algorithm for computing Levenshtein and Damerau edit distances"; Hyyro 2004, "Bit-parallel
LCS-length computation revisited").
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Literal, NamedTuple

from grammeter.core import Edit

Row0 = Literal["3.2", "head"]  # offsets of insertions before the first token: the column, or zero
EPSILON = 0.001  # cost of an edit without a gold edit, beyond its length
Edge = tuple[int, int, bool]
"""``(target, tables, noop)``: an optimal move; ``tables`` (1 or 2) counts those it is of."""

Graph = dict[int, list[Edge]]  # optimal moves by the vertex where they begin, targets ascending
_BOTH = 3


def optimal_moves(source: Sequence[str], hypothesis: Sequence[str]) -> Graph:
    """Return the union of both tables' optimal alignments, the vertices in ascending order.

    Vertex ``row * (len(hypothesis) + 1) + column`` stands for having read ``row`` source and
    ``column`` hypothesis tokens.
    """
    width = len(hypothesis) + 1
    tables = _Tables(source, hypothesis)
    graph: Graph = {len(source) * width + width - 1: []}
    row = len(source)
    here = {width - 1: _BOTH}  # column -> the tables (bits) that reach it, in the current row
    while row:
        above: dict[int, int] = {}
        todo = sorted(here)
        while todo:
            column = todo.pop()
            vertex = row * width + column
            diagonal, up, left = tables.moves(row, column, here[column])
            if diagonal:
                above[column - 1] = above.get(column - 1, 0) | diagonal
                noop = source[row - 1] == hypothesis[column - 1]
                _add(graph, vertex - width - 1, vertex, diagonal, noop)
            if up:
                above[column] = above.get(column, 0) | up
                _add(graph, vertex - width, vertex, up)
            if left:
                if column - 1 not in here:
                    todo.append(column - 1)
                here[column - 1] = here.get(column - 1, 0) | left
                _add(graph, vertex - 1, vertex, left)
        row, here = row - 1, above
    reaching = 0
    for column in range(max(here), 0, -1):
        reaching |= here.get(column, 0)
        _add(graph, column - 1, column, reaching)
    for edges in graph.values():
        edges.reverse()
    return {vertex: graph[vertex] for vertex in sorted(graph)}


def _bit_places(source: Sequence[str]) -> tuple[dict[str, int], int]:
    """Return for each token the bits of its positions, and the bits of all positions."""
    matches: dict[str, int] = {}
    for position, token in enumerate(source):
        matches[token] = matches.get(token, 0) | (1 << position)
    return matches, (1 << len(source)) - 1


class _Tables:
    def __init__(self, source: Sequence[str], hypothesis: Sequence[str]) -> None:
        self._source, self._hypothesis = source, hypothesis
        self._up1, self._left1, self._equal1 = _levenshtein(source, hypothesis)
        matches, mask = _bit_places(source)
        self._up2, self._left2 = up, left = [0], [0]
        flat = mask  # bit set: the common subsequence does not grow from the row above
        for token in hypothesis:
            common = flat & matches.get(token, 0)
            before, flat = flat, ((flat + common) | (flat - common)) & mask
            # where a column gains a growing row and until it loses one, it is ahead of the last
            ahead = ((flat & ~before) - (before & ~flat)) & mask
            up.append(flat)
            left.append(mask & ~ahead)

    def moves(self, row: int, column: int, reached: int) -> tuple[int, int, int]:
        """Return the tables in which a cell is reached diagonally, from above, from the left."""
        if not column:
            return 0, reached, 0
        bit = 1 << (row - 1)
        up2, left2 = self._up2[column], self._left2[column]
        diagonal = _BOTH
        if self._source[row - 1] != self._hypothesis[column - 1]:
            # in the second table a substitution costs as much as both other moves
            both_moves = up2 & bit and (row == 1 or left2 & (bit >> 1))
            diagonal = (0 if self._equal1[column] & bit else 1) | (2 if both_moves else 0)
        up = (1 if self._up1[column] & bit else 0) | (2 if up2 & bit else 0)
        left = (1 if self._left1[column] & bit else 0) | (2 if left2 & bit else 0)
        return reached & diagonal, reached & up, reached & left


def _add(graph: Graph, vertex: int, target: int, tables: int, noop: bool = False) -> None:
    graph.setdefault(vertex, []).append((target, 2 if tables == _BOTH else 1, noop))


def _levenshtein(source: Sequence[str], hypothesis: Sequence[str]) -> list[list[int]]:
    """Return bit columns: up is optimal, left is optimal, diagonal costs nothing."""
    matches, mask = _bit_places(source)
    plus, minus = mask, 0  # vertical differences of +1 and -1
    up, left, equal = [0], [0], [0]
    for token in hypothesis:
        match = matches.get(token, 0)
        zero = ((((match & plus) + plus) ^ plus) | match | minus) & mask
        right = minus | (mask & ~(zero | plus))
        left.append(right)
        equal.append(zero)
        shifted = (right << 1) | 1
        minus, plus = shifted & zero, (((zero & plus) << 1) | ~(zero | shifted)) & mask
        up.append(plus)
    return [up, left, equal]


class Proposal(NamedTuple):
    """An edit of the hypothesis as the scorer reports it.

    ``original`` and ``correction`` are words joined by one space. Offsets before the first
    token may be odd (see :data:`Row0`), so that ``original`` is not always ``start:end``.
    """

    start: int
    end: int
    original: str
    correction: str

    def matches(self, gold: Edit, source: Sequence[str]) -> bool:
        """Whether it equals a gold edit or one of its alternatives."""
        same_span = self.start == gold.start and self.end == gold.end
        if not same_span or self.correction not in gold.corrections:
            return False
        return self.original == " ".join(source[gold.start : gold.end])


@dataclass(slots=True, eq=False)
class Arc:
    """A way from one vertex to another."""

    begin: int
    target: int
    length: int  # number of its elementary edges
    unchanged: int  # number of those that change nothing
    start: int  # source offsets that the official scorer reports
    end: int
    times: int  # how often the scorer's list of edges holds it

    @property
    def noop(self) -> bool:
        """Whether it changes nothing."""
        return self.length == self.unchanged


def elementary_arcs(
    graph: Graph, vertices: Sequence[int], width: int, row0: Row0
) -> dict[int, list[Arc]]:
    """Return the moves among some vertices, ascending, by the vertex where they begin."""
    successors: dict[int, list[Arc]] = {vertex: [] for vertex in vertices}
    for begin, arcs in successors.items():
        for target, times, noop in graph[begin]:
            if target in successors:
                start, end = begin // width, target // width
                if end == 0 and row0 == "3.2":
                    start = end = target - 1
                arcs.append(Arc(begin, target, 1, int(noop), start, end, times))
    return successors


def longer_arcs(
    successors: Mapping[int, Sequence[Arc]], max_unchanged: int,
    *, limit: float = float("inf"), hidden: int = 0, only: int | None = None,
) -> list[Arc] | None:  # fmt: skip
    """Join :func:`elementary_arcs` to longer ones, in the order in which the scorer finds them.

    A way that a shorter one replaces is listed again; as in the scorer, lengths alone decide.
    Arcs that meet before vertex ``hidden`` are not listed; with ``only``, arcs begin at that vertex
    alone; if there are more than ``limit`` arcs, the result is ``None``.
    """
    incoming: dict[int, dict[int, Arc]] = {vertex: {} for vertex in successors}
    for arc in chain.from_iterable(successors.values()):
        if only is None or arc.begin == only:
            incoming[arc.target][arc.begin] = arc
    listed: list[Arc] = []
    for k, after in successors.items():
        ways = [(edge.target, edge.unchanged, edge.end, incoming[edge.target]) for edge in after]
        for begin, first in sorted(incoming[k].items(), key=itemgetter(0)):
            length, passed = first.length + 1, first.unchanged
            for target, more, end, arrivals in ways:
                unchanged = passed + more
                if unchanged > max_unchanged:
                    continue
                arc = arrivals.get(begin)
                if arc is not None and length >= arc.length:
                    continue
                if arc is None:
                    arc = arrivals[begin] = Arc(begin, target, 0, 0, 0, 0, 0)
                arc.length, arc.unchanged, arc.times = length, unchanged, arc.times + 1
                arc.start, arc.end = first.start, end
                if k >= hidden:
                    listed.append(arc)
        if len(listed) > limit:
            return None
    return listed


@dataclass(frozen=True, slots=True)
class Texts:
    """The words of source and hypothesis, which arcs between two vertices stand for."""

    source: Sequence[str]
    hypothesis: Sequence[str]

    @property
    def width(self) -> int:
        """Number of vertices in a row."""
        return len(self.hypothesis) + 1

    def proposal(self, arc: Arc) -> Proposal:
        """Return the edit for which an arc stands."""
        (row, column), (end, last) = divmod(arc.begin, self.width), divmod(arc.target, self.width)
        original, correction = self.source[row:end], self.hypothesis[column:last]
        return Proposal(arc.start, arc.end, " ".join(original), " ".join(correction))

    def agree(self, arc: Arc, gold: Edit) -> bool:
        """Whether an arc equals a gold edit."""
        return self.proposal(arc).matches(gold, self.source)


def weigh_insertions(
    arcs: Iterable[Arc], gold: Sequence[Edit], agree: Callable[[Arc, Edit], bool], match: float
) -> dict[Arc, float]:
    """Weigh arcs that insert at one place, so that no gold edit serves parallel arcs.

    The scorer closes in from both ends of the sorted edges and of the gold edits; after a match
    it skips what does not continue it, even past the other end.
    """
    group: list[Arc] = []
    for arc in sorted(set(arcs), key=lambda a: (a.begin, a.target)):
        group += [arc] * arc.times
    weights = {arc: float(arc.length) for arc in group}
    low, high, gold_low, gold_high = 0, len(group) - 1, 0, len(gold) - 1
    from_left = True
    while low <= high:
        arc = group[low if from_left else high]
        order = range(gold_low, gold_high + 1)[:: 1 if from_left else -1]
        matched = next((x for x in order if agree(arc, gold[x])), None)
        low, high = (low + 1, high) if from_left else (low, high - 1)
        if matched is None:
            weights[arc] += EPSILON
            from_left = not from_left
            continue
        weights[arc] = match
        if from_left:
            gold_low = matched + 1
            while low < len(group) and group[low].begin != arc.target:
                weights[group[low]] += EPSILON
                low += 1
        else:
            gold_high = matched - 1
            while high >= 0 and group[high].target != arc.begin:
                weights[group[high]] += EPSILON
                high -= 1
    return weights
