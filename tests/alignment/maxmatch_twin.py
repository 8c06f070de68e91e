"""The slow, obvious twin of MaxMatch: whole tables, all arcs, plain Bellman-Ford.

Written from the description of the official scorer's behaviour, without any of the short cuts
of ``grammeter.alignment.lattice``. Vertices are pairs (source tokens read, hypothesis tokens read).
"""

from __future__ import annotations

from dataclasses import dataclass

EPSILON = 0.001


@dataclass
class Way:
    length: int
    unchanged: int
    noop: bool
    start: int
    end: int


def optimal_moves(source, hypothesis, substitution):
    """All vertices and edges on optimal paths of one edit-distance table."""
    n, m = len(source), len(hypothesis)

    def step(i, j):
        return 0 if source[i - 1] == hypothesis[j - 1] else substitution

    table = {}
    for i in range(n + 1):
        for j in range(m + 1):
            around = [table[i - 1, j] + 1] if i else []
            around += [table[i, j - 1] + 1] if j else []
            around += [table[i - 1, j - 1] + step(i, j)] if i and j else []
            table[i, j] = min(around, default=0)
    edges, seen, todo = set(), {(n, m)}, [(n, m)]
    while todo:
        i, j = todo.pop()
        before = []
        if i and j and table[i, j] == table[i - 1, j - 1] + step(i, j):
            before.append((i - 1, j - 1))
        if i and table[i, j] == table[i - 1, j] + 1:
            before.append((i - 1, j))
        if j and table[i, j] == table[i, j - 1] + 1:
            before.append((i, j - 1))
        for vertex in before:
            edges.add((vertex, (i, j)))
            if vertex not in seen:
                seen.add(vertex)
                todo.append(vertex)
    return seen, edges


class Twin:
    def __init__(self, source, hypothesis, max_unchanged=2, row0="3.2"):
        self.source, self.hypothesis = source, hypothesis
        one = optimal_moves(source, hypothesis, 1)
        two = optimal_moves(source, hypothesis, 2)
        self.vertices = sorted(one[0] | two[0])
        listed = sorted([*one[1], *two[1]])
        self.ways = {edge: self.elementary(edge, row0) for edge in listed}
        successors = {v: sorted({b for a, b in listed if a == v}) for v in self.vertices}
        for k in self.vertices:
            for i in [v for v in self.vertices if (v, k) in self.ways]:
                for j in successors[k]:
                    first, last, old = self.ways[i, k], self.ways[k, j], self.ways.get((i, j))
                    unchanged = first.unchanged + last.unchanged
                    if unchanged <= max_unchanged and (
                        old is None or first.length + 1 < old.length
                    ):
                        noop = first.noop and last.noop
                        self.ways[i, j] = Way(
                            first.length + 1, unchanged, noop, first.start, last.end
                        )
                        listed.append((i, j))
        self.edges, look = [], True
        for edge in listed:
            if look and self.ways[edge].noop and self.ways[edge].length > 1:
                look = False
            else:
                self.edges.append(edge)
                look = True

    def elementary(self, edge, row0):
        (i, j), (k, column) = edge
        noop = k == i + 1 and column == j + 1 and self.source[i] == self.hypothesis[j]
        if k == i:
            place = column - 1 if i == 0 and row0 == "3.2" else i
            return Way(1, int(noop), noop, place, place)
        return Way(1, int(noop), noop, i, k)

    def words(self, edge):
        (i, j), (k, column) = edge
        return " ".join(self.source[i:k]), " ".join(self.hypothesis[j:column])

    def match(self, edge, gold):
        way, (original, correction) = self.ways[edge], self.words(edge)
        return (way.start, way.end) == (gold.start, gold.end) and (
            original == " ".join(self.source[gold.start : gold.end])
            and correction in gold.corrections
        )

    def weights(self, gold):
        weights = {edge: self.ways[edge].length for edge in self.edges}
        groups = {}
        for edge in self.edges:
            way = self.ways[edge]
            if way.start == way.end:
                groups.setdefault(way.start, []).append(edge)
            elif any(self.match(edge, g) for g in gold):
                weights[edge] = -len(self.edges)
            elif not way.noop:
                weights[edge] += EPSILON
        for place, group in groups.items():
            here = [g for g in gold if g.start == g.end == place]
            self.weigh_insertions(sorted(group), here, weights)
        return weights

    def weigh_insertions(self, group, gold, weights):
        low, high, gold_low, gold_high, current = 0, len(group) - 1, 0, len(gold) - 1, 0
        while low <= high:
            left = current == low
            order = range(gold_low, gold_high + 1)
            order = order if left else reversed(order)
            result = next((x for x in order if self.match(group[current], gold[x])), None)
            if result is None:
                weights[group[current]] += EPSILON
                if left:
                    low += 1
                    current = high
                else:
                    high -= 1
                    current = low
                continue
            matched = group[current]
            weights[matched] = -len(self.edges)
            if left:
                gold_low = result + 1
                low += 1
                while low < len(group) and group[low][0] != matched[1]:
                    weights[group[low]] += EPSILON
                    low += 1
                current = low
            else:
                gold_high = result - 1
                high -= 1
                while high >= 0 and group[high][1] != matched[0]:
                    weights[group[high]] += EPSILON
                    high -= 1
                current = high

    def edits(self, gold):
        """Proposed edits as (start, end, original, correction)."""
        weights = self.weights(gold)
        distance = {vertex: float("inf") for vertex in self.vertices}
        distance[0, 0], before, changed = 0, {}, True
        while changed:
            changed = False
            for edge in self.edges:
                reached = distance[edge[0]] + weights[edge]
                if reached < distance[edge[1]]:
                    distance[edge[1]], before[edge[1]], changed = reached, edge, True
        path, vertex = [], (len(self.source), len(self.hypothesis))
        while vertex != (0, 0):
            path.insert(0, before[vertex])
            vertex = before[vertex][0]
        return [
            (self.ways[e].start, self.ways[e].end, *self.words(e))
            for e in path
            if not self.ways[e].noop
        ]

    def least_cost(self, gold, match_cost):
        """Cost of the best path in whole numbers: 1000 an edge, 1 an epsilon."""
        cost = {
            edge: match_cost if weight < 0 else round(1000 * weight)
            for edge, weight in self.weights(gold).items()
        }
        best = {(0, 0): 0}
        for vertex in self.vertices[1:]:
            best[vertex] = min(
                best[a] + cost[a, b] for a, b in self.edges if b == vertex and a in best
            )
        return best[len(self.source), len(self.hypothesis)], cost
