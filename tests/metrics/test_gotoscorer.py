"""GoToScorer equals the authors' program, figures by hand, and a slow twin."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunk_targets import (
    changes_of,
    read_json,
    references_of,
    sentence,
    sentences,
    targets_of,
)
from fake_annotator import FakeAnnotator
from grammeter.alignment.chunks import ChunkedSentence, ordered, pieces
from grammeter.core import Edit, Segment, UsageError, spelling
from grammeter.metrics.gotoscorer import GoToScorer, difficulties, outcomes, tally
from grammeter.metrics.registry import build


@pytest.fixture(autouse=True)
def fake(monkeypatch):
    """Extract no edits but those that a test gives."""
    fake = FakeAnnotator()
    monkeypatch.setattr("grammeter.metrics.kinds.annotator", lambda pipeline, rules, types: fake)
    return fake


def scores(metric, systems):
    """Score several systems, given as targets over the same sentences."""
    pool = [target for system in systems for target in system]
    rows = metric.count(pool, [1] * len(pool))
    size = len(systems[0])
    return [metric.score(rows.take(range(n * size, (n + 1) * size))) for n in range(len(systems))]


def figures(score):
    names = {"P": "precision", "R": "recall", "accuracy": "accuracy"}
    names |= {name.upper(): name for name in ("tp", "fp", "fn", "tn")}
    return {theirs: score.parts[ours] for theirs, ours in names.items()} | {"F05": score.value}


# Goldens: gotutiyan/GTS 5d120c3 (golden/neural/README.md)

WEIGHTS = {
    "weighted": {},
    "unweighted": {"weights": "none"},
    "weighted_a1_b1_c2": {"a": 1, "b": 1, "c": 2},
}


@pytest.fixture(scope="module")
def tiny(shared):
    """Three systems on 22 invented sentences; one annotator lacks the last sentence."""
    data = shared / "golden" / "neural" / "data"
    references = references_of(data / "reference.m2")
    return [targets_of(data / "systems.m2", references, annotator=n) for n in range(3)]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("annotator", [0, 1])
def test_scores_are_the_authors(tiny, shared, annotator, weights):
    golden = read_json(shared / "golden" / "neural" / "gotoscorer.json")[f"annotator{annotator}"]
    found = scores(GoToScorer(annotator=annotator, **WEIGHTS[weights]), tiny)
    for score, theirs in zip(found, golden[weights], strict=True):
        assert figures(score) == pytest.approx({n: theirs[n] for n in figures(score)}, abs=1e-9)


@pytest.mark.parametrize("annotator", [0, 1])
def test_chunks_are_the_authors(tiny, shared, annotator):
    golden = read_json(shared / "golden" / "neural" / "gotoscorer.json")[f"annotator{annotator}"]
    for number, chunks in enumerate(golden["chunks"]):
        own = tiny[0][number][0]
        gold = pieces(own.source, own.references.get(annotator, ()))
        assert [([p.start, p.end], " ".join(p.tokens), p.edited) for p in gold] == [
            (chunk["span"], chunk["gold"], chunk["is_edit"]) for chunk in chunks
        ]
        found = [outcomes(gold, pieces(own.source, system[number][1])) for system in tiny]
        assert [[list(x) for x in column] for column in zip(*found, strict=True)] == [
            chunk["systems"] for chunk in chunks
        ]
        weights = difficulties(found, [1, 1, 1], GoToScorer()._weigh)
        assert weights == pytest.approx([chunk["weight"] for chunk in chunks], abs=1e-9)


def test_the_demo_of_the_authors(shared):
    """The spans of demo/ref.m2 and demo/hyp.m2; what the words are does not matter."""
    gold = (
        sentence("a b c d e", [(1, 1, "x y"), (2, 3, ""), (3, 4, "z")]),
        sentence("a b c d e f g", [(1, 3, "x"), (4, 4, "y"), (5, 6, "")]),
    )
    edits = (
        ([(1, 1, "x y"), (3, 4, "z")], [(1, 3, "x"), (4, 4, "y")]),
        ([(0, 0, "q"), (1, 1, "r"), (2, 3, ""), (3, 4, "z"), (5, 5, "q")],
         [(2, 3, "w"), (4, 4, "y")]),
        ([(1, 3, "v"), (3, 4, "z")], [(2, 2, "w"), (4, 4, "y"), (5, 6, "v")]),
    )  # fmt: skip
    systems = [
        [(own, changes_of(" ".join(own.source), *e)) for own, e in zip(gold, system, strict=True)]
        for system in edits
    ]
    golden = read_json(shared / "golden" / "neural" / "gotoscorer.json")["gts_demo"]["weighted"]
    for score, theirs in zip(scores(GoToScorer(), systems), golden, strict=True):
        assert figures(score) == pytest.approx({n: theirs[n] for n in figures(score)}, abs=1e-9)


# By hand


def outcome(gold, system, source="a b c"):
    """Show the outcome of each gold chunk: Modified or untouched, Correct or wrong."""
    found = outcomes(
        pieces(tuple(source.split()), changes_of(source, *gold)),
        pieces(tuple(source.split()), changes_of(source, *system)),
    )
    return " ".join(("M" if x.modified else "u") + ("C" if x.correct else "w") for x in found)


@pytest.mark.parametrize(
    ("gold", "system", "expected"),
    [
        # chunks of a sentence that gold leaves alone: . a . b . c .
        ([], [], "uC uC uC uC uC uC uC"),
        ([], [(1, 2, "x")], "uC uC uC Mw uC uC uC"),
        ([], [(1, 3, "x")], "uC uC uC Mw uC Mw uC"),  # the place within meets nothing: right
        ([], [(1, 1, "x")], "uC uC Mw uC uC uC uC"),
        # . a . [x] . c .
        ([(1, 2, "x")], [], "uC uC uC uw uC uC uC"),
        ([(1, 2, "x")], [(1, 2, "x")], "uC uC uC MC uC uC uC"),
        ([(1, 2, "x")], [(1, 2, "y")], "uC uC uC Mw uC uC uC"),
        ([(1, 2, "x")], [(0, 2, "x")], "uC Mw uC Mw uC uC uC"),
        # an insertion before a token touches the edit of that token, not one that ends there
        ([(1, 2, "x")], [(1, 1, "y")], "uC uC Mw Mw uC uC uC"),
        ([(1, 2, "x")], [(2, 2, "y")], "uC uC uC uw Mw uC uC"),
        # . a [x] b . c .
        ([(1, 1, "x")], [], "uC uC uw uC uC uC uC"),
        ([(1, 1, "x")], [(1, 1, "x")], "uC uC MC uC uC uC uC"),
        ([(1, 1, "x")], [(1, 1, "y")], "uC uC Mw uC uC uC uC"),
        ([(1, 1, "x")], [(0, 2, "y")], "uC Mw uw Mw uC uC uC"),  # not a place of the system
    ],
)
def test_outcomes(gold, system, expected):
    assert outcome(gold, system) == expected


def test_outcomes_are_tallied():
    gold = pieces(("a", "b", "c", "d"), changes_of("a b c d", (0, 1, "x"), (1, 2, "y")))
    # . [x] . [y] . c . d .
    found = [(False, True), (True, True), (False, True), (True, False), (False, True),
             (True, False), (False, True), (False, True), (False, False)]  # fmt: skip
    weights = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    # a wrong correction of what gold corrects is a false positive and a miss
    assert tally(gold, found, weights) == (2, 8 + 32, 8 + 256, 1 + 4 + 16 + 64 + 128, 511)


def test_difficulty_by_hand():
    source = "a b"
    own = sentence(source, [(0, 1, "x"), (1, 2, "y")])
    right, half, wrong = (changes_of(source, *e) for e in (
        [(0, 1, "x"), (1, 2, "y")], [(0, 1, "x")], [(0, 1, "z")],
    ))  # fmt: skip
    found = scores(GoToScorer(), [[(own, right)], [(own, half)], [(own, wrong)]])
    # x: 2 of 3 right, weight 1/3; y: 1 of 3 right, weight 2/3
    assert [score.parts["tp"] for score in found] == pytest.approx([1, 1 / 3, 0])
    assert [score.parts["fn"] for score in found] == pytest.approx([0, 2 / 3, 1])
    assert [score.parts["fp"] for score in found] == pytest.approx([0, 0, 1 / 3])
    assert [score.value for score in found] == pytest.approx(
        [1, 1.25 * (1 / 3) / (0.25 + 1 / 3), 0]
    )
    assert [score.parts["accuracy"] for score in found] == pytest.approx([1, 1 / 3, 0])


def test_what_all_have_right_weighs_nothing():
    own = sentence("a b", [(0, 1, "x")])
    found = scores(GoToScorer(), [[(own, changes_of("a b", (0, 1, "x")))]] * 2)
    assert [score.value for score in found] == [0, 0]  # undefined counts as 0
    assert found[0].parts == dict.fromkeys(found[0].parts, 0)


# A slow twin, and invariants


def slow_pieces(source, changes):
    """Name each chunk of a version by its span; say what stands there and whether it is an edit."""
    found = {(c.start, c.end): (c.tokens, True) for c in changes}
    covered = {x for c in changes for x in range(c.start, c.end)}
    for position, token in enumerate(source):
        if position not in covered:
            found[position, position + 1] = ((token,), False)
    for start, end in [*found, (len(source), len(source) + 1)]:
        if start < end:
            found.setdefault((start, start), ((), False))
    return found


def slow_scores(drawn, beta):
    """Score systems: everything by the definition, one chunk at a time."""
    size = len(drawn[0][1]) - 1
    sums = [dict.fromkeys(("tp", "fp", "fn", "tn"), 0.0) for _ in range(size)]
    for source, (gold_edits, *outputs) in drawn:
        gold = slow_pieces(source, ordered(source, gold_edits))
        systems = [slow_pieces(source, ordered(source, edits)) for edits in outputs]
        for (start, end), (text, edited) in gold.items():
            cells = []
            for system in systems:
                if (start, end) in system and system[start, end][0] == text:
                    cells.append((system[start, end][1], True))
                    continue
                met = [
                    flag
                    for (s, e), (_, flag) in system.items()
                    if ((s, e) == (start, end) if start == end else
                        (start <= s < end if s == e else s < end and start < e))
                ]  # fmt: skip
                cells.append((any(met), not met and not edited))
            weight = 1 - sum(correct for _, correct in cells) / len(cells)
            for total, (modified, correct) in zip(sums, cells, strict=True):
                if modified and correct:
                    total["tp"] += weight
                elif modified:
                    total["fp"] += weight
                    total["fn"] += weight if edited else 0
                else:
                    total["tn" if correct else "fn"] += weight
    found = []
    for total in sums:
        p, r = (total["tp"] / x if x else 0 for x in (
            total["tp"] + total["fp"], total["tp"] + total["fn"],
        ))  # fmt: skip
        below = beta**2 * p + r
        found.append((1 + beta**2) * p * r / below if below else 0)
    return found


def without_twins(edits):
    """Insertions at one place have no order among the chunks of the twin: keep one."""
    kept = [e for e, after in pairwise([*edits, None])
            if after is None or (e.start, e.end) != (after.start, after.end)]  # fmt: skip
    return tuple(kept)


pools = st.lists(sentences(least=4, most=4), min_size=1, max_size=3).map(
    lambda drawn: [(source, [without_twins(v) for v in versions]) for source, versions in drawn]
)


def systems_drawn(drawn):
    """Make the targets of each system; the first version is gold."""
    owns = [(ChunkedSentence(source, {0: ordered(source, v[0])}), v) for source, v in drawn]
    return [
        [(own, ordered(own.source, versions[n])) for own, versions in owns] for n in range(1, 4)
    ]


@given(pools)
def test_equals_its_twin(drawn):
    metric = GoToScorer(beta=2)
    ours = [score.value for score in scores(metric, systems_drawn(drawn))]
    assert ours == pytest.approx(slow_scores(drawn, 2), abs=1e-9)


@given(pools, st.permutations(range(3)))
def test_the_order_of_systems_does_not_matter(drawn, order):
    systems = systems_drawn(drawn)
    values = [score.value for score in scores(GoToScorer(), systems)]
    again = [score.value for score in scores(GoToScorer(), [systems[n] for n in order])]
    assert again == pytest.approx([values[n] for n in order], abs=1e-9)


@given(pools, st.lists(st.integers(1, 3), min_size=3, max_size=3))
def test_copies_stand_for_equal_systems(drawn, copies):
    systems = systems_drawn(drawn)
    metric = GoToScorer()
    pool = [target for system in systems for target in system]
    short = metric.count(pool, [n for n in copies for _ in drawn])
    every = [target for system, n in zip(systems, copies, strict=True) for target in system * n]
    long = metric.count(every, [1] * len(every))
    at, size = 0, len(drawn)
    for number, n in enumerate(copies):
        own = short.rows[number * size : (number + 1) * size]
        assert own == pytest.approx(long.rows[at : at + size], abs=1e-9)
        at += n * size


@given(pools)
def test_the_contract_of_a_metric(drawn):
    pool = [target for system in systems_drawn(drawn) for target in system]
    metric = GoToScorer()
    rows = metric.count(pool, [1] * len(pool))
    assert metric.value_of(metric.summands(rows).sum(axis=0)) == metric.score(rows).value
    assert metric.value_of(metric.summands(rows)).tolist() == metric.sentences(rows).values.tolist()
    tp, fp, fn, tn, total = metric.summands(rows).T
    assert (tp + fp + fn + tn >= total - 1e-9).all()
    assert (np.maximum(tp + fp, tp + fn) <= total + 1e-9).all()


# The metric as users meet it


def test_a_pool_of_segments(fake):
    fake.known = {
        ("a b", "x b"): [Edit(0, 1, "x")],
        ("a b", "z b"): [Edit(0, 1, "z")],
        ("a b", "x y"): [Edit(0, 2, "x y")],
    }
    texts = ("x b",)
    segments = [Segment("a b", output, texts) for output in ("x b", "z b", "a b")]
    metric = GoToScorer()
    alone = metric.statistics(segments)
    assert alone.rows[:, 0, 0] == pytest.approx([2 / 3, 0, 0])
    pool = metric.pooled_statistics(segments, [2, 1, 1])
    assert pool.rows[:, 0, 0] == pytest.approx([1 / 2, 0, 0])
    assert (pool.labels, metric.sentences(pool).chosen.tolist()) == ((0,), [0, 0, 0])
    gold = {0: (Edit(0, 1, "x"),)}
    same = metric.pooled_statistics([Segment("a b", s.hypothesis, gold=gold) for s in segments],
                                    [2, 1, 1])  # fmt: skip
    assert same.rows.tolist() == pool.rows.tolist()
    # the same source on another line, with another reference, is another pool
    other = ("x y",)
    more = [*segments, Segment("a b", "a b", other), Segment("a b", "x b", other)]
    assert metric.statistics(more).rows[:3].tolist() == alone.rows.tolist()


def test_one_system_has_no_difficulty(fake):
    fake.known = {("a", "x"): [Edit(0, 1, "x")]}
    segments = [Segment("a", "x", ("x",)), Segment("b", "b", ("b",))]
    with pytest.raises(UsageError, match="only one system"):
        GoToScorer().statistics(segments)
    assert GoToScorer(weights="none").evaluate(segments).value == 1


def test_an_annotator_who_is_not_there(fake):
    segments = [Segment("a", "a", gold={0: (), 2: ()})] * 2
    with pytest.raises(UsageError, match=r"no annotator 1\n.*0, 2"):
        GoToScorer(annotator=1).statistics(segments)


def test_explanation(fake):
    source, output = "a b c d", "x b w d"
    fake.known = {(source, output): [Edit(0, 1, "x"), Edit(2, 3, "w")]}
    gold = {0: (Edit(0, 1, "x"), Edit(3, 4, "z"))}
    segment = Segment(source, output, gold=gold)
    found = GoToScorer().explain(segment)
    assert math.isnan(found.value)
    assert found.reason == "the weights need the outputs of all systems"
    assert found.parts == {}
    assert [(e.edit.start, e.edit.correction, e.original, e.verdict) for e in found.edits] == [
        (0, "x", "a", "matched"),
        (2, "w", "c", "spurious"),
        (3, "z", "d", "missed"),
    ]
    assert found.grids[0].rows == (
        ("0:1", "a", "x", "yes", "yes"),
        ("2:3", "c", "c", "yes", "no"),
        ("3:4", "d", "z", "no", "no"),
    )
    assert GoToScorer(weights="none").explain(segment).value == 0.5


@pytest.mark.parametrize(
    "fields",
    [
        {"beta": 0.0},
        {"beta": float("nan")},
        {"annotator": -1},
        {"a": float("inf")},
        {"weights": "length"},
        {"a": 0.5},
        {"b": -1.0},
        {"c": -1.0},
        {"b": 2.0, "c": 1.0},
    ],
)
def test_impossible_fields(fields):
    with pytest.raises(UsageError):
        GoToScorer(**fields)


def test_spelling_and_signature():
    metric = build(GoToScorer, spelling.parse("gotoscorer(beta=1, weights=none, b=1, c=2)")[1])
    assert metric == GoToScorer(beta=1, weights="none", b=1, c=2)
    assert build(GoToScorer, spelling.parse(str(metric))[1]) == metric
    assert metric.signature()["pipeline"] == "fake-1.0"
    assert metric.notice == "a fake pipeline"
    assert metric.counting() == replace(metric, beta=2).counting()
    assert metric.counting() != replace(metric, c=3).counting()
