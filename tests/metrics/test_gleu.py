"""GLEU equals the authors' program, figures published with it, and a slow twin."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_golden import cells, conll14, distinct, read_lines, table

from grammeter.core import Segment, UsageError
from grammeter.metrics import gleu
from grammeter.metrics.base import Metric
from grammeter.metrics.gleu import Gleu, SentGleu
from grammeter.metrics.registry import metric

TEN = "hlen rlen n1 d1 n2 d2 n3 d3 n4 d4".split()  # noqa: SIM905 - as in the golden's header


@pytest.fixture(scope="module")
def conll(shared):
    return conll14(shared)


@pytest.fixture(scope="module")
def statistics(conll):
    return Gleu().statistics(conll.segments)


@pytest.fixture
def classic(shared):
    return shared / "golden" / "classic"


# Goldens: cnap/gec-ranking 50b5032, scripts/compute_gleu under Python 2.7.18, 500 iterations


def test_corpus_scores_are_the_authors(conll, statistics, classic):
    rows = table(classic / "gleu_corpus.tsv")
    assert len(rows) == 13
    for row in rows:
        score = Gleu().score(statistics.take(conll.rows[row["system"]]))
        assert score.value == pytest.approx(float(row["mean"]), abs=1e-12)
        assert score.parts["std"] == pytest.approx(float(row["std"]), abs=1e-12)
        assert score.n == 1312


def test_each_reference_alone(conll, classic):
    for number in (0, 1):
        alone = [Segment(s.source, s.hypothesis, (s.references[number],)) for s in conll.segments]
        statistics = Gleu().statistics(alone)
        for row in table(classic / "gleu_corpus.tsv"):
            score = Gleu().score(statistics.take(conll.rows[row["system"]]))
            assert score.value == pytest.approx(float(row[f"ref{number}_only"]), abs=1e-12)
            assert score.parts["std"] == 0


def test_every_iteration_is_the_authors(conll, statistics, classic):
    rows = table(classic / "gleu_iterations.tsv.gz")
    for system, chosen in conll.rows.items():
        sums = gleu._drawn_sums(statistics.take(chosen), 500)
        expected = [float(row[system]) for row in rows]
        assert Gleu().value_of(sums) == pytest.approx(expected, abs=1e-12)


def test_sentence_scores_are_the_authors(conll, statistics, classic):
    scores = Gleu().sentences(statistics)
    rows = table(classic / "gleu_sentences.tsv.gz")
    assert len(rows) == 17_056
    at = [conll.rows[row["system"]][int(row["line"])] for row in rows]
    assert scores.values[at] == pytest.approx([float(row["mean"]) for row in rows], abs=1e-10)
    assert scores.parts["std"][at] == pytest.approx([float(row["std"]) for row in rows], abs=1e-10)
    assert (scores.chosen == -1).all()


def test_statistics_are_the_authors(conll, statistics, classic):
    rows = table(classic / "gleu_stats_AMU_POST.tsv.gz")
    assert len(rows) == 2 * 2 * 1312
    at = [conll.rows[row["system"]][int(row["line"])] for row in rows]
    ours = statistics.rows[at, [int(row["ref"]) for row in rows]]
    assert ours.tolist() == [[int(row[name]) for name in TEN] for row in rows]


def test_scores_published_by_chollampatt_and_ng_2018(conll, statistics, shared):
    folder = shared / "data" / "meta_chollampatt_ng_2018" / "scores"
    scores = Gleu().sentences(statistics).values
    # without a header: metric, pair, set, system, line from 0, score with 4 digits
    rows = cells(folder / "sentence_scores_metrics" / "gleu.txt.gz")
    assert len(rows) == 17_056
    at = [conll.rows[row[3]][int(row[4])] for row in rows]
    assert scores[at] == pytest.approx([float(row[5]) for row in rows], abs=5.1e-5)


def jfleg(shared, part: str, hypothesis: str):
    folder = shared / "data" / "jfleg" / part
    references = [read_lines(folder / f"{part}.ref{number}") for number in range(4)]
    sources = read_lines(folder / f"{part}.src")
    return distinct(sources, references, {"output": read_lines(folder / hypothesis)}).of("output")


def test_jfleg_corpus(shared, classic):
    for row in table(classic / "gleu_jfleg.tsv"):
        segments = jfleg(shared, row["set"], row["hypothesis"])
        score = Gleu().evaluate(segments)
        assert score.value == pytest.approx(float(row["mean"]), abs=1e-12)
        assert score.parts["std"] == pytest.approx(float(row["std"]), abs=1e-12)
        for number in range(4):
            alone = [Segment(s.source, s.hypothesis, (s.references[number],)) for s in segments]
            value = Gleu().evaluate(alone).value
            assert value == pytest.approx(float(row[f"ref{number}"]), abs=1e-12)


def test_jfleg_sentences(shared, classic):
    rows = table(classic / "gleu_jfleg_sentences.tsv.gz")
    for part, hypothesis in sorted({(row["set"], row["hypothesis"]) for row in rows}):
        scores = Gleu().sentences(Gleu().statistics(jfleg(shared, part, hypothesis)))
        expected = [
            float(r["mean"]) for r in rows if (r["set"], r["hypothesis"]) == (part, hypothesis)
        ]
        assert scores.values == pytest.approx(expected, abs=1e-10)


def test_expected_statistics_are_near_the_draws(conll, statistics):
    expected = Gleu(references="expected")
    for rows in conll.rows.values():
        chosen = statistics.take(rows)
        exact, sampled = expected.score(chosen), Gleu().score(chosen)
        assert abs(exact.value - sampled.value) < 2.4e-4  # the specification's figure
        assert exact.parts == {}
        assert exact.value == Gleu().value_of(Gleu().summands(chosen).sum(axis=0))


# Goldens: shotakoyama/gleu 6cd1ee1, options -m (the best reference) and mgleu (mean of sentences)

gleu_variants = ("original", "multiset", "paper")
VARIANTS = {
    "default -f": "gleu",
    "-n 6 -t char -f (500)": "gleu(order=6, unit=char)",
    "-m": "gleu(references=best)",
    "-n 2 -m": "gleu(references=best, order=2)",
    "-n 6 -t char -m": "gleu(references=best, order=6, unit=char)",
    "mgleu": "sent-gleu",
    "mgleu -m": "sent-gleu(references=best)",
    "mgleu -n 6 -t char": "sent-gleu(order=6, unit=char)",
}


@pytest.fixture(scope="module")
def variants(shared):
    folder = shared / "golden" / "gleu_variants"
    return {
        name: json.loads((folder / f"{name}.json").read_text()) for name in ("conll14", "jfleg")
    }


@pytest.mark.parametrize(("options", "spelled"), VARIANTS.items())
def test_best_references_and_sentence_means_are_those_of_another_program(
    conll, variants, options, spelled
):
    expected = variants["conll14"]["runs"]["skip"][options]
    assert {"AMU", "CAMB", "INPUT"} <= {*expected}
    for system in ("AMU", "CAMB", "INPUT"):
        value = metric(spelled).evaluate(conll.of(system)).value
        assert 100 * value == pytest.approx(expected[system], abs=5.1e-7)


def test_sentences_are_those_of_another_program(conll, variants):
    expected = variants["conll14"]["sentence_skip"]
    for column, system in enumerate(expected["systems"]):
        segments = conll.of(system)[: expected["lines"]]
        statistics = SentGleu().statistics(segments)
        for kind, m in (("mean", SentGleu()), ("max", SentGleu(references="best"))):
            values = [row[column] for row in expected[kind]]
            assert 100 * m.sentences(statistics).values == pytest.approx(values, abs=5.1e-7)


@pytest.mark.parametrize("options", ["", "references=best, ", "references=expected, "])
def test_signatures_name_what_moves_a_figure_from_54_to_89(options):
    shown = str(metric(f"gleu({options}unit=char, order=6)").signature())
    for name in ("references", "unit", "order", "variant"):
        assert f"{name}:" in shown or f"{name}=" in shown
    shown = str(metric("sent-gleu(smooth=one)").signature())
    assert "smooth:one" in shown or "smooth=one" in shown


def test_the_paper_lets_a_sentence_take_from_the_others():
    lost = Segment("a a b", "a a b", ("c d e",))
    right = Segment("x y", "z y", ("z y",))
    rows = {v: SentGleu(variant=v).statistics([lost]).rows[0, 0, 2] for v in gleu_variants}
    assert rows == {"original": 0, "multiset": 0, "paper": -3}
    values = {v: Gleu(variant=v, order=1).evaluate([lost, right]).value for v in gleu_variants}
    assert values == {"original": 2 / 5, "multiset": 2 / 5, "paper": 0.0}
    assert SentGleu(variant="paper").evaluate([lost]).value == 0.0


@pytest.mark.parametrize("part", ["dev", "test"])
def test_four_references_of_jfleg_as_in_another_program(shared, variants, part):
    segments, expected = jfleg(shared, part, f"{part}.src"), variants["jfleg"][part]
    best = Gleu(references="best").evaluate(segments).value
    assert 100 * best == pytest.approx(expected["best reference"]["source"], abs=5.1e-7)
    mean = SentGleu().evaluate(segments).value
    assert 100 * mean == pytest.approx(expected["sentence mean"]["source"], abs=5.1e-7)


# A slow twin


def grams(tokens, n):
    return Counter(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def ten(source: str, hypothesis: str, reference: str, order: int, variant: str) -> list[int]:
    s, h, r = source.split(), hypothesis.split(), reference.split()
    counts = [len(h), len(r)]
    for n in range(1, order + 1):
        in_s, in_h, in_r = grams(s, n), grams(h, n), grams(r, n)
        penalty = 0
        for gram, count in (in_h & in_s).items():
            if variant != "original":
                penalty += max(count - in_r[gram], 0)
            elif gram not in in_r:
                penalty += count
        gained = (in_h & in_r).total() - penalty
        counts += [gained if variant == "paper" else max(gained, 0), max(len(h) + 1 - n, 0)]
    return counts


def one_score(counts: list[float]) -> float:
    if min(counts) <= 0:
        return 0.0
    c, r, *ratios = counts
    logs = [math.log(num / den) for num, den in zip(ratios[::2], ratios[1::2], strict=True)]
    return math.exp(min(0, 1 - r / c) + sum(logs) / len(logs))


texts = st.lists(st.sampled_from("abc"), max_size=8).map(" ".join)
segments = st.lists(
    st.builds(
        Segment,
        texts,
        texts,
        st.tuples(texts, st.none() | texts, st.none() | texts).map(lambda r: (r[1], r[0], r[2])),
    ),
    min_size=1,
    max_size=6,
)


@settings(deadline=None)
@given(segments, st.integers(1, 5), st.sampled_from(gleu_variants), st.integers(1, 9))
def test_equals_the_slow_twin(batch, order, variant, iterations):
    m = Gleu(order=order, variant=variant, iterations=iterations)
    rows = [[ten(s.source, s.hypothesis, text, order, variant) for text in s.texts] for s in batch]
    statistics = m.statistics(batch)
    ours = [
        [row for row, there in zip(slots, present, strict=True) if there]
        for slots, present in zip(statistics.rows.tolist(), statistics.present, strict=True)
    ]
    assert ours == rows

    alone = [
        [one_score([max(count, 0) or 1 for count in counts]) for counts in slots] for slots in rows
    ]
    scores = m.sentences(statistics)
    assert scores.values == pytest.approx([fmean(each) for each in alone])
    assert scores.parts["std"] == pytest.approx([pstdev(each) for each in alone], abs=1e-9)

    drawn = []
    for j in range(iterations if max(map(len, rows)) > 1 else 1):
        stream = random.Random(101 * j)
        picked = [slots[int(stream.random() * len(slots))] for slots in rows]
        drawn.append(one_score([sum(column) for column in zip(*picked, strict=True)]))
    score = m.score(statistics)
    assert score.value == pytest.approx(fmean(drawn))
    assert score.parts["std"] == pytest.approx(pstdev(drawn), abs=1e-9)
    assert score.parts["high"] - score.parts["low"] == pytest.approx(3.92 * score.parts["std"])


def factors(counts: list[int]) -> list[float]:
    """Return brevity penalty times precision by order; precision is 1 where there is nothing."""
    c, r, *ratios = counts
    brevity = 1.0 if c >= r else math.exp(1 - r / c) if c else 0.0
    pairs = zip(ratios[::2], ratios[1::2], strict=True)
    return [brevity * (max(num, 0) / den if den else 1.0) for num, den in pairs]


def geometric_mean(values: list[float]) -> float:
    return math.exp(fmean(map(math.log, values))) if all(values) else 0.0


@settings(deadline=None)
@given(segments, st.integers(1, 5), st.sampled_from(["original", "multiset", "paper"]))
def test_sentences_equal_the_slow_twin(batch, order, variant):
    rows = [[ten(s.source, s.hypothesis, text, order, variant) for text in s.texts] for s in batch]
    alone = [[geometric_mean(factors(counts)) for counts in slots] for slots in rows]
    mean, best = (SentGleu(order=order, variant=variant, references=r) for r in ("mean", "best"))
    statistics = mean.statistics(batch)
    assert mean.sentences(statistics).values == pytest.approx([fmean(scores) for scores in alone])
    assert mean.score(statistics).value == pytest.approx(fmean(map(fmean, alone)))
    assert best.sentences(statistics).values == pytest.approx([max(scores) for scores in alone])
    smoothed = SentGleu(order=order, variant=variant, smooth="one").sentences(statistics)
    official = Gleu(order=order, variant=variant).sentences(statistics)
    assert smoothed.values.tolist() == official.values.tolist()


def test_equal_references_are_told_apart_by_the_longest_ngrams():
    # no 4-gram in common with either; a trigram with the second; the third is the second again
    texts = ("a b x d e", "a b c x e", "a b c x e")
    segment = Segment("q", "a b c d e", texts)
    scores = Gleu(references="best").sentences(Gleu().statistics([segment]))
    assert (scores.values.tolist(), scores.chosen.tolist()) == ([0.0], [1])
    assert Gleu(references="best", order=2).explain(segment).chosen == 0  # equal: the first
    rows = Gleu().statistics([segment]).rows[:, 1]
    assert Gleu(references="best").summands(Gleu().statistics([segment])).tolist() == rows.tolist()


def test_draws_in_blocks_are_the_same(monkeypatch):
    batch = [Segment("a b c d", "a b c d", ("a b c d", "a b d c")) for _ in range(7)]
    batch += [Segment("a b c d", "a b c", ("a b c", None, "c c c c c"))]
    whole = Gleu(iterations=20).evaluate(batch)
    monkeypatch.setattr(gleu, "_DRAWS", 24)
    assert Gleu(iterations=20).evaluate(batch).to_dict() == whole.to_dict()


def test_set_difference_quirk():
    # "b" stands twice in source and hypothesis, once in the reference
    kept = Segment("a b b", "a b b", ("a b",))
    columns = ["num1", "den1"]
    original, multiset = (
        Gleu(order=1, variant=v).statistics([kept]) for v in ("original", "multiset")
    )
    assert list(original.columns[2:]) == columns
    assert original.rows[0, 0].tolist() == [3, 2, 2, 3]
    assert multiset.rows[0, 0].tolist() == [3, 2, 1, 3]


def test_repeated_trigrams():
    source = " ".join(["a", "b", "c"] * 100)
    hypothesis = " ".join(["a", "b", "c"] * 99 + ["a", "c", "b"])
    reference = " ".join(["a", "b"] * 3 + ["b", "c", "a"] * 98)
    segment = Segment(source, hypothesis, (reference,))
    for variant in ("original", "multiset"):
        statistics = Gleu(variant=variant).statistics([segment])
        assert statistics.rows[0, 0].tolist() == ten(source, hypothesis, reference, 4, variant)


# Edge cases


@pytest.mark.parametrize(
    ("source", "hypothesis", "reference", "value"),
    [
        ("", "", "", 1.0),
        ("a b", "", "", 1.0),
        ("a b", "", "x", 1.0),
        ("a b", "", " ".join("x" * 21), math.exp(-20)),
        ("a b c", "a b c", "a b c", 1.0),
        ("", "a b c d", "a b c d", 1.0),
        ("a b c d", "a b c d", "a b c d", 1.0),
        ("a  b c d ", " a b  c d", "a b c d\N{NO-BREAK SPACE}", 1.0),
        ("a b c d e", "a b c d", "a b c d e", math.exp(1 - 5 / 4)),
    ],
)
def test_sentences_at_the_edge(source, hypothesis, reference, value):
    segment = Segment(source, hypothesis, (reference,))
    assert Gleu().explain(segment).value == pytest.approx(value)


def test_corpora_at_the_edge():
    perfect = Segment("a b c d", "a b c d", ("a b c d",))
    assert Gleu().evaluate([perfect]).value == 1
    assert Gleu().evaluate([Segment("a", "", ("a b c d e",))] * 3).value == 0
    assert Gleu().evaluate([Segment("a b c", "a b c", ("a b c",))]).value == 0  # no 4-gram
    with_empty = [perfect, Segment("a", "", ("a b c d",))]
    assert Gleu().evaluate(with_empty).value == pytest.approx(math.exp(1 - 8 / 4))


def test_missing_references_are_named():
    batch = [Segment("a", "a", ("a", None)), Segment("a", "a", (None, None)), Segment("b", "b")]
    statistics = Gleu().statistics(batch)
    score, scores = Gleu().score(statistics), Gleu().sentences(statistics)
    assert math.isnan(score.value)
    assert score.reason == scores.reason == "2 of 3 segments have no reference"
    assert np.isnan(scores.values).tolist() == [False, True, True]
    assert np.isnan(Gleu().value_of(Gleu().summands(statistics).sum(axis=0)))
    assert math.isnan(Gleu().explain(batch[1]).value)
    assert Gleu().score(statistics.take([0])).reason is None
    assert Gleu().evaluate([]).reason == "no segments"
    assert len(Gleu().sentences(Gleu().statistics([]))) == 0


def test_characters_of_the_stripped_line():
    segment = Segment(" ab c ", "ab c  ", ("ab d",))
    statistics = Gleu(unit="char", order=2).statistics([segment])
    # a, b and space match, c is penalised; "ab" and "b " match, " c" is penalised
    assert statistics.rows[0, 0].tolist() == [4, 4, 2, 4, 1, 3]


def test_many_resamples_at_once():
    batch = [Segment("a b c d", h, ("a b c d e", None, "a b")) for h in ("a b c d", "b c d e a")]
    sums = Gleu().summands(Gleu().statistics(batch))
    weights = np.array([[[2.0, 0.0], [1.0, 1.0]], [[0.0, 2.0], [0.0, 0.0]]])
    values = Gleu().value_of(weights @ sums)
    assert values.shape == (2, 2)
    assert values[1, 1] == 0
    assert values[0, 1] == Gleu(references="expected").evaluate(batch).value


def test_explain_shows_what_was_gained_and_penalised():
    segment = Segment("he go home", "he goes home home", ("he goes home", None, "he went home"))
    explanation = Gleu(order=2).explain(segment)
    statistics = Gleu(order=2).statistics([segment])
    sums, shared = explanation.grids
    assert sums.columns == ("count", "reference 0", "reference 2")
    columns = zip(*(map(int, row[1:]) for row in sums.rows), strict=True)
    assert [list(column) for column in columns] == statistics.rows[0, [0, 2]].tolist()
    assert [row[:2] for row in shared.rows] == [("0", "1"), ("0", "2"), ("2", "1"), ("2", "2")]
    assert shared.rows[0][2:] == ("3", "0", "4", "'goes'", "")
    kept = Gleu(order=1, unit="char").explain(Segment("ax x", "ax x", ("a y",)))
    assert kept.grids[1].rows[0][2:] == ("2", "2", "4", "", "'x' x2")
    kept = Gleu(order=1, variant="multiset").explain(Segment("x x", "x x", ("x",)))
    assert kept.grids[1].rows[0][2:] == ("1", "1", "2", "", "'x'")


@pytest.mark.parametrize(
    ("hypothesis", "reference", "none", "one"),
    [
        ("", "", 1, 1),
        ("", "x y", 0, math.exp(-1)),
        ("a", "a", 1, 1),
        ("a b c", "x", 0, 1 / 6**0.25),
    ],
)
def test_sentence_means_at_the_edge(hypothesis, reference, none, one):
    segment = Segment("", hypothesis, (reference,))
    for references in ("mean", "best"):
        for smooth, value in ((None, none), ("one", one)):
            m = SentGleu(references=references, smooth=smooth)
            assert m.evaluate([segment]).value == pytest.approx(value)
            assert m.explain(segment).value == pytest.approx(value)


def test_missing_references_of_sentence_means_are_named():
    batch = [Segment("a", "a", (None, "a", "b")), Segment("a", "a", (None, None))]
    for m in (SentGleu(), SentGleu(references="best"), Gleu(references="best")):
        statistics = m.statistics(batch)
        assert "1 of 2 segments" in m.score(statistics).reason
        assert np.isnan(m.sentences(statistics).values).tolist() == [False, True]
        assert math.isnan(m.evaluate([]).value)
    assert SentGleu(references="best").sentences(statistics).chosen.tolist() == [1, -1]


# The value and its spelling


def test_spelling_and_signature():
    assert metric("gleu") == Gleu()
    m = metric("gleu(order=3, references=expected, unit=char, variant=multiset)")
    assert isinstance(m, Metric)
    assert metric(str(m)) == m
    assert str(Gleu().signature()).startswith(
        "gleu|order:4|iterations:500|variant:original|references:sampled|unit:word"
        "|tok:whitespace|seeds:101*j|version:"
    )
    assert "seeds" not in str(m.signature())
    assert str(metric("sent-gleu(smooth=none)").signature()).startswith(
        "sent-gleu|order:4|variant:original|references:mean|smooth:none|unit:word|tok:whitespace|"
    )
    assert (
        str(SentGleu(smooth="one", references="best")) == "sent-gleu(references=best, smooth=one)"
    )
    assert (Gleu().resampling, Gleu(references="best").resampling) == (
        "expected statistics", "chosen references fixed"
    )  # fmt: skip


@pytest.mark.parametrize(
    "fields", [{"order": 0}, {"iterations": 0}, {"variant": "2015"}, {"unit": 1}]
)
def test_impossible_fields(fields):
    with pytest.raises(UsageError, match=next(iter(fields))):
        Gleu(**fields)


@pytest.mark.parametrize(
    "fields", [{"references": "sampled"}, {"smooth": "two"}, {"order": 0}, {"unit": "line"}]
)
def test_impossible_fields_of_sentence_means(fields):
    with pytest.raises(UsageError, match=f"sent-gleu: {next(iter(fields))}"):
        SentGleu(**fields)


def test_rows_are_shared_where_only_the_score_differs():
    batch = [Segment("a b", "a B c", ("a b c", "a c"))]
    default, other = Gleu(), Gleu(references="expected", iterations=3)
    assert default.counting() == other.counting() == Gleu(references="best").counting()
    assert SentGleu(smooth="one").counting() == SentGleu(references="best").counting()
    assert (default.statistics(batch).rows == other.statistics(batch).rows).all()
    assert default.counting() != Gleu(order=3).counting()
