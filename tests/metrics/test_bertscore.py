"""BERTScore equals the public program on a tiny model and a slow twin on made-up figures."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import made_models
from grammeter.cli.main import main
from grammeter.core import (
    DataError,
    MissingResourceError,
    Segment,
    Statistics,
    UsageError,
    reference_texts,
)
from grammeter.metrics.bertscore import BertScore, read_baseline
from grammeter.metrics.registry import metric
from grammeter.models import Runtime, TokenSimilarity, using

REFERENCES = ("he goes to school .", None, "she went to the house")
SEGMENTS = [
    Segment("he go to school", "he goes to school .", REFERENCES),
    Segment("he go to school", "he walk to house", REFERENCES),
    Segment("a dog", "", ("a dog", "the dog", None)),
    Segment("a dog", "a dog", ("", "the dog", None)),
    Segment("cat", "cat " * 200, ("the cat is good", None, None)),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return made_models.encoder(tmp_path_factory.mktemp("bertscore"))


@pytest.fixture
def baseline(tmp_path) -> str:
    path = tmp_path / "baseline.tsv"
    path.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.5,0.25,0.4\n2,0.3,0.2,-0.5\n")
    return str(path)


# Goldens: bert-score 0.3.13 on a tiny model


BOTH = ("ref0", "ref1")  # the idf of the figures is that of both references


@pytest.mark.parametrize(
    ("idf", "references"), [(False, ("ref0",)), (False, ("ref1",)), (False, BOTH), (True, BOTH)]
)
@pytest.mark.parametrize("rescale", [False, True])
@pytest.mark.parametrize("layer", [1, 2])
def test_scores_are_those_of_the_public_program(shared, layer, idf, rescale, references):
    golden = shared / "golden" / "neural"
    kind = f"layer{layer}{'_idf' if idf else ''}{'_rescaled' if rescale else ''}"
    figures = json.loads((golden / "bertscore.json").read_text("utf-8"))[kind]
    data = golden / "data"
    texts = [lines(data / "reference" / name) for name in references]
    by_line = list(zip(*texts, strict=True))
    given = {
        "model": str(golden / "tiny_models" / "bert-uncased"),
        "layer": layer,
        "idf": idf,
        "rescale": rescale,
        "baseline": str(data / "baseline_bert-uncased.tsv") if rescale else None,
    }
    outputs = [zip(lines(data / f"hyp{s}"), by_line, strict=True) for s in "ABC"]
    segments = [Segment("", text, refs) for system in outputs for text, refs in system]
    for number, report in enumerate(("precision", "recall", "f1")):
        bertscore = BertScore(**given, report=report)
        rows = bertscore.statistics(segments)
        for at, system in enumerate("ABC"):
            expected = figures[system]["multi" if len(references) == 2 else references[0]][number]
            own = rows.take(range(22 * at, 22 * at + 22))
            scores = bertscore.sentences(own)
            assert scores.values == pytest.approx(expected, abs=1e-5)
            assert scores.parts[report] == pytest.approx(expected, abs=1e-5)
            assert bertscore.score(own).value == pytest.approx(np.mean(expected), abs=1e-5)


def lines(path):
    return path.read_text("utf-8").split("\n")[:22]


# A slow twin over made-up figures of the encoder

figure = st.sampled_from([0.0, 0.25, 0.5, 0.9, math.nan])
slot = st.none() | st.tuples(figure, figure, st.sampled_from([0.0, 0.5, 0.6]), st.integers(0, 2))
tables = st.lists(st.lists(slot, min_size=3, max_size=3), max_size=5)


@given(tables, st.booleans(), st.sampled_from(["f1", "precision", "recall"]))
def test_equals_the_twin(shared_baseline, table, rescale, report):
    model, baseline = shared_baseline
    bertscore = BertScore(
        model=model, layer=1, rescale=rescale, baseline=baseline if rescale else None, report=report
    )
    present = np.array([[s is not None for s in row] for row in table]).reshape(-1, 3)
    rows = np.array([[s or (0, 0, 0, 0) for s in row] for row in table]).reshape(-1, 3, 4)
    statistics = Statistics(rows, present, (0, 1, 2), TokenSimilarity.columns)
    scores, column = bertscore.sentences(statistics), ("precision", "recall", "f1").index(report)
    bases = (0.5, 0.25, 0.4) if rescale else (0, 0, 0)
    for at, row in enumerate(table):
        there = [s for s in row if s is not None]
        for name, n in (("precision", 0), ("recall", 1), ("f1", 2)):
            known = [(s[n] - bases[n]) / (1 - bases[n]) for s in there if not math.isnan(s[n])]
            best = max(known, default=math.nan)
            assert scores.parts[name][at] == pytest.approx(best, nan_ok=True)
        values = [-2 if s is None or math.isnan(s[column]) else s[column] for s in row]
        assert scores.chosen[at] == (values.index(max(values)) if max(values) > -2 else -1)
        assert scores.parts["truncated"][at] == max([s[3] for s in there], default=0)
    score = bertscore.score(statistics)
    if not table:
        assert score.reason == "no segments"
    elif np.isnan(scores.values).any():
        assert math.isnan(score.value)
        assert score.reason
    else:
        assert score.value == pytest.approx(scores.values.mean())
        sums = bertscore.summands(statistics)
        assert bertscore.value_of(sums.sum(0)) == pytest.approx(score.value)


@pytest.fixture(scope="module")
def shared_baseline(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("baseline") / "b.tsv"
    path.write_text("LAYER,P,R,F\n1,0.5,0.25,0.4\n")
    return model, str(path)


# What is asked of the encoder


def test_asks_for_each_reference_at_the_layer(model):
    bertscore = BertScore(model=model)
    work = bertscore.steps(SEGMENTS)
    (request,) = next(work)
    assert request.model == model
    assert request.measure == TokenSimilarity(layer=1)  # three quarters of two, rounded down
    assert len(request.items) == 9
    assert request.items[:2] == [(SEGMENTS[0].hypothesis, text) for text in REFERENCES[::2]]


def test_the_idf_counts_each_line_once(model):
    # two systems' outputs of the first line; the third line repeats the second's texts
    first, second, third = ("a b", None), ("c", "c"), tuple("cc")
    asked = [
        Segment("", hypothesis, refs) for hypothesis in "xy" for refs in (first, second, third)
    ]
    assert reference_texts(asked) == ("a b", "c", "c", "c", "c")
    (request,) = next(BertScore(model=model, idf=True).steps(asked))
    assert request.measure.idf == ("a b", "c", "c", "c", "c")
    assert reference_texts(asked[::-1]) == reference_texts(asked)


def test_edges(model):
    bertscore = BertScore(model=model)
    scores = bertscore.sentences(bertscore.statistics(SEGMENTS))
    assert scores.values[0] == pytest.approx(1)
    assert scores.chosen.tolist()[:1] == [0]
    assert scores.values[2] == 0
    assert scores.chosen[2] == 0
    assert scores.chosen[3] == 1
    assert scores.parts["truncated"].tolist() == [0, 0, 0, 0, 1]
    assert bertscore.evaluate(SEGMENTS).parts["truncated"] == 1
    lone = [*SEGMENTS, Segment("a", "a", (None, None, None))]
    score = bertscore.evaluate(lone)
    assert math.isnan(score.value)
    assert score.parts == {}
    assert "1 of 6 segments have no reference" in score.reason
    assert bertscore.evaluate([]).reason == "no segments"
    assert math.isnan(bertscore.evaluate([Segment("a", "a")]).value)


def test_an_empty_text_is_rescaled_too(model, baseline):
    bertscore = BertScore(model=model, layer=2, rescale=True, baseline=baseline)
    parts = bertscore.evaluate([Segment("a", "", ("a dog",))]).parts
    assert parts["precision"] == pytest.approx(-0.3 / 0.7)
    assert parts["recall"] == pytest.approx(-0.25)
    assert parts["f1"] == pytest.approx(1 / 3)


def test_a_text_whose_tokens_weigh_nothing(model):
    # the only token stands in every reference of the run
    segments = [Segment("", "the", ("the cat",)), Segment("", "a dog", ("the the",))]
    bertscore = BertScore(model=model, idf=True, report="precision")
    score = bertscore.evaluate(segments)
    assert math.isnan(score.value)
    assert "1 of 2 segments have no score: all tokens of a text weigh 0" in score.reason
    f1 = BertScore(model=model, idf=True).evaluate(segments)
    assert f1.value == 0
    assert math.isnan(f1.parts["precision"])
    explained = bertscore.explain(segments[0])
    assert explained.chosen is None


def test_batches_and_order_change_nothing(model):
    bertscore = BertScore(model=model, layer=2, idf=True)
    rows = bertscore.statistics(SEGMENTS).rows
    for budget in (1, 40, 100_000):
        with using(Runtime(batch_tokens=budget)):
            again = bertscore.statistics(SEGMENTS[::-1]).rows[::-1]
        assert again == pytest.approx(rows, abs=1e-6)


def test_explains_each_reference(model):
    explained = BertScore(model=model).explain(SEGMENTS[1])
    grid, *matches = explained.grids
    assert len(matches) == 2
    assert grid.columns == ("count", "reference 0", "reference 2")
    figures = dict(zip(grid.columns[1:], map(float, grid.rows[2][1:]), strict=True))
    assert max(figures, key=figures.get) == f"reference {explained.chosen}"
    assert max(figures.values()) == pytest.approx(explained.value, abs=1e-4)
    assert set(explained.parts) == {"precision", "recall", "f1", "truncated"}
    assert (
        BertScore(model=model).explain(Segment("a", "a")).reason
        == "1 of 1 segments have no reference"
    )


# The value and its spelling


def test_spelling_and_signature(model, baseline):
    assert metric("bertscore") == BertScore()
    spelled = f"bertscore(model='{model}', idf=true, rescale=true, baseline='{baseline}')"
    bertscore = metric(spelled)
    assert metric(str(bertscore)) == bertscore
    signature = dict(bertscore.signature())
    assert signature["layer"] == "1"
    assert signature["idf"] == "true"
    assert len(signature["model-hash"]) == len(signature["baseline-hash"]) == 16
    assert signature["dtype"] == "float32"
    assert bertscore.counting() == BertScore(model=model, idf=True, report="recall").counting()
    assert bertscore.counting() != BertScore(model=model).counting()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"rescale": True}, "rescale=true, baseline=FILE"),
        ({"baseline": "b.tsv"}, "rescale=true, baseline=FILE"),
        ({"report": "f2"}, "report"),
        ({"layer": "last"}, "layer"),
    ],
)
def test_impossible_fields(fields, says):
    with pytest.raises(UsageError, match=says):
        BertScore(**fields)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "b.tsv:1: no baseline for layer 2"),
        ("layer p r f\n2,.1,.1,.1\n", "b.tsv:2: no baseline"),
        ("LAYER,P,R,F\n1,.1,.1,.1\n", "b.tsv:1: no baseline"),
        ("LAYER,P,R,F\n1,.1,.1,.1\n2,.1,x,.1\n", "b.tsv:3: no baseline"),
        ("LAYER,P,R,F\n2,.1,1.0,.1\n", "b.tsv:2: no baseline"),
        ("LAYER,P,R,F\n2,nan,.1,.1\n", "b.tsv:2: no baseline"),
    ],
)
def test_odd_baselines(tmp_path, text, says):
    path = tmp_path / "b.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=says):
        read_baseline(str(path), 2)
    with pytest.raises(DataError, match="cannot be read"):
        read_baseline(str(tmp_path / "none.tsv"), 2)


def test_what_is_missing_is_said_before_any_work(model, tmp_path):
    with pytest.raises(MissingResourceError, match="hf download no-such/encoder"):
        _ = BertScore(model="no-such/encoder").notice
    with pytest.raises(UsageError, match="has 2 layers"):
        _ = BertScore(model=model, layer=9).notice
    lost = BertScore(model=model, rescale=True, baseline=str(tmp_path / "lost.tsv"))
    with pytest.raises(DataError, match="cannot be read"):
        _ = lost.notice


def test_stored_figures_are_rescaled_where_the_model_is_not(baseline):
    bertscore = BertScore(model="no-such/encoder", layer=2, rescale=True, baseline=baseline)
    p, r, f = read_baseline(baseline, 2)
    rows = np.array([[[0.9, 0.8, 0.7, 0.0]]])
    stored = Statistics(rows, np.ones((1, 1), dtype=np.bool_), (0,), TokenSimilarity.columns)
    scores = bertscore.sentences(stored)
    assert scores.parts["precision"][0] == pytest.approx((0.9 - p) / (1 - p))
    assert scores.parts["recall"][0] == pytest.approx((0.8 - r) / (1 - r))
    assert bertscore.summands(stored)[0, 0] == pytest.approx((0.7 - f) / (1 - f))


# From the shell


def test_on_the_shell(model, tmp_path, capsys):
    for name, text in (
        ("source", "he go to school\na dog\n"),
        ("reference", "he goes to school\nthe dog\n"),
        ("output", "he goes to school\na dog\n"),
    ):
        (tmp_path / name).write_text(text)
    spelled = f"bertscore(model='{model}', idf=true)"
    common = ["score", "-s", f"{tmp_path}/source", "-r", f"{tmp_path}/reference"]
    rest = ["--hyps", f"{tmp_path}/output", f"{tmp_path}/source", "--format", "json"]
    assert main([*common, "-m", spelled, *rest]) == 0
    scores = json.loads(capsys.readouterr().out)["metrics"][spelled]
    assert scores["systems"]["output"]["value"] > scores["systems"]["source"]["value"]
    assert set(scores["systems"]["output"]["parts"]) == {"precision", "recall", "f1", "truncated"}
    assert main([*common, "-m", f"bertscore(model='{model}', layer=7)", *rest]) == 2
    assert main([*common, "-m", "bertscore(model=no-such/encoder)", *rest]) == 4
    assert "no-such/encoder" in capsys.readouterr().err
