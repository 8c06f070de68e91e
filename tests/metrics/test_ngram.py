"""BLEU and chrF are sacrebleu's, from stored counts as from its public functions."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_golden import conll14, table
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from grammeter.core import Segment, UsageError
from grammeter.metrics.ngram import Bleu, Chrf
from grammeter.metrics.registry import metric

METRICS = [
    (Bleu(), BLEU(tokenize="none")),
    (Bleu(smooth_method="none"), BLEU(tokenize="none", smooth_method="none")),
    (
        Bleu(smooth_method="add-k", smooth_value=0.5, max_ngram_order=2),
        BLEU(tokenize="none", smooth_method="add-k", smooth_value=0.5, max_ngram_order=2),
    ),
    (
        Bleu(smooth_method="floor", tokenize="13a", lowercase=True),
        BLEU(smooth_method="floor", tokenize="13a", lowercase=True),
    ),
    (Chrf(), CHRF()),
    (Chrf(word_order=2, lowercase=True), CHRF(word_order=2, lowercase=True)),
    (
        Chrf(char_order=3, beta=1, whitespace=True),
        CHRF(char_order=3, beta=1, whitespace=True),
    ),
]


@pytest.fixture(scope="module")
def conll(shared):
    return conll14(shared)


# Goldens: sacrebleu 2.6.0, corpus_bleu and corpus_chrf with ref0 and ref1


@pytest.mark.parametrize(
    ("m", "column"),
    [
        (Bleu(), "bleu_none_exp"),
        (Bleu(smooth_method="none"), "bleu_none_nosmooth"),
        (Bleu(tokenize="13a"), "bleu_13a"),
        (Chrf(), "chrf2"),
        (Chrf(word_order=2), "chrf2pp"),
    ],
)
def test_corpus_scores_are_sacrebleus(conll, shared, m, column):
    rows = table(shared / "golden" / "classic" / "bleu_chrf.tsv")
    assert len(rows) == 13
    rows = rows if isinstance(m, Bleu) else rows[:3]  # chrF takes 0.3 s a system
    wanted = sorted({at for row in rows for at in conll.rows[row["system"]]})
    statistics = m.statistics([conll.segments[at] for at in wanted])
    place = {at: number for number, at in enumerate(wanted)}
    for row in rows:
        chosen = statistics.take([place[at] for at in conll.rows[row["system"]]])
        assert 100 * m.score(chosen).value == pytest.approx(float(row[column]), abs=6e-7)


texts = st.lists(st.sampled_from(["a", "b", "A", "ab", "ba,", "."]), max_size=6).map(" ".join)
segments = st.lists(
    st.builds(Segment, texts, texts, st.tuples(st.none() | texts, texts, st.none() | texts)),
    min_size=1,
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(segments, st.sampled_from(METRICS))
def test_equals_the_public_functions(batch, pair):
    m, theirs = pair
    hypotheses = [segment.hypothesis for segment in batch]
    references = [list(column) for column in zip(*(s.references for s in batch), strict=True)]
    statistics = m.statistics(batch)
    expected = theirs.corpus_score(hypotheses, references).score / 100
    assert m.score(statistics).value == pytest.approx(expected)
    if isinstance(theirs, BLEU):
        theirs = BLEU(
            tokenize=m.tokenize,
            lowercase=m.lowercase,
            smooth_method=m.smooth_method,
            smooth_value=m.smooth_value,
            max_ngram_order=m.max_ngram_order,
            effective_order=True,
        )
    alone = [theirs.sentence_score(s.hypothesis, s.texts).score / 100 for s in batch]
    assert m.sentences(statistics).values == pytest.approx(alone)
    assert [m.explain(segment).value for segment in batch] == pytest.approx(alone)


@pytest.mark.parametrize(
    ("segment", "bleu", "chrf"),
    [
        (Segment("", "", ("",)), 0, 0),
        (Segment("a b", "", ("a b",)), 0, 0),
        (Segment("a b c d e", "a b c d e", ("a b c d e",)), 1, 1),
        (Segment("ab", "ab", ("ab",)), 1, 1),
        (Segment("a  b c d ", " a b  c d", ("a b c d ",)), 1, 1),
    ],
)
def test_sentences_at_the_edge(segment, bleu, chrf):
    assert Bleu().explain(segment).value == pytest.approx(bleu)
    assert Chrf().explain(segment).value == pytest.approx(chrf)


def test_corpus_of_short_sentences_has_no_bleu():
    batch = [Segment("a b", "a b", ("a b",))]
    assert Bleu().evaluate(batch).value == 0
    assert Bleu().sentences(Bleu().statistics(batch)).values == pytest.approx([1])


@pytest.mark.parametrize("m", [Bleu(), Chrf()])
def test_missing_references_are_named(m):
    batch = [Segment("a", "a", (None, "a")), Segment("a", "a", (None, None)), Segment("b", "b")]
    statistics = m.statistics(batch)
    score, scores = m.score(statistics), m.sentences(statistics)
    assert math.isnan(score.value)
    assert score.parts == {}
    assert score.reason == scores.reason == "2 of 3 segments have no reference"
    assert np.isnan(scores.values).tolist() == [False, True, True]
    assert np.isnan(m.value_of(m.summands(statistics).sum(axis=0)))
    assert math.isnan(m.explain(batch[2]).value)
    assert m.evaluate([]).reason == "no segments"
    assert len(m.sentences(m.statistics([]))) == 0


@pytest.mark.parametrize("m", [Bleu(smooth_method="add-k"), Chrf()])
def test_many_resamples_at_once(m):
    batch = [Segment("", h, ("a b c d e", "b a")) for h in ("a b c d", "b c d e a", "a")]
    statistics = m.statistics(batch)
    weights = np.array([[[2, 0, 0], [1, 1, 1]], [[0, 1, 1], [0, 0, 3]]])
    values = m.value_of(weights @ m.summands(statistics))
    assert values.shape == (2, 2)
    assert values[0, 1] == m.score(statistics).value


def test_bleu_parts_and_explanation():
    segment = Segment("", "a b c d", ("a b c e f",))
    score = Bleu(smooth_method="none").evaluate([segment])
    assert score.parts == {
        "brevity": pytest.approx(math.exp(1 - 5 / 4)),
        "precision1": pytest.approx(3 / 4),
        "precision2": pytest.approx(2 / 3),
        "precision3": pytest.approx(1 / 2),
        "precision4": 0,
    }
    explanation = Bleu().explain(segment)
    (grid,) = explanation.grids
    assert grid.columns == ("count", "reference 0")
    assert grid.rows[:4] == (
        ("hypothesis", "4"), ("reference", "5"), ("matched1", "3"), ("matched2", "2")
    )  # fmt: skip
    assert Bleu().explain(Segment("", "a b c d", (None,))).grids == ()


def test_chrf_explanation_names_the_orders():
    explanation = Chrf(char_order=2, word_order=1).explain(Segment("", "ab c", ("ab", "x")))
    kinds = ("hypothesis", "reference", "match")
    names = [f"{kind} {order}" for order in ("char1", "char2", "word1") for kind in kinds]
    assert explanation.grids[0].rows == tuple(zip(names, "322211211", strict=True))


@pytest.mark.parametrize(
    "spelled",
    [
        "bleu",
        "bleu(tokenize=13a)",
        "bleu(smooth_method=none, max_ngram_order=3)",
        "bleu(smooth_method=add-k, smooth_value=0.5, lowercase=true)",
        "chrf",
        "chrf(word_order=2, whitespace=true)",
    ],
)
def test_spelling(spelled):
    assert metric(str(metric(spelled))) == metric(spelled)


def test_signatures_show_sacrebleus_version():
    assert Bleu().signature()["sacrebleu"] == sacrebleu.__version__
    assert Chrf().signature()["sacrebleu"] == sacrebleu.__version__
    assert Bleu().signature()["tokenize"] == "none"


@pytest.mark.parametrize(
    ("cls", "fields"),
    [
        (Bleu, {"max_ngram_order": 0}),
        (Bleu, {"smooth_value": 0}),
        (Bleu, {"tokenize": "flores200"}),
        (Chrf, {"char_order": 0}),
        (Chrf, {"word_order": -1}),
        (Chrf, {"beta": 0}),
    ],
)
def test_impossible_fields(cls, fields):
    with pytest.raises(UsageError, match=next(iter(fields))):
        cls(**fields)


def test_rows_are_shared_where_only_the_score_differs():
    batch = [Segment("a b", "a B c", ("a b c", "a c"))]
    default, other = Bleu(), Bleu(smooth_method="none")
    assert default.counting() == other.counting()
    assert (default.statistics(batch).rows == other.statistics(batch).rows).all()
    assert default.counting() != Bleu(lowercase=True).counting()
    assert Chrf().counting() != Chrf(beta=1).counting()  # beta chooses the reference
