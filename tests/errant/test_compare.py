"""Edits held against edits: what counts, what agrees, which reference is taken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import Counts, Edit, tier_of
from grammeter.errant.compare import (
    Rules,
    choose,
    compare_edits,
    counted,
    counted_by_type,
    grouped,
    outcomes,
    total_of,
)
from grammeter.formats import read_m2

NOOP = Edit(-1, -1, "", "noop")
MODES = ("span-correction", "span-detection", "token-detection", "span-type")


def edit(start, end, correction="x", kind="R:NOUN", *alternatives):
    return Edit(start, end, correction, kind, alternatives)


def compared(proposed, gold, **fields):
    rules = Rules(**fields)
    mine = grouped(proposed, rules)
    return mine, grouped(gold, rules, mine)


def triple(proposed, gold, **fields):
    counts = counted(*compared(proposed, gold, **fields))
    return counts.tp, counts.fp, counts.fn


# What agrees


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (edit(1, 3, "x", "R:NOUN"), [1, 1, 1, 1]),
        (edit(1, 3, "x", "R:VERB"), [1, 1, 1, 0]),
        (edit(1, 3, "y", "R:NOUN"), [0, 1, 1, 0]),
        (edit(1, 2, "x", "R:NOUN"), [0, 0, 1, 0]),
        (edit(3, 3, "x", "R:NOUN"), [0, 0, 0, 0]),
        (edit(2, 2, "x", "R:NOUN"), [0, 0, 1, 0]),
    ],
)
def test_what_must_be_equal_in_each_mode(other, expected):
    result = [triple([edit(1, 3)], [other], mode=mode)[0] > 0 for mode in MODES]
    assert result == expected


def test_tokens_of_a_span_count_one_by_one():
    assert triple([edit(1, 4)], [edit(3, 6)], mode="token-detection") == (1, 2, 2)


def test_an_insertion_touches_the_token_on_its_right():
    insertion, last = edit(2, 2), edit(5, 5)
    assert triple([insertion], [edit(2, 3)], mode="token-detection") == (1, 0, 0)
    assert triple([last], [last], mode="token-detection") == (1, 0, 0)


def test_two_insertions_at_one_place_are_counted_on_the_gold_side_if_they_match():
    """errant 3.0.2, issue 49 of its repository: a key that matches counts once per gold edit."""
    one, two = [edit(0, 0)], [edit(0, 0), edit(0, 0)]
    assert triple(two, one) == (1, 0, 0)
    assert triple(one, two) == (2, 0, 0)
    assert triple(two, []) == (0, 2, 0)
    assert triple([], two) == (0, 0, 2)
    assert triple([edit(0, 0, "x"), edit(0, 0, "y")], one) == (1, 1, 0)


def test_each_alternative_correction_is_right():
    gold = [edit(1, 2, "in", "R:PREP", "at", "on")]
    assert [triple([edit(1, 2, word)], gold)[0] for word in ("in", "at", "on", "by")] == [
        1,
        1,
        1,
        0,
    ]
    assert triple([edit(1, 2, "at", "R:PREP")], gold, mode="span-type") == (1, 0, 0)
    assert triple([edit(1, 2, "by")], gold) == (0, 1, 1)


# What counts


def test_no_edits_at_all():
    assert triple([], []) == (0, 0, 0)
    assert triple([NOOP], [NOOP]) == (0, 0, 0)
    assert triple([NOOP], [edit(0, 1)]) == (0, 0, 1)
    assert triple([edit(0, 1)], [NOOP]) == (0, 1, 0)


def test_edits_without_a_correction_count_in_detection_only():
    unknown = edit(2, 3, "", "UNK")
    assert [triple([], [unknown], mode=mode)[2] for mode in MODES] == [0, 1, 1, 0]
    assert triple([], [edit(2, 3, "", "Um")]) == (0, 0, 1)  # as in the package: only UNK is out


@pytest.mark.parametrize(
    ("change", "single"),
    [
        (edit(0, 0, "x"), True),
        (edit(0, 1, ""), True),
        (edit(0, 1, "x"), True),
        (edit(0, 1, "x y"), False),
        (edit(0, 2, ""), False),
        (edit(0, 0, "x y"), False),
    ],
)
def test_single_and_multi_token_edits(change, single):
    assert Rules(single=True).counts(change) is single
    assert Rules(multi=True).counts(change) is not single
    assert not Rules(single=True, multi=True).counts(change)


def test_dropped_types_do_not_count():
    gold = [edit(0, 1, "x", "R:NOUN:NUM"), edit(1, 2, "x", "R:NOUN")]
    assert triple([], gold, dropped=frozenset({"R:NOUN"})) == (0, 0, 1)


def test_types_are_needed_by_type_and_by_filter_alone():
    assert not any(Rules(mode=mode).needs_types for mode in MODES[:3])
    assert Rules(mode="span-type").needs_types
    assert Rules(dropped=frozenset({"R:NOUN"})).needs_types


# By type


def test_hits_have_the_type_of_the_reference():
    mine = [edit(0, 1, "x", "R:NOUN"), edit(1, 2, "x", "R:ADJ")]
    gold = [edit(0, 1, "x", "Nn"), edit(2, 2, "x", "M:DET")]
    result = counted_by_type(outcomes(*compared(mine, gold)))
    assert list(result.items()) == [
        ("Nn", Counts(1, 0, 0)), ("R:ADJ", Counts(0, 1, 0)), ("M:DET", Counts(0, 0, 1)),
    ]  # fmt: skip


def test_tiers():
    assert [tier_of("R:NOUN:NUM", tier) for tier in ("operation", "main", "full")] == [
        "R", "NOUN:NUM", "R:NOUN:NUM",
    ]  # fmt: skip
    assert {tier_of("UNK", tier) for tier in ("operation", "main", "full")} == {"UNK"}
    assert tier_of("", "operation") == tier_of("", "main") == ""


def test_types_add_up_to_the_whole():
    gold = {0: (edit(0, 1, "x", "R:NOUN"), edit(1, 1, "y", "M:DET")), 1: ()}
    comparison = compare_edits([{0: (edit(0, 1, "x", "R:NOUN"), edit(2, 3))}] * 3, [gold] * 3,
                               Rules())  # fmt: skip
    for tier in ("operation", "main", "full"):
        assert total_of(comparison.by_type(tier).values()) == comparison.counts


# The choice


def chosen(*rows, beta=0.5, digits=4, running=True):
    return choose(rows, beta=beta, digits=digits, running=running)


def test_the_best_f_wins_then_more_hits_then_fewer_false_ones_then_the_first():
    assert chosen([(1, 1, 0), (1, 0, 0)]) == [1]
    assert chosen([(1, 0, 0), (2, 0, 0)]) == [1]
    assert chosen([(0, 2, 1), (0, 1, 5)]) == [1]
    assert chosen([(0, 1, 2), (0, 1, 1)]) == [1]
    assert chosen([(0, 1, 1), (0, 1, 1)]) == [0]
    assert chosen([(0, 0, 3), (0, 0, 2), (0, 0, 0)]) == [2]


def test_an_absent_reference_does_not_compete():
    assert chosen([None, (0, 9, 9)], [None, None], []) == [1, 0, 0]


def test_what_was_chosen_before_changes_the_choice():
    rows = ([(10, 0, 10)], [(0, 0, 4), (1, 3, 0)])
    assert chosen(*rows, beta=1) == [0, 1]
    assert chosen([(0, 0, 0)], rows[1], beta=1) == [0, 1]
    assert chosen([(10, 0, 0)], rows[1], beta=0.5) == [0, 0]
    assert chosen([(10, 0, 10)], [(0, 0, 1), (0, 1, 0)], beta=2) == [0, 1]
    assert chosen([(10, 0, 10)], [(0, 0, 1), (0, 1, 0)], beta=2, running=False) == [0, 0]


def test_near_ties_are_decided_by_hits_unless_f_is_exact():
    rows = ([(30000, 30000, 30000)], [(0, 0, 0), (1, 2, 1)])  # F 0.5 and 0.49999
    assert chosen(*rows) == [0, 1]
    assert chosen(*rows, digits=None) == [0, 0]


def test_equal_fractions_are_equal_whatever_their_size():
    assert chosen([(1, 2, 3), (3, 6, 9)], digits=None, beta=0.3) == [1]
    assert chosen([(3, 6, 9), (1, 2, 3)], digits=None, beta=0.3) == [0]


# A slow twin: lists instead of groups, every candidate tried in the plainest way


def twin_items(edits, mode, single, multi, dropped):
    items = []
    for e in edits:
        long = e.end - e.start > 1 or len(e.correction.split()) > 1
        if e.type in dropped or (single and long) or (multi and not long):
            continue
        if e.type == "UNK" and mode in ("span-correction", "span-type"):
            continue
        if mode == "token-detection":
            tokens = [e.start] if e.start == e.end else range(e.start, e.end)
            items += [((token,), e.type) for token in tokens]
        else:
            correction = () if mode == "span-detection" else (e.correction,)
            kind = (e.type,) if mode == "span-type" else ()
            items.append(((e.start, e.end, *correction, *kind), e.type))
    return items


def twin_counts(proposed, gold):
    hyp, ref = [key for key, _ in proposed], [key for key, _ in gold]
    return (
        sum(key in hyp for key in ref),
        sum(key not in ref for key in hyp),
        sum(key not in hyp for key in ref),
    )


def twin_f(tp, fp, fn, beta):
    p = tp / (tp + fp) if fp else 1.0
    r = tp / (tp + fn) if fn else 1.0
    return round((1 + beta * beta) * p * r / (beta * beta * p + r), 4) if p + r else 0.0


def twin(hypotheses, references, beta, **fields):
    total, path = (0, 0, 0), []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        mine = twin_items(hypothesis[0], **fields)
        tried = []
        for number, gold in reference.items():
            counts = twin_counts(mine, twin_items(gold, **fields))
            f = twin_f(*(a + b for a, b in zip(total, counts, strict=True)), beta)
            tried.append((-f, -counts[0], counts[1], counts[2], len(tried), number, counts))
        *_, number, counts = min(tried)
        path.append(number)
        total = tuple(a + b for a, b in zip(total, counts, strict=True))
    return total, path


TYPES = ("R:NOUN", "M:DET", "UNK")
edits_of_a_sentence = st.lists(
    st.builds(
        lambda start, length, correction, kind: Edit(start, start + length, correction, kind),
        st.integers(0, 3), st.integers(0, 2), st.sampled_from(["", "x", "x y"]),
        st.sampled_from(TYPES),
    ),
    max_size=4,
).map(tuple)  # fmt: skip
sentence = st.tuples(
    edits_of_a_sentence.map(lambda edits: {0: edits}),
    st.dictionaries(st.integers(0, 2), edits_of_a_sentence, min_size=1),
)


@given(
    st.lists(sentence, max_size=5),
    st.sampled_from(MODES),
    st.booleans(),
    st.booleans(),
    st.sampled_from([frozenset(), frozenset({"M:DET"})]),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_equals_the_slow_twin(sentences, mode, single, multi, dropped, beta):
    hypotheses, references = [s[0] for s in sentences], [s[1] for s in sentences]
    fields = {"mode": mode, "single": single, "multi": multi, "dropped": dropped}
    result = compare_edits(hypotheses, references, Rules(**fields), beta=beta)
    total, path = twin(hypotheses, references, beta, **fields)
    assert (result.counts.tp, result.counts.fp, result.counts.fn) == total
    assert [pairing.reference for pairing in result.best] == path


@given(st.lists(sentence, max_size=4), st.sampled_from(MODES))
def test_a_reference_agrees_with_itself(sentences, mode):
    gold = [s[0] for s in sentences]
    counts = compare_edits(gold, gold, Rules(mode=mode)).counts
    assert (counts.fp, counts.fn) == (0, 0)


def test_unequal_numbers_of_sentences():
    with pytest.raises(ValueError, match="shorter"):
        compare_edits([{0: ()}], [], Rules())


# errant_compare of errant 3.0.2, default options: golden/errant/compare/all13.auto.tsv

ALL_13 = {
    "AMU": (482, 795, 1907), "CAMB": (730, 1342, 1858), "CUUI": (608, 984, 1915),
    "IITB": (28, 65, 2034), "INPUT": (0, 0, 2035), "IPN": (51, 489, 2042),
    "NTHU": (409, 995, 1943), "PKU": (294, 697, 1980), "POST": (508, 1153, 1953),
    "RAC": (320, 794, 2010), "SJTU": (104, 261, 2001), "UFC": (36, 14, 2034),
    "UMC": (312, 773, 1994),
}  # fmt: skip


@pytest.mark.parametrize("system", ALL_13)
def test_the_systems_of_conll_14(shared, system):
    folder = shared / "golden" / "errant"
    hypotheses, references = (
        [block.gold for block in read_m2(folder / name).blocks]
        for name in (f"{system}.m2", "official-2014.combined.auto.m2")
    )
    counts = compare_edits(hypotheses, references, Rules()).counts
    assert (counts.tp, counts.fp, counts.fn) == ALL_13[system]
