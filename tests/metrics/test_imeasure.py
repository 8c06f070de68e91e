"""The I-measure equals the authors' program and the published figures, and a slow twin."""

from __future__ import annotations

import gzip
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.alignment import threeway
from grammeter.core import Edit, Segment, Statistics, UsageError
from grammeter.formats import read_corpus
from grammeter.metrics.imeasure import IMeasure
from grammeter.metrics.registry import metric


def read(path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def rows_of(path):
    header, *rows = [line.split("\t") for line in read(path).splitlines()]
    return [dict(zip(header, row, strict=True)) for row in rows]


def percent(value: float) -> str:
    """As the program prints it; 0 has no sign."""
    return f"{100 * value:.2f}".replace("-0.00", "0.00")


@pytest.fixture(scope="module")
def conll(shared):
    folder = shared / "data" / "conll14_test"
    systems = sorted((folder / "official_systems").iterdir())
    gold = folder / "noalt" / "official-2014.combined.m2"
    return read_corpus(source=folder / "source.txt", references=[gold], systems=systems)


@pytest.fixture(scope="module")
def statistics(conll):
    """All systems in one batch, then taken apart."""
    names = list(conll.systems)
    rows = IMeasure().statistics([s for name in names for s in conll.segments(name)])
    size = len(conll)
    return {name: rows.take(range(n * size, (n + 1) * size)) for n, name in enumerate(names)}


@pytest.fixture
def classic(shared):
    return shared / "golden" / "classic"


# Goldens: mfelice/imeasure fc79fdf, m2_to_ixml.py, then ieval.py -nomix -per-sent, Python 2.7.18


def test_corpus_figures_are_the_authors(statistics, classic):
    rows = rows_of(classic / "imeasure_corpus.tsv")
    assert len(rows) == 2 * 13
    for row in rows:
        score = IMeasure().score(statistics[row["system"]])
        prefix = "detection_" if row["aspect"] == "Detection" else ""
        parts = {**score.parts, "i": score.value}
        for name in ("tp", "fp", "fn"):
            assert parts[prefix + name] == int(row[name])
        assert parts["tn"] == int(row["tn"])
        names = {"p": "precision", "r": "recall", "f1": "f", "acc": "acc", "wacc": "wacc", "i": "i"}
        for theirs, ours in names.items():
            assert percent(parts[prefix + ours]) == row[theirs].replace("-0.00", "0.00")
        assert percent(parts["wacc_source"]) == percent(parts["acc_source"]) == row["wacc_base"]
        if not prefix:
            assert parts["fpn"] == int(row["fpn"])


def test_sentence_figures_are_the_authors(statistics, classic):
    scores = {name: IMeasure().sentences(rows) for name, rows in statistics.items()}
    goldens = rows_of(classic / "imeasure_sentences.tsv.gz")
    assert len(goldens) == 17_056
    counts = {"det_tp": "detection_tp", "det_fp": "detection_fp", "det_fn": "detection_fn"}
    counts |= {name: name for name in ("tp", "tn", "fp", "fn", "fpn")}
    shares = {"acc": "acc", "acc_base": "acc_source", "wacc": "wacc", "wacc_base": "wacc_source"}
    for row in goldens:
        found, line = scores[row["system"]], int(row["line"])
        ours = [found.parts[name][line] for name in counts.values()]
        assert ours == [int(row[name]) for name in counts]
        printed = [percent(found.parts[name][line]) for name in shares.values()]
        assert printed == [row[name] for name in shares]
        assert percent(found.values[line]) == row["i"].replace("-0.00", "0.00")


@pytest.mark.parametrize("level", ["system", "sentence"])
def test_published_figures(statistics, shared, level):
    """Of Chollampatt and Ng (2018), as they stand beside their study."""
    folder = shared / "data" / "meta_chollampatt_ng_2018" / "scores" / f"{level}_scores_metrics"
    rows = [line.split("\t") for line in read(folder / "imeasure.txt.gz").splitlines()]
    assert len(rows) == (13 if level == "system" else 17_056)
    if level == "system":
        ours = [IMeasure().score(statistics[row[3]]).value for row in rows]
    else:
        values = {name: IMeasure().sentences(found).values for name, found in statistics.items()}
        ours = [values[row[3]][int(row[4])] for row in rows]
    theirs = [float(row[-1]) for row in rows]
    assert np.abs(100 * np.array(ours) - theirs).max() <= 0.005 + 1e-9


# The same program on 200 lines: default mode (mixing), -nomix -opt:corpus, and
# -nomix -max:df -w:1.5 -b:0.5

MODES = {
    "mix": IMeasure(mix=True),
    "corpus": IMeasure(optimise="corpus"),
    "df": IMeasure(maximise="f", aspect="detection", weight=1.5, beta=0.5),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("system", ["AMU", "CAMB"])
def test_variants_are_the_authors(conll, classic, system, mode):
    goldens = [
        row
        for row in rows_of(classic / "imeasure_variants.tsv.gz")
        if (row["system"], row["mode"]) == (system, mode)
    ]
    assert len(goldens) == 200
    segments = conll.segments(system)
    variant = MODES[mode]
    found = variant.statistics([segments[int(row["line"])] for row in goldens])
    counts = variant.summands(found)
    for row, (tp, tn, fp, fn, fpn, _, _), value in zip(
        goldens, counts.tolist(), variant.value_of(counts).tolist(), strict=True
    ):
        assert [tp, tn, fp, fn, fpn] == [int(row[n]) for n in ("tp", "tn", "fp", "fn", "fpn")]
        detected = [int(row[f"det_{n}"]) for n in ("tp", "tn", "fp", "fn")]
        assert [tp + fpn, tn, fp - fpn, fn - fpn] == detected
        assert percent(value) == row["i"].replace("-0.00", "0.00")
    score = variant.score(found)
    for row in rows_of(classic / "imeasure_variants_corpus.tsv"):
        if (row["system"], row["mode"]) == (system, mode):
            prefix = "detection_" if row["aspect"] == "Detection" else ""
            parts = {**score.parts, "i": score.value}
            names = {"p": "precision", "r": "recall", "f": "f", "acc": "acc", "wacc": "wacc"}
            for theirs, ours in (names | {"i": "i"}).items():
                assert percent(parts[prefix + ours]) == row[theirs]


def test_pathological_inputs_are_scored(shared, classic, tmp_path):
    lines = (classic / "pathological.hyp.txt").read_text("utf-8").split("\n")
    output = tmp_path / "hyp.txt"
    output.write_text("\n".join(lines[:12]) + "\n", "utf-8")
    corpus = read_corpus(references=[classic / "pathological.m2"], systems={"hyp": output})
    scores = IMeasure().sentences(IMeasure().statistics(corpus.segments("hyp")))
    assert len(scores) == 12
    assert np.isfinite(scores.values).all()


# A slow twin, one segment and one reference at a time


def improvement(counts, weight):
    tp, tn, fp, fn, fpn = counts[:5]
    below = weight * (tp + fp) + tn + fn - (weight + 1) * fpn / 2
    wacc = (weight * tp + tn) / below if below else 1.0
    base_tn, base_fn = counts[5:]
    base = base_tn / (base_tn + base_fn) if base_tn + base_fn else 1.0
    all_of = tp + tn + fp + fn - fpn
    acc = (tp + tn) / all_of if all_of else 1.0
    if wacc == base:
        return math.floor(wacc), wacc, acc
    return ((wacc - base) / (1 - base) if wacc > base else wacc / base - 1), wacc, acc


def counted(source, hypothesis, reference):
    counts = [0] * 7
    for s, h, r in threeway.align(source, hypothesis, reference):
        counts[0] += s != h and h == r
        counts[1] += s == h == r
        counts[2] += s != h and h != r
        counts[3] += s != r and h != r
        counts[4] += s != h and s != r and h != r
    for s, _, r in threeway.align(source, source, reference):
        counts[5] += s == r
        counts[6] += s != r
    return counts


def detection(counts):
    tp, tn, fp, fn, fpn, *base = counts
    return [tp + fpn, tn, fp - fpn, fn - fpn, 0, *base]


def rank(counts, weight):
    of_correction, of_detection = (
        improvement(counts, weight),
        improvement(detection(counts), weight),
    )
    keys = [(figures[1], *figures) for figures in (of_correction, of_detection)]
    return keys[0] + keys[1]


words = st.lists(st.sampled_from("abc"), max_size=5).map(tuple)
segments = st.builds(
    lambda s, h, r: Segment(" ".join(s), " ".join(h), tuple(map(" ".join, r))),
    words,
    words,
    st.lists(words, min_size=1, max_size=3),
)
batches = st.lists(segments, min_size=1, max_size=4)


@given(batches, st.sampled_from([1.0, 2.0, 3.5]))
def test_each_segment_equals_the_slow_twin(batch, weight):
    chosen = IMeasure(weight=weight)
    scores = chosen.sentences(chosen.statistics(batch))
    for n, segment in enumerate(batch):
        source, hypothesis = segment.source.split(), segment.hypothesis.split()
        counts = [counted(source, hypothesis, text.split()) for text in segment.texts]
        best = max(range(len(counts)), key=lambda at: rank(counts[at], weight))
        assert scores.chosen[n] == best
        assert [scores.parts[k][n] for k in ("tp", "tn", "fp", "fn", "fpn")] == counts[best][:5]
        assert scores.values[n] == pytest.approx(improvement(counts[best], weight)[0])


@given(batches)
def test_the_corpus_choice_equals_the_slow_twin(batch):
    running = IMeasure(optimise="corpus")
    totals = [0] * 7
    for segment in batch:
        source, hypothesis = segment.source.split(), segment.hypothesis.split()
        sums = [
            [a + b for a, b in zip(totals, counted(source, hypothesis, text.split()), strict=True)]
            for text in segment.texts
        ]
        totals = max(sums, key=lambda counts: rank(counts, 2.0))
    found = running.statistics(batch)
    assert running.summands(found).sum(axis=0).tolist() == totals
    assert running.score(found).value == pytest.approx(improvement(totals, 2.0)[0])


@given(batches)
def test_sums_of_the_summands_give_the_score(batch):
    for chosen in (IMeasure(), IMeasure(optimise="corpus", aspect="detection", maximise="recall")):
        found = chosen.statistics(batch)
        value = chosen.value_of(chosen.summands(found).sum(axis=0))
        assert float(value) == chosen.score(found).value
        resamples = chosen.summands(found)[np.array([[0] * len(batch), [-1] * len(batch)])]
        assert chosen.value_of(resamples.sum(axis=1)).shape == (2,)
        assert chosen.value_of(resamples).shape == (2, len(batch))


@given(batches)
def test_a_batch_gives_each_segment_its_own_row(batch):
    alone = [IMeasure().statistics([segment]) for segment in batch]
    together = IMeasure().sentences(IMeasure().statistics(batch))
    for n, one in enumerate(alone):
        scores = IMeasure().sentences(one)
        assert scores.values[0] == together.values[n]
        assert scores.chosen[0] == together.chosen[n]


@given(batches)
def test_rows_survive_json(batch):
    found = IMeasure().statistics(batch)
    again = Statistics.from_dict(found.to_dict())
    assert IMeasure().score(again) == IMeasure().score(found)


# By eye: source, hypothesis, reference, I

EYE = [
    ("a b c d", "a x c d", "a x c d", 1.0),
    ("a b c d", "a b c d", "a x c d", 0.0),
    ("a b c d", "a b c d", "a b c d", 1.0),
    ("a b c d", "a y c d", "a b c d", 3 / 5 - 1),
    # wrong word in the right place: WAcc 3 / (2 + 3 + 1 - 1.5) against 3 / 4
    ("a b c d", "a y c d", "a x c d", (3 / 4.5) / (3 / 4) - 1),
    # one of two errors corrected: WAcc (2 + 2) / (2 + 2 + 1) against 2 / 4
    ("a b c d", "a x c d", "a x c y", (4 / 5 - 1 / 2) / (1 - 1 / 2)),
    # the edge cases of empty sides
    ("", "", "", 1.0),
    ("", "a", "a", 1.0),
    ("", "", "a", 0.0),
    ("", "a", "", -1.0),
    ("a b", "", "a b", -1.0),
    ("a b", "", "", 1.0),
    ("a b", "a b", "", 0.0),
    (" a  b ", "a b\u00a0", "a b", 1.0),
]


@pytest.mark.parametrize(("source", "hypothesis", "reference", "value"), EYE)
def test_by_eye(source, hypothesis, reference, value):
    score = IMeasure().evaluate([Segment(source, hypothesis, (reference,))])
    assert score.value == pytest.approx(value)


def test_a_wrong_correction_detects():
    parts = IMeasure().evaluate([Segment("a b c d", "a y c d", ("a x c d",))]).parts
    assert (parts["tp"], parts["tn"], parts["fp"], parts["fn"], parts["fpn"]) == (0, 3, 1, 1, 1)
    detected = [parts[f"detection_{name}"] for name in ("tp", "fp", "fn", "i", "wacc", "recall")]
    assert detected == [1, 0, 0, 1.0, 1.0, 1.0]


# Candidates


def test_gold_is_preferred_to_texts_and_numbered_by_annotator():
    gold = {2: (Edit(0, 1, "x"),), 5: (Edit(0, 1, "y"),)}
    found = IMeasure().statistics([Segment("a b", "y b", ("a b",), gold)])
    assert found.labels == (2, 5)
    assert IMeasure().sentences(found).chosen.tolist() == [5]
    assert IMeasure().sentences(found).values.tolist() == [1.0]


def test_equal_candidates_compete_once():
    gold = {0: (Edit(0, 1, "x"),), 1: (Edit(0, 1, "x"),), 2: ()}
    found = IMeasure().statistics([Segment("a b", "a b", (), gold), Segment("a b", "a b", ("c",))])
    assert found.labels == (0, 2)
    assert found.present.tolist() == [[True, True], [True, False]]
    assert IMeasure().sentences(found).chosen.tolist() == [2, 0]


def test_an_absent_reference_keeps_the_numbers():
    found = IMeasure().statistics([Segment("a b", "y b", (None, "a b", None, "y b"))])
    assert found.labels == (1, 3)
    assert IMeasure().sentences(found).chosen.tolist() == [3]


def test_a_complete_tie_goes_to_the_first():
    scores = IMeasure().sentences(IMeasure().statistics([Segment("a", "b", ("c", "d"))]))
    assert scores.chosen.tolist() == [0]


def test_a_segment_without_reference_has_no_score():
    segments = [Segment("a", "b"), Segment("a", "b", ("b",))]
    found = IMeasure().statistics(segments)
    scores = IMeasure().sentences(found)
    assert np.isnan(scores.values).tolist() == [True, False]
    assert scores.chosen.tolist() == [-1, 0]
    assert np.isnan(scores.parts["wacc"]).tolist() == [True, False]
    assert scores.reason == "1 of 2 segments have no reference"
    score = IMeasure().score(found)
    assert math.isnan(score.value)
    assert score.reason == "1 of 2 segments have no reference"
    assert math.isnan(IMeasure().explain(segments[0]).value)


def test_no_segments():
    score = IMeasure().evaluate([])
    assert math.isnan(score.value)
    assert score.reason == "no segments"


def test_mixing_keeps_candidates_with_different_counts():
    gold = {0: (Edit(0, 1, "x"), Edit(2, 3, "y")), 1: ()}
    found = IMeasure(mix=True).statistics([Segment("a b c d", "a b y d", (), gold)])
    # "x b y d", "x b c d", "a b y d" and "a b c d" count differently
    assert found.rows[0, found.present[0], -1].tolist() == [0, 1, 2, 3]
    assert IMeasure(mix=True).sentences(found).chosen.tolist() == [2]
    same = IMeasure(mix=True).statistics([Segment("a b c d", "a b c d", (), gold)])
    # leaving either error alone counts the same: only the first of the two is kept
    assert same.rows[0, same.present[0], -1].tolist() == [0, 1, 3]


def test_mixing_is_limited():
    gold = {0: tuple(Edit(n, n + 1, "x") for n in range(4)), 1: ()}
    segment = Segment("a b c d", "a b c d", (), gold)
    assert IMeasure(mix=True, limit=16).evaluate([segment]).value == 1.0
    with pytest.raises(UsageError, match="16 combinations of corrections, more than 15"):
        IMeasure(mix=True, limit=15).evaluate([segment])


def test_equal_outputs_are_aligned_once(monkeypatch):
    asked = []

    def watched(triples):
        asked.extend(triples)
        return threeway.align_all(triples)

    monkeypatch.setattr("grammeter.metrics.imeasure.alignment.align_all", watched)
    gold = {0: (Edit(0, 1, "x"),)}
    IMeasure().statistics([Segment("a b", h, (), gold) for h in ("x b", "a b", "x  b", "a b")])
    assert len(asked) == 2


# The value itself


def test_spelling():
    assert metric("imeasure") == IMeasure()
    spelled = "imeasure(weight=1.5, mix=true, maximise=f, aspect=detection, optimise=corpus)"
    assert str(metric(spelled)) == spelled
    assert metric("imeasure(treebank=false, limit=5, beta=0.5)").limit == 5
    assert "weight:2.0" in str(IMeasure().signature())


@pytest.mark.parametrize(
    "spelled",
    ["weight=0", "weight=-1", "weight=inf", "beta=0", "beta=nan", "limit=0", "maximise=tp",
     "aspect=both", "optimise=all", "mix=2", "limit=1.5"],
)  # fmt: skip
def test_impossible_fields(spelled):
    with pytest.raises(UsageError, match="is not possible"):
        metric(f"imeasure({spelled})")


def test_explain():
    gold = {0: (Edit(1, 2, "x"), Edit(3, 3, "z")), 1: (Edit(0, 1, ""),)}
    found = IMeasure().explain(Segment("a b c", "a x d", (), gold))
    assert found.chosen == 0
    assert found.parts["tp"] == 1
    assert [(e.edit, e.original, e.verdict) for e in found.edits] == [
        (Edit(1, 2, "x"), "b", "matched"),
        (Edit(2, 3, "d"), "c", "spurious"),
        (Edit(3, 3, "z"), "", "missed"),
    ]
    alignment, candidates = found.grids
    assert alignment.columns == ("source", "hypothesis", "reference", "detection", "correction")
    assert alignment.rows == (
        ("a", "a", "a", "TN", "TN"),
        ("b", "x", "x", "TP", "TP"),
        ("c", "d", "c", "FP", "FP"),
        ("", "", "z", "FN", "FN"),
    )
    assert candidates.columns == ("count", "reference 0", "reference 1")
    assert candidates.rows[0] == ("tp", "1", "0")


def test_explain_shows_a_wrong_correction_twice():
    found = IMeasure().explain(Segment("a", "b", ("c",)))
    assert [(e.edit.correction, e.verdict) for e in found.edits] == [
        ("b", "spurious"),
        ("c", "missed"),
    ]
    assert found.grids[0].rows == (("a", "b", "c", "TP", "FP FN FPN"),)
