"""F-measures that are equal as fractions are equal as numbers, wherever F is computed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.alignment.verdicts import prf
from grammeter.core import Counts
from grammeter.metrics.edit_f import f_of_counts
from grammeter.metrics.gotoscorer import GoToScorer
from grammeter.metrics.green import Green
from grammeter.metrics.imeasure import IMeasure

F = Callable[[int, int, int, str], float]


def imeasure(tp: int, fp: int, fn: int, beta: str) -> float:
    counts = np.array([tp, 0, fp, fn, 0, 1, 0])
    return float(IMeasure(beta=float(beta))._parts(counts)["f"])


WAYS: dict[str, F] = {
    "counts": lambda tp, fp, fn, beta: Counts(tp, fp, fn).f(float(beta)),
    "rows": lambda tp, fp, fn, beta: float(
        f_of_counts(np.array([tp, tp + fp, tp + fn]), float(beta))
    ),
    "cleme": lambda tp, fp, fn, beta: prf((tp, fp, 0, fn, 0), float(beta))[0],
    "gotoscorer": lambda tp, fp, fn, beta: float(
        GoToScorer(beta=float(beta)).value_of(np.array([tp, fp, fn, 0.0, 0.0]))
    ),
    "green": lambda tp, fp, fn, beta: float(
        Green(order=1, beta=float(beta)).value_of(np.array([tp, fp, fn]))
    ),
    "imeasure": imeasure,
}

betas = st.sampled_from(["0.5", "1", "2", "0.3", "0.1", "0.25", "0.7", "1.5", "0.01", "0.123"])
counts = st.integers(0, 30)
triples = st.tuples(st.integers(1, 30), counts, counts)


def exact(tp: int, fp: int, fn: int, beta: str) -> Fraction:
    squared = Fraction(beta) ** 2
    return (1 + squared) * tp / ((1 + squared) * tp + squared * fn + fp)


@pytest.mark.parametrize("way", WAYS)
@given(triples, betas, st.integers(1, 1000))
def test_f_is_the_number_nearest_to_the_fraction(way, triple, beta, factor) -> None:
    """So two equal fractions cannot become two numbers, whatever counts they come from."""
    scaled = tuple(factor * count for count in triple)
    assert WAYS[way](*triple, beta) == WAYS[way](*scaled, beta) == float(exact(*triple, beta))


@pytest.mark.parametrize("way", WAYS)
def test_the_pair_of_the_report(way) -> None:
    assert WAYS[way](1, 2, 5, "0.5") == WAYS[way](1, 1, 9, "0.5") == 5 / 18
