"""``grammeter meta maege`` on the sample corpus."""

from __future__ import annotations

import json

import pytest

import made_models
from grammeter.cli.main import main
from grammeter.resources import sample_corpus

SAMPLE = sample_corpus()
CORPUS = ["-s", str(SAMPLE / "source.txt"), "-r", str(SAMPLE / "gold.m2")]


def run(capsys, *arguments):
    code = main(["meta", "maege", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_json_has_the_public_shape(capsys, tmp_path):
    stored = tmp_path / "maege.json"
    code, out, _ = run(
        capsys, *CORPUS, "-m", "gleu", "green", "--format", "json", "-o", str(stored)
    )
    data = json.loads(out)
    assert code == 0
    assert json.loads(stored.read_text()) == data
    assert data["kind"] == "meta-maege"
    assert list(data["metrics"]) == ["gleu", "green"]
    for result in data["metrics"].values():
        for level in ("corpus", "sentence"):
            assert -1 <= result[level]["pearson"] <= 1
            assert -1 <= result[level]["spearman"] <= 1
        chain = result["chain"]
        pairs = chain["concordant"] + chain["discordant"] + chain["ties"]
        assert chain["tie_share"] == pytest.approx(chain["ties"] / pairs)
        assert chain["kendall"] == pytest.approx(
            (chain["concordant"] - chain["discordant"]) / pairs
        )
        assert len(result["corpus"]["values"]) == len(data["applied"]) == 11


def test_the_seed_settles_the_bytes(capsys):
    one, again, other = (
        run(capsys, *CORPUS, "-m", "green", "--format", "json", "--seed", seed)[1]
        for seed in ("5", "5", "6")
    )
    assert one == again
    assert one != other


def test_options_stand_in_the_signature(capsys):
    code, out, _ = run(
        capsys, *CORPUS, "-m", "green", "--chains", "3", "--given", "random", "--ties", "drop",
        "--pseudo", "intended", "--target", "applied", "--against", "all", "--seed", "2",
    )  # fmt: skip
    assert code == 0
    signature = "maege|seed:2|max_orders:3|pseudo:intended|ties:drop|target:applied|given:random"
    assert signature + "|against:all|" in out


def test_the_table_shows_ties_and_what_was_left_out(capsys):
    code, out, err = run(capsys, *CORPUS, "-m", "green")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].split("  ")[0] == "metric"
    assert lines[2].startswith("green")
    assert lines[2].endswith("%")
    assert "sentences without chains: 10 uncorrected" in out
    assert not err


def test_tsv_has_a_row_for_each_figure(capsys):
    _, out, _ = run(capsys, *CORPUS, "-m", "green", "--format", "tsv")
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0] == ["metric", "level", "statistic", "value", "pvalue"]
    assert [row[1:3] for row in rows[1:]] == [
        ["corpus", "pearson"],
        ["corpus", "spearman"],
        ["sentence", "pearson"],
        ["sentence", "spearman"],
        ["chain", "kendall"],
    ]


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_other_forms(capsys, form):
    code, out, _ = run(capsys, *CORPUS, "-m", "green", "--format", form)
    assert code == 0
    assert "green" in out


def test_given_texts_stand_beside_the_m2(capsys):
    texts = str(SAMPLE / "ref0.txt")
    code, out, _ = run(capsys, *CORPUS, texts, "-m", "gleu", "--against", "given")
    assert code == 0
    assert "against:given" in out


def test_sentences_with_one_annotator_are_told(capsys, tmp_path):
    gold = tmp_path / "gold.m2"
    blocks = [
        "S a b c\nA 0 1|||R|||x|||REQUIRED|||-NONE-|||0\nA 1 2|||R|||y|||REQUIRED|||-NONE-|||1\n",
        "S a b\nA 0 1|||R|||x|||REQUIRED|||-NONE-|||0\n",
    ]
    gold.write_text("\n".join(blocks))
    code, out, _ = run(capsys, "-r", str(gold), "-m", "gleu")
    assert code == 0
    assert "only 1 sentences with chains and 1 lines a corpus" in out


def test_without_anything_to_measure_the_reason_is_told(capsys, tmp_path):
    gold = tmp_path / "gold.m2"
    gold.write_text("S a b c\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n")
    code, out, _ = run(capsys, "-r", str(gold), "-m", "gleu")
    assert code == 0
    assert "gleu: NaN: no pair of texts to compare" in out
    code, out, _ = run(capsys, "-r", str(gold), "-m", "gleu", "--format", "tsv")
    assert out.splitlines()[1] == "gleu\tcorpus\tpearson\tNaN\tNaN"


def test_a_metric_with_models_runs_as_it_is_told(capsys, tmp_path):
    blocks = [
        "S the cat go school\nA 2 3|||R|||goes|||REQUIRED|||-NONE-|||0\n"
        "A 3 3|||M|||to|||REQUIRED|||-NONE-|||0\nA 2 3|||R|||went|||REQUIRED|||-NONE-|||1\n"
    ]
    (tmp_path / "gold.m2").write_text("\n".join(blocks))
    quality = made_models.regressor(tmp_path / "quality")
    encoder = made_models.encoder(tmp_path / "encoder")
    spelled = f"impara(model='{quality}', similarity='{encoder}')"
    arguments = ["-r", str(tmp_path / "gold.m2"), "-m", spelled, "--format", "json"]
    cache = ["--cache-dir", str(tmp_path / "cache"), "--batch-tokens", "16"]
    code, out, _ = run(capsys, *arguments, "--dtype", "bfloat16", *cache)
    assert code == 0
    assert "dtype:bfloat16" in json.loads(out)["metrics"][spelled]["signature"]
    assert (tmp_path / "cache").is_dir()
    again = run(capsys, *arguments, "--dtype", "bfloat16", *cache)
    assert again[:2] == (0, out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "gleu", "--device", "toaster"], "unknown device"),
        (["-m", "gleu", "gleu"], "named twice"),
        (["-m", "glue"], "Did you mean"),
        (["-m", "gleu", "--chains", "0"], "0 orders"),
        (["-m", "gleu", "--seed", "-1"], "seed -1"),
        (["-m", "m2", "--given", "random"], "m2 needs gold edits"),
        (["-m", "gleu", "--against", "given"], "no reference texts"),
        (["-m", "gleu", "--hyps", str(SAMPLE / "ref0.txt")], "makes its outputs"),
    ],
)
def test_wrong_calls_are_usage_errors(capsys, arguments, message):
    code, out, err = run(capsys, *CORPUS, *arguments)
    assert code == 2
    assert not out
    assert message in err


def test_texts_alone_are_not_enough(capsys):
    corpus = ["-s", str(SAMPLE / "source.txt"), "-r", str(SAMPLE / "ref0.txt")]
    code, _, err = run(capsys, *corpus, "-m", "gleu")
    assert code == 2
    assert "no gold edits" in err
