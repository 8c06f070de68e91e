"""Which judgments count, and what a signature says of them."""

import pytest
from hypothesis import given

from grammeter.core import DataError, Ranking, UnknownNameError
from grammeter.formats.judged import Judgments
from grammeter.ranking.pairs import extract_pairs
from grammeter.ranking.selection import of_judges, select
from made_judgments import campaigns, duel

ITEMS = [
    *duel("A", "B", judge="x", segment=1),
    *duel("B", "C", judge="y", segment=2, tie=True),
    *duel("C", "A", judge="z", segment=3),
]


@given(campaigns)
def test_all_judges(items):
    chosen = select(items)
    assert (chosen.pairs.outcome == extract_pairs(items).outcome).all()
    assert chosen.shown["comparisons"] == len(chosen.pairs)


def test_judges():
    assert [r.judge for r in of_judges(ITEMS)] == ["x", "y", "z"]
    assert [r.judge for r in of_judges(ITEMS, ["x", "z"])] == ["x", "z"]
    assert [r.judge for r in of_judges(ITEMS, None, ["x"])] == ["y", "z"]
    assert [r.judge for r in of_judges(ITEMS, "y")] == ["y"]


def test_a_judge_sees_only_some_systems():
    assert select(ITEMS, judges=["z"]).pairs.systems == ("A", "C")


def test_signature():
    shown = select(Judgments(tuple(ITEMS)), without_judges=["y"]).shown
    assert shown == {
        "extraction": "expanded",
        "judges": 2,
        "without": "y",
        "first-segment": "1 (format)",
        "systems": 3,
        "rankings": 2,
        "comparisons": 2,
        "tied": 0,
    }
    assert select(ITEMS, judges=["z", "x"]).shown["judges"] == "x+z"


@pytest.mark.parametrize("option", ["judges", "without_judges"])
def test_unknown_judge(option):
    with pytest.raises(UnknownNameError, match="unknown judge 'w'"):
        select(ITEMS, **{option: ["x", "w"]})


def test_unknown_extraction():
    with pytest.raises(UnknownNameError, match="unexpanded"):
        select(ITEMS, extraction="unexpandd")


def test_a_judge_without_decisive_judgments():
    with pytest.raises(DataError, match=r"all 1 comparisons are ties \(judges: y\)"):
        select(ITEMS, judges=["y"])


def test_items_of_one_output():
    item = Ranking(judge="x", segment=1, groups=(("A", "B"),), ranks=(1,))
    with pytest.raises(DataError, match="all 1 comparisons are ties"):
        select([item])
    with pytest.raises(DataError, match="there is no comparison"):
        select([item], extraction="unexpanded")


def test_skipped_items_only():
    skipped = Ranking(judge="x", segment=1, groups=(("A",), ("B",)), skipped=True)
    with pytest.raises(DataError, match="there is no comparison"):
        select([skipped])


def test_everybody_left_out():
    with pytest.raises(DataError, match="there is no comparison"):
        select(ITEMS, without_judges=["x", "y", "z"])
