"""CLEME equals the authors' program, a slow twin, and figures by hand."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import made_models
from chunk_targets import (
    SYSTEMS,
    changes_of,
    read_json,
    read_table,
    references_of,
    sentence,
    sentences,
    targets_of,
)
from fake_annotator import FakeAnnotator
from grammeter.alignment.chunks import ChunkedSentence, ordered
from grammeter.alignment.verdicts import average_length, prf, rates
from grammeter.core import (
    Edit,
    MissingResourceError,
    Segment,
    Statistics,
    UsageError,
    apply,
    spelling,
)
from grammeter.metrics import cleme, kinds
from grammeter.metrics.cleme import Cleme
from grammeter.metrics.registry import build
from grammeter.models import ModelFiles, Runtime, TokenSimilarity, service, using

ASSUMPTIONS = {"dep": "dependent", "ind": "independent"}


def bag(pairs):
    """F1 of two bags of words: the similarity by which the goldens test weights exactly."""
    found = []
    for a, b in pairs:
        a, b = a.split(), b.split()
        common = sum(min(a.count(word), b.count(word)) for word in set(a))
        found.append(2 * common / (len(a) + len(b)) if a or b else 1.0)
    return found


@pytest.fixture(autouse=True)
def no_pipeline(monkeypatch):
    """Extract no edits but those that a test gives, and weigh similarity by bags of words."""
    fake = FakeAnnotator()
    monkeypatch.setattr(kinds, "annotator", lambda *_, **__: fake)
    return fake


@pytest.fixture
def bags(monkeypatch):
    """An encoder that is not there, and what it would say."""

    def answered(requests):
        columns = len(TokenSimilarity.columns)
        return [np.repeat(np.array(bag(each.items))[:, None], columns, 1) for each in requests]

    monkeypatch.setattr(service, "answer", answered)
    monkeypatch.setattr(Cleme, "used_layer", 1)
    monkeypatch.setattr(kinds, "find_model", lambda name: ModelFiles(name, Path("nowhere")))


def metric(row, **fields):
    """Make the metric of a golden row."""
    weights = {"bag": "similarity"}.get(row["weights"], row["weights"])
    return Cleme(
        assumption=ASSUMPTIONS[row["assumption"]], level=row["level"], weights=weights, **fields
    )


@pytest.fixture(scope="module")
def conll(shared):
    """Targets of a system and a set of references."""
    errant = shared / "golden" / "errant"
    files = {"ptm2": "ref_text_ptm2.m2", "auto": "official-2014.combined.auto.m2"}
    references = {refs: references_of(errant / name) for refs, name in files.items()}

    def targets(refs, system):
        return targets_of(errant / f"{system}.m2", references[refs])

    return targets


# Goldens: THUKElab/CLEME e90abea run on M2 files (golden/cleme/README.md)

WEIGHED = {
    "TP": "tp", "FP_ne": "fp_ne", "FP_un": "fp_un", "FP": "fp", "FN": "fn", "TN": "tn",
}  # fmt: skip
SHARES = {"P": "precision", "R": "recall", "acc": "accuracy"}
RATES = {name: name for name in ("hit", "wrong", "under", "over")}


def agrees(score, row, *, rounded=False):
    """Whether a score is that of a golden row; corpus P, R, F, accuracy have four digits."""
    ours = {name: score.parts[key] for name, key in (WEIGHED | RATES).items() if name in row}
    assert ours == {name: pytest.approx(float(row[name]), abs=2e-6) for name in ours}
    ours = {name: score.parts[key] for name, key in SHARES.items() if name in row}
    ours["F0.5" if "F0.5" in row else "score"] = score.value
    if rounded:
        assert {name: round(x, 4) for name, x in ours.items()} == {n: float(row[n]) for n in ours}
    else:
        assert ours == {n: pytest.approx(float(row[n]), abs=2e-6) for n in ours}


@pytest.mark.slow
@pytest.mark.parametrize("assumption", ["dep", "ind"])
def test_corpus_figures_are_the_authors(conll, shared, assumption):
    """All 13 systems, two sets of references, both levels, all length weights."""
    counted, compared = {}, 0
    for row in read_table(shared / "golden" / "cleme" / "cleme_corpus.tsv"):
        if row["assumption"] == assumption:
            own = metric(row)
            key = row["refs"], row["system"], own.weighting[:6]
            if key not in counted:
                counted = {key: own.count(conll(*key[:2]))} | {
                    k: v for k, v in counted.items() if k[:2] == key[:2]
                }
            agrees(own.score(counted[key]), row, rounded=row["level"] == "corpus")
            compared += 1
    assert compared == 130


@pytest.mark.slow
@pytest.mark.parametrize("assumption", ["dep", "ind"])
def test_corpus_figures_of_version_2_are_the_authors(conll, shared, bags, assumption):
    counted, compared = {}, 0
    for row in read_table(shared / "golden" / "cleme" / "cleme2_corpus.tsv"):
        sampled = row["weights"] == "none" or row["system"] in ("AMU", "POST", "INPUT")
        if row["assumption"] == assumption and sampled:
            own = metric(row, version=2)
            key = row["refs"], row["system"], own.weighting
            if key not in counted:
                counted = {key: own.count(conll(*key[:2]))} | {
                    k: v for k, v in counted.items() if k[:2] == key[:2]
                }
            agrees(own.score(counted[key]), row)
            compared += 1
    assert compared == 52 + 12


@pytest.mark.parametrize("system", ["AMU", "CAMB", "IITB"])
@pytest.mark.parametrize("assumption", ["dep", "ind"])
def test_each_reference_is_the_authors(conll, shared, system, assumption):
    rows = [
        row
        for row in read_table(shared / "golden" / "cleme" / "per_reference.tsv.gz")
        if (row["system"], row["assumption"]) == (system, assumption)
    ]
    targets = conll("ptm2", system)
    plain = Cleme(assumption=ASSUMPTIONS[assumption], weights="none")
    mild = Cleme(assumption=ASSUMPTIONS[assumption], weights="length-corpus")
    counts, weights = plain.count(targets), mild.count(targets)
    sums = mild.sums(weights)
    assert len(rows) == counts.present.sum()
    for row in rows:
        line = int(row["line"]) - 1
        slot = 0 if row["ref"] == "-" else counts.labels.index(int(row["ref"]))
        names = ("TP", "FP_ne", "FP_un", "FN", "TN")
        assert counts.rows[line, slot].tolist() == [int(row[name]) for name in names]
        assert counts.rows[line, slot].sum() == int(row["chunks"])
        tp, wrong, over, fn, _ = sums[line, slot]
        theirs = [float(row[name]) for name in ("wTP", "wFP", "wFN")]
        assert [tp, wrong + over, fn] == pytest.approx(theirs, abs=2e-6)


@pytest.mark.parametrize("system", ["AMU", "CAMB", "IITB"])
@pytest.mark.parametrize("assumption", ["dep", "ind"])
def test_each_sentence_is_the_authors(conll, shared, system, assumption):
    rows = [
        row
        for row in read_table(shared / "golden" / "cleme" / "per_sentence.tsv.gz")
        if (row["system"], row["assumption"]) == (system, assumption)
    ]
    assert len(rows) == 1312
    targets = conll("ptm2", system)

    def scored(**fields):
        own = Cleme(assumption=ASSUMPTIONS[assumption], **fields)
        return own.sentences(own.count(targets))

    for column, fields in {
        "corpus_ref": {"weights": "none"},
        "corpus_ref_weighted": {"weights": "length-corpus"},
        "cleme2_corpus_ref": {"version": 2, "weights": "none"},
    }.items():
        theirs = [-1 if row[column] == "-" else int(row[column]) for row in rows]
        found = scored(**fields)
        assert (found.in_corpus or found).chosen.tolist() == theirs
    for prefix, weights in {"": "none", "w": "length-corpus", "s": "length-sentence"}.items():
        found = scored(level="sentence", weights=weights)
        assert found.values.tolist() == [float(row[f"{prefix}F0.5"]) for row in rows]
        for name, key in SHARES.items():
            assert found.parts[key].tolist() == [float(row[prefix + name]) for row in rows]
    found = scored(level="sentence", version=2)
    columns = {name: found.parts[name] for name in RATES} | {"score": found.values}
    for name, ours in columns.items():
        assert ours == pytest.approx([float(row[name]) for row in rows], abs=2e-6)


def test_average_lengths_are_the_authors(conll, shared):
    goldens = read_json(shared / "golden" / "cleme" / "average_changed_chunk_length.json")
    for key in ("ptm2/AMU", "ptm2/INPUT", "auto/CAMB"):
        for assumption in ASSUMPTIONS.values():
            statistics = Cleme(assumption=assumption).count(conll(*key.split("/")))
            assert average_length(statistics) == pytest.approx(goldens[key], abs=1e-12)


@pytest.mark.parametrize("assumption", ["dep", "ind"])
@pytest.mark.parametrize("data", ["edge", "hypA", "hypB", "hypC"])
def test_small_corpora_are_the_authors(shared, bags, data, assumption):
    """38 cases made for CLEME and 22 invented sentences."""
    folder, tiny = shared / "golden" / "cleme", shared / "golden" / "neural" / "data"
    if data == "edge":
        targets = targets_of(folder / "edge_hyp.m2", references_of(folder / "edge_ref.m2"))
        figures = read_json(folder / "edge.json.gz")["figures"][assumption]
    else:
        targets = targets_of(tiny / f"{data}.m2", references_of(tiny / "reference.m2"))
        figures = read_json(folder / f"tiny_{data}.json.gz")["figures"][assumption]
    kinds = {"unweighted": "none", "weighted": "length-corpus"}
    for name, row in figures["corpus"].items():
        _, level, weighted, *constants = name.split("_")
        weights = constants[0] if constants else kinds[weighted]
        own = metric({"assumption": assumption, "level": level, "weights": weights})
        agrees(own.score(own.count(targets)), row, rounded=level == "corpus")
    compared = 0
    for name, row in figures.items():
        if name.startswith("cleme2_") and "_factors-" in name:
            _, level, weights, factors = name.split("_")
            golden = {"assumption": assumption, "level": level, "weights": weights}
            own = metric(golden, version=2, factors=cleme.FACTORS[factors[8:]])
            agrees(own.score(own.count(targets)), row)
            compared += 1
    assert compared == 8


def test_detection(conll):
    """The figures that the authors' program gives where it is asked from Python."""
    own = Cleme(weights="none", detection=True)
    parts = own.score(own.count(conll("ptm2", "AMU"))).parts
    assert [parts[key] for key in ("tp", "fp", "fn", "tn")] == [790, 407, 1415, 6243]


def human_scores(path):
    rows = [line.split("\t") for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    return {row[3]: float(row[-1]) for row in rows}


@pytest.mark.parametrize(
    ("assumption", "level", "version"),
    [("dep", "corpus", 1), ("ind", "sentence", 1), ("ind", "corpus", 2)],
)
def test_unchanged_references_left_out(conll, shared, assumption, level, version):
    """Correlations with Expected Wins; the only figures of this option."""
    (golden,) = [
        row
        for row in read_table(shared / "golden" / "cleme" / "correlations.tsv")
        if (row["refs"], row["metric"]) == ("ptm2-changed-only", "CLEME" + "2" * (version - 1))
        and (row["assumption"], row["level"], row["weights"]) == (assumption, level, "none")
        and row["n"] == "13"
    ]
    own = metric(golden, version=version, changed_only=True)
    ours = [own.score(own.count(conll("ptm2", system))).value for system in SYSTEMS]
    folder = shared / "data" / "meta_chollampatt_ng_2018" / "scores" / "system_scores_humans"
    humans = human_scores(folder / "expected_wins.txt.gz")
    pearson = np.corrcoef(ours, [humans[system] for system in SYSTEMS])[0, 1]
    assert pearson == pytest.approx(float(golden["EW_pearson"]), abs=1e-3)


# By hand


def corpus(*cases):
    """Make targets of (source, hypothesis edits, references' edits...)."""
    return [
        (sentence(source, *references), changes_of(source, *hypothesis))
        for source, hypothesis, *references in cases
    ]


SOURCE = "a b c d e f g"
BY_HAND = corpus(
    # against reference 0: hit, wrong, miss; against 1: two over-corrections
    (SOURCE, [(0, 1, "x"), (2, 3, "w")], [(0, 1, "x"), (2, 3, "y"), (6, 7, "z")], []),
    (SOURCE, [], [(0, 1, "x")], [(2, 3, "y")]),
)


def test_dependent_by_hand():
    score = Cleme(weights="none").score(Cleme(weights="none").count(BY_HAND))
    # P = 1/2, R = 1/3; F0.5 = 1.25 * 1/6 / (1/8 + 1/3); 5 + 4 chunks
    assert score.value == pytest.approx(5 / 11)
    assert score.parts == pytest.approx(
        {"precision": 1 / 2, "recall": 1 / 3, "accuracy": 6 / 9}
        | {"tp": 1, "fp_ne": 1, "fp_un": 0, "fn": 2, "tn": 5, "fp": 1}
    )


def test_independent_by_hand():
    own = Cleme(weights="none", assumption="independent")
    score = own.score(own.count(BY_HAND))
    # no chunk is changed by both references, so nothing is missed
    assert [score.parts[key] for key in ("tp", "fp_ne", "fp_un", "fn")] == [1, 1, 0, 0]
    assert score.value == pytest.approx(1.25 * 0.5 / (0.125 + 1))


def test_version_2_by_hand():
    own = Cleme(version=2)
    score = own.score(own.count(BY_HAND))
    assert score.value == pytest.approx(0.45 * 1 / 4 + 0.35 * 3 / 4 + 0.15 * 2 / 4 + 0.05)
    rates = {"hit": 1 / 4, "wrong": 1 / 4, "under": 2 / 4, "over": 0}
    assert {key: score.parts[key] for key in rates} == rates


def test_length_weights_by_hand():
    own = Cleme()  # length weights of the corpus level
    statistics = own.count(corpus((SOURCE, [(0, 1, "x")], [(0, 1, "x"), (3, 6, "y")])))
    assert average_length(statistics) == 2
    sums = own.sums(statistics)[0, 0]
    hit, miss = 2 / (1 + math.exp(1)), 2 / (1 + math.exp(-1))
    assert hit < 0.75 < 1.25 < miss
    assert sums.tolist() == [0.75, 0, 0, 1.25, 2]


def test_levels_by_hand():
    targets = corpus((SOURCE, [], []), (SOURCE, [(0, 1, "x")], [(1, 2, "x")], [(4, 5, "x")]))
    own = Cleme(level="sentence", weights="none")
    score = own.score(own.count(targets))
    assert score.value == (1 + 0) / 2
    assert score.parts["precision"] == 1 / 2
    assert (score.parts["fp"], score.parts["fn"]) == (1, 0)  # 0:2 is one chunk
    assert own.sentences(own.count(targets)).chosen.tolist() == [0, 0]


def test_shares_where_nothing_is_to_be_done():
    assert prf([0, 0, 0, 0, 3], 0.5) == (1, 1, 1, 1)
    assert prf([0, 0, 0, 2, 0], 0.5) == (0, 1, 0, 0)
    assert prf([0, 1, 1, 0, 0], 0.5) == (0, 0, 1, 0)
    assert rates([0, 0, 0, 0, 3], cleme.FACTORS["corpus"])[0] == pytest.approx(0.55)
    assert rates([0, 0, 0, 0, 3], cleme.FACTORS["sentence"])[0] == pytest.approx(0.65)
    assert rates([0, 0, 0, 2, 0], cleme.FACTORS["corpus"])[0] == pytest.approx(0.4)


# A slow twin, and invariants


def slow_chunks(source, versions):
    """Mark every place and token that an edit touches; chunks are the runs of marks."""
    size = len(source)
    # points 0, 1, 2 ... stand for: place before token 0, token 0, place before token 1 ...
    marked, joined = [False] * (2 * size + 1), [False] * (2 * size + 1)
    for edits in versions:
        for e in edits:
            for point in range(2 * e.start, 2 * e.end + 1):
                marked[point] = True
            for point in range(2 * e.start, 2 * e.end):
                joined[point] = True  # this point and the next belong together
    spans, point = [], 0
    while point <= 2 * size:
        first = point
        while joined[point]:
            point += 1
        if marked[first]:
            spans.append((first // 2, point // 2, True))
        elif first % 2:
            if spans and not spans[-1][2]:
                spans[-1] = (spans[-1][0], first // 2 + 1, False)
            else:
                spans.append((first // 2, first // 2 + 1, False))
        point += 1
    return spans


def slow_text(source, edits, span):
    start, end, changed = span
    inside = [e for e in edits if start <= e.start and e.end <= end] if changed else []
    moved = [Edit(e.start - start, e.end - start, e.correction) for e in inside]
    return apply(source[start:end], moved), bool(inside)


def slow_kind(hypothesis, references, independent):
    text, changed = hypothesis
    if changed:
        if any(text == reference for reference, _ in references):
            return "tp"
        return "fp_ne" if any(flag for _, flag in references) else "fp_un"
    if independent:
        return "fn" if all(flag for _, flag in references) else "tn"
    return "fn" if references[0][0] != text else "tn"


def slow_weight(kind, length, mean, metric):
    if metric.weighting == "none" or kind == "tn":
        return 1
    if metric.weighting == "length-corpus":
        alpha, (low, high) = 2, (0.75, 1.25)
    elif kind == "tp":
        alpha, (low, high) = 10, (2.5 if metric.assumption == "independent" else 1, 10)
    else:
        alpha, (low, high) = 10, (1, 1) if kind == "fn" else (0.25, 1)
    distance = length - mean if kind.startswith("fp") else mean - length
    return max(low, min(high, alpha / (1 + (alpha - 1) * math.exp(distance))))


def slow_measures(s, metric):
    """Return what is compared and averaged."""
    fp = s["fp_ne"] + s["fp_un"]
    if metric.version == 1:
        p = s["tp"] / (s["tp"] + fp) if s["tp"] + fp else 1
        r = s["tp"] / (s["tp"] + s["fn"]) if s["tp"] + s["fn"] else 1
        f = 1.25 * p * r / (0.25 * p + r) if p + r else 0
        acc = (s["tp"] + s["tn"]) / sum(s.values())
        return tuple(round(x, 4) for x in (f, p, r, acc))
    n, m = s["tp"] + s["fp_ne"] + s["fn"], s["tp"] + fp
    hit, wrong, under = ((s[k] / n if n else 0) for k in ("tp", "fp_ne", "fn"))
    over = s["fp_un"] / m if m else 0
    a = (0.45, 0.35, 0.15, 0.05) if metric.level == "corpus" else (0.35, 0.25, 0.2, 0.2)
    score = a[0] * hit + a[1] * (1 - wrong) + a[2] * (1 - under) + a[3] * (1 - over)
    return score, hit, -wrong, -under, -over


def slow_value(drawn, metric):
    """Score a corpus, everything anew for each sentence and reference."""
    options, lengths = [], []
    for source, (hypothesis, *references) in drawn:
        kept = [r for r in references if apply(source, r)] or references[:1]
        spans = slow_chunks(source, [hypothesis, *kept])
        groups = [kept] if metric.assumption == "independent" else [[r] for r in kept]
        for r in kept:
            cells = [(slow_text(source, r, span), span) for span in spans]
            lengths += [max(e - s, len(text)) for (text, flag), (s, e, _) in cells if flag]
        options.append([])
        for group in groups:
            kinds = []
            for span in spans:
                own = slow_text(source, hypothesis, span)
                theirs = [slow_text(source, r, span) for r in group]
                kind = slow_kind(own, theirs, metric.assumption == "independent")
                kinds.append((kind, max(span[1] - span[0], len(own[0]))))
            options[-1].append(kinds)
    mean = sum(lengths) / len(lengths) if lengths else 0

    def summed(kinds):
        found = dict.fromkeys(("tp", "fp_ne", "fp_un", "fn", "tn"), 0.0)
        for kind, length in sorted(kinds):  # in one order, so that equal sums are equal
            found[kind] += slow_weight(kind, length, mean, metric)
        return found

    total = dict.fromkeys(("tp", "fp_ne", "fp_un", "fn", "tn"), 0.0)
    values = []
    for sums in ([summed(kinds) for kinds in option] for option in options):
        if metric.level == "sentence":
            values.append(max(slow_measures(s, metric) for s in sums)[0])
            continue
        ranked = []
        for s in sums:
            together = {key: total[key] + s[key] for key in total}
            counts = (s["tp"], -s["fp_ne"] - s["fp_un"], -s["fn"], s["tn"])
            ranked.append(((slow_measures(together, metric)[0], *counts), together))
        total = max(ranked, key=lambda pair: pair[0])[1]
    if metric.level == "sentence":
        return sum(values) / len(values)
    return slow_measures(total, metric)[0]


metrics = st.builds(
    Cleme,
    version=st.sampled_from([1, 2]),
    assumption=st.sampled_from(["dependent", "independent"]),
    level=st.sampled_from(["corpus", "sentence"]),
    weights=st.sampled_from(["none", "length", "length-corpus", "length-sentence"]),
)
corpora = st.lists(sentences(least=2, most=4), min_size=1, max_size=4)


def targets_drawn(drawn):
    return [
        (
            ChunkedSentence(
                source, {k: ordered(source, edits) for k, edits in enumerate(references)}
            ),
            ordered(source, hypothesis),
        )
        for source, (hypothesis, *references) in drawn
    ]


def value(metric, targets):
    """Score, whether or not a reference changes anything."""
    statistics = metric.count(targets)
    if metric.level == "sentence":
        return metric.sentences(statistics).values.mean()
    return metric.value_of(metric.summands(statistics).sum(axis=0)).item()


@given(corpora, metrics)
def test_equals_its_twin(drawn, metric):
    ours, twin = value(metric, targets_drawn(drawn)), slow_value(drawn, metric)
    if metric.version == 1 and metric.level == "corpus":
        ours = round(ours, 4)
    assert ours == pytest.approx(twin, abs=1e-9)


@given(corpora, metrics, st.randoms())
def test_the_order_of_references_does_not_matter(drawn, metric, random):
    shuffled = [(source, [h, *random.sample(r, len(r))]) for source, (h, *r) in drawn]
    if all(any(apply(source, edits) for edits in r) for source, (_, *r) in drawn):
        again = value(metric, targets_drawn(shuffled))
        assert again == pytest.approx(value(metric, targets_drawn(drawn)), abs=1e-9)


@given(corpora, metrics)
def test_doubled_references_change_nothing(drawn, metric):
    doubled = [(source, [h, *r, *r]) for source, (h, *r) in drawn]
    if all(any(apply(source, edits) for edits in r) for source, (_, *r) in drawn):
        assert value(metric, targets_drawn(doubled)) == value(metric, targets_drawn(drawn))


@given(corpora, metrics)
def test_a_reference_as_hypothesis_is_perfect(drawn, metric):
    copied = [(source, [r[-1], *r]) for source, (_, *r) in drawn]
    if metric.version == 1 and all(apply(source, own[0]) for source, own in copied):
        assert value(metric, targets_drawn(copied)) == 1


@given(corpora, metrics)
def test_the_contract_of_a_metric(drawn, metric):
    statistics = metric.count(targets_drawn(drawn))
    again = Statistics.from_dict(json.loads(json.dumps(statistics.to_dict())))
    assert metric.value_of(metric.summands(again).sum(axis=0)) == value(
        metric, targets_drawn(drawn)
    )
    stacked = np.stack([metric.summands(statistics).sum(axis=0)] * 3).reshape(3, 1, -1)
    assert metric.value_of(stacked).shape == (3, 1)
    assert len(metric.sentences(statistics)) == len(drawn)
    assert metric == build(Cleme, spelling.parse(str(metric))[1])


def test_split_edits_change_nothing():
    whole = corpus((SOURCE, [(1, 4, "x y z")], [(1, 4, "x y z")], [(5, 6, "")]))
    split = corpus(
        (SOURCE, [(1, 2, "x"), (2, 3, "y"), (3, 4, "z")], [(1, 3, "x"), (3, 4, "y z")],
         [(5, 6, "")]),
    )  # fmt: skip
    for version in (1, 2):
        for assumption in ASSUMPTIONS.values():
            own = Cleme(version=version, assumption=assumption)
            assert own.score(own.count(split)) == own.score(own.count(whole))


def test_an_unchanged_hypothesis(conll):
    """Corpus F 0, version 2 a2 + a4; the sentence means are those of the specification."""
    targets = conll("ptm2", "INPUT")
    assert value(Cleme(), targets) == 0
    assert value(Cleme(version=2), targets) == pytest.approx(0.4)
    plain = {"level": "sentence", "weights": "none"}
    assert value(Cleme(**plain), targets) == pytest.approx(0.313, abs=5e-4)
    assert value(Cleme(**plain, assumption="independent"), targets) == pytest.approx(
        0.353, abs=5e-4
    )


def test_one_reference_makes_the_assumptions_equal(conll):
    targets = [
        (ChunkedSentence(s.source, {0: s.references[0]}), hypothesis)
        for s, hypothesis in conll("auto", "AMU")
    ]
    plain = Cleme(weights="none"), Cleme(weights="none", assumption="independent")
    dependent, independent = (own.score(own.count(targets)).parts for own in plain)
    assert dependent == independent


# The metric as users meet it


def test_texts_and_gold_edits_give_the_same(no_pipeline):
    source, output, reference = "a b c", "x b c", "x b y"
    edits = {
        (source, output): (Edit(0, 1, "x"),),
        (source, reference): (Edit(0, 1, "x"), Edit(2, 3, "y")),
    }
    no_pipeline.known = edits
    texts = Segment(source, output, (reference, None))
    gold = Segment(source, output, gold={0: edits[source, reference]})
    for own in (Cleme(), Cleme(version=2, assumption="independent")):
        assert own.evaluate([texts]) == own.evaluate([gold])
    assert no_pipeline.calls[1] == [(source, output)]  # gold edits are not extracted


def test_explanation(no_pipeline):
    no_pipeline.known = {(SOURCE, "x b w d e f g"): (Edit(0, 1, "x"), Edit(2, 3, "w"))}
    gold = {
        3: (Edit(6, 7, "z"),),
        5: (Edit(0, 1, "x"), Edit(2, 3, "y"), Edit(6, 7, "z")),
    }
    segment = Segment(SOURCE, "x b w d e f g", gold=gold)
    found = Cleme(weights="none").explain(segment)
    assert (found.value, found.chosen) == (0.5, 5)
    assert (found.parts["tp"], found.parts["fp"], found.parts["fn"]) == (1, 1, 1)
    assert [edit.verdict for edit in found.edits] == ["matched", "spurious", "missed"]
    chunks, references = found.grids
    assert chunks.rows[1] == ("2:3", "c", "w", "y", "fp_ne")
    assert references.columns[-1] == "F0.5"
    assert references.rows == (
        ("3", "0", "0", "2", "1", "2", "0.0000"),
        ("5", "1", "1", "0", "1", "2", "0.5000"),
    )
    together = Cleme(version=2, assumption="independent").explain(segment)
    assert together.chosen is None
    assert together.grids[1].rows[0][0] == "all"


@pytest.mark.parametrize(
    ("spelled", "weighting"),
    [
        ("cleme", "length-corpus"),
        ("cleme(level=sentence)", "length-sentence"),
        ("cleme(level=sentence, weights=length-corpus)", "length-corpus"),
        ("cleme(weights=none)", "none"),
        ("cleme(version=2)", "none"),
        ("cleme(version=2, weights=length)", "length-corpus"),
    ],
)
def test_spellings_and_signatures(spelled, weighting):
    own = build(Cleme, spelling.parse(spelled)[1])
    assert own.weighting == weighting
    signature = own.signature()
    assert signature["weights"] == weighting
    assert signature["pipeline"] == "fake-1.0"
    assert build(Cleme, spelling.parse(str(own))[1]) == own


def test_what_counts_alike_shares_rows():
    same = [Cleme(), Cleme(level="sentence"), Cleme(version=2, weights="length", beta=1)]
    assert len({own.counting() for own in same}) == 1
    targets = BY_HAND
    for own in same:
        assert own.score(same[0].count(targets)) == own.score(own.count(targets))
    others = [Cleme(weights="none"), Cleme(assumption="independent"), Cleme(detection=True),
              Cleme(changed_only=True), Cleme(pipeline="other"),
              *(Cleme(weights="similarity", version=version) for version in (1, 2))]  # fmt: skip
    assert len({own.counting() for own in [*same, *others]}) == 8
    assert Cleme(version=2).counting() == Cleme(weights="none").counting()


def test_factors_stand_in_the_signature():
    assert Cleme(version=2).signature()["factors"] == "0.45 0.35 0.15 0.05"
    own = build(Cleme, spelling.parse("cleme(version=2, factors=(0.5, 0.5, 0, 0))")[1])
    assert own.signature()["factors"] == "0.5 0.5 0 0"


@pytest.mark.parametrize(
    "fields",
    [
        {"beta": 0.0},
        {"beta": float("nan")},
        {"version": 3},
        {"level": "system"},
        {"weights": "short"},
        {"factors": (1.0,)},
        {"factors": (0.5, 0.5, 0.5, 0.5)},
        {"factors": (1.5, -0.5, 0.0, 0.0)},
        {"factors": ("a", "b", "c", "d")},
        {"model": "some/folder"},
        {"layer": 4, "version": 2},
    ],
)
def test_impossible_fields(fields):
    with pytest.raises(UsageError):
        Cleme(**fields)


# Similarity weights


@pytest.mark.parametrize("assumption", ["dep", "ind"])
@pytest.mark.parametrize("system", "ABC")
def test_similarity_weights_are_the_authors(shared, system, assumption):
    """CLEME 2.0 with bert-score 0.3.13 on a tiny model, layer 2."""
    neural = shared / "golden" / "neural"
    figures = read_json(shared / "golden" / "cleme" / "tiny_bertscore.json")[system][assumption]
    targets = targets_of(
        neural / "data" / f"hyp{system}.m2", references_of(neural / "data" / "reference.m2")
    )
    model, compared = str(neural / "tiny_models" / "bert-uncased"), 0
    for name, row in figures.items():
        if name != "weights":
            _, level, _, factors = name.split("_")
            own = Cleme(
                version=2, assumption=ASSUMPTIONS[assumption], level=level, model=model, layer=2,
                factors=cleme.FACTORS[factors[8:]],
            )  # fmt: skip
            score = own.score(own.count(targets))
            names = {
                key: score.parts[name] for key, name in (WEIGHED | RATES).items() if key in row
            }
            ours = {**names, "score": score.value}
            assert ours == {key: pytest.approx(row[key], abs=1e-5) for key in ours}
            compared += 1
    assert compared == 4


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return made_models.encoder(tmp_path_factory.mktemp("cleme"))


SIMILAR = [
    Segment("a b c", "a x c", ("a x c", "a b y")),
    Segment("the cat go", "the cat go", ("the cat goes", None)),
    Segment("the cat go", "The cat goes", ("the cat goes", "the Cat go")),
    Segment("a b", "", ("a c", "a b")),
]


@pytest.mark.parametrize("assumption", ASSUMPTIONS.values())
@pytest.mark.parametrize("version", [1, 2])
def test_similarity_weights_by_the_encoder(no_pipeline, encoder, version, assumption):
    own = Cleme(version=version, assumption=assumption, weights="similarity", model=encoder)
    rows = own.statistics(SIMILAR).rows
    for budget in (1, 1000):
        with using(Runtime(batch_tokens=budget)):
            again = own.statistics(SIMILAR[::-1]).rows[::-1]
        assert again == pytest.approx(rows, abs=1e-5)
    score = own.score(own.statistics(SIMILAR))
    assert 0 < score.value < 1
    assert own.explain(SIMILAR[0]).chosen in (0, 1)


def test_the_encoder_stands_in_the_signature(encoder):
    own = build(Cleme, spelling.parse(f"cleme(version=2, model='{encoder}')")[1])
    assert own.weighting == "similarity"
    assert own.models() == {"model": encoder}
    signature = dict(own.signature())
    assert signature["layer"] == "1"
    assert len(signature["model-hash"]) == 16
    assert build(Cleme, spelling.parse(str(own))[1]) == own
    assert Cleme().models() == Cleme(version=2).models() == {}
    assert "model-hash" not in dict(Cleme().signature())


def test_what_the_encoder_lacks_is_said_before_any_work(encoder):
    assert Cleme(weights="similarity").models() == {"model": "bert-base-uncased"}
    with pytest.raises(MissingResourceError, match="hf download no-such/encoder"):
        _ = Cleme(version=2, model="no-such/encoder").notice
    with pytest.raises(UsageError, match="has 2 layers"):
        _ = Cleme(version=2, model=encoder, layer=4).notice


def test_weights_of_zero(bags):
    """Version 1 counts a chunk that moves nothing whole, version 2 not at all."""
    targets = corpus(("a b", [(0, 2, "b a")], [(0, 1, "x")]))
    for version, expected in ((1, 1), (2, 0)):
        own = Cleme(version=version, weights="similarity")
        assert own.score(own.count(targets)).parts["fp_ne"] == expected


def test_references_that_change_nothing():
    own = Cleme()
    statistics = own.count(corpus(("a b", [(0, 1, "x")], [])))
    with pytest.warns(UserWarning, match="no reference changes anything"):
        score = own.score(statistics)
    assert (score.value, score.parts["precision"]) == (0, 0)


def test_an_empty_hypothesis():
    own = Cleme(weights="none")
    statistics = own.count(corpus(("a b", [(0, 2, "")], [(0, 1, "x")], [(0, 2, "")])))
    assert statistics.labels == (0,)  # the empty reference is left out
    assert statistics.rows.tolist() == [[[0, 1, 0, 0, 0]]]


def test_edits_are_shown_with_what_they_weigh() -> None:
    """The weights of the edits by verdict are the sums of the sentence."""
    segment = Segment(
        source="he go to the school every days",
        hypothesis="he goes to school all days quickly",
        references=("he goes to school every day",),
    )
    for level in ("corpus", "sentence"):
        explained = Cleme(pipeline="plain", level=level).explain(segment)
        sums: dict[str, float] = dict.fromkeys(("matched", "spurious", "missed"), 0.0)
        for judged in explained.edits:
            assert judged.weight is not None
            sums[judged.verdict] += judged.weight
        _, tp, wrong, over, fn, *_ = map(float, explained.grids[1].rows[0])
        shown = tp, wrong + over, fn
        assert tuple(sums.values()) == pytest.approx(shown, rel=1e-5)
    plain = Cleme(pipeline="plain", weights="none").explain(segment)
    assert {judged.weight for judged in plain.edits} == {None}
