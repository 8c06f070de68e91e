"""Impacts of edits equal those of the public program; what is measured, and what is left out."""

from __future__ import annotations

import json

import numpy as np
import pytest

import made_models
import made_training
from grammeter.core import DataError, Edit
from grammeter.formats import Correction, read_parallel
from grammeter.training import pairs as module
from grammeter.training.pairs import EditedSentence, draw_pairs, measure_impacts


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return made_models.encoder(tmp_path_factory.mktemp("impacts") / "encoder")


@pytest.fixture(scope="module")
def golden(shared):
    path = shared / "golden" / "neural" / "impara_train.json"
    return json.loads(path.read_text("utf-8"))["items"]


@pytest.fixture(scope="module")
def measured(shared, golden):
    folder = shared / "golden" / "neural"
    rows = read_parallel(str(folder / "data" / "reference.m2"))
    parallel = [row for row in rows if row.edits]
    assert len(parallel) == len(golden)
    return measure_impacts(parallel, str(folder / "tiny_models" / "bert-cased"))


class TestGolden:
    """gotutiyan/IMPARA, create_data_for_qe.py, on the tiny model bert-cased."""

    def test_impact_of_each_edit(self, golden, measured):
        for item, sentence in zip(golden, measured, strict=True):
            assert sentence.impacts == pytest.approx(item["impact"], abs=1e-5)

    def test_sentences(self, golden, measured):
        for item, sentence in zip(golden, measured, strict=True):
            everything = set(range(len(sentence.edits)))
            assert sentence.text(everything) == item["corrected"]
            without = [sentence.text(everything - {n}) for n in sorted(everything)]
            assert without == item["without_edit"]

    def test_subsets(self, golden, measured):
        count = 0
        for item, sentence in zip(golden, measured, strict=True):
            for subset in item["subsets"]:
                sides = subset["E1"], subset["E2"]
                texts = [sentence.text(side) for side in sides]
                impacts = [sentence.impact(side) for side in sides]
                assert texts == [subset["text1"], subset["text2"]]
                assert impacts == pytest.approx([subset["I1"], subset["I2"]], abs=5e-5)
                if subset["low_high"]:
                    count += 1
                    order = sorted(range(2), key=lambda n: impacts[n])
                    assert [texts[n] for n in order] == subset["low_high"]
        assert count > 50


class TestMeasuring:
    def test_a_slow_twin(self, encoder):
        from grammeter.models import MeanSimilarity, Request, answer

        rows = made_training.parallel()[:9]
        for sentence, row in zip(measure_impacts(rows, encoder), rows, strict=True):
            whole = sentence.text(range(len(row.edits)))
            for number, impact in enumerate(sentence.impacts):
                less = sentence.text(n for n in range(len(row.edits)) if n != number)
                figures = answer([Request(encoder, MeanSimilarity(limit=512), [(whole, less)])])
                assert impact == pytest.approx(1 - figures[0][0, 0], abs=1e-6)

    def test_what_changes_nothing_is_left_out(self, encoder):
        same, other = Edit(0, 1, "the"), Edit(1, 2, "dog")
        (found,) = measure_impacts([Correction("the cat", (same, other), None, "")], encoder)
        assert found.edits == (other,)
        assert (
            measure_impacts(
                [Correction("the cat", (same,), None, ""), Correction("a", (), None, "")], encoder
            )
            == []
        )

    def test_of_overlapping_edits_the_later_is_left_out(self, encoder):
        first, second = Edit(0, 2, "a dog"), Edit(1, 3, "x")
        (found,) = measure_impacts([Correction("the cat is", (second, first), None, "")], encoder)
        assert found.edits == (first,)

    def test_the_order_of_sentences_does_not_matter(self, encoder):
        rows = made_training.parallel()[:6]
        there, back = measure_impacts(rows, encoder), measure_impacts(rows[::-1], encoder)
        for one, other in zip(there, back[::-1], strict=True):
            assert one.impacts == pytest.approx(other.impacts, abs=1e-6)

    def test_no_similarity(self, monkeypatch, encoder):
        monkeypatch.setattr(module, "answer", lambda _: [np.full((1, 2), np.nan)])
        with pytest.raises(DataError, match="no similarity"):
            measure_impacts([Correction("the cat", (Edit(0, 1, "a"),), None, "")], encoder)

    def test_a_language_model_is_no_encoder(self, tmp_path):
        gpt = made_models.causal(tmp_path / "gpt")
        with pytest.raises(DataError, match="language model"):
            measure_impacts([Correction("the cat", (Edit(0, 1, "a"),), None, "")], gpt)


def test_impacts_add_up():
    sentence = EditedSentence("a b", (Edit(0, 1, "x"), Edit(1, 2, "")), (0.25, 0.5), "")
    assert [sentence.impact(s) for s in ((), (0,), (1,), (0, 1))] == [0, 0.25, 0.5, 0.75]
    assert [sentence.text(s) for s in ((), (0,), (1,), (1, 0))] == ["a b", "x b", "a", "x"]


def test_conll13(shared, monkeypatch):
    """Spec 9.1: 1,122 sentences with edits, 3,412 edits, 4,532 texts to encode."""
    path = shared / "data" / "conll13_test" / "official_2013-preprocessed.m2"
    texts: set[str] = set()

    def stub(requests):
        (request,) = requests
        texts.update(text for pair in request.items for text in pair)
        lengths = [[1 - 0.001 * (1 + n % 97), 0] for n in range(len(request.items))]
        return [np.array(lengths)]

    monkeypatch.setattr(module, "answer", stub)
    rows = read_parallel(str(path))
    measured = measure_impacts(rows, "no encoder")
    assert (len(rows), len(measured)) == (1381, 1122)
    assert sum(len(sentence.edits) for sentence in measured) == 3412
    assert len(texts) == 4532
    counts = draw_pairs(measured).counts
    assert counts["draws"] == 30 * 1122
    assert counts["kept"] == 4096 <= counts["available"]
    assert 0.75 < counts["inclusion_share"] < 0.85
