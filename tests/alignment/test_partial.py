"""Partial corrections of one sentence: texts, chains, orders, random subsets."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.alignment.corrected import (
    appliable,
    chain,
    draw_subset,
    flip_some,
    orders,
    partial_text,
)
from grammeter.core import Edit

WORDS = ["a", "b", "c", "d"]


@st.composite
def annotated(draw):
    """Return a sentence and edits that do not overlap, in any order."""
    words = draw(st.lists(st.sampled_from("ab"), max_size=6))
    edits, done = [], 0
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(done, len(words)))
        end = draw(st.integers(start, len(words)))
        edits.append(Edit(start, end, draw(st.sampled_from(["", "x", "x y", "a"]))))
        done = end
    return words, draw(st.permutations(edits))


def spliced(words, edits):
    """Apply edits as strings are spliced: every piece stays, blanks are then made one."""
    pieces, done = [], 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        pieces += [*words[done : edit.start], edit.correction]
        done = edit.end
    pieces += words[done:]
    text = " ".join(pieces)
    while "  " in text:
        text = text.replace("  ", " ")
    return text


@given(annotated())
def test_a_partial_text_has_the_words_of_the_splice(case):
    words, edits = case
    assert partial_text(words, edits).split() == spliced(words, edits).split()


@given(annotated())
def test_blanks_are_those_of_the_splice_where_edits_change_something(case):
    words, edits = case
    edits = [e for e in edits if e.start < e.end or e.correction]
    text = spliced(words, edits)
    assert partial_text(words, edits) == (text if text.strip() else "")


@pytest.mark.parametrize(
    ("edits", "text"),
    [
        ([], "a b c d"),
        ([Edit(0, 1, "")], " b c d"),
        ([Edit(3, 4, "")], "a b c "),
        ([Edit(0, 1, ""), Edit(3, 4, "")], " b c "),
        ([Edit(0, 4, "")], ""),
        ([Edit(0, 0, "x"), Edit(0, 1, "")], "x b c d"),
        ([Edit(1, 1, "y"), Edit(1, 1, "x")], "a y x b c d"),
        ([Edit(1, 1, "x"), Edit(1, 1, "y")], "a x y b c d"),
        ([Edit(-1, -1, "", "noop")], "a b c d"),
    ],
)
def test_text(edits, text):
    assert partial_text(WORDS, edits) == text


def test_overlaps_are_refused_and_can_be_left_out_before():
    edits = (Edit(1, 3, "x"), Edit(0, 2, "y"), Edit(3, 4, "z"))
    with pytest.raises(ValueError, match="overlaps"):
        partial_text(WORDS, edits)
    assert appliable(edits) == (Edit(0, 2, "y"), Edit(3, 4, "z"))


def test_appliable_keeps_the_order_and_drops_doubles_and_noops():
    edits = (Edit(3, 4, "z"), Edit(0, 1, "x"), Edit(0, 1, "x"), Edit(-1, -1, "", "noop"))
    assert appliable(edits) == (Edit(3, 4, "z"), Edit(0, 1, "x"))


@given(annotated(), st.integers(0, 10))
def test_a_chain_applies_one_edit_more_each_time(case, seed):
    words, edits = case
    order = Random(seed).sample(range(len(edits)), len(edits))
    texts = chain(words, edits, order)
    assert len(texts) == len(edits) + 1
    assert texts[0] == " ".join(words)
    for size, text in enumerate(texts):
        assert text == partial_text(words, [edits[number] for number in order[:size]])


@pytest.mark.parametrize(("size", "limit", "count"), [(1, 1, 1), (2, 3, 2), (3, 6, 6), (3, 7, 6)])
def test_all_orders_where_these_are_fewer(size, limit, count):
    result = orders(size, limit, Random(1))
    assert len(result) == count
    assert all(sorted(order) == list(range(size)) for order in result)
    if math.factorial(size) < limit:
        assert len(set(result)) == count


def test_random_orders_come_from_the_stream():
    assert orders(6, 3, Random(4)) == orders(6, 3, Random(4))
    stream = Random(4)
    assert orders(6, 1, stream) + orders(6, 2, stream) == orders(6, 3, Random(4))


def test_sizes_of_subsets_are_uniform_and_members_are_even():
    random = Random(7)
    drawn = [draw_subset(4, random) for _ in range(8000)]
    sizes = Counter(map(len, drawn))
    assert set(sizes) == {1, 2, 3, 4}
    assert all(abs(count / 8000 - 1 / 4) < 0.025 for count in sizes.values())
    members = Counter(number for subset in drawn for number in subset)
    assert all(abs(members[number] / 8000 - 2.5 / 4) < 0.025 for number in range(4))


def test_flips_are_one_on_average():
    random = Random(7)
    changes = [len(flip_some({0, 2}, 5, random) ^ {0, 2}) for _ in range(8000)]
    assert abs(sum(changes) / 8000 - 1) < 0.05
    assert abs(changes.count(0) / 8000 - 0.8**5) < 0.025
    assert flip_some({0}, 1, random) == frozenset()
