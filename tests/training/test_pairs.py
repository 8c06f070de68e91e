"""Pairs: what is promised of them, a slow twin, and what is counted."""

from __future__ import annotations

import json
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import made_training
from grammeter.core import DataError, Edit, UsageError, apply
from grammeter.training.pairs import (
    PAIRS,
    EditedSentence,
    Pair,
    accuracy,
    draw_pairs,
    pairs_of,
    pairs_text,
)


@st.composite
def corpora(draw):
    """Sentences over a tiny alphabet: repeated texts, edits that undo each other, equal impacts."""
    made = []
    for number in range(draw(st.integers(30, 45))):
        words = draw(st.lists(st.sampled_from("ab"), min_size=1, max_size=4))
        spans = sorted(draw(st.sets(st.integers(0, len(words) - 1), min_size=1)))
        edits = [Edit(at, at + 1, draw(st.sampled_from(["a", "b", "c", ""]))) for at in spans]
        edits = [edit for edit in edits if words[edit.start] != edit.correction]
        if edits:
            impacts = draw(
                st.lists(
                    st.sampled_from([0.0, 0.1, 0.2, 1e-9]),
                    min_size=len(edits),
                    max_size=len(edits),
                )
            )
            made.append(
                EditedSentence(" ".join(words), tuple(edits), tuple(impacts), f"made:{number}")
            )
    return made


def twin(sentences, size, seed):
    """Draw the same pairs, slowly: sets as bit strings, a list for what has been seen."""
    seen: list[tuple[str, str]] = []
    counts: Counter[str] = Counter()
    for number, sentence in enumerate(sentences):
        stream = random.Random(f"pairs {seed} {number}")
        n = len(sentence.edits)
        for _ in range(30):
            counts["draws"] += 1
            first = set(stream.sample(range(n), stream.randint(1, n)))
            second = {k for k in range(n) if (k in first) != (stream.random() < 1 / n)}
            sides = []
            for chosen in (first, second):
                words = apply(sentence.source.split(), [sentence.edits[k] for k in sorted(chosen)])
                impact = sum(sentence.impacts[k] for k in sorted(chosen))
                sides.append((impact, " ".join(words)))
            low, high = sides if sides[0][0] <= sides[1][0] else sides[::-1]
            if first == second:
                counts["equal_sets"] += 1
            elif high[0] - low[0] < 1e-6:
                counts["equal_impacts"] += 1
            elif low[1] == high[1]:
                counts["equal_texts"] += 1
            elif (low[1], high[1]) in seen or (high[1], low[1]) in seen:
                counts["repeated"] += 1
            else:
                seen.append((low[1], high[1]))
    return seen, counts


def drawn(sentences, **options):
    try:
        return draw_pairs(sentences, **options)
    except DataError:  # hypothesis likes corpora without a usable sentence
        return None


@settings(max_examples=40)
@given(corpora(), st.integers(0, 5))
def test_equals_the_slow_twin(sentences, seed):
    data = drawn(sentences, seed=seed, size=10**6)
    if data is None:
        return
    seen, counts = twin(sentences, 10**6, seed)
    assert {(pair.low, pair.high) for pair in data.pairs} <= set(seen)
    for name in ("draws", "equal_sets", "equal_texts", "equal_impacts", "repeated"):
        assert data.counts[name] == counts[name], name
    assert data.counts["available"] == len(seen)


@settings(max_examples=40)
@given(corpora(), st.integers(0, 5), st.integers(10, 200))
def test_what_is_promised(sentences, seed, size):
    data = drawn(sentences, seed=seed, size=size)
    if data is None:
        return
    assert len(data.pairs) <= size
    texts: set[frozenset[str]] = set()
    for pair in data.pairs:
        assert pair.low != pair.high
        assert pair.low_edits != pair.high_edits
        assert pair.high_impact - pair.low_impact > 1e-7
        texts.add(frozenset((pair.low, pair.high)))
    assert len(texts) == len(data.pairs)
    assert max(Counter(pair.source for pair in data.pairs).values()) <= 30
    sources = [
        {pair.source for pair in data.part(part)} for part in ("train", "validation", "test")
    ]
    assert all(sources)
    assert sum(map(len, sources)) == len(set().union(*sources))
    counts = data.counts
    dropped = ("equal_sets", "equal_texts", "equal_impacts", "repeated")
    thrown = sum(counts[name] for name in dropped)
    assert counts["draws"] == 30 * len(sentences) == thrown + counts["available"]
    assert counts["kept"] == len(data.pairs) <= counts["available"]
    assert counts["inclusion"] == sum(pair.inclusion for pair in data.pairs)


def test_a_sentence_with_one_edit_gives_source_and_correction():
    data = draw_pairs(made_training.sentences(), size=1000)
    single = {s.origin: s for s in made_training.sentences() if len(s.edits) == 1}
    found = [pair for pair in data.pairs if pair.origin in single]
    assert found
    for pair in found:
        assert (pair.low, pair.high) == (pair.source, single[pair.origin].text([0]))
        assert (pair.low_edits, pair.high_edits) == ((), (0,))
    assert data.counts["one_edit"] == len(found) == len({pair.origin for pair in found})


def test_parallel_only():
    data = draw_pairs(made_training.sentences(), parallel_only=True)
    by_origin = {s.origin: s for s in made_training.sentences()}
    assert data.counts["draws"] == 54
    for pair in data.pairs:
        whole = by_origin[pair.origin]
        assert (pair.low, pair.high) == (pair.source, whole.text(range(len(whole.edits))))
        assert pair.inclusion


def test_the_parts_are_eight_to_one_to_one():
    made = draw_pairs(made_training.sentences(), size=40)
    assert [len(made.part(part)) for part in ("train", "validation", "test")] == [32, 4, 4]


def test_seeds():
    made = made_training.sentences()
    assert draw_pairs(made, seed=3) == draw_pairs(made, seed=3)
    one, other = draw_pairs(made, seed=3), draw_pairs(made, seed=4)
    assert {p.source for p in one.part("test")} != {p.source for p in other.part("test")}


def test_two_annotators_of_one_sentence_stay_in_one_part():
    made = made_training.sentences()
    twice = [*made, *(EditedSentence(s.source, s.edits[:1], (0.3,), f"{s.origin}.1") for s in made)]
    data = draw_pairs(twice, size=10**6)
    parts: dict[str, set[str]] = {}
    for pair in data.pairs:
        parts.setdefault(pair.source, set()).add(pair.part)
    assert all(len(each) == 1 for each in parts.values())


def test_a_sentence_of_many_annotators_has_thirty_pairs_at_most():
    words = "a b c d e f g h"
    made = [
        EditedSentence(
            f"{words} {number}",
            tuple(Edit(at, at + 1, f"{annotator}{at}") for at in range(8)),
            tuple(0.01 * 2**at for at in range(8)),
            f"made:{number}.{annotator}",
        )
        for number in range(20)
        for annotator in range(4)
    ]
    data = draw_pairs(made, size=300, seed=3)
    assert len(data.pairs) == 300  # what one sentence may not have comes from others
    everything = draw_pairs(made, size=10**6, seed=3)
    counts = Counter(pair.source for pair in everything.pairs)
    assert everything.counts["available"] > 20 * 60
    assert set(counts.values()) == {30}
    assert len(set(everything.pairs)) == len(everything.pairs) == everything.counts["kept"]


@pytest.mark.parametrize("size", [0, -1, 9])
def test_too_few_wanted(size):
    with pytest.raises(UsageError, match="10"):
        draw_pairs(made_training.sentences(), size=size)


@pytest.mark.parametrize("count", [0, 1, 9])
def test_too_few_sentences(count):
    with pytest.raises(DataError, match="no pairs for"):
        draw_pairs(made_training.sentences()[:count])


@pytest.mark.parametrize("seed", range(12))
def test_too_few_pairs_of_enough_sentences(seed):
    """Nine pairs are not split 8:1:1, wherever they lie."""
    usable = [n % 4 != 0 for n in range(12)]
    sentences = [
        EditedSentence(f"a {n} c", (Edit(0, 1, "the"),), (float(some),), "x")
        for n, some in enumerate(usable)
    ]
    with pytest.raises(DataError, match=r"no pairs for .*: 9 in all"):
        draw_pairs(sentences, seed=seed)


def test_written_and_read(tmp_path):
    pairs = draw_pairs(made_training.sentences()).pairs
    (tmp_path / PAIRS).write_text(pairs_text(pairs))
    assert tuple(pairs_of(tmp_path)) == pairs
    first = json.loads(pairs_text(pairs).splitlines()[0])
    assert first["inclusion"] == pairs[0].inclusion


@pytest.mark.parametrize("line", ["", "[]", "{", '{"part": "train"}', "null", '"x"'])
def test_a_damaged_line(line, tmp_path):
    good = pairs_text(draw_pairs(made_training.sentences()).pairs[:1])
    (tmp_path / PAIRS).write_text(f"{good}{line}\n")
    with pytest.raises(DataError, match=r"pairs\.jsonl: the pairs cannot be read"):
        pairs_of(tmp_path)


@pytest.mark.parametrize(
    ("low", "high", "inclusion"),
    [((), (0,), True), ((1,), (0, 1), True), ((0,), (1,), False), ((0, 1), (1, 2), False)],
)
def test_inclusion(low, high, inclusion):
    assert Pair("train", "s", "l", "h", low, high, 0, 1, "").inclusion is inclusion
    assert Pair("train", "s", "l", "h", high, low, 0, 1, "").inclusion is inclusion


def test_accuracy():
    assert accuracy(np.array([0.0, 1, 2]), np.array([1.0, 1, 3])) == pytest.approx(2 / 3)
    assert np.isnan(accuracy(np.array([]), np.array([])))
