"""Figures: what they show, and that the same figure is the same bytes."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest

from grammeter.core import MissingResourceError, Ranked, RankedSystem, Signature, UsageError
from grammeter.rendering import figures

pytest.importorskip("matplotlib")

NAMES = ("AMU", "a<b&c", "$x$ and $y$")
SHARES = np.array([[np.nan, 0.25, 0.9], [0.75, np.nan, 0.5], [0.1, 0.5, np.nan]])
SIZES, MEAN, LOW, HIGH = [5, 50, 500], [0.4, 0.8, 0.97], [-0.2, 0.6, 0.93], [0.8, 0.95, 1.0]


def ranked():
    rows = (
        RankedSystem(NAMES[0], 0.628, (1, 1), 1),
        RankedSystem(NAMES[1], 0.5, (2, 3), 2),
        RankedSystem(NAMES[2], float("nan"), (2, 3), 2, "never compared"),
    )
    return Ranked("expected-wins", Signature.of("expected-wins", {}), rows)


FIGURES = {
    "ranges": lambda: figures.rank_ranges(ranked()),
    "heads": lambda: figures.head_to_head_map(NAMES, SHARES, [["", "*", "‡"]] * 3),
    "agreement": lambda: figures.agreement_matrix(NAMES, SHARES - 0.3),
    "curve": lambda: figures.learning_curve(SIZES, MEAN, LOW, HIGH),
}
SHOWN = {
    "ranges": [
        "AMU",
        "a&lt;b&amp;c",
        "$x$ and $y$",
        "0.628",
        "NaN",
        "cluster 2",
        "rank (expected-",
    ],
    "heads": [".25*", ".90‡", ".75", "$x$ and $y$"],
    "agreement": ["-.05", ".60", "kappa"],
    "curve": ["items judged", "0.95", "90% of the draws", "mean"],
}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_same_figure_same_bytes(name, suffix, tmp_path):
    paths = [tmp_path / f"{number}{suffix}" for number in range(2)]
    for path in paths:
        figures.save(FIGURES[name](), path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(b"\x89PNG" if suffix == ".png" else b"<?xml")


@pytest.mark.parametrize("name", FIGURES)
def test_svg_holds_text_without_date_and_version(name, tmp_path):
    figures.save(FIGURES[name](), tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text("utf-8")
    assert "<dc:date>" not in text
    assert "atplotlib v" not in text
    assert "<title>" in text
    for shown in SHOWN[name]:
        assert shown in text


def test_the_readers_own_settings_change_nothing(tmp_path):
    import matplotlib

    figures.save(FIGURES["ranges"](), tmp_path / "plain.svg")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "svg.hashsalt": None}):
        figures.save(FIGURES["ranges"](), tmp_path / "own.svg")
        assert matplotlib.rcParams["font.size"] == 20
    assert (tmp_path / "plain.svg").read_bytes() == (tmp_path / "own.svg").read_bytes()


def test_pyplot_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # its import would fail
    figures.save(FIGURES["heads"](), tmp_path / "x.png")


def test_ranges_are_drawn_where_the_ranks_are():
    axes = FIGURES["ranges"]().axes[0]
    spans = {tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2}
    assert {(1, 1), (2, 3)} <= spans
    assert [label.get_text() for label in axes.get_yticklabels()] == list(NAMES)
    assert axes.get_ylim() == (2.5, -0.5)  # best on top


def test_letters_can_be_read_on_their_colour():
    """Contrast by WCAG 2: at least 4.5 for every cell of both colour maps."""
    import matplotlib

    for name in ("PuOr", "cividis"):
        for colour in matplotlib.colormaps[name](np.linspace(0, 1, 101)).tolist():
            light = luminance(colour)
            letter = 1.0 if figures._is_dark(colour) else 0.0
            high, low = max(light, letter), min(light, letter)
            assert (high + 0.05) / (low + 0.05) >= 4.5


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_agreement_grows_lighter():
    """Also without any colour: the luminance of cividis only rises."""
    import matplotlib

    found = [luminance(c) for c in matplotlib.colormaps["cividis"](np.linspace(0, 1, 30)).tolist()]
    assert all(low < high for low, high in pairwise(found))


def test_one_system():
    single = Ranked("m", Signature.of("m", {}), (RankedSystem("A", 0.0, (1, 1), 1),))
    assert figures.rank_ranges(single).axes


@pytest.mark.parametrize(
    "make",
    [
        lambda: figures.head_to_head_map(NAMES, SHARES[:2]),
        lambda: figures.head_to_head_map(NAMES, SHARES, [["*"]]),
        lambda: figures.agreement_matrix(NAMES[:2], SHARES),
        lambda: figures.learning_curve(SIZES, MEAN, LOW, HIGH[:2]),
    ],
)
def test_shapes_that_do_not_fit(make):
    with pytest.raises(UsageError):
        make()


@pytest.mark.parametrize("name", ["x.pdf", "x", "folder/x.svg"])
def test_files_that_cannot_be_written(name, tmp_path):
    with pytest.raises(UsageError):
        figures.save(FIGURES["curve"](), tmp_path / name)


def test_without_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingResourceError, match=r"pip install 'grammeter\[plot\]'"):
        FIGURES["curve"]()
