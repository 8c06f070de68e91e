"""Windows of the human ranking: published figures and what may go wrong."""

import csv
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from grammeter.core import (
    DataError,
    MetricScores,
    Score,
    ScoreTable,
    Signature,
    UnknownNameError,
    UsageError,
)
from grammeter.meta.sweeps import correlate_windows

TOY = Signature.of("toy", {})


def column(by_system, *, higher=True):
    scores = {name: Score(value, TOY, 0) for name, value in by_system.items()}
    return MetricScores("toy", TOY, higher, scores)


def table_of(**metrics):
    return ScoreTable(tuple(next(iter(metrics.values()))), 0, metrics)


HUMAN = {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}
METRIC = {"a": 0.9, "b": 0.5, "c": 0.7, "d": 0.1, "e": 0.3}


def _rows(path):
    return list(csv.DictReader(path.read_text("utf-8").splitlines(), delimiter="\t"))


def test_windows_of_the_seeda_paper(shared):
    """window_analysis.json: correlations to 3 decimals by scipy from the printed scores.

    The metrics are ten LLM judges (appendix B of Kobayashi et al. 2024), M2 and GLEU on the judged
    subset; windows of 4 to 8 of the 12 base systems.
    """
    folder = shared / "golden/seeda"
    golden = json.loads((folder / "window_analysis.json").read_text("utf-8"))
    scores = {}
    for row in _rows(folder / "table2_llm_trueskill.tsv"):
        scores.setdefault(row["llm"], {})[row["system"]] = float(row["mu"])
    for row in _rows(folder / "m2_gleu_system_scores.tsv"):
        for name, head in (("M2", "M2_subset_F0.5"), ("GLEU", "GLEU_subset_official")):
            scores.setdefault(f"{name} (corrected)", {})[row["system"]] = float(row[head])
    table = table_of(**{name: column(values) for name, values in scores.items()})
    compared = 0
    for side in ("TS_edit", "TS_sent"):
        stored = _rows(folder / "human_scores.tsv")
        human = {row["system"]: float(row[f"{side}_stored"]) for row in stored}
        for size in (4, 5, 6, 7, 8):
            result = correlate_windows(table, human, size=size, systems=["base"])
            assert list(result.systems) == golden["_order"][side]
            for metric in scores:
                expected = golden[metric][side].get(f"base12_N{size}", [])
                for window, figures in zip(result, expected, strict=bool(expected)):
                    for kind, figure in zip(("pearson", "spearman"), figures, strict=True):
                        ours = window.metrics[metric][kind].value
                        assert ours == pytest.approx(figure, abs=5.01e-4)
                        compared += 1
    assert compared == 1512


finite = st.integers(-20, 20)


@given(st.lists(st.tuples(finite, finite), min_size=3, max_size=7), st.integers(2, 4))
def test_equals_scipy_on_slices(values, size):
    names = [f"s{n}" for n in range(len(values))]
    metric = dict(zip(names, (float(m) for m, _ in values), strict=True))
    human = dict(zip(names, (float(h) for _, h in values), strict=True))
    if size > len(names):
        with pytest.raises(UsageError):
            correlate_windows(table_of(m=column(metric)), human, size=size)
        return
    result = correlate_windows(table_of(m=column(metric)), human, size=size)
    order = sorted(names, key=lambda name: -human[name])
    assert list(result.systems) == order
    assert len(result.windows) == len(names) - size + 1
    for start, window in enumerate(result):
        chosen = order[start : start + size]
        assert window.systems == tuple(chosen)
        assert (window.first, window.last) == (start + 1, start + size)
        x, y = [metric[n] for n in chosen], [human[n] for n in chosen]
        for kind, twin in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
            ours = window.metrics["m"][kind]
            if len(set(x)) == 1 or len(set(y)) == 1:
                assert math.isnan(ours.value)
                assert "the same score" in ours.reason
            else:
                assert ours.value == pytest.approx(twin(x, y).statistic, abs=1e-9)


def test_intervals_are_fishers():
    """tanh(atanh(r) +- 1.96 / sqrt(n - 3)), worked by hand for r = .8, n = 5."""
    metric = dict(zip("abcde", (5.0, 3.0, 4.0, 1.0, 2.0), strict=True))
    window, *_ = correlate_windows(table_of(m=column(metric)), HUMAN, size=5)
    result = window.metrics["m"]["pearson"]
    assert result.value == pytest.approx(0.8)
    half = 1.959964 / math.sqrt(2)
    assert result.low == pytest.approx(math.tanh(math.atanh(0.8) - half), abs=1e-6)
    assert result.high == pytest.approx(math.tanh(math.atanh(0.8) + half), abs=1e-6)


def test_clusters_stand_beside_windows():
    clusters = {"a": 1, "b": 1, "c": 1, "d": 2, "e": 3}
    result = correlate_windows(table_of(m=column(METRIC)), HUMAN, size=3, clusters=clusters)
    assert [window.clusters for window in result] == [(1, 1, 1), (1, 1, 2), (1, 2, 3)]
    assert [window.one_cluster for window in result] == [True, False, False]
    assert result.to_dict()["windows"][0]["one_cluster"] is True
    without = correlate_windows(table_of(m=column(METRIC)), HUMAN, size=3)
    assert not without.windows[0].one_cluster
    assert "clusters" not in without.to_dict()["windows"][0]


def test_a_metric_that_is_better_when_lower_is_turned():
    lower = column({name: -value for name, value in METRIC.items()}, higher=False)
    result = correlate_windows(table_of(m=column(METRIC), lower=lower), HUMAN)
    for window in result:
        assert window.metrics["m"]["pearson"] == window.metrics["lower"]["pearson"]
    assert result.signatures["lower"]["meta-direction"] == "sign turned, lower is better"


def test_the_public_shape_and_a_missing_score():
    holes = column(METRIC | {"e": math.nan})
    result = correlate_windows(table_of(m=column(METRIC), holes=holes), HUMAN, human_name="ew")
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (data["kind"], data["size"], len(data["windows"])) == ("meta-window", 4, 2)
    first, second = data["windows"]
    assert first["ranks"] == [1, 4]
    assert first["systems"] == ["a", "b", "c", "d"]
    assert set(first["metrics"]["m"]) == {
        "pearson",
        "spearman",
        "pearson_interval",
        "spearman_interval",
    }
    assert first["metrics"]["holes"] == first["metrics"]["m"]
    assert second["metrics"]["holes"] == {
        "pearson": None,
        "spearman": None,
        "pearson_interval": None,
        "spearman_interval": None,
        "reason": "a system here has no score by the metric",
    }
    assert result.signatures["m"]["meta-human"] == "ew"


def test_three_systems_have_no_interval():
    result = correlate_windows(table_of(m=column(METRIC)), HUMAN, size=3).to_dict()
    assert result["windows"][0]["metrics"]["m"]["pearson_interval"] is None
    assert result["windows"][0]["metrics"]["m"]["reason"].startswith("an interval needs 4")


def test_a_perfect_correlation_of_few_systems_has_no_interval_of_no_width():
    result = correlate_windows(table_of(m=column({n: h**3 for n, h in HUMAN.items()})), HUMAN)
    spearman = result.windows[0].metrics["m"]["spearman"]
    assert spearman.value == 1
    assert math.isnan(spearman.low)
    assert "around 1 or -1" in result.to_dict()["windows"][0]["metrics"]["m"]["reason"]


def test_systems_are_chosen_and_strangers_named():
    table = table_of(m=column(METRIC | {"stranger": 1.0}))
    with pytest.raises(DataError, match="stranger"):
        correlate_windows(table, HUMAN)
    assert len(correlate_windows(table, HUMAN, drop=["stranger"]).windows) == 2
    with pytest.raises(DataError, match="people gave 'e' no score"):
        correlate_windows(table, HUMAN | {"e": math.nan}, drop=["stranger"])


@pytest.mark.parametrize("fields", [{"size": 1}, {"size": 6}, {"confidence": 0.0}])
def test_impossible_settings_are_refused(fields):
    with pytest.raises(UsageError):
        correlate_windows(table_of(m=column(METRIC)), HUMAN, **fields)


def test_an_unknown_metric_is_refused():
    with pytest.raises(UnknownNameError):
        correlate_windows(table_of(m=column(METRIC)), HUMAN, metrics=["n"])


def test_windows_come_one_by_one():
    result = correlate_windows(table_of(m=column(METRIC)), HUMAN)
    assert result.windows == tuple(result)
    assert np.isfinite([w.metrics["m"]["pearson"].value for w in result]).all()
