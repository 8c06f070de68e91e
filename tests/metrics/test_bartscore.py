"""BARTScore equals the published program on a tiny model and a slow twin on made-up figures."""

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
from grammeter.metrics.bertscore import BartScore
from grammeter.metrics.registry import describe, metric
from grammeter.models import Likelihood, Runtime, using

DIRECTIONS = ("source-to-hypothesis", "reference-to-hypothesis", "hypothesis-to-reference", "f")

REFERENCES = ("the cat goes to school .", "a cat went to school .")
SEGMENTS = [
    Segment("the cat go to school .", "the cat goes to school .", REFERENCES),
    Segment("they walk", "they walk", ("they walk", "they walked in")),
    Segment("", "", ("", "")),
    Segment("a dog is in the house", "", ("the dog is in the house", "a dog")),
    Segment("", "a dog", ("", "it")),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return made_models.seq2seq(tmp_path_factory.mktemp("bartscore") / "model")


# Goldens: bart_score.py of pygongnlp/PT-M2 67ef575 on a tiny model


def read_lines(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")[:22]


def golden_segments(data: Path, letter: str, references: list[int]) -> list[Segment]:
    texts = [read_lines(data / "reference" / f"ref{number}") for number in references]
    return [
        Segment(source, hypothesis, own)
        for source, hypothesis, *own in zip(
            read_lines(data / "source.txt"), read_lines(data / f"hyp{letter}"), *texts, strict=True
        )
    ]


@pytest.mark.parametrize("letter", "ABC")
def test_scores_are_the_published_ones(shared, letter):
    golden = shared / "golden" / "neural"
    expected = json.loads((golden / "bartscore.json").read_text("utf-8"))[letter]
    bart = str(golden / "tiny_models" / "bart")
    forward = [expected[f"ref{n}_to_hypothesis"] for n in (0, 1)]
    back = [expected[f"hypothesis_to_ref{n}"] for n in (0, 1)]
    halves = [(np.array(forward[n]) + np.array(back[n])) / 2 for n in (0, 1)]
    for direction, references, aggregation, values in (
        ("source-to-hypothesis", [], "mean", expected["source_to_hypothesis"]),
        ("reference-to-hypothesis", [0], "mean", forward[0]),
        ("reference-to-hypothesis", [1], "max", forward[1]),
        ("reference-to-hypothesis", [0, 1], "mean", np.mean(forward, axis=0)),
        ("hypothesis-to-reference", [0], "mean", back[0]),
        ("hypothesis-to-reference", [0, 1], "mean", expected["multi_ref_mean_hypothesis_to_ref"]),
        ("hypothesis-to-reference", [0, 1], "max", expected["multi_ref_max_hypothesis_to_ref"]),
        ("f", [0], "mean", halves[0]),
        ("f", [0, 1], "mean", np.mean(halves, axis=0)),
        ("f", [0, 1], "max", np.max(halves, axis=0)),
    ):
        segments = golden_segments(golden / "data", letter, references)
        score = BartScore(model=bart, direction=direction, references=aggregation)
        statistics = score.statistics(segments)
        assert score.sentences(statistics).values == pytest.approx(np.array(values), abs=1e-5)
        assert score.score(statistics).value == pytest.approx(np.mean(values), abs=1e-5)


def test_odd_texts_are_scored_as_published(shared):
    golden = shared / "golden" / "neural"
    expected = json.loads((golden / "bartscore.json").read_text("utf-8"))
    pairs = json.loads((golden / "data" / "edge_pairs.json").read_text("utf-8"))
    score = BartScore(model=str(golden / "tiny_models" / "bart"))
    statistics = score.statistics([Segment(p["source"], p["hypothesis"]) for p in pairs])
    values = score.sentences(statistics).values
    for number, value in expected["edge_source_to_hypothesis"].items():
        assert values[int(number)] == pytest.approx(value, abs=1e-5)
    assert score.score(statistics).parts == {"truncated": 2}


# A slow twin over made-up figures of the model


def counted(score, segments, answered):
    """Run the steps with given answers; return statistics and the requests."""
    steps = score.steps(segments)
    requests = next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send([answered(request) for request in requests])
    return end.value.value, requests


def made_up(request):
    """Answer each pair by a number of its own."""
    rows = [[-len(x) - len(y) ** 2 / 100, "c" in y] for x, y in request.items]
    return np.array(rows).reshape(-1, 2)


def twin(segment: Segment, direction: str, aggregation: str) -> float:
    def one(x: str, y: str) -> float:
        return -len(x) - len(y) ** 2 / 100

    hypothesis = segment.hypothesis
    if direction == "source-to-hypothesis":
        return one(segment.source, hypothesis)
    values = {
        "reference-to-hypothesis": [one(r, hypothesis) for r in segment.texts],
        "hypothesis-to-reference": [one(hypothesis, r) for r in segment.texts],
        "f": [(one(r, hypothesis) + one(hypothesis, r)) / 2 for r in segment.texts],
    }[direction]
    if not values:
        return math.nan
    return max(values) if aggregation == "max" else sum(values) / len(values)


texts = st.text("abc ", max_size=5)
references = st.lists(texts | st.none(), max_size=3).map(tuple)
segments = st.lists(st.builds(Segment, texts, texts, references), min_size=1, max_size=5)


@given(segments, st.sampled_from(DIRECTIONS), st.sampled_from(["mean", "max"]))
def test_equals_the_slow_twin(model, asked, direction, aggregation):
    score = BartScore(model=model, direction=direction, references=aggregation)
    statistics, _ = counted(score, asked, made_up)
    found = score.sentences(statistics)
    expected = [twin(segment, direction, aggregation) for segment in asked]
    assert found.values == pytest.approx(expected, abs=1e-9, nan_ok=True)
    corpus = score.score(statistics)
    assert corpus.value == pytest.approx(np.mean(expected), abs=1e-9, nan_ok=True)
    assert bool(corpus.reason) == math.isnan(corpus.value)
    sums = score.summands(statistics).sum(axis=0)
    assert score.value_of(sums) == pytest.approx(corpus.value, abs=1e-9, nan_ok=True)
    for value, segment, chosen in zip(found.values, asked, found.chosen, strict=True):
        if chosen >= 0:
            alone = Segment(segment.source, segment.hypothesis, (segment.references[chosen],))
            assert value == pytest.approx(twin(alone, direction, "mean"))


def test_who_is_asked_what():
    pairs = {
        "source-to-hypothesis": [[("s", "h")]],
        "reference-to-hypothesis": [[("r", "h"), ("t", "h")]],
        "hypothesis-to-reference": [[("h", "r"), ("h", "t")]],
        "f": [[("r", "h"), ("t", "h")], [("h", "r"), ("h", "t")]],
    }
    for direction, items in pairs.items():
        score = BartScore(model="m", direction=direction)
        _, requests = counted(score, [Segment("s", "h", ("r", None, "t"))], made_up)
        assert [request.items for request in requests] == items
        assert {(request.model, request.measure) for request in requests} == {("m", Likelihood())}


def test_what_was_cut_is_counted_by_sentence(model):
    score = BartScore(model=model, direction="f")
    asked = [Segment("", "c", ("c", "c")), Segment("", "a", ("c", "a")), Segment("", "a", ("a",))]
    statistics, _ = counted(score, asked, made_up)
    assert score.sentences(statistics).parts["truncated"].tolist() == [1, 1, 0]
    assert score.score(statistics).parts["truncated"] == 2


def test_parts_of_f(model):
    score = BartScore(model=model, direction="f", references="max")
    statistics, _ = counted(score, [Segment("", "aaaa", ("a", "aaa"))] * 2, made_up)
    scores, corpus = score.sentences(statistics), score.score(statistics)
    assert scores.chosen.tolist() == [0, 0]
    assert scores.parts["precision"].tolist() == pytest.approx([-1.16, -1.16])
    assert scores.parts["recall"].tolist() == pytest.approx([-4.01, -4.01])
    assert corpus.parts == pytest.approx({"precision": -1.16, "recall": -4.01, "truncated": 0})
    assert corpus.value == pytest.approx((-1.16 - 4.01) / 2)


def test_a_figure_that_is_no_number_has_no_score(model):
    score = BartScore(model=model)
    answers = np.array([[math.nan, 0.0], [-1.0, 0.0]])
    statistics, _ = counted(score, SEGMENTS[:2], lambda _: answers)
    result = score.score(statistics)
    assert math.isnan(result.value)
    assert result.reason == "1 of 2 segments have no score: the model gave no number"


def test_a_sentence_without_reference_has_no_score(model):
    score = BartScore(model=model, direction="f")
    statistics, _ = counted(score, [Segment("a", "b", (None,)), Segment("a", "b", ("c",))], made_up)
    assert np.isnan(score.sentences(statistics).values).tolist() == [True, False]
    assert score.score(statistics).reason == "1 of 2 segments have no score: no reference"


# With a tiny model


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_batches_and_order_do_not_matter(model, direction):
    score = BartScore(model=model, direction=direction)
    values = score.sentences(score.statistics(SEGMENTS)).values
    assert (values < 0).all()
    for budget in (1, 30):
        with using(Runtime(batch_tokens=budget)):
            again = score.sentences(score.statistics(SEGMENTS[::-1])).values[::-1]
        assert again == pytest.approx(values, abs=5e-6)


def test_a_long_sentence_is_cut_and_counted(model):
    score = BartScore(model=model)
    long = "cat " * 2000
    result = score.evaluate([Segment(long, "a cat"), Segment("cat", long), Segment("cat", "cat")])
    assert math.isfinite(result.value)
    assert result.parts == {"truncated": 2}


def test_no_segments(model):
    for direction in DIRECTIONS:
        result = BartScore(model=model, direction=direction).evaluate([])
        assert math.isnan(result.value)
        assert (result.n, result.parts, result.reason) == (0, {}, "no segments")


def test_explanation_shows_each_reference(model):
    score = BartScore(model=model, direction="f", references="max")
    explanation = score.explain(SEGMENTS[0])
    (grid,) = explanation.grids
    assert grid.columns == ("count", "reference 0", "reference 1")
    assert [row[0] for row in grid.rows] == ["precision", "recall", "truncated"]
    precision, recall, _ = (float(row[1 + explanation.chosen]) for row in grid.rows)
    assert (precision + recall) / 2 == pytest.approx(explanation.value, abs=1e-4)
    assert BartScore(model=model).explain(SEGMENTS[0]).grids == ()


# Spelling, needs and signature


def test_what_it_needs_depends_on_the_direction():
    assert describe("bartscore")["needs"] == BartScore.needs == BartScore().needs == "nothing"
    for direction in DIRECTIONS[1:]:
        assert metric(f"bartscore(direction={direction})").needs == "texts"
    assert BartScore.needs == "nothing"


def test_the_spelling_reads_back():
    score = metric("bartscore(model='my bart', direction=f, references=max)")
    assert score == BartScore(model="my bart", direction="f", references="max")
    assert metric(str(score)) == score
    assert len({score, metric(str(score)), BartScore()}) == 2


@pytest.mark.parametrize("field", ["direction=sideways", "references=min", "model=none"])
def test_fields_that_are_none(field):
    with pytest.raises(UsageError, match=field.partition("=")[0]):
        metric(f"bartscore({field})")


def test_a_missing_model_is_told_at_once(tmp_path):
    with pytest.raises(MissingResourceError):
        _ = BartScore(model=str(tmp_path / "nothing")).notice


def test_aggregations_share_their_rows():
    one, other = BartScore(direction="f"), BartScore(direction="f", references="max")
    assert one.counting() == other.counting() != BartScore().counting()


def test_the_signature(model):
    signature = BartScore(model=model).signature()
    assert signature["direction"] == "source-to-hypothesis"
    assert signature["max-tokens"] == "1024"
    assert signature["dtype"] == "float32"
    assert len(signature["model-hash"]) == 16


# From the shell


def run(capsys, folder, spelled, *more):
    for name, line in (("src", SEGMENTS[0].source), ("A", SEGMENTS[0].hypothesis)):
        (folder / f"{name}.txt").write_text(line + "\n", encoding="utf-8")
    code = main(
        ["score", "-s", str(folder / "src.txt"), "-m", *spelled, "--hyps", str(folder / "A.txt"),
         "--format", "json", *more]
    )  # fmt: skip
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_on_the_shell(model, tmp_path, capsys):
    spelled = [f"bartscore(model='{model}')", f"bartscore(model='{model}', direction=f)"]
    files = []
    for number, text in enumerate(REFERENCES):
        files.append(str(tmp_path / f"ref{number}.txt"))
        Path(files[-1]).write_text(text + "\n", encoding="utf-8")
    code, out, err = run(capsys, tmp_path, spelled, "-r", *files)
    assert (code, err) == (0, "")
    metrics = json.loads(out)["metrics"]
    for name in spelled:
        value = metrics[name]["systems"]["A"]["value"]
        assert value == pytest.approx(metric(name).evaluate(SEGMENTS[:1]).value, abs=1e-6)
    assert "refs" not in metrics[spelled[0]]["signature"]
    assert "|refs:2|" in metrics[spelled[1]]["signature"]


def test_on_the_shell_without_references(model, tmp_path, capsys):
    code, out, err = run(capsys, tmp_path, [f"bartscore(model='{model}', direction=f)"])
    assert (code, out) == (2, "")
    assert "bartscore needs references" in err


def test_on_the_shell_with_the_wrong_kind_of_model(tmp_path, capsys):
    gpt = made_models.causal(tmp_path / "gpt")
    code, out, err = run(capsys, tmp_path, [f"bartscore(model='{gpt}')"])
    assert (code, out) == (4, "")
    assert "cannot be loaded" in err
    assert "Traceback" not in err
