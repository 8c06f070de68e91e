"""Optimal alignments of two sentences, found with bit vectors.

MaxMatch needs all optimal moves of two edit-distance tables: with substitutions at cost 1 and
at cost 2. Neither table is filled: each hypothesis token yields integers whose bit ``i`` says,
for source token ``i``, which moves keep the value of that cell (Hyyro 2003, "A bit-vector
algorithm for computing Levenshtein and Damerau edit distances"; Hyyro 2004, "Bit-parallel
LCS-length computation revisited").
"""

from __future__ import annotations

from collections.abc import Sequence

Edge = tuple[int, int, bool]
"""``(target, tables, noop)``: an optimal move; ``tables`` (1 or 2) counts those it is of."""

Graph = dict[int, list[Edge]]
"""The optimal moves by the vertex where they begin, targets in ascending order."""

_BOTH = 3


def optimal_moves(source: Sequence[str], hypothesis: Sequence[str]) -> Graph:
    """Return the union of both tables' optimal alignments.

    Vertex ``row * (len(hypothesis) + 1) + column`` stands for having read ``row`` source and
    ``column`` hypothesis tokens. Each vertex on an optimal path of either table has an entry,
    in ascending order; that of the last vertex is empty.
    """
    width = len(hypothesis) + 1
    up1, left1, equal1 = _levenshtein(source, hypothesis)
    up2, left2 = _longest_common_subsequence(source, hypothesis)
    graph: Graph = {len(source) * width + width - 1: []}
    here = {width - 1: _BOTH}  # column -> the tables (bits) that reach it, in the current row
    turns = [a | b | c | d for a, b, c, d in zip(up1, left1, up2, left2, strict=True)]
    for row in range(len(source), 0, -1):
        token, bit, base = source[row - 1], 1 << (row - 1), row * width
        if len(here) == 1:  # mostly the only way on is one unchanged word
            ((column, tables),) = here.items()
            if column and token == hypothesis[column - 1] and not turns[column] & bit:
                vertex = base + column
                _add(graph, vertex - width - 1, (vertex, 2 if tables == _BOTH else 1, True))
                here = {column - 1: tables}
                continue
        above: dict[int, int] = {}
        todo = sorted(here)
        while todo:
            column = todo.pop()
            tables = here[column]
            vertex = base + column
            if not column:
                above[0] = above.get(0, 0) | tables
                _add(graph, vertex - width, (vertex, 2 if tables == _BOTH else 1, False))
                continue
            noop = token == hypothesis[column - 1]
            two_up = up2[column] & bit
            if noop:
                diagonal = tables
            else:  # in the second table a substitution is worth a deletion and an insertion
                diagonal = 0 if equal1[column] & bit else tables & 1
                if two_up and tables & 2 and (row == 1 or left2[column] & (bit >> 1)):
                    diagonal |= 2
            if diagonal:
                above[column - 1] = above.get(column - 1, 0) | diagonal
                edge = (vertex, 2 if diagonal == _BOTH else 1, noop)
                _add(graph, vertex - width - 1, edge)
            up = tables & ((1 if up1[column] & bit else 0) | (2 if two_up else 0))
            if up:
                above[column] = above.get(column, 0) | up
                _add(graph, vertex - width, (vertex, 2 if up == _BOTH else 1, False))
            left = tables & ((1 if left1[column] & bit else 0) | (2 if left2[column] & bit else 0))
            if left:
                if column - 1 not in here:
                    todo.append(column - 1)
                here[column - 1] = here.get(column - 1, 0) | left
                _add(graph, vertex - 1, (vertex, 2 if left == _BOTH else 1, False))
        here = above
    _insertions_at_start(graph, here)
    for edges in graph.values():
        edges.reverse()
    return {vertex: graph[vertex] for vertex in sorted(graph)}


def _insertions_at_start(graph: Graph, first_row: dict[int, int]) -> None:
    tables = 0
    for column in range(max(first_row), 0, -1):
        tables |= first_row.get(column, 0)
        _add(graph, column - 1, (column, 2 if tables == _BOTH else 1, False))


def _add(graph: Graph, vertex: int, edge: Edge) -> None:
    if vertex in graph:
        graph[vertex].append(edge)
    else:
        graph[vertex] = [edge]


def _levenshtein(
    source: Sequence[str], hypothesis: Sequence[str]
) -> tuple[list[int], list[int], list[int]]:
    """Return bit columns: up is optimal, left is optimal, diagonal costs nothing."""
    matches, mask = _matches(source)
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
    return up, left, equal


def _longest_common_subsequence(
    source: Sequence[str], hypothesis: Sequence[str]
) -> tuple[list[int], list[int]]:
    """Return bit columns of the second table: up is optimal, left is optimal."""
    matches, mask = _matches(source)
    flat = mask  # bit set: the common subsequence does not grow from the row above
    up, left = [0], [0]
    for token in hypothesis:
        common = flat & matches.get(token, 0)
        before, flat = flat, ((flat + common) | (flat - common)) & mask
        # where a column gains a growing row and until it loses one, it is ahead of the last
        ahead = ((flat & ~before) - (before & ~flat)) & mask
        up.append(flat)
        left.append(mask & ~ahead)
    return up, left


def _matches(source: Sequence[str]) -> tuple[dict[str, int], int]:
    matches: dict[str, int] = {}
    for position, token in enumerate(source):
        matches[token] = matches.get(token, 0) | (1 << position)
    return matches, (1 << len(source)) - 1
