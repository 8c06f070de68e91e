"""Alignment: against a slow twin, against package errant, and by hand."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import PAIRS, pairs, random_pair, sentence

from grammeter.errant.align import Aligner, Change, region
from grammeter.errant.tokens import Tokens, split

Indel = pytest.importorskip("rapidfuzz.distance", reason="extra errant is missing").Indel
WEIGHTED, EVEN = Aligner(), Aligner(lev=True)


def twin(source: Tokens, target: Tokens, *, lev: bool = False) -> list[Change]:
    """Fill the whole matrix with (cost, change) cells, straight from the definition."""

    def substitution(i, j):
        if lev or source.lowers[i] == target.lowers[j]:
            return float(lev)
        cost = 0 if source.lemmas[i] == target.lemmas[j] else 0.499
        classes = {source.pos[i], target.pos[j]}
        if len(classes) == 2:
            cost += 0.25 if classes <= {"ADJ", "ADV", "NOUN", "VERB"} else 0.5
        return cost + Indel.normalized_distance(source.texts[i], target.texts[j])

    def transpositions(i, j):
        for size in range(1, min(i, j) + 1):
            start = cells[i - size, j - size][0]
            if cells[i - size + 1, j - size + 1][0] == start:
                return
            ours = sorted(source.lowers[i - size : i + 1])
            if ours == sorted(target.lowers[j - size : j + 1]):
                yield start + size, Change("T", i - size, i + 1, j - size, j + 1)
                return

    cells = {(0, 0): (0.0, None)}
    for i in range(len(source)):
        cells[i + 1, 0] = (i + 1.0, Change("D", i, i + 1, 0, 0))
    for j in range(len(target)):
        cells[0, j + 1] = (j + 1.0, Change("I", 0, 0, j, j + 1))
    for i in range(len(source)):
        for j in range(len(target)):
            if source.texts[i] == target.texts[j]:
                match = ("M", i, i + 1, j, j + 1)
                cells[i + 1, j + 1] = (cells[i, j][0], match)
                continue
            choices = [] if lev else list(transpositions(i, j))
            swap = Change("S", i, i + 1, j, j + 1)
            choices.append((cells[i, j][0] + substitution(i, j), swap))
            choices.append((cells[i + 1, j][0] + 1, Change("I", i + 1, i + 1, j, j + 1)))
            choices.append((cells[i, j + 1][0] + 1, Change("D", i, i + 1, j + 1, j + 1)))
            cells[i + 1, j + 1] = min(choices, key=lambda choice: choice[0])
    at, result = (len(source), len(target)), []
    while at != (0, 0):
        step = cells[at][1]
        result.append(step)
        at = (step[1], step[3])
    return [step for step in reversed(result) if step[0] != "M"]


@given(pairs)
def test_equals_the_slow_twin(pair):
    assert WEIGHTED.align(*pair) == twin(*pair)
    assert EVEN.align(*pair) == twin(*pair, lev=True)


@pytest.mark.parametrize("lev", [False, True])
def test_equals_the_package(lev):
    package = pytest.importorskip("errant_package")
    aligner = Aligner(lev=lev, cost_limit=500)  # small, so that costs are forgotten all the time
    for seed in range(PAIRS):
        source, target = random_pair(Random(seed), longest=9 if seed % 4 else 18)
        result = [tuple(change) for change in aligner.align(source, target)]
        assert result == package.changes(source, target, lev=lev), seed


@given(pairs)
def test_words_alone_decide_where_it_says_so(pair):
    bare = tuple(split(" ".join(side.texts)) for side in pair)
    for aligner in (WEIGHTED, EVEN):
        if aligner.is_decided_by_words(*bare):
            assert aligner.align(*bare) == aligner.align(*pair)


def rebuilt(changes, source, target):
    made, done = [], 0
    for change in changes:
        made += source.texts[done : change.start]
        made += target.texts[change.target_start : change.target_end]
        done = change.end
    return (*made, *source.texts[done:])


@given(pairs)
def test_changes_turn_the_source_into_the_target(pair):
    for aligner in (WEIGHTED, EVEN):
        assert rebuilt(aligner.align(*pair), *pair) == pair[1].texts


@given(st.lists(st.sampled_from("abA"), max_size=6), st.lists(st.sampled_from("abA"), max_size=6))
def test_region_leaves_out_equal_tokens_only(source, target):
    start, source_end, target_end = region(source, target)
    assert source[:start] == target[:start]
    assert source[source_end:] == target[target_end:]
    left, right = source[start:source_end], target[start:target_end]
    assert not left or not right or (left[0] != right[0] and left[-1] != right[-1])


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("", "", []),
        ("a b", "a b", []),
        ("", "a b", [("I", 0, 0, 0, 1), ("I", 0, 0, 1, 2)]),
        ("a b", "", [("D", 0, 1, 0, 0), ("D", 1, 2, 0, 0)]),
        # the last "more" is the one that stays
        ("more and more", "more", [("D", 0, 1, 0, 0), ("D", 1, 2, 0, 0)]),
        ("x more and more y", "x more y", [("D", 1, 2, 1, 1), ("D", 2, 3, 1, 1)]),
        # into the equal beginning, by a change of case
        ("the THE", "the", [("D", 0, 1, 0, 0), ("S", 1, 2, 0, 1)]),
        ("the", "the THE", [("I", 0, 0, 0, 1), ("S", 0, 1, 1, 2)]),
        ("a b c", "c a b", [("T", 0, 3, 0, 3)]),
        # no transposition across a match
        ("a b c", "c b a", [("S", 0, 1, 0, 1), ("S", 2, 3, 2, 3)]),
        ("only can go", "can Only go", [("T", 0, 2, 0, 2)]),
        ("The cat", "the cat", [("S", 0, 1, 0, 1)]),
    ],
)
def test_by_hand(source, target, expected):
    result = WEIGHTED.align(sentence(source), sentence(target))
    assert [tuple(change) for change in result] == expected


def test_lev_neither_transposes_nor_looks_at_case():
    result = EVEN.align(split("a b c THE"), split("b a c the"))
    assert [change.kind for change in result] == ["S", "S", "S"]
    assert [change.kind for change in EVEN.align(split("the THE"), split("the"))] == ["D"]


def test_lemma_and_class_weigh():
    near = sentence("eating", "eat", "VERB")
    far = sentence("dog eat", "dog eat", "NOUN VERB")
    assert [c.kind for c in WEIGHTED.align(near, far)] == ["I", "S"]
    assert WEIGHTED.align(near, far)[1][1:] == (0, 1, 1, 2)


def test_costs_are_forgotten_when_they_are_many():
    aligner, draw = Aligner(cost_limit=1000), Random(1)
    for _ in range(20):
        words = ["".join(draw.choices("abcdefgh", k=6)) for _ in range(60)]
        half = len(words) // 2
        aligner.align(sentence(" ".join(words[:half])), sentence(" ".join(words[half:])))
        assert sum(len(row) for row in aligner._costs._rows) <= 1000 + half * half


def test_a_rewritten_long_sentence():
    source = sentence(" ".join(f"x{at}" for at in range(300)))
    target = sentence(" ".join(f"y{at}" for at in range(300)))
    assert [c.kind for c in WEIGHTED.align(source, target)] == ["S"] * 300
    backwards = sentence(" ".join(reversed(source.texts)))
    assert rebuilt(WEIGHTED.align(source, backwards), source, backwards) == backwards.texts
