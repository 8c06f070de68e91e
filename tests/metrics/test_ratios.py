"""Ratios equal a table filled cell by cell, and the released program's figures."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.metrics.some import levenshtein_ratio, token_sort_ratio

strings = st.text("ab _é", max_size=12) | st.text(max_size=12)


def twin_distance(first: str, second: str) -> int:
    """Fill the table of insertions and deletions."""
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        above, row = row, [i]
        for j, b in enumerate(second, 1):
            row.append(above[j - 1] if a == b else 1 + min(above[j], row[j - 1]))
    return row[-1]


def twin_tokens(text: str) -> str:
    remaining = [c for c in text if ord(c) < 128]
    blanks = "".join(c if c.isalnum() or c == "_" else " " for c in remaining)
    return " ".join(sorted(blanks.lower().split()))


@given(strings, strings)
def test_the_ratio_of_a_slow_twin(first, second):
    total = len(first) + len(second)
    expected = 1 - twin_distance(first, second) / total if total else 1.0
    assert levenshtein_ratio(first, second) == expected == levenshtein_ratio(second, first)


@given(strings, strings)
def test_the_token_sort_ratio_of_a_slow_twin(first, second):
    a, b = twin_tokens(first), twin_tokens(second)
    expected = round(100 * levenshtein_ratio(a, b)) / 100
    assert token_sort_ratio(first, second) == expected == token_sort_ratio(second, first)
    assert token_sort_ratio(first, first) == 1


@given(strings, strings)
def test_only_equal_strings_have_ratio_one(first, second):
    assert (levenshtein_ratio(first, second) == 1) == (first == second)


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        # fuzzywuzzy 0.18.0, fuzz.token_sort_ratio / 100
        ("Café ok", "Cafe ok", 0.92),
        (".", "!", 1.0),
        ("", "!", 1.0),
        ("", "a", 0.0),
        ("a_b c", "a b c", 0.8),
        ("a", "a ", 1.0),
    ],
)
def test_token_sort_ratios(first, second, ratio):
    assert token_sort_ratio(first, second) == ratio


def test_ratios_are_the_released_ones(shared):
    golden = json.loads((shared / "golden/neural/scribendi.json").read_text("utf-8"))["edge"]
    pairs = json.loads((shared / "golden/neural/data/edge_pairs.json").read_text("utf-8"))
    chosen = [(pairs[at]["source"], pairs[at]["hypothesis"]) for at in golden["lines"]]
    assert [token_sort_ratio(*pair) for pair in chosen] == golden["token_sort_ratio"]
    for pair, ratio in zip(chosen, golden["levenshtein_ratio"], strict=True):
        if ratio is not None:  # the program asks for none where both are empty
            assert round(levenshtein_ratio(*pair), 7) == ratio


def test_a_long_sentence():
    first = "the cat goes to school . " * 400
    assert levenshtein_ratio(first, first[:-2]) == 1 - 2 / (2 * len(first) - 2)
