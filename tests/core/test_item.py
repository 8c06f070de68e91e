"""Items: what makes sense of one."""

from __future__ import annotations

import pytest

from grammeter.core import Item
from grammeter.core.errors import DataError


def test_each_system_stands_for_itself_where_groups_are_unknown():
    assert Item(segment=1, systems=("A", "B")).groups == (("A",), ("B",))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"segment": 0}, "count from 1"),
        ({"systems": ()}, "no system"),
        ({"systems": ("A", ""), "groups": (("A",), ("",))}, "without a name"),
        ({"systems": ("A", "A"), "groups": ()}, "in two groups"),
        ({"groups": (("A", "C"),)}, "do not fit"),
        ({"groups": (("A",), ("C",))}, "do not fit"),
        ({"groups": (("A", "C"), ("B", "C"))}, "in two groups"),
        ({"judges": ("x", "x")}, "judge"),
        ({"judges": ("",)}, "judge"),
        ({"distinct": 1}, "2 outputs shown of 1"),
        ({"probability": 0.0}, "no probability"),
        ({"probability": float("nan")}, "no probability"),
        ({"probability": 1.5}, "no probability"),
    ],
)
def test_impossible_items(change, message):
    good = {"segment": 3, "systems": ("A", "B"), "groups": (("A", "C"), ("B",))}
    Item(**good)
    with pytest.raises(DataError, match=message):
        Item(**(good | change))
