"""rank and agree of ratings.

Goldens: golden/ratings of the shared folder (numpy, pandas, scipy 1.17, scikit-learn 1.9,
krippendorff 0.9.0) on the sets of Östling et al. 2024 (robertostling/gec-evaluation @ 5ac8180),
GMEG (grammarly/GMEG @ 83be7cd) and TMU-GFM (tmu-nlp/TMU-GFM-Dataset @ e22b355).
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grammeter as gm
from grammeter import Rating, Ratings, core
from grammeter.cli.main import main
from grammeter.ranking.ratings import weighted_kappa, z_scores

CRITERIA = ("grammaticality", "fluency", "meaning")
HEAD = "judge,segment,system,criterion,score,scale\n"


@pytest.fixture(scope="module")
def golden(shared: Path) -> Any:
    return {
        p.stem: json.loads(p.read_text("utf-8")) for p in (shared / "golden/ratings").glob("*.json")
    }


def test_means_and_z_of_one_judge(shared: Path, golden: Any) -> None:
    want = golden["swedish_A"]
    ratings = gm.read_judgments(shared / "data/ratings_swedish/A.katarina.json")
    for criterion in CRITERIA:
        by_mean = gm.rank(ratings, criterion=criterion, resamples=4000).to_dict()
        for row in by_mean["systems"]:
            gold = want["bootstrap_by_item_4000"][criterion][row["system"]]
            assert row["score"] == pytest.approx(gold["mean"], abs=1e-9)
            assert (row["low"], row["high"]) == pytest.approx((gold["low"], gold["high"]), abs=0.02)
            assert all(abs(a - b) <= 1 for a, b in zip(row["ranks"], gold["ranks"], strict=True))
        for system, gold in want["means"][criterion].items():
            row = by_mean["criteria"][criterion]["systems"][system]
            z = want["z"][criterion][system]["z_by_item"]
            assert (row["mean"], row["sd"], row["z"]) == pytest.approx(
                (gold["mean"], gold["sd"], z)
            )
            assert (row["n"], row["missing"]) == (gold["n"], gold["missing"])
    wins = gm.rank(ratings, criterion="fluency", by="expected-wins", resamples=50)
    expected = golden["swedish_A_sentence"]["as_judgments"]["fluency"]["expected_wins"]
    assert {name: wins[name].score for name in wins} == pytest.approx(expected)


def test_outputs_of_several_systems(shared: Path, golden: Any) -> None:
    want = golden["tmu_gfm"]
    ratings = gm.read_judgments(shared / "data/tmu_gfm/tmu-gfm-dataset.csv")
    options: dict[str, Any] = {"criterion": "meaning", "resamples": 50, "by": "z-score"}
    by_segment, by_rating = (
        gm.rank(ratings, average=average, **options).to_dict()["criteria"]["meaning"]["systems"]
        for average in ("segments", "ratings")
    )
    for system, gold in want["z"]["meaning"].items():
        row = by_segment[system]
        assert (row["mean"], row["z"]) == pytest.approx((gold["mean_by_item"], gold["z_by_item"]))
        assert by_rating[system]["z"] == pytest.approx(gold["z_by_rating"])
        assert by_rating[system]["mean"] == pytest.approx(want["means"]["meaning"][system]["mean"])
    agreement = gm.agree(ratings).to_dict()["criteria"]
    for criterion in CRITERIA:
        found = agreement[criterion]
        assert want["alpha"][criterion] == pytest.approx(
            {level: found["alpha"][level] for level in want["alpha"][criterion]}
        )
        for judges, gold in want["mean_pairwise"][criterion]["pairs"].items():
            pair = found["pairs"][judges]
            assert (pair["n"], pair["pearson"]) == pytest.approx((gold["n"], gold["pearson"]))
            assert pair["kappa"] == pytest.approx({w: gold[w] for w in pair["kappa"]})


@pytest.mark.parametrize("part", ["round1", "round2", "A"])
def test_agreement_of_two_judges(shared: Path, golden: Any, part: str) -> None:
    folder = shared / "data/ratings_swedish"
    files = [folder / f"{part}.{judge}.json" for judge in ("katarina", "robert")]
    agreement = gm.agree(gm.read_judgments(files)).to_dict()["criteria"]
    for criterion, gold in golden["swedish_agreement"][part].items():
        pair = agreement[criterion]["pairs"]["katarina|robert"]
        assert pair["kappa"] == pytest.approx(gold["kappa"])
        same = {"n": "n", "exact": "exact", "pearson": "pearson", "spearman": "spearman"}
        for name, key in (same | {"difference": "mean_difference"}).items():
            assert pair[name] == pytest.approx(gold[key], abs=1e-12)


def test_a_table_of_systems(shared: Path, golden: Any) -> None:
    path = shared / "data/ratings_gmeg/fce-dev-segment-scores.csv"
    ratings = gm.read_judgments(path, layout="systems", scale="0-100")
    means = gm.rank(ratings, resamples=50)
    for system, gold in golden["gmeg_fce"]["dev"]["overall"].items():
        assert means[system].score == pytest.approx(gold["mean"])
    alpha = gm.agree(ratings).to_dict()["criteria"]["overall"]["alpha"]
    assert (alpha["interval"], alpha["reason"]) == (None, "nothing was judged twice")


VALUES = st.lists(
    st.tuples(*[st.sampled_from([1.0, 2.0, 4.0])] * 2), min_size=1, max_size=12
)  # 3 is a point that nobody uses


@settings(max_examples=40, deadline=None)
@given(VALUES, st.sampled_from([0, 1, 2]))
def test_kappa_is_that_of_all_pairs(rows: list[tuple[float, float]], power: int) -> None:
    def apart(a: float, b: float) -> float:
        return abs(a - b) ** power if power else float(a != b)

    x, y = np.array(rows).T
    chance = sum(apart(a, b) for a in x for b in y) / len(rows) ** 2
    observed = sum(apart(a, b) for a, b in rows) / len(rows)
    value = weighted_kappa(x, y, power)
    assert value == pytest.approx(1 - observed / chance) if chance else math.isnan(value)


SCORES = st.dictionaries(
    st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.sampled_from("XYZ")),
    st.sampled_from([None, 1.0, 2.0, 5.0]), min_size=1, max_size=20,
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(SCORES, st.sampled_from(["segments", "ratings"]), st.sampled_from(["mean", "z-score"]))
def test_means_are_those_of_a_slow_twin(
    scores: dict[tuple[str, int, str], float | None], average: Any, by: str
) -> None:
    rows = [Rating(judge, n, (system,), "f", score) for (judge, n, system), score in scores.items()]
    if all(score is None for score in scores.values()):
        with pytest.raises(core.DataError):
            gm.rank(Ratings(tuple(rows), {"f": (1, 5)}))
        return
    ranked = gm.rank(Ratings(tuple(rows), {"f": (1, 5)}), by=by, average=average, resamples=50)
    for system in {system for *_, system in scores}:
        cells: dict[int, list[float]] = {}
        for (judge, n, name), score in scores.items():
            of = [v for (j, *_), v in scores.items() if j == judge and v is not None]
            sd = np.std(of, ddof=1) if len(set(of)) > 1 else 1.0
            if name == system and score is not None:
                value = (score - np.mean(of)) / sd if by == "z-score" else score
                cells.setdefault(n, []).append(float(value))
        flat = [value for of in cells.values() for value in of]
        values = [float(np.mean(of)) for of in cells.values()] if average == "segments" else flat
        wanted = float(np.mean(values)) if values else math.nan
        assert ranked[system].score == pytest.approx(wanted, abs=1e-12, nan_ok=True)
        assert (ranked[system].reason is None) == bool(values)


def test_z_of_a_constant_judge_is_zero() -> None:
    z = z_scores(np.array([2.0, 2.0, np.nan, 7.0]), np.array([0, 0, 0, 1]))
    assert z.tolist()[:2] == [0, 0]
    assert math.isnan(z[2])
    assert z[3] == 0


def made(tmp_path: Path, *rows: str) -> Path:
    (tmp_path / "r.csv").write_text(HEAD + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return tmp_path / "r.csv"


def test_what_is_undefined_has_a_reason(tmp_path: Path) -> None:
    path = made(tmp_path, "a,1,X,f,3,1-4", "a,2,X,f,3,1-4", "b,1,X,f,2,1-4", "b,2,X,f,4,1-4")
    pair = gm.agree(gm.read_judgments(path)).to_dict()["criteria"]["f"]["pairs"]["a|b"]
    assert (pair["pearson"], pair["kappa"]["linear"]) == (None, 0)
    assert "all ratings by a are equal" in pair["reason"]
    ranked = gm.rank(gm.read_judgments(made(tmp_path, "a,1,X,f,3,1-4", "a,1,Y,f,,1-4")))
    assert ranked.to_dict()["systems"][1]["score"] is None
    assert ranked["Y"].reason == "no rating"
    assert ranked.to_dict()["criteria"]["f"]["systems"]["X"]["sd"] is None


def test_order_of_rows_and_names_change_nothing(tmp_path: Path) -> None:
    rows = [f"{j},{n},{s},f,{(n * 3 + ord(s) + ord(j)) % 4 + 1},1-4"
            for j in "ab" for n in range(1, 9) for s in "XYZ"]  # fmt: skip
    one = gm.rank(gm.read_judgments(made(tmp_path, *rows))).to_dict()["systems"]
    other = gm.rank(gm.read_judgments(made(tmp_path, *rows[::-1]))).to_dict()["systems"]
    assert one == other


def test_methods_and_options_have_their_home(tmp_path: Path) -> None:
    path = made(tmp_path, "a,1,X,f,3,1-4", "a,1,Y,f,2,1-4", "a,1,X,m,2,1-4", "a,1,Y,m,2,1-4")
    ratings = gm.read_judgments(path)
    people = gm.read_judgments(gm.sample_corpus() / "judgments.xml")
    for data, options in (
        (ratings, {}),
        (ratings, {"criterion": "f", "extraction": "unexpanded"}),
        (ratings, {"criterion": "f", "unit": "pair"}),
        (ratings, {"criterion": "f", "head_to_head": True, "by": "mean"}),
        (ratings, {"criterion": "f", "by": "expected-wins", "average": "ratings"}),
        (ratings, {"criterion": "f", "by": "accept-rate"}),
        (people, {"by": "mean"}),
        (people, {"criterion": "f"}),
    ):
        with pytest.raises(core.UsageError):
            gm.rank(data, **options)
    with pytest.raises(core.UsageError):
        gm.agree(ratings, kappa="orientation-free")
    assert [*gm.agree(ratings, criterion="mean").criteria] == ["mean"]
    assert gm.rank(ratings, criterion="mean", systems=["X"])["X"].score == pytest.approx(0.5)


def test_the_command_line_prints_what_python_returns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made(tmp_path, "a,1,X,f,0,1-4", "a,1,Y,f,2,1-4", "a,2,X,f,4,1-4", "a,2,Y,f,2,1-4")
    command = ["rank", str(path), "--missing-score", "0", "--resamples", "50", "--format", "json"]
    assert main(command) == 0
    printed = json.loads(capsys.readouterr().out)
    ratings = gm.read_judgments(path, missing_score=0)
    assert printed == json.loads(json.dumps(gm.rank(ratings, resamples=50).to_dict()))
    assert any("1 of 4 scores are 0" in note for note in printed["notes"])
    assert main(["rank", str(path), "--missing-score", "0", "-o", str(tmp_path / "r.json")]) == 0
    assert gm.read(tmp_path / "r.json")["X"].score == 4
    assert main(["agree", str(path), "--missing-score", "0", "-o", str(tmp_path / "a.json")]) == 0
    assert gm.read(tmp_path / "a.json").kind == "agreement"
    assert main(["rank", str(path)]) == 3
    assert "r.csv:2" in capsys.readouterr().err
