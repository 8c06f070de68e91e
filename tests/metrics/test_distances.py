"""WER, TER and NLD: figures of other programs, slow twins, edge cases."""

from __future__ import annotations

import json
import math

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import grammeter as gm
from grammeter.core import Segment
from grammeter.metrics import NLD, TER, WER

TEXTS = st.lists(st.sampled_from(["a", "b", "B", "cc", "."]), max_size=6).map(" ".join)


@settings(max_examples=40)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
def test_ter_is_sacrebleus(rows) -> None:
    hypotheses, *references = map(list, zip(*rows, strict=True))
    scorer = sacrebleu.metrics.TER(case_sensitive=True)
    expected = scorer.corpus_score(hypotheses, references)
    segments = [Segment("x", one, texts) for one, *texts in rows]
    segments = [Segment(s.source, s.hypothesis, tuple(s.references)) for s in segments]
    score = TER(case_sensitive=True).evaluate(segments)
    if expected.ref_length:
        assert score.value == pytest.approx(expected.score / 100, abs=1e-12)
    assert score.parts["edits"] == expected.num_edits
    assert score.parts["length"] == pytest.approx(expected.ref_length)


@settings(max_examples=40)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=3))
def test_wer_and_nld_take_the_nearest_reference(rows) -> None:
    segments = [Segment("x", text, tuple(references)) for text, *references in rows]
    edits = length = 0
    shares = []
    for text, *references in rows:
        counts = [
            (Levenshtein.distance(text.split(), r.split()), len(r.split())) for r in references
        ]
        nearest = min(counts, key=lambda count: count[0])
        edits, length = edits + nearest[0], length + nearest[1]
        far = [(Levenshtein.distance(text, r), max(len(text), len(r), 1)) for r in references]
        shares.append(min(a / b for a, b in far))
    score = WER().evaluate(segments)
    assert score.value == pytest.approx(edits / max(length, 1))
    assert score.parts["exact"] == sum(t in rs for t, *rs in rows) / len(rows)
    assert NLD().evaluate(segments).value == pytest.approx(sum(shares) / len(rows))


@pytest.mark.parametrize(
    ("hypothesis", "reference", "wer", "ter", "nld"),
    [
        ("", "", 0, 0, 0),
        ("a b", "", 2, 2, 1),
        ("", "a b", 1, 1, 1),
        ("A b", "a b", 0.5, 0, 1 / 3),
        ("c a b", "a b c", 2 / 3, 1 / 3, 3 / 5),
        ("a  b", "a b", 0, 0, 1 / 4),
    ],
)
def test_edge_cases(hypothesis, reference, wer, ter, nld) -> None:
    segment = Segment("x", hypothesis, (reference,))
    values = [metric.evaluate([segment]).value for metric in (WER(), TER(), NLD())]
    assert values == pytest.approx([wer, ter, nld])
    for metric, value in zip((WER(), TER(), NLD()), values, strict=True):
        assert metric.explain(segment).value == value
        assert not metric.higher_is_better


def test_without_reference_there_is_no_score() -> None:
    for metric in (WER(), TER(), NLD()):
        rows = metric.statistics([Segment("x", "x", (None,)), Segment("x", "x", ("x",))])
        assert math.isnan(metric.sentences(rows).values[0])
        assert math.isnan(metric.score(rows).value)


def test_limits_are_upper_bounds() -> None:
    corpus = gm.Corpus(sources=["a b"], references=[["a b"]], systems={"A": ["a b"], "B": ["a"]})
    table = gm.score(corpus, ["wer"])
    (missed,) = gm.fail_under(table, {"wer": 0.2})
    assert missed.startswith("B scores 0.5")
    assert not gm.fail_under(table, {"wer": 0.5})
    assert "wer \N{DOWNWARDS ARROW}" in table.write()
    assert table.write("tsv").startswith("system\twer\n")
    assert r"wer $\downarrow$" in table.write("latex")


# Goldens: the authors' script (nld), jiwer's definition of WER, sacrebleu 2.6.0, on part A of
# robertostling/gec-evaluation @5ac8180; golden/post_edits/swedish_A.json
def test_the_swedish_figures(shared) -> None:
    path = shared / "golden" / "post_edits" / "swedish_A.json"
    golden = json.loads(path.read_text(encoding="utf-8"))["systems"]
    folder = shared / "data" / "post_edits_swedish"
    corpus = gm.read_corpus(
        source=folder / "source.txt",
        references=[folder / "post" / "{system}.txt"],
        systems=sorted((folder / "systems").iterdir()),
    )
    shared_too = gm.read_corpus(
        source=folder / "source.txt",
        references=[folder / "reference.txt"],
        systems=sorted((folder / "systems").iterdir()),
    )
    table = gm.score(corpus, ["nld", "wer", "ter", "ter(case_sensitive=true)", "chrf", "gleu"])
    one = gm.score(shared_too, ["ter", "gleu"])
    assert {*table.systems} == {*golden}
    for system, row in golden.items():
        wer = table["wer"][system]
        assert table["nld"][system].value == pytest.approx(row["nld_mean_one_space"], abs=1e-12)
        assert wer.value == pytest.approx(row["wer"]["corpus"], abs=1e-12)
        assert (wer.parts["edits"], wer.parts["length"]) == (
            row["wer"]["edits"],
            row["wer"]["length"],
        )
        assert wer.parts["exact"] == row["unchanged"] / row["n"]
        for name, of in (("ter", "ter"), ("ter(case_sensitive=true)", "ter_case_sensitive")):
            assert table[name][system].value * 100 == pytest.approx(row[of]["corpus"], abs=1e-9)
        for name, of in (("chrf", "chrf_own"), ("gleu", "gleu_own")):
            assert table[name][system].value * 100 == pytest.approx(row[of], abs=1e-5)
        assert one["ter"][system].value * 100 == pytest.approx(row["ter_shared"], abs=1e-9)
        assert one["gleu"][system].value * 100 == pytest.approx(row["gleu_shared"], abs=1e-5)
        for name in table:
            mean = table[name].segments[system].values
            assert len(mean) == row["n"]
