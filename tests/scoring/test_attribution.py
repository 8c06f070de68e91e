"""Edit attribution against its definition, its axioms, and a slow twin over all orders."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import grammeter as gm
import made_models
from grammeter.core import (
    Attribution,
    Edit,
    Explanation,
    JudgedEdit,
    Score,
    Segment,
    SegmentScores,
    SentenceExplanation,
    Statistics,
    apply,
)
from grammeter.errant import annotator
from grammeter.metrics import BUILT_IN, Metric, metric
from grammeter.scoring.attribution import attribute, draw_orders

NAN = float("nan")


@dataclass(frozen=True, kw_only=True)
class Game(Metric):
    """A cooperative game as a metric: edits are players, a text is worth what the game says."""

    name: ClassVar[str] = "game"
    title: ClassVar[str] = "a game"
    needs: ClassVar = "nothing"
    citation: ClassVar[str] = ""

    worth: ClassVar[Callable[[str], float]]
    asked: ClassVar[list[list[str]]]
    reason: ClassVar[str | None] = None

    def statistics(self, segments):
        texts = [segment.hypothesis for segment in segments]
        self.asked.append(texts)
        rows = np.array([[[self.worth(text)]] for text in texts])
        return Statistics(rows, np.ones((len(rows), 1), dtype=np.bool_), (0,), ("worth",))

    def sentences(self, statistics):
        values = statistics.rows[:, 0, 0]
        return SegmentScores(values, np.full(len(values), -1), {}, self.reason)

    def score(self, statistics):
        return Score(float(statistics.rows.sum()), self.signature(), len(statistics))

    def summands(self, statistics):
        return statistics.rows[:, 0]

    def value_of(self, sums):
        return sums[..., 0]


def game(worth: Callable[[str], float], reason: str | None = None) -> Any:
    members = {"worth": staticmethod(worth), "asked": [], "reason": reason}
    return type("AGame", (Game,), members)()


def players(text: str) -> frozenset[int]:
    return frozenset(int(word[3:]) for word in text.split() if word.startswith("new"))


def segment_of(size: int) -> Segment:
    """A sentence with ``size`` edits, each of one word."""
    source = " ".join(f"old{n} stays" for n in range(size))
    return Segment(source, source.replace("old", "new"))


def game_of(table: list[float]) -> Any:
    return game(lambda text: table[sum(1 << player for player in players(text))])


def play(table: list[float], **options: Any) -> Attribution:
    size = len(table).bit_length() - 1
    return attribute(game_of(table), segment_of(size), pipeline="neutral", **options)


def twin(worth: Callable[[frozenset[int]], float], size: int) -> list[float]:
    """Average what each player adds over all orders."""
    sums = [0.0] * size
    orders = list(itertools.permutations(range(size)))
    for order in orders:
        for at, player in enumerate(order):
            before, after = frozenset(order[:at]), frozenset(order[: at + 1])
            sums[player] += worth(after) - worth(before)
    return [total / len(orders) for total in sums]


worths = st.floats(-10, 10, allow_subnormal=False)


@st.composite
def tables(draw, least=0, most=5):
    size = draw(st.integers(least, most))
    return draw(st.lists(worths, min_size=2**size, max_size=2**size))


def size_of(table: list[float]) -> int:
    return len(table).bit_length() - 1


def bits(subset) -> int:
    return sum(1 << player for player in subset)


# ---- the axioms, and the definition


@given(tables())
def test_values_are_the_mean_over_all_orders(table) -> None:
    found = play(table)
    slow = twin(lambda subset: table[bits(subset)], size_of(table))
    assert found.values == pytest.approx(slow, abs=1e-9)
    assert (found.total, found.baseline) == (table[-1], table[0])
    assert (found.errors, found.orders, found.reason) == (None, None, None)


@given(tables(most=8))
def test_efficiency(table) -> None:
    found = play(table)
    assert math.fsum(found.values) == pytest.approx(found.total - found.baseline, abs=1e-9)


@given(tables(least=2), st.data())
def test_players_that_play_the_same_part_get_the_same(table, data) -> None:
    one, other = data.draw(st.permutations(range(size_of(table))))[:2]

    def swapped(subset: int) -> int:
        a, b = subset >> one & 1, subset >> other & 1
        return subset ^ (a ^ b) << one ^ (a ^ b) << other

    symmetric = [value + table[swapped(subset)] for subset, value in enumerate(table)]
    values = play(symmetric).values
    assert values[one] == pytest.approx(values[other], abs=1e-9)


@given(tables(least=1), st.data())
def test_who_changes_nothing_gets_exactly_nothing(table, data) -> None:
    dummy = data.draw(st.integers(0, size_of(table) - 1))
    without = [table[subset & ~(1 << dummy)] for subset in range(len(table))]
    assert play(without).values[dummy] == 0.0
    assert play(without, method="leave-one-out").values[dummy] == 0.0


@given(tables(), tables())
def test_games_add_up(one, other) -> None:
    size = min(len(one), len(other))
    one, other = one[:size], other[:size]
    both = play([a + b for a, b in zip(one, other, strict=True)]).values
    apart = np.add(play(one).values, play(other).values)
    assert both == pytest.approx(apart.tolist(), abs=1e-9)


@given(tables())
def test_leave_one_out(table) -> None:
    found = play(table, method="leave-one-out")
    everything = len(table) - 1
    expected = [table[-1] - table[everything ^ 1 << e] for e in range(size_of(table))]
    assert list(found.values) == expected
    assert (found.total, found.baseline, found.errors) == (table[-1], table[0], None)


# ---- many edits: orders are drawn


def sampled(table: list[float], *, texts: int, **options: Any) -> Attribution:
    return play(table, limit=texts * 2 * size_of(table), **options)


def test_drawn_orders_come_in_pairs_and_pass_no_more_texts_than_allowed() -> None:
    for size, texts in [(4, 15), (12, 1000), (11, 2047), (60, 1024), (300, 10)]:
        orders = draw_orders(size, 1, texts)
        assert orders is not None
        assert all(sorted(order) == list(range(size)) for order in orders)
        assert all(
            order[::-1] == back for order, back in zip(orders[::2], orders[1::2], strict=True)
        )
        cost = 2 + len(orders) * (size - 1)
        assert len(orders) >= 4
        assert cost <= texts or len(orders) == 4
        assert cost + 2 * (size - 1) > texts
    for size, texts in [(0, 1), (1, 1), (2, 1), (3, 1), (4, 16), (11, 2048)]:
        assert draw_orders(size, 1, texts) is None


@settings(max_examples=30)
@given(st.lists(worths, min_size=64, max_size=64), st.integers(0, 99))
def test_samples_are_efficient_and_have_the_error_of_their_pairs(table, seed) -> None:
    found = sampled(table, texts=40, seed=seed)
    orders = draw_orders(6, seed, 40)
    assert orders is not None
    assert found.orders == len(orders) == 6
    assert math.fsum(found.values) == pytest.approx(found.total - found.baseline, abs=1e-9)
    gains = [
        [table[bits(order[: order.index(p) + 1])] - table[bits(order[: order.index(p)])]
         for p in range(6)]
        for order in orders
    ]  # fmt: skip
    pairs = np.array([np.add(a, b) / 2 for a, b in zip(gains[::2], gains[1::2], strict=True)])
    assert found.values == pytest.approx(pairs.mean(axis=0).tolist(), abs=1e-9)
    errors = np.sqrt(((pairs - pairs.mean(axis=0)) ** 2).sum(axis=0) / 2 / 3)
    assert found.errors == pytest.approx(errors.tolist(), abs=1e-9)


@settings(max_examples=30)
@given(st.lists(worths, min_size=28, max_size=28))
def test_a_pair_of_orders_is_exact_where_edits_meet_in_twos(weights) -> None:
    """With an order and its reverse each edit meets each other one once."""
    size, pairs = 7, list(itertools.combinations_with_replacement(range(7), 2))
    table = [
        sum(w for (a, b), w in zip(pairs, weights, strict=True) if s >> a & 1 and s >> b & 1)
        for s in range(2**size)
    ]
    exact, drawn = play(table), sampled(table, texts=30)
    assert (exact.orders, drawn.orders) == (None, 4)
    assert drawn.values == pytest.approx(exact.values, abs=1e-8)
    assert drawn.errors == pytest.approx([0.0] * size, abs=1e-8)


def test_samples_approach_the_exact_values() -> None:
    random = np.random.RandomState(7)
    table = random.normal(size=2**8).tolist()
    exact = np.array(play(table).values)
    found = sampled(table, texts=250)
    assert found.errors is not None
    off = np.abs(np.array(found.values) - exact) / np.array(found.errors)
    assert found.orders == 34
    assert off.max() < 4


def test_the_seed_settles_the_samples_and_is_told() -> None:
    table = np.random.RandomState(3).normal(size=2**6).tolist()
    one, again, other = (sampled(table, texts=40, seed=seed) for seed in (5, 5, 6))
    assert one == again
    assert one.values != other.values
    assert (one.signature["orders"], one.signature["seed"]) == ("6", "5")
    assert "seed" not in dict(play(table).signature)
    assert one.signature["pipeline"] == "neutral"


# ---- what is scored


def test_all_texts_are_one_batch_and_each_is_scored_once() -> None:
    worth = game(len)
    # deleting the one or the other "a" makes the same text
    source, hypothesis = "a b a c d", "b c d"
    found = attribute(worth, Segment(source, hypothesis), pipeline="neutral")
    (texts,) = worth.asked
    assert len(found.edits) == 2
    assert sorted(texts) == sorted({"a b a c d", "b a c d", "a b c d", "b c d"})
    again = game(len)
    doubled = attribute(again, Segment("a a x", "x a a"), pipeline="neutral")
    assert len(again.asked[0]) == len(set(again.asked[0])) <= 2 ** len(doubled.edits)


def test_the_ends_are_scored_as_they_were_written() -> None:
    worth = game(len)
    found = attribute(worth, Segment(" old0  stays", "new0  stays "), pipeline="neutral")
    assert set(worth.asked[0]) == {" old0  stays", "new0  stays "}
    assert (found.baseline, found.total) == (12.0, 12.0)


@pytest.mark.parametrize("method", ["shapley", "leave-one-out"])
@pytest.mark.parametrize(("source", "hypothesis"), [("a b", "a b"), ("a b", " a  b"), ("", "")])
def test_without_edits_there_is_nothing_to_share(method, source, hypothesis) -> None:
    found = attribute(game(len), Segment(source, hypothesis), method=method, pipeline="neutral")
    assert (found.edits, found.values, found.errors, found.reason) == ((), (), None, None)
    assert found.total == found.baseline == len(hypothesis)


@pytest.mark.parametrize(
    ("source", "hypothesis", "edits"),
    [
        ("one two", "", [(0, 2, "")]),
        ("", "one two", [(0, 0, "one two")]),
        ("b c", "a b c d", [(0, 0, "a"), (2, 2, "d")]),
    ],
)
def test_empty_texts_and_insertions_at_both_ends(source, hypothesis, edits) -> None:
    found = attribute(game(len), Segment(source, hypothesis), pipeline="neutral")
    assert [(e.start, e.end, e.correction) for e in found.edits] == edits
    assert math.fsum(found.values) == len(hypothesis) - len(source)


# ---- scores that are not there


@pytest.mark.parametrize("hole", [NAN, float("inf"), float("-inf")])
@pytest.mark.parametrize("texts", [40, 10**6])
def test_no_shapley_value_without_all_scores(hole, texts) -> None:
    table = [float(n) for n in range(64)]
    orders = draw_orders(6, 1, texts)
    missing = bits(orders[0][:2]) if orders else 5
    table[missing] = hole
    found = sampled(table, texts=texts)
    assert all(math.isnan(value) for value in found.values)
    assert (found.total, found.baseline) == (63.0, 0.0)
    assert found.errors is None or all(math.isnan(error) for error in found.errors)
    assert found.reason is not None
    assert found.reason.startswith("1 of ")
    assert found.reason.endswith(" texts have no score: it is not finite")


def test_leave_one_out_lacks_only_what_it_must() -> None:
    worth = game(lambda text: NAN if players(text) == {1, 2} else 1.0, "too odd")
    found = attribute(worth, segment_of(3), method="leave-one-out", pipeline="neutral")
    assert [math.isnan(value) for value in found.values] == [True, False, False]
    assert found.reason == "1 of 5 texts have no score: too odd"


def test_an_annotator_who_is_not_there() -> None:
    segment = Segment("a b c", "a x c", (), {0: (), 1: (Edit(1, 2, "x"),)})
    found = attribute(metric("sentm2(annotator=5)"), segment, pipeline="neutral")
    assert [*map(math.isnan, (found.total, found.baseline, *found.values))] == [True] * 3
    assert found.reason is not None
    assert "there is no annotator 5" in found.reason


def test_a_pooled_metric_without_company() -> None:
    segment = Segment("a b c", "a x c", (), {0: (Edit(1, 2, "x"),)})
    found = attribute(metric("gotoscorer(pipeline=neutral)"), segment, pipeline="neutral")
    assert math.isnan(found.values[0])
    assert found.reason is not None
    assert "only one system" in found.reason
    plain = metric("gotoscorer(weights=none, pipeline=neutral)")
    assert attribute(plain, segment, pipeline="neutral").values == (1.0,)


def test_faults_of_other_metrics_are_raised() -> None:
    def refuse(text: str) -> float:
        raise gm.UsageError("no such device")

    with pytest.raises(gm.UsageError, match="no such device"):
        attribute(game(refuse), segment_of(1), pipeline="neutral")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "shaply"}, "Did you mean 'shapley'"),
        ({"seed": -1}, "seed=-1"),
        ({"limit": 0}, "limit=0"),
        ({"pipeline": "no_such_pipeline"}, "no_such_pipeline"),
    ],
)
def test_bad_options(options, message) -> None:
    with pytest.raises((gm.UsageError, gm.MissingResourceError), match=message):
        attribute(game(len), segment_of(1), **({"pipeline": "neutral"} | options))


# ---- the metrics of the registry

SPELLINGS = [
    "cherrant(simplify=none)",
    "m2",
    "sentm2",
    "errant(pipeline=neutral)",
    "senterrant(pipeline=neutral)",
    "gotoscorer(pipeline=neutral)",
    "cleme(pipeline=neutral)",
    "cleme(pipeline=neutral, version=2, assumption=independent)",
    "gleu",
    "sent-gleu",
    "imeasure",
    "green",
    "bleu",
    "chrf",
    "meteor_es",
    "wer",
    "ter",
    "nld",
]


words = st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map(" ".join)


def made(source: str, hypothesis: str, reference: str) -> Segment:
    (gold,) = annotator("neutral").annotate([(source, reference)])
    return Segment(source, hypothesis, (reference,), {0: gold})


def alone(asked: Metric, segment: Segment, company: list[str]) -> float:
    """Score one output by itself, in a call of its own."""
    if not asked.pooled:
        return float(asked.sentences(asked.statistics([segment])).values[0])
    pool = list(dict.fromkeys([segment.hypothesis, *company]))
    copies = [[segment.hypothesis, *company].count(text) for text in pool]
    outputs = [replace(segment, hypothesis=text) for text in pool]
    statistics = asked.pooled_statistics(outputs, copies)
    return float(asked.sentences(statistics).values[0])


@pytest.mark.parametrize("spelled", SPELLINGS)
@settings(max_examples=25)
@given(words, words, words, st.lists(words, min_size=1, max_size=3))
def test_every_metric_against_the_twin(spelled, source, hypothesis, reference, company) -> None:
    asked, segment = metric(spelled), made(source, hypothesis, reference)
    (edits,) = annotator("neutral").annotate([(source, hypothesis)])
    assume(len(edits) <= 4)

    def worth(subset: frozenset[int]) -> float:
        text = " ".join(apply(source.split(), [edits[e] for e in subset]))
        return alone(asked, replace(segment, hypothesis=text), company)

    found = attribute(asked, segment, pipeline="neutral", company=company)
    assert found.edits == edits
    assert found.values == pytest.approx(twin(worth, len(edits)), abs=1e-9)
    assert math.fsum(found.values) == pytest.approx(found.total - found.baseline, abs=1e-9)
    out = attribute(asked, segment, method="leave-one-out", pipeline="neutral", company=company)
    everyone = frozenset(range(len(edits)))
    expected = [worth(everyone) - worth(everyone - {e}) for e in range(len(edits))]
    assert out.values == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_the_total_is_the_score_that_is_explained(spelled) -> None:
    asked = metric(spelled)
    segment = made("he go to home now", "he goes to home , now", "he goes home now .")
    found = attribute(asked, segment, pipeline="neutral", company=["he go home now"])
    if not asked.pooled:
        assert found.total == asked.explain(segment).value
    assert len(found.edits) == 2


ENDPOINTS = {"llm-s", "llm-e"}
"""Metrics that ask a service; what they are asked is tested with them."""


def test_every_metric_is_tried() -> None:
    tried = {spelling.partition("(")[0] for spelling in SPELLINGS} | {*made_models.SPELLINGS}
    assert tried >= {*BUILT_IN} - ENDPOINTS


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("models")
    kinds = ("encoder", "regressor", "causal", "seq2seq")
    return {kind: getattr(made_models, kind)(folder / kind) for kind in kinds}


@pytest.mark.parametrize("name", [name for name in made_models.SPELLINGS if name in BUILT_IN])
def test_every_metric_with_a_model_against_the_twin(name, models) -> None:
    asked = metric(made_models.SPELLINGS[name].format(**models))
    source = "he go to the the school in house ."
    segment = made(source, "he goes to a school in the houses .", "he goes to school in a house .")
    (edits,) = annotator("neutral").annotate([(source, segment.hypothesis)])
    found = attribute(asked, segment, pipeline="neutral")

    def worth(subset: frozenset[int]) -> float:
        text = " ".join(apply(source.split(), [edits[e] for e in subset]))
        return alone(asked, replace(segment, hypothesis=text), [])

    assert len(edits) == 3
    assert found.values == pytest.approx(twin(worth, len(edits)), abs=1e-4)
    assert found.total == pytest.approx(asked.explain(segment).value, abs=1e-4)
    assert any(found.values)


def test_sixty_edits_in_three_hundred_words() -> None:
    source = " ".join(f"w{n}" for n in range(300))
    wrong = [f"x{n}" if n % 5 == 0 else word for n, word in enumerate(source.split())]
    right = [word if n % 2 else f"w{n}" for n, word in enumerate(wrong)]
    segment = made(source, " ".join(wrong), " ".join(right))
    for spelled in ("gleu", "m2"):
        found = attribute(metric(spelled), segment, pipeline="neutral", limit=1)
        assert (len(found.edits), found.orders) == (60, 4)
        assert math.fsum(found.values) == pytest.approx(found.total - found.baseline)


# ---- in explanations


def corpus() -> gm.Corpus:
    return gm.Corpus(
        sources=["he go to home .", "all fine ."],
        references=[["he goes home .", "all fine ."]],
        gold=[{0: (Edit(1, 2, "goes", "SVA"), Edit(2, 3, "", "PREP"))}, {0: ()}],
        systems={"A": ["he goes to a home .", "all fine ."], "B": ["he went home .", "All ."]},
    )


def test_explain_attributes_on_request() -> None:
    asked = {"system": "A", "line": 1, "metrics": ["m2", "gleu"]}
    plain = gm.explain(corpus(), **asked)
    found = gm.explain(corpus(), **asked, attribution="shapley", pipeline="neutral")
    assert all(each.attribution is None for each in plain.metrics.values())
    m2 = found.metrics["m2"].attribution
    assert m2 is not None
    assert [edit.correction for edit in m2.edits] == ["goes", "a"]
    assert m2.values == pytest.approx((2 / 3, -1 / 6))  # 5/6 with goes alone, 1/2 with both
    bare = {name: replace(each, attribution=None) for name, each in found.metrics.items()}
    assert bare == plain.metrics
    with pytest.raises(gm.UsageError, match="Did you mean 'shapley'"):
        gm.explain(corpus(), **asked, attribution="shaply")  # type: ignore[arg-type]


def test_explain_knows_the_company_of_a_pooled_metric() -> None:
    scored = gm.score(corpus(), ["gotoscorer(pipeline=neutral)"])
    found = gm.explain(scored, system="A", line=1, attribution="shapley", pipeline="neutral")
    attribution = found.metrics["gotoscorer(pipeline=neutral)"].attribution
    assert attribution is not None
    (column,) = scored.values()
    assert column.segments["A"].values[0] == attribution.total
    assert not math.isnan(sum(attribution.values))


def test_json() -> None:
    asked = {"system": "A", "line": 1, "metrics": ["m2"], "pipeline": "neutral"}
    data = gm.explain(corpus(), **asked, attribution="leave-one-out").to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    found = data["metrics"]["m2"]["attribution"]
    assert set(found) == {"method", "signature", "total", "baseline", "edits"}
    assert found["edits"][0] == {
        "start": 1,
        "end": 2,
        "original": "go",
        "correction": "goes",
        "type": "R",
        "value": 0.5,
        "verdict": "matched",
    }


def test_json_of_what_is_drawn_or_missing() -> None:
    attribution = Attribution(
        method="shapley",
        total=NAN,
        baseline=0.0,
        edits=(Edit(0, 1, "x"),),
        values=(NAN,),
        errors=(0.5,),
        orders=4,
        signature=gm.metric("m2").signature(),
        reason="no score",
    )
    judged = (JudgedEdit(Edit(0, 2, "x b"), "a b", "spurious", 0.25),)
    explanation = Explanation(1.0, edits=judged, attribution=attribution)
    data = SentenceExplanation("A", 1, "a b", "x b", (), {"m": explanation}).to_dict()
    found = data["metrics"]["m"]["attribution"]
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert (found["total"], found["orders"], found["reason"]) == (None, 4, "no score")
    (edit,) = found["edits"]
    assert (edit["value"], edit["error"], edit["weight"]) == (None, 0.5, 0.25)
    assert edit["verdict"] == "spurious"


@pytest.mark.parametrize(
    ("judged", "same"),
    [
        (JudgedEdit(Edit(1, 2, "x"), "b", "matched"), True),
        (JudgedEdit(Edit(0, 3, "a x c"), "a b c", "spurious"), True),
        (JudgedEdit(Edit(1, 2, "x"), "b", "missed"), False),
        (JudgedEdit(Edit(1, 2, "y"), "b", "matched"), False),
        (JudgedEdit(Edit(2, 3, "x"), "c", "matched"), False),
        (JudgedEdit(Edit(1, 1, "x"), "", "spurious"), False),
    ],
)
def test_edits_are_the_same_less_what_they_keep(judged, same) -> None:
    found = Explanation(1.0, edits=(judged,)).judged(Edit(1, 2, "x", "R"), ["a", "b", "c"])
    assert found is (judged if same else None)
