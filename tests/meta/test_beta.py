"""The sweep of beta against Table 5 and Figure 3 of Grundkiewicz et al. 2015."""

import json
import math

import numpy as np
import pytest

from grammeter.core import Counts, DataError, MetricScores, Score, Signature, UsageError
from grammeter.formats import read_score_file
from grammeter.meta.sweeps import f_measures, parse_betas, sweep_beta
from grammeter.stats import correlate

GOLD = {"both annotators": "m2", "annotator 0": "m2.0", "annotator 1": "m2.1"}
HUMAN = {"A": 0.9, "B": 0.7, "C": 0.6}


def column(parts):
    signature = Signature.of("m2", {})
    scores = {s: Score(0.0, signature, 0, parts=p) for s, p in parts.items()}
    return MetricScores("m2", signature, True, scores)


def parts(*pairs):
    names = ("precision", "recall")
    return {s: dict(zip(names, pair, strict=True)) for s, pair in zip("ABC", pairs, strict=True)}


@pytest.fixture(scope="module")
def golden(shared):
    folder = shared / "golden/ranking"
    data = json.loads((folder / "table5_figure3.json").read_text("utf-8"))
    humans = {
        key: {
            row["system"]: row["score"]
            for row in json.loads((folder / file).read_text("utf-8"))["published"]
        }
        for key, file in (("EW", "table3b_expected_wins.json"), ("TS", "table3c_trueskill.json"))
    }
    metrics = shared / "data/human_gjg15/metrics"
    scores = {file: read_score_file(metrics / f"scores.{file}")[file] for file in GOLD.values()}
    others = {f: read_score_file(metrics / f"scores.{f}")[f] for f in ("iwacc", "bleu", "meteor")}
    return data, humans, scores, others


def test_figure_3(golden):
    data, humans, scores, _ = golden
    [curves] = [value for key, value in data.items() if key.startswith("figure3")]
    betas = parse_betas("0.01:1.00:0.01")
    compared = 0
    for name, file in GOLD.items():
        for who, place in (("EW", 1), ("TS", 3)):
            result = sweep_beta(scores[file], humans[who], betas)
            for row in curves[name]:
                at = betas.index(row[0])
                assert result.spearman[at] == pytest.approx(row[place], abs=1e-6)
                assert result.pearson[at] == pytest.approx(row[place + 1], abs=1e-6)
                compared += 2
    assert compared == 1200


def test_table_5(golden):
    data, humans, scores, others = golden
    ours = {}
    for beta in (1.0, 0.5, 0.25, 0.18, 0.17, 0.1):
        result = sweep_beta(scores["m2"], humans["EW"], [beta])
        ours[f"F{beta}"] = [float(result.spearman[0]), float(result.pearson[0])]
    for name, file in (("I-WAcc", "iwacc"), ("BLEU", "bleu"), ("METEOR", "meteor")):
        x, y = np.array([(others[file][s].value, v) for s, v in humans["EW"].items()]).T
        ours[name] = [correlate(x, y, kind).statistic for kind in ("spearman", "pearson")]
    published = data["published_table5"]
    assert [round(value, 3) for value in ours["F0.18"]] == [0.758, 0.7]
    assert [round(max(ours[f][i] for f in ("F0.18", "F0.17")), 3) for i in (0, 1)] == published[
        "F0.18"
    ]
    for name in published.keys() - {"F0.18"}:
        assert ours[name] == pytest.approx(published[name], abs=0.0005 + 1e-9)
    [reproduced] = [value for key, value in data.items() if key.startswith("reproduced_table5")]
    for name, pair in reproduced.items():
        for value, expected in zip(ours[name], pair, strict=True):
            assert expected is None or value == pytest.approx(expected, abs=5e-5 + 1e-9)


def test_the_two_maxima_of_table_5(golden):
    _, humans, scores, _ = golden
    result = sweep_beta(scores["m2"], humans["EW"], parse_betas("0.01:1:0.01"))
    assert result.best("spearman") == (0.18, pytest.approx(0.7582, abs=5e-5))
    assert result.best("pearson") == (0.17, pytest.approx(0.7005, abs=5e-5))


def test_f_equals_the_counts():
    counts = [Counts(3, 4, 5), Counts(0, 0, 4), Counts(0, 2, 3), Counts(0, 0, 0)]
    betas = np.array([0.0, 0.1, 0.5, 1, 2])
    p, r = (np.array([getattr(c, part) for c in counts]) for part in ("precision", "recall"))
    expected = [[c.f(b) for c in counts] for b in betas.tolist()]
    assert f_measures(p, r, betas).tolist() == [pytest.approx(row) for row in expected]


def test_the_public_shape():
    result = sweep_beta(column(parts((0.5, 0.2), (0.4, 0.3), (0.1, 0.1))), HUMAN, [0.5, 1])
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (data["kind"], data["betas"], data["metric"]) == ("meta-beta", [0.5, 1], "m2")
    assert len(data["pearson"]) == len(data["spearman"]) == 2
    assert data["best"]["pearson"]["beta"] == 0.5


def test_equal_f_is_null_with_a_reason():
    result = sweep_beta(column(parts((0.5, 0.5), (0.5, 0.5), (0.5, 0.5))), HUMAN, [0.5, 1])
    data = result.to_dict()
    assert data["pearson"] == [None, None]
    assert data["best"]["pearson"] == {"beta": None, "value": None}
    assert "same F" in data["reason"]


def test_a_system_without_parts_is_refused():
    with pytest.raises(DataError, match="no recall of 'C'"):
        sweep_beta(column(parts((1, 1), (1, 1), (1, math.nan))), HUMAN, [1])
    with pytest.raises(DataError, match="by people: C"):
        sweep_beta(column(parts((1, 1), (1, 1), (1, 1))), {"A": 1, "B": 2}, [1])
    with pytest.raises(DataError, match="people gave 'C' no score"):
        sweep_beta(column(parts((1, 1), (1, 1), (1, 1))), HUMAN | {"C": math.nan}, [1])


def test_betas_are_exact_decimals():
    betas = parse_betas("0.01:1.0:0.01")
    assert len(betas) == 100
    assert betas[6] == 0.07
    assert betas[-1] == 1
    assert parse_betas("0.25, 0.5,1") == (0.25, 0.5, 1)
    assert parse_betas("0.1:0.25:0.1") == (0.1, 0.2)


@pytest.mark.parametrize(
    "text", ["", "x", "1:0:1", "0:1:0", "0:1:-1", "1:2", "-1", "nan", "0:1:0.00001", "0:inf:1"]
)
def test_impossible_betas_are_refused(text):
    with pytest.raises(UsageError, match="names no betas"):
        parse_betas(text)
