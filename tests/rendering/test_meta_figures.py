"""Figures of meta-evaluation: what they show, and that the same figure is the same bytes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grammeter.core import UsageError
from grammeter.rendering import meta_figures
from grammeter.rendering.figures import save

pytest.importorskip("matplotlib")

NAN = math.nan
HUMAN = {"AMU": 0.9, "a<b&c": 0.5, "$x$ and $y$": 0.2, "silent": 0.1}
METRICS = {
    "m2": {"AMU": 0.7, "a<b&c": 0.4, "$x$ and $y$": 0.3, "silent": NAN},
    "gleu": {"AMU": 0.6, "a<b&c": 0.6, "$x$ and $y$": 0.2, "silent": 0.1},
}
PVALUES = np.array([[NAN, 0.0312], [NAN, NAN]])
BETAS = [0.1, 0.5, 1.0]
WINDOWS = np.array([[0.5, -0.2, 0.9], [NAN, NAN, NAN], [1.0, NAN, NAN]])

FIGURES = {
    "scatter": lambda: meta_figures.scatter(
        HUMAN, METRICS, human_label="wins", captions={"m2": "pearson 0.981"}
    ),
    "williams": lambda: meta_figures.williams_map(
        ("m2", "a<b"), {"pearson": PVALUES, "spearman": PVALUES / 1000}
    ),
    "beta": lambda: meta_figures.beta_curve(BETAS, [0.2, 0.8, 0.4], [0.1, NAN, 0.3]),
    "window": lambda: meta_figures.window_curve(
        ["1-4", "2-5", "3-6"],
        {"pearson": {"m2": WINDOWS, "gleu": -WINDOWS}, "spearman": {"m2": WINDOWS}},
        alike=(False, True, False),
    ),
}
SHOWN = {
    "scatter": {"AMU": 2, "a&lt;b&amp;c": 2, "$x$ and $y$": 2, "no score: silent": 1, "wins": 2},
    "williams": {">.031<": 1, "&lt;.001": 1, "a&lt;b": 4, "pearson, one-sided p": 1},
    "beta": {"best: 0.800 at 0.5": 1, "best: 0.300 at 1": 1, "Pearson": 1, "Spearman": 1},
    "window": {">1-4<": 2, ">3-6<": 2, ">m2<": 2, ">gleu<": 1, "shaded: one cluster": 1},
}


def texts(figure, path):
    """Return the SVG without its title in the metadata and without comments."""
    save(figure, path)
    lines = path.read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if "<text" in line or "<tspan" in line)


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_same_figure_same_bytes(name, suffix, tmp_path):
    paths = [tmp_path / f"{number}{suffix}" for number in range(2)]
    for path in paths:
        save(FIGURES[name](), path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(b"\x89PNG" if suffix == ".png" else b"<?xml")


@pytest.mark.parametrize("name", FIGURES)
def test_svg_shows_each_name_as_often_as_it_should(name, tmp_path):
    shown = texts(FIGURES[name](), tmp_path / "x.svg")
    assert {text: shown.count(text) for text in SHOWN[name]} == SHOWN[name]


def test_a_point_for_each_system_with_both_scores(tmp_path):
    figure = FIGURES["scatter"]()
    assert [len(axes.lines[0].get_xdata()) for axes in figure.axes] == [3, 4]
    assert list(figure.axes[0].lines[0].get_ydata()) == [0.7, 0.4, 0.3]
    save(figure, tmp_path / "x.svg")
    groups = (tmp_path / "x.svg").read_text("utf-8").split('<g id="systems">')[1:]
    assert [group.split('<g id="')[0].count("<use ") for group in groups] == [3, 4]


def test_a_grid_with_an_empty_place():
    figure = meta_figures.scatter({"A": 1.0, "B": 2.0}, {f"m{n}": {"A": 1, "B": 2} for n in "1234"})
    assert [axes.axison for axes in figure.axes] == [True] * 4 + [False] * 2


def test_names_stay_apart_where_there_is_room():
    """Also of two systems at the same point."""
    names, x, y = ["first", "second", "third"], [0.5, 0.5, 1.0], [0.3, 0.3, 0.9]
    places = list(meta_figures._labels(names, x, y))
    assert places[0] != places[1]
    assert places[2][1] == "right"  # the one at the right edge is written to its left


@pytest.mark.parametrize("scores", [{"A": 0.5}, {"A": NAN}])
def test_one_system(scores, tmp_path):
    figure = meta_figures.scatter({"A": 0.4}, {"m": scores})
    save(figure, tmp_path / "x.svg")
    assert len(figure.axes[0].lines[0].get_xdata()) == int(math.isfinite(scores["A"]))


def test_undefined_everywhere(tmp_path):
    nothing = np.full((2, 3), NAN)
    shown = texts(
        meta_figures.window_curve(["1-2", "2-3"], {"p": {"m": nothing}}), tmp_path / "w.svg"
    )
    assert ">m<" in shown
    shown = texts(meta_figures.beta_curve([0.1, 1], [NAN, NAN], [NAN, NAN]), tmp_path / "b.svg")
    assert "best" not in shown
    shown = texts(meta_figures.williams_map("m", {"p": np.array([[NAN]])}), tmp_path / "m.svg")
    assert ">m<" in shown


def test_intervals_are_drawn_where_they_are_known():
    axes = FIGURES["window"]().axes[1]
    (segments,) = [found.get_segments() for found in axes.collections]
    assert [segment.tolist() for segment in segments] == [[[0.0, -0.2], [0.0, 0.9]]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: meta_figures.scatter(HUMAN, {}),
        lambda: meta_figures.scatter(HUMAN, {"m": {"AMU": 0.5}}),
        lambda: meta_figures.williams_map(("a", "b", "c"), {"pearson": PVALUES}),
        lambda: meta_figures.williams_map(("a", "b"), {}),
        lambda: meta_figures.beta_curve(BETAS, [0.1], [0.1]),
        lambda: meta_figures.window_curve(["1-2"], {"p": {"m": WINDOWS}}),
        lambda: meta_figures.window_curve(["1-2"], {}),
        lambda: meta_figures.window_curve(["a", "b", "c"], {"p": {"m": WINDOWS}}, alike=[True]),
    ],
)
def test_shapes_that_do_not_fit(make):
    with pytest.raises(UsageError):
        make()
