"""The I-measure's alignment of source, hypothesis and reference.

Three sentences are written below each other so that the sum of the costs of the three pairs is
least: two gaps or equal tokens cost 0, a token against a gap 2, two different tokens 3. Of several
such alignments the one that reading back from the end finds first, in the order of
:data:`MOVES`, is taken; so the result is defined to the column.

Against leaving all tokens alone, a pair of equal tokens saves 4 and a pair of different ones 1:
their *gain*, which is to be greatest. Of the full table, ``n * m * l`` cells, almost none are
needed: the sum of the gains of the three *pairs* of prefixes is an upper bound for each cell, and
nearly always attained. :class:`_Search` reads back along cells that may lie on a best path by
that bound, and learns from each dead end. Where that takes too long, :func:`_from_planes` fills
the table plane by plane. Both give the same columns.

Source: Felice and Briscoe (2015) for the costs; the order of ties is that of their program.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice, takewhile
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

GAP = ""  # entry of a column where a sentence has no token
Column = tuple[str, str, str]  # tokens of source, hypothesis and reference below each other
Tokens = Sequence[str]
Triple = tuple[Tokens, Tokens, Tokens]  # source, hypothesis and reference
MOVES = ((1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1))
"""Which sentences have a token in a column, in the order of preference."""

_SIDES = ((0, 1), (0, 2), (1, 2))  # source and hypothesis, source and reference, the other two
_EQUAL, _DIFFERENT = 4, 1  # gains: two gaps, 2 + 2, less 0 or 3
_NEVER = 1 << 30
_BATCH_CELLS = 1 << 20
_Cell = tuple[int, int, int]
_Gains = npt.NDArray[Any]  # int16, or int32 for sentences of thousands of tokens


def align(source: Tokens, hypothesis: Tokens, reference: Tokens) -> list[Column]:
    """Align three sentences; see :func:`align_all` for many."""
    return next(align_all([(source, hypothesis, reference)]))[1]


def align_all(triples: Sequence[Triple]) -> Iterator[tuple[int, list[Column]]]:
    """Align many triples, sentences of like length together; no token is empty.

    Yields positions in ``triples``, in no particular order, and the columns from left to right. A
    column has no more than two gaps; without its gaps each row is the sentence. Where the source
    equals the hypothesis or the reference, the columns are those of the other two as a pair, as the
    authors' program aligns them.
    """
    jobs: list[tuple[int, Triple]] = []
    for index, (source, hypothesis, reference) in enumerate(triples):
        triple = (tuple(source), tuple(hypothesis), tuple(reference))
        if triple[0] == triple[1] == triple[2]:
            yield index, list(zip(*triple, strict=True))
        else:
            jobs.append((index, triple))
    for batch in _batches(jobs):
        yield from _align_batch(batch)


def _batches(jobs: list[tuple[int, Triple]]) -> Iterator[list[tuple[int, Triple]]]:
    """Group by length, so that padding is small, into tables of bounded size."""
    waiting = iter(sorted(jobs, key=lambda job: -max(map(len, job[1]))))
    for first in waiting:
        side = max(map(len, first[1])) + 1
        yield [first, *islice(waiting, _BATCH_CELLS // (side * side))]


def _align_batch(batch: list[tuple[int, Triple]]) -> Iterator[tuple[int, list[Column]]]:
    # reading back takes equal last tokens in any case, so they need no cells
    tails = [_common_suffix(triple) for _, triple in batch]
    cut = zip(batch, tails, strict=True)
    heads = [(s[: len(s) - t], h[: len(h) - t], r[: len(r) - t]) for (_, (s, h, r)), t in cut]
    encoded = _encoded(heads)
    tables = zip(*(_pair_gains(encoded[a], encoded[b]) for a, b in _SIDES), strict=True)
    for (index, triple), tail, head, of_sides in zip(batch, tails, heads, tables, strict=True):
        pairs = [  # flat memory views: single cells are read fast
            _Pair(head[a], head[b], table.reshape(-1).data, table.shape[1])
            for (a, b), table in zip(_SIDES, of_sides, strict=True)
        ]
        moves = _Search(head, pairs).path() or _from_planes(head)
        equal = zip(*(side[len(side) - tail :] for side in triple), strict=True)
        yield index, [*_columns(head, moves), *equal]


def _common_suffix(triple: Triple) -> int:
    columns = zip(*map(reversed, triple), strict=False)
    return len(list(takewhile(lambda column: len(set(column)) == 1, columns)))


def _columns(triple: Triple, moves: Sequence[_Cell]) -> list[Column]:
    source, hypothesis, reference = map(iter, triple)
    return [
        (next(source) if s else GAP, next(hypothesis) if h else GAP, next(reference) if r else GAP)
        for s, h, r in moves
    ]


def _encoded(groups: Sequence[Sequence[Tokens]]) -> list[npt.NDArray[np.int32]]:
    numbers = defaultdict[str, int](count().__next__)
    arrays: list[npt.NDArray[np.int32]] = []
    for role in zip(*groups, strict=True):
        lengths = np.array([len(tokens) for tokens in role])
        array = np.full((len(role), lengths.max()), -1, dtype=np.int32)
        every = map(numbers.__getitem__, chain.from_iterable(role))
        array[np.arange(array.shape[1]) < lengths[:, None]] = np.fromiter(every, np.int32)
        arrays.append(array)
    return arrays


def _gain_type(tokens: int) -> type[np.signedinteger[Any]]:
    """Return a type that holds the gain of sentences of so many tokens together."""
    return np.int16 if _EQUAL * tokens < np.iinfo(np.int16).max else np.int32


def _pair_gains(first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]) -> _Gains:
    """Greatest gain of each pair of prefixes: ``(b, n)``, ``(b, m)`` to ``(b, n+1, m+1)``."""
    batch, n = first.shape
    m = second.shape[1]
    table = np.zeros((batch, n + 1, m + 1), dtype=_gain_type(n + m))
    for i in range(n):
        both = (first[:, i, None] == second).astype(table.dtype)
        both *= _EQUAL - _DIFFERENT
        both += _DIFFERENT
        both += table[:, i, :-1]
        np.maximum(both, table[:, i, 1:], out=both)
        np.maximum.accumulate(both, axis=1, out=table[:, i + 1, 1:])
    return table


@dataclass(slots=True)
class _Pair:
    """Two sentences and the gains of their prefixes, ``width`` cells to a row."""

    first: Tokens
    second: Tokens
    gains: memoryview
    width: int

    def losses(self, i: int, j: int) -> tuple[int, int, int]:
        """Return what ending in both last tokens, the first alone, the second alone loses."""
        if not (i and j):
            return _NEVER, 0 if i else _NEVER, 0 if j else _NEVER
        gains, at = self.gains, i * self.width + j
        here, above = gains[at], at - self.width
        both = _EQUAL if self.first[i - 1] == self.second[j - 1] else _DIFFERENT
        return here - both - gains[above - 1], here - gains[above], here - gains[at - 1]


@dataclass(slots=True)
class _Frame:
    """A cell of the path that is tried, after ``run`` equal columns, and what is left to try."""

    cell: _Cell
    run: int
    slack: int
    options: Iterator[tuple[int, _Cell]]
    loss: int = 0  # on the way to the next frame, by `move`
    move: _Cell = MOVES[0]
    least: int = _NEVER  # the least loss so far


@dataclass(slots=True)
class _Search:
    """Reads back the first best path, depth first, without the table of triples.

    Each move *loses* some of a cell's bound, and a path of greatest gain is one whose losses sum
    to the least. Ever larger sums are tried, from 0 on. ``needed`` holds what a cell is known to
    lose on its way to the beginning; a dead end raises it, and what the last cell needs is the
    next sum to try. The first path found, moves in order of preference, is that of the table.
    """

    tokens: Triple
    pairs: Sequence[_Pair]
    needed: dict[_Cell, int] = field(default_factory=dict[_Cell, int])
    visits: int = 0

    def path(self) -> list[_Cell] | None:
        """Return the moves from left to right; None if the full table is the cheaper way."""
        n, m, width = map(len, self.tokens)
        # a visit takes about as long as a row of a plane, which takes longer beyond 256 cells
        self.visits = (n + 1) * (m + 1) * (1 + width // 256)
        end, run = self._back_over_equal((n, m, width))
        frames: list[_Frame] = []
        while not frames:
            frames = [self._frame(end, run, self.needed.get(end, 0))]
            self._complete(frames)
            if self.visits < 0:
                return None
        moves: list[_Cell] = []
        for frame in frames:
            moves += [MOVES[0]] * frame.run
            if any(frame.cell):
                moves.append(frame.move)
        return moves[::-1]

    def _complete(self, frames: list[_Frame]) -> None:
        while frames and any(frames[-1].cell) and self.visits >= 0:
            frame = frames[-1]
            for loss, move in frame.options:
                if loss > frame.slack:
                    frame.least = min(frame.least, loss)
                    continue
                i, j, k = frame.cell
                cell, run = self._back_over_equal((i - move[0], j - move[1], k - move[2]))
                whole = loss + self.needed.get(cell, 0)
                if whole <= frame.slack:
                    frame.loss, frame.move = loss, move
                    frames.append(self._frame(cell, run, frame.slack - loss))
                    break
                frame.least = min(frame.least, whole)
            else:
                self.needed[frame.cell] = frame.least
                frames.pop()
                if frames:
                    frames[-1].least = min(frames[-1].least, frames[-1].loss + frame.least)

    def _back_over_equal(self, cell: _Cell) -> tuple[_Cell, int]:
        """Take columns of three equal tokens: the first move, and it never loses."""
        source, hypothesis, reference = self.tokens
        i, j, k = cell
        while i and j and k and source[i - 1] == hypothesis[j - 1] == reference[k - 1]:
            i, j, k = i - 1, j - 1, k - 1
        return (i, j, k), cell[0] - i

    def _frame(self, cell: _Cell, run: int, slack: int) -> _Frame:
        self.visits -= 1
        i, j, k = cell
        source_hypothesis, source_reference, hypothesis_reference = self.pairs
        sh, s_h, h_s = source_hypothesis.losses(i, j)
        sr, s_r, r_s = source_reference.losses(i, k)
        hr, h_r, r_h = hypothesis_reference.losses(j, k)
        two = (sh + s_r + h_r, sr + s_h + r_h, hr + h_s + r_s)
        losses = (sh + sr + hr, *two, s_h + s_r, h_s + h_r, r_s + r_h)
        return _Frame(cell, run, slack, zip(losses, MOVES, strict=True))


def _from_planes(triple: Triple) -> list[_Cell]:
    encoded = [array[0] for array in _encoded([triple])]
    dtype = _gain_type(sum(map(len, encoded)))
    equal = [encoded[a][:, None] == encoded[b] for a, b in _SIDES]
    tables = [np.where(same, _EQUAL, _DIFFERENT).astype(dtype) for same in equal]
    sh, sr, hr = [np.pad(table, ((1, 0), (1, 0))) for table in tables]
    planes = _planes_backwards(sh, sr, hr)
    here, before = next(planes), next(planes, None)
    i, j, k = map(len, triple)
    moves: list[_Cell] = []
    while i or j or k:
        for di, dj, dk in MOVES:
            if di > i or dj > j or dk > k:
                continue
            gain = di * dj * sh[i, j] + di * dk * sr[i, k] + dj * dk * hr[j, k]
            rest = before if di else here
            if rest is not None and rest[j - dj, k - dk] + gain == here[j, k]:
                moves.append((di, dj, dk))
                break
        move = moves[-1]
        i, j, k = i - move[0], j - move[1], k - move[2]
        if move[0] and before is not None:
            here, before = before, next(planes, None)
    return moves[::-1]


def _planes_backwards(sh: _Gains, sr: _Gains, hr: _Gains) -> Iterator[_Gains]:
    """Yield the planes, whole source first; one in about sqrt(n) is stored, others made again."""
    last = len(sh) - 1
    step = isqrt(last) + 1
    plane = _within_plane(np.zeros_like(hr), hr)
    stored = [plane]
    for i in range(1, last + 1):
        plane = _next_plane(plane, sh[i], sr[i], hr)
        if i % step == 0:
            stored.append(plane)
    for block in range(last // step, -1, -1):
        planes = [stored.pop()]
        for i in range(block * step + 1, min((block + 1) * step, last + 1)):
            planes.append(_next_plane(planes[-1], sh[i], sr[i], hr))
        yield from reversed(planes)


def _next_plane(before: _Gains, sh: _Gains, sr: _Gains, hr: _Gains) -> _Gains:
    """Gains of the prefixes with one more source token; ``sh`` and ``sr`` are that token's."""
    plane = before.copy()
    np.maximum(plane[1:], before[:-1] + sh[1:, None], out=plane[1:])
    np.maximum(plane[:, 1:], before[:, :-1] + sr[1:], out=plane[:, 1:])
    all_three = before[:-1, :-1] + (sh[1:, None] + sr[1:] + hr[1:, 1:])
    np.maximum(plane[1:, 1:], all_three, out=plane[1:, 1:])
    return _within_plane(plane, hr)


def _within_plane(plane: _Gains, hr: _Gains) -> _Gains:
    """Let the moves take part, in place, that leave the source where it is."""
    np.maximum.accumulate(plane[0], out=plane[0])
    for j in range(1, len(plane)):
        row, above = plane[j], plane[j - 1]
        np.maximum(row, above, out=row)
        np.maximum(row[1:], above[:-1] + hr[j, 1:], out=row[1:])
        np.maximum.accumulate(row, out=row)
    return plane
