"""MaxMatch: equal to the official scorer's answers and to the slow twin."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from maxmatch_twin import Twin

from grammeter.alignment.lattice import LargeLattice, Lattice, matcher
from grammeter.core import Edit

SENTENCE = st.lists(st.sampled_from("abcd"), max_size=8)
CORRECTION = st.lists(st.sampled_from("abcd"), max_size=2).map(" ".join)


@st.composite
def gold_edits(draw, source):
    """Edits in any order, doubled and overlapping ones too; alternatives; identities."""
    edits = []
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(source)))
        end = draw(st.integers(start, min(len(source), start + 2)))
        alternatives = tuple(draw(st.lists(CORRECTION, max_size=1)))
        edits.append(Edit(start, end, draw(CORRECTION), "", alternatives))
    return edits


@st.composite
def cases(draw):
    source = draw(SENTENCE)
    row0 = draw(st.sampled_from(["3.2", "head"]))
    return source, draw(SENTENCE), draw(gold_edits(source)), draw(st.integers(0, 5)), row0


def replaces_by_itself(source, gold):
    return any(" ".join(source[e.start : e.end]) in e.corrections for e in gold)


@settings(max_examples=400)
@given(cases())
def test_edits_are_those_of_the_twin(case):
    source, hypothesis, gold, max_unchanged, row0 = case
    lattice = matcher(
        source,
        hypothesis,
        max_unchanged=max_unchanged,
        row0=row0,
        trim=not replaces_by_itself(source, gold),
    )
    twin = Twin(source, hypothesis, max_unchanged, row0)
    assert [tuple(edit) for edit in lattice.edits(gold)] == twin.edits(gold)


@settings(max_examples=100)
@given(cases())
def test_one_lattice_serves_all_annotators(case):
    source, hypothesis, gold, max_unchanged, row0 = case
    options = {"max_unchanged": max_unchanged, "row0": row0, "trim": False}
    lattice = matcher(source, hypothesis, **options)
    lattice.edits(gold)
    lattice.edits(())
    assert lattice.edits(gold) == matcher(source, hypothesis, **options).edits(gold)


def test_random_pairs_of_the_official_scorer(shared):
    # golden/classic/m2_random_pairs.jsonl.gz: answers of m2scorer 2122ffd (3.2), cb874a7 (head)
    compared = 0
    path = shared / "golden" / "classic" / "m2_random_pairs.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            compared += compare_with_official(case, "v32", "3.2")
            compared += compare_with_official(case, "head", "head")
    assert compared == 7892


def compare_with_official(case, version, row0):
    answers = case[version] if case[version] != "same" else case["v32"]
    source, hypothesis = case["source"].split(), case["hypothesis"].split()
    for annotator, (edits, _) in answers.items():
        gold = [Edit(s, e, c[0], "", tuple(c[1:])) for s, e, c in case["gold"][annotator]]
        lattice = matcher(
            source,
            hypothesis,
            max_unchanged=case["max_unchanged"],
            row0=row0,
            trim=not replaces_by_itself(source, gold),
        )
        assert [list(edit) for edit in lattice.edits(gold)] == edits, case
    return len(answers)


@settings(max_examples=400)
@given(cases())
def test_the_sweep_finds_paths_of_the_same_cost(case):
    """Where both run, the large lattice's path costs what the best path costs."""
    source, hypothesis, gold, max_unchanged, row0 = case
    if replaces_by_itself(source, gold) or any(e.start == e.end for e in gold):
        gold = []  # insertion groups share out their epsilons; counts are compared below
    large = matcher(source, hypothesis, max_unchanged=max_unchanged, row0=row0, arc_limit=-1)
    assert isinstance(large, LargeLattice)
    twin = Twin(source, hypothesis, max_unchanged, row0)
    match_cost = -2000 * (len(source) + len(hypothesis) + 2)
    least, cost = twin.least_cost(gold, match_cost)
    assert path_cost(twin, cost, large.edits(gold)) == least


def path_cost(twin, cost, edits):
    """Least cost of the twin's paths that propose exactly these edits."""
    states = {((0, 0), 0): 0}
    for vertex in twin.vertices:
        for (at, used), sofar in [item for item in states.items() if item[0][0] == vertex]:
            for begin, target in [edge for edge in cost if edge[0] == at]:
                way, step = twin.ways[begin, target], (begin, target)
                if way.noop:
                    key = target, used
                elif used < len(edits) and tuple(edits[used]) == (
                    way.start, way.end, *twin.words(step)
                ):  # fmt: skip
                    key = target, used + 1
                else:
                    continue
                states[key] = min(states.get(key, 10**12), sofar + cost[step])
    return states[(len(twin.source), len(twin.hypothesis)), len(edits)]


@settings(max_examples=200)
@given(cases())
def test_the_sweep_matches_as_many_gold_insertions(case):
    source, hypothesis, gold, max_unchanged, row0 = case
    if replaces_by_itself(source, gold):
        return
    options = {"max_unchanged": max_unchanged, "row0": row0}
    exact = matcher(source, hypothesis, **options).edits(gold)
    large = matcher(source, hypothesis, **options, arc_limit=-1).edits(gold)
    assert matched(source, large, gold) == matched(source, exact, gold)


def matched(source, edits, gold):
    return sum(any(edit.matches(g, source) for g in gold) for edit in edits)


@pytest.mark.parametrize("limit", [float("inf"), -1])
def test_an_edit_of_three_words(limit):
    lattice = matcher(["he", "go", "to", "the", "home"], ["he", "goes", "home"], arc_limit=limit)
    gold = [Edit(1, 2, "goes"), Edit(2, 4, "")]
    assert [tuple(e) for e in lattice.edits(gold)] == [(1, 2, "go", "goes"), (2, 4, "to the", "")]


def test_small_lattices_are_listed():
    assert isinstance(matcher("abc", "abd"), Lattice)
