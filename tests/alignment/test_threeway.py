"""The three-way alignment equals the full table with its order of ties, to the column."""

from __future__ import annotations

import random
from contextlib import contextmanager
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.alignment import threeway
from grammeter.alignment.threeway import GAP, MOVES, align, align_all

PAIR_MOVES = ((1, 1), (1, 0), (0, 1))


def cost(column) -> int:
    """Sum of pairs: gap 2, mismatch 3, match 0."""
    pairs = [(a, b) for n, a in enumerate(column) for b in column[n + 1 :]]
    return sum(0 if a == b else 2 if GAP in (a, b) else 3 for a, b in pairs)


def full_table(sentences, moves):
    """Fill every cell, then take the first move whose cost fits, from the end."""

    def steps(cell):
        for move in moves:
            before = tuple(at - by for at, by in zip(cell, move, strict=True))
            if min(before) >= 0:
                tokens = zip(sentences, before, move, strict=True)
                column = tuple(sentence[at] if by else GAP for sentence, at, by in tokens)
                yield before, column, cost(column)

    table = {}
    for cell in product(*(range(len(sentence) + 1) for sentence in sentences)):
        table[cell] = min((table[before] + c for before, _, c in steps(cell)), default=0)
    columns = []
    cell = tuple(map(len, sentences))
    while any(cell):
        fitting = (step for step in steps(cell) if table[step[0]] + step[2] == table[cell])
        cell, column, _ = next(fitting)
        columns.append(column)
    return columns[::-1]


def twin(source, hypothesis, reference):
    if source == hypothesis == reference:
        return [(token, token, token) for token in source]
    if source == hypothesis:
        return [(a, a, b) for a, b in full_table((source, reference), PAIR_MOVES)]
    if source == reference:
        return [(a, b, a) for a, b in full_table((reference, hypothesis), PAIR_MOVES)]
    return full_table((source, hypothesis, reference), MOVES)


@st.composite
def triples(draw):
    """Sentences over few words; the others often are edited copies of the source."""
    words = st.lists(st.sampled_from("abcde"[: draw(st.integers(1, 5))]), max_size=6)
    source = draw(words)

    def other():
        if draw(st.booleans()):
            return draw(words)
        copy = list(source)
        for _ in range(draw(st.integers(0, 2))):
            start = draw(st.integers(0, len(copy)))
            copy[start : start + draw(st.integers(0, 2))] = draw(words)[:2]
        return copy

    return tuple(source), tuple(other()), tuple(other())


@contextmanager
def planes_only():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threeway._Search, "path", lambda self: None)
        yield


@given(triples())
def test_search_equals_the_full_table(triple):
    assert align(*triple) == twin(*triple)


@given(triples())
def test_planes_equal_the_full_table(triple):
    with planes_only():
        assert align(*triple) == twin(*triple)


@given(st.lists(triples(), max_size=6))
def test_a_batch_gives_each_triple_its_own_alignment(batch):
    result = dict(align_all(batch))
    assert [result[n] for n in range(len(batch))] == [align(*triple) for triple in batch]


@given(triples())
def test_rows_without_gaps_are_the_sentences(triple):
    columns = align(*triple)
    rows = list(zip(*columns, strict=True)) or [(), (), ()]
    assert tuple(tuple(token for token in row if token != GAP) for row in rows) == triple
    assert all(any(column) for column in columns)


@pytest.mark.parametrize("seed", range(4))
def test_unrelated_sentences(seed):
    chance = random.Random(seed)
    triple = tuple(tuple(chance.choices("abc", k=14 + seed)) for _ in range(3))
    assert align(*triple) == twin(*triple)


@pytest.mark.parametrize("seed", range(4))
def test_search_and_planes_agree_on_long_sentences(seed):
    chance = random.Random(seed)
    source, reference = chance.choices("abcde", k=30), chance.choices("abcdefg", k=30)
    related = (source, source[3:20] + reference[4:9], [*source[:12], "x", *source[13:]])
    unrelated = (source, chance.choices("abcde", k=25), reference)
    for triple in (related, unrelated):
        columns = align(*triple)
        with planes_only():
            assert align(*triple) == columns


def test_a_search_that_takes_too_long_is_given_up(monkeypatch):
    used = []
    from_planes = threeway._from_planes
    monkeypatch.setattr(threeway, "_from_planes", lambda t: used.append(1) or from_planes(t))
    chance = random.Random(1)
    triple = tuple(chance.choices("abcde", k=60) for _ in range(3))
    columns = align(*triple)
    assert used
    rows = zip(*columns, strict=True)
    assert [[token for token in row if token != GAP] for row in rows] == list(triple)


def test_thousands_of_tokens():
    source = ("a", "b") * 1100
    columns = align(source, ("x", *source[1:]), source[1:])
    assert columns[:2] == [("a", "x", GAP), ("b", "b", "b")]


def test_gains_fit_their_type():
    for tokens in (1, 5000, 10_000, 100_000):
        # at most three pairs of two thirds of the tokens, 4 for each token of one of them
        assert np.iinfo(threeway._gain_type(tokens)).max > 3 * 4 * tokens // 3
    assert threeway._gain_type(600) is np.int16


def test_ties_by_eye():
    # the spare 'a' of the source may stand first or second: reading back takes the last one
    assert align("aab", "ab", "cb") == [("a", GAP, GAP), ("a", "a", "c"), ("b", "b", "b")]
    # source and hypothesis are preferred to source and reference
    assert align("a", "b", "") == [("a", "b", GAP)]
    assert align("a", "", "b") == [("a", GAP, "b")]
    assert align("", "a", "b") == [(GAP, "a", "b")]


def test_nothing_at_all():
    assert align((), (), ()) == []
    assert list(align_all([])) == []


def test_one_side_empty():
    assert align((), ("a",), ()) == [(GAP, "a", GAP)]
    assert align(("a", "b"), (), ("b",)) == [("a", GAP, GAP), ("b", GAP, "b")]
    assert align((), (), ("a",)) == [(GAP, GAP, "a")]


def test_a_hypothesis_equal_to_the_reference_uses_all_three():
    assert align("ab", "b", "b") == twin("ab", "b", "b")
