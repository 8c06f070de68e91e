"""Sentence scores against ratings as numbers: a slow twin, directions, what is missing."""

import json
import math
from collections import defaultdict
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from grammeter.core import DataError, MetricScores, Ranking, ScoreTable, SegmentScores, Signature
from grammeter.meta import SentenceDesign, correlate_sentences
from grammeter.rendering import segments_tsv

TWINS = {
    "pearson": scipy_stats.pearsonr,
    "spearman": scipy_stats.spearmanr,
    "kendall": scipy_stats.kendalltau,
}


def column(by_system, *, higher=True):
    rows = {
        name: SegmentScores(np.array(of, dtype=float), np.full(len(of), -1), {}, "not scored")
        for name, of in by_system.items()
    }
    return MetricScores("toy", Signature.of("toy", {}), higher, {}, rows)


def table_of(**metrics):
    (first, *_) = metrics.values()
    size = len(next(iter(first.segments.values())))
    return ScoreTable(tuple(first.segments), size, metrics)


def rated(segment, scores, judge="j", **more):
    """Make of ``{"A B": 3}`` the ranking of a judge who gave these numbers."""
    order = sorted(set(scores.values()), reverse=True)
    return Ranking(
        judge=judge, segment=segment, groups=tuple(tuple(names.split()) for names in scores),
        ranks=tuple(order.index(score) + 1 for score in scores.values()),
        scores=tuple(map(float, scores.values())), **more,
    )  # fmt: skip


def measured(table, rankings, metric="good", **fields):
    design = SentenceDesign(**{"resamples": 0, **fields})
    return correlate_sentences(table, rankings, design=design, criterion="fluency")[metric]


def coefficient(kind, x, y):
    if len(x) < 2 or len(set(x)) < 2 or len(set(y)) < 2:
        return math.nan
    return float(TWINS[kind](x, y)[0])


def twin(scores, rankings):
    """Return pooled values and means within segments, output by output, and segments used."""
    people = defaultdict(list)
    for ranking in rankings:
        for group, score in zip(ranking.groups, ranking.scores, strict=True):
            for system in group:
                people[ranking.segment, system].append(score)
    sides = {key: (scores[key[1]][key[0] - 1], fmean(of)) for key, of in people.items()}
    within = defaultdict(list)
    for (segment, _), pair in sides.items():
        within[segment].append(pair)
    pooled, segment, used = {}, {}, 0
    for kind in TWINS:
        pooled[kind] = coefficient(kind, *zip(*sides.values(), strict=True))
        values = [coefficient(kind, *zip(*of, strict=True)) for of in within.values()]
        values = [value for value in values if not math.isnan(value)]
        segment[kind], used = fmean(values) if values else math.nan, len(values)
    return pooled, segment, used


SCORES = st.lists(st.integers(0, 3), min_size=5, max_size=5)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(SCORES, min_size=3, max_size=3),
    st.dictionaries(
        st.tuples(st.integers(1, 5), st.sampled_from("xy")),
        st.dictionaries(st.sampled_from("ABC"), st.integers(1, 4), min_size=1),
        min_size=1,
    ),
)
def test_output_by_output(scores, ratings):
    ratings[1, "x"] = dict.fromkeys("ABC", 2) | ratings.get((1, "x"), {})
    rankings = [rated(n, dict(sorted(of.items())), judge) for (n, judge), of in ratings.items()]
    by_system = dict(zip("ABC", scores, strict=True))
    found = measured(table_of(good=column(by_system)), rankings).rated
    pooled, segment, used = twin(by_system, rankings)
    for kind in TWINS:
        assert found.pooled[kind].value == pytest.approx(pooled[kind], abs=1e-9, nan_ok=True)
        assert found.segment[kind].value == pytest.approx(segment[kind], abs=1e-9, nan_ok=True)
    assert found.segments == used
    assert found.segments + sum(found.left_out.values()) == len({n for n, _ in ratings})
    low = column({name: [-value for value in of] for name, of in by_system.items()}, higher=False)
    assert measured(table_of(good=low), rankings).rated.to_dict() == found.to_dict()


FOUR = [
    rated(1, {"A": 1, "B": 2, "C": 4}),
    rated(2, {"A": 3, "B": 3, "C": 3}),
    rated(3, {"A": 2}),
    rated(4, {"A": 2, "B": 4, "C": 3}),
]
GOOD = {"A": [1, 2, 3, 4], "B": [2, 5, 2, 6], "C": [3, 1, 1, 5]}


def test_segments_that_do_not_count_are_counted():
    flat = {name: [1, *of[1:]] for name, of in GOOD.items()}
    found = measured(table_of(good=column(flat)), FOUR).rated
    assert found.left_out == {"one_output": 1, "people_constant": 1, "metric_constant": 1}
    assert (found.outputs, found.segments) == (10, 1)
    nothing = measured(table_of(good=column(flat)), FOUR[:2]).rated
    assert "no segment" in nothing.segment["pearson"].reason
    assert nothing.to_dict()["segment"]["pearson"]["value"] is None


def test_a_missing_score_refuses_or_is_dropped():
    lacking = {**GOOD, "C": [3, 1, 1, math.nan]}
    refused = measured(table_of(good=column(lacking)), FOUR)
    assert "1 of 10 rated outputs lack a score" in refused.rated.pooled["kendall"].reason
    assert math.isnan(refused.acc_eq)
    assert refused.to_dict()["acc_eq"]["reason"]
    dropped = measured(table_of(good=column(lacking)), FOUR, missing="drop").rated
    without = [*FOUR[:3], rated(4, {"A": 2, "B": 4})]
    assert (dropped.outputs, dropped.missing) == (9, 1)
    assert dropped.pooled == measured(table_of(good=column(GOOD)), without).rated.pooled
    nowhere = {name: of for name, of in GOOD.items() if name != "C"}
    table = ScoreTable(("A", "B", "C"), 4, {"good": column(nowhere)})
    assert "3 of 10" in measured(table, FOUR).rated.pooled["pearson"].reason


def test_a_rated_sentence_without_scores():
    with pytest.raises(DataError, match="sentence 9 is judged"):
        measured(table_of(good=column(GOOD)), [*FOUR, rated(9, {"A": 2})])


def test_one_output_of_several_systems():
    rankings = [rated(1, {"A B": 1, "C": 3}), rated(4, {"A": 2, "B C": 4})]
    every = measured(table_of(good=column(GOOD)), rankings).rated
    one = measured(table_of(good=column(GOOD)), rankings, pairs="unexpanded").rated
    assert (every.outputs, one.outputs) == (6, 4)


def test_intervals_draw_the_same_units_for_all_metrics():
    random = np.random.default_rng(1)
    truth = random.integers(1, 5, size=(40, 3))
    rankings = [
        rated(n, dict(zip("ABC", of.tolist(), strict=True)), document=f"d{n // 4}", item=str(n))
        for n, of in enumerate(truth, start=1)
    ]
    noisy = dict(zip("ABC", (truth + random.normal(size=truth.shape)).T.tolist(), strict=True))
    table = table_of(good=column(noisy), same=column(noisy))
    design = SentenceDesign(resamples=50)
    result = correlate_sentences(table, rankings, design=design, criterion="fluency")
    assert result["good"].rated == result["same"].rated
    for part in (result["good"].rated.pooled, result["good"].rated.segment):
        assert all(of.low < of.value < of.high for of in part.values())
    by_document = measured(table, rankings, resamples=50, unit="document").rated
    assert by_document.pooled["pearson"].interval != result["good"].rated.pooled["pearson"].interval
    by_pair = SentenceDesign(resamples=20, unit="pair")
    noted = correlate_sentences(table, rankings, design=by_pair, criterion="fluency")
    assert any("resampled by sentence" in note for note in noted.notes)
    assert json.loads(json.dumps(noted.to_dict(), allow_nan=False))["criterion"] == "fluency"


def test_each_judge_apart():
    others = [rated(n, {"A": 4, "B": 1, "C": 2}, "k") for n in (1, 2)]
    table = table_of(good=column(GOOD))
    design = SentenceDesign(resamples=0)
    result = correlate_sentences(
        table, [*FOUR, *others], design=design, criterion="fluency", per_judge=True
    )
    assert result.by_judge["k"]["good"].rated == measured(table, others).rated
    assert [row[:2] for row in result.tables(long=True)[0].rows] == [
        ("all", "good"), ("j", "good"), ("k", "good"),
    ]  # fmt: skip
    assert "within segments" in str(result)


def test_sentence_scores_as_tsv_say_that_less_is_better():
    table = table_of(good=column(GOOD), bad=column(GOOD, higher=False))
    head, *rows = (line.split("\t") for line in segments_tsv(table).splitlines())
    at = head.index("higher_is_better")
    assert {(row[2], row[at]) for row in rows} == {("good", "true"), ("bad", "false")}
    assert "higher_is_better" not in segments_tsv(table_of(good=column(GOOD)))
