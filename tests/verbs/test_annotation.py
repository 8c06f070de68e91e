"""M2 files made and compared from Python; the verb `edits` tests the rest."""

from __future__ import annotations

import pytest

import grammeter as gm
from fake_annotator import FakeAnnotator
from grammeter.core import DataError, Edit, LengthMismatchError, UsageError
from grammeter.formats import M2Block, M2File
from grammeter.verbs import _edits


@pytest.fixture(autouse=True)
def fake(monkeypatch):
    annotator = FakeAnnotator()
    monkeypatch.setattr(_edits.errant, "annotator", lambda *_, **__: annotator)
    return annotator


def test_extract_and_compare(tmp_path):
    sources = ["a b", "c d", ""]
    mine = gm.edits_extract(sources, [["a x", "c", ""]])
    theirs = gm.edits_extract(sources, [["a x", "c d", ""], ["a y", "c", ""]])
    assert [block.source for block in mine.blocks] == ["a b", "c d"]
    assert mine.notes == ("1 empty lines of orig are left out", "a fake pipeline")
    (tmp_path / "theirs.m2").write_text(theirs.text(), "utf-8")
    compared = gm.edits_compare(M2File(mine.blocks), tmp_path / "theirs.m2", cat=1)
    counts = compared.comparison.counts
    assert (counts.tp, counts.fp, counts.fn) == (2, 0, 0)
    assert [pairing.reference for pairing in compared.comparison.best] == [0, 1]
    assert (compared.faults, compared.notes) == ((), ())
    assert set(compared.to_dict()["types"]) == set(compared.by_type())


def test_every_distinct_pair_is_annotated_once(fake):
    gm.edits_extract(["a b", "a  b"], [["a x", "a x"], ["a x", "a y"]])
    assert fake.calls == [[("a b", "a x"), ("a b", "a y")]]


def test_unequal_texts_are_named_by_their_place():
    with pytest.raises(LengthMismatchError, match=r"cor\[1\]: 1 lines, but orig has 2"):
        gm.edits_extract(["a", "b"], [["a", "b"], ["a"]])


def test_convert_refuses_overlaps_with_the_sentence():
    block = M2Block("a b c", ((4, Edit(0, 2, "x")), (4, Edit(1, 1, "y"))))
    file = M2File((M2Block("a"), block))
    with pytest.raises(DataError, match="m2, sentence 2: annotator 4"):
        gm.edits_convert(file, redo="gold")
    assert "overlap" in gm.edits_convert(file, redo="gold", lenient=True).faults[0]


@pytest.mark.parametrize("options", [{"mode": "spans"}, {"cat": 4}, {"beta": 0}])
def test_compare_refuses_unknown_settings(options):
    file = M2File((M2Block("a"),))
    with pytest.raises(UsageError):
        gm.edits_compare(file, file, **options)
