"""GREEN equals the authors' program and a slow twin."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_golden import conll14, distinct, read_lines, table

from grammeter.core import Segment, UsageError
from grammeter.metrics.green import Green
from grammeter.metrics.registry import metric


@pytest.fixture(scope="module")
def conll(shared):
    return conll14(shared)


# Goldens: shotakoyama/green ab1546d, green -n 4 -b 0.5 1 2 -t word|char, and sgreen


@pytest.mark.parametrize("unit", ["word", "char"])
def test_corpus_scores_and_counts_are_the_authors(conll, shared, unit):
    statistics = Green(unit=unit).statistics(conll.segments)
    rows = table(shared / "golden" / "classic" / "green_corpus.tsv")
    rows = [row for row in rows if row["unit"] == unit]
    assert len(rows) == 39
    for row in rows:
        m, chosen = Green(unit=unit, beta=float(row["beta"])), conll.rows[row["system"]]
        score = m.score(statistics.take(chosen))
        assert score.value == pytest.approx(float(row["f_1_4"]), abs=1e-12)
        sums = m.summands(statistics.take(chosen)).sum(axis=0)
        for order, column in enumerate(["f_1", "f_1_2", "f_1_3"], 1):
            value = Green(order=order, beta=m.beta).value_of(sums[: 3 * order])
            assert value == pytest.approx(float(row[column]), abs=1e-12)
        slots = m.sentences(statistics.take(chosen)).chosen
        counts = statistics.rows[chosen, slots].sum(axis=0)
        regions = [[int(n) for n in row[f"counts_n{order}"].split(",")] for order in range(1, 5)]
        assert counts.tolist() == truth(regions)


def test_sentence_scores_and_choices_are_the_authors(conll, shared):
    scores = Green().sentences(Green().statistics(conll.segments))
    rows = table(shared / "golden" / "classic" / "green_sentences.tsv.gz")
    assert len(rows) == 17_056
    at = [conll.rows[row["system"]][int(row["line"])] for row in rows]
    assert scores.values[at] == pytest.approx([float(r["sentence_f2"]) for r in rows], abs=1e-11)
    assert scores.chosen[at].tolist() == [int(row["chosen_ref"]) for row in rows]


def test_invented_sentences(shared):
    golden = shared / "golden" / "neural"
    figures = json.loads((golden / "green.json").read_text("utf-8"))
    data = golden / "data"
    hypotheses = {name: read_lines(data / name) for name in ("hypA", "hypB", "hypC")}
    references = [read_lines(data / "reference" / f"ref{number}") for number in (0, 1)]
    outputs = distinct(read_lines(data / "source.txt"), references, hypotheses)
    compared = 0
    for key, expected in figures.items():
        if not key.endswith(".corpus"):
            continue
        unit, beta = key.removesuffix(".corpus").split(".beta")
        m = Green(unit=unit, beta=float(beta))
        statistics = m.statistics(outputs.segments)
        for name, rows in outputs.rows.items():
            value = 100 * m.score(statistics.take(rows)).value
            assert value == pytest.approx(expected[name], abs=1e-9)
        raw = np.array(
            [line.split("\t") for line in figures[key.replace("corpus", "sentence_raw")]]
        )
        alone = np.stack([m.sentences(statistics.take(r)).values for r in outputs.rows.values()])
        assert np.abs(alone.T - raw.astype(float) / 100).max() < 1e-11
        compared += 1
    assert compared == 6


# A slow twin

REGIONS = ("TK", "TD", "TI", "OD", "OI", "UD", "UI")
"""Truly kept, deleted, inserted; over-deleted, over-inserted; under-deleted, under-inserted."""


def truth(regions: list[list[int]]) -> list[int]:
    """TP, FP and FN by order."""
    return [sum(of[at]) for of in regions for at in (slice(3), slice(3, 5), slice(5, 7))]


def grams(tokens, n):
    return Counter(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def seven(s: Counter, c: Counter, r: Counter) -> list[int]:
    found = dict.fromkeys(REGIONS, 0)
    for gram in {*s, *c, *r}:
        in_s, in_c, in_r = s[gram], c[gram], r[gram]
        found["TK"] += min(in_s, in_r, in_c)
        found["TD"] += max(0, in_s - max(in_r, in_c))
        found["TI"] += max(0, min(in_r, in_c) - in_s)
        found["OD"] += max(0, min(in_s, in_r) - in_c)
        found["OI"] += max(0, in_c - max(in_s, in_r))
        found["UD"] += max(0, min(in_s, in_c) - in_r)
        found["UI"] += max(0, in_r - max(in_s, in_c))
    return list(found.values())


def all_f(regions: list[list[int]], beta: float, empty: str) -> list[float]:
    """F of orders 1, 1 to 2, ..."""
    precision = recall = 1.0
    found, share = [], 1 / (1 + beta * beta)
    for k, (tk, td, ti, od, oi, ud, ui) in enumerate(regions, 1):
        tp = tk + td + ti
        precision *= tp / (tp + od + oi) if tp + od + oi else 1
        recall *= tp / (tp + ud + ui) if tp + ud + ui else float(empty == "one")
        p, r = precision ** (1 / k), recall ** (1 / k)
        found.append(1 / (share / p + (1 - share) / r) if p and r else 0.0)
    return found


texts = st.lists(st.sampled_from("abc"), max_size=8).map(" ".join)
segments = st.lists(
    st.builds(Segment, texts, texts, st.tuples(st.none() | texts, texts, st.none() | texts)),
    min_size=1,
    max_size=6,
)


@settings(deadline=None)
@given(
    segments,
    st.integers(1, 5),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.sampled_from(["authors", "one"]),
    st.sampled_from(["word", "char"]),
)
def test_equals_the_slow_twin(batch, order, beta, empty, unit):
    m = Green(order=order, beta=beta, empty=empty, unit=unit)
    statistics = m.statistics(batch)
    scores = m.sentences(statistics)
    total = np.zeros((order, 7), dtype=int)
    regions: dict[int, list[list[int]]] = {}
    for row, segment in enumerate(batch):
        keys: dict[int, list[float]] = {}
        for slot, text in enumerate(segment.references):
            if text is None:
                continue
            three = (segment.source, segment.hypothesis, text)
            split = [each.split() if unit == "word" else list(each) for each in three]
            found = [seven(*(grams(tokens, n) for tokens in split)) for n in range(1, order + 1)]
            assert statistics.rows[row, slot].tolist() == truth(found)
            regions[slot] = found
            f = [round(value, 12) for value in all_f(found, beta, empty)]
            keys[slot] = f[::-1] if empty == "authors" else f[-1:]
        chosen = int(scores.chosen[row])
        assert keys[chosen] == max(keys.values())
        assert scores.values[row] == pytest.approx(keys[chosen][0])
        total += regions[chosen]
    value = m.score(statistics).value
    assert value == pytest.approx(all_f(total.tolist(), beta, empty)[-1])
    assert value == m.value_of(m.summands(statistics).sum(axis=0))


def test_repeated_trigrams():
    source = " ".join(["a", "b", "c"] * 100)
    hypothesis = " ".join(["a", "b", "c"] * 99 + ["a", "c", "b"])
    reference = " ".join(["a", "b"] * 3 + ["b", "c", "a"] * 98)
    segment = Segment(source, hypothesis, (reference,))
    split = [text.split() for text in (source, hypothesis, reference)]
    expected = [seven(*(grams(tokens, n) for tokens in split)) for n in range(1, 5)]
    assert Green().statistics([segment]).rows[0, 0].tolist() == truth(expected)


# Edge cases


@pytest.mark.parametrize(
    ("source", "hypothesis", "reference", "authors", "one"),
    [
        ("", "", "", 0, 1),
        ("a b c", "a b c", "a b c", 0, 1),
        ("a b c d", "a b c d", "a b c d", 1, 1),
        ("a b c d", "", "", 1, 1),
        ("a b c d", "", "a b c d", 0, 0),
        ("", "a b c d", "a b c d", 1, 1),
        (" a b  c d ", "a  b c d", "a b c d  ", 1, 1),
    ],
)
def test_sentences_at_the_edge(source, hypothesis, reference, authors, one):
    segment = Segment(source, hypothesis, (reference,))
    assert Green().evaluate([segment]).value == authors
    assert Green(empty="one").evaluate([segment]).value == one


def test_characters_of_the_whole_line():
    segment = Segment("ab ", "ab", ("ab",))
    statistics = Green(unit="char", order=1).statistics([segment])
    assert statistics.rows[0, 0].tolist() == [3, 0, 0]  # the last space is truly deleted


def test_ties_go_to_the_lower_orders_then_to_the_first():
    # too short for bigrams: F of orders 1 to 2 is 0 for both, that of order 1 decides
    segment = Segment("a", "b", ("a", "b", "b"))
    assert Green(order=2).explain(segment).chosen == 1
    longest_only = Green(order=2, empty="one").explain(Segment("a b", "a b", ("a b", "a b")))
    assert longest_only.chosen == 0


def test_missing_references_are_named():
    batch = [Segment("a", "a", (None, "a")), Segment("a", "a", (None, None)), Segment("b", "b")]
    statistics = Green().statistics(batch)
    score, scores = Green().score(statistics), Green().sentences(statistics)
    assert math.isnan(score.value)
    assert score.reason == scores.reason == "2 of 3 segments have no reference"
    assert scores.chosen.tolist() == [1, -1, -1]
    assert np.isnan(scores.values).tolist() == [False, True, True]
    assert np.isnan(Green().value_of(Green().summands(statistics).sum(axis=0)))
    assert math.isnan(Green().explain(batch[2]).value)
    assert Green().evaluate([]).reason == "no segments"
    assert len(Green().sentences(Green().statistics([]))) == 0


def test_many_resamples_at_once():
    batch = [Segment("a b c d", h, ("a b c d e", None)) for h in ("a b c d", "b c d e a")]
    statistics = Green().statistics(batch)
    weights = np.array([[[2.0, 0.0], [1.0, 1.0]], [[0.0, 2.0], [1.0, 0.0]]])
    values = Green().value_of(weights @ Green().summands(statistics))
    assert values.shape == (2, 2)
    assert values[0, 1] == Green().score(statistics).value
    assert values[1, 1] == Green().sentences(statistics).values[0]


def test_parts_are_geometric_means():
    segment = Segment("he go home now", "he goes home now", ("he goes home", "he goes home now ."))
    score = Green().evaluate([segment])
    p, r = score.parts["precision"], score.parts["recall"]
    assert score.value == pytest.approx(1 / (0.2 / p + 0.8 / r))


def test_explain_shows_the_counts():
    segment = Segment("he go home", "he goes home now", (None, "he goes home"))
    explanation = Green(order=2).explain(segment)
    assert explanation.chosen == 1
    (grid,) = explanation.grids
    # kept he, home; deleted go; inserted goes, and now against the reference
    assert grid.columns == ("count", "reference 1")
    assert grid.rows[:3] == (("tp1", "4"), ("fp1", "1"), ("fn1", "0"))


# The value and its spelling


def test_spelling_and_signature():
    assert metric("green") == Green()
    m = metric("green(order=3, beta=0.5, empty=one, unit=char)")
    assert metric(str(m)) == m
    assert str(Green().signature()).startswith(
        "green|order:4|beta:2.0|empty:authors|unit:word|tok:whitespace|version:"
    )


@pytest.mark.parametrize(
    "fields", [{"order": 0}, {"beta": 0}, {"beta": math.nan}, {"empty": "zero"}]
)
def test_impossible_fields(fields):
    with pytest.raises(UsageError, match=next(iter(fields))):
        Green(**fields)


def test_rows_are_shared_where_only_the_score_differs():
    batch = [Segment("a b", "a B c", ("a b c", "a c"))]
    default, other = Green(), Green(beta=0.5, empty="one")
    assert default.counting() == other.counting()
    assert (default.statistics(batch).rows == other.statistics(batch).rows).all()
    assert default.counting() != Green(order=3).counting()
