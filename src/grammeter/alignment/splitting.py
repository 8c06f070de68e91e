"""Split running text into tokens as a corpus is split, learned from the corpus itself.

:class:`CorpusTokenizer` is made of examples, which :func:`split_examples` finds by laying a raw
text on the tokens that it stands for. It is a :data:`Tokenizer`: it takes a text, also of a whole
document, and returns tokens. A *chunk* is a run of characters without white space, a *gap* lies
between two characters of a chunk. Each gap is split, or not, as most examples were in the first of
these contexts that any example has; as many of either kind do not split:

1. the chunk, and whether it is the last one of its line
2. the chunk
3. the shapes of both sides, and whether it is the last one; 4. the shapes of both sides
5. the classes of 3 and 3 characters beside the gap, then of 2 and 2, 1 and 2, 2 and 1, 1 and 1

Classes are ``0`` for digits, ``a`` and ``A`` for letters, and any other character itself; a shape
has each run of these three once. A gap without any example is split unless letters or digits are on
both sides.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from functools import cache
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np

Tokenizer = Callable[[str], list[str]]  # splits a text, of a sentence or a document, into tokens
SURE = 3  # contexts that say much: gaps that only a later one decides are counted
_Context = tuple[object, ...]
_Counts = Counter[_Context]
_Contexts = Callable[[str, int, bool], Iterator[_Context]]
_SIDES = ((3, 3), (2, 2), (1, 2), (2, 1), (1, 1))
_RUNS = re.compile(r"([aA0])\1+")


class SplitExample(NamedTuple):
    """A chunk, whether it is the last one of its line, and the gaps that are split, from 1 on."""

    chunk: str
    is_last: bool
    splits: frozenset[int]


def split_examples(raw: str, sequences: Iterable[Sequence[str]]) -> list[SplitExample] | None:
    """Lay a raw line on the tokens that it stands for; ``None`` if none of the sequences fits.

    One fits if it has the same characters, white space aside, and no token over white space. Of
    several, which differ in joined or parted words, the one with the fewest splits is meant.
    """
    chunks = raw.split()
    characters, ends = "".join(chunks), _ends(chunks)
    fitting = [_ends(tokens) for tokens in sequences if "".join(tokens) == characters]
    cuts = min((cuts for cuts in fitting if ends <= cuts), key=len, default=None)
    if cuts is None:
        return None
    examples: list[SplitExample] = []
    for chunk, start in zip(chunks, [0, *sorted(ends)], strict=False):  # the last one is the end
        splits = frozenset(gap for gap in range(1, len(chunk)) if start + gap in cuts)
        examples.append(SplitExample(chunk, start + len(chunk) == len(characters), splits))
    return examples


def _ends(parts: Iterable[str]) -> set[int]:
    return set(accumulate(map(len, parts)))


class CorpusTokenizer:
    """Splits raw text as the examples are split; the order of the examples does not matter."""

    def __init__(self, examples: Iterable[SplitExample] | Mapping[SplitExample, int]) -> None:
        self._seen, self._all, self._splits = Counter[str](), _Counts(), _Counts()
        self._split = cache(self._split_anew)
        by_kinds = Counter[SplitExample]()
        for example, count in Counter(examples).items():
            self._seen[example.chunk] += count
            self._learn(example, count, _wholes)
            by_kinds[example._replace(chunk=_kinds(example.chunk))] += count
        for example, count in by_kinds.items():  # far fewer
            self._learn(example, count, _classes)

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text; the last chunk of each of its lines is known as such."""
        return [token for chunk in _chunks(text) for token in self._split(*chunk)[0]]

    def counts(self, lines: Iterable[str]) -> dict[str, int]:
        """Count chunks, those no example has, gaps, and those that no telling context decided."""
        chunks = [chunk for line in lines for chunk in _chunks(line)]
        return {
            "chunks": len(chunks),
            "unseen": sum(not self._seen[chunk] for chunk, _ in chunks),
            "gaps": sum(len(chunk) - 1 for chunk, _ in chunks),
            "below_third_context": sum(self._split(*chunk)[1] for chunk in chunks),
        }

    def agreeing(self, examples: Iterable[SplitExample]) -> int:
        """Count the examples that are split as they say."""
        return sum(
            _ends(self._split(chunk, is_last)[0]) == {*splits, len(chunk)}
            for chunk, is_last, splits in examples
        )

    def without(self, examples: Iterable[SplitExample]) -> "CorpusTokenizer":
        """Return the tokeniser of the other examples; to try it on these."""
        fewer, less = copy(self), CorpusTokenizer(examples)
        fewer._seen, fewer._all = self._seen - less._seen, self._all - less._all
        fewer._splits, fewer._split = self._splits - less._splits, cache(fewer._split_anew)
        return fewer

    def _learn(self, example: SplitExample, count: int, contexts: _Contexts) -> None:
        for gap in range(1, len(example.chunk)):
            for context in contexts(example.chunk, gap, example.is_last):
                self._all[context] += count
                if gap in example.splits:
                    self._splits[context] += count

    def _split_anew(self, chunk: str, is_last: bool) -> tuple[list[str], int]:
        """Return the tokens of a chunk, and how many of its gaps no telling context decided."""
        kinds = _kinds(chunk)
        gaps = [self._decided(chunk, kinds, gap, is_last) for gap in range(1, len(chunk))]
        cuts = [0, *(gap for gap, (is_split, _) in enumerate(gaps, 1) if is_split), len(chunk)]
        return [chunk[a:b] for a, b in pairwise(cuts)], sum(late for _, late in gaps)

    def _decided(self, chunk: str, kinds: str, gap: int, is_last: bool) -> tuple[bool, bool]:
        """Return whether to split, and whether only contexts that say little decided it."""
        whole = ((chunk, gap, is_last), (chunk, gap, not is_last))
        for number, context in enumerate(chain(whole, _classes(kinds, gap, is_last)), 1):
            if count := self._all[context]:
                return 2 * self._splits[context] > count, number > SURE
        return not {kinds[gap - 1], kinds[gap]} <= {*"aA0"}, True


def _chunks(text: str) -> Iterator[tuple[str, bool]]:
    for line in text.split("\n"):
        chunks = line.split()
        for number, chunk in enumerate(chunks, 1):
            yield chunk, number == len(chunks)


@cache
def _kinds(chunk: str) -> str:
    letters = "".join(("A" if c.isupper() else "a") if c.isalpha() else c for c in chunk)
    return "".join("0" if c.isdigit() else c for c in letters)


def _wholes(chunk: str, gap: int, is_last: bool) -> Iterator[_Context]:
    yield chunk, gap, is_last


@cache
def _shape(kinds: str) -> str:
    return _RUNS.sub(r"\1", kinds)


def _classes(kinds: str, gap: int, is_last: bool) -> Iterator[_Context]:
    left, right = kinds[:gap], kinds[gap:]
    shapes = _shape(left), _shape(right)
    yield (*shapes, is_last)
    yield (*shapes, None)
    for before, after in _SIDES:
        yield left[-before:], right[:after], (before, after)


GAP = 1_000_000
"""Cost of inserting or deleting a token; costs are whole numbers, so that ties are exact."""

_CASE, _LEAST, _MOST = GAP // 10, GAP * 3 // 10, 2 * GAP
_LONGEST = 64  # characters of a token that are compared
_Array = Any  # of numpy, whose stubs say nothing of most operations here


def laid_back(tokens: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Cut a document's tokens into as many parts as its source has sentences; none is lost.

    Both are aligned at the least cost and cut where the path crosses a boundary of the source.
    To insert or delete costs 1; to replace, nothing if tokens are equal, .1 if all but their case
    is, 2 a word by punctuation, else .3 and 1.7 times the edit distance as a share of the longer
    token. Of tokens inserted at a boundary, punctuation up to the first opening quote or bracket
    goes to the sentence before. Of a token 64 characters are compared.
    """
    first, last = crossings([token for sentence in sentences for token in sentence], tokens)
    pairs = {*"“‘"} if {*"„‚"} & {*tokens} else set[str]()
    cuts = [0]
    for end in [*accumulate(map(len, sentences))][:-1]:
        cut = max(first[end], cuts[-1])
        while cut < last[end] and _closes(tokens[cut], pairs):
            cut += 1
        cuts.append(cut)
    return [list(tokens[a:b]) for a, b in pairwise([*cuts, len(tokens)])]


def replacement_costs(one: Sequence[str], other: Sequence[str]) -> _Array:
    """Return the cost of each token of the second for each of the first, in parts of ``GAP``."""
    lengths = [np.minimum([*map(len, tokens)], _LONGEST) for tokens in (one, other)]
    longer = np.maximum(lengths[0][:, None], lengths[1])
    costs = np.minimum(_LEAST + 17 * GAP * _distances(one, other) // (10 * longer), _MOST)
    words = [np.array([_is_word(token) for token in tokens]) for tokens in (one, other)]
    costs[words[0][:, None] != words[1]] = _MOST
    forms = [np.array(tokens, object) for tokens in (one, other)]
    small = [np.array([token.casefold() for token in tokens], object) for tokens in (one, other)]
    costs[small[0][:, None] == small[1]] = _CASE
    costs[forms[0][:, None] == forms[1]] = 0
    return costs


def crossings(source: Sequence[str], tokens: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return how many tokens the cheapest path has before and behind each gap of the source."""
    first, last = [0] * (len(source) + 1), [0] * (len(source) + 1)
    i, j = len(source), len(tokens)
    moves = _moves(source, tokens)
    first[i] = last[i] = j
    while i or j:
        move = moves[i][j]
        i, j = i - (move != 2), j - (move != 1)
        first[i], last[i] = j, last[i] if move == 2 else j
    return first, last


def _moves(source: Sequence[str], tokens: Sequence[str]) -> _Array:
    """Return the last step of the cheapest path to each point: 0 replace, 1 delete, 2 insert."""
    ours, theirs = ({t: n for n, t in enumerate(dict.fromkeys(x))} for x in (source, tokens))
    moves = np.full((len(source) + 1, len(tokens) + 1), 2, np.int8)
    moves[:, 0] = 1
    if not ours or not theirs:
        return moves
    costs = replacement_costs([*ours], [*theirs])[:, [theirs[token] for token in tokens]]
    steps = GAP * np.arange(len(tokens) + 1)
    row = steps
    for i, token in enumerate(source, 1):
        replaced, deleted = row[:-1] + costs[ours[token]], row + GAP
        best = deleted.copy()
        np.minimum(best[1:], replaced, out=best[1:])
        row = np.minimum.accumulate(best - steps) + steps
        moves[i, row == deleted] = 1
        moves[i, 1:][row[1:] == replaced] = 0
    return moves


def _distances(one: Sequence[str], other: Sequence[str]) -> _Array:
    """Return the Levenshtein distances of all pairs."""
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    sides = ([token[:_LONGEST] for token in tokens] for tokens in (one, other))
    return process.cdist(*sides, scorer=Levenshtein.distance, dtype=np.int64)


def _is_word(token: str) -> bool:
    return any(character.isalnum() for character in token)


def _closes(token: str, pairs: Set[str]) -> bool:
    """Whether it is punctuation that ends rather than begins; after „low“ quotes, high ones end."""
    opens = unicodedata.category(token[0]) in ("Ps", "Pi") and token[0] not in pairs
    return not _is_word(token) and not opens
