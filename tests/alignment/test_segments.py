"""The edits that segments need: gold ones as they stand, others extracted once."""

import pytest

from grammeter.alignment.chunks import segment_edits
from grammeter.core import DataError, Edit, Segment, reference_texts

GOLD = {3: (Edit(0, 1, "b"),)}


class Extractor:
    """Makes one edit of each pair, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, pairs):
        self.asked.append(list(pairs))
        return [[Edit(0, 1, target)] for _, target in pairs]


def test_gold_edits_stand_as_they_are():
    extract = Extractor()
    (result,) = segment_edits([Segment("a", "c", ("x",), GOLD)], extract)
    assert result.gold is GOLD
    assert result.proposed == (Edit(0, 1, "c"),)
    assert extract.asked == [[("a", "c")]]


def test_without_gold_edits_are_extracted_from_the_texts_there_are():
    (result,) = segment_edits([Segment("a", "c", ("x", None, "y"))], Extractor())
    assert result.gold == {0: (Edit(0, 1, "x"),), 2: (Edit(0, 1, "y"),)}


def test_each_pair_is_asked_for_once():
    extract = Extractor()
    segments = [Segment("a", "c", ("x", "c")), Segment("a", "d", ("x",)), Segment("b", "c", ("x",))]
    assert len(segment_edits(segments, extract)) == 3
    assert extract.asked == [[("a", "c"), ("a", "x"), ("a", "d"), ("b", "c"), ("b", "x")]]


@pytest.mark.parametrize("references", [(), (None, None)])
def test_nothing_to_hold_it_against(references):
    with pytest.raises(DataError, match="neither gold edits nor a reference for 'a'"):
        segment_edits([Segment("a", "c", references)], Extractor())


def test_no_segments():
    assert segment_edits([], Extractor()) == []


def test_reference_texts_are_taken_once_for_each_line():
    shared, other = ("b", None, "a"), ("a",)
    segments = [Segment("s", "x", shared), Segment("s", "y", shared), Segment("t", "x", other)]
    assert reference_texts(segments) == ("a", "a", "b")
    assert reference_texts([]) == ()
