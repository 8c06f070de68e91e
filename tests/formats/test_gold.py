"""Gold edits to reference texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from grammeter.core import Edit, GoldEdits
from grammeter.formats.m2 import TextRule, read_m2, reference_texts
from grammeter.formats.text import read_lines

SOURCES = ["he go home", "all  fine"]
GOLD: list[GoldEdits] = [
    {0: (Edit(1, 2, "goes", "SVA"), Edit(2, 3, "???", "Um")), 2: (Edit(3, 3, "now"),)},
    {2: ()},
]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            TextRule(),
            [["he goes home", "all fine"], ["he go home now", "all fine"]],
        ),
        (
            TextRule(um="apply", missing="source"),
            [["he goes ???", "all fine"], ["he go home now", "all fine"]],
        ),
        (
            TextRule(missing="none"),
            [["he goes home", None], ["he go home now", "all fine"]],
        ),
    ],
)
def test_rules(rule: TextRule, expected: list[list[str | None]]) -> None:
    assert reference_texts(SOURCES, GOLD, rule) == (expected, 0)


def test_a_missing_annotator_has_the_first_one_s_text() -> None:
    gold: list[GoldEdits] = [{1: (Edit(0, 1, "b"),), 2: (Edit(0, 1, "c"),)}, {0: ()}]
    texts, _ = reference_texts(["a", "a"], gold, TextRule(missing="other"))
    assert texts == [["b", "a"], ["b", "a"], ["c", "a"]]
    texts, _ = reference_texts(["a", "a"], gold, TextRule(missing="source"))
    assert texts == [["a", "a"], ["b", "a"], ["c", "a"]]


def test_overlaps_are_left_out_and_counted() -> None:
    edits = (Edit(1, 3, "x"), Edit(0, 2, "y"), Edit(2, 3, "z"))
    assert reference_texts(["a b c"], [{0: edits}], TextRule()) == ([["y z"]], 1)


@pytest.mark.parametrize("kind", ["Um", "UNK"])
def test_edits_that_only_detect(kind: str) -> None:
    edits = (Edit(0, 1, "x", kind),)
    assert reference_texts([" a  b "], [{0: edits}], TextRule()) == ([["a b"]], 0)
    assert reference_texts(["a b"], [{0: edits}], TextRule(um="apply")) == ([["x b"]], 0)


def test_rules_stand_in_signatures() -> None:
    assert str(TextRule()) == "gold(um=skip, missing=other)"
    assert str(TextRule(um="apply", missing="none")) == "gold(um=apply, missing=none)"


def test_the_references_of_conll_14_come_out(shared: Path) -> None:
    """Figures of GLEU rest on these texts: Um skipped, missing annotator = the other's text."""
    folder = shared / "data" / "conll14_test"
    file = read_m2(folder / "noalt" / "official-2014.combined.m2")
    texts, _ = reference_texts(file.sources, [block.gold for block in file.blocks], TextRule())
    for number, name in enumerate(["ref0.txt", "ref1.txt"]):
        assert texts[number] == [" ".join(line.split()) for line in read_lines(folder / name)]
