"""The corpus: what is parallel, what is refused, JSON there and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError, Edit, GoldEdits, LengthMismatchError, UnknownNameError
from grammeter.formats.corpus import Corpus

TEXTS = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=5)


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    size = draw(st.integers(1, 3))
    column = st.lists(TEXTS, min_size=size, max_size=size)
    sources = draw(column)
    references: list[list[str | None]] = [[*texts] for texts in draw(st.lists(column, max_size=3))]
    if len(references) > 1:
        references[1][0] = None
    gold = [draw(gold_of(source)) for source in sources]
    return Corpus(
        sources=sources,
        references=references,
        systems=draw(st.dictionaries(TEXTS, column, max_size=2)),
        gold=gold if draw(st.booleans()) else [],
        text_rule=draw(TEXTS),
        normalisation=draw(st.none() | st.just("NFC")),
    )


def gold_of(source: str) -> st.SearchStrategy[GoldEdits]:
    spans = st.tuples(*[st.integers(0, len(source.split()))] * 2).map(sorted)
    edits = st.builds(
        lambda span, *rest: Edit(*span, *rest),
        spans,
        TEXTS,
        TEXTS,
        st.lists(TEXTS, max_size=2).map(tuple),
    )
    return st.dictionaries(
        st.integers(0, 3), st.lists(edits, max_size=2).map(tuple), min_size=1, max_size=2
    )


@given(corpora())
def test_json_round_trip(corpus: Corpus) -> None:
    data = json.loads(json.dumps(corpus.to_dict()))
    read = Corpus.from_dict(data)
    assert read.to_dict() == corpus.to_dict()
    assert [*read.gold] == [*corpus.gold]
    assert (read.text_rule, read.normalisation) == (corpus.text_rule, corpus.normalisation)
    assert {s: [*texts] for s, texts in read.systems.items()} == corpus.systems


@pytest.fixture
def corpus() -> Corpus:
    return Corpus(
        sources=["a b", "c"],
        references=[["a", None], ["b", "c"]],
        systems={"A": ["x", "y"], "B": ["a b", "c"]},
        gold=[{0: (Edit(0, 1, "z"),)}, {0: (), 1: ()}],
    )


def test_segments_hold_what_belongs_to_a_sentence(corpus: Corpus) -> None:
    first, second = corpus.segments("A")
    assert (first.source, first.hypothesis, first.references) == ("a b", "x", ("a", "b"))
    assert (second.references, second.texts) == ((None, "c"), ["c"])
    assert second.gold == {0: (), 1: ()}


def test_segments_of_a_sentence_share_their_targets(corpus: Corpus) -> None:
    for one, other in zip(corpus.segments("A"), corpus.segments("B"), strict=True):
        assert one.gold is other.gold
        assert one.references is other.references


def test_sentences_never_share_gold_even_if_they_were_given_one_object() -> None:
    nothing: GoldEdits = {0: ()}
    corpus = Corpus(sources=["a", "b"], gold=[nothing] * 2, systems={"A": ["a", "b"]})
    first, second = corpus.segments("A")
    assert first.gold is not second.gold


def test_unknown_system(corpus: Corpus) -> None:
    with pytest.raises(UnknownNameError, match="unknown system 'C'"):
        corpus.segments("C")


def test_arrays_are_lists_too() -> None:
    corpus = Corpus(sources=np.array(["a", "b"]), systems={"A": np.array(["c", "d"])})  # type: ignore[arg-type]
    assert [segment.hypothesis for segment in corpus.segments("A")] == ["c", "d"]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"references": [["a"]]}, r"references\[0\]: 1 lines, but source has 2"),
        ({"references": [["a"] * 3]}, r"references\[0\]: 3 lines, but source has 2"),
        ({"systems": {"A": ["a"]}}, r"systems\[A\]: 1 lines, but source has 2"),
        ({"systems": {"A": ["a", "b", ""]}}, r"systems\[A\]: 3 lines, but source has 2"),
        ({"systems": {"A": []}}, r"systems\[A\]: 0 lines"),
        ({"gold": [{0: ()}]}, "gold: 1 lines, but source has 2"),
    ],
)
def test_unequal_lengths(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(LengthMismatchError, match=message) as caught:
        Corpus(sources=["a", "b"], **parts)
    assert caught.value.exit_code == 3


def test_origins_stand_in_messages() -> None:
    origins = {"source": "src.txt", "systems[A]": "out/A.txt"}
    with pytest.raises(LengthMismatchError, match=r"out/A\.txt: 1 lines, but src\.txt has 2"):
        Corpus(sources=["a", "b"], systems={"A": ["a"]}, origins=origins)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"sources": []}, "source: there is no sentence"),
        ({"sources": "a b"}, "source: one text where a list"),
        ({"sources": None}, "source: NoneType where a list"),
        ({"sources": ["a", 3]}, "source:2: int 3 where a line of text"),
        ({"sources": ["a", None]}, "source:2: NoneType None where a line"),
        ({"sources": [b"a"]}, "source:1: bytes b'a' where a line"),
        ({"sources": ["a", "b\nc"]}, "source:2: a line end in 'b"),
        (
            {"sources": ["a", "\ud800"]},
            r"source:2: this sentence holds U\+D800",
        ),
        ({"systems": {"A": ["a", "\udfff"]}}, r"systems\[A\]:2: this sentence holds U\+DFFF, half"),
        ({"systems": {"A": "ab"}}, r"systems\[A\]: one text where a list"),
        ({"systems": {"A": ["a", None]}}, r"systems\[A\]:2: NoneType"),
        ({"systems": [["a", "b"]]}, "systems: list where outputs by name belong"),
        ({"references": "ab"}, "references must be a list of references"),
        ({"references": ["a", "b"]}, "references must be a list of references"),
        ({"references": None}, "references must be a list of references"),
        ({"references": [None]}, r"references\[0\]: NoneType where a list"),
        ({"references": [["a", 1.5]]}, r"references\[0\]:2: float 1.5 where a line"),
        (
            {"references": [["a", None]], "unjudged": "error"},
            ":2: this sentence cannot be judged: no",
        ),
        ({"gold": [{0: ()}, {}], "unjudged": "error"}, "source:2: this sentence cannot be judged"),
        (
            {"sources": ["", "b"], "unjudged": "error"},
            "source:1: .* cannot be judged: empty source",
        ),
        ({"gold": [{0: ()}, {0: (Edit(0, 2, "x"),)}]}, "sentence 2: edit 0 2 lies outside its"),
        ({"gold": [{0: (Edit(-1, 0, "x"),)}, {0: ()}]}, "sentence 1: edit -1 0 lies outside"),
    ],
)
def test_what_is_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        Corpus(**({"sources": ["a", "b"]} | parts))
    assert caught.value.exit_code == 3
    assert caught.value.fix


def test_transposed_references_are_told_from_short_ones() -> None:
    by_sentence = [["r0", "r1"], ["r0", "r1"], ["r0", "r1"]]
    with pytest.raises(DataError, match="references\\[0\\]: 2 lines, but source has 3"):
        Corpus(sources=["a", "b", "c"], references=by_sentence)
    assert len(Corpus(sources=["a", "b"], references=by_sentence)) == 2


def test_odd_unicode_is_text() -> None:
    odd = "a\u2028b\u0085c\u200f\u202e😀e\u0301\x00\t\r"
    corpus = Corpus(sources=[odd], systems={"A": [odd]})
    assert corpus.segments("A")[0].hypothesis == odd


@pytest.mark.parametrize(
    "change",
    [
        {"sources": None},
        {"gold": [{"first": []}]},
        {"gold": [{"0": [[0, 1]]}]},
        {"gold": 3},
        {"systems": None},
        {"sources": "text"},
    ],
)
def test_damaged_json(corpus: Corpus, change: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        Corpus.from_dict(corpus.to_dict() | change)
    with pytest.raises(DataError, match="damaged corpus: KeyError"):
        Corpus.from_dict({})
