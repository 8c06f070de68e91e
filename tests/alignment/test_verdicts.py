"""Verdicts on chunks: the authors' kinds and weights, and examples by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from chunk_targets import (
    changes_of,
    read_json,
    references_of,
    sentence,
    sentences,
    targets_of,
)
from grammeter.alignment.chunks import ChunkedSentence, ordered
from grammeter.alignment.verdicts import (
    CURVES,
    FN,
    FP_NE,
    FP_UN,
    KINDS,
    TN,
    TOGETHER,
    TP,
    chunk_grid,
    competing,
    counts_by_length,
    each_version,
    judge,
    judged_edits,
    length_weight,
    similarity_sums,
    trials,
)

LETTERS = "TWOU."  # of the goldens, in the order of KINDS


def judged_of(target, *, together=False, detection=False, changed_only=False):
    sentence, hypothesis = target
    remaining = competing(sentence, changed_only=changed_only)
    if together:
        return judge(sentence.source, hypothesis, remaining, detection=detection, together=True)
    return judge(sentence.source, hypothesis, remaining, detection=detection)


def bag(pairs):
    """F1 of two bags of words: the similarity by which the goldens test weights exactly."""
    result = []
    for a, b in pairs:
        first, second = Counter(a.split()), Counter(b.split())
        size = first.total() + second.total()
        result.append(2 * (first & second).total() / size if size else 1.0)
    return result


def weighed(judged, similarity, *, unmoved):
    """Weigh by a similarity that is asked for all pairs at once."""
    pairs = trials(judged)
    similarities = dict(zip(pairs, similarity(pairs), strict=True))
    return similarity_sums(judged, similarities, unmoved=unmoved)


@pytest.fixture(params=["edge", "hypA", "hypB", "hypC"])
def golden(request, shared):
    """Targets and what THUKElab/CLEME e90abea makes of them."""
    cleme, data = shared / "golden" / "cleme", shared / "golden" / "neural" / "data"
    if request.param == "edge":
        paths, result = (cleme / "edge_hyp.m2", cleme / "edge_ref.m2"), "edge.json.gz"
    else:
        paths = data / f"{request.param}.m2", data / "reference.m2"
        result = f"tiny_{request.param}.json.gz"
    return targets_of(paths[0], references_of(paths[1])), read_json(cleme / result)["figures"]


@pytest.mark.parametrize("assumption", ["dep", "ind"])
def test_kinds_are_the_authors(golden, assumption):
    targets, figures = golden
    for target, row in zip(targets, figures[assumption]["sentences"], strict=True):
        judged = judged_of(target, together=assumption == "ind")
        kinds = ["".join(LETTERS[kind] for kind in item.kinds) for item in judged]
        assert kinds == [item["kinds"] for item in row]


@pytest.mark.parametrize("assumption", ["dep", "ind"])
def test_similarity_weights_are_the_authors(golden, assumption):
    targets, figures = golden
    compared = 0
    for target, row in zip(targets, figures[assumption]["cleme2_sentences_bag"], strict=True):
        judged = judged_of(target, together=assumption == "ind")
        if assumption == "ind":
            judged = each_version(judged[0], competing(target[0], changed_only=False))
        for item, theirs in zip(judged, row, strict=True):
            mine = weighed(item, bag, unmoved=0)
            assert mine == pytest.approx(theirs["bag"][:5], abs=2e-6)
            assert set(map(int, theirs["weights"])) == {
                number for number, kind in enumerate(item.kinds) if kind != TN
            }
            compared += 1
    assert compared >= len(targets)


def test_all_kinds_by_hand():
    # hit, wrong, over-correction, miss, kept; one token between each
    target = (
        sentence("a b c d e f g", [(0, 1, "x"), (2, 3, "y"), (6, 7, "z")]),
        changes_of("a b c d e f g", (0, 1, "x"), (2, 3, "w"), (4, 5, "v")),
    )
    (judged,) = judged_of(target)
    assert judged.kinds == [TP, TN, FP_NE, TN, FP_UN, TN, FN]
    (detected,) = judged_of(target, detection=True)
    assert detected.kinds == [TP, TN, TP, TN, FP_UN, TN, FN]
    assert [
        (j.edit.start, j.edit.end, j.edit.correction, j.original, j.verdict)
        for j in judged_edits(judged)
    ] == [
        (0, 1, "x", "a", "matched"),
        (2, 3, "w", "c", "spurious"),
        (4, 5, "v", "e", "spurious"),
        (6, 7, "z", "g", "missed"),
    ]
    assert chunk_grid(judged).rows == (
        ("0:1", "a", "x", "x", "tp"),
        ("2:3", "c", "w", "y", "fp_ne"),
        ("4:5", "e", "v", "e", "fp_un"),
        ("6:7", "g", "g", "z", "fn"),
    )


def test_together_a_chunk_may_follow_any_reference_and_all_must_miss():
    source = "a b c d e"
    target = (
        sentence(source, [(0, 1, "x"), (4, 5, "z")], [(2, 3, "y"), (4, 5, "w")]),
        changes_of(source, (0, 1, "x"), (2, 3, "y")),
    )
    (judged,) = judged_of(target, together=True)
    assert (judged.label, judged.versions) == (TOGETHER, (1, 2))
    assert judged.kinds == [TP, TN, TP, TN, FN]
    assert [item.kinds for item in judged_of(target)] == [
        [TP, TN, FP_UN, TN, FN],
        [FP_UN, TN, TP, TN, FN],
    ]
    only_one_changes = (target[0], changes_of(source, (4, 5, "z")))
    assert judged_of(only_one_changes, together=True)[0].kinds == [TN, TN, TN, TN, TP]


def test_lengths():
    source = "a b c d e f"
    target = (
        sentence(source, [(0, 1, "x y"), (2, 2, "z"), (4, 6, "")]),
        changes_of(source, (0, 1, "x y")),
    )
    (judged,) = judged_of(target)
    assert judged.kinds == [TP, TN, FN, TN, FN]
    assert counts_by_length(judged) == {
        ("tp", 2): 1,
        ("fn", 0): 1,  # a missed insertion has no token in source or hypothesis
        ("fn", 2): 1,
        ("tn", -1): 2,
        ("changed", -1): 3,
        ("length", -1): 2 + 1 + 2,
    }


def test_length_weights_by_hand():
    # at the average length the formula gives 1, above and below it approaches alpha and 0
    for (constants, _), curves in CURVES.items():
        assert length_weight(curves, FP_UN, 0) == 1
        assert length_weight(curves, FN, 0) == 1
        assert length_weight(curves, TP, 1000) == (1.25 if constants == "length-corpus" else 10)
        assert length_weight(curves, FP_NE, 1000) == (
            0.75 if constants == "length-corpus" else 0.25
        )
    mild, plain = CURVES["length-corpus", "dependent"], CURVES["length-sentence", "dependent"]
    assert length_weight(mild, TP, 0.2) == pytest.approx(2 / (1 + 0.8187307530779818))
    assert length_weight(mild, FN, -9) == 0.75
    assert length_weight(mild, FP_UN, -9) == 1.25
    assert length_weight(plain, FN, 5) == length_weight(plain, FN, -5) == 1
    assert CURVES["length-sentence", "independent"][0].low == 2.5


def test_similarity_weights_by_hand():
    source = "a b c d"
    target = (
        sentence(source, [(0, 1, "x"), (2, 3, "y z")]),
        changes_of(source, (0, 1, "x"), (3, 4, "a")),
    )
    requests = []

    def similarity(pairs):
        requests.append(pairs)
        return [{"a b c d": 0.5, "x b c d": 0.75, "a b y z a": 0.4, "a b y z d": 0.9}[x]
                for x, _ in pairs]  # fmt: skip

    (judged,) = judged_of(target)
    assert judged.kinds == [TP, TN, FP_NE]  # 2:3 and 3:4 touch
    assert judged.chunks[2].texts == (("c", "a"), ("y", "z", "d"))
    with pytest.raises(KeyError):  # the hypothesis' text is tried, not the reference's
        weighed(judged, similarity, unmoved=0)
    assert requests[0] == [(text, "x b y z d") for text in ("a b c d", "x b c d", "a b c a")]

    (missed,) = judged_of((target[0], ()))
    assert missed.kinds == [FN, TN, FN, TN]
    sums = weighed(missed, similarity, unmoved=0)
    assert sums == pytest.approx([0, 0, 0, 0.25 + 0.4, 2])
    assert len(requests[1]) == 3


def test_a_chunk_that_moves_nothing():
    target = sentence("a b", [(0, 1, "x")]), changes_of("a b", (0, 2, ""))
    (judged,) = judged_of(target)
    assert judged.kinds == [FP_NE]
    # nothing is left of the sentence: it counts as the source
    assert weighed(judged, bag, unmoved=0) == [0, 0, 0, 0, 0]
    assert weighed(judged, bag, unmoved=1) == [0, 1, 0, 0, 0]


@pytest.mark.parametrize(("difference", "weight"), [(1e-7, 1), (2e-6, 2e-6)])
def test_the_noise_of_single_precision_moves_nothing(difference, weight):
    target = sentence("a b c", [(0, 1, "x")]), changes_of("a b c", (2, 3, "d"))
    (judged,) = judged_of(target)
    assert judged.kinds == [FN, TN, FP_UN]
    source, missed, moved = trials(judged)
    similarities = {source: 0.5, missed: 0.9, moved: 0.5 - difference}
    sums = similarity_sums(judged, similarities, unmoved=1)
    assert sums[FP_UN] == pytest.approx(weight)


@pytest.mark.parametrize(
    ("references", "changed_only", "remaining"),
    [
        ([[], [(0, 2, "")]], False, [0]),  # an empty text is left out
        ([[(0, 2, "")], [(0, 2, "")]], False, [0]),  # unless all are empty
        ([[], [(0, 1, "x")], []], False, [0, 1, 2]),
        ([[], [(0, 1, "x")], []], True, [1]),
        ([[(0, 1, "a")], [(0, 1, "x")]], True, [1]),  # by text
        ([[], []], True, [0]),
        ([[(0, 2, "")], [], []], True, [0]),  # unchanged ones first: the goldens need this
    ],
)
def test_references_that_compete(references, changed_only, remaining):
    result = sentence("a b", *references)
    assert list(competing(result, changed_only=changed_only)) == remaining


@given(sentences(least=2))
def test_invariants(drawn):
    source, (hypothesis, *references) = drawn
    versions = {k: ordered(source, edits) for k, edits in enumerate(references)}
    target = ChunkedSentence(source, versions), ordered(source, hypothesis)
    alone, (together,) = judged_of(target), judged_of(target, together=True)
    changed = sum(chunk.changed[0] for chunk in together.chunks)
    for judged in (*alone, together):
        counts = Counter(judged.kinds)
        assert counts[TP] + counts[FP_NE] + counts[FP_UN] == changed
        assert counts.total() == len(judged.chunks)
        assert sum(counts_by_length(judged)[key] for key in counts_by_length(judged)
                   if key[0] in KINDS) == len(judged.chunks)  # fmt: skip
        assert Counter(together.kinds)[TP] >= counts[TP]
    if len(alone) == 1 and not any(
        chunk.changed[1] and chunk.texts[1] == chunk.source for chunk in together.chunks
    ):
        assert alone[0].kinds == together.kinds
