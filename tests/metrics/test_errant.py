"""ERRANT and SentERRANT as metrics; what they count is tested in tests/errant/test_compare.py."""

from __future__ import annotations

import numpy as np
import pytest

import grammeter as gm
from fake_annotator import FakeAnnotator
from grammeter.core import Counts, DataError, Edit, Segment, UsageError
from grammeter.formats import read_m2
from grammeter.metrics.errant import Errant, SentErrant


@pytest.fixture
def fake(monkeypatch):
    made = FakeAnnotator()
    made.types = []

    def opened(pipeline, *, rules, types):
        made.types.append(types)
        return made

    monkeypatch.setattr("grammeter.metrics.kinds.annotator", opened)
    return made


SOURCE = "a b c d"


def segment(hypothesis, *references, gold=None):
    return Segment(SOURCE, hypothesis, references, gold or {})


def parts(score):
    return [score.parts[key] for key in ("tp", "fp", "fn")]


# What it is held against


def test_reference_texts_are_annotated(fake):
    score = Errant().evaluate([segment("a x c d", "a x c d"), segment("a b c", "a b c d e")])
    assert parts(score) == [1, 1, 1]
    assert score.parts["precision"] == score.parts["recall"] == 0.5
    assert score.value == 0.5
    assert score.n == 2


def test_gold_edits_are_used_as_they_stand(fake):
    gold = {0: (Edit(1, 2, "x", "Nn"),), 3: ()}
    rows = Errant().statistics([segment("a x c d", "b c d", gold=gold)])
    assert rows.labels == (0, 3)
    assert rows.rows.tolist() == [[[1, 1, 1], [0, 1, 0]]]
    assert fake.calls == [[(SOURCE, "a x c d")]]


def test_every_distinct_pair_is_annotated_once_in_one_call(fake):
    segments = [segment("x b c d", "y b c d"), segment("x b c d", "z b c d", "y b c d"),
                segment("z b c d", None, SOURCE)]  # fmt: skip
    Errant().statistics(segments)
    (call,) = fake.calls
    assert call == [(SOURCE, text) for text in ("x b c d", "y b c d", "z b c d")]


def test_an_absent_reference_does_not_compete(fake):
    rows = Errant().statistics([segment("x b c d", None, SOURCE), segment("x b c d", "x b c d")])
    assert rows.present.tolist() == [[False, True], [True, False]]
    assert parts(Errant().score(rows)) == [1, 1, 0]
    assert Errant().sentences(rows).chosen.tolist() == [1, 0]


def test_a_sentence_without_any_reference_is_an_error(fake):
    with pytest.raises(DataError, match="neither gold edits nor a reference for 'a b c d'"):
        Errant().evaluate([segment("a", None)])


def test_no_segments(fake):
    assert Errant().evaluate([]).n == 0
    assert np.isnan(SentErrant().evaluate([]).value)


@pytest.mark.parametrize(
    ("source", "hypothesis", "reference", "expected", "value"),
    [
        ("a b", "a b", "a b", [0, 0, 0], 1.0),
        ("a b", "a b", "a", [0, 0, 1], 0.0),
        ("a b", "a", "a b", [0, 1, 0], 0.0),
        ("a b", "a", "a", [1, 0, 0], 1.0),
        ("", "", "", [0, 0, 0], 1.0),
        ("", "a", "a", [1, 0, 0], 1.0),
        ("a b", "", "a", [0, 1, 1], 0.0),
        ("a  b ", "a b", "a b", [0, 0, 0], 1.0),
    ],
)
def test_edge_cases(fake, source, hypothesis, reference, expected, value):
    for metric in (Errant(), SentErrant()):
        score = metric.evaluate([Segment(source, hypothesis, (reference,))])
        assert (parts(score), score.value) == (expected, value)


def test_gold_that_only_detects(fake):
    gold = {0: (Edit(1, 2, "", "UNK"),)}
    assert parts(Errant().evaluate([segment(SOURCE, gold=gold)])) == [0, 0, 0]
    found = Errant(mode="span-detection").evaluate([segment("a x c d", gold=gold)])
    assert parts(found) == [1, 0, 0]


# The corpus and its sentences


def test_references_are_chosen_over_running_totals_or_alone(fake):
    """After much was missed, a further hit is worth more than few further misses cost."""
    fake.known[SOURCE, "two edits"] = both = (Edit(0, 1, "p"), Edit(2, 3, "q"))
    missed = tuple(Edit(4, 4, f"w{number}") for number in range(29))
    poor = segment("x b c d", gold={0: (Edit(0, 1, "x"), *missed)})
    torn = segment("two edits", gold={0: (*both, *missed[:4]), 1: both[:1]})
    for metric in (Errant(beta=2.0), SentErrant(beta=2.0)):
        scores = metric.sentences(metric.statistics([poor, torn]))
        assert scores.chosen.tolist() == [0, 1]
        running = scores.in_corpus.chosen.tolist() if scores.in_corpus else None
        assert running == ([0, 0] if type(metric) is Errant else None)


def test_the_score_is_that_of_the_summands(fake):
    segments = [segment("x b c d", "x b c d"), segment("a b", "a b c"), segment(SOURCE, "b c d")]
    for metric in (Errant(beta=1.0), SentErrant()):
        rows = metric.statistics(segments)
        value = metric.value_of(metric.summands(rows).sum(axis=0))
        assert float(value) == metric.score(rows).value
        resampled = metric.score(rows.take([2, 0, 0])).value
        assert float(metric.value_of(metric.summands(rows)[[2, 0, 0]].sum(axis=0))) == resampled


def test_sentence_scores_are_the_mean(fake):
    segments = [segment("x b c d", "x b c d"), segment("a b", "a b c"), segment(SOURCE, SOURCE)]
    score = SentErrant().evaluate(segments)
    assert score.value == pytest.approx(2 / 3)
    assert parts(score) == [1, 1, 1]


def test_metrics_that_count_alike_share_their_rows(fake):
    assert Errant().counting() == SentErrant(beta=2.0, rounding=None).counting()
    assert (
        len(
            {
                m.counting()
                for m in (
                    Errant(),
                    Errant(mode="span-type"),
                    Errant(tokens="multi"),
                    Errant(pipeline="x"),
                    Errant(categories="main"),
                )
            }
        )
        == 5
    )
    corpus = gm.Corpus(sources=[SOURCE], references=[["x b c d"]], systems={"A": ["x b c d"]})
    gm.score(corpus, ["errant", "senterrant", "errant(beta=1.0)"])
    assert len(fake.calls) == 1


# Types


def test_types_are_asked_for_where_they_matter_only(fake):
    for metric, typed in (
        (Errant(), False),
        (Errant(mode="token-detection"), False),
        (Errant(mode="span-type"), True),
        (Errant(filter="M:DET"), True),
        (Errant(categories="main"), True),
    ):
        fake.types.clear()
        metric.statistics([segment("x b c d", SOURCE)])
        assert fake.types == [typed], metric


def test_per_type(fake):
    gold = {0: (Edit(0, 1, "x", "R:NOUN:NUM"), Edit(2, 2, "y", "M:DET")), 1: ()}
    segments = [segment("x b c d", gold=gold), segment("b c d", gold=gold)]
    assert Errant().per_type(segments) == {
        "M:DET": Counts(0, 0, 1), "R:NOUN:NUM": Counts(1, 0, 0), "U:OTHER": Counts(0, 1, 0),
    }  # fmt: skip
    assert list(Errant(categories="operation").per_type(segments)) == ["M", "R", "U"]
    assert list(Errant(categories="main").per_type(segments)) == ["DET", "NOUN:NUM", "OTHER"]
    assert fake.types == [True] * 3


def test_per_type_adds_up_to_the_score(fake):
    segments = [segment("x b c d", "x b c d", "b c d"), segment("a b", "a b c", SOURCE)] * 3
    for metric in (Errant(), Errant(mode="token-detection"), SentErrant()):
        found = metric.per_type(segments).values()
        sums = [sum(getattr(counts, key) for counts in found) for key in ("tp", "fp", "fn")]
        assert sums == parts(metric.evaluate(segments))


def test_filter_and_tokens(fake):
    texts = ("e a b c d", "x b c d", "x y c d")
    segments = [segment(text, text) for text in texts]
    assert parts(Errant(filter="M:OTHER").evaluate(segments)) == [2, 0, 0]
    assert parts(Errant(filter=("M:OTHER", "R:OTHER")).evaluate(segments)) == [0, 0, 0]
    assert parts(Errant(tokens="single").evaluate(segments)) == [2, 0, 0]
    assert parts(Errant(tokens="multi").evaluate(segments)) == [1, 0, 0]


# Explanations


def test_explain(fake):
    fake.known[SOURCE, "x b e d"] = (Edit(0, 1, "x", "R:NOUN"), Edit(2, 3, "e", "R:VERB"))
    gold = {0: (Edit(0, 1, "x", "Nn"), Edit(1, 2, "", "Wci")), 2: ()}
    explained = Errant().explain(segment("x b e d", gold=gold))
    assert [(j.edit.type, j.original, j.verdict) for j in explained.edits] == [
        ("Nn", "a", "matched"), ("Wci", "b", "missed"), ("R:VERB", "c", "spurious"),
    ]  # fmt: skip
    assert (explained.chosen, explained.value, explained.parts["tp"]) == (0, 0.5, 1)
    assert explained.grids[0].rows == (
        ("0", "1", "2", "2", "0.5000"),
        ("2", "0", "2", "0", "0.0000"),
    )
    assert set(fake.types) == {True}


def test_explain_leaves_out_what_does_not_count(fake):
    gold = {0: (Edit(0, 1, "x", "UNK"), Edit(1, 2, "y", "R:NOUN"))}
    metric = Errant(filter="R:NOUN")
    assert metric.explain(segment(SOURCE, gold=gold)).edits == ()


def test_explain_tokens(fake):
    gold = {0: (Edit(0, 2, "p"), Edit(2, 3, "q"))}
    explained = Errant(mode="token-detection").explain(segment("a x d", gold=gold))
    assert [(j.edit.start, j.edit.end, j.verdict) for j in explained.edits] == [
        (0, 2, "missed"), (1, 3, "matched"),
    ]  # fmt: skip


# Spelling and signature


def test_spelling():
    metric = gm.metric("errant(beta=1, mode=token-detection, categories=main, tokens=single)")
    assert metric == Errant(beta=1.0, mode="token-detection", categories="main", tokens="single")
    for spelled in (
        "errant",
        "senterrant(rounding=none)",
        "errant(filter=(R:NOUN:NUM, M:DET))",
        "errant(pipeline='my pipeline/base')",
    ):
        assert gm.metric(str(gm.metric(spelled))) == gm.metric(spelled)


def test_one_type_may_stand_without_parentheses():
    assert Errant(filter="M:DET") == Errant(filter=("M:DET",))
    assert Errant(filter=None) == Errant()


@pytest.mark.parametrize(
    "fields",
    [{"beta": 0.0}, {"beta": float("nan")}, {"beta": 1e200}, {"rounding": 0}, {"filter": (1,)},
     {"mode": "cs"}, {"tokens": "both"}, {"categories": 3}],
)  # fmt: skip
def test_fields_out_of_range(fields):
    with pytest.raises(UsageError):
        Errant(**fields)


def test_the_signature_names_the_pipeline(fake):
    metric = Errant(pipeline="/some/where/base")
    signature = str(metric.signature())
    assert "pipeline:fake-1.0|" in signature
    assert "/some/where" not in signature
    assert "pipeline-hash:abc" in signature
    assert "mode:span-correction" in signature
    assert metric.notice == "a fake pipeline"


def test_scoring_says_what_it_was_held_against(fake):
    texts = gm.Corpus(sources=[SOURCE], references=[["x b c d"]], systems={"A": ["x b c d"]})
    table = gm.score(texts, ["errant", "senterrant"])
    assert table["errant"]["A"].value == table["senterrant"]["A"].value == 1.0
    assert "reftext:given" in str(table["errant"].signature)
    gold = gm.Corpus(sources=[SOURCE], gold=[{0: ()}], systems={"A": [SOURCE]})
    assert "gold:m2" in str(gm.score(gold, ["errant"])["errant"].signature)


# Goldens: errant 3.0.2, golden/errant, compare/all13.auto.tsv and compare/*.txt


def conll(shared, fake, system, reference):
    folder = shared / "golden" / "errant"
    hypotheses, gold = (read_m2(folder / f"{name}.m2").blocks for name in (system, reference))
    segments = []
    for number, (own, theirs) in enumerate(zip(hypotheses, gold, strict=True)):
        text = f"{system} {number}"  # no text is needed where its edits are laid down
        fake.known[own.source, text] = own.gold[0]
        if not own.gold[0]:
            text = own.source
        segments.append(Segment(own.source, text, (), theirs.gold))
    return segments


@pytest.mark.parametrize(
    ("metric", "reference", "expected"),
    [
        ("errant", "auto", (482, 795, 1907)),
        ("errant(beta=1, mode=span-detection)", "auto", (617, 660, 1887)),
        ("errant(mode=token-detection)", "auto", (719, 564, 2239)),
        ("errant(mode=span-type)", "auto", (482, 795, 1907)),
        ("errant(tokens=single)", "auto", (470, 730, 1477)),
        ("errant(filter=(R:NOUN:NUM, M:DET))", "auto", (338, 648, 1645)),
    ],
)
def test_amu_on_conll_14(shared, fake, metric, reference, expected):
    segments = conll(shared, fake, "AMU", f"official-2014.combined.{reference}")
    assert tuple(parts(gm.metric(metric).evaluate(segments))) == expected


def test_amu_by_type(shared, fake):
    found = Errant(mode="token-detection", categories="operation").per_type(
        conll(shared, fake, "AMU", "official-2014.combined.auto")
    )
    assert found == {
        "M": Counts(91, 47, 360), "R": Counts(570, 517, 1311), "U": Counts(50, 0, 507),
        "UNK": Counts(8, 0, 61),
    }  # fmt: skip


def test_from_texts_with_a_real_pipeline(shared, monkeypatch):
    pytest.importorskip("spacy")
    monkeypatch.setenv("GRAMMETER_CACHE", "off")
    data = shared / "data"
    corpus = gm.read_corpus(
        source=data / "conll14_test" / "source.txt",
        references=[shared / "golden" / "errant" / "official-2014.combined.auto.m2"],
        systems=[data / "conll14_test" / "official_systems" / "UFC"],
    )
    metric = Errant(pipeline=str(data / "spacy_en_ud_sm" / "base"))
    scores = gm.score(corpus, [metric])[str(metric)]
    assert parts(scores["UFC"]) == [36, 14, 2034]
    assert scores["UFC"].value == pytest.approx(0.0793, abs=5e-5)
    assert "pipeline:en_ud_sm" in str(scores.signature)
    assert metric.explain(corpus.segments("UFC")[0]).value == scores.segments["UFC"].values[0]
