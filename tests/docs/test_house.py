"""The drawing of the house shows the rooms and arrows that the imports make."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def house():
    loader = importlib.machinery.SourceFileLoader("house", str(ROOT / "scripts" / "docs-house"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("house", loader))
    loader.exec_module(module)
    return module


def test_an_arrow_that_a_longer_way_implies_is_left_out(house):
    found = {"a": {"b", "c", "core"}, "b": {"c", "core"}, "c": {"core"}, "core": set()}
    assert house.arrows(found) == [("a", "b"), ("b", "c")]
    assert house.floors(found) == {"core": 0, "c": 1, "b": 2, "a": 3}


def test_a_circle_of_rooms_is_told(house):
    with pytest.raises(SystemExit, match="a circle of rooms: a -> b -> a"):
        house.floors({"a": {"b"}, "b": {"a"}})


def test_a_drawing_without_a_room_is_stale(house):
    found, lines = house.rooms(), house.sizes()
    whole = house.drawing(found, lines)
    del found["adapters"], lines["adapters"]
    assert house.shape(house.drawing(found, lines)) != house.shape(whole)


def test_every_room_has_its_line_on_the_page(house):
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = page[page.index("| room | holds |") : page.index("## Floors")]
    unnamed = {"__init__", "__main__", "version"}
    missing = [r for r in house.rooms() if r not in unnamed and f"`{r}" not in table]
    assert missing == []
