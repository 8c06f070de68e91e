"""SOME equals the authors' program on tiny models and a slow twin on made-up outputs."""

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
from grammeter.core import MissingResourceError, Segment, UsageError
from grammeter.metrics.registry import metric
from grammeter.metrics.some import CRITERIA, Some
from grammeter.models import Regression, Runtime, using

SEGMENTS = [
    Segment("the cat go to school .", "the cat goes to school ."),
    Segment("they walk", "they walk"),
    Segment("", ""),
    Segment("a dog is in the house", ""),
    Segment("", "a dog"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("some") / "my-some"
    for seed, criterion in enumerate(CRITERIA):
        made_models.regressor(folder / criterion, seed=seed)
    return folder


# Goldens: kokeman/SOME 83fd6f0 on tiny models


@pytest.mark.parametrize("which", ["A", "B", "C", "edge"])
def test_scores_are_the_authors(shared, which):
    golden = shared / "golden" / "neural"
    expected = json.loads((golden / "some.json").read_text("utf-8"))[which]
    tiny = {name: str(golden / "tiny_models" / f"some-{name}") for name in CRITERIA}
    some = Some(**tiny)
    statistics = some.statistics(golden_segments(golden / "data", which))
    scores, corpus = some.sentences(statistics), some.score(statistics)
    assert scores.values == pytest.approx(expected["sentence"], abs=1e-5)
    assert corpus.value == pytest.approx(expected["mean"], abs=1e-5)
    for name in CRITERIA:
        scaled = (np.array(expected[f"raw_{name}"]) - 1) / 3
        assert scores.parts[name] == pytest.approx(scaled, abs=1e-5)
        assert corpus.parts[name] == pytest.approx(scaled.mean(), abs=1e-5)
    assert corpus.parts["truncated"] == (2 if which == "edge" else 0)


def golden_segments(data: Path, which: str) -> list[Segment]:
    if which == "edge":
        pairs = json.loads((data / "edge_pairs.json").read_text("utf-8"))
        return [Segment(pair["source"], pair["hypothesis"]) for pair in pairs]
    source, output = (
        (data / name).read_text("utf-8").split("\n")[:22] for name in ("source.txt", f"hyp{which}")
    )
    return [Segment(*pair) for pair in zip(source, output, strict=True)]


# A slow twin over made-up outputs of the models


def counted(some, segments, answers):
    """Run the steps with given answers; return statistics and the requests."""
    steps = some.steps(segments)
    requests = next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send(answers)
    return end.value.value, requests


figures = st.floats(-2, 7)
outputs = st.lists(st.tuples(figures, figures, figures, st.booleans()), min_size=1, max_size=6)


@given(outputs, st.tuples(*[st.floats(0, 2)] * 3).filter(any))
def test_equals_the_slow_twin(rows, weights):
    some = Some(grammaticality="g", fluency="f", meaning="m", weights=weights)
    segments = [Segment(f"s{n}", f"h{n}") for n in range(len(rows))]
    answers = [np.array([[row[at], row[3] and at == 2] for row in rows]) for at in range(3)]
    statistics, _ = counted(some, segments, answers)
    values = some.sentences(statistics).values.tolist()
    for (g, f, m, _), value in zip(rows, values, strict=True):
        expected = sum(w * (x - 1) / 3 for w, x in zip(weights, (g, f, m), strict=True))
        assert value == pytest.approx(expected, abs=1e-12)
    sums = some.summands(statistics).sum(axis=0)
    assert some.value_of(sums) == pytest.approx(sum(values) / len(values), abs=1e-12)
    cut = [row[3] for row in rows]
    assert some.sentences(statistics).parts["truncated"].tolist() == cut


def test_who_reads_what(folder):
    some = Some(model=str(folder))
    answers = [np.ones((5, 2))] * 3
    _, requests = counted(some, SEGMENTS, answers)
    assert [request.model for request in requests] == [str(folder / name) for name in CRITERIA]
    assert {request.measure for request in requests} == {Regression()}
    hypotheses = [segment.hypothesis for segment in SEGMENTS]
    assert requests[0].items == requests[1].items == hypotheses
    assert requests[2].items == [(segment.source, segment.hypothesis) for segment in SEGMENTS]


def test_an_output_that_is_no_number_has_no_score(folder):
    some = Some(model=str(folder))
    answers = [np.array([[math.nan, 0], [1, 0]]), np.ones((2, 2)), np.ones((2, 2))]
    statistics, _ = counted(some, SEGMENTS[:2], answers)
    result = some.score(statistics)
    assert math.isnan(result.value)
    assert "1 of 2 segments" in (result.reason or "")
    assert some.sentences(statistics).reason


# With tiny models


def test_batches_and_order_do_not_matter(folder):
    some = Some(model=str(folder))
    values = some.sentences(some.statistics(SEGMENTS)).values
    for budget in (1, 30):
        with using(Runtime(batch_tokens=budget)):
            again = some.sentences(some.statistics(SEGMENTS[::-1])).values[::-1]
        assert again == pytest.approx(values, abs=2e-6)


def test_empty_and_equal_texts_get_ordinary_numbers(folder):
    some = Some(model=str(folder))
    scores = some.sentences(some.statistics(SEGMENTS))
    assert np.isfinite(scores.values).all()
    assert len(set(scores.values.round(5))) == 5
    assert scores.chosen.tolist() == [-1] * 5


def test_a_long_sentence_is_cut_and_counted(folder):
    some = Some(model=str(folder))
    segments = [
        Segment("a cat", "cat " * 2000),
        Segment("cat " * 2000, "a cat"),  # only the reader of the pair meets the source
        Segment("a cat", "a cat"),
    ]
    statistics = some.statistics(segments)
    assert some.sentences(statistics).parts["truncated"].tolist() == [1, 1, 0]
    assert some.score(statistics).parts["truncated"] == 2


def test_one_model_may_judge_all_three(folder):
    one = str(folder / "fluency")
    some = Some(grammaticality=one, fluency=one, meaning=one)
    parts = some.sentences(some.statistics(SEGMENTS[:2])).parts
    assert parts["grammaticality"].tolist() == parts["fluency"].tolist()
    assert parts["meaning"].tolist() != parts["fluency"].tolist()


def test_no_segments(folder):
    result = Some(model=str(folder)).evaluate([])
    assert math.isnan(result.value)
    assert (result.n, result.parts, result.reason) == (0, {}, "no segments")


def test_weights_share_their_rows(folder):
    one, other = Some(model=str(folder)), Some(model=str(folder), weights=(1, 0, 0))
    assert one.counting() == other.counting()
    assert one.counting() != Some(grammaticality="x", model=str(folder)).counting()
    alone = other.sentences(one.statistics(SEGMENTS))
    assert alone.values.tolist() == alone.parts["grammaticality"].tolist()


def test_explanation_adds_up(folder):
    some = Some(model=str(folder))
    explanation = some.explain(SEGMENTS[0])
    assert [*explanation.parts] == [*CRITERIA, "truncated"]
    assert explanation.grids == ()
    adds = [w * explanation.parts[name] for w, name in zip(some.weights, CRITERIA, strict=True)]
    assert sum(adds) == pytest.approx(explanation.value)


# Where the models are


def test_subfolders_are_found(tmp_path):
    for name in CRITERIA:
        (tmp_path / name).mkdir()
    assert Some(model=str(tmp_path)).models() == {name: str(tmp_path / name) for name in CRITERIA}


def test_a_named_model_goes_before_the_folder(folder):
    models = Some(model=str(folder), fluency="other").models()
    assert models["fluency"] == "other"
    assert models["meaning"] == str(folder / "meaning")


@pytest.mark.parametrize("fields", [{}, {"grammaticality": "x", "meaning": "y"}])
def test_without_models_the_error_tells_where_they_come_from(fields):
    with pytest.raises(MissingResourceError) as caught:
        Some(**fields).models()
    text = str(caught.value)
    assert "fluency" in text
    for word in ("github.com/kokeman/SOME", "pickle", "save_pretrained", "grammeter train some"):
        assert word in text


def test_a_folder_without_one_of_the_three(tmp_path):
    (tmp_path / "fluency").mkdir()
    with pytest.raises(MissingResourceError, match=r"no folder .*grammaticality"):
        Some(model=str(tmp_path)).models()
    with pytest.raises(MissingResourceError, match="there is no folder"):
        Some(model=str(tmp_path / "nothing")).models()


# Spelling and signature


@pytest.mark.parametrize(
    "weights", ["(1, 2)", "(1, 2, 3, 4)", "()", "(0, 0, 0)", "(-1, 1, 1)", "(1, 1, a)", "1",
                "(1, 1, true)", "(1, 1, none)", "(inf, 1, 1)", f"({'9' * 400}, 1, 1)"]
)  # fmt: skip
def test_weights_that_are_none(weights):
    with pytest.raises(UsageError, match="weights="):
        metric(f"some(model=here, weights={weights})")


def test_the_spelling_reads_back():
    some = metric("some(model='my some', weights=(1, 0.5, 0))")
    assert some == Some(model="my some", weights=(1.0, 0.5, 0.0))
    assert metric(str(some)) == some


def test_the_signature_names_models_and_weights(folder):
    signature = Some(model=str(folder)).signature()
    assert signature["weights"] == "(0.55, 0.43, 0.02)"
    assert signature["dtype"] == "float32"
    hashes = {signature[f"{name}-hash"] for name in CRITERIA}
    assert len(hashes) == 3


# From the shell


@pytest.fixture
def files(tmp_path) -> Path:
    (tmp_path / "src.txt").write_text("the cat go to school .\nthey walk\n", encoding="utf-8")
    (tmp_path / "A.txt").write_text("the cat goes to school .\nthey walk\n", encoding="utf-8")
    return tmp_path


def run(capsys, files, spelled, *more):
    code = main(
        ["score", "-s", str(files / "src.txt"), "-m", *spelled, "--hyps", str(files / "A.txt"),
         "--format", "json", *more]
    )  # fmt: skip
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_on_the_shell(folder, files, capsys):
    spelled = [f"some(model='{folder}')", f"some(model='{folder}', weights=(0, 1, 0))"]
    code, out, err = run(capsys, files, spelled)
    assert (code, err) == (0, "")
    first, second = (json.loads(out)["metrics"][name]["systems"]["A"] for name in spelled)
    assert [*first["parts"]] == [*CRITERIA, "truncated"]
    assert second["value"] == pytest.approx(first["parts"]["fluency"])
    lines = [Segment("the cat go to school .", "the cat goes to school ."), SEGMENTS[1]]
    assert first["value"] == pytest.approx(Some(model=str(folder)).evaluate(lines).value, abs=1e-6)


def test_on_the_shell_without_models(files, capsys):
    code, out, err = run(capsys, files, ["some"])
    assert (code, out) == (4, "")
    assert "some: no model for grammaticality is named" in err
    assert "Traceback" not in err


def test_on_the_shell_with_the_wrong_kind_of_model(folder, files, tmp_path, capsys):
    gpt = made_models.causal(tmp_path / "gpt")
    code, out, err = run(capsys, files, [f"some(model='{folder}', meaning='{gpt}')"])
    assert (code, out) == (3, "")
    assert "lacks weights" in err
    assert "Traceback" not in err
