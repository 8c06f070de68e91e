"""``grammeter explain``, from a stored run to text and JSON."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path

import pytest

import grammeter as gm
from grammeter.core import Edit, Explanation, Grid, JudgedEdit, SentenceExplanation, Style


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
def run(program):
    return partial(program, "explain")


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
        ("text --system A --line 1", 3, "text:1: neither a known header"),
        ("other.json --system A --line 1", 3, "other.json: these are no scores"),
        ("bare.json --system A --line 1", 3, "do not hold the sentences"),
        ("damaged.json --system A --line 1", 3, "damaged corpus"),
        ("s.json --system A --line 9 --attribution shapley", 2, "Lines count from 1 to 2"),
        ("s.json --system A --line 1 --attribution shapley --seed -1", 2, "seed=-1"),
        ("s.json --system A --line 1 --attribution shapley --limit 0", 2, "limit=0"),
        ("s.json --system A --line 1 --attribution shapley --pipeline no_such", 4, "no_such"),
        ("s.json --system A --line 1 --batch-tokens 0", 2, "batches of 0 tokens"),
    ],
)
def test_what_cannot_be_explained(run, folder: Path, arguments: str, code: int, words: str) -> None:
    data = json.loads((folder / "s.json").read_text(encoding="utf-8"))
    for name, value in {
        "other.json": {"kind": "ranking"},
        "bare.json": {key: data[key] for key in data if key not in ("corpus", "details")},
        "damaged.json": data | {"corpus": {"systems": data["corpus"]["systems"]}},
    }.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    (folder / "text").write_text("no json\n", encoding="utf-8")
    found, out, err = run(*arguments.split())
    assert (found, out) == (code, "")
    assert words in err
    assert "Traceback" not in err


def test_attribution(run) -> None:
    arguments = ("s.json", "--system", "A", "--line", "1", "-m", "m2", "--pipeline", "neutral")
    code, out, err = run(*arguments, "--attribution", "shapley")
    assert (code, err) == (0, "")
    # without any edit the output is right for the second annotator
    at = out.index("  Shapley values: 0.5000 with all edits, 1.0000 with none\n")
    head, _, *rows = out[at:].splitlines()[1:]
    assert [line.split() for line in (head, *rows)] == [
        ["span", "edit", "type", "verdict", "value"],
        ["1:2", "[go", "->", "goes]", "R", "matched", "+0.1667"],
        ["3:3", "[", "->", "the]", "M", "spurious", "-0.6667"],
    ]


def test_attribution_as_json_equals_that_of_python(run) -> None:
    options = ("--attribution", "leave-one-out", "--pipeline", "neutral", "--format", "json")
    code, out, _ = run("s.json", "--system", "A", "--line", "1", *options)
    found = gm.explain(
        gm.read_scores("s.json"),
        system="A",
        line=1,
        attribution="leave-one-out",
        pipeline="neutral",
    )
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(found.to_dict()))
    values = json.loads(out)["metrics"]["m2"]["attribution"]["edits"]
    assert [edit["value"] for edit in values] == pytest.approx([0.5, -1 / 3])


def test_attribution_of_many_edits_is_drawn(run, folder: Path) -> None:
    source = " ".join(f"w{n} x{n}" for n in range(13))
    corpus = gm.Corpus(
        sources=[source], references=[[source]], systems={"A": [source.replace("w", "v")]}
    )
    gm.write_scores(gm.score(corpus, ["gleu"]), folder / "many.json")
    arguments = ("many.json", "--system", "A", "--line", "1", "--attribution", "shapley")
    arguments += ("--pipeline", "neutral", "--limit", "1000")
    code, out, _ = run(*arguments, "--seed", "3")
    assert code == 0
    assert "  Shapley values from 4 random orders: " in out
    heads = [line.split() for line in out.splitlines() if line.split()[:1] == ["span"]]
    assert heads == [["span", "edit", "type", "value", "error"]]
    assert run(*arguments, "--seed", "3")[1] == out
    assert run(*arguments, "--seed", "4")[1] != out


def test_attribution_without_edits(run, folder: Path) -> None:
    arguments = ("s.json", "--system", "A", "--line", "2", "-m", "m2", "--pipeline", "neutral")
    assert run(*arguments, "--attribution", "leave-one-out")[1].endswith(
        "  Leave one out: the output has no edits\n"
    )
    data = json.loads(run(*arguments, "--attribution", "shapley", "--format", "json")[1])
    attribution = data["metrics"]["m2"]["attribution"]
    assert (attribution["edits"], attribution["total"], attribution["baseline"]) == ([], 1.0, 1.0)


def test_attribution_of_an_empty_output(run) -> None:
    arguments = ("s.json", "--system", "GPT-3.5", "--line", "1", "-m", "green")
    out = run(*arguments, "--pipeline", "neutral", "--attribution", "leave-one-out")[1]
    assert "[he go to home . -> ]" in out


def test_the_notes_name_a_pipeline_that_nobody_chose(run) -> None:
    arguments = ("s.json", "--system", "A", "--line", "1", "-m", "m2", "--attribution", "shapley")
    code, out, err = run(*arguments)
    from grammeter.errant import annotator

    text = annotator().notice
    assert (code, err) == (0, "")
    assert text is None or text in out
    assert run(*arguments, "--quiet") == (0, out, "")


def test_the_limit_of_the_shell_is_that_of_python() -> None:
    from grammeter.cli.parser import parser_of
    from grammeter.scoring import LIMIT

    parser = parser_of("explain")
    assert parser.parse_args(["s.json", "--system", "A", "--line", "1"]).limit == LIMIT


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
    metrics = {"x": explanation}
    explained = SentenceExplanation("A\x1b", 3, "a\tb", "", (None, "\u202er"), metrics)
    text = explained.write(Style(digits=2))
    assert "x  NaN  (reference 1)" in text
    assert "std NaN  high inf  tp 2  p 0.25" in text
    assert "[abc -> x[31m | y]" in text
    assert not set(text) & {"\x1b", "\u202e", "\t"}
