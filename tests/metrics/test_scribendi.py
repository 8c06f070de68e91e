"""Scribendi equals the published program on a tiny model and a slow twin on made-up figures."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import made_models
from grammeter.cli.main import main
from grammeter.core import MissingResourceError, ScoreTable, Segment, UsageError
from grammeter.formats import Corpus
from grammeter.metrics.registry import metric
from grammeter.metrics.some import FIGURES, Scribendi, levenshtein_ratio, token_sort_ratio
from grammeter.models import Perplexity, Runtime, using
from grammeter.verbs import compare
from grammeter.verbs import score as score_corpus

SEGMENTS = [
    Segment("the cat go to school .", "the cat goes to school ."),
    Segment("they walk", "they walk"),
    Segment("", ""),
    Segment("a dog is in the house", ""),
    Segment("", "a dog"),
    Segment("the cat goes to school .", "the cat go to school ."),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return made_models.causal(tmp_path_factory.mktemp("scribendi") / "model")


# Goldens: gotutiyan/scribendi_score 5f0e9d3 with fuzzywuzzy 0.18.0 on a tiny model


def golden_segments(data: Path, which: str) -> list[Segment]:
    if which == "edge":
        pairs = json.loads((data / "edge_pairs.json").read_text("utf-8"))
        return [Segment(pair["source"], pair["hypothesis"]) for pair in pairs]
    source, output = (
        (data / name).read_text("utf-8").split("\n")[:22] for name in ("source.txt", f"hyp{which}")
    )
    return [Segment(*pair) for pair in zip(source, output, strict=True)]


@pytest.mark.parametrize("which", ["A", "B", "C", "edge"])
def test_scores_are_the_published_ones(shared, which):
    golden = shared / "golden" / "neural"
    expected = json.loads((golden / "scribendi.json").read_text("utf-8"))[which]
    every = golden_segments(golden / "data", which)
    segments = [every[line] for line in expected["lines"]]
    scribendi = Scribendi(model=str(golden / "tiny_models" / "gpt2"))
    statistics = scribendi.statistics(segments)
    scores = scribendi.sentences(statistics)
    assert scores.values.tolist() == expected["sentence"]
    assert scribendi.score(statistics).value == expected["sum"]
    changed = np.array([segment.source != segment.hypothesis for segment in segments])
    for name, theirs, tolerance in (
        ("perplexity_source", "ppl_source", 1e-5),
        ("perplexity_hypothesis", "ppl_hypothesis", 1e-5),
        ("token_sort_ratio", "token_sort_ratio", 1e-12),
        ("levenshtein_ratio", "levenshtein_ratio", 5e-7),  # seven digits are stored
    ):
        wanted = np.array([math.nan if x is None else x for x in expected[theirs]])
        assert scores.parts[name][changed] == pytest.approx(
            wanted[changed], rel=tolerance, nan_ok=True
        )


def test_texts_beyond_the_models_positions_have_no_score(shared):
    golden = shared / "golden" / "neural"
    scribendi = Scribendi(model=str(golden / "tiny_models" / "gpt2"))
    statistics = scribendi.statistics(golden_segments(golden / "data", "edge"))
    assert np.flatnonzero(np.isnan(scribendi.sentences(statistics).values)).tolist() == [12, 13]
    result = scribendi.score(statistics)
    assert math.isnan(result.value)
    assert (result.reason or "").startswith("2 of 18 segments have no score: a text is longer")
    assert result.parts["too_long"] == 2


# A slow twin over made-up perplexities


def counted(scribendi, segments, perplexities):
    """Run the steps with perplexities by text; return statistics and the requests."""
    steps = scribendi.steps(segments)
    requests = next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send([np.array([perplexities(x) for x in r.items]).reshape(-1, 2) for r in requests])
    return end.value.value, requests


def made_up(text: str) -> tuple[float, float]:
    """Return a perplexity, and whether the text is too long, which those with ``x`` are."""
    too_long = "x" in text
    return (math.nan if too_long or not text else 7.0 + len(text) % 3), too_long


def twin(segment: Segment, threshold: float) -> float:
    source, hypothesis = segment.source, segment.hypothesis
    if source == hypothesis:
        return 0
    if not source or not hypothesis:
        return -1
    if "x" in source + hypothesis:
        return math.nan
    if made_up(source)[0] <= made_up(hypothesis)[0]:
        return -1
    ratio = max(token_sort_ratio(source, hypothesis), levenshtein_ratio(source, hypothesis))
    return 1 if ratio >= threshold else -1


texts = st.text("ab .", max_size=8) | st.text("abx", max_size=3)
asked_segments = st.lists(st.builds(Segment, texts, texts), min_size=1, max_size=6)


@given(asked_segments, st.sampled_from([0.0, 0.5, 0.8, 1.0]), st.booleans())
def test_equals_the_slow_twin(model, asked, threshold, average):
    scribendi = Scribendi(model=model, threshold=threshold, average=average)
    statistics, _ = counted(scribendi, asked, made_up)
    expected = [twin(segment, threshold) for segment in asked]
    assert scribendi.sentences(statistics).values == pytest.approx(expected, nan_ok=True)
    result = scribendi.score(statistics)
    total = sum(expected) / len(expected) if average else sum(expected)
    assert result.value == pytest.approx(total, nan_ok=True)
    assert bool(result.reason) == math.isnan(total)
    sums = scribendi.summands(statistics).sum(axis=0)
    assert scribendi.value_of(sums) == pytest.approx(total, nan_ok=True)
    changed = [segment for segment in asked if segment.source != segment.hypothesis]
    assert result.parts == {
        "positive": expected.count(1),
        "negative": expected.count(-1),
        "zero": expected.count(0),
        "nan": sum(
            any(math.isnan(made_up(text)[0]) for text in (s.source, s.hypothesis)) for s in changed
        ),
        "too_long": sum("x" in s.source + s.hypothesis for s in changed),
    }


def test_identical_texts_are_not_asked_for(model):
    statistics, requests = counted(Scribendi(model="m"), SEGMENTS, made_up)
    assert [request.measure for request in requests] == [Perplexity(), Perplexity()]
    changed = [segment for segment in SEGMENTS if segment.source != segment.hypothesis]
    assert requests[0].items == [segment.source for segment in changed]
    assert requests[1].items == [segment.hypothesis for segment in changed]
    same = [Segment("x" * 9, "x" * 9), Segment("", "")]
    statistics, requests = counted(Scribendi(), same, made_up)
    assert [len(request.items) for request in requests] == [0, 0]
    assert Scribendi(model=model).score(statistics).value == 0


@pytest.mark.parametrize("other", ["a", "!", "x"])
def test_an_empty_text_is_worse_whatever_the_ratio(model, other):
    scribendi = Scribendi(model=model, threshold=0)
    statistics, _ = counted(scribendi, [Segment("", other), Segment(other, "")], made_up)
    assert scribendi.sentences(statistics).values.tolist() == [-1, -1]
    assert scribendi.score(statistics).parts["nan"] == 2


def test_a_perplexity_that_is_no_number_has_no_score(model):
    scribendi = Scribendi(model=model)
    statistics, _ = counted(scribendi, SEGMENTS, lambda _: (math.nan, 0))
    result = scribendi.score(statistics)
    assert math.isnan(result.value)
    assert result.reason == "2 of 6 segments have no score: the model gave no number"
    assert result.parts["nan"] == 4


def test_equal_perplexities_are_no_gain():
    statistics, _ = counted(Scribendi(), [Segment("a b", "a c")], lambda _: (5.0, 0))
    assert Scribendi().sentences(statistics).values.tolist() == [-1]


# With a tiny model


def test_batches_and_order_do_not_matter(model):
    scribendi = Scribendi(model=model)
    statistics = scribendi.statistics(SEGMENTS)
    values = scribendi.sentences(statistics).values.tolist()
    assert values[1:5] == [0, 0, -1, -1]
    assert sorted((values[0], values[5])) == [-1, 1]
    for budget in (1, 20):
        with using(Runtime(batch_tokens=budget)):
            again = scribendi.statistics(SEGMENTS[::-1])
        assert scribendi.sentences(again).values.tolist() == values[::-1]
        assert again.rows[::-1] == pytest.approx(statistics.rows, rel=1e-6, nan_ok=True)


def test_a_long_sentence_has_no_score_unless_it_is_unchanged(model):
    scribendi = Scribendi(model=model)
    long = "cat " * 2000
    result = scribendi.evaluate([Segment(long, "a cat"), Segment(long, long), SEGMENTS[0]])
    assert math.isnan(result.value)
    assert "1 of 3 segments have no score: a text is longer" in (result.reason or "")
    assert (result.parts["nan"], result.parts["too_long"], result.parts["zero"]) == (1, 1, 1)
    assert scribendi.evaluate([Segment(long, long)]).value == 0


def test_no_segments(model):
    for average in (False, True):
        result = Scribendi(model=model, average=average).evaluate([])
        assert math.isnan(result.value)
        assert (result.n, result.reason) == (0, "no segments")


def test_explanation_shows_perplexities_and_ratios(model):
    explanation = Scribendi(model=model).explain(SEGMENTS[0])
    assert [*explanation.parts] == [*FIGURES]
    assert explanation.value in (-1, 1)
    better = explanation.parts["perplexity_source"] > explanation.parts["perplexity_hypothesis"]
    assert (explanation.value == 1) == better
    assert math.isnan(Scribendi(model=model).explain(SEGMENTS[1]).parts["perplexity_source"])


def corpus() -> Corpus:
    sources = [segment.source for segment in SEGMENTS]
    outputs = {"same": sources, "changed": [segment.hypothesis for segment in SEGMENTS]}
    return Corpus(sources=sources, systems=outputs)


def test_sums_are_stored_and_compared(model):
    spelled = [f"scribendi(model='{model}')", f"scribendi(model='{model}', average=true)"]
    table = score_corpus(corpus(), spelled)
    table = ScoreTable.from_dict(json.loads(json.dumps(table.to_full_dict())))
    total, mean = (compare(table, baseline="same")[name] for name in spelled)
    assert total["same"].value == 0
    assert total["changed"].value == -1  # the row of the empty source is skipped
    for name in ("value", "low", "high", "difference"):
        one, other = (getattr(found["changed"], name) for found in (total, mean))
        assert one == pytest.approx(4 * other)  # four have a source
    assert total["changed"].pvalue == mean["changed"].pvalue
    assert total["changed"].low <= -1 <= total["changed"].high


# Spelling and signature


def test_the_spelling_reads_back():
    scribendi = metric("scribendi(model='my gpt', threshold=1, average=true)")
    assert scribendi == Scribendi(model="my gpt", threshold=1.0, average=True)
    assert metric(str(scribendi)) == scribendi
    assert scribendi.needs == "nothing"


@pytest.mark.parametrize("field", ["threshold=1.1", "threshold=-0.1", "threshold=nan", "average=2"])
def test_fields_that_are_none(field):
    with pytest.raises(UsageError, match=field.partition("=")[0]):
        metric(f"scribendi({field})")


def test_a_missing_model_is_told_at_once(tmp_path):
    with pytest.raises(MissingResourceError):
        _ = Scribendi(model=str(tmp_path / "nothing")).notice


def test_thresholds_share_their_rows():
    assert Scribendi(threshold=0.5, average=True).counting() == Scribendi().counting()
    assert Scribendi(model="m").counting() != Scribendi().counting()


def test_the_signature(model):
    signature = Scribendi(model=model).signature()
    assert (signature["threshold"], signature["average"]) == ("0.8", "false")
    assert signature["dtype"] == "float32"
    assert len(signature["model-hash"]) == 16


# From the shell


def run(capsys, folder, spelled, *more):
    for name, lines in (("src", SEGMENTS[:2]), ("A", SEGMENTS[:2])):
        texts = [s.source if name == "src" else s.hypothesis for s in lines]
        (folder / f"{name}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    code = main(
        ["score", "-s", str(folder / "src.txt"), "-m", spelled, "--hyps", str(folder / "A.txt"),
         "--format", "json", *more]
    )  # fmt: skip
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_on_the_shell(model, tmp_path, capsys):
    spelled = f"scribendi(model='{model}')"
    code, out, err = run(capsys, tmp_path, spelled, "--segments", str(tmp_path / "out.tsv"))
    assert (code, err) == (0, "")
    found = json.loads(out)["metrics"][spelled]["systems"]["A"]
    assert found["value"] == Scribendi(model=model).evaluate(SEGMENTS[:2]).value
    assert [*found["parts"]] == ["positive", "negative", "zero", "nan", "too_long"]
    rows = (tmp_path / "out.tsv").read_text("utf-8").splitlines()
    parts = json.loads(rows[2].split("\t")[5])
    assert parts == {
        "perplexity_source": None,
        "perplexity_hypothesis": None,
        "token_sort_ratio": 1.0,
        "levenshtein_ratio": 1.0,
    }


def test_on_the_shell_with_the_wrong_kind_of_model(tmp_path, capsys):
    bert = made_models.encoder(tmp_path / "bert")
    code, out, err = run(capsys, tmp_path, f"scribendi(model='{bert}')")
    assert (code, out) == (3, "")
    assert "lacks weights" in err
    assert "Traceback" not in err
