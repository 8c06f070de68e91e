"""Documents are drawn as a whole, groups from their own: laws, goldens, and what has no effect."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grammeter as gm
from fake_metric import scored, systems
from grammeter.cli.main import main
from grammeter.core import ScoreTable, UsageError
from grammeter.formats import Corpus
from grammeter.rendering import page_html
from grammeter.resources import sample_corpus
from grammeter.stats import percentile_interval, resample_counts
from grammeter.verbs._compare.results import Comparison

CZECH = "m2(row0=head)"
RESAMPLES = 4000


def figures(results: Any) -> dict[str, Any]:
    return {name: result.to_dict() for name, result in results.items()}


# --- a corpus without sentences: laws ---------------------------------------------------------


@pytest.fixture
def table(fake_metrics: None) -> ScoreTable:
    return scored(systems({"good": 0.8, "base": 0.62, "bad": 0.4}), ("share", "errors"))


def with_documents(table: ScoreTable, documents: list[str]) -> ScoreTable:
    return replace(table, corpus={"systems": dict.fromkeys(table.systems), "documents": documents})


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_documents_of_one_sentence_are_sentences(table: ScoreTable, test: Any) -> None:
    alone = with_documents(table, [f"d{number}" for number in range(120)])
    by_document, by_sentence = (
        gm.compare(alone, unit=unit, test=test, resamples=200) for unit in ("document", "sentence")
    )
    for metric in table:
        assert figures(by_document[metric]) == figures(by_sentence[metric])
        assert "|test-unit:document(120)|" in str(by_document[metric].signature)
        assert "|test-unit:sentence|" in str(by_sentence[metric].signature)


def test_a_slow_twin_draws_documents(table: ScoreTable) -> None:
    documents = [f"d{number // 5}" for number in range(100)] + ["long"] * 20
    compared = gm.compare(with_documents(table, documents), resamples=300, baseline="base")
    names = [*dict.fromkeys(documents)]
    counts = np.concatenate([*resample_counts(len(names), 300, seed=1)])
    for system in table.systems:
        values: list[float] = []
        for drawn in counts:
            times = dict(zip(names, drawn.astype(int), strict=True))
            places = [at for at, name in enumerate(documents) for _ in range(times[name])]
            right, words = table["share"].statistics[system].rows[places, 0].sum(axis=0)
            values.append(right / words)
        low, high = percentile_interval(np.array(values), 0.95)
        assert compared["share"][system].low == pytest.approx(low, rel=1e-12)
        assert compared["share"][system].high == pytest.approx(high, rel=1e-12)


def test_few_documents_and_one(table: ScoreTable) -> None:
    few = gm.compare(with_documents(table, [f"d{number // 10}" for number in range(120)]))
    assert any("from so few units is not to be trusted (document: 12)" in n for n in few.notes)
    one = gm.compare(with_documents(table, ["d"] * 120))
    assert math.isnan(one["share"]["good"].low)
    assert one["share"]["good"].reason


def test_units_that_the_table_lacks(table: ScoreTable) -> None:
    with pytest.raises(UsageError, match="score --documents FILE:COLUMN"):
        gm.compare(table, unit="document")
    with pytest.raises(UsageError, match="There are: sentence, document"):
        gm.compare(with_documents(table, ["d"] * 120), unit="domain")
    with pytest.raises(UsageError, match="unit"):
        gm.compare(table, difference=["good", "bad"], unit="sentence")


# --- scores by group --------------------------------------------------------------------------


def sample(groups: list[str], documents: list[str] | None = None) -> ScoreTable:
    folder = sample_corpus()
    outputs = [folder / "systems" / f"{name}.txt" for name in ("Careful", "Eager", "Speller")]
    corpus = gm.read_corpus(references=[folder / "gold.m2"], systems=outputs)
    corpus = replace(corpus, groups={"kind": groups}, documents=documents or ())
    return gm.score(corpus, ["m2", "gleu"])


def test_the_only_group_is_the_whole() -> None:
    compared = gm.compare(sample(["all"] * 64), resamples=200)
    for metric in compared.values():
        assert [*metric.groups] == ["all", "macro"]
        for part in metric.groups.values():
            assert figures(part) == figures(metric)


def test_groups_are_drawn_from_apart() -> None:
    """A group's interval does not depend on what the sentences of other groups say."""
    kinds = ["a"] * 40 + ["b"] * 24
    compared = gm.compare(sample(kinds), resamples=200)["m2"].groups
    folder = sample_corpus()
    outputs = [folder / "systems" / f"{name}.txt" for name in ("Careful", "Eager", "Speller")]
    corpus = gm.read_corpus(references=[folder / "gold.m2"], systems=outputs).take(range(40))
    alone = gm.compare(gm.score(corpus, ["m2"]), resamples=200)["m2"]
    for system, result in alone.items():
        ours = compared["a"][system]
        assert (ours.value, ours.low, ours.high) == (result.value, result.low, result.high)


def test_a_comparison_by_group_is_stored_and_shown(tmp_path: Path) -> None:
    documents = [f"d{number // 4}" for number in range(64)]
    compared = gm.compare(
        sample(["a"] * 40 + ["b"] * 24, documents), baseline="Eager", resamples=200
    )
    gm.write_result(compared, tmp_path / "compared.json")
    again = gm.read(tmp_path / "compared.json")
    assert isinstance(again, Comparison)
    assert str(again) == str(compared)
    data = json.loads((tmp_path / "compared.json").read_text("utf-8"))["metrics"]["m2"]
    assert "|group-by:kind|" in data["groups_signature"]
    assert set(data["groups"]) == {"a", "b", "macro"}
    assert set(data["groups"]["a"]["systems"]["Careful"]) >= {"value", "low", "high", "pvalue"}
    assert "by kind: intervals from so few documents say little: a 10, b 6" in str(compared)
    long = {table.columns[2].head: table for table in compared.tables(long=True)}["group"]
    assert len(long.rows) == 2 * 3 * 3


def test_scores_that_depend_on_the_corpus_have_no_intervals_by_group() -> None:
    folder = sample_corpus()
    outputs = [folder / "systems" / f"{name}.txt" for name in ("Careful", "Eager")]
    corpus = gm.read_corpus(references=[folder / "gold.m2"], systems=outputs)
    corpus = replace(corpus, groups={"kind": ["a"] * 40 + ["b"] * 24})
    pooled = "gotoscorer(pipeline=neutral)"
    compared = gm.compare(gm.score(corpus, [pooled, "m2"]), resamples=100)
    assert not compared[pooled].groups
    assert compared["m2"].groups
    assert any(f"no intervals by group of {pooled}" in note for note in compared.notes)


# --- goldens ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def czech(shared: Path) -> ScoreTable:
    folder = shared / "data" / "lang_cs_geccc"
    corpus = gm.read_corpus(
        references=[folder / "geccc819.m2"],
        systems=sorted((folder / "tokenised").iterdir()),
        documents=f"{folder / 'geccc819.meta.tsv'}:document",
        group_by=f"{folder / 'geccc819.meta.tsv'}:domain",
    )
    return gm.score(corpus, [CZECH])


def linearised(rows: np.ndarray, units: list[str]) -> float:
    """Return the standard error of F0.5 from tp, fp, fn by sentence: ``specs/groups.md``."""
    above, below = 1.25 * rows[:, 0], rows @ (1.25, 1, 0.25)
    value = above.sum() / below.sum()
    numbers = np.unique(units, return_inverse=True)[1]
    return math.sqrt((np.bincount(numbers, above - value * below) ** 2).sum()) / below.sum()


@pytest.mark.parametrize("unit", ["sentence", "document"])
def test_intervals_against_goldens_and_a_formula(
    czech: ScoreTable, shared: Path, unit: str
) -> None:
    """Percentile ends of 5 x 20,000 resamples, standard errors without chance.

    ``golden/groups/intervals.json`` and ``sentence_counts.tsv``.
    """
    folder = shared / "golden" / "groups"
    golden = json.loads((folder / "intervals.json").read_text("utf-8"))[CZECH]
    lines = (folder / "sentence_counts.tsv").read_text("utf-8").splitlines()[1:]
    compared = gm.compare(czech, unit=unit, resamples=RESAMPLES)[CZECH]
    corpus = Corpus.from_dict(czech.corpus or {})
    units = [*corpus.documents] if unit == "document" else [str(n) for n in range(819)]
    for system, result in compared.items():
        counts = [
            line.split("\t")[3:6] for line in lines if line.startswith(f"{CZECH}\t{system}\t")
        ]
        error = linearised(np.array(counts, dtype=float), units)
        expected = golden[system][unit]
        assert error == pytest.approx(expected["se_linear"], rel=1e-9)
        slack = 4 * 0.085 * error * math.sqrt(1000 / RESAMPLES) + 0.0008
        assert result.low == pytest.approx(expected["low"], abs=slack)
        assert result.high == pytest.approx(expected["high"], abs=slack)


def test_groups_and_macro_against_a_formula(czech: ScoreTable) -> None:
    """Widths of intervals by group and of their mean: ``sqrt(sum_g se_g**2) / G``."""
    compared = gm.compare(czech, resamples=RESAMPLES)[CZECH].groups
    corpus = Corpus.from_dict(czech.corpus or {})
    labels = np.array(corpus.group_labels)
    for system in czech.systems:
        errors: dict[str, float] = {}
        for group in ("NF", "NWI", "R", "SL"):
            at = np.flatnonzero(labels == group)
            rows = gm.metric(CZECH).summands(czech[CZECH].statistics[system].take(at))
            errors[group] = linearised(counts_of(rows), [corpus.documents[place] for place in at])
        errors["macro"] = math.sqrt(sum(error**2 for error in errors.values())) / 4
        for group, error in errors.items():
            width = compared[group][system].high - compared[group][system].low
            assert width / (2 * 1.96 * error) == pytest.approx(1, abs=0.12), (system, group)


def counts_of(rows: np.ndarray) -> np.ndarray:
    """Return tp, fp, fn of rows of correct, proposed and gold edits."""
    correct, proposed, gold = rows.T[:3]
    return np.stack([correct, proposed - correct, gold - correct], axis=-1)


# --- the shell --------------------------------------------------------------------------------


def test_in_the_shell(tmp_path: Path, capsys: Any) -> None:
    folder = sample_corpus()
    outputs = [str(folder / "systems" / f"{name}.txt") for name in ("Careful", "Eager")]
    labels = ["--documents", f"{folder / 'texts.tsv'}:document"]
    scores = str(tmp_path / "scores.json")
    words = ["-r", str(folder / "gold.m2"), "-m", "m2", "--hyps", *outputs, *labels, "-o", scores]
    assert main(["score", *words]) == 0
    capsys.readouterr()
    assert main(["compare", scores, "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "|test-unit:document(8)|" in out
    assert "note: 8 documents are drawn, not sentences (--unit sentence)" in out
    assert main(["compare", scores, "--unit", "sentence", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["unit"], data["units"]) == ("sentence", None)
    assert not any("are drawn" in note for note in data["notes"])
    assert main(["compare", scores, "--unit", "domain"]) == 2
    assert "There are: sentence, document" in capsys.readouterr().err


def test_a_report_shows_groups() -> None:
    table = sample(["a"] * 40 + ["b"] * 24, [f"d{number // 4}" for number in range(64)])
    page = gm.report(table, metrics=["m2"], systems=["Eager", "Careful"])
    groups = {section.title: section for section in page.sections}["Groups"]
    plain, intervals = groups.tables
    assert [row[0] for row in plain.rows] == ["Eager", "Careful"]
    assert {row[0] for row in intervals.rows} == {"a", "b", "macro"}
    assert "m2 by kind" in page_html(page)
    assert len(groups.drawings) == 1
    assert len(groups.captions) == len(groups.tables)
    assert any("resamples of the documents" in text for text in page.sections[0].words)
    without = gm.report(replace(table, blocks={}, corpus=None))
    assert "Groups" not in {section.title for section in without.sections}


def test_a_comparison_of_an_earlier_version_drew_sentences(table: ScoreTable) -> None:
    data = gm.compare(table, resamples=50).to_dict()
    del data["unit"], data["units"]
    assert Comparison.from_dict(data).design.unit == "sentence"
