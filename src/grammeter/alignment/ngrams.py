"""N-grams that a hypothesis shares with its source and its references.

All texts of a line (its source, references and hypotheses) stand together, each token as a small
number. An n-gram is numbered from the number of its first n - 1 tokens and its last token, so
that one stable sort per order brings equal n-grams of a line together, and within them those of
one text. Sources and references are counted once per line, however many hypotheses it has.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

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
    """The n-grams of one order: a cell for each distinct n-gram of each hypothesis."""

    hypothesis: IntArray  # (cells,): how often it has the n-gram
    source: IntArray  # (cells,), likewise
    references: IntArray  # (slots, cells): how often each has it, 0 in an absent slot
    _segment: IntArray
    _fixed: IntArray
    _line: IntArray
    _line_of_segment: IntArray

    def total(self, cells: npt.NDArray[np.integer[Any]]) -> IntArray:
        """Add up cells by segment: shape ``(cells,)`` to ``(segments,)``."""
        return _sums(self._segment, cells, len(self._line_of_segment))

    def source_in_references(self) -> IntArray:
        """Return sum of min(source, reference) over all n-grams: ``(segments, slots)``."""
        source, references = self._fixed[0], self._fixed[1:]
        lines = int(self._line_of_segment.max(initial=-1)) + 1
        shared = [_sums(self._line, np.minimum(source, counted), lines) for counted in references]
        table = np.array(shared, dtype=np.int64).reshape(len(references), lines)
        return table.T[self._line_of_segment]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some lines with all their hypotheses."""

    rows: IntArray  # (segments,): positions of the segments in the sequence
    source_lengths: IntArray  # (segments,): in tokens
    hypothesis_lengths: IntArray  # likewise
    reference_lengths: IntArray  # (segments, slots), 0 in an absent slot
    _tokens: IntArray
    _text: IntArray
    _line: IntArray  # of each text
    _kind: IntArray  # of each text: 0 (source), 1 + slot (reference), 1 + slots (hypothesis)

    def by_order(self, order: int) -> Iterator[Shared]:
        """Count the n-grams of orders 1 to ``order``, one after the other."""
        size = int(self._tokens.max(initial=0)) + 1
        text = np.append(self._text, np.full(order, -1))
        place = np.arange(len(self._tokens))
        prefix = self._line[self._text]
        for n in range(1, order + 1):
            fits = text[place + n - 1] == text[place]
            place, prefix = place[fits], prefix[fits]
            shared, prefix = self._count(prefix * size + self._tokens[place + n - 1], text[place])
            yield shared

    def _count(self, key: IntArray, text: IntArray) -> tuple[Shared, IntArray]:
        """Count equal keys within each text; return dense numbers for the keys, too."""
        by_key = np.argsort(key, kind="stable")  # places ascend by text, so cells stay together
        key, text = key[by_key], text[by_key]
        new_key = _changes(key)
        starts = np.flatnonzero(new_key | _changes(text))
        number = np.cumsum(new_key) - 1
        dense = np.empty_like(number)
        dense[by_key] = number
        counted = np.diff(starts, append=len(key))
        return self._shared(number[starts], text[starts], counted, int(new_key.sum())), dense

    def _shared(self, ngram: IntArray, text: IntArray, count: IntArray, ngrams: int) -> Shared:
        """Arrange the distinct n-grams of each text, and how often it has them, by segment."""
        hypothesis, kind = 1 + self.reference_lengths.shape[1], self._kind[text]
        of_line = kind < hypothesis
        fixed = np.zeros((hypothesis, ngrams), dtype=np.int64)
        fixed[kind[of_line], ngram[of_line]] = count[of_line]
        line = np.zeros(ngrams, dtype=np.int64)
        line[ngram] = self._line[text]
        ours = np.flatnonzero(~of_line)
        there = fixed[:, ngram[ours]]
        is_hypothesis = self._kind == hypothesis
        segment = (np.cumsum(is_hypothesis) - 1)[text[ours]]
        lines = self._line[is_hypothesis]
        return Shared(count[ours], there[0], there[1:], segment, fixed, line, lines)


_Line = tuple[str, tuple[str | None, ...]]
_Lines = list[tuple[_Line, list[int]]]  # with the rows of their segments


def batches(segments: Sequence[Segment], *, unit: Unit, strip: bool) -> Iterator[Batch]:
    """Count the n-grams of many segments, some lines at a time.

    Segments with equal source and references are one line, wherever they stand; every segment
    is in exactly one batch. ``unit`` and ``strip`` are those of :func:`tokenise`.
    """
    lines: dict[_Line, list[int]] = {}
    for row, segment in enumerate(segments):
        lines.setdefault((segment.source, segment.references), []).append(row)
    slots = max((len(references) for _, references in lines), default=0)
    some: _Lines = []
    size = 0
    for line, rows in lines.items():
        some.append((line, rows))
        size += len(line[0]) + sum(len(text) for text in line[1] if text is not None)
        size += sum(len(segments[row].hypothesis) for row in rows)
        if size >= _BATCH:
            yield _batch(some, segments, slots, unit, strip)
            some, size = [], 0
    if some:
        yield _batch(some, segments, slots, unit, strip)


def _batch(
    lines: _Lines, segments: Sequence[Segment], slots: int, unit: Unit, strip: bool
) -> Batch:
    texts: list[str] = []
    kinds: list[int] = []
    per_line: list[int] = []
    for (source, references), rows in lines:
        known = [(slot, text) for slot, text in enumerate(references, 1) if text is not None]
        texts += [source, *(text for _, text in known), *(segments[row].hypothesis for row in rows)]
        kinds += [0, *(slot for slot, _ in known), *(slots + 1 for _ in rows)]
        per_line.append(1 + len(known) + len(rows))
    line = np.repeat(np.arange(len(lines)), per_line)
    kind = np.array(kinds, dtype=np.int64)
    tokens, lengths = _numbered(texts, unit, strip)
    by_line = np.zeros((len(lines), slots + 2), dtype=np.int64)
    by_line[line, kind] = lengths
    of_segments = by_line[line[kind > slots]]
    rows = np.fromiter(chain.from_iterable(rows for _, rows in lines), dtype=np.int64)
    of_texts = of_segments[:, 0], lengths[kind > slots], of_segments[:, 1:-1]
    return Batch(rows, *of_texts, tokens, np.repeat(np.arange(len(texts)), lengths), line, kind)


def _numbered(texts: list[str], unit: Unit, strip: bool) -> tuple[IntArray, IntArray]:
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


def _changes(values: IntArray) -> BoolArray:
    changed = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def _sums(index: IntArray, values: npt.NDArray[np.integer], size: int) -> IntArray:
    return np.bincount(index, weights=values, minlength=size).astype(np.int64)
