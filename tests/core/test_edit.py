"""Edits: applied, told apart, made minimal."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core.edit import Edit, apply, minimise, without_overlaps

WORDS = st.sampled_from("abc")
SENTENCES = st.lists(WORDS, max_size=6)


@st.composite
def sentence_and_edit(draw: st.DrawFn) -> tuple[list[str], Edit]:
    sentence = draw(SENTENCES)
    start, end = sorted(draw(st.tuples(*[st.integers(0, len(sentence))] * 2)))
    return sentence, Edit(start, end, " ".join(draw(SENTENCES)), alternatives=("x",))


@st.composite
def sentence_and_edits(draw: st.DrawFn) -> tuple[list[str], list[Edit]]:
    sentence = draw(SENTENCES)
    spans = st.tuples(*[st.integers(0, len(sentence))] * 2).map(sorted)
    edits = st.builds(lambda span, words: Edit(*span, " ".join(words)), spans, SENTENCES)
    return sentence, draw(st.lists(edits, max_size=5))


def replaced(sentence: list[str], edits: list[Edit]) -> list[str]:
    """Apply from right to left, the obvious way; insertions at one place keep their order."""
    result = list(sentence)
    for edit in sorted(edits, key=lambda e: (e.start, e.end))[::-1]:
        result[edit.start : edit.end] = edit.correction.split()
    return result


@given(sentence_and_edits())
def test_apply_is_replacing_from_right_to_left(given_: tuple[list[str], list[Edit]]) -> None:
    sentence, edits = given_
    kept, _ = without_overlaps(edits)
    assert apply(sentence, kept) == replaced(sentence, kept)


@given(sentence_and_edits())
def test_without_overlaps_loses_nothing(given_: tuple[list[str], list[Edit]]) -> None:
    _, edits = given_
    kept, left_out = without_overlaps(edits)
    key = [(e.start, e.end, e.correction) for e in edits]
    assert sorted(key) == sorted((e.start, e.end, e.correction) for e in kept + left_out)
    assert all(a.end <= b.start for a, b in pairwise(kept))


@given(sentence_and_edit())
def test_minimise_means_the_same(given_: tuple[list[str], Edit]) -> None:
    sentence, edit = given_
    small = minimise(edit, sentence)
    assert apply(sentence, [small]) == apply(sentence, [edit])
    assert edit.start <= small.start <= small.end <= edit.end
    assert small.alternatives == ()
    assert minimise(small, sentence) == small


@given(sentence_and_edit())
def test_minimal_edits_have_no_equal_ends(given_: tuple[list[str], Edit]) -> None:
    sentence, edit = given_
    small = minimise(edit, sentence)
    old, new = sentence[small.start : small.end], small.correction.split()
    assert not (old and new and (old[0] == new[0] or old[-1] == new[-1]))


def test_an_edit_that_changes_nothing_becomes_empty_at_its_start() -> None:
    assert minimise(Edit(1, 3, "b c"), list("abcd")) == Edit(1, 1, "")


def test_insertions_at_one_place_keep_their_order() -> None:
    assert apply(["x"], [Edit(0, 1, "y"), Edit(0, 0, "a"), Edit(0, 0, "b")]) == ["a", "b", "y"]


def test_noops_change_nothing() -> None:
    assert apply(["x"], [Edit(-1, -1, "", "noop")]) == ["x"]
    assert without_overlaps([Edit(-1, -1, "", "noop")]) == ([], [])


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([Edit(0, 3, "z")], "lies outside"),
        ([Edit(-1, 1, "z")], "lies outside"),
        ([Edit(2, 1, "z")], "lies outside"),
        ([Edit(0, 2, "z"), Edit(1, 2, "y")], "overlaps another"),
        ([Edit(0, 1, "z"), Edit(0, 1, "y")], "overlaps another"),
    ],
)
def test_edits_that_cannot_be_applied(edits: list[Edit], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        apply(["a", "b"], edits)


def test_corrections_begin_with_the_first() -> None:
    assert Edit(0, 1, "in", alternatives=("at", "")).corrections == ("in", "at", "")
