"""Merging: against a slow twin, against package errant, and each rule by hand."""

from __future__ import annotations

from itertools import groupby, pairwise
from random import Random
from string import punctuation

import pytest
from hypothesis import given
from made_up import PAIRS, pairs, random_pair, sentence

from grammeter.errant.align import Aligner, Change
from grammeter.errant.languages import is_decided_by_changes, merge
from grammeter.errant.tokens import Tokens, split

Indel = pytest.importorskip("rapidfuzz.distance", reason="extra errant is missing").Indel
ALIGNER = Aligner()
STRATEGIES = ("rules", "all-split", "all-merge", "all-equal")


def twin(changes, source: Tokens, target: Tokens):
    """Apply the rules to all windows again for each part, with no memory of the others."""

    def join(part):
        return [(part[0][1], part[-1][2], part[0][3], part[-1][4])] if part else []

    def letters(tokens):
        return "".join(token[1] for token in tokens).replace("-", "").replace("'", "")

    def rows(side, start, end):
        return list(zip(side.texts, side.lowers, side.pos, side.tags, strict=True))[start:end]

    def alike(one, other):
        return 1 - Indel.normalized_distance(one[0], other[0]) > 0.75

    def cut(part, low, high):
        """Say which changes of a window are merged, by the first rule that fires."""
        window = part[low : high + 1]
        old, new = (
            rows(source, window[0][1], window[-1][2]),
            rows(target, window[0][3], window[-1][4]),
        )
        both = (old, new)
        if low == 0 and any(side[0][3] == "POS" for side in both):
            return 1, 1
        if any(side[-1][3] == "POS" for side in both):
            return high - 1, high + 1
        if old[-1][1] == new[-1][1]:
            for short, long in ((old, new), (new, old)):
                if low == 0 and len(short) == 1 and long[0][0][0].isupper():
                    return 0, high + 1
            for side in both:
                if len(side) > 1 and (side[-2][2] == "PUNCT" or side[-2][0] in punctuation):
                    return high - 1, high + 1
        classes = {token[2] for token in old + new}
        verbal = classes <= {"AUX", "PART", "VERB"}
        if letters(old) == letters(new):
            return low, high + 1
        if len(old) != len(new) and (len(classes) == 1 or verbal):
            return low, high + 1
        if high - low > 1:
            return None
        if (
            len(old) == len(new) == 2
            or (window[0][0] == "S" and alike(old[0], new[0]))
            or (window[1][0] == "S" and alike(old[-1], new[-1]))
        ):
            return high, high
        kind = window[1][0]
        if high == len(part) - 1 and (
            (kind in "DS" and old[-1][2] == "DET") or (kind in "IS" and new[-1][2] == "DET")
        ):
            return high, high
        return None

    def treat(part):
        kinds = "".join(change[0] for change in part)
        if len(part) < 2 or set(kinds) in ({"D"}, {"I"}):
            return join(part)
        for width in range(len(part) - 1, 0, -1):
            for low in range(len(part) - width):
                if "S" in kinds[low : low + width + 1] and (at := cut(part, low, low + width)):
                    left, right = at
                    return treat(part[:left]) + join(part[left:right]) + treat(part[right:])
        (whole,) = join(part)
        classes = {*source.pos[whole[0] : whole[1]], *target.pos[whole[2] : whole[3]]}
        if "S" in kinds and classes & {"ADJ", "ADV", "AUX", "NOUN", "VERB"}:
            return [whole]
        return [span for change in part for span in join([change])]

    groups, last = [[]], (0, 0)
    for change in changes:
        if groups[-1] and (change[1], change[3]) != last:
            groups.append([])
        groups[-1].append(change)
        last = (change[2], change[4])
    spans = []
    for group in groups:
        for transposed, part in groupby(group, lambda change: change[0] == "T"):
            part = list(part)
            spans += [join([one])[0] for one in part] if transposed else treat(part)
    return spans


@given(pairs)
def test_equals_the_slow_twin(pair):
    changes = ALIGNER.align(*pair)
    assert merge(changes, *pair) == twin([tuple(c) for c in changes], *pair)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_equals_the_package(strategy):
    package = pytest.importorskip("errant_package")
    for seed in range(PAIRS):
        pair = random_pair(Random(seed))
        result = merge(ALIGNER.align(*pair), *pair, strategy)
        assert result == package.spans(package.edits(*pair, strategy)), seed


@given(pairs)
def test_changes_alone_decide_where_it_says_so(pair):
    changes = ALIGNER.align(*pair)
    bare = tuple(split(" ".join(side.texts)) for side in pair)
    for strategy in STRATEGIES:
        if is_decided_by_changes(changes, strategy):
            assert merge(changes, *bare, strategy) == merge(changes, *pair, strategy)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        # suffixes of the possessive stay with their noun
        (sentence("friends"), sentence("friend 's", tags="NN POS"), ["friends -> friend 's"]),
        # case shows what belongs together
        (sentence("Cat", "x"), sentence("The big cat", "y y z"), ["Cat -> The big cat"]),
        (
            sentence("so , we", pos="ADV PUNCT PRON"),
            sentence("so . We", pos="ADV PUNCT PRON"),
            [", we -> . We"],
        ),
        # white space, hyphens, apostrophes
        (sentence("acat sat"), sentence("a cat sat"), ["acat -> a cat"]),
        (sentence("sub - way"), sentence("subway"), ["sub - way -> subway"]),
        # one class, or verbs and what helps them
        (
            sentence("to eat", "to eat", "PART VERB"),
            sentence("eating", "eat", "VERB"),
            ["to eat -> eating"],
        ),
        (sentence("car", pos="NOUN"), sentence("motor vehicle"), ["car -> motor vehicle"]),
        # neighbouring substitutions stand alone
        (
            sentence("big dogs", pos="ADJ NOUN"),
            sentence("small cats", pos="ADJ NOUN"),
            ["big -> small", "dogs -> cats"],
        ),
        # a similar word is not drawn into an insertion
        (
            sentence("informations", pos="NOUN"),
            sentence("the information", pos="DET NOUN"),
            [" -> the", "informations -> information"],
        ),
        # a final determiner stands alone
        (
            sentence("go", pos="VERB"),
            sentence("come the", pos="VERB DET"),
            ["go -> come", " -> the"],
        ),
        # without a content word nothing is merged
        (
            sentence("of", pos="ADP"),
            sentence("in the", pos="ADP PRON"),
            ["of -> in", " -> the"],
        ),
    ],
)
def test_by_hand(source, target, expected):
    spans = merge(ALIGNER.align(source, target), source, target)
    written = [
        f"{' '.join(source.texts[s.start : s.end])} -> "
        f"{' '.join(target.texts[s.target_start : s.target_end])}"
        for s in spans
    ]
    assert written == expected


def test_strategies_by_hand():
    source, target = split("a b c x y z"), split("d e x z z z y")
    changes = [
        Change("S", 0, 1, 0, 1),
        Change("S", 1, 2, 1, 2),
        Change("D", 2, 3, 2, 2),
        Change("I", 4, 4, 3, 4),
        Change("I", 4, 4, 4, 5),
        Change("T", 4, 6, 5, 7),
    ]
    spans = {strategy: merge(changes, source, target, strategy) for strategy in STRATEGIES[1:]}
    assert spans == {
        "all-split": [change[1:] for change in changes],
        "all-merge": [(0, 3, 0, 2), (4, 6, 3, 7)],
        "all-equal": [(0, 2, 0, 2), (2, 3, 2, 2), (4, 4, 3, 5), (4, 6, 5, 7)],
    }


def test_a_rewritten_long_sentence():
    source = sentence(" ".join(f"x{at}" for at in range(300)))
    target = sentence(" ".join(f"{at}y" for at in range(310)))
    spans = merge(ALIGNER.align(source, target), source, target)
    assert (spans[0].start, spans[0].target_start) == (0, 0)
    assert (spans[-1].end, spans[-1].target_end) == (300, 310)
    for one, next_ in pairwise(spans):
        assert (one.end, one.target_end) == (next_.start, next_.target_start)
