"""Sentence scores stand alone: company, order and batch change none of them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grammeter as gm
import made_models
from grammeter.core import Segment, UsageError, apply
from grammeter.errant import annotator
from grammeter.metrics import BUILT_IN, Asking, Gleu
from grammeter.scoring.scorer import Value, check_alone, isolated, sentence_values

WORDS = ["the", "a", "cat", "cats", "sees", "house", "to", "goes", "in", ",", "."]

ALONE = {
    **{
        name: name
        for name in (
            "m2",
            "sentm2",
            "gleu",
            "sent-gleu",
            "imeasure",
            "green",
            "bleu",
            "chrf",
            "wer",
            "ter",
            "nld",
        )
    },
    "errant": "errant(pipeline=neutral)",
    "senterrant": "senterrant(pipeline=neutral)",
    "cleme": "cleme(pipeline=neutral)",
    "cherrant": "cherrant(simplify=none)",
    "meteor_es": "meteor_es",
    **made_models.SPELLINGS,
}
"""How each metric is spelled that scores a sentence alone."""

VARIANTS = [
    "cleme(pipeline=neutral, version=2, assumption=independent)",
    "cleme(pipeline=neutral, level=sentence, weights=none)",
    "imeasure(mix=true, optimise=corpus)",
    "imeasure(optimise=corpus)",
    "gleu(references=expected, unit=char)",
    "errant(pipeline=neutral, mode=token-detection)",
    "bartscore(model='{seq2seq}', direction=f)",
]

TOGETHER = {
    "gotoscorer": "weighs by what all systems did",
    "llm-s": "a judge that sees all outputs of a source at once",
    "llm-e": "a judge that sees all outputs of a source at once",
}
"""Metrics that score an output by the whole corpus, so that no sentence has a score alone."""


def near(text: str, generator: random.Random) -> str:
    words = [w if generator.random() > 0.3 else generator.choice(WORDS) for w in text.split()]
    return " ".join(words)


def segment(seed: int, references: int) -> Segment:
    """Make a sentence with references, and gold edits that say the same."""
    generator = random.Random(seed)
    source = " ".join(generator.choices(WORDS, k=generator.randint(1, 7)))
    texts = tuple(near(source, generator) for _ in range(references))
    gold = dict(enumerate(annotator("neutral").annotate([(source, text) for text in texts])))
    return Segment(source, near(source, generator), texts, gold)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    made = (made_models.encoder, made_models.regressor, made_models.causal, made_models.seq2seq)
    return {make.__name__: make(folder / make.__name__) for make in made}


def test_every_metric_is_looked_at():
    assert ALONE.keys() | TOGETHER.keys() == BUILT_IN.keys()


@pytest.mark.parametrize("references", [1, 3])
@pytest.mark.parametrize("spelled", [*ALONE.values(), *VARIANTS])
def test_a_block_gives_each_row_the_score_that_it_has_alone(spelled, references, request):
    if "{" in spelled:
        spelled = spelled.format(**request.getfixturevalue("models"))
    metric = gm.metric(spelled)
    rows = [segment(seed, references) for seed in range(8)]
    (together,) = sentence_values([metric], rows)
    apart = [sentence_values([metric], [row])[0][0] for row in rows]
    turned = sentence_values([metric], rows[::-1])[0][::-1]
    assert any(each.value is not None for each in together)
    digits = 1e-4 if isinstance(metric, Asking) else 0  # padding moves the last digits
    for own, other, third in zip(together, apart, turned, strict=True):
        if own.value is None:
            assert own == other == third
        else:
            assert other.value == pytest.approx(own.value, abs=digits, rel=0)
            assert third.value == pytest.approx(own.value, abs=digits, rel=0)


@settings(max_examples=5)
@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=4), st.integers(1, 2))
def test_a_block_of_any_rows_equals_its_rows(seeds, references):
    metrics = [gm.metric(spelled) for spelled in ALONE.values() if "{" not in spelled]
    rows = [segment(seed, references) for seed in seeds]
    together = sentence_values(metrics, rows)
    for at, row in enumerate(rows):
        assert [column[at] for column in together] == [
            column[0] for column in sentence_values(metrics, [row])
        ]


@pytest.mark.parametrize("name", TOGETHER)
def test_metrics_that_need_the_corpus_are_refused(name):
    more = "(model=x)" if name.startswith("llm") else ""
    with pytest.raises(UsageError, match="no sentence alone"):
        check_alone(gm.metric(name + more))


def test_weights_that_come_from_all_references_are_refused():
    with pytest.raises(UsageError, match="no sentence alone"):
        check_alone(gm.metric("bertscore(model=x, layer=1, idf=true)"))


def test_rows_at_fault_are_singled_out():
    def work(numbers):
        if 0 in numbers or 5 in numbers:
            raise ZeroDivisionError("not this one")
        return [10 * number for number in numbers]

    fault = Value(None, "ZeroDivisionError: not this one")
    assert isolated(work, range(8)) == [fault, 10, 20, 30, 40, fault, 60, 70]
    assert isolated(work, []) == []


@pytest.mark.parametrize("error", [OSError(28, "no space"), MemoryError(), UsageError("no")])
def test_faults_of_the_run_are_no_faults_of_rows(error, monkeypatch):
    def failing(self, segments):
        raise error

    monkeypatch.setattr(Gleu, "statistics", failing)
    with pytest.raises(type(error)):
        sentence_values([Gleu()], [segment(1, 1)])


def test_one_metric_that_fails_leaves_the_others(monkeypatch):
    def failing(self, segments):
        raise ArithmeticError("odd")

    monkeypatch.setattr(Gleu, "statistics", failing)
    rows = [segment(1, 1), segment(2, 1)]
    gleu, chrf = sentence_values([Gleu(), gm.metric("chrf")], rows)
    assert gleu == [Value(None, "ArithmeticError: odd")] * 2
    assert chrf == sentence_values([gm.metric("chrf")], rows)[0]


@pytest.mark.parametrize(
    "spelled", ["m2", "sentm2", "errant(pipeline=neutral)", "senterrant(pipeline=neutral)"]
)
def test_found_edits_make_the_hypothesis_of_the_source(spelled):
    metric = gm.metric(spelled)
    assert metric.extracts
    rows = [segment(seed, 1) for seed in range(200)]
    for row, edits in zip(rows, metric.found_edits(rows), strict=True):
        assert apply(row.source.split(), edits) == row.hypothesis.split()
        assert bool(edits) == (row.source.split() != row.hypothesis.split())
    bare = [replace(row, references=(), gold={}) for row in rows]
    assert metric.found_edits(bare) == metric.found_edits(rows)


def test_found_edits_follow_the_fields():
    rows = [Segment("a b c d e", "x a B c d e f g")]
    assert [len(e) for e in gm.metric("errant(pipeline=neutral)").found_edits(rows)] == [3]
    assert [len(e) for e in gm.metric("errant(pipeline=neutral, tokens=multi)").found_edits(rows)] \
        == [1]  # fmt: skip
    assert gm.metric("m2(max_unchanged=0)").found_edits(rows) != gm.metric("m2").found_edits(rows)
    (edits,) = gm.metric("m2(ignore_case=true)").found_edits([Segment("a b", "a B")])
    assert edits == ()


def test_types_are_found_where_they_are_wanted():
    rows = [Segment("he see cats", "he sees cats .")]
    bare, typed = gm.metric("errant"), gm.metric("errant")
    assert [edit.type for edit in bare.found_edits(rows)[0]] == ["", ""]
    assert [edit.type for edit in typed.found_edits(rows, types=True)[0]] == [
        "R:VERB:SVA", "M:PUNCT",
    ]  # fmt: skip


def test_metrics_without_edits_of_their_own_say_so():
    without = [gm.metric(spelled) for spelled in ALONE.values() if "{" not in spelled]
    for metric in without:
        if not metric.extracts:
            with pytest.raises(TypeError, match=metric.name):
                metric.found_edits([])
