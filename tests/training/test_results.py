"""Impacts by type, and the cross-domain table, by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import made_models
import made_training
from grammeter.core import Edit, UsageError
from grammeter.training import pairs as impacts_module
from grammeter.training import results as module
from grammeter.training.pairs import EditedSentence, Pair
from grammeter.training.results import Cell, Impacts, cross_test
from grammeter.verbs import train_cross_domain

SENTENCES = [
    EditedSentence("a b c", (Edit(0, 1, "x", "R"), Edit(2, 3, "", "U")), (0.25, 0.5), "f:1"),
    EditedSentence("d", (Edit(0, 0, "y", "M"),), (0.75,), "f:2"),
    EditedSentence("e", (Edit(0, 1, "z", "R"),), (0.125,), "f:3"),
]


def test_by_type():
    found = Impacts.of(SENTENCES).types
    assert [(row.type, row.count, row.mean, row.median) for row in found] == [
        ("M", 1, 0.75, 0.75),
        ("U", 1, 0.5, 0.5),
        ("R", 2, 0.1875, 0.1875),
    ]
    assert math.isnan(found[0].deviation)
    assert found[2].deviation == pytest.approx(0.0625 * math.sqrt(2))


def test_by_edit():
    found = Impacts.of(SENTENCES).edits
    assert [(e.impact, e.original, e.correction, e.source, e.origin) for e in found] == [
        (0.75, "", "y", "d", "f:2"),
        (0.5, "c", "", "a b c", "f:1"),
        (0.25, "a", "x", "a b c", "f:1"),
        (0.125, "e", "z", "e", "f:3"),
    ]


def test_an_impact_of_nothing_has_no_sign():
    (sentence,) = [EditedSentence("a", (Edit(0, 1, "A", "R"),), (-6e-8,), "f:1")]
    assert Impacts.of([sentence]).edits[0].impact == 0
    assert Impacts.of([sentence]).types[0].mean == 0


def test_nothing():
    assert Impacts.of([]) == Impacts((), ())


def pair(name: str, *, apart: bool) -> Pair:
    low = (0,) if apart else ()
    return Pair("test", name, f"low {name}", f"high {name}", low, (1,), 0.0, 1.0, "")


def test_the_cross_domain_table(monkeypatch):
    """Model ``p1`` prefers the better side always, ``p2`` never; ``q`` where the source is 1."""

    def stub(requests):
        def output(model, text):
            high, source = text.startswith("high"), text.split()[1]
            return float({"p1": high, "p2": not high}.get(model, high == (source == "1")))

        return [np.array([[output(r.model, text), 0] for text in r.items]) for r in requests]

    monkeypatch.setattr(module, "answer", stub)
    tests = {
        ("p", 1): [pair("1", apart=True), pair("2", apart=False)],
        ("p", 2): [pair("1", apart=False)],
        ("q", 1): [pair("1", apart=False), pair("2", apart=True), pair("3", apart=True)],
        ("q", 2): [pair("2", apart=True)],
    }
    models = {key: Path(f"p{key[1]}" if key[0] == "p" else "q") for key in tests}
    found = {(cell.trained, cell.tested): cell for cell in cross_test(models, tests)}
    assert [*found] == [("p", "p"), ("p", "q"), ("q", "p"), ("q", "q")]
    assert found["p", "p"].accuracies == (1.0, 0.0)
    assert found["p", "q"].accuracies == (1.0, 0.0)
    assert found["q", "p"].accuracies == (0.5, 1.0)
    assert found["q", "q"].accuracies == pytest.approx((1 / 3, 0.0))
    assert found["q", "q"].apart == (0.0, 0.0)
    assert found["p", "p"].apart[0] == 1.0
    assert math.isnan(found["p", "p"].apart[1])


def test_cells():
    cell = Cell("a", "b", (0.5, 0.7), (0.1, 0.2))
    assert cell.mean == pytest.approx(0.6)
    assert cell.interval[0] < 0.6 < cell.interval[1]
    assert np.isnan(Cell("a", "b", (0.5,), (0.1,)).interval).all()


def test_from_files(tmp_path, monkeypatch):
    """Two corpora, two seeds; data are measured once a corpus, finished models are kept."""
    encoder = made_models.encoder(tmp_path / "encoder")
    data = made_training.write_m2(tmp_path / "data.m2")
    half = tmp_path / "half.m2"
    half.write_text("\n\n".join(data.read_text("utf-8").split("\n\n")[:30]) + "\n", "utf-8")
    asked, own = [], impacts_module.answer
    monkeypatch.setattr(impacts_module, "answer", lambda r: asked.append(1) or own(r))

    def table(**changes):
        return train_cross_domain(
            {"whole": [data], "half": [half]},
            tmp_path / "out",
            encoder=str(encoder),
            epochs=1,
            batch_size=16,
            seeds=changes.pop("seeds", (1, 2)),
            pairs=40,
            **changes,
        ).cells

    cells = table()
    assert len(asked) == 2
    assert [(c.trained, c.tested, len(c.accuracies)) for c in cells] == [
        (one, other, 2) for one in ("whole", "half") for other in ("whole", "half")
    ]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "whole-1", "whole-2", "half-1", "half-2",
    }  # fmt: skip
    assert [cell.accuracies for cell in table()] == [cell.accuracies for cell in cells]
    assert len(asked) == 2
    with pytest.raises(UsageError, match="another run"):
        table(loss="logistic")


@pytest.mark.parametrize(
    ("corpora", "seeds"),
    [({}, (1,)), ({"a/b": ["x"]}, (1,)), ({"": ["x"]}, (1,)),
     ({"a": ["x"]}, ()), ({"a": ["x"]}, (1, 1))],
)  # fmt: skip
def test_wrong_usage(corpora, seeds, tmp_path):
    with pytest.raises(UsageError):
        train_cross_domain(corpora, tmp_path, seeds=seeds)
