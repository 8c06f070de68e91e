"""meteor_es equals nltk's function without synonyms, and a slow twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_golden import conll14, table
from nltk.stem.porter import PorterStemmer

from grammeter.core import Segment, UsageError
from grammeter.metrics.ngram import MeteorES
from grammeter.metrics.registry import metric

STEM = PorterStemmer().stem


def test_corpus_scores_are_nltks(shared):
    # golden: nltk's meteor_score, its stemmer, a synonym source that returns nothing; ref0, ref1
    conll = conll14(shared)
    statistics = MeteorES().statistics(conll.segments)
    rows = table(shared / "golden" / "classic" / "bleu_chrf.tsv")
    assert len(rows) == 13
    for row in rows:
        score = MeteorES().score(statistics.take(conll.rows[row["system"]]))
        assert score.value == pytest.approx(float(row["meteor2005_exact_stem"]), abs=6e-7)


def twin(hypothesis: str, reference: str) -> float:
    """Two loops per stage over what is left, as the description has it."""
    ours = list(enumerate(hypothesis.lower().split()))
    theirs = list(enumerate(reference.lower().split()))
    length, reference_length, pairs = len(ours), len(theirs), []
    for same in (lambda a, b: a == b, lambda a, b: STEM(a) == STEM(b)):
        for a in ours[::-1]:
            for b in theirs[::-1]:
                if same(a[1], b[1]):
                    pairs.append((a[0], b[0]))
                    ours.remove(a)
                    theirs.remove(b)
                    break
    if not pairs:
        return 0.0
    pairs.sort()
    chunks = 1
    for (a, b), (c, d) in zip(pairs, pairs[1:], strict=False):  # noqa: RUF007 - spelled out
        chunks += (c, d) != (a + 1, b + 1)
    p, r = len(pairs) / length, len(pairs) / reference_length
    return 10 * p * r / (r + 9 * p) * (1 - 0.5 * (chunks / len(pairs)) ** 3)


words = st.sampled_from(["cat", "cats", "Cats", "the", "a", "dog", "dogs"])
texts = st.lists(words, max_size=7).map(" ".join)


@settings(deadline=None)
@given(st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=5))
def test_equals_the_slow_twin(given_texts):
    # fewer references are filled up with missing ones, in front
    batch = [Segment("", h, (None,) * (3 - len(r)) + tuple(r)) for h, r in given_texts]
    statistics = MeteorES().statistics(batch)
    scores = MeteorES().sentences(statistics)
    expected = [[twin(h, text) for text in r] for h, r in given_texts]
    best = [max(each) for each in expected]
    assert scores.values == pytest.approx(best)
    for row, each in enumerate(expected):
        slot = scores.chosen[row] - (3 - len(each))
        assert each[slot] == pytest.approx(best[row])
    assert MeteorES().score(statistics).value == pytest.approx(np.mean(best))
    assert MeteorES().value_of(MeteorES().summands(statistics).sum(0)) == pytest.approx(
        np.mean(best)
    )


@pytest.mark.parametrize(
    ("hypothesis", "references", "value", "chosen"),
    [
        ("", ("",), 0, 0),
        ("", ("a",), 0, 0),
        ("a", ("",), 0, 0),
        ("a", ("b", "a"), 0.5, 1),  # one match is one chunk: the greatest penalty
        ("a", ("a", "a"), 0.5, 0),
        ("a b", ("a b",), 1 - 0.5 / 8, 0),
        (" the  cats sat ", ("The cat sat",), 1 - 0.5 / 27, 0),
        ("is", ("i",), 0, 0),  # a stemmer without a lower limit says "is" -> "i"
    ],
)
def test_sentences_at_the_edge(hypothesis, references, value, chosen):
    explanation = MeteorES().explain(Segment("", hypothesis, references))
    assert explanation.value == pytest.approx(value)
    assert explanation.chosen == chosen


def test_missing_references_are_named():
    batch = [Segment("a", "a b", (None, "a b")), Segment("a", "a", (None, None)), Segment("b", "b")]
    statistics = MeteorES().statistics(batch)
    score, scores = MeteorES().score(statistics), MeteorES().sentences(statistics)
    assert math.isnan(score.value)
    assert score.reason == "2 of 3 segments have no score: no reference"
    assert scores.reason == "no reference"
    assert scores.chosen.tolist() == [1, -1, -1]
    assert np.isnan(scores.values).tolist() == [False, True, True]
    assert np.isnan(MeteorES().value_of(MeteorES().summands(statistics).sum(axis=0)))
    assert MeteorES().explain(batch[1]).chosen is None
    assert MeteorES().evaluate([]).reason == "no segments"
    assert np.isnan(MeteorES().value_of(np.zeros(2)))


def test_parameters():
    segment = Segment("", "a b x", ("a c b d",))
    p, r, scattered = 2 / 3, 2 / 4, (2 / 2) ** 3
    assert MeteorES(gamma=0.0, alpha=1.0).explain(segment).value == pytest.approx(r)
    assert MeteorES(gamma=0.0, alpha=0.0).explain(segment).value == pytest.approx(p)
    f = p * r / (0.9 * p + 0.1 * r)
    assert MeteorES(gamma=0.2).explain(segment).value == pytest.approx(f * (1 - 0.2 * scattered))
    assert MeteorES(beta=0.0).explain(segment).value == pytest.approx(f * 0.5)


def test_explain_shows_the_counts():
    segment = Segment("", "the cats sat on the mat", (None, "the cat sat"))
    explanation = MeteorES().explain(segment)
    (grid,) = explanation.grids
    assert grid.columns == ("count", "reference 1")
    assert grid.rows == (("matches", "3"), ("chunks", "2"), ("hypothesis", "6"), ("reference", "3"))
    assert explanation.parts == {
        "precision": 0.5, "recall": 1.0, "penalty": pytest.approx(0.5 * (2 / 3) ** 3)
    }  # fmt: skip


def test_spelling_and_signature():
    assert metric("meteor_es") == MeteorES()
    m = metric("meteor_es(alpha=0.8, gamma=0.4)")
    assert metric(str(m)) == m
    assert MeteorES().signature()["stemmer"] == "porter"


@pytest.mark.parametrize(
    "fields", [{"alpha": 1.5}, {"gamma": -1}, {"beta": -1.0}, {"beta": math.inf}]
)
def test_impossible_fields(fields):
    with pytest.raises(UsageError, match=next(iter(fields))):
        MeteorES(**fields)


def test_rows_are_shared_where_only_the_score_differs():
    batch = [Segment("a b", "a B c", ("a b c", "a c"))]
    default, other = MeteorES(), MeteorES(alpha=0.5)
    assert default.counting() == other.counting()
    assert (default.statistics(batch).rows == other.statistics(batch).rows).all()
