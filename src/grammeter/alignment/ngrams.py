"""N-grams that a hypothesis shares with its source and its references.

Each token is a small number, and an n-gram is numbered from the number of its first n - 1 tokens
and its last token. Equal texts of a line are counted once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from grammeter.core import BoolArray, IntArray, Segment, graphemes

Unit = Literal["word", "char", "grapheme"]
"""Tokens between white space, the line's code points, or what its readers take for characters."""

_BATCH = 1 << 18  # characters whose n-grams are in memory together; some 60 MB at most


def tokenise(text: str, unit: Unit, *, strip: bool) -> Sequence[str]:
    """Split a line at Unicode white space, or into characters, after ``strip`` at both ends."""
    if unit == "word":
        return text.split()
    line = text.strip() if strip else text
    return line if unit == "char" else graphemes(line)


def described(unit: Unit, *, strip: bool) -> str:
    """Say in the words of signatures how :func:`tokenise` splits."""
    kind = {"word": "", "char": "characters", "grapheme": "grapheme clusters"}[unit]
    return f"{kind} of the {'stripped ' * strip}line" if kind else "whitespace"


def counts(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    """Count the n-grams of one order in one sentence."""
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


def gap(present: BoolArray) -> str | None:
    """Say how many segments lack all references, so that there is no score; None if none do."""
    missing = int((~present.any(axis=1)).sum())
    if not len(present):
        return "no segments"
    return f"{missing} of {len(present)} segments have no reference" if missing else None


def reference_slots(segments: Sequence[Segment]) -> BoolArray:
    """Return which references the segments have, shape ``(segments, slots)``."""
    slots = max((len(segment.references) for segment in segments), default=0)
    present = np.zeros((len(segments), slots), dtype=np.bool_)
    for row, segment in zip(present, segments, strict=True):
        row[: len(segment.references)] = [text is not None for text in segment.references]
    return present


@dataclass(frozen=True, eq=False)
class Shared:
    """The n-grams of one order in the texts of a batch, an entry for each time one occurs.

    The k-th time that a text has an n-gram is shared with another text that has it at least k
    times, so that the minimum of two counts is the number of entries below the other count.
    """

    before: IntArray  # how often the text had the n-gram before
    source: IntArray  # how often the source of the line has it
    references: IntArray  # (slots, entries), likewise, 0 in an absent slot
    _text: IntArray
    _places: IntArray

    def total(self, which: BoolArray, side: int = -1) -> IntArray:
        """Count some entries by segment: those of its hypothesis, or (``side`` 0) its source."""
        by_text = np.bincount(self._text[which], minlength=int(self._places.max()) + 1)
        return by_text[self._places[:, side]]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some segments: their distinct texts, and where each segment has its own among these."""

    rows: list[int]  # positions of the segments in the sequence
    lengths: IntArray  # (segments, 1 + slots + 1): tokens of source, references, hypothesis
    _places: IntArray  # likewise: numbers of texts; an absent one is the last, empty text
    _tokens: IntArray  # of all texts, one after the other
    _text: IntArray  # of each token: the number of its text
    _line: IntArray  # of each text: what only texts of one source and its references share

    def by_order(self, order: int) -> Iterator[Shared]:
        """Count the n-grams of orders 1 to ``order``, one after the other."""
        size = int(self._tokens.max(initial=0)) + 1
        text = np.append(self._text, np.full(order, -1))
        place, ngram = np.arange(len(self._tokens)), self._line[self._text]
        fixed = self._places[:, :-1]  # sources and references
        is_side = np.zeros((fixed.shape[1], len(self._line)), dtype=np.bool_)
        is_side[np.arange(fixed.shape[1]), fixed] = True
        for n in range(1, order + 1):
            fits = text[place + n - 1] == text[place]
            place = place[fits]
            key = ngram[fits] * size + self._tokens[place + n - 1]
            by_key = np.argsort(key, kind="stable")  # places ascend by text, so it stays together
            key, of_text = key[by_key], text[place[by_key]]
            new = _changes(key)
            number = np.cumsum(new) - 1
            starts = np.flatnonzero(new | _changes(of_text))
            before = np.arange(len(key)) - np.repeat(starts, np.diff(starts, append=len(key)))
            counts = (np.bincount(number[some[of_text]], minlength=len(key)) for some in is_side)
            there = np.stack([counted[number] for counted in counts])
            yield Shared(before, there[0], there[1:], of_text, self._places)
            ngram = np.empty_like(number)
            ngram[by_key] = number


def _changes(values: IntArray) -> BoolArray:
    return np.diff(values, prepend=-1) != 0


def batches(segments: Sequence[Segment], *, unit: Unit, strip: bool) -> Iterator[Batch]:
    """Count the n-grams of many segments, some at a time.

    Segments with equal source and references come together, wherever they stand; every segment
    is in exactly one batch. ``unit`` and ``strip`` are those of :func:`tokenise`.
    """
    lines: dict[object, int] = {}
    of_line = [lines.setdefault((s.source, s.references), len(lines)) for s in segments]
    slots = max((len(segment.references) for segment in segments), default=0)
    texts: dict[tuple[int, str], int] = {}
    rows: list[int] = []
    places: list[list[int]] = []
    size = 0
    for row in sorted(range(len(segments)), key=of_line.__getitem__):
        segment, line = segments[row], of_line[row]
        if size >= _BATCH and line != of_line[rows[-1]]:
            yield _batch(rows, places, list(texts), unit, strip)
            rows, places, texts, size = [], [], {}, 0
        absent = [None] * (slots - len(segment.references))
        rows.append(row)
        places.append([])
        for text in (segment.source, *segment.references, *absent, segment.hypothesis):
            if text is not None and (line, text) not in texts:
                texts[line, text] = len(texts)
                size += len(text)
            places[-1].append(-1 if text is None else texts[line, text])
    if rows:
        yield _batch(rows, places, list(texts), unit, strip)


def _batch(
    rows: list[int], places: list[list[int]], texts: list[tuple[int, str]], unit: Unit, strip: bool
) -> Batch:
    lines, known = zip(*texts, (-1, ""), strict=True)
    tokens, lengths = _numbered(known, unit, strip)
    number = np.array(places, dtype=np.int64) % (len(texts) + 1)
    text = np.repeat(np.arange(len(lengths)), lengths)
    return Batch(rows, lengths[number], number, tokens, text, np.array(lines) - lines[0])


def _numbered(texts: Sequence[str], unit: Unit, strip: bool) -> tuple[IntArray, IntArray]:
    """Return all tokens as numbers, text after text, and how many each text has."""
    split = [tokenise(text, unit, strip=strip) for text in texts]
    lengths = np.fromiter(map(len, split), dtype=np.int64, count=len(split))
    if unit == "char":
        letters = "".join(map(str, split)).encode("utf-32-le", "surrogatepass")
        return np.frombuffer(letters, dtype="<u4").astype(np.int64), lengths
    tokens = list(chain.from_iterable(split))
    numbers = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    at = map(numbers.__getitem__, tokens)
    return np.fromiter(at, dtype=np.int64, count=len(tokens)), lengths
