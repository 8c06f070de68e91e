"""Texts in any script: clusters, widths, and right-to-left letters in tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import Column, Table, display_width, escaped, graphemes, isolated, terminal

FAMILY = "👩\u200d👩\u200d👧"
FLAG = "\U0001f1e6\U0001f1f9"
HEBREW, PERSIAN = "שלום", "می\u200cروم"


@pytest.mark.parametrize(
    ("text", "clusters", "width"),
    [
        ("abc", ["a", "b", "c"], 3),
        ("e\u0301a\u0323\u0302", ["e\u0301", "a\u0323\u0302"], 2),
        ("हिन्दी", ["हि", "न्", "दी"], 3),
        ("กำ", ["กำ"], 1),
        ("\u1112\u1161\u11ab\u1100\u116e", ["\u1112\u1161\u11ab", "\u1100\u116e"], 4),
        (FLAG * 2, [FLAG, FLAG], 2),
        (f"{FLAG[0]}\u200d{FLAG[0]}", [f"{FLAG[0]}\u200d", FLAG[0]], 2),
        ("👩\u200d\u200d👩", ["👩\u200d\u200d", "👩"], 4),
        ("👩\u093f\u200d👩", ["👩\u093f\u200d", "👩"], 4),
        ("👩\u0301\u200d👩", ["👩\u0301\u200d👩"], 2),
        (f"{FAMILY}👍🏽", [FAMILY, "👍🏽"], 4),
        ("中文", ["中", "文"], 4),
        ("\u0301a", ["\u0301", "a"], 1),
        ("a\u200b\u0301", ["a", "\u200b", "\u0301"], 1),
        ("", [], 0),
    ],
)
def test_clusters_and_their_width(text, clusters, width):
    assert graphemes(text) == clusters
    assert display_width(text) == width


LETTERS = (
    *"aé中 \n\u0301\u0323\u200c\u200d\u200b\u0915\u093f\u0e01\u0e33가각",
    *("\u1112\u1161\u11ab", "\u1100\u116e"),
    *"\U0001f1e6\U0001f1f9\U0001f469\U0001f3fd\u2764\ufe0f\uff9e",
)


@given(st.lists(st.sampled_from(LETTERS), max_size=8).map("".join))
def test_clusters_are_those_of_unicode(text):
    regex = pytest.importorskip("regex", reason="comes with transformers")
    assert graphemes(text) == regex.findall(r"\X", text)


def test_right_to_left_letters_reorder_no_row():
    table = Table.of(("system", Column("m2", "score")), [(f"{HEBREW} 1", 0.5), ("A", 0.25)])
    first = table.write().splitlines()[2]
    assert first == f"\u2068{HEBREW} 1\u2069  0.5000"
    assert display_width(first) == display_width("123456  0.5000")
    assert f"<bdi>{HEBREW} 1</bdi>" in table.write("html")
    assert "<bdi>" not in Table.of(("a",), [("b",)]).write("html")
    assert HEBREW + " 1\t0.5" in table.write("tsv")


def test_joiners_stay_and_forgeries_go():
    forged = f"\u202e{PERSIAN}\u2069\u200b{FAMILY}"
    assert terminal(forged) == escaped(forged) == PERSIAN + FAMILY
    assert isolated(forged) == f"\u2068{PERSIAN}{FAMILY}\u2069"
    assert isolated("\u202e\u200fa") == "a"
