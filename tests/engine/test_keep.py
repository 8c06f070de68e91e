"""Filters of rows: what they let through, and what they refuse."""

import math
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import UnknownNameError, UsageError
from grammeter.engine.job import parse_keep

COLUMNS = ["impara", "errant.edits", "gleu(order=2)", "gleu", "impara(model=a b)"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("impara >= 0.9", True),
        ("impara>=.9 and errant.edits <= 6", True),
        ("impara >= 0.9 and errant.edits <= 5", False),
        ("errant.edits == 6 or impara < 0", True),
        ("not errant.edits == 6", False),
        ("not (impara < 1 and errant.edits > 7)", True),
        ("gleu(order=2) < gleu", True),
        ("0.5 == gleu(order=2)", True),
        ("impara(model=a b) != -1e3", True),
        ("impara < 0 or impara > 0 and errant.edits != 6", False),
        ("(impara < 0 or impara > 0) and errant.edits == 6", True),
    ],
)
def test_says_which_rows_pass(text, expected):
    cells = {
        "impara": 0.95,
        "errant.edits": 6,
        "gleu(order=2)": 0.5,
        "gleu": 0.75,
        "impara(model=a b)": 0.1,
    }
    assert parse_keep(text, COLUMNS)(cells) is expected


@pytest.mark.parametrize("missing", [None, math.nan, "0.95"])
def test_a_missing_value_passes_no_comparison(missing):
    cells = {"impara": missing}
    for sign in ("<", ">", "==", "!=", "<=", ">="):
        assert not parse_keep(f"impara {sign} 0.5", COLUMNS)(cells)
    assert parse_keep("not impara > 0.5", COLUMNS)(cells)


@pytest.mark.parametrize(
    "text",
    ["", "impara", "impara >=", ">= 3", "impara >= 0.9 and", "(impara > 1", "impara > 1)",
     "impara > 1 2", "impara > > 1", "not", "impara = 1", "impara > 1 & gleu < 2"],
)  # fmt: skip
def test_refuses_what_it_cannot_read(text):
    with pytest.raises(UsageError):
        parse_keep(text, COLUMNS)


def test_an_unknown_column_gets_a_suggestion():
    with pytest.raises(UnknownNameError, match="imparra"):
        parse_keep("imparra > 1", COLUMNS)


def test_nothing_is_evaluated():
    with pytest.raises(UsageError):
        parse_keep("__import__('os').system('true') == 0", COLUMNS)


SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
         "==": operator.eq, "!=": operator.ne}  # fmt: skip

comparisons = st.tuples(
    st.sampled_from(["a", "b"]), st.sampled_from(sorted(SIGNS)), st.integers(-3, 3)
)
trees = st.recursive(
    comparisons,
    lambda inner: (
        st.tuples(st.sampled_from(["and", "or"]), inner, inner) | st.tuples(st.just("not"), inner)
    ),
    max_leaves=6,
)


def written(tree):
    if tree[0] == "not":
        return f"not ({written(tree[1])})"
    if tree[0] in ("and", "or"):
        return f"({written(tree[1])}) {tree[0]} ({written(tree[2])})"
    return " ".join(map(str, tree))


def holds(tree, cells):
    if tree[0] == "not":
        return not holds(tree[1], cells)
    if tree[0] == "and":
        return holds(tree[1], cells) and holds(tree[2], cells)
    if tree[0] == "or":
        return holds(tree[1], cells) or holds(tree[2], cells)
    return SIGNS[tree[1]](cells[tree[0]], tree[2])


@given(trees, st.integers(-3, 3), st.integers(-3, 3))
def test_equals_a_walk_over_the_tree(tree, a, b):
    cells = {"a": a, "b": b}
    assert parse_keep(written(tree), ["a", "b"])(cells) is holds(tree, cells)
