"""Williams' test against figures of R and a slow twin."""

import gzip
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from grammeter.stats.correlation_tests import williams_matrix


def slow_williams(human, first, second):
    """Follow the formula of psych::r.test word by word, for one pair."""
    r12, r13, r23 = (
        float(np.corrcoef(a, b)[0, 1])
        for a, b in ((human, first), (human, second), (first, second))
    )
    n = len(human)
    det = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    mean = (r12 + r13) / 2
    below = 2 * (n - 1) / (n - 3) * det + mean**2 * (1 - r23) ** 3
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / below)
    return r12, r13, t, stats.t.sf(t, n - 3)


@given(st.integers(4, 15), st.integers(0, 2**32 - 1))
def test_the_matrix_equals_the_slow_twin(n, seed):
    random = np.random.default_rng(seed)
    human, metrics = random.normal(size=n), random.normal(size=(4, n))
    matrix = williams_matrix(human, metrics)
    for i in range(4):
        for j in range(4):
            r12, r13, t, pvalue = (
                slow_williams(human, metrics[i], metrics[j]) if i != j else (0,) * 4
            )
            if r12 > r13:
                assert matrix.t[i, j] == pytest.approx(t, rel=1e-6)
                assert matrix.pvalue[i, j] == pytest.approx(pvalue, rel=1e-6, abs=1e-12)
            else:
                assert np.isnan(matrix.pvalue[i, j])


def test_chollampatt_ng_2018_equals_r(shared):
    """R 4.2.2, psych 2.2.9, r.test(twotailed=FALSE) on the same data; five decimals."""
    scores = shared / "data" / "meta_chollampatt_ng_2018" / "scores"

    def column(path):
        text = gzip.decompress((scores / f"{path}.txt.gz").read_bytes()).decode("utf-8")
        cells = [line.split("\t") for line in text.splitlines()]
        return {row[3]: float(row[4]) for row in cells}

    golden = json.loads((shared / "golden/ranking/seed001_system_level.json").read_text("utf-8"))
    files = {"gleu": "gleu", "imeasure": "imeasure", "m2": "m2score"}
    metrics = {m: column(f"system_scores_metrics/{f}") for m, f in files.items()}
    humans = {"EW": "expected_wins", "TS": "trueskill"}
    compared = 0
    for key, rows in golden["R_psych_2.2.9_p(same data)"].items():
        who, kind = key.split()
        human = column(f"system_scores_humans/{humans[who]}")
        table = np.array([[metrics[m][system] for system in human] for m in files])
        matrix = williams_matrix(np.array(list(human.values())), table, kind)
        for pair, pvalue in rows.items():
            first, second = (list(files).index(name) for name in pair.split(">"))
            assert round(float(matrix.pvalue[first, second]), 5) == pvalue
            assert np.isnan(matrix.pvalue[second, first])
            compared += 1
    assert compared == 12


def test_the_condition_is_signed():
    human = np.arange(6.0)
    against, hardly = -human + [0, 0.1, 0, 0, 0, 0.1], np.array([1.0, 0, 2, 1, 0, 2])
    matrix = williams_matrix(human, np.array([against, hardly]))
    assert np.isnan(matrix.pvalue[0, 1])
    assert matrix.pvalue[1, 0] < 0.05


def test_twins_opposites_and_constants_are_not_tested():
    human = np.array([3.0, 1, 2, 5, 4])
    metric = np.array([2.0, 1, 4, 5, 3])
    matrix = williams_matrix(human, np.array([metric, metric, -metric, np.ones(5)]))
    assert np.isnan(matrix.pvalue[0, 1])
    assert np.isnan(matrix.pvalue[0, 2])  # 0 divided by 0
    assert np.isnan(matrix.pvalue[:, 3]).all()
    assert np.isnan(matrix.pvalue[3]).all()


def test_the_scale_does_not_matter():
    human, metrics = np.arange(5.0), np.array([[2.0, 1, 4, 5, 3], [1, 0, 2, 1, 5]])
    result, small = (williams_matrix(human, metrics * scale) for scale in (1, 1e-200))
    assert result.pvalue == pytest.approx(small.pvalue, nan_ok=True)
