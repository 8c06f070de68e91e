"""SOME's training: what each regressor reads, where it starts, and what its card says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import made_models
import made_training
from grammeter.core import DataError, UsageError
from grammeter.formats import RatedOutput
from grammeter.metrics import Some
from grammeter.models import find_model
from grammeter.training.network import Network, Settings
from grammeter.training.pairs import CRITERIA, HumanScore, score_task
from grammeter.training.results import _errors
from grammeter.verbs import train_some


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return made_models.encoder(tmp_path_factory.mktemp("some") / "encoder")


@pytest.fixture(scope="module")
def scores(tmp_path_factory) -> Path:
    return made_training.write_scores(tmp_path_factory.mktemp("some") / "scores.csv")


def options(encoder, **changes) -> dict:
    usual = {"encoder": str(encoder), "epochs": 1, "batch_size": 16, "learning_rate": 1e-3}
    return {**usual, **changes}


@pytest.fixture(scope="module")
def trained(scores, encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "model"
    return folder, train_some(scores, folder, **options(encoder))


def rated(count: int = 20, score: float | None = None) -> list[RatedOutput]:
    made = made_training.parallel()[:count]
    return [
        RatedOutput(
            each.source,
            f"{each.source} now",
            dict.fromkeys(CRITERIA, score if score is not None else 1 + n % 4),
        )
        for n, each in enumerate(made)
    ]


class TestTask:
    @pytest.mark.parametrize("criterion", CRITERIA)
    def test_meaning_reads_pairs_the_others_outputs(self, criterion):
        given = rated()
        task = score_task(given, criterion, 1)
        items = {example.items for examples in task.examples.values() for example in examples}
        wanted = {(o.source, o.output) if criterion == "meaning" else o.output for o in given}
        assert items == {(item,) for item in wanted}

    def test_split_by_source(self):
        given = [one for one in rated(40) for _ in range(2)]
        parts = score_task(given, "meaning", 1).examples
        sources = [{e.items[0][0] for e in parts[p]} for p in ("train", "validation", "test")]
        assert sum(map(len, sources)) == len(set().union(*sources)) == 40
        assert [len(each) for each in sources] == [32, 4, 4]

    def test_the_bias_starts_at_the_training_mean(self, encoder):
        task = score_task(rated(), "fluency", 1)
        targets = [example.target for example in task.examples["train"]]
        assert task.first_bias == pytest.approx(sum(targets) / len(targets))
        with Network.open(Settings(encoder=encoder), bias=task.first_bias) as network:
            assert network.weights()["classifier.bias"].tolist() == pytest.approx([task.first_bias])
            outputs = network.outputs(network.encode(task.examples["test"]))
        assert np.abs(outputs - task.first_bias).max() < 1

    def test_loss_and_figure(self):
        torch = pytest.importorskip("torch")
        task = HumanScore({}, 0.0)
        outputs, targets = [[1.0], [3.0]], [2.0, 5.0]
        assert float(task.loss(torch.tensor(outputs), torch.tensor(targets))) == 2.5
        assert task.figure(np.array(outputs), np.array(targets)) == -2.5


class TestCards:
    def test_one_for_each_criterion(self, trained, scores, encoder):
        folder, cards = trained
        assert [*cards] == [*CRITERIA]
        for criterion, card in cards.items():
            text = (folder / criterion / "card.json").read_text("utf-8")
            assert "NaN" not in text
            assert json.loads(text) == card
            assert card["metric"] == f"some {criterion}"
            assert card["data"]["examples"] == {"train": 44, "validation": 5, "test": 5}
            assert card["data"]["files"] == [str(scores)]
            assert card["encoder"]["hash"] == find_model(encoder).hash
            assert "- best epoch: " in (folder / criterion / "README.md").read_text("utf-8")
        assert len({card["weights"] for card in cards.values()}) == 3

    def test_constant_scores_have_no_correlation(self, encoder):
        task = score_task(rated(score=3.0), "fluency", 1)
        with Network.open(Settings(encoder=encoder), bias=task.first_bias) as network:
            outputs = {
                part: network.outputs(network.encode(task.examples[part]))
                for part in ("validation", "test")
            }

        class Fitted:
            pass

        fitted = Fitted()
        fitted.outputs = outputs
        found = _errors(task, fitted)
        assert np.isnan(found["test Pearson"])
        assert np.isnan(found["test Spearman"])
        assert found["test mean squared error of the training mean"] == 0

    def test_constant_scores_end_to_end(self, encoder, tmp_path):
        path = tmp_path / "scores.tsv"
        rows = [f"{one.source}\t{one.output}\t3" for one in rated()]
        path.write_text("source\toutput\tfluency\n" + "\n".join(rows) + "\n", "utf-8")
        cards = train_some(path, tmp_path / "a", **options(encoder, epochs=0), criteria=["fluency"])
        assert cards["fluency"]["results"]["test Pearson"] is None
        page = (tmp_path / "a" / "fluency" / "README.md").read_text("utf-8")
        assert "| test Pearson | undefined |" in page


def test_the_metric_finds_the_models(trained):
    from grammeter.core import Segment

    score = Some(model=str(trained[0])).evaluate([Segment("the cat go", "the cat goes")])
    assert np.isfinite(score.value)


def test_resumed(trained, scores, encoder):
    folder, cards = trained
    assert train_some(scores, folder, **options(encoder), resume=True) == cards
    with pytest.raises(UsageError, match="not empty"):
        train_some(scores, folder, **options(encoder))
    with pytest.raises(UsageError, match="epochs was 1, is 2"):
        train_some(scores, folder, **options(encoder, epochs=2), resume=True)


def test_criteria_one_after_the_other(trained, scores, encoder, tmp_path):
    for criterion in ("meaning", "fluency"):
        (card,) = train_some(
            scores,
            tmp_path / "a",
            **options(encoder),
            criteria=[criterion],
            resume=criterion == "fluency",
        ).values()
        assert card["weights"] == trained[1][criterion]["weights"]


@pytest.mark.parametrize("criteria", [[], ["adequacy"]])
def test_criteria_that_do_not_exist(scores, encoder, tmp_path, criteria):
    with pytest.raises(UsageError, match="criteria"):
        train_some(scores, tmp_path / "a", **options(encoder), criteria=criteria)


def test_too_few_sentences(encoder, tmp_path):
    path = tmp_path / "few.tsv"
    path.write_text("source\toutput\tfluency\na\tb\t1\n")
    with pytest.raises(DataError, match="no validation examples for fluency"):
        train_some(path, tmp_path / "a", **options(encoder), criteria=["fluency"])


def test_a_criterion_without_scores(encoder, tmp_path):
    path = tmp_path / "some.tsv"
    path.write_text("source\toutput\tfluency\na\tb\t1\n")
    with pytest.raises(DataError, match=r"no scores of grammaticality\n.*--criteria fluency"):
        train_some(path, tmp_path / "a", **options(encoder))
