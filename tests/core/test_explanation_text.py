"""Explanations as text: weights and attributions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grammeter.core import (
    Attribution,
    Edit,
    Explanation,
    Grid,
    JudgedEdit,
    SentenceExplanation,
    Signature,
    Style,
)

NAN = float("nan")
JUDGED = (
    JudgedEdit(Edit(0, 1, "A", "R"), "a", "matched", 0.25),
    JudgedEdit(Edit(2, 2, "c"), "", "missed"),
)
FOUND = Attribution(
    method="leave-one-out",
    total=0.5,
    baseline=-0.25,
    edits=(Edit(0, 1, "A", "R"), Edit(1, 2, "", "U")),
    values=(0.75, -0.125),
    signature=Signature.of("leave-one-out", {}),
)


def shown(explanation: Explanation) -> list[str]:
    """Return the lines below the metric's head."""
    explained = SentenceExplanation("S", 1, "a b", "A", (), {"m": explanation})
    return explained.write(Style(digits=3)).splitlines()[5:]


def test_weights_stand_beside_the_edits_that_have_one() -> None:
    assert shown(Explanation(0.5, edits=JUDGED)) == [
        "  [+ a -> A] b [? -> c]",
        "  verdict    span  edit      type  weight",
        "  ---------  ----  --------  ----  ------",
        "  + matched  0:1   [a -> A]  R      0.250",
        "  ? missed   2:2   [ -> c]",
    ]


def test_without_weights_there_is_no_such_column() -> None:
    edits = tuple(replace(judged, weight=None) for judged in JUDGED)
    assert shown(Explanation(0.5, edits=edits))[1] == "  verdict    span  edit      type"


def test_edits_are_drawn_into_the_sentence_and_none_is_lost() -> None:
    overlapping = (
        JudgedEdit(Edit(0, 2, "X"), "a b", "spurious"),
        JudgedEdit(Edit(1, 2, "", "U"), "b", "missed"),
        JudgedEdit(Edit(0, 0, "\u202e\x1b[1m"), "", "missed"),
    )
    assert shown(Explanation(0.5, edits=overlapping))[0] == "  [? -> [1m] [- a b -> X] [? b ->]"


def test_a_score_that_is_missing_has_its_reason() -> None:
    assert shown(Explanation(NAN, reason="no such annotator")) == ["  NaN: no such annotator"]


def test_texts_in_small_tables_stand_to_the_left_and_figures_to_the_right() -> None:
    grid = Grid("n-grams", ("n", "matches", "words"), (("1", "10", "'a'"), ("2", "9", "'a b'")))
    assert shown(Explanation(0.5, grids=(grid,)))[-2:] == [
        "    1       10  'a'",
        "    2        9  'a b'",
    ]


def test_attribution_with_what_the_metric_says_of_the_edits() -> None:
    assert shown(Explanation(0.5, edits=JUDGED, attribution=FOUND))[5:] == [
        "  Leave one out: 0.500 with all edits, -0.250 with none",
        "    span  edit      type  verdict  weight   value",
        "    ----  --------  ----  -------  ------  ------",
        "    0:1   [a -> A]  R     matched   0.250  +0.750",
        "    1:2   [b -> ]   U                      -0.125",
    ]


def test_columns_of_which_nothing_is_known_are_left_out() -> None:
    edits = tuple(replace(edit, type="") for edit in FOUND.edits)
    assert shown(Explanation(0.5, attribution=replace(FOUND, edits=edits)))[1:] == [
        "    span  edit       value",
        "    ----  --------  ------",
        "    0:1   [a -> A]  +0.750",
        "    1:2   [b -> ]   -0.125",
    ]


def test_drawn_orders_have_errors() -> None:
    drawn = replace(FOUND, method="shapley", orders=4, errors=(0.5, 0.0))
    assert shown(Explanation(0.5, attribution=drawn)) == [
        "  Shapley values from 4 random orders: 0.500 with all edits, -0.250 with none",
        "    span  edit      type   value  error",
        "    ----  --------  ----  ------  -----",
        "    0:1   [a -> A]  R     +0.750  0.500",
        "    1:2   [b -> ]   U     -0.125  0.000",
    ]


def test_a_value_that_is_missing_has_its_reason() -> None:
    missing = replace(FOUND, total=NAN, values=(NAN, 0.0), reason="1 of 4 \u202etexts")
    assert shown(Explanation(0.5, attribution=missing)) == [
        "  Leave one out: NaN with all edits, -0.250 with none",
        "    NaN: 1 of 4 texts",
        "    span  edit      type  value",
        "    ----  --------  ----  -----",
        "    0:1   [a -> A]  R       NaN",
        "    1:2   [b -> ]   U     0.000",
    ]


@pytest.mark.parametrize(("method", "name"), [("shapley", "Shapley values"),
                                              ("leave-one-out", "Leave one out")])  # fmt: skip
def test_no_edits(method, name) -> None:
    nothing = replace(FOUND, method=method, edits=(), values=())
    assert shown(Explanation(0.5, attribution=nothing)) == [f"  {name}: the output has no edits"]
