"""A metric in lm-eval, inspect_ai, lighteval, EuroEval and verl; each with the real package."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

import grammeter as gm
from grammeter.adapters import Harness

SOURCES = ["he go home .", "all fine ."]
OUTPUTS = ["he goes home .", "all fine ."]
REFERENCES = ["he goes home .", "all is fine ."]
WHOLE = gm.score(source=SOURCES, references=[REFERENCES], hypotheses={"A": OUTPUTS},
                 metrics=["gleu"])["gleu"]["A"].value  # fmt: skip
DOCUMENTS = [{"source": s, "references": r} for s, r in zip(SOURCES, REFERENCES, strict=True)]


@pytest.fixture(params=["text", "list"])
def documents(request):
    listed = request.param == "list"
    return [{**one, "references": [one["references"]] if listed else one["references"]}
            for one in DOCUMENTS]  # fmt: skip


def test_the_corpus_is_scored_as_anywhere_else(documents):
    harness = Harness("gleu")
    rows = [
        harness.process_results(doc, [text]) for doc, text in zip(documents, OUTPUTS, strict=True)
    ]
    assert [*rows[0]] == ["gleu"]
    assert harness.aggregation([row["gleu"] for row in rows]) == WHOLE
    assert harness.higher_is_better
    assert not Harness("wer").higher_is_better


def test_a_reward_of_verl():
    harness = Harness("gleu", references="any")
    reward = harness.compute_score("gec", OUTPUTS[0], REFERENCES[0], {"source": SOURCES[0]})
    assert reward == 1.0
    with pytest.raises(gm.UsageError, match="needs references"):
        harness.compute_score("gec", OUTPUTS[0], None, {"source": SOURCES[0]})


def test_what_is_missing_is_named():
    with pytest.raises(gm.UsageError, match="no texts in a column 'source'; there are: text"):
        Harness("gleu").process_results({"text": "a"}, ["b"])
    with pytest.raises(gm.UsageError, match="one metric"):
        Harness(gm.Scorer(["gleu", "green"]))


def test_inspect(tmp_path, monkeypatch):
    inspect = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    @solver
    def corrector():
        async def solve(state, generate):
            known = dict(zip(SOURCES, OUTPUTS, strict=True))
            state.output = ModelOutput.from_content(
                "mockllm/model", known[state.metadata["source"]]
            )
            return state

        return solve

    monkeypatch.chdir(tmp_path)
    samples = [Sample(input="Correct: " + s, target=r, metadata={"source": s})
               for s, r in zip(SOURCES, REFERENCES, strict=True)]  # fmt: skip
    scorer = Harness("gleu").inspect_scorer()
    task = inspect.Task(dataset=samples, solver=corrector(), scorer=scorer)
    (log,) = inspect.eval(task, model="mockllm/model", display="none", log_dir=str(tmp_path))
    assert log.status == "success", log.error
    (metric,) = log.results.scores[0].metrics.values()
    assert metric.value == pytest.approx(WHOLE)
    assert log.samples[0].scores["grammeter_gleu"].value == 1.0


def test_lm_eval(tmp_path, monkeypatch):
    pytest.importorskip("lm_eval")
    from lm_eval.api.model import LM
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.evaluator import simple_evaluate

    monkeypatch.setenv("HF_HOME", str(tmp_path))
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in DOCUMENTS), encoding="utf-8")
    harness = Harness("gleu")
    task = ConfigurableTask(config={
        "task": "gec", "dataset_path": "json", "dataset_kwargs": {"data_files": str(data)},
        "test_split": "train", "output_type": "generate_until",
        "doc_to_text": "Correct: {{source}}", "doc_to_target": "{{references}}",
        "process_results": harness.process_results,
        "metric_list": [{"metric": harness.name, "aggregation": harness.aggregation,
                         "higher_is_better": harness.higher_is_better}],
    })  # fmt: skip

    class Model(LM):
        def generate_until(self, requests, disable_tqdm=False):
            known = {"Correct: " + s: text for s, text in zip(SOURCES, OUTPUTS, strict=True)}
            return [known[request.args[0]] for request in requests]

        loglikelihood = loglikelihood_rolling = None

    done = simple_evaluate(model=Model(), tasks=[task], bootstrap_iters=0)
    assert done["results"]["gec"]["gleu,none"] == pytest.approx(WHOLE)


def test_lighteval():
    pytest.importorskip("lighteval")
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    metric = Harness("gleu").lighteval_metric()
    docs = [Doc(query=s, choices=[r], gold_index=0, specific={"source": s})
            for s, r in zip(SOURCES, REFERENCES, strict=True)]  # fmt: skip
    kept = [metric.compute_sample(doc=doc, model_response=ModelResponse(text=[text]))["gleu"]
            for doc, text in zip(docs, OUTPUTS, strict=True)]  # fmt: skip
    assert metric.get_corpus_aggregations()["gleu"](kept) == WHOLE


def test_euroeval():
    pytest.importorskip("euroeval")
    metric = Harness("gleu").euroeval_metric()
    configs = SimpleNamespace(), SimpleNamespace()
    assert metric(OUTPUTS, REFERENCES, {"source": SOURCES}, *configs) == WHOLE
