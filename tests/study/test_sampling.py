"""Sampling: probabilities against the paper's, draws against their probabilities."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from grammeter.core import (
    DataError,
    LengthMismatchError,
    MetricScores,
    ScoreTable,
    SegmentScores,
    UnknownNameError,
    UsageError,
)
from grammeter.formats.text import read_lines
from grammeter.metrics import metric
from grammeter.study.selectors import UNIFORM_SHARE, distribution, inclusion, sample

NAMES = tuple("ABCDEF")

OUTPUTS = {
    "A": ["a", "a", "a", "a", "one two"],
    "B": ["a", "b", "b", "a", "one three"],
    "C": ["a", "c", "c", "a ", "four"],
    "D": ["a", "d", "a", "b", "one two"],
}
"""4 systems, 5 sentences with 1, 4, 3, 2 and 3 distinct outputs."""


def table(systems, values, name="gleu", corpus=None):
    gleu = metric(name)
    segments = {
        system: SegmentScores(np.array(row, dtype=float), np.full(len(row), -1), {})
        for system, row in zip(systems, values, strict=True)
    }
    scored = MetricScores(name, gleu.signature(), True, {}, segments)
    return ScoreTable(tuple(systems), len(values[0]), {name: scored}, corpus)


SCORES = table("ABCD", np.arange(20).reshape(4, 5) % 7)


# --- probabilities -------------------------------------------------------------------------


def test_probabilities_of_the_paper(shared):
    """golden/ranking/sampling_probabilities.tsv: M=5, 12 systems of CoNLL-2014 and INPUT.

    Made by an independent calculation; equal to the patched original (calcprob.pl).
    """
    folder = shared / "data" / "conll14_test" / "official_systems"
    source = distribution({path.name: read_lines(path) for path in folder.iterdir()})
    lines = (shared / "golden/ranking/sampling_probabilities.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines[2:]]
    assert len(rows) == len(source.groups) == 1312
    for number, (_, counts, covered, value, probability) in enumerate(rows):
        assert sorted(map(len, source.groups[number])) == [int(count) for count in counts.split()]
        assert source.expected_systems[number] == pytest.approx(float(covered), rel=1e-11)
        assert source.values[number] == pytest.approx(float(value), rel=1e-11)
        assert source.probabilities[number] == pytest.approx(float(probability), abs=1e-12)
    assert source.probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert source.values.sum() == pytest.approx(366.652355731963, abs=1e-10)
    assert source.probabilities.min() == pytest.approx(3.4966e-4, abs=5e-9)
    assert source.probabilities.max() == pytest.approx(2.7274e-3, abs=5e-8)


def test_uniform():
    assert distribution(OUTPUTS, select="uniform").probabilities.tolist() == [0.2] * 5


@pytest.mark.parametrize("select", ["diversity", "spread"])
def test_selectors_beyond_the_paper_keep_every_sentence_possible(select):
    source = distribution(OUTPUTS, select=select, scores=SCORES if select == "spread" else None)
    shares = source.values / source.values.sum()
    expected = (1 - UNIFORM_SHARE) * shares + UNIFORM_SHARE / 5
    assert source.probabilities == pytest.approx(expected)
    assert source.probabilities.min() >= UNIFORM_SHARE / 5
    assert source.probabilities.sum() == pytest.approx(1)


def test_diversity_prefers_different_outputs():
    source = distribution(OUTPUTS, select="diversity")
    assert source.values.tolist() == pytest.approx([0, 1, 5 / 6, 1 / 2, 2 / 3])


def test_spread_is_that_of_the_scores():
    values = np.array(
        [[scores[at] for scores in (np.arange(20).reshape(4, 5) % 7)] for at in range(5)]
    )
    source = distribution(OUTPUTS, select="spread", scores=SCORES)
    assert source.values == pytest.approx(values.std(axis=1))
    assert source.signature["scores"] == str(metric("gleu").signature())


def test_the_order_of_systems_does_not_matter():
    expected = sample(distribution(OUTPUTS), n=50)
    for order in list(permutations(OUTPUTS))[::5]:
        assert sample(distribution({name: OUTPUTS[name] for name in order}), n=50) == expected


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"per_item": 1}, UsageError, "side by side"),
        ({"select": "papr"}, UnknownNameError, "selector"),
        ({"select": "spread"}, UsageError, "without scores"),
        ({"scores": SCORES}, UsageError, "with scores"),
        ({"select": "spread", "scores": SCORES, "metric": "m2"}, UnknownNameError, "m2"),
    ],
)
def test_wrong_options(options, error, message):
    with pytest.raises(error, match=message):
        distribution(OUTPUTS, **options)


@pytest.mark.parametrize(
    ("systems", "error"),
    [
        ({}, UsageError),
        ({"A": ["a"]}, UsageError),
        ({"A": ["a"], "B": ["a", "b"]}, LengthMismatchError),
    ],
)
def test_outputs_that_cannot_be_compared(systems, error):
    with pytest.raises(error):
        distribution(systems)


def test_no_diversity_anywhere():
    with pytest.raises(DataError, match="diversity"):
        distribution({"A": ["a", "b"], "B": ["a", "b"]}, select="diversity")


def test_scores_of_other_outputs():
    others = table("ABCD", np.eye(4, 5), corpus={"systems": OUTPUTS | {"C": ["x"] * 5}})
    with pytest.raises(DataError, match="scores of C"):
        distribution(OUTPUTS, select="spread", scores=others)
    distribution(
        OUTPUTS, select="spread", scores=table("ABCD", np.eye(4, 5), corpus={"systems": OUTPUTS})
    )


def test_scores_that_lack_a_system_or_sentences():
    with pytest.raises(UnknownNameError, match="'D'"):
        distribution(OUTPUTS, select="spread", scores=table("ABC", np.eye(3, 5)))
    with pytest.raises(LengthMismatchError):
        distribution(OUTPUTS, select="spread", scores=table("ABCD", np.eye(4, 6)))


def test_several_metrics_need_a_name():
    both = ScoreTable(
        SCORES.systems, 5, {**SCORES.columns, **table("ABCD", np.eye(4, 5), "m2").columns}
    )
    with pytest.raises(UsageError, match="2 metrics"):
        distribution(OUTPUTS, select="spread", scores=both)
    source = distribution(OUTPUTS, select="spread", scores=both, metric="gleu")
    assert source.signature["scores"] == str(metric("gleu").signature())


# --- draws ---------------------------------------------------------------------------------


@pytest.mark.parametrize("select", ["paper", "uniform", "diversity", "spread"])
def test_sentences_are_drawn_by_their_probabilities(select):
    source = distribution(OUTPUTS, select=select, scores=SCORES if select == "spread" else None)
    items = sample(source, n=20_000, seed=1)
    drawn = np.bincount([item.segment - 1 for item in items], minlength=5)
    assert chisquare(drawn, source.probabilities * 20_000).pvalue > 0.01
    for item in items[:100]:
        assert item.probability == source.probabilities[item.segment - 1]


def test_outputs_are_chosen_uniformly():
    """Sentence 2 has 4 distinct outputs: all 4 * 3 ordered pairs are alike."""
    source = distribution(OUTPUTS, select="uniform", per_item=2)
    shown = Counter(item.systems for item in sample(source, n=40_000, seed=2) if item.segment == 2)
    assert len(shown) == 12
    assert chisquare(list(shown.values())).pvalue > 0.01


def test_an_equal_systems_stand_in_is_chosen_uniformly():
    source = distribution(OUTPUTS, select="uniform")
    items = [item for item in sample(source, n=20_000, seed=3) if item.segment == 4]
    named = Counter(name for item in items for name in item.systems)
    assert named["D"] == len(items)
    assert chisquare([named[name] for name in "ABC"]).pvalue > 0.01


def test_items_show_distinct_outputs_and_lose_no_system():
    source = distribution(OUTPUTS, per_item=3)
    for item in sample(source, n=200):
        texts = [OUTPUTS[name][item.segment - 1].strip() for name in item.systems]
        assert len(set(texts)) == len(texts) == min(3, item.distinct)
        for group, text in zip(item.groups, texts, strict=True):
            same = [n for n in OUTPUTS if OUTPUTS[n][item.segment - 1].strip() == text]
            assert list(group) == same


def test_same_seed_same_items():
    source = distribution(OUTPUTS)
    assert sample(source, n=50, seed=5) == sample(distribution(OUTPUTS), n=50, seed=5)
    assert sample(source, n=50, seed=5) != sample(source, n=50, seed=6)


def test_a_longer_sample_begins_with_a_shorter_one():
    """So a campaign can be extended."""
    shorter, longer = (sample(distribution(OUTPUTS), n=n, seed=5) for n in (20, 50))
    for one, other in zip(shorter, longer, strict=False):
        assert (one.segment, one.systems, one.groups) == (
            other.segment,
            other.systems,
            other.groups,
        )


def test_the_signature_says_everything():
    item = sample(distribution(OUTPUTS, select="diversity", per_item=3), n=7, seed=9)[0]
    assert str(item.signature) == (
        "sample|select:diversity|per_item:3|uniform_share:0.1|systems:4|segments:5"
        f"|outputs:{item.signature['outputs']}|draws:with-replacement|n:7|seed:9|version:"
        + item.signature["version"]
    )


def test_the_digest_tells_outputs_apart():
    others = OUTPUTS | {"A": ["a", "a", "a", "a", "one twO"]}
    digests = {distribution(o).signature["outputs"] for o in (OUTPUTS, others)}
    assert len(digests) == 2


@pytest.mark.parametrize("wrong", [{"n": 0}, {"n": 6, "distinct": True}, {"n": 3, "seed": -1}])
def test_impossible_draws(wrong):
    with pytest.raises(UsageError):
        sample(distribution(OUTPUTS), **wrong)


# --- without replacement -------------------------------------------------------------------

chances = st.lists(st.integers(0, 20), min_size=1, max_size=8).filter(any)


@given(chances, st.data())
def test_inclusion_adds_up(weights, data):
    probabilities = np.array(weights) / sum(weights)
    n = data.draw(st.integers(1, int(np.count_nonzero(probabilities))))
    result = inclusion(probabilities, n)
    assert result.sum() == pytest.approx(n)
    assert ((result >= 0) & (result <= 1)).all()
    free = (result < 1) & (probabilities > 0)
    ratios = result[free] / probabilities[free]  # what is not certain stays in proportion
    assert ratios == pytest.approx(ratios[:1].repeat(len(ratios)))


def test_inclusion_where_one_sentence_is_certain():
    result = inclusion(np.array([0.8, 0.1, 0.06, 0.04]), 2)
    assert result == pytest.approx([1, 0.5, 0.3, 0.2])


def test_no_sentence_comes_twice():
    for n in range(1, 6):
        for seed in range(50):
            items = sample(distribution(OUTPUTS), n=n, distinct=True, seed=seed)
            assert len({item.segment for item in items}) == len(items) == n


def test_distinct_sentences_are_drawn_by_their_inclusion():
    """The expected number of draws of each sentence is n times the stored probability."""
    source = distribution(OUTPUTS, select="diversity")
    runs, n = 4000, 3
    drawn = np.zeros(5)
    for seed in range(runs):
        for item in sample(source, n=n, distinct=True, seed=seed):
            drawn[item.segment - 1] += 1
            expected = inclusion(source.probabilities, n)[item.segment - 1] / n
            assert item.probability == pytest.approx(expected)
    chance = inclusion(source.probabilities, n)
    error = np.sqrt(runs * chance * (1 - chance)) + 1e-9
    assert (np.abs(drawn - runs * chance) / error).max() < 3
