"""rank --by accept-rate, agree and meta edits of judged edits.

Goldens: golden/edit_judgments of the shared folder (numpy, scikit-learn 1.9, scipy, krippendorff
0.9.0; error types by errant 3.0.2), judges 1 and 2 of SEEDA (tmu-nlp/SEEDA @ 0c6c07f).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grammeter as gm
from grammeter import EditItem, EditJudgment, meta
from grammeter.cli.main import main
from grammeter.core import DataError, UsageError


@pytest.fixture(scope="module")
def files(shared: Path) -> list[Path]:
    return [shared / "data/edit_judgments" / f"annotator{n}.jsonl" for n in (1, 2)]


@pytest.fixture(scope="module")
def golden(shared: Path) -> Any:
    folder = shared / "golden/edit_judgments"
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")
    }


def counts(rows: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    return {name: (row["valid"], row["invalid"]) for name, row in rows.items()}


def test_accept_rates_by_system_and_type(shared: Path, files: list[Path], golden: Any) -> None:
    pipeline = str(shared / "data/spacy_en_ud_sm/base")
    source = shared / "data/conll14_test/source.txt"
    for path in files:
        want, edits = golden[path.stem], gm.read_judgments(path)
        options: dict[str, Any] = {"by": "accept-rate", "resamples": 40, "source": source}
        found = gm.rank(edits, **options, types="full", pipeline=pipeline).to_dict()
        rows = {row["system"]: row for row in found["systems"]}
        assert counts(rows) == counts(want["by_system"])
        assert all(
            rows[n]["score"] == pytest.approx(of["rate"]) for n, of in want["by_system"].items()
        )
        assert all(row["low"] <= row["score"] <= row["high"] for row in rows.values())
        assert counts(found["types"]) == counts(want["by_errant_type"])
        main_types: Counter[str] = Counter()
        for name, row in found["types"].items():
            main_types[name.split(":")[1]] += row["valid"]
        assert main_types == {name: of["valid"] for name, of in want["by_main_type"].items()}
        unjudged = sum(row["unjudged"] for row in found["types"].values())
        assert unjudged == want["without_verdict"]
        assert any(f"{unjudged} of {want['edits']} edits" in note for note in found["notes"])


def test_agreement(files: list[Path], golden: Any) -> None:
    want = golden["agreement_1_2"]
    found = gm.agree(gm.read_judgments(files)).to_dict()["edits"]
    (pair,), row = found["pairs"].values(), want["pairs"]["annotator1|annotator2"]
    assert [pair[n] for n in ("n", "undecided")] == [row["n"], row["undecided"]]
    names = {"observed": "exact", "kappa": "kappa", "ac1": "ac1", "alpha": "alpha"}
    assert [pair[n] for n in names] == pytest.approx([row[n] for n in names.values()])
    assert {k.replace("|", ""): n for k, n in pair["table"].items()} == row["table"]
    for judge, of in want["repeated_items"].items():
        again = found["within"][judge]["repeated"]
        assert [again[n] for n in ("n", "observed", "kappa")] == pytest.approx([*of.values()])
        same = want["within_item"][judge]
        assert [*found["within"][judge]["same_item"].values()] == [*same.values()]


def test_meta_evaluation(shared: Path, files: list[Path], golden: Any) -> None:
    """golden/edit_judgments/meta_1_2.json."""
    want, folder = golden["meta_1_2"], shared / "data/conll14_test/noalt"
    auto = shared / "golden/errant/official-2014.combined.auto.m2"
    names = ("average_precision", "point_biserial", "pearson", "spearman")
    shares = ("accepted_false_positives", "rejected_true_positives")
    edits = gm.read_judgments(files)
    for name, path in (
        ("reference", folder / "official-2014.combined.m2"),
        ("reference_auto", auto),
    ):
        row = want["metrics"][name]
        found = gm.meta_edits(edits, references=[path], resamples=0).to_dict()
        of = found["metrics"]["reference"]
        figures = [of["auc"]["value"], *(of[n] for n in (*names, *shares))]
        keys = ["auc", *names[:2], "pearson_with_share", "spearman_with_share", *shares]
        assert figures == pytest.approx([row[key] for key in keys])
        assert of["table"] == row["table"]
    found = gm.meta_edits(edits, references=[folder / "official-2014.combined.m2"],
                          values=files[0].parent / "support.tsv", resamples=200)  # fmt: skip
    assert (found.edits, found.valid, found.ties) == (want["n"], want["valid"], want["half"])
    for name, row in want["by_system"].items():
        of = found.to_dict()["systems"][name]
        assert of == {key: row[key] for key in row if key != "rejected_true_positives"}
    for name in ("base", "+fluent"):
        assert found.correlations
        assert found.correlations[name] == pytest.approx(want[f"system_correlation_{name}"])
    support, row = found.metrics["support"], want["metrics"]["support"]
    interval = [support.auc.low, support.auc.high]
    assert interval == pytest.approx(row["auc_interval_by_segment"], abs=0.01)
    steps = {f"{s['value']:g}": {k: s[k] for k in s if k != "value"} for s in support.thresholds}
    assert {k: pytest.approx(v) for k, v in row["thresholds"].items()} == steps


def test_where_references_are_poorest(shared: Path, files: list[Path]) -> None:
    gold = shared / "data/conll14_test/noalt/official-2014.combined.m2"
    found = gm.meta_edits(
        gm.read_judgments(files), references=[gold], types="operation", resamples=0
    )
    types = found.to_dict()["types"]
    assert {*types} == {"M", "R", "U"}
    assert sum(of["false_positives"] for of in types.values()) == 1145 + 246
    assert sum(of["accepted_false_positives"] for of in types.values()) == 1145


# --- slow twins ------------------------------------------------------------------------------
def item(judge: str, segment: int, *edits: tuple[int, bool | None], **more: Any) -> EditItem:
    judged = tuple(EditJudgment(at, at, "x", verdict) for at, verdict in edits)
    return EditItem(judge=judge, segment=segment, shown=(("A",),), edits=(judged,), **more)


def auc(values: Sequence[float], valid: Sequence[bool]) -> float:
    pairs = [(v > w) + (v == w) / 2 for v, a in zip(values, valid, strict=True) if a
             for w, b in zip(values, valid, strict=True) if not b]  # fmt: skip
    return sum(pairs) / len(pairs) if pairs else math.nan


def average_precision(values: Sequence[float], valid: Sequence[bool]) -> float:
    total, before = 0.0, 0.0
    for threshold in sorted({*values}, reverse=True):
        taken = [a for v, a in zip(values, valid, strict=True) if v >= threshold]
        recall = sum(taken) / sum(valid)
        total, before = total + (recall - before) * sum(taken) / len(taken), recall
    return total


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), min_size=2, max_size=9))
def test_figures_of_a_metric_by_slow_twins(rows: list[tuple[int, bool, bool]]) -> None:
    items = [item(judge, n, (0, row[side]))
             for n, row in enumerate(rows, 1) for side, judge in ((1, "a"), (2, "b"))]  # fmt: skip
    values = {(n, 0, 0, "x"): float(row[0]) for n, row in enumerate(rows, 1)}
    of = gm.meta_edits(items, values={"m": values}, resamples=0).metrics["m"]
    x, share = [row[0] for row in rows], [(row[1] + row[2]) / 2 for row in rows]
    valid = [s >= 0.5 for s in share]
    assert of.auc.value == pytest.approx(auc(x, valid), nan_ok=True)
    if any(valid):
        assert of.average_precision == pytest.approx(average_precision(x, valid))
    if len({*x}) > 1 and len({*share}) > 1:
        assert of.pearson == pytest.approx(np.corrcoef(x, share)[0, 1])


def test_items_drawn_with_known_chances_are_weighted() -> None:
    """An item drawn with probability 0.1 stands for ten: (10 * 1 + 2 * 0 + 2 * 1) / 14."""
    items = [item("a", 1, (0, True), probability=0.1),
             item("a", 2, (0, False), (1, True), probability=0.5)]  # fmt: skip
    ranked = gm.rank(items, by="accept-rate", resamples=100).to_dict()
    assert ranked["systems"][0]["score"] == pytest.approx(12 / 14)
    assert any("one over the probability" in note for note in ranked["notes"])
    with pytest.raises(DataError, match="1 of 3 items have no probability"):
        gm.rank([*items, item("a", 3, (0, True))], by="accept-rate")


def test_judges_who_agree_and_edits_that_are_undecided() -> None:
    yes, no = (EditJudgment(0, 0, "x", verdict=verdict) for verdict in (True, False))
    even = EditItem(judge="a", segment=2, shown=(("A",), ("B",)), edits=((yes,), (no,)))
    found = gm.agree([item("a", 1, (0, True), (1, None)), even, item("b", 1, (0, True), (1, True)),
                      item("b", 2, (0, True))]).to_dict()["edits"]  # fmt: skip
    pair = found["pairs"]["a|b"]
    assert (pair["n"], pair["undecided"], pair["observed"], pair["kappa"]) == (1, 1, 1.0, None)
    assert pair["reason"]
    assert found["within"]["a"]["same_item"] == {"n": 1, "unanimous": 0}


# --- bad input -------------------------------------------------------------------------------
def test_what_is_refused() -> None:
    edits = [item("a", 1, (0, True), (1, False))]
    rankings = gm.read_judgments(gm.sample_corpus() / "judgments.jsonl")
    for call in (
        lambda: gm.rank(edits), lambda: gm.rank(rankings, by="accept-rate"),
        lambda: gm.rank(edits, by="accept-rate", head_to_head=True),
        lambda: gm.rank(edits, by="accept-rate", types="full"),
        lambda: gm.rank(edits, by="accept-rate", unit="pair"),
        lambda: gm.rank(rankings, types="main"), lambda: gm.agree(edits, correlate=True),
        lambda: gm.meta_edits(edits), lambda: gm.meta_edits(edits, values={"m": {}}, types="main"),
    ):  # fmt: skip
        with pytest.raises(UsageError):
            call()
    for call in (
        lambda: gm.rank([item("a", 1, (0, None))], by="accept-rate"),
        lambda: gm.meta_edits(edits, values={"m": {(1, 0, 0, "x"): 1.0}}),
    ):
        with pytest.raises(DataError):
            call()
    left = gm.meta_edits(edits, values={"m": {(1, 0, 0, "x"): 1.0}}, missing="drop", resamples=0)
    assert left.metrics["m"].edits == 1
    assert any("1 of 2" in note for note in left.notes)


@pytest.mark.parametrize(
    ("row", "words"),
    [("m\t1\t0\t0\tx\tn", "no number"), ("m\t1\t0.5\t0\tx\t1", "no whole number"),
     ("m\t1\t0\t0\tx\t1\nm\t1\t0\t0\tx\t2", "two values")],
)  # fmt: skip
def test_values_are_checked(tmp_path: Path, row: str, words: str) -> None:
    path = tmp_path / "v.tsv"
    path.write_text(f"metric\tsegment\tstart\tend\tcorrection\tvalue\n{row}\n", encoding="utf-8")
    with pytest.raises(DataError, match=words) as caught:
        gm.meta_edits([item("a", 1, (0, True))], values=path)
    assert str(path) in str(caught.value)


def test_a_ranking_by_accept_rate_is_read_again(tmp_path: Path) -> None:
    ranked = gm.rank([item("a", n, (0, n > 1)) for n in range(1, 4)], by="accept-rate")
    gm.write_result(ranked, path := tmp_path / "r.json")
    again = gm.read(path)
    assert again.to_dict()["systems"][0]["system"] == "A"


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "e.csv"
    path.write_text(
        "judge,segment,system,start,end,correction,verdict\nann,1,A,0,1,x,valid\n"
        "ann,1,B,0,1,y,invalid\nbob,1,A,0,1,x,valid\nbob,1,B,0,1,y,\n", encoding="utf-8",
    )  # fmt: skip
    for command in ("rank {} --by accept-rate --types operation", "agree {}"):
        assert main([*command.format(path).split(), "--format", "json"]) == 0
        assert "notes" in json.loads(capsys.readouterr().out)
        assert main(command.format(path).split()) == 0
        assert "valid" in capsys.readouterr().out or "agree" in command
    assert main(["meta", "edits", str(path)]) == 2
    assert main(["rank", str(path)]) == 2
    assert meta.EditLevel.__doc__


# --- sample and report -----------------------------------------------------------------------
def test_items_for_edits_have_the_probability_of_their_outputs() -> None:
    folder = gm.sample_corpus()
    corpus = gm.read_corpus(source=folder / "source.txt", systems=sorted(folder.glob("systems/*")))
    plain = gm.sample(corpus, n=30, per_item=2)
    for one, other in zip(plain, gm.sample(corpus, n=30, per_item=2, task="edits"), strict=True):
        assert one.probability
        assert one.distinct
        share = len(one.systems) / one.distinct
        assert other.probability == pytest.approx(one.probability * share)
        assert (other.systems, str(other.signature).count("task:edits")) == (one.systems, 1)


def test_weighted_rates_estimate_those_of_all_sentences() -> None:
    """Edits of 200 sentences are drawn with known chances; the weighted rate is near the true."""
    random = np.random.default_rng(1)
    valid = np.arange(200) < 120
    chances = np.linspace(1, 5, 200)
    chances /= chances.sum()
    drawn = random.choice(200, size=400, p=chances)
    items = [item("a", int(n) + 1, (0, bool(valid[n])), probability=chances[n]) for n in drawn]
    row = gm.rank(items, by="accept-rate", resamples=200).to_dict()["systems"][0]
    unweighted = valid[drawn].mean()
    assert abs(row["score"] - valid.mean()) < abs(unweighted - valid.mean())
    assert row["low"] < valid.mean() < row["high"]


def test_a_report_says_who_accepted_spurious_edits(tmp_path: Path) -> None:
    gold = tmp_path / "gold.m2"
    gold.write_text(
        "S He went home quick .\nA 3 4|||R:MORPH|||quickly|||REQUIRED|||-NONE-|||0\n",
        encoding="utf-8",
    )
    for name, text in (("A", "She went home quick .\n"), ("B", "She went home quickly .\n")):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    outputs = [tmp_path / "A.txt", tmp_path / "B.txt"]
    table = gm.score(gm.read_corpus(references=[gold], systems=outputs), ["errant(pipeline=plain)"])
    edits = [EditItem(judge=judge, segment=1, shown=(("A",),), edits=(
        (EditJudgment(0, 1, "She", verdict=verdict),),)) for judge, verdict in
        (("x", True), ("y", False))]  # fmt: skip
    judged = gm.EditJudgments(tuple(edits))
    gm.write_report(gm.report(table, [judged]), page := tmp_path / "r.html")
    text = page.read_text(encoding="utf-8")
    assert "accepted by 1 of 2 judges, made by 2 systems" in text
    line = {"judge": "x", "segment": 1, "shown": [["A"]], "edits": [
        [{"start": 0, "end": 1, "correction": "She", "verdict": "valid"}]]}  # fmt: skip
    path = tmp_path / "edits.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    by_content = gm.report(table, [path])
    assert by_content.browser
    (sentence,) = by_content.browser.sentences
    remarks = {e.remark for output in sentence.outputs for e in output.edits}
    assert remarks == {"", "accepted by 1 of 1 judges, made by 2 systems"}
    with pytest.raises(DataError):
        gm.report(table, [gm.EditJudgments((item("a", 9, (0, True)),))])
