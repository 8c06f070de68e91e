"""Figures as SVG: what they say, that texts stay texts, that bytes stay the same."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from grammeter.core import Ranked, RankedSystem, Signature
from grammeter.rendering.charts import Dot, dot_plot, heat_map, metric_scatters, rank_ranges
from grammeter.rendering.figures import shortened
from grammeter.rendering.html import page_html
from grammeter.rendering.page import Drawing, Page, Section

NAN = math.nan
HOSTILE = "<script>alert(1)</script>&\"'\u202e\x00\x1b[1m]]>\ufffe"


def dots(*names: str) -> Drawing:
    found = [Dot(name, 0.25 + place / 8, 0.125, 0.75, "ab") for place, name in enumerate(names)]
    return dot_plot(found, title="Scores", caption="c")


def cells(*names: str) -> Drawing:
    values = [[0.5 * row for _ in names] for row in range(2)]
    return heat_map((names[0], "R:DET"), names, values, title="F", caption="c")


def points(*names: str) -> Drawing:
    human = {name: place for place, name in enumerate(names)}
    return metric_scatters(human, {names[0]: human}, human_label=names[0])


def ranks(*names: str) -> Drawing:
    rows = [RankedSystem(name, 0.5, (at, at + 1), at) for at, name in enumerate(names, start=1)]
    ranked = Ranked("expected-wins", Signature.of("expected-wins", {}), tuple(rows))
    return rank_ranges(ranked)


FIGURES = [dots, cells, points, ranks]
Figure = Callable[..., Drawing]


def texts(drawing: Drawing) -> list[str]:
    return [text.text or "" for text in elements(drawing, "text")]


def spots(drawing: Drawing) -> list[tuple[float, float]]:
    """Where markers are."""
    return [tuple(float(dot.get(key, 0)) for key in "xy") for dot in elements(drawing, "use")]


def elements(drawing: Drawing, tag: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(drawing.svg)
    return root.findall(f".//{{http://www.w3.org/2000/svg}}{tag}")


@pytest.mark.parametrize("figure", FIGURES)
def test_hostile_names_are_text_and_a_page_takes_the_drawing(figure: Figure) -> None:
    drawing = figure(HOSTILE, "B")
    assert "<script" not in drawing.svg
    assert "\u202e" not in drawing.svg
    assert any(text.startswith("<script>alert(1)") for text in texts(drawing))
    page = page_html(Page("p", (), (Section("s", "S", drawings=(drawing,)),), None))
    assert "<script>alert" not in page


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_has_a_title_and_says_what_it_shows(figure: Figure) -> None:
    root = ElementTree.fromstring(figure("AMU", "CAMB").svg)
    assert root.get("role") == "img"
    first, second = list(root)[:2]
    assert first.tag.endswith("title")
    assert first.text
    assert second.tag.endswith("desc")
    assert "AMU" in (second.text or "")


@pytest.mark.parametrize("figure", FIGURES)
def test_the_same_figure_is_the_same_bytes(figure: Figure) -> None:
    assert figure("AMU", "CAMB").svg == figure("AMU", "CAMB").svg


@pytest.mark.parametrize("figure", FIGURES)
def test_colours_are_variables_with_fallbacks(figure: Figure) -> None:
    svg = figure("AMU", "CAMB").svg
    colours = set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg)) - {"none"}
    assert colours
    assert all(re.fullmatch(r"var\(--[a-z1-6-]+, #[0-9a-f]{6}\)", colour) for colour in colours)
    assert "style=" not in svg


@pytest.mark.parametrize("figure", FIGURES)
def test_everything_lies_within(figure: Figure) -> None:
    drawing = figure("A system with a name that nobody would like to read", "B", "C", "D")
    root = ElementTree.fromstring(drawing.svg)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for each in [*elements(drawing, "text"), *elements(drawing, "use")]:
        x, y = (float(each.get(key, 0)) for key in "xy")
        assert 0 <= x <= width
        assert 0 <= y <= height


def test_scores_stand_beside_their_dots_with_intervals() -> None:
    drawing = dot_plot(
        [Dot("A", 0.5, 0.25, 0.75, "a"), Dot("B", 0.25), Dot("C", NAN)], title="t", caption="c"
    )
    assert {"0.5000 a", "0.2500", "NaN"} < set(texts(drawing))
    assert "A: 0.5000 [0.2500, 0.7500]" in drawing.svg
    low, high, first, second = (x for x, _ in spots(drawing))
    assert second == low < first < high


def test_no_finite_score_at_all() -> None:
    drawing = dot_plot([Dot("A", NAN)], title="t", caption="c")
    assert "NaN" in texts(drawing)
    assert spots(drawing) == []


def test_cells_hold_their_numbers_and_a_missing_one_no_colour() -> None:
    drawing = heat_map(("R", "M"), ("A", "B"), [[0.0, 1.0], [0.25, NAN]], title="t", caption="c")
    assert {"0.00", "1.00", "0.25", "–"} < set(texts(drawing))
    opacities = re.findall(r'fill-opacity="([^"]*)"', drawing.svg)
    assert opacities == ["0.45", "0.11"]  # less than half: letters stay readable in all themes


def test_equal_cells_and_no_cells() -> None:
    assert "0.50" in texts(heat_map(("R",), ("A",), [[0.5]], title="t", caption="c"))
    assert heat_map((), ("A",), [], title="t", caption="c").svg


def test_names_of_near_points_do_not_cover_each_other() -> None:
    names = [f"System{n}" for n in range(8)]
    human = {name: 0.5 + n / 1000 for n, name in enumerate(names)} | {"far": 0.0, "away": 1.0}
    scores = {name: 0.5 if name in names else human[name] for name in human}
    drawn = metric_scatters(human, {"m2": scores})
    places = {
        (text.get("x"), text.get("y")) for text in elements(drawn, "text") if text.text in names
    }
    assert len(places) == len(names)


def test_ranges_of_ranks_and_clusters() -> None:
    rows = (
        RankedSystem("A", 0.75, (1, 1), 1),
        RankedSystem("B", 0.5, (2, 3), 2),
        RankedSystem("C", NAN, (2, 3), 2, "never compared"),
    )
    ranked = Ranked("expected-wins", Signature.of("expected-wins", {}), rows)
    drawing = rank_ranges(ranked)
    assert {"0.750  cluster 1", "0.500  cluster 2", "NaN  cluster 2"} < set(texts(drawing))
    assert len(set(spots(drawing))) == 1 + 2 + 2
    assert "B: ranks 2 to 3, cluster 2" in drawing.svg


@pytest.mark.parametrize("value", [0.0, 1e-300, -7.5])
def test_a_scale_around_one_value_has_room(value: float) -> None:
    drawing = dot_plot([Dot("A", value), Dot("B", NAN)], title="t", caption="c")
    assert "NaN" in texts(drawing)


def test_long_names_are_cut_by_columns() -> None:
    assert shortened("x" * 26) == "x" * 26
    assert shortened("x" * 27) == "x" * 25 + "…"
    assert shortened("語" * 20) == "語" * 12 + "…"
