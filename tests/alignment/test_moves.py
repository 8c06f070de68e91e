"""Optimal moves: the bit vectors against whole tables."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from maxmatch_twin import optimal_moves as table_moves

from grammeter.alignment.arcs import optimal_moves

SENTENCE = st.lists(st.sampled_from("abc"), max_size=9)


@given(SENTENCE, SENTENCE)
def test_moves_are_those_of_both_tables(source, hypothesis):
    width = len(hypothesis) + 1
    one = table_moves(source, hypothesis, 1)
    two = table_moves(source, hypothesis, 2)
    wanted = {i * width + j: [] for i, j in sorted(one[0] | two[0])}
    for edge in sorted(one[1] | two[1]):
        (i, j), (k, column) = edge
        noop = (k, column) == (i + 1, j + 1) and source[i] == hypothesis[j]
        times = (edge in one[1]) + (edge in two[1])
        wanted[i * width + j].append((k * width + column, times, noop))
    result = optimal_moves(source, hypothesis)
    assert result == wanted
    assert list(result) == sorted(result)


def test_equal_sentences_have_one_way():
    assert optimal_moves("abc", "abc") == {
        0: [(5, 2, True)],
        5: [(10, 2, True)],
        10: [(15, 2, True)],
        15: [],
    }


def test_empty_sentences():
    assert optimal_moves([], []) == {0: []}
    assert optimal_moves(["a"], []) == {0: [(1, 2, False)], 1: []}
    assert optimal_moves([], ["a"]) == {0: [(1, 2, False)], 1: []}
