"""The arcs of MaxMatch's lattice: elementary moves joined to phrase edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, NamedTuple

from grammeter.alignment.moves import Graph
from grammeter.core import Edit

Row0 = Literal["3.2", "head"]
"""Offsets of insertions before the first token: the column, as in release 3.2, or zero."""

EPSILON = 0.001
"""Cost of an edit without a gold edit, beyond its length."""


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
        return (
            self.start == gold.start
            and self.end == gold.end
            and self.correction in gold.corrections
            and self.original == " ".join(source[gold.start : gold.end])
        )


@dataclass(slots=True, eq=False)
class Arc:
    """A way from one vertex to another, made of ``length`` elementary edges.

    ``begin`` and ``target`` are positions in an ascending list of vertices; ``unchanged``
    counts the unchanged words on the way; ``start`` and ``end`` are the source offsets that the
    official scorer reports; ``times`` is how often its list of edges holds this one.
    """

    begin: int
    target: int
    length: int
    unchanged: int
    start: int
    end: int
    times: int

    @property
    def noop(self) -> bool:
        """Whether it changes nothing."""
        return self.length == self.unchanged


def by_span(edits: Iterable[Edit]) -> dict[tuple[int, int], list[Edit]]:
    """Group edits by the span that they replace."""
    groups: dict[tuple[int, int], list[Edit]] = {}
    for edit in edits:
        groups.setdefault((edit.start, edit.end), []).append(edit)
    return groups


def elementary_arcs(
    graph: Graph, vertices: Sequence[int], width: int, row0: Row0
) -> list[list[Arc]]:
    """Return the moves among some vertices, ascending, by the position where they begin."""
    position = {vertex: i for i, vertex in enumerate(vertices)}
    successors: list[list[Arc]] = []
    for begin, vertex in enumerate(vertices):
        row = vertex // width
        after: list[Arc] = []
        for target, times, noop in graph[vertex]:
            if target in position:
                start, end = row, target // width
                if end == 0 and row0 == "3.2":
                    start = end = target - 1
                after.append(Arc(begin, position[target], 1, 1 if noop else 0, start, end, times))
        successors.append(after)
    return successors


def longer_arcs(
    successors: Sequence[Sequence[Arc]],
    max_unchanged: int,
    *,
    limit: float = float("inf"),
    hidden: int = 0,
    only: int | None = None,
) -> list[Arc] | None:
    """Join :func:`elementary_arcs` to longer ones, in the order in which the scorer finds them.

    A way that a shorter one replaces is listed again. Replacing compares the lengths alone, so
    an arc may miss a longer way with fewer unchanged words: so does the scorer. Arcs that meet
    before position ``hidden`` are not listed; with ``only``, arcs begin at that position alone;
    if there are more than ``limit`` arcs, the result is ``None``.
    """
    incoming: list[dict[int, Arc]] = [{} for _ in successors]
    for arc in (arc for arcs in successors for arc in arcs):
        if only is None or arc.begin == only:
            incoming[arc.target][arc.begin] = arc
    listed: list[Arc] = []
    for k, after in enumerate(successors):
        ways = [(edge.target, edge.unchanged, edge.end, incoming[edge.target]) for edge in after]
        for begin, first in sorted(incoming[k].items(), key=itemgetter(0)):
            length, passed = first.length + 1, first.unchanged
            for target, more, end, arrivals in ways:
                unchanged = passed + more
                if unchanged > max_unchanged:
                    continue
                arc = arrivals.get(begin)
                if arc is None:
                    arc = Arc(begin, target, length, unchanged, first.start, end, 1)
                    arrivals[begin] = arc
                elif length < arc.length:
                    arc.length, arc.unchanged = length, unchanged
                    arc.start, arc.end = first.start, end
                    arc.times += 1
                else:
                    continue
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

    def proposal(self, arc: Arc, begin: int, target: int) -> Proposal:
        """Return the edit for which an arc between two vertices stands."""
        original = self.source[begin // self.width : target // self.width]
        correction = self.hypothesis[begin % self.width : target % self.width]
        return Proposal(arc.start, arc.end, " ".join(original), " ".join(correction))


def weigh_insertions(
    arcs: Iterable[Arc], gold: Sequence[Edit], agree: Callable[[Arc, Edit], bool], match: float
) -> dict[Arc, float]:
    """Weigh arcs that insert at one place, so that no gold edit serves parallel arcs.

    The scorer closes in from both ends of the sorted edges and of the gold edits, in the order
    of the file; after a match it skips what does not continue it. The skipping may run past
    the other end, and does so here.
    """
    group: list[Arc] = []
    for arc in sorted(set(arcs), key=lambda a: (a.begin, a.target)):
        group += [arc] * arc.times
    weights = {arc: float(arc.length) for arc in group}
    low, high, gold_low, gold_high = 0, len(group) - 1, 0, len(gold) - 1
    from_left = True
    while low <= high:
        arc = group[low if from_left else high]
        order = range(gold_low, gold_high + 1)
        matched = next(
            (x for x in (order if from_left else reversed(order)) if agree(arc, gold[x])), None
        )
        if from_left:
            low += 1
        else:
            high -= 1
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
