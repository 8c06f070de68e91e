"""Candidate references: whose edits, applied how, combined how."""

from __future__ import annotations

import re
from itertools import chain, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.alignment.corrected import (
    apply_backwards,
    corrected_by_annotator,
    distinct,
    mixed,
    split_punctuation,
)
from grammeter.core import Edit, UsageError, apply
from grammeter.formats import read_m2

SOURCE = ["a", "b", "c", "d"]


def joined(texts):
    return {number: " ".join(text) for number, text in texts.items()}


def by_annotator(gold, source=SOURCE, **options):
    return joined(corrected_by_annotator(source, gold, **options))


def combinations(gold, source=SOURCE, **options):
    return [" ".join(text) for text in mixed(source, gold, **options)]


# Each annotator's own text


def test_each_annotator_has_a_text():
    gold = {0: (Edit(0, 1, "x"), Edit(2, 2, "y z")), 1: (Edit(3, 4, ""),)}
    assert by_annotator(gold) == {0: "x b y z c d", 1: "a b c"}


def test_an_annotator_without_edits_has_the_source():
    assert by_annotator({0: (), 1: (Edit(0, 1, "x"),)}) == {0: "a b c d", 1: "x b c d"}
    assert by_annotator({0: ()}) == {0: "a b c d"}


def test_equal_texts_belong_to_the_first_annotator():
    gold = {0: (Edit(0, 1, "x"),), 1: (Edit(0, 2, "x b"),), 4: ()}
    assert by_annotator(gold) == {0: "x b c d", 4: "a b c d"}
    assert distinct({3: ("a",), 5: ("b",), 7: ("a",)}) == {3: ("a",), 5: ("b",)}


def test_edits_of_one_span_are_joined_in_their_order():
    assert by_annotator({0: (Edit(1, 1, "y"), Edit(0, 1, "x"), Edit(1, 1, "z"))}) == {
        0: "x y z b c d"
    }
    assert by_annotator({0: (Edit(1, 2, ""), Edit(1, 2, "z"))}) == {0: "a z c d"}


def test_only_the_first_correction_counts():
    assert by_annotator({0: (Edit(0, 1, "x", alternatives=("y",)),)}) == {0: "x b c d"}


def test_nothing_is_left_of_the_sentence():
    assert by_annotator({0: (Edit(0, 4, ""),)}) == {0: "a b c d"}
    # from right to left: b goes, then a would leave nothing
    assert by_annotator({0: (Edit(0, 1, ""), Edit(1, 2, ""))}, ["a", "b"]) == {0: "a"}


def test_an_empty_source():
    assert by_annotator({0: ()}, []) == {0: ""}
    assert by_annotator({0: (Edit(0, 0, "x"),)}, []) == {0: "x"}


def test_overlapping_edits_change_what_the_right_one_left():
    assert apply_backwards(SOURCE, [Edit(0, 3, "x"), Edit(2, 4, "y z")]) == ("x", "z")


@st.composite
def separate_edits(draw):
    """Edits of at least one token each, with a token between; not in the order of spans."""
    edits = []
    for start in draw(st.sets(st.sampled_from([0, 3, 6]))):
        correction = draw(st.sampled_from(["x", "y z", ""]))
        edits.append(Edit(start, start + draw(st.integers(1, 2)), correction))
    return draw(st.permutations(edits))


@given(separate_edits())
def test_separate_edits_are_applied_as_anywhere_else(edits):
    source = list("abcdefghi")
    assert apply_backwards(source, edits) == tuple(apply(source, edits))


# Punctuation


@pytest.mark.parametrize(
    ("correction", "split"),
    [
        ("left,the", "left , the"),
        ("left,", "left ,"),
        ("1,000", "1,000"),
        ("of 1,000,and", "of 1,000 , and"),
        ("the end.", "the end ."),
        ("the end . ", "the end ."),
        (".", "."),
        ("so ...", "so ..."),
        ("e.g. this", "e.g. this"),
        (", but", ", but"),
        ("", ""),
    ],
)
def test_split_punctuation(correction, split):
    assert split_punctuation(correction) == split


def test_splitting_is_an_option():
    gold = {0: (Edit(3, 4, "e,f."),)}
    assert by_annotator(gold) == {0: "a b c e , f ."}
    assert by_annotator(gold, treebank=False) == {0: "a b c e,f."}
    assert combinations(gold, treebank=False) == ["a b c e,f."]


# Mixing


def test_errors_are_combined():
    gold = {0: (Edit(0, 1, "x"), Edit(2, 3, "y")), 1: (Edit(0, 1, "z"), Edit(2, 3, ""))}
    assert combinations(gold) == ["x b y d", "x b d", "z b y d", "z b d"]


def test_an_error_that_not_all_annotators_see_may_be_left():
    assert combinations({0: (Edit(0, 1, "x"),), 1: ()}) == ["x b c d", "a b c d"]
    assert combinations({0: (Edit(0, 1, "x"),)}) == ["x b c d"]
    assert combinations({0: (), 1: ()}) == ["a b c d"]


def test_equal_ways_count_once():
    gold = {0: (Edit(0, 1, "x"),), 1: (Edit(0, 1, "x"),)}
    assert combinations(gold, limit=1) == ["x b c d"]


def test_overlapping_edits_are_one_error():
    gold = {0: (Edit(0, 3, "x"),), 1: (Edit(0, 1, "y"), Edit(2, 4, "z"))}
    assert combinations(gold) == ["x d", "y b z"]


def test_an_insertion_is_part_of_an_error_only_inside_it():
    inside = {0: (Edit(1, 3, "x"),), 1: (Edit(2, 2, "y"),)}
    assert combinations(inside) == ["a x d", "a b y c d"]
    beside = {0: (Edit(1, 3, "x"),), 1: (Edit(1, 1, "y"),)}
    assert combinations(beside) == ["a y x d", "a x d", "a y b c d", "a b c d"]


def test_two_edits_of_one_span_are_not_combined():
    # "r" joins the error of "p"; so does "s" then, although "q" has the same span
    gold = {
        0: (Edit(2, 4, "p"),),
        1: (Edit(0, 2, "q"),),
        2: (Edit(1, 3, "r"),),
        3: (Edit(0, 2, "s"),),
    }
    # "q d" is what is left of "q" and "r", which overlap
    expected = ["q p", "a b p", "q d", "a r d", "s c d", "q c d", "a b c d"]
    assert combinations(gold) == expected


def test_combinations_are_counted_before_they_are_made():
    source = ["a"] * 60
    gold = {0: tuple(Edit(n, n + 1, "x") for n in range(60)), 1: ()}
    with pytest.raises(UsageError, match=f"{2**60} combinations of corrections, more than 20000"):
        mixed(source, gold)
    assert len(mixed(source[:3], {0: gold[0][:3], 1: ()}, limit=8)) == 8
    with pytest.raises(UsageError, match="8 combinations"):
        mixed(source[:3], {0: gold[0][:3], 1: ()}, limit=7)


words = st.sampled_from(["x", "y", ""])
spans = st.sampled_from([(0, 1), (3, 4), (6, 6), (8, 9)])  # none overlaps another
annotators = st.lists(st.dictionaries(spans, words, max_size=3), min_size=1, max_size=3)


@given(annotators)
def test_mixing_separate_spans_equals_a_slow_twin(result):
    source = list("abcdefghij")
    gold = {
        number: tuple(Edit(*span, word) for span, word in edits.items())
        for number, edits in enumerate(result)
    }
    choices = []
    for span in {span for edits in result for span in edits}:
        ways = {edits.get(span) for edits in result}  # None: leave it
        choices.append([[] if way is None else [Edit(*span, way)] for way in ways])
    slow = {tuple(apply(source, chain(*ways))) for ways in product(*choices)}
    texts = mixed(source, gold)
    assert len(texts) == len(slow)
    assert set(texts) == slow


# CoNLL-2014 with mfelice/imeasure fc79fdf: one sentence has 1.7e10 combinations, 17 have more
# than 1,000, so its default mode cannot finish this set


def test_combinations_of_conll14(shared):
    gold = read_m2(shared / "data" / "conll14_test" / "noalt" / "official-2014.combined.m2")
    counts = []
    for block in gold.blocks:
        try:
            mixed(block.source.split(), block.gold, limit=1)
        except UsageError as error:
            counts.append(int(re.match(r"\d+", error.message)[0]))
    assert max(counts) == pytest.approx(1.7e10, rel=0.03)
    assert sum(count > 1000 for count in counts) == 17
