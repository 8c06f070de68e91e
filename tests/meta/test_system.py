"""Metrics against people at system level: the published tables, intervals, and bad input."""

import csv
import json
import math

import numpy as np
import pytest

from fake_metric import METRICS, scored, systems
from grammeter.core import (
    DataError,
    MetricScores,
    Score,
    ScoreTable,
    SegmentScores,
    Signature,
    UnknownNameError,
    UsageError,
)
from grammeter.formats import read_human, read_score_file
from grammeter.meta.sides import outliers, select_systems
from grammeter.meta.system import correlate_systems
from grammeter.meta.system_values import INTERVALS, META_SYSTEM, Design
from grammeter.ranking.selection import SYSTEM_SETS
from grammeter.stats import PairedSamples, bootstrap, coefficients, correlate, fisher_interval

HUMAN = {"A": 0.9, "B": 0.7, "C": 0.6, "D": 0.5, "E": 0.2}


def column(scores, *, name="m", higher_is_better=True, segments=None):
    signature = Signature.of(name, {})
    made = {s: Score(v, signature, 0, reason=None) for s, v in scores.items()}
    return MetricScores(name, signature, higher_is_better, made, segments or {})


def table(**metrics):
    columns = {n: c if isinstance(c, MetricScores) else column(c) for n, c in metrics.items()}
    names = tuple(dict.fromkeys(s for c in columns.values() for s in c))
    return ScoreTable(names, 0, columns)


def rising(names="ABCDE"):
    return {name: float(-at) for at, name in enumerate(names)}


# --- Chollampatt & Ng 2018 -----------------------------------------------------------------


@pytest.fixture(scope="module")
def cn18(shared):
    folder = shared / "data/meta_chollampatt_ng_2018/scores"
    files = {"gleu": "gleu", "imeasure": "imeasure", "m2": "m2score"}
    columns = {
        metric: next(iter(read_score_file(folder / f"system_scores_metrics/{f}.txt.gz").values()))
        for metric, f in files.items()
    }
    names = {"EW": "expected_wins", "TS": "trueskill"}
    humans = {
        who: read_human(folder / f"system_scores_humans/{name}.txt.gz")
        for who, name in names.items()
    }
    golden = json.loads((shared / "golden/ranking/seed001_system_level.json").read_text("utf-8"))
    return ScoreTable(tuple(columns["m2"]), 0, columns), humans, golden


def test_table_2(cn18):
    scores, humans, golden = cn18
    compared = 0
    for who, human in humans.items():
        result = correlate_systems(scores, human)
        for metric, printed in (("gleu", "GLEU"), ("imeasure", "I"), ("m2", "M2")):
            both = [result[metric][kind].value for kind in ("pearson", "spearman")]
            assert [round(value, 3) for value in both] == golden["published_table2"][printed][who]
            assert both == pytest.approx(golden["reproduced"][f"all|{who}|{printed}"], abs=1e-12)
            compared += 2
    assert compared == 12


def test_table_2_without_ipn(cn18):
    scores, humans, golden = cn18
    compared = 0
    for who, human in humans.items():
        result = correlate_systems(scores, human, drop=["IPN"])
        for kind in ("pearson", "spearman"):
            for name, value in golden["published_without_IPN"][kind][who].items():
                assert round(result[name.lower()][kind].value, 3) == value
                compared += 1
        without = correlate_systems(scores, human, leave_one_out=True)["m2"].leave_one_out
        assert without["IPN"]["pearson"] == pytest.approx(result["m2"]["pearson"].value, abs=1e-12)
    assert compared == 8


def test_figure_2_williams(cn18):
    """All 24 tests, with and without IPN, t to 1e-9; R's twelve p-values to five decimals."""
    scores, humans, golden = cn18
    named = {"GLEU": "gleu", "I": "imeasure", "M2": "m2"}
    compared = 0
    for key, figures in golden["reproduced"].items():
        subset, who, *rest = key.split("|")
        if len(rest) != 2:
            continue
        kind, pair = rest
        first, second = (named[name] for name in pair.split(">"))
        drop = ["IPN"] if subset == "noIPN" else []
        cells = correlate_systems(scores, humans[who], drop=drop).williams[kind]
        assert cells[first][second].t == pytest.approx(figures[3], abs=1e-9)
        assert cells[first][second].pvalue == pytest.approx(figures[4], abs=1e-9)
        assert first not in cells[second]
        compared += 1
    assert compared == 24
    for key, rows in golden["R_psych_2.2.9_p(same data)"].items():
        who, kind = key.split()
        cells = correlate_systems(scores, humans[who]).williams[kind]
        for pair, pvalue in rows.items():
            first, second = pair.split(">")
            assert round(cells[first][second].pvalue, 5) == pvalue


# --- SEEDA ---------------------------------------------------------------------------------


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture(scope="module")
def seeda(shared):
    """The table of published correlations, the human scores, and the LLMs' scores."""
    folder = shared / "golden/seeda"
    human = {
        g: {
            row["system"]: float(row[f"TS_{file}_stored"])
            for row in rows_of(folder / "human_scores.tsv")
        }
        for g, file in (("E", "edit"), ("S", "sent"))
    }
    llms = {}
    for row in rows_of(folder / "table2_llm_trueskill.tsv"):
        llms.setdefault(row["llm"], {})[row["system"]] = float(row["mu"])
    return rows_of(folder / "table1_system_level.tsv"), human, llms


def eight(scores, human):
    """Return a row of Table 1: r and rho by granularity and set."""
    result = {}
    for g, judged in human.items():
        for name, chosen in (("base", "base"), ("fluent", "+fluent")):
            metric = correlate_systems(table(x=scores), judged, systems=[chosen])["x"]
            result[f"{g}_{name}_r"] = round(metric["pearson"].value, 3)
            result[f"{g}_{name}_rho"] = round(metric["spearman"].value, 3)
    return result


def test_kobayashi_2024_llm_rows(seeda):
    printed, human, llms = seeda
    assert len(llms) == 10
    equal = {}
    for name, scores in llms.items():
        rows = [row for row in printed if row["row"] == name]
        paper, recomputed = (
            {key: float(value) for key, value in row.items() if key[:2] in ("E_", "S_")}
            for row in (rows[0], rows[-1])
        )
        ours = eight(scores, human)
        assert ours == recomputed
        equal[name] = sum(ours[key] == value for key, value in paper.items())
    misplaced = equal.pop("+ Meaning Preservation")
    assert misplaced == 5  # the paper's own appendix gives three other cells
    assert set(equal.values()) == {8}


@pytest.mark.parametrize(
    ("metric", "key"), [("M2", "M2_subset_F0.5"), ("GLEU", "GLEU_subset_official")]
)
@pytest.mark.parametrize("data", ["corrected", "as published"])
def test_seeda_conventional_rows(shared, seeda, metric, key, data):
    printed, human, _ = seeda
    stored = rows_of(shared / "golden/seeda/m2_gleu_system_scores.tsv")
    scores = {row["system"]: float(row[key]) for row in stored}
    if data == "as published":
        scores["LM-Critic"] = scores["PIE"]  # the file was a copy until December 2024
    what = "paper Table 1" if data == "as published" else "recomputed, corrected"
    row = next(r for r in printed if r["row"] == metric and r["source_of_scores"].startswith(what))
    assert eight(scores, human) == {k: float(v) for k, v in row.items() if k[:2] in ("E_", "S_")}


def test_sets_of_seeda():
    assert [len(SYSTEM_SETS[name]) for name in ("base", "+input", "+fluent")] == [12, 13, 14]
    assert "REF-M" in SYSTEM_SETS["base"]
    assert not {"INPUT", "REF-F", "GPT-3.5"} & set(SYSTEM_SETS["base"])


# --- which systems -------------------------------------------------------------------------


def test_systems_of_one_side_are_named_and_refused():
    with pytest.raises(DataError) as error:
        select_systems(["A", "nobody"], ["A", "B"])
    assert "without a score by metrics: B" in error.value.message
    assert "without a score by people: nobody" in error.value.message
    assert "--systems" in str(error.value.fix)


def test_the_choice_settles_it():
    assert select_systems(["A", "B", "x"], ["B", "A", "y"], drop=["x", "y"]) == ("A", "B")
    assert select_systems(["A", "B", "x"], ["B", "A", "y"], systems=["B", "A"]) == ("B", "A")
    assert select_systems(["A", "B"], ["A", "B"], systems=["all"]) == ("A", "B")
    assert select_systems(["base", "B"], ["base", "B"], systems=["base", "B"]) == ("base", "B")
    with pytest.raises(DataError, match="by people: x"):
        select_systems(["A", "B", "x"], ["A", "B"], systems=["A", "x"])
    with pytest.raises(DataError, match="by metrics: BART"):
        select_systems(["A", "B"], ["A", "B"], systems=["base"])
    with pytest.raises(UnknownNameError, match="unknown system 'Z'"):
        select_systems(["A", "B"], ["A", "B"], drop=["Z"])
    with pytest.raises(DataError, match="systems to correlate: 1"):
        select_systems(["A", "B"], ["A", "B"], drop=["A"])


def test_outliers_by_the_median_absolute_deviation():
    # median 3, deviations 2 1 0 1 97, their median 1: 97 / 1.483 is far beyond 2.5
    assert outliers(np.array([1.0, 2, 3, 4, 100])).tolist() == [False] * 4 + [True]
    assert not outliers(np.array([5.0, 5, 5, 5, 9])).any()
    human = HUMAN | {"F": 50.0}
    result = correlate_systems(table(m=rising("ABCDEF")), human, outlier_cutoff=2.5)
    assert result.outliers == ("F",)
    assert result.systems == tuple("ABCDE")
    assert result.to_dict()["outliers"] == ["F"]
    assert any("outliers" in text for text in result.notes)
    with pytest.raises(UsageError, match="cutoff"):
        correlate_systems(table(m=rising()), HUMAN, outlier_cutoff=0)


def test_an_unscored_system_of_people_is_refused():
    with pytest.raises(DataError, match="people gave 'B' no score"):
        correlate_systems(table(m=rising()), HUMAN | {"B": math.nan})


# --- values --------------------------------------------------------------------------------


def test_the_public_shape():
    result = correlate_systems(
        table(up=rising(), flat=dict.fromkeys(HUMAN, 1.0)), HUMAN, design=Design(human="ew")
    )
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (data["kind"], data["human"], data["systems"]) == (META_SYSTEM, "ew", list("ABCDE"))
    assert set(data["metrics"]["up"]) == {
        *("pearson", "spearman", "kendall"),
        *("pairwise_accuracy", "signature", "scores"),
    }
    assert set(data["metrics"]["up"]["pearson"]) == {"value", "low", "high", "pvalue", "n"}
    assert data["metrics"]["up"]["pearson"]["n"] == 5
    assert data["metrics"]["flat"]["pearson"]["value"] is None
    assert "same score" in data["metrics"]["flat"]["pearson"]["reason"]
    cell = data["williams"]["pearson"]["up"]["flat"]
    assert cell["t"] is None
    assert cell["pvalue"] is None
    assert cell["reason"].startswith("flat: ")


def test_values_are_those_of_the_statistics():
    scores = {"A": 3.0, "B": 4.0, "C": 2.0, "D": 2.5, "E": 1.0}
    metric = correlate_systems(table(m=scores), HUMAN)["m"]
    x, y = np.array(list(scores.values())), np.array(list(HUMAN.values()))
    for kind, correlation in metric.items():
        result = correlate(x, y, kind)
        assert (correlation.value, correlation.pvalue, correlation.n) == (
            result.statistic,
            result.pvalue,
            5,
        )
        assert (correlation.low, correlation.high) == fisher_interval(result.statistic, 5, kind)


def test_a_metric_that_is_better_when_lower_has_its_sign_turned():
    lower = column({s: -v for s, v in rising().items()}, higher_is_better=False)
    result = correlate_systems(table(wer=lower, m=rising()), HUMAN)
    assert result["wer"]["spearman"].value == 1
    assert result["wer"].scores == rising()
    assert "meta-direction:sign turned" in str(result["wer"].signature)


def test_a_missing_score_is_said():
    scores = column(rising("ABCD") | {"E": math.nan})
    result = correlate_systems(table(m=scores, k=rising()), HUMAN)
    assert math.isnan(result["m"]["kendall"].value)
    assert result["m"]["kendall"].reason == "no score of E"
    absent = correlate_systems(table(m=rising("ABCD"), k=rising()), HUMAN)
    assert absent["m"]["pearson"].reason == "no score of E"
    assert absent["k"]["pearson"].reason is None


def test_equal_human_scores_are_said():
    result = correlate_systems(table(m=rising()), dict.fromkeys(HUMAN, 0.5))
    assert result["m"]["pearson"].reason == "people give all systems the same score"


def test_three_systems_have_no_williams_test():
    result = correlate_systems(
        table(m=rising("ABC"), k={"A": 1.0, "B": 3.0, "C": 2.0}), HUMAN, systems=list("ABC")
    )
    assert result["m"]["pearson"].value > 0.9
    assert "needs 4 systems at least" in result["m"]["pearson"].reason
    cell = result.williams["pearson"]["m"]["k"]
    assert (math.isnan(cell.t), cell.reason) == (True, "the test needs 4 systems, here are 3")
    assert result.notes


def test_the_best_k():
    human = {name: -float(at) for at, name in enumerate("ABCDEF")}
    scores = dict(zip("ABCDEF", [5.0, 6, 3, 4, 1, 2], strict=True))
    top = correlate_systems(table(m=scores), human, top_k=True)["m"].top
    assert list(top) == [4, 5, 6]
    expected = correlate_systems(table(m=scores), human, systems=list("ABCD"))["m"]["pearson"].value
    assert top[4]["pearson"] == pytest.approx(expected)


@pytest.mark.parametrize("scale", [-1, 1, 100 / 3])
def test_metrics_that_are_one_up_to_scale_are_not_tested(scale):
    scores = {"A": 3.0, "B": 1.0, "C": 2.0, "D": 5.0, "E": 4.0}
    human = {"A": 1.0, "B": 2.0, "C": 3.0, "D": 4.0, "E": 5.5}
    both = table(m=scores, other={s: v * scale for s, v in scores.items()})
    cells = correlate_systems(both, human).williams["pearson"]
    for cell in (cells["m"]["other"], cells["other"]["m"]):
        assert math.isnan(cell.pvalue)
        assert cell.reason == "the two metrics agree or oppose perfectly"


# --- intervals -----------------------------------------------------------------------------


def sampler(scores, names):
    metric = METRICS[scores.metric]
    rows = [metric.summands(scores.statistics[name]) for name in names]
    return PairedSamples(np.array(rows), metric.value_of)


def test_the_bootstrap_over_sentences_scores_every_resample():
    statistics = systems({"A": 0.8, "B": 0.75, "C": 0.6, "D": 0.55, "E": 0.5})
    both = scored(statistics, ("share", "errors"))
    design = Design(interval="sentences", resamples=200, seed=3)
    result = correlate_systems(both, HUMAN, design=design, sampler=sampler)
    [drawn] = bootstrap([sampler(both["share"], "ABCDE")], resamples=200, seed=3)
    values = coefficients("pearson")(drawn.T, np.array(list(HUMAN.values())))
    low, high = np.quantile(values, [0.025, 0.975])
    assert (result["share"]["pearson"].low, result["share"]["pearson"].high) == (
        pytest.approx(low),
        pytest.approx(high),
    )
    assert "meta-interval:sentences" in str(result["share"].signature)
    turned = result["errors"]["pearson"]
    assert (turned.low, turned.high) == (pytest.approx(-high), pytest.approx(-low))


def test_segment_scores_are_averaged_in_the_bootstrap_over_sentences():
    random = np.random.default_rng(0)
    rows = {s: random.normal(loc=v, size=30) for s, v in HUMAN.items()}
    segments = {s: SegmentScores(v, np.full(30, -1), {}) for s, v in rows.items()}
    means = column({s: float(v.mean()) for s, v in rows.items()}, segments=segments)
    design = Design(interval="sentences", resamples=50)
    result = correlate_systems(table(m=means, bare=rising()), HUMAN, design=design)
    assert result["m"]["pearson"].low < result["m"]["pearson"].value < result["m"]["pearson"].high
    assert math.isnan(result["bare"]["pearson"].low)
    assert result["bare"]["pearson"].reason == "no statistics and no segment scores to resample"


@pytest.mark.parametrize("interval", INTERVALS)
def test_same_seed_same_answer(interval):
    statistics = systems({"A": 0.8, "B": 0.6, "C": 0.7, "D": 0.6, "E": 0.4})
    design = Design(interval=interval, resamples=60)
    once, again = (
        correlate_systems(scored(statistics), HUMAN, design=design, sampler=sampler).to_dict()
        for _ in range(2)
    )
    assert once == again
    assert (once["metrics"]["share"]["kendall"]["low"] is None) == (interval == "none")


@pytest.mark.parametrize(
    "wrong", [{"resamples": 0}, {"seed": -1}, {"confidence": 1}, {"interval": "x"}, {"ties": "x"}]
)
def test_impossible_designs_are_refused(wrong):
    with pytest.raises(UsageError):
        Design(**wrong)


def test_unknown_names_are_refused():
    with pytest.raises(UnknownNameError, match="unknown metric"):
        correlate_systems(table(m=rising()), HUMAN, metrics=["k"])
    result = correlate_systems(table(m=rising()), HUMAN)
    with pytest.raises(UnknownNameError):
        result["k"]
    with pytest.raises(UnknownNameError):
        result["m"]["tau"]
