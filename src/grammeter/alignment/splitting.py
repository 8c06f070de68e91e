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

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

Tokenizer = Callable[[str], list[str]]
"""Splits a text, of a sentence or a document, into tokens."""

SURE = 3
"""Contexts that say much: gaps that only a later one decides are counted."""

_Context = tuple[str, str, object]
_SIDES = ((3, 3), (2, 2), (1, 2), (2, 1), (1, 1))
_RUNS = re.compile(r"([aA0])\1+")


class SplitExample(NamedTuple):
    """A chunk, whether it is the last one of its line, and the gaps that are split, from 1 on."""

    chunk: str
    is_last: bool
    splits: frozenset[int]


class SplitCounts(NamedTuple):
    """Chunks of some lines and those no example has; gaps, and those decided late: guessed."""

    chunks: int
    unseen: int
    gaps: int
    guessed: int


def split_examples(raw: str, sequences: Iterable[Sequence[str]]) -> list[SplitExample] | None:
    """Lay a raw line on the tokens that it stands for; ``None`` if none of the sequences fits.

    One fits if it has the same characters, white space aside, and no token over white space. Of
    several, which differ in joined or parted words, the one with the fewest splits is meant.
    """
    chunks = raw.split()
    characters, ends = "".join(chunks), _ends(chunks)
    fitting = [
        cuts
        for tokens in sequences
        if "".join(tokens) == characters and ends <= (cuts := _ends(tokens))
    ]
    if not fitting:
        return None
    cuts = min(fitting, key=len)
    starts = [0, *sorted(ends)]
    return [
        SplitExample(
            chunk,
            start + len(chunk) == len(characters),
            frozenset(gap for gap in range(1, len(chunk)) if start + gap in cuts),
        )
        for chunk, start in zip(chunks, starts, strict=False)  # the last one is the end
    ]


def _ends(parts: Iterable[str]) -> set[int]:
    return set(accumulate(map(len, parts)))


class CorpusTokenizer:
    """Splits raw text as the examples are split; see the module for the decision of each gap.

    A value: the same examples, counted in any order, split in the same way.
    """

    def __init__(self, examples: Iterable[SplitExample] | Mapping[SplitExample, int]) -> None:
        self._chunks: dict[tuple[str, bool], Counter[int]] = {}
        self._votes = Counter[_Context]()
        self._split = cache(self._split_anew)
        by_kinds = Counter[tuple[str, bool, frozenset[int]]]()
        for (chunk, is_last, splits), count in Counter(examples).items():
            votes = self._chunks.setdefault((chunk, is_last), Counter())
            for gap in range(1, len(chunk)):
                votes[gap] += count if gap in splits else -count
            by_kinds[chunk.translate(_KINDS), is_last, splits] += count
        for (kinds, is_last, splits), count in by_kinds.items():
            for gap in range(1, len(kinds)):
                for context in _contexts(kinds, gap, is_last):
                    self._votes[context] += count if gap in splits else -count

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text; the last chunk of each of its lines is known as such."""
        return [token for chunk in _chunks(text) for token in self._split(*chunk)[0]]

    def counts(self, lines: Iterable[str]) -> SplitCounts:
        """Count what was seen of some lines, and what had to be guessed."""
        chunks = [chunk for line in lines for chunk in _chunks(line)]
        return SplitCounts(
            len(chunks),
            sum(self._known(*chunk) is None for chunk in chunks),
            sum(len(chunk) - 1 for chunk, _ in chunks),
            sum(self._split(*chunk)[1] for chunk in chunks),
        )

    def _known(self, chunk: str, is_last: bool) -> Mapping[int, int] | None:
        """Return the votes for each gap of a chunk that has examples, best at the same place."""
        votes = self._chunks.get((chunk, is_last))
        return self._chunks.get((chunk, not is_last)) if votes is None else votes

    def _split_anew(self, chunk: str, is_last: bool) -> tuple[list[str], int]:
        """Return the tokens of a chunk, and how many of its gaps no telling context decided."""
        known, kinds, late = self._known(chunk, is_last), chunk.translate(_KINDS), 0
        cuts = [0]
        for gap in range(1, len(chunk)):
            if known is not None:
                votes = known[gap]
            else:
                votes, is_late = self._decided(kinds, gap, is_last)
                late += is_late
            if votes > 0:
                cuts.append(gap)
        return [chunk[start:end] for start, end in pairwise([*cuts, len(chunk)])], late

    def _decided(self, kinds: str, gap: int, is_last: bool) -> tuple[int, bool]:
        """Return the votes of the first context with examples, and whether it says little."""
        for number, context in enumerate(_contexts(kinds, gap, is_last), 3):
            if context in self._votes:
                return self._votes[context], number > SURE
        inside = kinds[gap - 1] in "aA0" and kinds[gap] in "aA0"
        return (-1 if inside else 1), True


def _chunks(text: str) -> Iterator[tuple[str, bool]]:
    for line in text.split("\n"):
        chunks = line.split()
        for number, chunk in enumerate(chunks, 1):
            yield chunk, number == len(chunks)


class _Kinds(dict[int, str]):
    """The classes of characters, as ``str.translate`` asks for them."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        letter = "A" if character.isupper() else "a" if character.isalpha() else character
        self[code] = "0" if character.isdigit() else letter
        return self[code]


_KINDS = _Kinds()


def _contexts(kinds: str, gap: int, is_last: bool) -> Iterator[_Context]:
    left, right = kinds[:gap], kinds[gap:]
    shapes = _RUNS.sub(r"\1", left), _RUNS.sub(r"\1", right)
    yield (*shapes, is_last)
    yield (*shapes, None)
    for before, after in _SIDES:
        yield left[-before:], right[:after], (before, after)
