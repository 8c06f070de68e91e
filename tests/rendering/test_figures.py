"""Figures as files: what they show, where it stands, and that they are the same bytes again."""

from __future__ import annotations

import math
import re
import sys
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from grammeter.core import Ranked, RankedSystem, Signature, UsageError
from grammeter.rendering import charts
from grammeter.rendering.figures import save_figure, shortened

NAN = math.nan
NAMES = ("AMU", "a<b&c", "$x$ and $y$")
SHARES = np.array([[NAN, 0.25, 0.9], [0.75, NAN, 0.5], [0.1, 0.5, NAN]])
SIZES, MEAN, LOW, HIGH = [5, 50, 500], [0.4, 0.8, 0.97], [-0.2, 0.6, 0.93], [0.8, 0.95, 1.0]
HUMAN = {"AMU": 0.9, "a<b&c": 0.5, "$x$ and $y$": 0.2, "silent": 0.1}
METRICS = {
    "m2": {"AMU": 0.7, "a<b&c": 0.4, "$x$ and $y$": 0.3, "silent": NAN},
    "gleu": {"AMU": 0.6, "a<b&c": 0.6, "$x$ and $y$": 0.2, "silent": 0.1},
}
PVALUES = np.array([[NAN, 0.0312], [NAN, NAN]])
WINDOWS = np.array([[0.5, -0.2, 0.9], [NAN, NAN, NAN], [1.0, NAN, NAN]])


def ranked():
    rows = (
        RankedSystem(NAMES[0], 0.628, (1, 1), 1),
        RankedSystem(NAMES[1], 0.5, (2, 3), 2),
        RankedSystem(NAMES[2], NAN, (2, 3), 2, "never compared"),
    )
    return Ranked("expected-wins", Signature.of("expected-wins", {}), rows)


FIGURES = {
    "ranges": lambda: charts.rank_ranges(ranked()),
    "heads": lambda: charts.head_to_head_map(NAMES, SHARES, [["", "*", "‡"]] * 3),
    "agreement": lambda: charts.agreement_matrix(NAMES, SHARES - 0.3),
    "learning": lambda: charts.learning_curve(SIZES, MEAN, LOW, HIGH),
    "scatter": lambda: charts.metric_scatters(
        HUMAN, METRICS, human_label="wins", captions={"m2": "pearson 0.981"}
    ),
    "williams": lambda: charts.williams_map(
        ("m2", "a<b"), {"pearson": PVALUES, "spearman": PVALUES / 1000}
    ),
    "beta": lambda: charts.series_curves(
        {
            "r": {
                "Pearson": [(0.1, 0.2), (0.5, 0.8), (1.0, NAN)],
                "best: 0.800 at 0.5": [(0.5, 0.8)],
            }
        },
        x_label="beta",
        title="Correlation by beta",
    ),
    "window": lambda: charts.window_curve(
        ["1-4", "2-5", "3-6"],
        {"pearson": {"m2": WINDOWS, "gleu": -WINDOWS}, "spearman": {"m2": WINDOWS}},
        alike=(False, True, False),
    ),
}
SHOWN = {
    "ranges": {**dict.fromkeys(NAMES, 1), "0.628  cluster 1": 1, "NaN  cluster 2": 1},
    "heads": {"AMU": 2, ".25*": 1, ".90‡": 1, ".75": 1, "–": 3},
    "agreement": {"-.05": 1, ".60": 1, "–": 3, "Agreement of judges (kappa)": 1},
    "learning": {"items judged": 1, "0.95": 1, "mean, and 90% of the draws": 1, "100": 1},
    "scatter": {"AMU": 2, "$x$ and $y$": 2, "silent": 1, "no score: silent": 1, "wins": 2},
    "williams": {".031": 1, "<.001": 1, "a<b": 4, "pearson, one-sided p: the row's metric": 1},
    "beta": {"best: 0.800 at 0.5": 1, "Pearson": 1, "beta": 1},
    "window": {"1-4": 2, "3-6": 2, "m2": 2, "gleu": 1},
}


def elements(figure, tag, path):
    """Write a figure, read it again, and return its elements of one kind."""
    save_figure(figure, path)
    root = ElementTree.fromstring(path.read_text("utf-8"))
    return root.findall(f".//{{http://www.w3.org/2000/svg}}{tag}")


def texts(figure, path):
    return [element.text for element in elements(figure, "text", path)]


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_same_figure_same_bytes(name, suffix, tmp_path):
    paths = [tmp_path / f"{number}{suffix}" for number in range(2)]
    for path in paths:
        save_figure(FIGURES[name](), path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(b"\x89PNG" if suffix == ".png" else b"<?xml")


@pytest.mark.parametrize("name", FIGURES)
def test_each_text_stands_there_as_often_as_it_should(name, tmp_path):
    shown = texts(FIGURES[name](), tmp_path / "x.svg")
    assert {text: shown.count(text) for text in SHOWN[name]} == SHOWN[name]


@pytest.mark.parametrize("name", FIGURES)
def test_a_file_stands_alone(name, tmp_path):
    """Plain colours, a white ground, a title: programs other than browsers show it, too."""
    save_figure(FIGURES[name](), tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text("utf-8")
    assert "var(" not in text
    assert text.count('fill="#ffffff"') == 1
    title = ElementTree.fromstring(text)[0].text
    assert re.search(f'font-weight="700"[^>]*>{re.escape(title)}<', text)


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_has_ink_where_the_drawing_has(name, tmp_path):
    """Each text and dot of the SVG lies on pixels that are not white in the PNG."""
    from matplotlib.image import imread

    figure = FIGURES[name]()
    save_figure(figure, tmp_path / "x.png")
    ink = (imread(tmp_path / "x.png")[..., :3] < 0.99).any(axis=2)
    save_figure(figure, tmp_path / "x.svg")
    root = ElementTree.fromstring((tmp_path / "x.svg").read_text("utf-8"))
    _, _, width, height = map(float, root.get("viewBox").split())
    assert ink.shape[1] / ink.shape[0] == pytest.approx(width / height, rel=0.02)
    across, down = ink.shape[1] / width, ink.shape[0] / height
    for tag, reach in (("use", 8), ("text", 12)):
        for part in root.iterfind(f".//{{http://www.w3.org/2000/svg}}{tag}[@x][@y]"):
            if part.get("x") == "0":
                continue  # the area
            column, row = int(float(part.get("x")) * across), int(float(part.get("y")) * down)
            wide = int(reach * across)
            assert ink[max(row - wide, 0) : row + 2, max(column - wide, 0) : column + wide].any()


def test_the_readers_own_settings_change_nothing(tmp_path):
    import matplotlib

    save_figure(FIGURES["ranges"](), tmp_path / "plain.png")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "lines.linewidth": 9}):
        save_figure(FIGURES["ranges"](), tmp_path / "own.png")
        assert matplotlib.rcParams["font.size"] == 20
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "own.png").read_bytes()


def test_pyplot_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # its import would fail
    save_figure(FIGURES["heads"](), tmp_path / "x.png")


def test_a_point_for_each_system_with_both_scores(tmp_path):
    assert len(elements(FIGURES["scatter"](), "use", tmp_path / "x.svg")) == 3 + 4


def test_a_curve_rises_to_the_right_in_equal_steps(tmp_path):
    dots = elements(FIGURES["learning"](), "use", tmp_path / "x.svg")[1:4]  # the first is the area
    x, y = ([float(dot.get(key)) for dot in dots] for key in "xy")
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.02)  # 5, 50, 500
    assert all(above < below for below, above in pairwise(y))


def test_intervals_are_drawn_where_they_are_known(tmp_path):
    figure = charts.window_curve(["1-4", "2-5", "3-6"], {"r": {"m2": WINDOWS}})
    spans = re.findall(r'd="M ([0-9.]+) [0-9.]+\s+L \1 [0-9.]+\s*"[^>]*#0072b2', figure.svg)
    assert len(spans) == 1  # upright


def test_undefined_everywhere(tmp_path):
    nothing = np.full((2, 3), NAN)
    path = tmp_path / "x.svg"
    assert "m" in texts(charts.window_curve(["1-2", "2-3"], {"p": {"m": nothing}}), path)
    assert "m" in texts(charts.williams_map("m", {"p": np.array([[NAN]])}), path)
    assert "no score: A" in texts(charts.metric_scatters({"A": 0.4}, {"m": {"A": NAN}}), path)


def test_one_system():
    single = Ranked("m", Signature.of("m", {}), (RankedSystem("A", 0.0, (1, 1), 1),))
    assert charts.rank_ranges(single).svg
    assert charts.metric_scatters({"A": 0.4}, {"m": {"A": 0.5}}).svg


@pytest.mark.parametrize("name", ["x.pdf", "x", "folder/x.svg"])
def test_files_that_cannot_be_written(name, tmp_path):
    with pytest.raises(UsageError):
        save_figure(FIGURES["learning"](), tmp_path / name)


class TestScripts:
    def named(self, name):
        return charts.agreement_matrix((name, "B"), SHARES[:2, :2])

    def test_right_to_left_names(self, tmp_path):
        figure = self.named("\u05e9\u05dc\u05d5\u05dd 1")
        assert 'unicode-bidi="plaintext">\u05e9' in figure.svg
        assert "unicode-bidi" not in self.named("A").svg
        save_figure(figure, tmp_path / "a.svg")
        save_figure(figure, tmp_path / "a.png")

    def test_letters_that_no_font_has(self, tmp_path):
        with pytest.raises(UsageError, match="no font here can draw it: Glyph"):
            save_figure(self.named("\u4e2d"), tmp_path / "a.png")
        assert not (tmp_path / "a.png").exists()

    def test_long_names_are_cut_between_clusters(self):
        assert shortened("e\u0301" * 30) == "e\u0301" * 25 + "…"
