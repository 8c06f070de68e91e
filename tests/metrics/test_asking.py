"""Metrics with models: what is told before any work, what the signature says of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import grammeter as gm
from grammeter.core import MissingResourceError, Score, SegmentScores, Statistics
from grammeter.metrics import kinds as module
from grammeter.metrics.kinds import Asking
from grammeter.metrics.registry import BUILT_IN, metric, metric_class
from grammeter.models import KNOWN, ModelFiles, Regression, Request, service

COMMIT = "86b5e0934494bd15c9632b12f734a8a67f723594"


@dataclass(frozen=True, kw_only=True)
class Made(Asking):
    """The mean of a model's figures."""

    name: ClassVar[str] = "made"
    title: ClassVar[str] = "mean of a model's figures"
    needs: ClassVar = "nothing"
    citation: ClassVar[str] = ""

    model: str | None = None

    def models(self):
        return {"model": self.model} if self.model else {}

    def steps(self, segments):
        (figures,) = yield [Request(self.model, Regression(), [s.hypothesis for s in segments])]
        return Statistics(figures[:, None, :1], np.ones((len(figures), 1), bool), (0,), ("x",))

    def score(self, statistics):
        return Score(float(statistics.rows.mean()), self.signature(), len(statistics))

    def sentences(self, statistics):
        return SegmentScores(statistics.rows[:, 0, 0], np.full(len(statistics), -1), {})

    def summands(self, statistics):
        return np.stack([statistics.rows[:, 0, 0], np.ones(len(statistics))], axis=1)

    def value_of(self, sums):
        return sums[..., 0] / sums[..., 1]


@pytest.fixture
def model(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_text("")
    return str(tmp_path)


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(module, "check_installed", lambda: None)


class TestNotice:
    def test_nothing_to_say(self, model, installed):
        assert Made(model=model).notice is None

    def test_a_missing_model(self, installed):
        with pytest.raises(MissingResourceError, match="there is no folder"):
            _ = Made(model="/no/such").notice

    def test_missing_packages(self, model, monkeypatch):
        def refuse():
            raise MissingResourceError("models need the package 'torch'")

        monkeypatch.setattr(module, "check_installed", refuse)
        with pytest.raises(MissingResourceError, match="need the package 'torch'"):
            _ = Made(model=model).notice
        assert Made().notice is None  # asks no model


class TestSettings:
    def test_a_folder_has_its_hash(self, model):
        files = ModelFiles(model, module.find_model(model).folder)
        assert Made(model=model).settings() == {"model-hash": files.hash, "dtype": "float32"}

    def test_a_model_of_the_hub_has_its_revision(self, model, monkeypatch):
        found = ModelFiles("owner/name", module.find_model(model).folder, COMMIT)
        monkeypatch.setattr(module, "find_model", lambda name: found)
        signature = Made(model="owner/name").signature()
        assert signature["model-revision"] == COMMIT
        assert signature["model-hash"] == found.hash

    def test_the_number_type_is_that_of_the_run(self, model):
        with gm.using(gm.Runtime(dtype="bfloat16")):
            assert Made(model=model).signature()["dtype"] == "bfloat16"

    def test_without_a_model_nothing_is_added(self):
        assert Made().settings() == {}


def test_statistics_are_the_end_of_the_steps(model, monkeypatch):
    def answer(requests):
        return [np.array([[len(item), 0.0] for item in r.items]) for r in requests]

    monkeypatch.setattr(service, "answer", answer)
    corpus = gm.Corpus(sources=["a", "b"], systems={"A": ["a", "bbb"]})
    made = Made(model=model)
    assert made.statistics(corpus.segments("A")).rows[:, 0, 0].tolist() == [1, 3]
    assert gm.score(corpus, [made])[f"made(model={model})"]["A"].value == 2


BUILT = [name for name in BUILT_IN if issubclass(metric_class(name), Asking)]


@pytest.mark.parametrize("name", BUILT)
def test_the_models_that_metrics_name_are_known(name):
    """Known models say which metric names them; the doctor lists them."""
    try:
        named = metric(name).models()
    except MissingResourceError:
        named = {}  # has no default
    said = {use for known in KNOWN for use in known["uses"] if use.startswith(f"{name}(")}
    assert {f"{name}({field})" for field in named} == said
    for field, model in named.items():
        assert [k["name"] for k in KNOWN if f"{name}({field})" in k["uses"]] == [model]
