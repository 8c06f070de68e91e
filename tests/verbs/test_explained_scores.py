"""What ``explain`` says of a sentence is the segment score that ``score`` gives it.

Every metric of the registry takes part, with every choice of every option, by the tiny models.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import numpy as np
import pytest

import fake_judge
import grammeter as gm
import made_models
from grammeter.cli.main import main
from grammeter.core import Edit, GrammeterError
from grammeter.formats import read_m2
from grammeter.formats.text import read_lines
from grammeter.metrics import BUILT_IN, metric_class

LINES = (6, 17, 22)
"""Of the 22 sentences: 17 is empty in C, 22 lacks an annotator."""

MODELS = {
    "bertscore": {"model": "bert-uncased", "layer": 2},
    "bartscore": {"model": "bart"},
    "pt-m2": {"model": "bert-uncased", "layer": 2},
    "sent-pt-m2": {"model": "bert-uncased", "layer": 2},
    "pt-errant": {"model": "bert-uncased", "layer": 2},
    "sent-pt-errant": {"model": "bert-uncased", "layer": 2},
    "uot-errant": {"model": "bert-uncased", "layer": 2},
    "sent-uot-errant": {"model": "bert-uncased"},
    "some": {"grammaticality": "some-grammaticality", "fluency": "some-fluency",
             "meaning": "some-meaning"},
    "impara": {"model": "impara-qe", "similarity": "bert-cased"},
    "scribendi": {"model": "gpt2"},
}  # fmt: skip
MORE: dict[str, list[dict[str, Any]]] = {
    "bertscore": [{"rescale": True, "idf": True, "baseline": "BASELINE"}],
    "cleme": [
        {"version": 2, "weights": "length"},
        {"version": 2, "weights": "length", "assumption": "independent"},
        {"weights": "similarity", "model": "bert-uncased", "layer": 2},
    ],
    "pt-m2": [
        {"idf": True, "inverse": True},
        {"scorer": "bartscore", "model": "bart", "layer": None},
    ],
    "pt-errant": [{"idf": True, "aggregation": "gec-metrics"}],
    "imeasure": [{"mix": True, "optimise": "corpus"}],
    "sentm2": [{"annotator": 1}],
}
LLM = ("llm-s", "llm-e")
WITH_MODELS = (
    "bertscore",
    "bartscore",
    "uot-errant",
    "sent-uot-errant",
    "some",
    "impara",
    "scribendi",
    *LLM,
)
"""Metrics that can do nothing without a model."""


def variants(name: str) -> Iterator[dict[str, Any]]:
    """Yield the defaults, and each other choice of each option, as the metric's fields."""
    cls = metric_class(name)
    hints = get_type_hints(cls)
    base: dict[str, Any] = dict(MODELS.get(name, {}))
    if "pipeline" in hints:
        base["pipeline"] = "neutral"
    if name in LLM:
        base["model"] = "m"
    yield base
    for field in (each for each in fields(cls) if each.name != "numbered"):  # as the fake asks
        for value in choices(hints[field.name], field.default):
            yield base | {field.name: value}
    if "scorer" in hints:
        yield base | {"scorer": "self", "model": None, "layer": None}
    for more in MORE.get(name, []):
        yield base | more


def choices(hint: Any, default: Any) -> Iterator[Any]:
    options = [option for part in (hint, *get_args(hint)) if (option := literal(part))]
    known = {bool: [True, False], float: [default * 2 if isinstance(default, float) else 1.0]}
    found = [value for option in options for value in option] or known.get(hint, [])
    yield from (value for value in found if value != default)


def literal(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if getattr(hint, "__origin__", None) is Literal else ()


def spelled(name: str, models: Path, given: dict[str, Any]) -> str | None:
    """Return a spelling; ``None`` where options do not fit each other, or a model is not here."""
    full = {
        key: str(models / value) if isinstance(value, str) and (models / value).is_dir() else value
        for key, value in given.items()
    }
    if "baseline" in full:
        full["baseline"] = str(models / "baseline.tsv")
    try:
        made = metric_class(name)(**full)
        _ = made.notice
        return str(made)
    except GrammeterError:
        return None


def models_of(name: str) -> Any:
    return getattr(gm.metric(name), "models", dict)()


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tiny models and of a baseline, by the names above."""
    folder = tmp_path_factory.mktemp("models")
    made_models.encoder(folder / "bert-uncased")
    made_models.encoder(folder / "bert-cased", seed=5, lower=False)
    made_models.seq2seq(folder / "bart")
    made_models.causal(folder / "gpt2")
    for seed, name in enumerate(
        ("some-grammaticality", "some-fluency", "some-meaning", "impara-qe")
    ):
        made_models.regressor(folder / name, seed=seed)
    rows = ["LAYER,P,R,F", *(f"{layer},0.3{layer},0.3{layer},0.3{layer}" for layer in range(3))]
    (folder / "baseline.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def corpus() -> gm.Corpus:
    sample = gm.sample_corpus()
    gold = [block.gold for block in read_m2(sample / "gold.m2").blocks[:22]]
    outputs = {
        name: list(read_lines(sample / "systems" / f"{system}.txt")[:22])
        for name, system in {"A": "Careful", "B": "Eager", "C": "Fluent"}.items()
    }
    outputs["C"][16] = ""
    return gm.Corpus(
        sources=read_lines(sample / "source.txt")[:22],
        references=[read_lines(sample / f"ref{number}.txt")[:22] for number in (0, 1)],
        gold=[*gold[:21], dict(list(gold[21].items())[:1])],
        systems=outputs,
    )


@pytest.mark.filterwarnings("ignore:no reference changes anything")
@pytest.mark.parametrize("name", BUILT_IN)
def test_every_metric_and_option(
    name: str, corpus: gm.Corpus, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_judge.install(monkeypatch)
    tried = [spelled(name, models, given) for given in variants(name)]
    metrics = list(dict.fromkeys(each for each in tried if each))
    assert metrics
    gm.write_scores(gm.score(corpus, metrics), tmp_path / "s.json")
    table = gm.read_scores(tmp_path / "s.json")
    for line in LINES:
        found = [gm.explain(table, system="C", line=line)]
        if line == LINES[0]:
            found.append(gm.explain(corpus, system="C", line=line, metrics=metrics))
        for each in metrics:
            scores = table[each].segments["C"].take([line - 1])
            exact = 2e-4 if models_of(each) else 1e-6  # batches of a model round otherwise
            for explained in (one.metrics[each] for one in found):
                assert explained.value == pytest.approx(scores.values[0], abs=exact, nan_ok=True), (
                    each
                )
                chosen = scores.in_corpus.chosen[0] if scores.in_corpus else None
                assert explained.corpus_chosen == chosen, each
        exact = [each for each in metrics if not models_of(each)]
        notes = [note for one in found for note in one.notes if "other sentences" in note]
        assert not [note for note in notes if note.partition(": ")[0] in exact]


@pytest.mark.filterwarnings("ignore:no reference changes anything")
@pytest.mark.parametrize("name", [name for name in BUILT_IN if name not in WITH_MODELS])
def test_the_order_of_the_sentences_does_not_matter(
    name: str, corpus: gm.Corpus, models: Path
) -> None:
    tried = [spelled(name, models, given) for given in variants(name)]
    metrics = list(dict.fromkeys(each for each in tried if each and not models_of(each)))
    backwards = replace(
        corpus,
        sources=corpus.sources[::-1],
        references=[texts[::-1] for texts in corpus.references],
        gold=corpus.gold[::-1],
        systems={system: outputs[::-1] for system, outputs in corpus.systems.items()},
    )
    there, back = gm.score(corpus, metrics), gm.score(backwards, metrics)
    for each in metrics:
        for system, scores in there[each].segments.items():
            np.testing.assert_allclose(scores.values, back[each].segments[system].values[::-1])


def test_conll14_line_54_in_the_shell(shared: Path, tmp_path: Path, capsys) -> None:
    """The corpus chose annotator 1 for AMU, by running totals; alone annotator 0 is better."""
    data = shared / "data" / "conll14_test"
    hypothesis = data / "official_systems" / "AMU"
    paths = [str(tmp_path / name) for name in ("s.json", "s.tsv")]
    gold = data / "noalt" / "official-2014.combined.m2"
    assert main(["score", "-r", str(gold), "-m", "m2", "--hyps", str(hypothesis), "-o", paths[0],
                 "--segments", paths[1], "--quiet"]) == 0  # fmt: skip
    row = Path(paths[1]).read_text("utf-8").splitlines()[54].split("\t")
    capsys.readouterr()
    assert main(["explain", paths[0], "--system", row[0], "--line", "54", "--format", "json"]) == 0
    (explained,) = json.loads(capsys.readouterr().out)["metrics"].values()
    assert float(row[3]) == explained["value"] == pytest.approx(0.3030, abs=5e-5)
    assert (row[4], explained["reference"]) == ("0", 0)
    assert explained["in_corpus"] == {"reference": 1, "value": pytest.approx(0.2778, abs=5e-5)}
    parts = json.loads(row[5])
    assert (parts["corpus_reference"], parts["corpus_value"]) == (
        1,
        explained["in_corpus"]["value"],
    )
    assert main(["explain", paths[0], "--system", row[0], "--line", "54"]) == 0
    assert "chosen by the corpus: reference 1, 0.2778" in capsys.readouterr().out


def test_token_matches_make_precision_and_recall(corpus: gm.Corpus, models: Path) -> None:
    model = models / "bert-uncased"
    name = f"bertscore(model='{model}', layer=2, idf=true)"
    (found,) = gm.explain(corpus, system="A", line=3, metrics=[name]).metrics.values()
    _, *matches = found.grids
    assert [grid.title for grid in matches] == [
        "Tokens of output",
        f"Tokens of reference {found.chosen}",
    ]
    figures = [row[1 + found.chosen] for row in found.grids[0].rows[:2]]
    for grid, figure in zip(matches, figures, strict=True):
        cosines, weights = (np.array([float(row[at]) for row in grid.rows]) for at in (2, 3))
        assert cosines @ weights / weights.sum() == pytest.approx(float(figure), abs=2e-4)


LONG = "the cat goes to school and she is in the house . " * 40


@pytest.mark.parametrize(
    "name",
    ["bertscore", "bartscore", "some", "impara", "scribendi", "pt-m2", "sent-pt-m2", "cleme"],
)
def test_texts_longer_than_a_model_takes_are_told(name: str, models: Path) -> None:
    base = next(variants(name))
    given = (
        {"weights": "similarity", "model": "bert-uncased", "layer": 2} if name == "cleme" else {}
    )
    metric = spelled(name, models, base | given)
    assert metric
    wrong, right = LONG.replace("goes", "go"), LONG.strip()
    corpus = gm.Corpus(
        sources=[wrong, "he go .", wrong],
        references=[[right, "he goes .", right]],
        gold=[{0: (Edit(2, 3, "said"),)}, {0: (Edit(1, 2, "goes"),)}, {0: (Edit(2, 3, "said"),)}],
        systems={"A": [right, "he goes .", right], "B": ["he goes .", "he go .", right]},
    )
    if name.endswith("pt-m2"):
        corpus = replace(corpus, references=())
    table = gm.score(corpus, [metric])
    (note,) = [note for note in table.notes if "longer than the model takes" in note]
    assert note.startswith(f"{metric}: ")
    assert note.endswith("sentences: A 2, B 2")
    for line, told in ((1, True), (2, False)):
        found = gm.explain(table, system="A", line=line)
        reason = found.metrics[metric].reason or ""
        assert any("longer than the model" in each for each in (*found.notes, reason)) is told
