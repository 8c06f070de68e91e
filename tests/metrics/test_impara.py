"""IMPARA equals the public program on tiny models and a slow twin on made-up outputs."""

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
from grammeter.core import DataError, MissingResourceError, Segment, UsageError
from grammeter.metrics.registry import metric
from grammeter.metrics.some import Impara
from grammeter.models import MeanSimilarity, Regression, Runtime, using

SEGMENTS = [
    Segment("the cat go to school .", "the cat goes to school ."),
    Segment("they walk", "they walk"),
    Segment("", ""),
    Segment("a dog is in the house", ""),
    Segment("", "a dog"),
    Segment("very good", "however , it was not"),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("impara")
    return {
        "model": made_models.regressor(folder / "quality"),
        "similarity": made_models.encoder(folder / "similarity"),
    }


# Goldens: gotutiyan/IMPARA 1c5aa97 on tiny models


@pytest.mark.parametrize("threshold", [0.9, 0.0])
@pytest.mark.parametrize("which", ["A", "B", "C", "edge"])
def test_scores_are_those_of_the_public_program(shared, which, threshold):
    golden = shared / "golden" / "neural"
    figures = json.loads((golden / "impara.json").read_text("utf-8"))
    expected, parts = figures[f"threshold_{threshold:g}"][which], figures["parts"][which]
    tiny = golden / "tiny_models"
    impara = Impara(
        model=str(tiny / "impara-qe"), similarity=str(tiny / "bert-cased"), threshold=threshold
    )
    statistics = impara.statistics(golden_segments(golden / "data", which))
    scores, corpus = impara.sentences(statistics), impara.score(statistics)
    assert scores.values == pytest.approx(expected["sentence"], abs=1e-5)
    assert corpus.value == pytest.approx(expected["mean"], abs=1e-5)
    for name in ("quality", "similarity"):
        assert scores.parts[name] == pytest.approx(parts[name], abs=1e-5)
        assert corpus.parts[name] == pytest.approx(np.mean(parts[name]), abs=1e-5)
    zeros = [value == 0 for value in expected["sentence"]]
    assert scores.parts["gated"].tolist() == zeros
    assert corpus.parts["gated"] == sum(zeros)
    logits = np.log(scores.parts["quality"] / (1 - scores.parts["quality"]))
    assert logits == pytest.approx(parts["logit"], abs=1e-5)
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


def counted(impara, segments, quality, similarity):
    """Run the steps with given answers; return statistics and the requests."""
    steps = impara.steps(segments)
    requests = next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send([np.array(quality, dtype=float), np.array(similarity, dtype=float)])
    return end.value.value, requests


outputs = st.lists(
    st.tuples(st.floats(-800, 800), st.sampled_from([-1, 0, 0.5, 0.9, 0.95, 1.0]),
              st.booleans(), st.booleans(), st.booleans()),
    min_size=1,
    max_size=6,
)  # fmt: skip


@given(outputs, st.sampled_from([-1, 0, 0.5, 0.9, 1]), st.sampled_from(["above", "at-least"]))
def test_equals_the_slow_twin(rows, threshold, gate):
    impara = Impara(threshold=threshold, gate=gate)
    segments = [Segment(f"s{n}", f"{'s' if row[4] else 'h'}{n}") for n, row in enumerate(rows)]
    statistics, _ = counted(
        impara, segments, [(row[0], row[2]) for row in rows], [(row[1], 2 * row[3]) for row in rows]
    )
    scores = impara.sentences(statistics)
    for at, (logit, cosine, cut_quality, cut_similarity, same) in enumerate(rows):
        quality = 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0
        similarity = 1.0 if same else cosine
        passes = similarity > threshold or (gate == "at-least" and similarity == threshold)
        assert scores.values[at] == pytest.approx(quality if passes else 0, abs=1e-12)
        assert scores.parts["quality"][at] == pytest.approx(quality, abs=1e-12)
        assert scores.parts["similarity"][at] == similarity
        assert scores.parts["gated"][at] == (not passes)
        assert scores.parts["truncated"][at] == (cut_quality or cut_similarity)
    mean = impara.value_of(impara.summands(statistics).sum(axis=0))
    assert mean == pytest.approx(sum(scores.values.tolist()) / len(rows), abs=1e-12)


@pytest.mark.parametrize(("head", "inner"), [("released", "pooler"), ("paper", "linear")])
def test_both_models_are_asked_in_one_go(head, inner):
    impara = Impara(model="quality", similarity="similar", head=head)
    _, requests = counted(impara, SEGMENTS, np.ones((6, 2)), np.ones((6, 2)))
    assert [(request.model, request.measure) for request in requests] == [
        ("quality", Regression(head=inner)),
        ("similar", MeanSimilarity()),
    ]
    assert requests[0].items == [segment.hypothesis for segment in SEGMENTS]
    assert requests[1].items == [(segment.source, segment.hypothesis) for segment in SEGMENTS]


def test_an_output_that_is_no_number_has_no_score(models):
    impara = Impara(**models)
    quality = [(math.nan, 0), (math.nan, 0), (1, 0), (1, 0)]
    similarity = [(0.95, 0), (0.5, 0), (math.nan, 0), (0.95, 0)]
    segments = [Segment(f"s{n}", f"h{n}") for n in range(4)]
    statistics, _ = counted(impara, segments, quality, similarity)
    scores = impara.sentences(statistics)
    assert np.isnan(scores.values).tolist() == [True, False, True, False]
    assert scores.parts["gated"].tolist() == [0, 1, 0, 0]
    result = impara.score(statistics)
    assert math.isnan(result.value)
    assert "2 of 4 segments" in (result.reason or "")


# With tiny models


def test_batches_and_order_do_not_matter(models):
    impara = Impara(**models, threshold=-1)
    values = impara.sentences(impara.statistics(SEGMENTS)).values
    for budget in (1, 30):
        with using(Runtime(batch_tokens=budget)):
            again = impara.sentences(impara.statistics(SEGMENTS[::-1])).values[::-1]
        assert again == pytest.approx(values, abs=1e-6)


@pytest.mark.parametrize("gate", ["above", "at-least"])
def test_equal_texts_pass_the_gate(models, gate):
    impara = Impara(**models, threshold=1 if gate == "at-least" else 0.9999, gate=gate)
    scores = impara.sentences(impara.statistics(SEGMENTS))
    for at in (1, 2):  # both empty, too
        assert scores.parts["similarity"][at] == 1
        assert scores.values[at] == scores.parts["quality"][at] > 0
    assert scores.parts["gated"].tolist() == [1, 0, 0, 1, 1, 1]
    assert np.isfinite(scores.parts["quality"]).all()


def test_the_head_of_the_paper_is_another(models):
    released, paper = (
        Impara(**models, threshold=-1, head=head).evaluate(SEGMENTS).value
        for head in ("released", "paper")
    )
    assert abs(released - paper) > 1e-4


def test_a_long_sentence_is_cut_and_counted(models):
    impara = Impara(**models)
    segments = [
        Segment("a cat", "cat " * 2000),
        Segment("cat " * 2000, "a cat"),
        Segment("cat " * 2000, "cat " * 2000),
        Segment("a cat", "a cat"),
    ]
    statistics = impara.statistics(segments)
    scores = impara.sentences(statistics)
    assert scores.parts["truncated"].tolist() == [1, 1, 1, 0]
    assert scores.parts["similarity"][2] == 1
    assert impara.score(statistics).parts["truncated"] == 3


def test_no_segments(models):
    result = Impara(**models).evaluate([])
    assert math.isnan(result.value)
    assert (result.n, result.parts, result.reason) == (0, {}, "no segments")


def test_thresholds_share_their_rows(models):
    one, other = Impara(**models), Impara(**models, threshold=0.5, gate="at-least")
    assert one.counting() == other.counting()
    assert one.counting() != Impara(**models, head="paper").counting()
    assert one.counting() != Impara(model=models["model"]).counting()


def test_explanation(models):
    explanation = Impara(**models, threshold=0.9999).explain(SEGMENTS[-1])
    assert [*explanation.parts] == ["quality", "similarity", "gated", "truncated"]
    assert explanation.parts["gated"] == 1
    assert explanation.value == 0
    assert 0 < explanation.parts["quality"] < 1


# Models, spelling, signature


def test_defaults_are_the_public_models():
    assert metric("impara").models() == {
        "model": "gotutiyan/IMPARA-QE",
        "similarity": "bert-base-cased",
    }


@pytest.mark.parametrize("use", ["model", "similarity"])
def test_a_missing_model_is_told_before_the_work(models, tmp_path, use):
    impara = Impara(**models | {use: str(tmp_path / "nothing")})
    with pytest.raises(MissingResourceError, match="nothing"):
        _ = impara.notice


def test_an_encoder_is_no_quality_estimator(models):
    with pytest.raises(DataError, match="lacks weights"):
        Impara(**models | {"model": models["similarity"]}).evaluate(SEGMENTS)


@pytest.mark.parametrize("field", ["threshold=1.5", "threshold=-2", "threshold=high", "gate=open",
                                   "head=tail", "threshold=inf"])  # fmt: skip
def test_fields_that_are_not_possible(field):
    with pytest.raises(UsageError):
        metric(f"impara({field})")


def test_the_signature_shows_the_encoder_in_use(models):
    shown = Impara(**models).signature()
    assert (shown["model"], shown["similarity"]) == (models["model"], models["similarity"])


def test_the_spelling_reads_back():
    impara = metric("impara(model='my impara', threshold=1, gate=at-least)")
    assert impara == Impara(model="my impara", threshold=1.0, gate="at-least")
    assert metric(str(impara)) == impara


def test_the_signature_names_models_and_settings(models):
    signature = Impara(**models).signature()
    assert signature["threshold"] == "0.9"
    assert (signature["head"], signature["gate"]) == ("released", "above")
    assert signature["dtype"] == "float32"
    assert signature["model-hash"] != signature["similarity-hash"]


# From the shell


@pytest.fixture
def files(tmp_path) -> Path:
    (tmp_path / "src.txt").write_text("the cat go to school .\nvery good\n", encoding="utf-8")
    (tmp_path / "A.txt").write_text(
        "the cat goes to school .\nhowever , it was not\n", encoding="utf-8"
    )
    return tmp_path


def run(capsys, files, *arguments):
    code = main(
        ["score", "-s", str(files / "src.txt"), "--hyps", str(files / "A.txt"), "--format", "json",
         *arguments]
    )  # fmt: skip
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_on_the_shell(models, files, capsys):
    own = ", ".join(f"{use}='{folder}'" for use, folder in models.items())
    spelled = [f"impara({own}, threshold=0)", f"impara({own}, threshold=1)"]
    code, out, err = run(capsys, files, "-m", *spelled)
    assert (code, err) == (0, "")
    free, closed = (json.loads(out)["metrics"][name]["systems"]["A"] for name in spelled)
    assert [*free["parts"]] == ["quality", "similarity", "gated", "truncated"]
    assert closed["value"] == 0
    assert closed["parts"] == free["parts"] | {"gated": 2}
    again = metric(spelled[0]).evaluate([SEGMENTS[0], SEGMENTS[-1]])
    assert free["value"] == pytest.approx(again.value, abs=1e-6)


def test_a_second_run_from_the_cache(models, files, tmp_path, capsys):
    own = ", ".join(f"{use}='{folder}'" for use, folder in models.items())
    more = ("-m", f"impara({own})", "--cache-dir", str(tmp_path / "cache"))
    assert run(capsys, files, *more) == run(capsys, files, *more)


def test_on_the_shell_without_models(files, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(files))
    code, out, err = run(capsys, files, "-m", "impara(model=no/such-model)")
    assert (code, out) == (4, "")
    assert "no/such-model" in err
    assert "Traceback" not in err


def test_on_the_shell_with_the_wrong_kind_of_model(models, files, tmp_path, capsys):
    gpt = made_models.causal(tmp_path / "gpt")
    spelled = f"impara(model='{gpt}', similarity='{models['similarity']}')"
    code, out, err = run(capsys, files, "-m", spelled)
    assert (code, out) == (3, "")
    assert "lacks weights" in err
    assert "Traceback" not in err
