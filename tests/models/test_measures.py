"""Measures: values that tell themselves apart, in words that may be a key."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from importlib.util import find_spec

import pytest

from grammeter.models.service import (
    Likelihood,
    MeanSimilarity,
    Measure,
    Perplexity,
    Regression,
    TokenSimilarity,
)

ALL = [
    TokenSimilarity(),
    TokenSimilarity(layer=1),
    TokenSimilarity(layer=11),
    TokenSimilarity(idf=()),
    TokenSimilarity(idf=("a b",)),
    TokenSimilarity(idf=("a", "b")),
    TokenSimilarity(idf=("a", "b", "b")),
    TokenSimilarity(idf=("1 a",)),
    TokenSimilarity(layer=1, idf=("a", "b")),
    MeanSimilarity(),
    MeanSimilarity(limit=None),
    MeanSimilarity(limit=12),
    Regression(),
    Regression(head="linear"),
    Regression(limit=12),
    Perplexity(),
    Likelihood(),
    Likelihood(limit=None),
]


def test_words_tell_any_two_apart():
    assert len({str(measure) for measure in ALL}) == len(ALL)
    assert len(set(ALL)) == len(ALL)


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_equal_measures_have_equal_words(measure):
    again = type(measure)(**{name: getattr(measure, name) for name in vars(measure)})
    assert again == measure
    assert str(again) == str(measure)
    with pytest.raises((FrozenInstanceError, AttributeError)):
        measure.layer = 3


def test_the_order_of_idf_texts_does_not_matter_to_the_key():
    assert str(TokenSimilarity(idf=("a", "b"))) == str(TokenSimilarity(idf=("b", "a")))
    assert len(str(TokenSimilarity(idf=("a" * 10_000,)))) < 100
    assert str(TokenSimilarity(idf=("\ud800",)))


@pytest.mark.parametrize("kind", Measure.__subclasses__())
def test_each_has_columns_and_a_room(kind):
    assert kind.columns[-1] == "truncated"
    assert find_spec(kind.room) is not None
