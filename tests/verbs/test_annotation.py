"""M2 files made and compared from Python; the verb `edits` tests the rest."""

from __future__ import annotations

import pytest

from fake_annotator import FakeAnnotator
from grammeter.core import DataError, Edit, LengthMismatchError
from grammeter.errant import Rules
from grammeter.formats import M2Block, M2File
from grammeter.verbs._edits import compare_m2, convert_edits, extract_edits


def test_extract_and_compare():
    sources = ["a b", "c d", ""]
    mine = extract_edits(sources, [["a x", "c", ""]], FakeAnnotator())
    theirs = extract_edits(sources, [["a x", "c d", ""], ["a y", "c", ""]], FakeAnnotator())
    assert [block.source for block in mine] == ["a b", "c d"]
    result, notices = compare_m2(M2File(tuple(mine)), M2File(tuple(theirs)), Rules())
    assert (result.counts.tp, result.counts.fp, result.counts.fn) == (2, 0, 0)
    assert ([pairing.reference for pairing in result.best], notices) == ([0, 1], ())


def test_every_distinct_pair_is_annotated_once():
    fake = FakeAnnotator()
    extract_edits(["a b", "a  b"], [["a x", "a x"], ["a x", "a y"]], fake)
    assert fake.calls == [[("a b", "a x"), ("a b", "a y")]]


def test_unequal_texts_are_named_by_their_place():
    with pytest.raises(LengthMismatchError, match=r"corrected\[1\]: 1 lines, but sources has 2"):
        extract_edits(["a", "b"], [["a", "b"], ["a"]], FakeAnnotator())


def test_convert_refuses_overlaps_with_the_sentence():
    block = M2Block("a b c", ((4, Edit(0, 2, "x")), (4, Edit(1, 1, "y"))))
    with pytest.raises(DataError, match="m2, sentence 2: annotator 4"):
        convert_edits(M2File((M2Block("a"), block)), FakeAnnotator(), redo="gold")
