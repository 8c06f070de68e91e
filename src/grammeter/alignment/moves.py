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
    tables = _Tables(source, hypothesis)
    graph: Graph = {len(source) * width + width - 1: []}
    row = len(source)
    here = {width - 1: _BOTH}  # column -> the tables (bits) that reach it, in the current row
    while row:
        if len(here) == 1:
            row, here = tables.pass_unchanged(graph, row, here)
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
    _insertions_at_start(graph, here)
    for edges in graph.values():
        edges.reverse()
    return {vertex: graph[vertex] for vertex in sorted(graph)}


class _Tables:
    """Both edit-distance tables, as bit columns."""

    def __init__(self, source: Sequence[str], hypothesis: Sequence[str]) -> None:
        self._source = source
        self._hypothesis = hypothesis
        self._up1, self._left1, self._equal1 = _levenshtein(source, hypothesis)
        self._up2, self._left2 = _longest_common_subsequence(source, hypothesis)
        columns = zip(self._up1, self._left1, self._up2, self._left2, strict=True)
        self._turns = [a | b | c | d for a, b, c, d in columns]

    def pass_unchanged(
        self, graph: Graph, row: int, here: dict[int, int]
    ) -> tuple[int, dict[int, int]]:
        """Go back, from the only cell of a row, while the only way is an unchanged word."""
        ((column, reached),) = here.items()
        width, times = len(self._hypothesis) + 1, 2 if reached == _BOTH else 1
        source, hypothesis, turns = self._source, self._hypothesis, self._turns
        while row > 1 and column and source[row - 1] == hypothesis[column - 1]:
            if turns[column] >> (row - 1) & 1:
                break
            vertex = row * width + column
            graph[vertex - width - 1] = [(vertex, times, True)]
            row, column = row - 1, column - 1
        return row, {column: reached}

    def moves(self, row: int, column: int, reached: int) -> tuple[int, int, int]:
        """Say from where a cell is reached: diagonally, from above, from the left.

        Each answer is the set of tables, out of those that reach the cell.
        """
        if not column:
            return 0, reached, 0
        bit = 1 << (row - 1)
        up2, left2 = self._up2[column], self._left2[column]
        diagonal = _BOTH
        if (
            self._source[row - 1] != self._hypothesis[column - 1]
        ):  # in the second table a substitution costs as much as both other moves
            both_moves = up2 & bit and (row == 1 or left2 & (bit >> 1))
            diagonal = (0 if self._equal1[column] & bit else 1) | (2 if both_moves else 0)
        up = (1 if self._up1[column] & bit else 0) | (2 if up2 & bit else 0)
        left = (1 if self._left1[column] & bit else 0) | (2 if left2 & bit else 0)
        return reached & diagonal, reached & up, reached & left


def _insertions_at_start(graph: Graph, first_row: dict[int, int]) -> None:
    tables = 0
    for column in range(max(first_row), 0, -1):
        tables |= first_row.get(column, 0)
        _add(graph, column - 1, column, tables)


def _add(graph: Graph, vertex: int, target: int, tables: int, noop: bool = False) -> None:
    edge = (target, 2 if tables == _BOTH else 1, noop)
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
