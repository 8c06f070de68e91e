"""Edits drawn into a sentence."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.alignment.corrected import marked
from grammeter.core import NOOP, Edit, apply

WORDS = st.lists(st.sampled_from("abc"), max_size=6)


@st.composite
def edited(draw):
    """A sentence and edits of it that do not overlap."""
    source = draw(WORDS)
    cuts = sorted(draw(st.lists(st.integers(0, len(source)), max_size=6, unique=True)))
    spans = [(cuts[n], cuts[n + 1]) for n in range(0, len(cuts) - 1, 2)]
    spans += [(cuts[-1], cuts[-1])] if cuts else []
    edits = [Edit(start, end, " ".join(draw(WORDS))) for start, end in spans]
    return source, draw(st.permutations(edits))


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([], "She go to the school"),
        ([Edit(-1, -1, "", NOOP)], "She go to the school"),
        ([Edit(3, 4, "")], "She go to [the→] school"),
        ([Edit(3, 4, "a")], "She go to [the→a] school"),
        ([Edit(5, 5, ".")], "She go to the school [→.]"),
        ([Edit(1, 3, "goes in"), Edit(1, 1, ",")], "She [→,] [go to→goes in] the school"),
        ([Edit(0, 5, "")], "[She go to the school→]"),
    ],
)
def test_marks(edits, expected):
    assert marked(["She", "go", "to", "the", "school"], edits) == expected


@given(edited())
def test_both_sides_can_be_read_back(case):
    source, edits = case
    text = marked(source, edits)
    old, new = (re.sub(r"\[([^→]*)→([^\]]*)\]", side, text).split() for side in (r"\1", r"\2"))
    assert old == source
    assert new == apply(source, edits)
    assert text.count("→") == len(edits)


@pytest.mark.parametrize(
    "edits", [[Edit(0, 2, "x"), Edit(1, 3, "y")], [Edit(1, 9, "x")], [Edit(3, 2, "x")]]
)
def test_impossible_edits(edits):
    with pytest.raises(ValueError, match="overlap or lie outside"):
        marked(["a", "b", "c"], edits)
