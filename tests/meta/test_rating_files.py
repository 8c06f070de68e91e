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


def test_judgments_stand_in_the_place_of_scores(files, tmp_path):
    """A language model's judgments are a metric like others, where people rated."""
    scores, ratings = files
    lines = tmp_path / "model.jsonl"
    row = '{{"judge": "m", "segment": {0}, "groups": [["A"], ["B"]], "ranks": [1, 2]}}\n'
    lines.write_text("".join(row.format(n) for n in (1, 2, 3)))
    both = gm.meta_sentence([scores, lines], ratings, criterion="fluency")
    assert [*both.metrics][-1] == "model"
    alone = gm.meta_sentence(lines, ratings, criterion="fluency")
    assert both.metrics["model"].tau.value == alone.metrics["model"].tau.value


def test_options_of_ratings_belong_to_ratings(files, tmp_path, capsys):
    lines = tmp_path / "people.jsonl"
    lines.write_text('{"judge": "a", "segment": 1, "groups": [["A"], ["B"]], "ranks": [1, 2]}\n')
    code, said = failure(capsys, "meta", "sentence", files[0], lines, "--criterion", "fluency")
    assert (code, "belongs to ratings" in said) == (2, True)
    with pytest.raises(gm.UsageError, match="belongs to files"):
        gm.meta_sentence(files[0], gm.read_judgments(files[1]), criterion="fluency", scale="1-4")


def test_ratings_from_standard_input(files, answer, monkeypatch):
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RATINGS.encode())))
    found = answer("meta", "sentence", files[0], "-", "--criterion", "fluency", "--resamples", 0)
    assert found["metrics"]["m"]["pooled"]["n"] == 6


# --- systems ---------------------------------------------------------------------------------
SYSTEM_SCORES = "metric\tsystem\thigher_is_better\tvalue\n" + "".join(
    f"{metric}\t{system}\t{str(higher).lower()}\t{value}\n"
    for metric, higher, sign in (("m", True, 1), ("wer", False, -1))
    for system, value in (("A", sign * 1), ("B", sign * 5), ("C", sign * 4), ("D", sign * 3))
)


@pytest.fixture
def systems(tmp_path):
    scores, people = tmp_path / "systems.tsv", tmp_path / "people.csv"
    scores.write_text(SYSTEM_SCORES)
    rows = {"ann": ("1234", "1224", "2342"), "bob": ("3444", "1243", "")}
    people.write_text(HEAD + "".join(
        f"{judge},{n},{system},fluency,{score},1-4\n"
        for judge, segments in rows.items() for n, row in enumerate(segments, start=1)
        for system, score in zip("ABCD", row, strict=False)
    ))  # fmt: skip
    return scores, people


def test_multigec(shared, answer, tmp_path):
    """scipy 1.17 on the means and the printed rows of the task (golden/ratings)."""
    table = json.loads((shared / "golden/ratings/multigec_eng.json").read_text())
    rows = [
        f"{metric}\t{system}\t{value}\n"
        for system, row in table["metric_rows"].items()
        for metric, value in row.items()
    ]
    (tmp_path / "scores.tsv").write_text("metric\tsystem\tvalue\n" + "".join(rows))
    people = shared / "data/ratings_multigec/eng_eval"
    for criterion in ("grammaticality", "fluency"):
        found = answer(
            "meta", "system", tmp_path / "scores.tsv", people, "--criterion", criterion,
            "--drop", "ORIGINAL", "REFERENCE",
        )["metrics"]  # fmt: skip
        for metric, wanted in table["correlations"].items():
            for kind in ("pearson", "spearman", "kendall"):
                value = found[metric][kind]["value"]
                assert value == pytest.approx(wanted[criterion][kind], abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"average": "ratings"}, {"by": "z-score"}])
def test_people_are_what_rank_gives(systems, options):
    scores, people = systems
    ratings = gm.read_judgments(people)
    ranked = gm.rank(ratings, **options)
    found = gm.meta_system(scores, people, **options)
    assert found.human == pytest.approx({s: row.score for s, row in ranked.items()})
    assert gm.meta_system(scores, ratings, **options).human == found.human
    assert found["wer"]["pearson"].value == found["m"]["pearson"].value
    assert "sign turned" in str(found["wer"].signature)
    window = gm.meta_window(scores, people, size=3, **options)
    assert all(w.metrics["wer"] == w.metrics["m"] for w in window)


def test_ratings_by_a_method_of_ranking(systems):
    scores, people = systems
    found = gm.meta_system(scores, people, by="expected-wins")
    wanted = gm.rank(gm.read_judgments(people), by="expected-wins", resamples=5)
    assert found.human == pytest.approx({name: row.score for name, row in wanted.items()})
    with pytest.raises(gm.UsageError, match="belongs to --by mean"):
        gm.meta_system(scores, people, by="expected-wins", average="ratings")


def test_options_that_do_nothing_for_systems(systems, files, capsys):
    scores, _ = systems
    bare = scores.parent / "bare.tsv"
    bare.write_text("system\tvalue\nA\t1\nB\t2\nC\t3\nD\t4\n")
    for option in (["--criterion", "fluency"], ["--scale", "1-4"], ["--by", "z-score"]):
        code, said = failure(capsys, "meta", "system", scores, bare, *option)
        assert (code, "belongs to ratings" in said) == (2, True), said
    code, said = failure(capsys, "meta", "system", files[0], files[1])
    assert (code, "fluency, meaning" in said) == (2, True)
