"""Systems compared by error type: the shell, Python, the family of the correction, few edits."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import grammeter as gm
from grammeter.cli.main import main

NEUTRAL = "errant(pipeline=neutral)"
SOURCES = ["he go home", "a cat sleep", "we sings", "they plays it", "she know me", "it rain today"]
RIGHT = [
    "he goes home",
    "a cat sleeps",
    "we sing",
    "they play it",
    "she knows me",
    "it rains today",
]
ADDS = ["he goes to home", "a big cat sleeps", *RIGHT[2:]]


def corpus(**systems):
    return gm.Corpus(sources=SOURCES, references=[RIGHT], systems=systems)


@pytest.fixture(scope="module")
def table():
    systems = {"right": RIGHT, "half": RIGHT[:3] + SOURCES[3:], "none": SOURCES, "adds": ADDS}
    return gm.score(corpus(**systems), [NEUTRAL, "gleu"], types=True)


@pytest.fixture
def stored(table, tmp_path):
    gm.write_scores(table, tmp_path / "s.json")
    return str(tmp_path / "s.json")


@pytest.fixture
def run(stored, capsys):
    def call(*words):
        code = main(["compare", stored, *words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_values_are_those_of_the_score(table):
    of = gm.compare(table, types=True)[NEUTRAL]
    assert set(of.types) == {"M", "R"}
    for system, scores in table[NEUTRAL].types.items():
        for kind, score in scores.items():
            result = of.types[kind][system]
            assert result.value == score.value
            assert result.gold == score.parts["tp"] + score.parts["fn"]
    absent = of.types["M"]["right"]
    assert absent.value != absent.value
    assert "no edits" not in str(absent.reason)
    assert "neither" in str(absent.reason)


def test_the_whole_does_not_change(table):
    plain, typed = gm.compare(table), gm.compare(table, types=True)
    without = {name: replace(metric, types={}) for name, metric in typed.items()}
    assert {n: metric.to_dict() for n, metric in without.items()} == plain.to_dict()["metrics"]


@pytest.mark.parametrize("words", [[], ["--baseline", "none"], ["--test", "randomisation"]])
def test_shell_and_python_say_the_same(table, run, words):
    names = {"--baseline": "baseline", "--test": "test"}
    options = {names[words[0]]: words[1]} if words else {}
    code, out, _ = run("--types", "operation", "--format", "json", *words)
    assert code == 0
    assert json.loads(out) == json.loads(
        json.dumps(gm.compare(table, types="operation", **options).to_dict())
    )
    printed = json.loads(out)["metrics"][NEUTRAL]
    assert "|types:operation|" in printed["types_signature"]
    assert ("pairs" in printed["types"]["R"]) is ("baseline" not in options)


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
@pytest.mark.parametrize(("baseline", "family"), [("none", 2 * 3), (None, 2 * 6)])
def test_all_types_and_pairs_are_one_family(table, test, baseline, family):
    of = gm.compare(
        table, types=True, baseline=baseline, test=test, correction="bonferroni", resamples=999
    )[NEUTRAL]
    raw = [
        (result.pvalue_raw, result.pvalue)
        for kind in of.types.values()
        for result in (kind.pairs or kind.values())
        if result.pvalue_raw is not None and result.pvalue_raw == result.pvalue_raw
    ]
    undefined = family - len(raw)  # pairs with a system that has nothing of this type
    assert raw
    assert all(p == pytest.approx(min(1, q * (family - undefined))) for q, p in raw)


def test_few_sentences_prove_little():
    """Right in three sentences, where the other is wrong: an exact test gives 2 of 8."""
    few = corpus(first=RIGHT[:3] + SOURCES[3:], second=SOURCES)
    for test in ("bootstrap", "randomisation"):
        of = gm.compare(gm.score(few, [NEUTRAL], types=True), types=True, test=test)[NEUTRAL]
        (pair,) = of.types["R"].pairs
        assert pair.pvalue == pytest.approx(0.25, abs=0.05)
        assert pair.pvalue >= 0.22


def test_all_against_nothing_has_a_p_value(table):
    """Every resample gives the same difference of 1; six sentences for one side are 2 of 64."""
    (pair,) = [
        pair for pair in gm.compare(table, types=True)[NEUTRAL].types["R"].pairs
        if (pair.first, pair.second) == ("right", "none")
    ]  # fmt: skip
    assert pair.difference == 1
    assert pair.pvalue == 2 / 64


def test_equal_systems_share_their_letters():
    twins = corpus(one=ADDS, none=SOURCES, two=ADDS)
    of = gm.compare(gm.score(twins, [NEUTRAL], types=True), types=True)[NEUTRAL]
    for metric in of.types.values():
        assert metric["one"].letters == metric["two"].letters
        assert metric["one"].low == metric["two"].low or metric["one"].low != metric["one"].low


def test_full_types_fold_into_what_would_have_been_stored(monkeypatch):
    from fake_annotator import FakeAnnotator
    from grammeter.metrics import kinds

    fake = FakeAnnotator()
    monkeypatch.setattr(kinds, "annotator", lambda *_, **__: fake)
    outputs = corpus(a=RIGHT, b=[*ADDS[:2], *SOURCES[2:]])
    tables = {
        tier: gm.score(outputs, ["errant"], types=tier) for tier in ("full", "main", "operation")
    }
    for tier in ("main", "operation"):
        folded, direct = (
            gm.compare(tables[of], types=wanted)["errant"].to_dict()
            for of, wanted in (("full", tier), (tier, True))
        )
        for key in ("types", "types_signature", "systems"):
            assert folded[key] == direct[key]
        with pytest.raises(gm.UsageError, match="cannot be made"):
            gm.compare(tables[tier], types="full")


def test_refusals(table, run):
    with pytest.raises(gm.UsageError, match="unknown kind of types"):
        gm.compare(table, types="mian")
    with pytest.raises(gm.UsageError, match="no counts by error type"):
        gm.compare(table, types=True, metrics=["gleu"])
    with pytest.raises(gm.UsageError, match="cannot be made"):
        gm.compare(table, types="main")  # these types are operations


def test_too_many_comparisons_are_refused():
    many = corpus(**{f"s{n}": RIGHT for n in range(450)})
    scored = gm.score(many, [NEUTRAL], types=True)
    with pytest.raises(gm.UsageError, match="101,025 comparisons"):
        gm.compare(scored, types=True)


def test_notes_tell_how_many_comparisons_there_are(table):
    notes = " ".join(gm.compare(table, types=True).notes)
    assert "12 comparisons by error type (2 types), not corrected" in notes
    assert "no comparison by error type of gleu" in notes
    notes = " ".join(gm.compare(table, types=True, correction="holm", resamples=99).notes)
    assert "by error type: no p-value can be below 0.12" in notes


def test_tables(run):
    code, out, _ = run("--types", "--baseline", "none", "-m", NEUTRAL)
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert [NEUTRAL, "by", "type", "gold", "right", "half", "none", "adds"] in lines
    (row,) = [line for line in lines if line[:2] == ["R", "6"]]
    assert row[2:6] == ["1.0000", "*", "0.8333", "0.0000"]
    code, out, _ = run("--types", "-m", NEUTRAL, "--format", "tsv")
    rows = [line.split("\t") for line in out.splitlines()]
    head = next(row for row in rows if "type" in row)
    assert head[:5] == ["system", "metric", "type", "gold", "value"]
    assert ["half", NEUTRAL, "R", "6"] in [row[:4] for row in rows]
