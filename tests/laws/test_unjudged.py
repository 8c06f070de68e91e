"""Law 7: a sentence that cannot be judged changes no score, whatever the metric."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import fake_judge
import grammeter as gm
import made_models
from fake_annotator import FakeAnnotator
from grammeter.cli.main import main
from grammeter.core import DataError, Edit, ScoreTable
from grammeter.metrics import BUILT_IN
from scoring.test_sentences import ALONE, VARIANTS, segment

SPELLINGS = {
    **ALONE,
    "gotoscorer": "gotoscorer",
    "llm-s": "llm-s(model=m)",
    "llm-e": "llm-e(model=m)",
}
MORE = ["bertscore(model='{encoder}', layer=1, idf=true)", "sentm2(annotator=0)", *VARIANTS]

PLACES = (0, 3, 4, 8)
"""Where sentences that cannot be judged stand among five that can."""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    made = (made_models.encoder, made_models.regressor, made_models.causal, made_models.seq2seq)
    return {make.__name__: make(folder / make.__name__) for make in made}


def corpus(*, more: bool, **options) -> gm.Corpus:
    """Five sentences; with four ``more`` that cannot be judged, each for another reason."""
    rows = [(segment(n, 2), segment(n + 50, 2).hypothesis) for n in range(5)]
    sentences = [(r.source, [*r.references], r.gold, [r.hypothesis, x]) for r, x in rows]
    insertion = {0: (Edit(0, 0, "the cat"),), 1: ()}
    odd = [
        ("", ["the cat", ""], insertion, ["the", ""]),
        ("a house", [None, None], {}, ["a cat", "a"]),
        ("the cat sees", ["the cat sees", None], {}, ["a cat", "the cat sees"]),
        (" \t ", [None, None], {}, ["", "a"]),
    ]
    for place, row in zip(PLACES, odd, strict=True) if more else ():
        sentences.insert(place, row)
    sources, references, gold, outputs = zip(*sentences, strict=True)
    columns = [[*column] for column in zip(*references, strict=True)]
    systems = {name: [*texts] for name, texts in zip("AB", zip(*outputs, strict=True), strict=True)}
    return gm.Corpus(sources=sources, references=columns, gold=gold, systems=systems, **options)


def test_every_metric_is_looked_at():
    assert SPELLINGS.keys() == BUILT_IN.keys()


@pytest.mark.parametrize("spelled", [*SPELLINGS.values(), *MORE])
def test_a_sentence_that_cannot_be_judged_changes_no_score(spelled, request, monkeypatch):
    fake_judge.install(monkeypatch)
    monkeypatch.setattr("grammeter.metrics.kinds.annotator", lambda *_, **__: FakeAnnotator())
    if "{" in spelled:
        spelled = spelled.format(**request.getfixturevalue("models"))
    plain = gm.score(corpus(more=False), [spelled])
    table = gm.score(corpus(more=True), [spelled])
    stored = ScoreTable.from_dict(json.loads(json.dumps(table.to_full_dict())))
    for each in (table, stored):
        column, other = each[spelled], plain[spelled]
        assert column.signature["unjudged"] == "skip(4)"
        for system in "AB":
            assert column[system].value == pytest.approx(other[system].value, abs=1e-9, nan_ok=True)
            assert column[system].parts == pytest.approx(other[system].parts, nan_ok=True)
            assert column[system].n == other[system].n == 5
            values = column.segments[system].values
            assert np.isnan(values[[*PLACES]]).all()
            expected = other.segments[system].values
            assert np.delete(values, PLACES) == pytest.approx(expected, abs=1e-6, nan_ok=True)
        assert each.blocks["unjudged"]["segments"].keys() == {"1", "4", "5", "9"}
    metric = gm.metric(spelled)
    for system in "AB":  # what resamples are made of
        of, without = (t[spelled].statistics[system] for t in (stored, plain))
        assert metric.score(of).value == pytest.approx(plain[spelled][system].value, nan_ok=True)
        sums, expected = (metric.summands(rows) for rows in (of, without))
        assert not sums[[*PLACES]].any()
        assert np.delete(sums, PLACES, axis=0) == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_types_count_judged_sentences_only():
    metrics = ["errant(pipeline=neutral)"]
    plain, table = (gm.score(corpus(more=more), metrics, types=True) for more in (False, True))
    before, after = (
        {k: s.parts for k, s in t[metrics[0]].types["A"].items()} for t in (plain, table)
    )
    assert before == after
    rows = table[metrics[0]].type_counts["A"].rows[:, 0]
    assert len(rows) > 0
    assert not set(rows.tolist()) & {*PLACES}
    compared = gm.compare(table, types=True, resamples=20)
    assert any("unjudged" in note for note in compared.notes)


@pytest.mark.parametrize("unit", ["sentence", "document", "topic"])
def test_only_judged_sentences_are_drawn(unit):
    """Intervals, p-values, types and groups are those of the corpus without the others."""
    figures = []
    for more in (False, True):
        names = [*"rrsst"]
        for place in PLACES if more else ():
            names.insert(place, "r" if place < 3 else "s")
        groups = {"topic": ["news" if name == "r" else "other" for name in names]}
        texts = corpus(more=more, documents=names, groups=groups)
        table = gm.score(texts, metrics=["errant(pipeline=plain)", "gleu", "chrf"], types=True)
        compared = gm.compare(table, unit=unit, types=True, resamples=60).to_dict()["metrics"]
        shown = json.dumps(compared)
        figures.append(shown.replace("|unjudged:skip(4)", ""))
    assert figures[0] == figures[1]


def test_limits_of_a_comparison_count_judged_sentences():
    compared = gm.compare(gm.score(corpus(more=True), metrics=["gleu"]), resamples=60)
    assert any("segments are few for a bootstrap (5)" in note for note in compared.notes)


def test_keep_takes_the_source_for_the_reference():
    table = gm.score(corpus(more=True, unjudged="keep"), ["m2", "gleu"])
    assert table["m2"].signature["unjudged"] == "keep(4)"
    values = table["m2"].segments["B"].values
    assert values[4] == 1  # left as it is
    assert values[3] == 0  # changed without need
    assert not np.isnan(values).any()


def test_error_names_the_first():
    with pytest.raises(DataError, match=r"source:1: .* cannot be judged: empty source"):
        corpus(more=True, unjudged="error")
    assert len(corpus(more=False, unjudged="error")) == 5


def test_nothing_left_to_judge():
    empty = gm.Corpus(sources=["a"], references=[[None]], systems={"A": ["a"]})
    with pytest.raises(DataError, match="no sentence can be judged: no reference"):
        gm.score(empty, ["gleu"])


def test_a_part_without_judged_sentences_has_no_score():
    table = gm.score(corpus(more=True), ["m2"])
    score = gm.metric("m2").score(table["m2"].statistics["A"].take(PLACES))
    assert math.isnan(score.value)
    assert score.reason == "no sentence can be judged"


def test_a_scorer_gives_an_empty_source_no_score():
    scorer = gm.Scorer(["gleu", "m2"][:1])
    assert scorer(["a b", ""], ["a b", "a"], ["a b", "a"])["gleu"] == [1.0, None]
    assert scorer.reasons(["", "a"], ["a", "a"], ["a", "a"])["gleu"] == [
        "it cannot be judged: empty source", "",
    ]  # fmt: skip


GOLD = """\
S He go home .
A 1 2|||R|||goes|||REQUIRED|||-NONE-|||0
A -1 -1|||NA|||-NONE-|||REQUIRED|||-NONE-|||1

S xx yy
A -1 -1|||NA|||-NONE-|||REQUIRED|||-NONE-|||0

S Fine .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.m2").write_text(GOLD, "utf-8")
    (tmp_path / "A.txt").write_text("He goes home .\nzz\nFine !\n", "utf-8")


WORDS = ["score", "-r", "gold.m2", "-m", "m2", "gleu(order=2)", "--hyps", "A.txt"]


def test_na_in_the_shell(files, capsys):
    assert main([*WORDS, "-o", "s.json", "--segments", "s.tsv", "--quiet"]) == 0
    out = capsys.readouterr().out
    note = "unjudged (no reference): 1 of 3 sentences count for no metric (--unjudged skip): 2"
    assert f"note: {note}" in out or note in out
    stored = json.loads(Path("s.json").read_text("utf-8"))
    assert stored["segments"] == 3
    assert stored["unjudged"] == {"rule": "skip", "segments": {"2": "no reference"}}
    assert stored["metrics"]["m2"]["systems"]["A"]["parts"]["fp"] == 1
    lines = Path("s.tsv").read_text("utf-8").splitlines()
    assert lines[2] == 'A\t2\tm2\tnull\t\t{"reason": "it cannot be judged: no reference"}'
    assert main(["explain", "s.json", "--system", "A", "--line", "2", "--format", "json"]) == 0
    explained = json.loads(capsys.readouterr().out)["metrics"]["m2"]
    assert (explained["value"], explained["reason"]) == (None, "it cannot be judged: no reference")


@pytest.mark.parametrize(
    ("rule", "code", "word"), [("error", 3, "gold.m2, sentence 2"), ("keep", 0, "keep(1)")]
)
def test_other_rules_in_the_shell(rule, code, word, files, capsys):
    assert main([*WORDS, "--unjudged", rule]) == code
    assert word in "".join(capsys.readouterr())


def test_na_is_kept_where_edits_are_rewritten_or_compared(files, capsys):
    blocks = gm.edits_convert("gold.m2", redo="gold", pipeline="neutral").text()
    assert blocks.count("|||NA|||") == 2
    same = gm.edits_compare("gold.m2", "gold.m2")
    assert (same.comparison.counts.tp, same.comparison.counts.fp, same.comparison.counts.fn) == (
        1,
        0,
        0,
    )
    assert any("NA" in note for note in same.notes)
