"""The batch counts equal plain Counters, however the batch is laid out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammeter.alignment import ngrams
from grammeter.core import Segment

ORDER = 4

texts = st.lists(st.sampled_from("aab"), max_size=7).map(" ".join)
references = st.lists(st.none() | texts, max_size=3).map(tuple)
lines = st.tuples(texts, references, st.lists(texts, min_size=1, max_size=3))


def of_lines(given_lines) -> list[Segment]:
    return [Segment(s, h, r) for s, r, hypotheses in given_lines for h in hypotheses]


def grams(text: str | None, n: int, unit: str = "word", strip: bool = True) -> Counter:
    """The slow twin: count slices."""
    if unit == "word":
        tokens = (text or "").split()
    else:
        tokens = list((text or "").strip() if strip else text or "")
    return Counter(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def slow(segments: list[Segment], unit: str, strip: bool, measure) -> np.ndarray:
    slots = max((len(segment.references) for segment in segments), default=0)
    table = np.zeros((ORDER, len(segments), slots), dtype=int)
    for row, segment in enumerate(segments):
        absent = (None,) * (slots - len(segment.references))
        for slot, text in enumerate(segment.references + absent):
            for n in range(1, ORDER + 1):
                three = (segment.source, segment.hypothesis, text)
                table[n - 1, row, slot] = measure(*(grams(item, n, unit, strip) for item in three))
    return table


def fast(segments: list[Segment], unit: str, strip: bool, measure) -> np.ndarray:
    slots = max((len(segment.references) for segment in segments), default=0)
    table = np.zeros((ORDER, len(segments), slots), dtype=int)
    for batch in ngrams.batches(segments, unit=unit, strip=strip):
        for n, shared in enumerate(batch.by_order(ORDER)):
            table[n, batch.rows] = measure(shared)
    return table


def each_reference(which, side=-1):
    def measure(shared: ngrams.Shared) -> np.ndarray:
        totals = [shared.total(which(shared, r), side) for r in shared.references]
        rows = len(shared.total(shared.before < 0))
        return np.array(totals, dtype=int).reshape(len(totals), rows).T

    return measure


def in_reference(shared, reference):
    return shared.before < reference


def all_three(shared, reference):
    return (shared.before < shared.source) & (shared.before < reference)


def absent_kept(shared, reference):
    return (shared.before < shared.source) & (reference == 0)


@settings(deadline=None)
@given(st.lists(lines, max_size=5), st.sampled_from(["word", "char", "grapheme"]), st.booleans())
def test_counts_equal_the_slow_twin(given_lines, unit, strip):
    segments = of_lines(given_lines)
    compared = [
        (lambda s, h, r: (s & h & r).total(), each_reference(all_three)),
        (
            lambda s, h, r: sum(c for g, c in (s & h).items() if g not in r),
            each_reference(absent_kept),
        ),
        (lambda s, h, r: (s & r).total(), each_reference(in_reference, side=0)),
    ]
    for by_hand, at_once in compared:
        expected = slow(segments, unit, strip, by_hand)
        assert (fast(segments, unit, strip, at_once) == expected).all()


@settings(deadline=None)
@given(st.lists(lines, max_size=5))
def test_lengths_and_rows(given_lines):
    segments = of_lines(given_lines)
    seen = []
    for batch in ngrams.batches(segments, unit="word", strip=True):
        for at, row in enumerate(batch.rows):
            segment = segments[row]
            seen.append(row)
            texts = segment.source, *segment.references, segment.hypothesis
            *lengths, last = [len((text or "").split()) for text in texts]
            assert batch.lengths[at, : len(lengths)].tolist() == lengths
            assert batch.lengths[at, -1] == last
            assert not batch.lengths[at, len(lengths) : -1].any()
    assert sorted(seen) == list(range(len(segments)))


def test_batches_may_be_small(monkeypatch):
    segments = [Segment("a b", text, ("a b c", None)) for text in ("a", "a b", "c")]
    segments += [Segment("x", "x x", ("x x x", "y")), Segment("a b", "a", ("a b c", None))]
    whole = fast(segments, "word", True, each_reference(all_three))
    monkeypatch.setattr(ngrams, "_BATCH", 1)
    batches = list(ngrams.batches(segments, unit="word", strip=True))
    assert [batch.rows for batch in batches] == [[0, 1, 2, 4], [3]]
    assert (fast(segments, "word", True, each_reference(all_three)) == whole).all()


def test_texts_do_not_run_into_each_other():
    segments = [Segment("a b", "c d", ("b c",))]
    (batch,) = ngrams.batches(segments, unit="word", strip=True)
    every = [shared.total(shared.before >= 0).tolist() for shared in batch.by_order(3)]
    assert every == [[2], [1], [0]]
    for n, shared in enumerate(batch.by_order(3), 1):
        assert not shared.total(shared.source > 0).any()
        assert shared.total(shared.references[0] > 0) == (1 if n == 1 else 0)


def test_nothing():
    assert list(ngrams.batches([], unit="word", strip=True)) == []
    empty = [Segment("", "", ("",)), Segment("", "")]
    for batch in ngrams.batches(empty, unit="char", strip=False):
        assert [len(shared.before) for shared in batch.by_order(2)] == [0, 0]


def test_every_character_is_a_token():
    text = "é\N{GRINNING FACE}\ud800 \u2029"  # astral, a lone surrogate, white space
    segments = [Segment(text, text, (text,))]
    (batch,) = ngrams.batches(segments, unit="char", strip=False)
    (shared,) = batch.by_order(1)
    assert batch.lengths.tolist() == [[5, 5, 5]]
    assert shared.total(shared.before < shared.references[0]) == 5


@pytest.mark.parametrize(
    ("unit", "strip", "expected"),
    [
        ("word", True, ["a", "b\N{ZERO WIDTH SPACE}"]),
        ("word", False, ["a", "b\N{ZERO WIDTH SPACE}"]),
        ("char", True, list("a\N{NO-BREAK SPACE}b\N{ZERO WIDTH SPACE}")),
        ("char", False, list(" a\N{NO-BREAK SPACE}b\N{ZERO WIDTH SPACE} ")),
        ("grapheme", True, list("a\N{NO-BREAK SPACE}b\N{ZERO WIDTH SPACE}")),
    ],
)
def test_tokenise(unit, strip, expected):
    text = " a\N{NO-BREAK SPACE}b\N{ZERO WIDTH SPACE} "
    assert list(ngrams.tokenise(text, unit, strip=strip)) == expected


def test_marks_stay_with_their_letters():
    assert list(ngrams.tokenise("e\u0301 हिन्दी", "grapheme", strip=True)) == [
        "e\u0301",
        " ",
        "हि",
        "न्",
        "दी",
    ]


def test_counts():
    assert ngrams.counts(["a", "b", "a", "b"], 2) == {("a", "b"): 2, ("b", "a"): 1}
    assert ngrams.counts(["a"], 2) == {}


def test_gap():
    present = np.array([[True, False], [False, False], [True, True]])
    assert ngrams.gap(present) == "1 of 3 segments have no reference"
    assert ngrams.gap(present[[0, 2]]) is None
    assert ngrams.gap(present[:0]) == "no segments"
