"""What is wrong with somebody's metric is told when it is loaded or has counted."""

from __future__ import annotations

import sys
import types
from importlib.metadata import EntryPoint

import pytest

import grammeter as gm
from grammeter.core import UsageError
from grammeter.metrics import registry
from grammeter.metrics.m2 import M2
from grammeter.metrics.registry import faults

WHOLE = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from grammeter.core import Score
from grammeter.core import SegmentScores, Statistics
from grammeter.metrics.base import Metric

@dataclass(frozen=True, kw_only=True)
class Mine(Metric):
    name = "mine"
    title: ClassVar[str] = "words of a hypothesis"
    needs = "nothing"
    citation = ""

    factor: float = 1.0

    def statistics(self, segments):
        rows = np.array([[[len(s.hypothesis.split())]] for s in segments])
        return Statistics(rows, np.ones(rows.shape[:2], bool), (0,), ("words",))

    def score(self, statistics):
        return Score(float(statistics.rows.sum()), self.signature(), len(statistics))

    def sentences(self, statistics):
        return SegmentScores(statistics.rows[:, 0, 0] * 1.0, np.full(len(statistics), -1), {})

    def summands(self, statistics):
        return statistics.rows[:, 0] * self.factor

    def value_of(self, sums):
        return sums[..., 0]
"""

CORPUS = gm.Corpus(sources=["a b", "c"], systems={"A": ["a b", "d"], "B": ["b", "c"]})


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch):
    """Install the metric above as another package would, some text of it replaced."""

    def install(old: str = "", new: str = "") -> None:
        assert old in WHOLE
        module = types.ModuleType("mine_metric")
        monkeypatch.setitem(sys.modules, "mine_metric", module)
        point = EntryPoint("mine", "mine_metric:Mine", registry.GROUP)
        monkeypatch.setattr(registry, "_plugins", lambda: {"mine": point})
        exec(WHOLE.replace(old, new), module.__dict__)

    return install


def test_a_whole_metric_has_no_fault(installed) -> None:
    installed()
    assert gm.score(CORPUS, ["mine"])["mine"]["A"].value == 3
    assert not list(faults("m2", M2))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    title: ClassVar[str] =", "    titel: ClassVar[str] =", "it has no title"),
        ("    citation =", "    paper =", "it has no citation"),
        ('name = "mine"', 'name = "ours"', "its name is 'ours', and it is announced as 'mine'"),
        ('needs = "nothing"', 'needs = "text"', "needs is 'text', and may be 'gold', 'texts'"),
        ("def value_of", "def values_of", "it lacks the methods value_of"),
        ("factor: float = 1.0", "factor: float", "the field factor has no default"),
        ("@dataclass(frozen=True, kw_only=True)", "", "factor is annotated and no field"),
        ("class Mine", "class Other", "cannot be loaded from mine_metric:Mine: AttributeError"),
    ],
)
def test_what_a_class_lacks_is_told(installed, old: str, new: str, message: str) -> None:
    installed(old, new)
    with pytest.raises(UsageError, match=message):
        gm.metric("mine")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("in segments])", "in segments[:-1]])", r"made 3 rows of 4 segments"),
        ("return Statistics(rows, ", "return (rows, ", r"made tuple of 4 segments"),
    ],
)
def test_rows_that_are_not_those_of_the_segments(installed, old, new, message) -> None:
    installed(old, new)
    with pytest.raises(UsageError, match=rf"mine: statistics\(\) {message}"):
        gm.score(CORPUS, ["mine"])


def test_in_python_an_error_in_a_metric_is_raised_as_it_is(installed) -> None:
    installed("s.hypothesis", "s.hypotesis")
    with pytest.raises(AttributeError, match="hypotesis"):
        gm.score(CORPUS, ["mine"])
