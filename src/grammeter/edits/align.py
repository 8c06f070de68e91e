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

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice
from math import inf
from typing import Literal, NamedTuple, cast

from grammeter.core.lazy import require
from grammeter.edits.tokens import Tokens

Kind = Literal["S", "I", "D", "T"]
"""Substitution, insertion, deletion, transposition."""

OPEN_CLASSES = frozenset({"ADJ", "ADV", "NOUN", "VERB"})
COST_LIMIT = 300_000
"""So many substitution costs are remembered, some 40 MB; then all are forgotten."""

_MATCH = -1.0
"""Stands for "the same word" among the costs, which are 0 or more."""

_Word = tuple[str, str, str, str]
"""Text, lower case, lemma, word class."""


class Change(NamedTuple):
    """A step of an alignment that is no match: source tokens and what they become."""

    kind: Kind
    start: int
    end: int
    target_start: int
    target_end: int

    @property
    def span(self) -> Span:
        """The tokens on both sides."""
        return Span(*self[1:])


class Span(NamedTuple):
    """Source tokens ``start:end`` and the target tokens that replace them."""

    start: int
    end: int
    target_start: int
    target_end: int


class Region(NamedTuple):
    """What differs: tokens from ``start`` on, up to an end on each side."""

    start: int
    source_end: int
    target_end: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many tokens differ on each side."""
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
    """Aligns many sentences and remembers what words cost.

    Parameters
    ----------
    lev
        Plain Levenshtein: all substitutions cost 1, nothing is transposed.
    cost_limit
        How many costs are remembered.
    """

    def __init__(self, *, lev: bool = False, cost_limit: int = COST_LIMIT) -> None:
        self.lev = lev
        self._costs = _Costs(lev, cost_limit)

    def is_decided_by_words(self, source: Tokens, target: Tokens) -> bool:
        """Whether :meth:`align` looks at nothing but the words of these two sentences."""
        lengths = region(source.texts, target.texts).shape
        return self.lev or 0 in lengths or lengths == (1, 1)

    def align(self, source: Tokens, target: Tokens) -> list[Change]:
        """Return the changes of the best alignment, left to right, matches left out.

        Both sentences must be tagged unless :meth:`is_decided_by_words`.
        """
        part = region(source.texts, target.texts)
        left, right = part.shape
        found: list[Change] = []
        if (left, right) == (1, 1):
            at = part.start
            return [Change("S", at, at + 1, at, at + 1)]  # at most 1.999: an I and a D cost 2
        if left and right:
            self._costs.prune()
            left, right = _Grid(self._costs, source, target, part).retrace(found)
        found.extend(self._along_border(source, target, part.start, left, right))
        found.reverse()
        return found

    def _along_border(
        self, source: Tokens, target: Tokens, equal: int, left: int, right: int
    ) -> Iterator[Change]:
        """Walk from the border of the differing region to the beginning of the sentences."""
        long, short = (source, target) if left else (target, source)
        extra = left or right
        while extra:
            at = equal + extra - 1
            same = equal > 0 and long.texts[at] == short.texts[equal - 1]
            if same or (equal and not self.lev and long.lowers[at] == short.lowers[equal - 1]):
                equal -= 1
                if not same:
                    pair = (at, equal) if left else (equal, at)
                    yield Change("S", pair[0], pair[0] + 1, pair[1], pair[1] + 1)
            elif left:
                yield Change("D", at, at + 1, equal, equal)
                extra -= 1
            else:
                yield Change("I", equal, equal, at, at + 1)
                extra -= 1


class _Grid:
    """The matrix of costs of one region."""

    def __init__(self, costs: _Costs, source: Tokens, target: Tokens, part: Region) -> None:
        sides = (slice(part.start, part.source_end), slice(part.start, part.target_end))
        self._start = part.start
        self._source = costs.rows_of(source, sides[0])
        self._target = costs.numbers_of(target, sides[1])
        self._orders = _Orders(source.lowers[sides[0]], target.lowers[sides[1]], not costs.lev)
        self._cells = self._fill()

    def _fill(self) -> list[list[float]]:
        cells = [[float(at) for at in range(len(self._target) + 1)]]
        for at, costs in enumerate(self._source):
            cells.append([at + 1.0])
            self._fill_row(cells, costs)
        return cells

    def _fill_row(self, cells: list[list[float]], costs: _Row) -> None:
        above, current = cells[-2], cells[-1]
        i = len(cells) - 2
        left, diagonal = current[0], above[0]
        append, first = current.append, self._orders.first_in_target[i]
        columns = zip(
            self._target, islice(above, 1, None), self._orders.first_in_source, strict=True
        )
        for other, up, first_in_source in columns:
            cost = costs[other]
            if cost < 0:
                left = diagonal
            else:
                left = (left if left <= up else up) + 1
                if diagonal + cost < left:  # noqa: PLR1730 - min() takes twice as long
                    left = diagonal + cost
                if first_in_source < i and first < len(current) - 1:
                    left = min(left, self._transposition(cells, i, len(current) - 1)[0])
            append(left)
            diagonal = up

    def _transposition(self, cells: list[list[float]], i: int, j: int) -> tuple[float, int]:
        """Return the cost of a transposition that ends here, and how far back it begins."""
        for back in range(1, min(i, j) + 1):
            start = cells[i - back][j - back]
            if cells[i - back + 1][j - back + 1] == start:
                break
            if self._orders.is_reordered(i - back, i + 1, j - back, j + 1):
                return start + back, back
        return inf, 0

    def retrace(self, found: list[Change]) -> tuple[int, int]:
        """Collect the changes from the end to the border; return where the border is met."""
        cells, first = self._cells, self._start
        i, j = len(self._source), len(self._target)
        while i and j:
            cost = self._source[i - 1][self._target[j - 1]]
            if cost < 0:
                i, j = i - 1, j - 1
                continue
            kind, up, left = self._step(cells, i, j, cost)
            found.append(Change(kind, first + i - up, first + i, first + j - left, first + j))
            i, j = i - up, j - left
        return i, j

    def _step(self, cells: list[list[float]], i: int, j: int, cost: float) -> tuple[Kind, int, int]:
        """Say which step led to a cell; among equal ones the first in this order."""
        value = cells[i][j]
        if self._orders.may_end(i - 1, j - 1):
            transposed, back = self._transposition(cells, i - 1, j - 1)
            if transposed == value:
                return "T", back + 1, back + 1
        if cells[i - 1][j - 1] + cost == value:
            return "S", 1, 1
        return ("I", 0, 1) if cells[i][j - 1] + 1 == value else ("D", 1, 0)


class _Orders:
    """Answers whether some tokens are others in another order, case aside.

    A transposition that ends at two tokens needs each of them among the earlier ones on the
    other side. (If they are the same but for case, it costs more than to substitute them.)
    Sums of hashes are compared first; only where they agree are the tokens sorted.

    Attributes
    ----------
    first_in_target, first_in_source
        Where each token of one side is first met on the other; where it is not, or where
        transpositions are not ``wanted``, behind the end.
    """

    def __init__(self, source: Sequence[str], target: Sequence[str], wanted: bool) -> None:
        self._source = source
        self._target = target
        self.first_in_target = _first_positions(source, target if wanted else ())
        self.first_in_source = _first_positions(target, source if wanted else ())

    def may_end(self, i: int, j: int) -> bool:
        """Whether a transposition can end at these tokens."""
        return self.first_in_target[i] < j and self.first_in_source[j] < i

    def is_reordered(self, start: int, end: int, target_start: int, target_end: int) -> bool:
        """Compare tokens ``start:end`` with the target's."""
        sums, others = self._sums
        if sums[end] - sums[start] != others[target_end] - others[target_start]:
            return False
        return sorted(self._source[start:end]) == sorted(self._target[target_start:target_end])

    @cached_property
    def _sums(self) -> tuple[list[int], list[int]]:
        """Running sums of hashes on both sides."""
        return (
            list(accumulate(map(hash, self._source), initial=0)),
            list(accumulate(map(hash, self._target), initial=0)),
        )


def _first_positions(words: Sequence[str], others: Sequence[str]) -> list[int]:
    first = {word: at for at, word in reversed(list(enumerate(others)))}
    absent = len(words) + len(others)
    return [first.get(word, absent) for word in words]


class _Costs:
    """What it costs to put one word for another, computed when first asked for."""

    def __init__(self, lev: bool, limit: int) -> None:
        self.lev = lev
        self._limit = limit
        self._cost = _levenshtein if lev else _linguistic_cost()
        self._numbers: dict[_Word, int] = {}
        self._words: list[_Word] = []
        self._rows: list[_Row] = []
        self._known = 0

    def numbers_of(self, tokens: Tokens, part: slice) -> list[int]:
        """Return a number for each token, the same for tokens that cost the same."""
        texts, lowers = tokens.texts[part], tokens.lowers[part]
        lemmas, pos = (texts, texts) if self.lev else (tokens.lemmas[part], tokens.pos[part])
        return [self._number(word) for word in zip(texts, lowers, lemmas, pos, strict=True)]

    def rows_of(self, tokens: Tokens, part: slice) -> list[_Row]:
        """Return the costs of putting others, by number, for each of these tokens."""
        return [self._rows[number] for number in self.numbers_of(tokens, part)]

    def between(self, first: int, second: int) -> float:
        """Compute one cost, or say that the words are the same."""
        self._known += 1
        one, other = self._words[first], self._words[second]
        return _MATCH if one[0] == other[0] else self._cost(one, other)

    def prune(self) -> None:
        """Forget everything if it is too much; numbers given out before lose their meaning."""
        if self._known + len(self._rows) > self._limit:
            self._numbers, self._words, self._rows, self._known = {}, [], [], 0

    def _number(self, word: _Word) -> int:
        found = self._numbers.get(word)
        if found is None:
            found = self._numbers[word] = len(self._rows)
            self._words.append(word)
            self._rows.append(_Row(self, found))
        return found


class _Row(dict[int, float]):
    """The costs of one word against others."""

    def __init__(self, costs: _Costs, word: int) -> None:
        super().__init__()
        self._costs = costs
        self._word = word

    def __missing__(self, other: int) -> float:
        cost = self[other] = self._costs.between(self._word, other)
        return cost


def _levenshtein(_first: _Word, _second: _Word) -> float:
    return 1.0


def _linguistic_cost() -> Callable[[_Word, _Word], float]:
    """Return the cost of a substitution: lemma, word class and letters; 0 up to 1.999."""
    distance = cast(
        "Callable[[str, str], float]",
        require("rapidfuzz.distance", extra="errant").Indel.normalized_distance,
    )

    def cost(first: _Word, second: _Word) -> float:
        if first[1] == second[1]:
            return 0.0
        lemma = 0.0 if first[2] == second[2] else 0.499
        pos = 0.0 if first[3] == second[3] else 0.5
        if pos and first[3] in OPEN_CLASSES and second[3] in OPEN_CLASSES:
            pos = 0.25
        return lemma + pos + distance(first[0], second[0])

    return cost
