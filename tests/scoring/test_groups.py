"""Scores by group: each group is a corpus of its own, macro is their mean."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grammeter as gm
from fake_metric import Share, counted
from grammeter.cli.main import main
from grammeter.core import DataError, ScoreTable, UnknownNameError, UsageError
from grammeter.formats import Corpus
from grammeter.resources import sample_corpus
from grammeter.scoring import places_of
from grammeter.stats import resample_counts

CZECH = "m2(row0=head)"
PLAIN = [
    "m2", "sentm2", "errant(pipeline=neutral)", "gleu", "imeasure", "green", "bleu", "chrf",
    "gotoscorer(pipeline=neutral)", "cleme(pipeline=neutral)",
]  # fmt: skip


@pytest.fixture(scope="module")
def sample() -> Corpus:
    folder = sample_corpus()
    outputs = [folder / "systems" / f"{name}.txt" for name in ("Careful", "Eager")]
    labels = f"{folder / 'texts.tsv'}:kind"
    return gm.read_corpus(references=[folder / "gold.m2"], systems=outputs, group_by=labels)


def test_published_cells(shared: Path) -> None:
    """m2 x 100 by domain, as printed by strakova/gec_tool_comparison: ``golden/groups/cells.tsv``.

    All, the last column, is the score without groups.
    """
    folder = shared / "data" / "lang_cs_geccc"
    table = gm.score(
        gm.read_corpus(
            references=[folder / "geccc819.m2"],
            systems=sorted((folder / "tokenised").iterdir()),
            group_by=f"{folder / 'geccc819.meta.tsv'}:domain",
        ),
        [CZECH, "m2"],
    )
    lines = (shared / "golden" / "groups" / "cells.tsv").read_text("utf-8").splitlines()
    header, *rows = (line.split("\t") for line in lines)
    cells = [
        (metric, row[0], group, cell)
        for row in rows
        if row[1] == "published"
        for group, cell in zip(header[2:], row[2:], strict=True)
        for metric in (CZECH, "m2")
    ]
    assert len(cells) == 2 * 20
    equal = {CZECH: 0, "m2": 0}
    for metric, system, group, cell in cells:
        value = table[metric][system].value if group == "All" else None
        value = table.values_in(metric, group)[system] if value is None else value
        equal[metric] += f"{100 * value:.2f}" == f"{float(cell):.2f}"
    assert equal == {CZECH: 20, "m2": 15}
    assert table.blocks["groups"]["segments"] == {"NF": 206, "NWI": 200, "R": 206, "SL": 207}


@pytest.mark.parametrize("metric", PLAIN)
def test_a_group_is_scored_as_a_corpus_of_its_own(metric: str, sample: Corpus) -> None:
    table = gm.score(sample, [metric])
    labels = sample.group_labels
    for group in ("experience", "opinion"):
        at = [place for place, label in enumerate(labels) if label == group]
        alone = gm.score(sample.take(at), [metric])[metric]
        ours = table.values_in(metric, group)
        assert ours == {system: score.value for system, score in alone.items()}
        parts = table.blocks["groups"]["metrics"][metric][group]["Eager"]["parts"]
        assert parts == alone["Eager"].to_dict()["parts"]
    means = table.values_in(metric, "macro")
    for system, value in means.items():
        values = [table.values_in(metric, group)[system] for group in ("experience", "opinion")]
        assert value == pytest.approx(sum(values) / 2, rel=1e-14)


def test_the_score_of_all_is_that_without_groups(sample: Corpus) -> None:
    plain = gm.score(replace(sample, groups={}), PLAIN[:5]).to_dict()
    grouped = gm.score(sample, PLAIN[:5]).to_dict()
    assert set(grouped) - set(plain) == {"groups"}
    del grouped["groups"]
    assert grouped == plain


@dataclass(frozen=True, kw_only=True)
class Kept(Share):
    """The share of tokens that are those of the source; no number without tokens."""

    name = "kept"

    def statistics(self, segments):
        pairs = [(s.source.split(), s.hypothesis.split()) for s in segments]
        return counted([sum(w in a for w in b) for a, b in pairs], [len(b) for _, b in pairs])

    def value_of(self, sums):
        return sums[..., 0] / np.where(sums[..., 1], sums[..., 1], np.nan)


def test_a_group_without_a_score_is_named() -> None:
    groups = {"domain": ["full", ""]}
    corpus = Corpus(sources=["a b", "c"], systems={"A": ["a c", ""]}, groups=groups)
    table = gm.score(corpus, [Kept()])
    by_group = table.blocks["groups"]["metrics"]["kept"]
    assert by_group["full"]["A"]["value"] == 0.5
    assert by_group["(none)"]["A"] == {"value": None, "reason": "undefined", "parts": {}}
    assert by_group["macro"]["A"] == {"value": None, "reason": "no score in (none)"}
    assert "kept, A, macro: no score: no score in (none)" in str(table)


def test_a_group_of_which_nothing_can_be_judged() -> None:
    corpus = Corpus(
        sources=["a b c d", "", "x y z w v"],
        references=[["a b c e", "", "x y z w u"]],
        systems={name: ["a b c d", "", "x y z w v"] for name in "AB"},
        groups={"domain": ["full", "empty", "full"]},
    )
    table = gm.score(corpus, ["gleu", "gotoscorer(pipeline=neutral)"])
    for of_metric in table.blocks["groups"]["metrics"].values():
        assert of_metric["empty"]["A"]["reason"] == "no sentence can be judged"
        assert of_metric["macro"]["A"]["value"] is None
    assert table.values_in("gleu", "full") == {s: o.value for s, o in table["gleu"].items()}


def test_a_group_called_macro_is_refused() -> None:
    groups = {"domain": ["macro"]}
    corpus = Corpus(sources=["a"], references=[["a"]], systems={"A": ["a"]}, groups=groups)
    with pytest.raises(DataError, match="a group is called 'macro'"):
        gm.score(corpus, ["gleu"])


def test_groups_are_stored(sample: Corpus, tmp_path: Path) -> None:
    table = gm.score(sample, ["m2"])
    gm.write_result(table, tmp_path / "scores.json")
    again = gm.read(tmp_path / "scores.json")
    assert isinstance(again, ScoreTable)
    assert again.blocks == table.blocks
    assert str(again) == str(table)
    assert Corpus.from_dict(again.corpus or {}).groups == sample.groups


def test_limits_of_groups(sample: Corpus) -> None:
    table = gm.score(sample, ["m2"])
    values = table.values_in("m2", "opinion")
    missed = gm.fail_under(table, {"m2@opinion": 0.5, "m2@macro": 0.2, "m2": 0.2})
    assert missed == [f"Eager scores {values['Eager']:.6g} in m2@opinion, limit 0.5"]
    with pytest.raises(UnknownNameError, match="group in --fail-under 'opinions'"):
        gm.fail_under(table, {"m2@opinions": 0.5})
    with pytest.raises(UsageError, match="lie between 0 and 1"):
        gm.fail_under(table, {"m2@macro": 50})


# --- a score for each document ---------------------------------------------------------------


def by_document(**options: Any) -> Corpus:
    folder = sample_corpus()
    outputs = [folder / "systems" / f"{name}.txt" for name in ("Careful", "Eager", "Echo")]
    labels = {"documents": f"{folder / 'texts.tsv'}:document", "level": "document"}
    return gm.read_corpus(references=[folder / "gold.m2"], systems=outputs, **labels | options)


@pytest.mark.parametrize("metric", ["m2", "gleu", "errant(pipeline=neutral)", "green"])
def test_the_mean_over_documents(metric: str) -> None:
    corpus = by_document(group_by=f"{sample_corpus() / 'texts.tsv'}:kind")
    table = gm.score(corpus, [metric])
    pooled = gm.score(by_document(level="sentence"), [metric])[metric]
    assert "|level:document|" in str(table[metric].signature)
    scores: dict[str, list[float]] = {system: [] for system in table.systems}
    kinds: list[str] = []
    for name in dict.fromkeys(corpus.documents):
        at = [place for place, other in enumerate(corpus.documents) if other == name]
        kinds.append(corpus.group_labels[at[0]])
        alone = gm.score(replace(corpus.take(at), groups={}, settings={}), [metric])[metric]
        for system, values in scores.items():
            values.append(alone[system].value)
    for system, values in scores.items():
        score = table[metric][system]
        assert score.value == pytest.approx(sum(values) / 8, rel=1e-14)
        assert score.parts == {"documents": 8, "pooled": pooled[system].value}
        opinions = [v for v, kind in zip(values, kinds, strict=True) if kind == "opinion"]
        assert table.values_in(metric, "opinion")[system] == pytest.approx(sum(opinions) / 3)


def test_the_mean_over_documents_compared() -> None:
    """Documents are drawn: the interval is that of a mean of eight numbers."""
    corpus = by_document(group_by=f"{sample_corpus() / 'texts.tsv'}:kind")
    table = gm.score(corpus, ["m2"])
    compared = gm.compare(table, resamples=500)["m2"]
    counts = np.concatenate([*resample_counts(8, 500, seed=1)])
    rows = table["m2"].statistics
    for system, result in compared.items():
        values = [
            gm.metric("m2").score(rows[system].take(at)).value
            for at in places_of(corpus.documents).values()
        ]
        if system != "Echo":  # all zero: no interval
            low, high = np.quantile(counts @ values / 8, [0.025, 0.975])
            assert (result.low, result.high) == (pytest.approx(low), pytest.approx(high))
    assert compared.groups["macro"]["Careful"].value == table.values_in("m2", "macro")["Careful"]
    with pytest.raises(UsageError, match="no sentences are drawn from documents"):
        gm.compare(table, unit="sentence")


def test_what_a_mean_over_documents_cannot_be() -> None:
    with pytest.raises(UsageError, match="--level document, and the source has sentences"):
        by_document(documents=None)
    with pytest.raises(UsageError, match="error types are counted over all documents"):
        gm.score(by_document(), ["errant(pipeline=neutral)"], gold_types=True)


def run(capsys: Any, *options: str, code: int = 0) -> tuple[str, str]:
    folder = sample_corpus()
    outputs = [str(folder / "systems" / f"{name}.txt") for name in ("Careful", "Echo")]
    words = ["score", "-r", str(folder / "gold.m2"), "-m", "m2", "--hyps", *outputs, *options]
    assert main(words) == code
    return capsys.readouterr()


def test_in_the_shell(capsys: Any) -> None:
    labels = ("--group-by", f"{sample_corpus() / 'texts.tsv'}:kind")
    out, err = run(capsys, *labels, "--fail-under", "m2@opinion=0.3", code=1)
    assert err == "Echo scores 0 in m2@opinion, limit 0.3\n"
    assert "m2 by kind  experience  opinion *     all   macro" in out
    assert "sentences: experience 42, opinion * 22" in out
    out, _ = run(capsys, *labels, "--format", "tsv")
    assert out.split("\n\n")[1].startswith(
        "system\tmetric\tgroup\tsegments\tvalue\nCareful\tm2\texperience\t42\t0.7778\n"
    )
    block = json.loads(run(capsys, *labels, "--format", "json")[0])["groups"]
    assert (block["by"], block["order"]) == ("kind", ["experience", "opinion"])
    assert set(block["metrics"]["m2"]["macro"]["Echo"]) == {"value"}


@pytest.mark.parametrize(
    ("labels", "limit", "code", "words"),
    [
        ("texts.tsv:kind", "m2@opinon=0.3", 2, "opinion"),
        ("texts.tsv:topic", "m2=0.3", 3, "kind"),
        ("source.txt:kind", "m2=0.3", 3, "source.txt"),
        ("texts.tsv", "m2=0.3", 2, "FILE:COLUMN"),
    ],
)
def test_wrong_labels_in_the_shell(
    labels: str, limit: str, code: int, words: str, capsys: Any
) -> None:
    options = ("--group-by", str(sample_corpus() / labels), "--fail-under", limit)
    assert words in run(capsys, *options, code=code)[1]


def test_a_limit_of_a_group_needs_groups(capsys: Any) -> None:
    assert "group" in run(capsys, "--fail-under", "m2@opinion=0.3", code=2)[1]
