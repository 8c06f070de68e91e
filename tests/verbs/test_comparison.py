"""Comparison of systems: shape, meaning of each figure, and what happens at the edges."""

import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from fake_metric import METRICS, counted, scored, systems
from grammeter.core import (
    DataError,
    Score,
    ScoreTable,
    Signature,
    UnknownNameError,
    UsageError,
    plain_fields,
)
from grammeter.stats import resample_counts
from grammeter.verbs._compare.design import ComparisonDesign
from grammeter.verbs._compare.verb import compare

QUALITIES = {"good": 0.8, "same": 0.62, "base": 0.62, "bad": 0.4}

pytestmark = pytest.mark.usefixtures("fake_metrics")


@pytest.fixture
def table():
    return scored(systems(QUALITIES), ("share", "errors"))


def pairs_of(result):
    return {(pair.first, pair.second): pair for pair in result.pairs}


def test_baseline_json_has_the_promised_shape(table):
    data = compare(table, baseline="base", resamples=200).to_dict()
    assert (data["kind"], data["baseline"]) == ("comparison", "base")
    assert set(data["metrics"]) == {"share", "errors"}
    share = data["metrics"]["share"]
    assert list(share["systems"]) == ["good", "same", "base", "bad"]
    assert set(share["systems"]["good"]) == {"value", "low", "high", "difference", "pvalue"}
    assert share["systems"]["base"]["difference"] == 0
    assert share["systems"]["base"]["pvalue"] is None
    assert share["systems"]["base"]["reason"] == "this is the baseline"
    assert "pairs" not in share
    json.dumps(data, allow_nan=False)


def test_every_pair_json_has_the_promised_shape(table):
    data = compare(table, resamples=200).to_dict()
    assert data["baseline"] is None
    share = data["metrics"]["share"]
    assert set(share["systems"]["good"]) == {"value", "low", "high", "letters"}
    assert [(pair["first"], pair["second"]) for pair in share["pairs"]] == [
        ("good", "same"), ("good", "base"), ("good", "bad"),
        ("same", "base"), ("same", "bad"), ("base", "bad"),
    ]  # fmt: skip
    assert set(share["pairs"][0]) == {"first", "second", "difference", "pvalue"}


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_figures_mean_what_they_say(table, test):
    metric = compare(table, baseline="base", test=test, resamples=500)["share"]
    for name, result in metric.items():
        assert result.value == table["share"][name].value
        assert result.low < result.value < result.high
        assert result.difference == result.value - table["share"]["base"].value
    assert metric["good"].pvalue == metric["bad"].pvalue == 1 / 501
    assert metric["same"].pvalue > 0.05


def test_intervals_equal_the_slow_twin(table):
    """Score each resample through the metric, from rows taken again."""
    metric = compare(table, resamples=60, seed=7, confidence=0.8)["share"]
    (counts,) = resample_counts(120, 60, seed=7)
    for name, result in metric.items():
        rows = table["share"].statistics[name]
        scores = [
            METRICS["share"].score(rows.take(np.repeat(np.arange(120), times.astype(int)))).value
            for times in counts
        ]
        assert (result.low, result.high) == pytest.approx(tuple(np.quantile(scores, [0.1, 0.9])))


def test_the_interval_comes_from_the_bootstrap_whatever_the_test(table):
    first = compare(table, test="bootstrap", resamples=100)["share"]
    second = compare(table, test="randomisation", resamples=100)["share"]
    assert [(r.low, r.high) for r in first.values()] == [(r.low, r.high) for r in second.values()]
    assert first.pairs != second.pairs


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_pairs_and_baseline_agree(table, test):
    pairs = pairs_of(compare(table, test=test, resamples=150)["share"])
    versus = compare(table, baseline="bad", test=test, resamples=150)["share"]
    for name in ("good", "same", "base"):
        assert pairs[name, "bad"].difference == versus[name].difference
        assert pairs[name, "bad"].pvalue == versus[name].pvalue


def test_letters_start_with_the_best(table):
    result = compare(table, resamples=500)
    assert {name: r.letters for name, r in result["share"].items()} == {
        "good": "a", "same": "b", "base": "b", "bad": "c",
    }  # fmt: skip


def test_lower_is_better(table):
    """The same numbers: differences keep their sign, the letters turn round."""
    result = compare(table, resamples=500)
    assert result["errors"].higher_is_better is False
    assert {name: r.letters for name, r in result["errors"].items()} == {
        "good": "c", "same": "b", "base": "b", "bad": "a",
    }  # fmt: skip
    assert result["errors"].pairs == result["share"].pairs


def test_correction_adjusts_within_a_metric(table):
    plain = compare(table, resamples=300)["share"]
    corrected = compare(table, resamples=300, correction="bonferroni")["share"]
    for before, after in zip(plain.pairs, corrected.pairs, strict=True):
        assert before.pvalue_raw is None
        assert after.pvalue_raw == before.pvalue
        assert after.pvalue == min(1, before.pvalue * 6)
    assert "pvalue_raw" in corrected.to_dict()["pairs"][0]


def test_correction_against_a_baseline_counts_its_comparisons(table):
    result = compare(table, baseline="base", resamples=300, correction="bonferroni")
    assert result["share"]["good"].pvalue == result["share"]["good"].pvalue_raw * 3
    assert "pvalue_raw" not in result["share"]["base"].to_dict()


def test_level_of_the_letters_follows_the_confidence(table):
    """With 9 resamples no p is below 0.1: level 0.1 can tell systems apart, 0.05 cannot."""
    letters = [r.letters for r in compare(table, resamples=9)["share"].values()]
    assert set(letters) == {"a"}
    result = compare(table, resamples=9, confidence=0.9)["share"]
    assert result["good"].letters != result["bad"].letters


@pytest.mark.parametrize("correction", ["none", "holm", "benjamini-hochberg"])
def test_a_confidence_next_to_1_is_possible(table, correction):
    result = compare(table, confidence=1 - 1e-14, correction=correction)
    assert len({r.letters for r in result["share"].values()}) == 1
    assert result.notes


def test_same_seed_same_bytes(table):
    def text(**options):
        return json.dumps(compare(table, resamples=50, **options).to_dict())

    assert text() == text(seed=1)
    assert text() != text(seed=2)


PROGRAM = """
import json
import numpy as np
from fake_metric import counted, scored
from grammeter.verbs._compare.verb import compare
from grammeter.metrics import registry
registry.BUILT_IN["share"] = "fake_metric:Share"
random = np.random.default_rng(1)
table = scored({name: counted(random.random(700), random.random(700)) for name in "abc"})
print(json.dumps(compare(table, test="randomisation", resamples=300).to_dict()))
"""


def test_same_bytes_with_one_thread_and_with_two(request):
    """Floats, whose sums depend on the order of addition, and threads that change the order."""
    result = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONPATH": str(request.config.rootpath / "tests"), "OPENBLAS_NUM_THREADS": n},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for n in ("1", "2")
    ]
    assert result[0] == result[1]


def test_signature_extends_the_metrics_own(table):
    result = compare(table, baseline="base", correction="holm", resamples=20, seed=5)
    signature = Signature.parse(str(result["share"].signature))
    assert dict(signature) == dict(table["share"].signature) | {
        "test": "bootstrap",
        "test-resamples": "20",
        "test-seed": "5",
        "test-unit": "sentence",
        "test-baseline": "base",
        "confidence": "0.95",
        "correction": "holm",
        "resampling": "chosen references fixed",
    }
    assert signature["unit"] == "word"  # the metric's own, not overwritten
    assert [key for key, _ in signature][-1] == "version"


def test_chosen_metrics_only_and_unknown_ones(table):
    assert list(compare(table, metrics=["errors"], resamples=5)) == ["errors"]
    with pytest.raises(UnknownNameError, match="share"):
        compare(table, metrics=["shar"])


def test_unknown_baseline_is_named(table):
    with pytest.raises(UnknownNameError, match="'base'") as caught:
        compare(table, baseline="basis")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "options",
    [
        {"test": "t"},
        {"correction": "sidak"},
        {"resamples": 0},
        {"seed": -1},
        {"confidence": 0.0},
        {"confidence": 1.0},
        {"confidence": 95.0},
        {"confidence": math.nan},
    ],
)
def test_impossible_designs_are_refused(options):
    with pytest.raises(UsageError):
        ComparisonDesign(**options)


def test_scores_alone_cannot_be_compared(table):
    bare = ScoreTable.from_dict(table.to_dict())
    with pytest.raises(DataError, match="scored without statistics") as caught:
        compare(bare)
    assert "score" in caught.value.fix


def test_systems_of_different_length_cannot_be_compared():
    rows = systems({"a": 0.5}, segments=20) | systems({"b": 0.5}, segments=21)
    with pytest.raises(DataError, match="'a': 20, 'b': 21"):
        compare(scored(rows))


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_a_missing_score_keeps_its_reason_and_leaves_the_family(table, test):
    column = table["share"]
    lost = Score(math.nan, column.signature, 120, reason="the model gave up")
    column = replace(column, scores=dict(column.scores) | {"same": lost})
    result = compare(
        ScoreTable(table.systems, 120, {"share": column}),
        test=test,
        correction="bonferroni",
        resamples=100,
    )["share"]
    data = result.to_dict()
    assert data["systems"]["same"] == {
        "value": None,
        "low": None,
        "high": None,
        "letters": None,
        "reason": "same: the model gave up",
    }
    pair = plain_fields(pairs_of(result)["same", "bad"])
    assert pair["pvalue"] is None
    assert pair["reason"] == "same: the model gave up"
    pair = pairs_of(result)["good", "bad"]
    assert pair.pvalue == 3 * pair.pvalue_raw  # three pairs are left


def test_a_missing_baseline_keeps_its_reason(table):
    column = table["share"]
    lost = Score(math.nan, column.signature, 120, reason="the model gave up")
    column = replace(column, scores=dict(column.scores) | {"base": lost})
    result = compare(
        ScoreTable(table.systems, 120, {"share": column}), baseline="base", resamples=20
    )["share"].to_dict()["systems"]
    assert result["good"]["pvalue"] is None
    assert result["good"]["difference"] is None
    assert result["good"]["low"] is not None
    assert result["good"]["reason"] == result["base"]["reason"] == "base: the model gave up"


def test_undefined_in_some_resamples_is_said():
    """Words in one segment alone: the resamples without it have no share."""
    words = np.zeros(10, dtype=int)
    words[3] = 8
    with np.errstate(invalid="ignore"):
        result = compare(
            scored({"a": counted(words // 2, words), "b": counted(words, words)}), resamples=50
        )["share"]
    assert result["a"].to_dict()["low"] is None
    assert result["a"].value == 0.5
    assert result["a"].letters == result["b"].letters == "a"
    assert "some resamples" in result["a"].reason
    assert "some resamples" in result.pairs[0].reason


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_one_system_alone(test):
    table = scored(systems({"only": 0.5}))
    result = compare(table, test=test, resamples=30)["share"]
    assert result["only"].letters == "a"
    assert result.to_dict()["pairs"] == []
    versus = compare(table, test=test, baseline="only", resamples=30)["share"]
    assert versus["only"].difference == 0


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_a_table_without_metrics(test):
    assert len(compare(ScoreTable(("a",), 3, {}), test=test)) == 0


def test_notes_say_what_cannot_be_shown(table):
    assert compare(table, resamples=200).notes == ()
    (note,) = compare(table, resamples=100, correction="holm").notes
    assert "0.0594" in note  # 6 pairs / 101
    (note,) = compare(table, resamples=200, correction="holm").notes
    assert "take more --resamples" in note
    (note,) = compare(table, resamples=30, correction="benjamini-hochberg").notes
    assert "unless 4 comparisons" in note  # 6 / (0.05 * 31) = 3.9
    assert compare(table, baseline="bad", resamples=1000, correction="holm").notes == ()
    few = scored(systems({"a": 0.5, "b": 0.6}, segments=8))
    (note,) = compare(few, resamples=200).notes
    assert "few for a bootstrap (8)" in note
    assert compare(few, resamples=200, test="randomisation").notes == ()


def many(number):
    return scored(systems({f"s{n:03}": 0.3 + 0.4 * n / number for n in range(number)}, segments=60))


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
@pytest.mark.parametrize("correction", ["holm", "bonferroni", "benjamini-hochberg"])
def test_a_correction_brings_the_resamples_that_it_needs(test, correction):
    """13 systems, 78 pairs: 1,000 resamples could show nothing."""
    result = compare(many(13), correction=correction, test=test)
    assert result.design.resamples == 80 * 78
    assert (result.design.correction, result.notes) == (correction, ())
    assert f"test-resamples:{80 * 78}" in str(result["share"].signature)
    letters = [r.letters for r in result["share"].values()]
    assert not set(letters[0]) & set(letters[-1])
    strict = compare(many(13), correction=correction, test=test, confidence=0.99)
    assert strict.design.resamples == 400 * 78  # a level of 0.01 takes more


def test_without_a_correction_and_for_few_comparisons_it_stays_1000(table):
    assert compare(table).design.resamples == 1000
    assert compare(table, correction="holm").design.resamples == 1000
    assert compare(table, baseline="bad", correction="holm").design.resamples == 1000


@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
def test_a_strict_correction_of_hundreds_of_systems_is_replaced_and_named(correction):
    result = compare(many(40), correction=correction)
    data = result.to_dict()
    assert data["correction"] == "benjamini-hochberg"
    assert "correction:benjamini-hochberg" in data["metrics"]["share"]["signature"]
    assert f"{correction} over 780 comparisons" in data["notes"][0]
    fixed = compare(many(40), correction=correction, resamples=100)
    assert fixed.design.correction == correction
    assert "no p-value can be below" in fixed.notes[0]


def test_more_resamples_than_memory_holds_are_refused(table):
    with pytest.raises(UsageError, match="GB"):
        compare(table, resamples=10**9)


def test_letters_that_nobody_could_read_are_left_out():
    """120 systems of which each differs from all but its neighbours."""
    random = np.random.default_rng(1)
    words = np.full(40, 400)
    result = compare(
        scored(
            {f"s{n:03}": counted(100 + n + random.integers(-6, 7, 40), words) for n in range(120)}
        )
    )
    assert all(r.letters is None for r in result["share"].values())
    assert any("share: no letters" in note for note in result.notes)
    assert result.to_dict()["metrics"]["share"]["systems"]["s000"]["letters"] is None


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_order_and_names_of_systems_change_nothing(test):
    rows = systems({"a": 0.6, "b": 0.61, "c": 0.5, "d": 0.61, "e": 0.8}, segments=40)
    rows["d"] = rows["b"]  # equal systems
    plain = compare(scored(rows), test=test, correction="holm")["share"]
    turned = compare(scored(dict(reversed(rows.items()))), test=test, correction="holm")["share"]
    assert {n: plain[n].to_dict() for n in rows} == {n: turned[n].to_dict() for n in rows}
    assert plain["b"].letters == plain["d"].letters
    pvalues = {frozenset(p): r.pvalue for p, r in pairs_of(plain).items()}
    assert pvalues == {frozenset(p): r.pvalue for p, r in pairs_of(turned).items()}
    assert pvalues[frozenset("bd")] == 1
    named = dict(zip("vwxyz", rows.values(), strict=True))
    renamed = compare(scored(named), test=test, correction="holm")["share"]
    assert [r.to_dict() for r in renamed.values()] == [r.to_dict() for r in plain.values()]


def test_equal_systems_are_named(table):
    rows = systems({"a": 0.6, "b": 0.5})
    result = compare(scored(rows | {"copy": rows["a"]}), resamples=50)
    assert result.notes == ("share: a, copy have equal figures in every sentence",)


@pytest.mark.parametrize("segments", [1, 40])
def test_data_without_variation_give_no_certainty(segments):
    """Sentences that are all alike: neither an interval of no width nor the smallest p."""

    def rows(right):
        return counted(np.full(segments, right), np.full(segments, 10))

    result = compare(scored({"a": rows(7), "b": rows(5)}))["share"]
    data = result.to_dict()
    assert data["systems"]["a"]["low"] is None
    assert "same score" in data["systems"]["a"]["reason"]
    assert data["pairs"][0]["pvalue"] is None
    assert "same difference" in data["pairs"][0]["reason"]
    assert result["a"].letters == result["b"].letters
    swapped = compare(scored({"a": rows(7), "b": rows(5)}), test="randomisation")["share"]
    assert swapped.pairs[0].pvalue == (1 if segments == 1 else 1 / 1001)


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_no_p_is_smaller_than_so_few_sentences_can_show(test):
    words = np.array([20, 30, 25])
    result = compare(
        scored({"a": counted(words - 1, words), "b": counted(words // 2, words)}), test=test
    )
    assert result["share"].pairs[0].pvalue >= 0.25  # 2 of 2^3 swaps
    assert any("too few (3) to show" in note for note in result.notes)


def test_what_has_no_effect_is_said():
    one, two = (scored(systems(dict.fromkeys(names, 0.5))) for names in ("a", "ab"))
    assert "nothing is compared" in compare(one, resamples=50).notes[0]
    assert "holm has no effect" in compare(two, correction="holm").notes[0]


def test_names_are_suggested(table):
    result = compare(table, resamples=5)
    with pytest.raises(UnknownNameError, match="'good'"):
        result["share"]["god"]
    with pytest.raises(UnknownNameError, match="'share'"):
        result["shares"]
