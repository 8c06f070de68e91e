"""ERRANT's alignment: a linguistically weighted Damerau-Levenshtein distance over tokens.

Felice, Bryant & Briscoe 2016, "Automatic extraction of learner errors in ESL sentences using
linguistically enhanced alignments", section 3, as errant 3.0.2 computes it.

Two shortcuts are exact. Equal tokens at the end: a match is taken unconditionally and no cell
depends on later tokens. Equal tokens at the beginning: with a prefix of ``p`` equal tokens the
cell ``(p + a, p)`` costs exactly ``a``, because every path to it has ``a`` more deletions than
insertions and no other step costs less than nothing; so its step is a match or a change of case
where the words allow it and else a deletion, which the words alone decide. A transposition
never reaches into the prefix, because the search for one stops where two cells of a diagonal
cost the same, and on the border and before it they do.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate
from math import inf
from typing import Any, Literal, NamedTuple

from grammeter.errant.tokens import Tokens

Operation = Literal["S", "I", "D", "T", "M"]  # substitute, insert, delete, transpose, match
OPEN_CLASSES = frozenset({"ADJ", "ADV", "NOUN", "VERB"})
COST_LIMIT = 300_000  # substitution costs kept in memory, some 40 MB; beyond that all are dropped


class Change(NamedTuple):
    """A step of an alignment other than a match, and the tokens of its :class:`Span`."""

    kind: Operation
    start: int
    end: int
    target_start: int
    target_end: int


class Region(NamedTuple):
    """The tokens that differ: from ``start`` on, up to an end on each side."""

    start: int
    source_end: int
    target_end: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of tokens that differ on each side."""
        return self.source_end - self.start, self.target_end - self.start


def region(source: Sequence[str], target: Sequence[str]) -> Region:
    """Trim equal tokens, first at the end and then at the beginning."""
    source_end, target_end = len(source), len(target)
    while source_end and target_end and source[source_end - 1] == target[target_end - 1]:
        source_end -= 1
        target_end -= 1
    start, shorter = 0, min(source_end, target_end)
    while start < shorter and source[start] == target[start]:
        start += 1
    return Region(start, source_end, target_end)


class Aligner:
    """Aligns sentences, keeping up to ``cost_limit`` costs of words; ``lev``: plain Levenshtein."""

    def __init__(self, *, lev: bool = False, cost_limit: int = COST_LIMIT) -> None:
        self.lev = lev
        self._costs = Costs(None if lev else _cost, _words, limit=cost_limit)

    def is_decided_by_words(self, source: Tokens, target: Tokens) -> bool:
        """Whether :meth:`align` needs only the words of these two sentences."""
        lengths = region(source.texts, target.texts).shape
        return self.lev or 0 in lengths or lengths == (1, 1)

    def align(self, source: Tokens, target: Tokens) -> list[Change]:
        """Return the changes of the best alignment; needs tags but :meth:`is_decided_by_words`."""
        part = region(source.texts, target.texts)
        i, j, start = part.source_end, part.target_end, part.start
        if part.shape == (1, 1):
            return [Change("S", start, i, start, j)]  # at most 1.999: an I and a D cost 2
        steps, changes = Steps(self._costs, source, target, part), list[Change]()
        while i != j or i > start:
            step = next(steps.to(i, j))
            if step.kind != "M":
                changes.append(step)
            i, j = step.start, step.target_start
        return changes[::-1]


class Steps:
    """All steps of least cost to each cell, the numbers of tokens that have been read."""

    def __init__(self, costs: "Costs", source: Tokens, target: Tokens, part: Region) -> None:
        self._source, self._target, self._start = source, target, part.start
        self._grid = Grid(costs, source, target, part) if all(part.shape) else None
        self._cases = not costs.even

    def to(self, i: int, j: int) -> Iterator[Change]:
        """Yield T, S, I, D in this order, or a match alone; but one where the texts begin alike."""
        source, target = self._source, self._target
        if i and j and source.texts[i - 1] == target.texts[j - 1]:
            yield Change("M", i - 1, i, j - 1, j)
        elif self._grid is not None and min(i, j) > self._start:
            for kind, up, left in self._grid.ties(i - self._start, j - self._start):
                yield Change(kind, i - up, i, j - left, j)
        elif i and j and self._cases and source.lowers[i - 1] == target.lowers[j - 1]:
            yield Change("S", i - 1, i, j - 1, j)
        else:
            yield Change("D", i - 1, i, j, j) if i > j else Change("I", i, i, j - 1, j)


class Grid:
    """The least costs of aligning the tokens that differ.

    A transposition, tokens in another order, case aside, that ends at two tokens needs each of
    them among the earlier ones on the other side. (If they differ only in case, it costs more than
    to substitute them.) So the first position of each token on the other side is known, one beyond
    the end if there is none or all costs are even.
    """

    def __init__(self, costs: "Costs", source: Tokens, target: Tokens, part: Region) -> None:
        left, right = slice(part.start, part.source_end), slice(part.start, part.target_end)
        self._source, self._target = source.texts[left], target.texts[right]
        costs.prune(len(self._source) * len(self._target))
        (_, self._rows), (self._words, _) = costs.of(source, left), costs.of(target, right)
        self._lowers = one, other = source.lowers[left], target.lowers[right]
        self._first_in_target = _first_positions(one, () if costs.even else other)
        self._first_in_source = _first_positions(other, () if costs.even else one)
        self._cells = [[float(at) for at in range(len(self._target) + 1)]]
        for i in range(len(self._source)):
            self._cells.append([i + 1.0])
            self._fill_row(i)

    def _fill_row(self, i: int) -> None:
        above, current = self._cells[-2:]
        text, costs, first = self._source[i], self._rows[i], self._first_in_target[i]
        left, diagonal = current[0], above[0]
        columns = (self._target, self._words, above[1:], self._first_in_source)
        for other, word, up, first_in_source in zip(*columns, strict=True):
            if text == other:
                left = diagonal
            else:
                left = (left if left <= up else up) + 1
                if diagonal < left and diagonal + costs[word] < left:
                    left = diagonal + costs[word]
                if first_in_source < i and first < len(current) - 1:
                    left = min(left, self._transposition(i, len(current) - 1)[0])
            current.append(left)
            diagonal = up

    def _transposition(self, i: int, j: int) -> tuple[float, int]:
        """Return the cost of a transposition that ends here, and how far back it begins."""
        cells = self._cells
        for back in range(1, min(i, j) + 1):
            start = cells[i - back][j - back]
            if cells[i - back + 1][j - back + 1] == start:
                break
            if self._is_reordered(i - back, i + 1, j - back, j + 1):
                return start + back, back
        return inf, 0

    def ties(self, i: int, j: int) -> Iterator[tuple[Operation, int, int]]:
        """Yield kind and length of the steps of least cost to a cell: T, S, I, D in this order."""
        cells, value = self._cells, self._cells[i][j]
        if self._first_in_target[i - 1] < j - 1 and self._first_in_source[j - 1] < i - 1:
            transposed, back = self._transposition(i - 1, j - 1)
            if transposed == value:
                yield "T", back + 1, back + 1
        if cells[i - 1][j - 1] + self._rows[i - 1][self._words[j - 1]] == value:
            yield "S", 1, 1
        if cells[i][j - 1] + 1 == value:
            yield "I", 0, 1
        if cells[i - 1][j] + 1 == value:
            yield "D", 1, 0

    def _is_reordered(self, start: int, end: int, target_start: int, target_end: int) -> bool:
        """Whether tokens ``start:end`` are the target's tokens in another order."""
        sums, others = self._sums
        if sums[end] - sums[start] != others[target_end] - others[target_start]:
            return False
        source, target = self._lowers
        return sorted(source[start:end]) == sorted(target[target_start:target_end])

    @cached_property
    def _sums(self) -> list[list[int]]:
        return [list(accumulate(map(hash, words), initial=0)) for words in self._lowers]


def _first_positions(words: Sequence[str], others: Sequence[str]) -> list[int]:
    first = {word: at for at, word in reversed(list(enumerate(others)))}
    absent = len(words) + len(others)
    return [first.get(word, absent) for word in words]


class Costs:
    """The costs of substituting words, as ``cost`` has them, computed on first use; None: all 1.

    ``words`` returns what costs look at, an entry for each token of a part of a sentence.
    """

    def __init__(
        self, cost: Callable[[Any, Any], float] | None,
        words: Callable[[Tokens, slice], Iterable[Any]], *, limit: int = COST_LIMIT,
    ) -> None:  # fmt: skip
        self.even, self._limit, self._at_most = cost is None, limit, 0
        self._cost: Callable[[Any, Any], float] = cost or (lambda *_: 1.0)  # pyright: ignore
        self._words_of = words
        self._numbers: dict[Any, int] = {}
        self._words: list[Any] = []
        self._rows: list[_Row] = []

    def of(self, tokens: Tokens, part: slice) -> tuple[list[int], "list[_Row]"]:
        """Return a number for each token, the same for equal words, and its costs by number."""
        words = [0] * len(tokens.texts[part]) if self.even else self._words_of(tokens, part)
        numbers = [self._number(word) for word in words]
        return numbers, [self._rows[number] for number in numbers]

    def prune(self, more: int) -> None:
        """Make room for ``more`` costs; earlier numbers of words may become invalid."""
        self._at_most += more
        if self._at_most > self._limit:
            self._at_most = sum(map(len, self._rows)) + len(self._rows) + more
        if self._at_most > self._limit:
            self._numbers, self._words, self._rows, self._at_most = {}, [], [], more

    def _number(self, word: Any) -> int:
        number = self._numbers.setdefault(word, len(self._rows))
        if number == len(self._rows):
            self._words.append(word)
            self._rows.append(_Row(word, self._words, self._cost))
        return number


class _Row(dict[int, float]):
    def __init__(self, word: Any, words: list[Any], cost: Callable[[Any, Any], float]) -> None:
        super().__init__()
        self._word, self._words, self._cost = word, words, cost

    def __missing__(self, number: int) -> float:
        self[number] = cost = self._cost(self._word, self._words[number])
        return cost


_Word = tuple[str, str, str, str]  # text, lower case, lemma, word class


def _words(tokens: Tokens, part: slice) -> Iterator[_Word]:
    columns = (tokens.texts, tokens.lowers, tokens.lemmas, tokens.pos)
    return zip(*(column[part] for column in columns), strict=True)


def _cost(one: _Word, other: _Word) -> float:
    """Return 0 to 1.999 for lemma, class and letters; case alone costs 0."""
    (text, lower, lemma, pos), (other_text, other_lower, other_lemma, other_pos) = one, other
    if lower == other_lower:
        return 0.0
    cost = 0.0 if lemma == other_lemma else 0.499
    if pos != other_pos:
        cost += 0.25 if pos in OPEN_CLASSES and other_pos in OPEN_CLASSES else 0.5
    return cost + indel_distance()(text, other_text)


@cache
def indel_distance() -> Callable[[str, str], float]:
    """Return the function of the share of letters to delete and insert in two words, 0..1."""
    from rapidfuzz.distance import Indel

    return Indel.normalized_distance
