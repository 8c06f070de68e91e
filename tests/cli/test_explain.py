"""``grammeter explain``, from a stored run to text and JSON."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.core.edit import Edit
from grammeter.core.explanation import Explanation, Grid, JudgedEdit, SentenceExplanation
from grammeter.report.explain import explanation_text


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    corpus = gm.Corpus(
        sources=["he go to home .", "all fine ."],
        references=[["he goes home .", None], ["he went home .", "all fine ."]],
        gold=[{0: (Edit(1, 2, "goes", "SVA"), Edit(2, 3, "", "PREP")), 1: ()}, {0: ()}],
        systems={"A": ["he goes to the home .", "all fine ."], "GPT-3.5": ["", "All fine ."]},
    )
    gm.write_scores(gm.score(corpus, ["m2", "m2(beta=1.0)", "green"]), tmp_path / "s.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["explain", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def test_text(run) -> None:
    code, out, err = run("s.json", "--system", "A", "--line", "1", "-m", "m2")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:5] == [
        "A, line 1",
        "  source      he go to home .",
        "  output      he goes to the home .",
        "  reference 0 he goes home .",
        "  reference 1 he went home .",
    ]
    assert any(line.split()[:2] == ["+", "matched"] and "[go -> goes]" in line for line in lines)
    assert any(line.split()[:2] == ["?", "missed"] and "[to -> ]" in line for line in lines)
    assert any(line.split()[:2] == ["-", "spurious"] for line in lines)


def test_all_metrics_of_the_run_by_default(run) -> None:
    out = run("s.json", "--system", "GPT-3.5", "--line", "2")[1]
    heads = [line.split()[0] for line in out.splitlines() if line and not line.startswith(" ")]
    assert heads == ["GPT-3.5,", "m2", "m2(beta=1.0)", "green"]
    assert "  reference 0 (none)" in out


def test_json_and_o(run, folder: Path) -> None:
    arguments = ("s.json", "--system", "A", "--line", "1", "--format", "json")
    code, out, _ = run(*arguments, "-o", "e.json.gz")
    data = json.loads(out)
    assert (code, data["kind"], data["line"]) == (0, "explanation", 1)
    assert json.loads(gzip.decompress((folder / "e.json.gz").read_bytes())) == data
    m2 = data["metrics"]["m2"]
    assert {edit["verdict"] for edit in m2["edits"]} == {"matched", "missed", "spurious"}
    assert m2["parts"]["tp"] == 1


def test_packed_runs(run, folder: Path) -> None:
    (folder / "s.json.gz").write_bytes(gzip.compress((folder / "s.json").read_bytes()))
    arguments = ("--system", "A", "--line", "1")
    assert run("s.json.gz", *arguments) == run("s.json", *arguments)


def test_metrics_beyond_those_of_the_run(run) -> None:
    code, out, _ = run("s.json", "--system", "A", "--line", "2", "-m", "gleu(order=2)")
    assert code == 0
    assert "gleu(order=2)  1.0000" in out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ("s.json --system B --line 1", 2, "unknown system 'B'"),
        ("s.json --system GPT-3.6 --line 1", 2, "Did you mean 'GPT-3.5'"),
        ("s.json --system A --line 0", 2, "Lines count from 1 to 2"),
        ("s.json --system A --line 3", 2, "there is no line 3"),
        ("s.json --system A --line 1 -m gleo", 2, "Did you mean 'gleu'"),
        ("nowhere --system A --line 1", 3, "nowhere: there is no such file"),
        ("text --system A --line 1", 3, "text:1: no JSON"),
        ("other.json --system A --line 1", 3, "other.json: these are no scores"),
        ("bare.json --system A --line 1", 3, "do not hold the sentences"),
        ("damaged.json --system A --line 1", 3, "damaged corpus"),
    ],
)
def test_what_cannot_be_explained(run, folder: Path, arguments: str, code: int, words: str) -> None:
    data = json.loads((folder / "s.json").read_text(encoding="utf-8"))
    for name, value in {
        "other.json": {"kind": "ranking"},
        "bare.json": {key: data[key] for key in data if key not in ("corpus", "details")},
        "damaged.json": data | {"corpus": {}},
    }.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    (folder / "text").write_text("no json\n", encoding="utf-8")
    found, out, err = run(*arguments.split())
    assert (found, out) == (code, "")
    assert words in err
    assert "Traceback" not in err


def test_text_of_odd_values() -> None:
    """NaN and infinite figures are shown, hostile letters are not."""
    nan = float("nan")
    edit = JudgedEdit(Edit(0, 1, "x\x1b[31m", alternatives=("y",)), "\u202eabc", "spurious")
    explanation = Explanation(
        nan,
        {"std": nan, "high": float("inf"), "tp": 2.0, "p": 0.25},
        chosen=1,
        edits=(edit,),
        grids=(Grid("counts", ("n", "k"), (("1", "2"),)),),
    )
    text = explanation_text(
        SentenceExplanation("A\x1b", 3, "a\tb", "", (None, "\u202er"), {"x": explanation}), digits=2
    )
    assert "x  NaN  (reference 1)" in text
    assert "std NaN  high inf  tp 2  p 0.25" in text
    assert "[abc -> x[31m | y]" in text
    assert not set(text) & {"\x1b", "\u202e", "\t"}
