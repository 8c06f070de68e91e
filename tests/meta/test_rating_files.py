"""Scores against files of ratings, as from a shell: figures of the Swedish set, and what fails."""

import json

import pytest

import grammeter as gm
from grammeter.cli.main import main

CRITERIA = ("grammaticality", "fluency", "meaning")
HEAD = "judge,segment,system,criterion,score,scale\n"
SCORES = "metric\tsystem\tsegment\tvalue\n" + "".join(
    f"m\t{system}\t{n}\t{value}\n" for system, of in {"A": "135", "B": "221"}.items()
    for n, value in enumerate(of, start=1)
)  # fmt: skip
RATINGS = HEAD + "".join(
    f"ann,{n},{system},{criterion},{score},1-4\n"
    for criterion in ("fluency", "meaning")
    for n, pair in enumerate(("12", "34", "21"), start=1)
    for system, score in zip("AB", pair, strict=True)
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "scores.tsv").write_text(SCORES)
    (tmp_path / "ratings.csv").write_text(RATINGS)
    return tmp_path / "scores.tsv", tmp_path / "ratings.csv"


def failure(capsys, *arguments):
    code = main([*map(str, arguments)])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_swedish_set(shared, answer, criterion):
    """numpy 2 and scipy 1.17, tie calibration by trial of all thresholds (golden/ratings)."""
    table = json.loads((shared / "golden/ratings/swedish_A_sentence.json").read_text())
    folder = shared / "data/ratings_swedish"
    found = answer(
        "meta", "sentence", folder / "A.segment_scores.tsv", folder / "A.ratings.csv",
        "--criterion", criterion, "--resamples", 20,
    )  # fmt: skip
    for metric, rows in table["metrics"].items():
        ours, wanted = found["metrics"][metric], rows[criterion]
        for name, key in (("pearson",) * 2, ("spearman",) * 2, ("kendall", "kendall_tau_b")):
            for part, other in (("pooled", "pooled"), ("segment", "per_segment")):
                value = ours[part][name]["value"]
                assert value == pytest.approx(wanted[other][key], abs=1e-9)
        within = wanted["per_segment"]
        assert (ours["pooled"]["n"], ours["segment"]["n"]) == (315, within["segments_used"])
        assert ours["segment"]["left_out"] == {
            "one_output": 0,
            "people_constant": within["left_out_people_constant"],
            "metric_constant": within["left_out_metric_constant"],
        }
        assert ours["ties"] == wanted["pairs"]["ties"]
        best = wanted["acc_eq_calibrated"]
        assert ours["acc_eq"] == pytest.approx({
            "value": wanted["acc_eq"], "calibrated": best["accuracy"], "epsilon": best["epsilon"],
        })  # fmt: skip


def test_several_criteria_need_a_name(files, capsys):
    code, said = failure(capsys, "meta", "sentence", *files)
    assert code == 2
    assert "fluency, meaning" in said
    code, said = failure(capsys, "meta", "sentence", *files, "--criterion", "fluent")
    assert code == 2
    assert "fluency" in said


def test_values_files_and_the_shell_agree(files, answer):
    scores, path = files
    shell = answer("meta", "sentence", scores, path, "--criterion", "fluency", "--resamples", 20)
    ratings = gm.read_judgments(path)
    for people in (ratings, path, [path]):
        result = gm.meta_sentence(scores, people, criterion="fluency", resamples=20)
        assert json.loads(json.dumps(result.to_dict())) == shell
    both = answer("meta", "sentence", scores, path, "--criterion", "mean", "--resamples", 0)
    assert both["criterion"] == "mean"
    assert "meta-criterion:mean" in both["metrics"]["m"]["signature"]


def test_options_of_ratings_belong_to_ratings(files, tmp_path, capsys):
    lines = tmp_path / "people.jsonl"
    lines.write_text('{"judge": "a", "segment": 1, "groups": [["A"], ["B"]], "ranks": [1, 2]}\n')
    code, said = failure(capsys, "meta", "sentence", files[0], lines, "--criterion", "fluency")
    assert (code, "belongs to ratings" in said) == (2, True)
    code, said = failure(capsys, "meta", "sentence", *files, lines, "--criterion", "fluency")
    assert (code, "other judgments" in said) == (2, True)
    with pytest.raises(gm.UsageError, match="belongs to files"):
        gm.meta_sentence(files[0], gm.read_judgments(files[1]), criterion="fluency", scale="1-4")


def test_ratings_from_standard_input(files, answer, monkeypatch):
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RATINGS.encode())))
    found = answer("meta", "sentence", files[0], "-", "--criterion", "fluency", "--resamples", 0)
    assert found["metrics"]["m"]["pooled"]["n"] == 6
