"""Corpus x metrics: sharing, signatures, what is lacking, missing scores."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grammeter as gm
from grammeter.core import Edit, UnknownNameError, UsageError
from grammeter.formats import Corpus
from grammeter.metrics import M2
from grammeter.rendering import segments_tsv
from grammeter.verbs import score

SOURCES = ["he go home .", "all fine ."]
GOLD = [{0: (Edit(1, 2, "goes"),)}, {0: (), 1: (Edit(0, 1, "All"),)}]


def corpus(**parts: Any) -> Corpus:
    given_ = {
        "sources": SOURCES,
        "references": [["he goes home .", "all fine ."]],
        "gold": GOLD,
        "systems": {"A": ["he goes home .", "all fine ."], "B": SOURCES},
    }
    return Corpus(**(given_ | parts))


def test_keys_are_the_spellings_asked_for() -> None:
    table = score(corpus(), ["m2", "m2( beta = 0.5 )", M2(beta=1.0)])
    assert list(table) == ["m2", "m2( beta = 0.5 )", "m2(beta=1.0)"]
    assert table["m2( beta = 0.5 )"].metric == "m2"
    assert table["m2"]["A"].value == table["m2( beta = 0.5 )"]["A"].value
    assert (table.systems, table.segments) == (("A", "B"), 2)


def test_a_perfect_and_an_idle_system() -> None:
    table = score(corpus(), ["m2"])["m2"]
    assert table["A"].parts == {"precision": 1.0, "recall": 1.0, "tp": 1, "fp": 0, "fn": 0}
    assert (table["B"].value, table["B"].parts["recall"]) == (0.0, 0.0)


def test_metrics_that_count_alike_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    original = M2.statistics

    def counting(self: M2, segments: Any):
        calls.append(len(segments))
        return original(self, segments)

    monkeypatch.setattr(M2, "statistics", counting)
    score(corpus(), ["m2", "m2(beta=1.0)", "sentm2", "m2(max_unchanged=0)"])
    assert calls == [3, 3]  # of four outputs two are equal; one setting changes the counts


SYSTEMS = st.dictionaries(
    st.sampled_from("ABC"),
    st.lists(
        st.sampled_from(["he go home .", "he goes", "", "all fine ."]), min_size=2, max_size=2
    ),
    min_size=1,
)


@given(SYSTEMS)
@settings(max_examples=30, deadline=None)
def test_systems_together_get_the_scores_they_get_alone(systems: dict[str, list[str]]) -> None:
    names = ["m2", "gleu", "green"]
    together = score(corpus(systems=systems), names)
    for name, outputs in systems.items():
        alone = score(corpus(systems={name: outputs}), names)
        for metric in names:
            assert together[metric][name] == alone[metric][name]
            own, other = together[metric].segments[name], alone[metric].segments[name]
            np.testing.assert_array_equal(own.values, other.values)


def test_the_same_run_gives_the_same_bytes() -> None:
    first, second = (score(corpus(), ["m2", "gleu"]).to_full_dict() for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


@pytest.mark.parametrize(
    ("metric", "parts", "expected"),
    [
        ("m2", {}, {"refs": "2", "gold": "m2"}),
        ("gleu", {"text_rule": "gold(um=skip)"}, {"refs": "1", "reftext": "gold(um=skip)"}),
        ("imeasure", {}, {"refs": "2", "gold": "m2"}),
        ("imeasure", {"gold": ()}, {"refs": "1", "reftext": "given"}),
        ("m2", {"normalisation": "NFC"}, {"unicode": "NFC"}),
        ("gleu", {"normalisation": "NFKD"}, {"unicode": "NFKD"}),
    ],
)
def test_signatures_tell_references_and_forms(
    metric: str, parts: dict[str, Any], expected: dict[str, str]
) -> None:
    signature = score(corpus(**parts), [metric])[metric]["A"].signature
    assert expected.items() <= dict(signature).items()
    assert ("unicode" in dict(signature)) == ("normalisation" in parts)


@pytest.mark.parametrize(
    ("metrics", "parts", "message"),
    [
        ("m2", {}, "metrics is one text, 'm2', where a list belongs"),
        ([], {}, "no metric"),
        (["m2", "m2"], {}, "a metric is named twice"),
        (["m2", M2()], {}, "a metric is named twice"),
        (["m2"], {"systems": {}}, "no system outputs"),
        (["m2"], {"gold": ()}, "m2 needs gold edits, and there are none"),
        (["gleu"], {"references": ()}, "gleu needs references, and there are none"),
        (["imeasure"], {"references": (), "gold": ()}, "imeasure needs references"),
        ([M2], {}, r"metrics\[0\] is a ABCMeta, where a text or a Metric belongs"),
        ([3], {}, r"metrics\[0\] is 3, where a text or a Metric belongs"),
    ],
)
def test_what_cannot_be_scored(metrics: Any, parts: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        score(corpus(**parts), metrics)
    assert caught.value.fix


def test_unknown_metrics_suggest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'gleu'"):
        score(corpus(), ["m2", "gleuu"])


def test_a_missing_score_is_nan_with_a_reason_everywhere() -> None:
    table = score(corpus(), ["sentm2(annotator=1)"])
    (column,) = table.values()
    assert math.isnan(column["A"].value)
    shown = column["A"].to_dict()
    assert shown["value"] is None
    assert "1 of 2 segments have no score: annotator 1 is not listed" in shown["reason"]
    rows = [line.split("\t") for line in segments_tsv(table).splitlines()]
    first, second = rows[1], rows[2]
    assert first[:4] == ["A", "1", "sentm2(annotator=1)", "null"]
    assert "not listed" in json.loads(first[5])["reason"]
    assert float(second[3]) == 0.0  # annotator 1 asks for a correction that A lacks
    full = json.dumps(table.to_full_dict(), allow_nan=False)
    assert json.dumps(gm.ScoreTable.from_dict(json.loads(full)).to_full_dict()) == full


def test_sentences_that_share_one_gold_object_are_told_apart() -> None:
    nothing = {0: ()}
    twins = Corpus(sources=["a b", "c d"], gold=[nothing] * 2, systems={"A": ["a b", "c d"]})
    for name in ("m2", "sentm2", "imeasure"):
        assert score(twins, [name])[name]["A"].value == 1.0


ODD = ["", "a\u2028b \u0085", "\u202ea\u200f", "😀 e\u0301 \u00e9", "\u00a0", "the " * 300]


@pytest.mark.parametrize(
    "name", ["m2", "sentm2", "gleu", "imeasure", "green", "bleu", "chrf", "meteor_es", "wer", "ter"]
)
@pytest.mark.parametrize("hypothesis", ODD)
def test_odd_sentences_are_scored(name: str, hypothesis: str) -> None:
    gold = [{0: (Edit(0, 1, "b"),)}, {0: ()}, {0: (Edit(300, 300, "."),)}]
    sources = ["a b", "", "the " * 300]
    references = [["b b", "", "the " * 300 + "."]]
    odd = Corpus(
        sources=sources,
        references=references,
        gold=gold,
        systems={"A": [hypothesis] * 3, "same": sources},
    )
    table = score(odd, [name])
    assert all(math.isfinite(own.value) for own in table[name].values())
    json.dumps(table.to_full_dict(), allow_nan=False)


def test_systems_below_a_limit_are_named() -> None:
    systems = {"good": ["a c"], "bad": ["a b"]}
    corpus = Corpus(sources=["a b"], references=[["a c"]], systems=systems)
    table = gm.score(corpus, ["gleu(order=1)"])
    (line,) = gm.fail_under(table, {"gleu(order=1)": 0.9})
    assert line.startswith("bad scores ")
    assert gm.fail_under(table, {}) == []
    with pytest.raises(UsageError, match="lie between 0 and 1"):
        gm.fail_under(table, {"gleu(order=1)": 2})
