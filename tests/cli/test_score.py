"""``grammeter score``, from files to exit code."""

from __future__ import annotations

import gzip
import io
import json
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import grammeter as gm
from grammeter.cli.main import main

GOLD = """\
S he go home .
A 1 2|||SVA|||goes|||REQUIRED|||-NONE-|||0

S all fine .
A 0 1|||X|||All|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

"""
SOURCE = "he go home .\nall fine .\n"
FILES = {
    "src.txt": SOURCE,
    "gold.m2": GOLD,
    "ref.txt": "he goes home .\nall fine .\n",
    "A.txt": "he goes home .\nall fine .\n",
    "B.txt": "he go home .\nAll fine .\n",
    "short.txt": "he go home .\n",
    "blank.txt": SOURCE + "\n",
    "empty.txt": "",
    "empty.m2": "",
    "outside.m2": GOLD.replace("A 0 1", "A 0 9"),
    "rubbish.m2": GOLD.replace("A 0 1", "rubbish\nA 0 1"),
    "two.m2": GOLD.replace("\nS all", "S all"),
    "fields.m2": GOLD.replace("|||-NONE-|||0", ""),
    "foreign.m2": GOLD.replace("all fine", "quite another"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    (tmp_path / "latin.txt").write_bytes("he go home .\ncaf\xe9 .\n".encode("latin-1"))
    (tmp_path / "damaged.gz").write_bytes(gzip.compress(SOURCE.encode())[:-9])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(program):
    return partial(program, "score")


def test_running_text_gets_the_tokens_of_the_corpus(run, put) -> None:
    raw = put("raw.txt", "he goes home.\nall fine.\n")
    command = ["-r", "gold.m2", "-m", "m2", "--hyps", raw, "--quiet"]
    code, out, _ = run(*command)
    assert code == 0
    assert "raw.txt: looks raw: in 40.0% of its tokens" in out
    code, _, err = run(*command, "--tokenize", "corpus")
    assert code == 2
    assert "--raw FILE" in err
    source = put("source.raw", "he go home.\nall fine.\n")
    code, out, _ = run(*command, "--tokenize", "corpus", "--raw", source, "-o", "scores.json")
    assert code == 0
    assert "tok:corpus(2 lines)" in out
    assert "note: --tokenize corpus has split raw" in out
    table = gm.read("scores.json")
    assert table["m2"]["raw"].value == 1
    assert table.blocks["tokenization"]["systems"]["raw"]["lines_changed"] == 2
    assert gm.Corpus.from_dict(table.corpus).systems["raw"] == ["he goes home .", "all fine ."]


BASE = ("-s", "src.txt", "-r", "gold.m2", "-m", "m2", "--hyps", "A.txt", "B.txt")


def test_table(run) -> None:
    code, out, err = run(*BASE)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].split() == ["system", "m2"]
    assert [line.split() for line in lines[2:4]] == [["A", "1.0000"], ["B", "0.8333"]]
    assert lines[5].startswith("m2: m2|beta:0.5|")


def test_json_has_the_promised_shape(run) -> None:
    code, out, _ = run(*BASE[:6], "gleu", *BASE[6:], "--format", "json")
    data = json.loads(out)
    assert code == 0
    assert list(data) == ["kind", "grammeter", "segments", "systems", "metrics", "notes"]
    assert (data["kind"], data["segments"], data["systems"]) == ("scores", 2, ["A", "B"])
    assert list(data["metrics"]) == ["m2", "gleu"]
    m2 = data["metrics"]["m2"]
    assert list(m2) == ["signature", "higher_is_better", "systems"]
    assert m2["systems"]["A"] == {
        "value": 1.0,
        "parts": {"precision": 1.0, "recall": 1.0, "tp": 1, "fp": 0, "fn": 0},
    }
    assert {"std", "low", "high"} <= set(data["metrics"]["gleu"]["systems"]["A"]["parts"])
    assert out.count("\n") == 1


def test_the_key_of_a_metric_is_its_spelling(run) -> None:
    _, out, _ = run(*BASE[:5], "m2( beta = 1 )", "--hyps", "A.txt", "--format", "json")
    assert list(json.loads(out)["metrics"]) == ["m2( beta = 1 )"]


@pytest.mark.parametrize("name", ["scores.json", "scores.json.gz"])
def test_o_writes_the_same_object_and_more(run, folder: Path, name: str) -> None:
    _, out, _ = run(*BASE, "--format", "json", "-o", name)
    data = (folder / name).read_bytes()
    stored = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
    printed = json.loads(out)
    assert {key: stored[key] for key in printed} == printed
    assert set(stored) - set(printed) == {"details", "corpus"}


def test_segments(run, folder: Path) -> None:
    run(*BASE, "--segments", "s.tsv")
    head, *rows = (folder / "s.tsv").read_text(encoding="utf-8").splitlines()
    assert head == "system\tsegment\tmetric\tvalue\treference\tparts"
    cells = [row.split("\t") for row in rows]
    assert [cell[:5] for cell in cells] == [
        ["A", "1", "m2", "1.0", "0"],
        ["A", "2", "m2", "1.0", "1"],
        ["B", "1", "m2", "0.0", "0"],
        ["B", "2", "m2", "1.0", "0"],
    ]
    assert json.loads(cells[0][5]) == {"tp": 1, "fp": 0, "fn": 0}


def test_segments_without_a_score_are_null_with_a_reason(run) -> None:
    code, out, _ = run(*BASE[:5], "sentm2(annotator=1)", "--hyps", "A.txt", "--segments", "-")
    row = out.splitlines()[1].split("\t")
    assert code == 0
    assert row[3] == "null"
    assert "not listed" in json.loads(row[5])["reason"]
    code, out, _ = run(*BASE[:5], "sentm2(annotator=1)", "--hyps", "A.txt", "--format", "json")
    (metric,) = json.loads(out)["metrics"].values()
    assert metric["systems"]["A"]["value"] is None
    assert "not listed" in metric["systems"]["A"]["reason"]


@pytest.mark.parametrize("form", ["table", "json"])
def test_segments_on_standard_output_stand_alone(run, form: str) -> None:
    _, out, _ = run(*BASE, "--segments", "-", "--format", form)
    assert len(out.splitlines()) == 5
    assert all(line.count("\t") == 5 for line in out.splitlines())


def test_forms_for_papers_pages_and_programs(run) -> None:
    assert run(*BASE, "--format", "tsv")[1] == "system\tm2\nA\t1.0000\nB\t0.8333\n"
    assert "| B | 0.8333 |" in run(*BASE, "--format", "markdown")[1]
    latex = run(*BASE, "--format", "latex", "--percent")[1]
    assert r"B & 83.33 \\" in latex
    assert r"\textbf{100.00}" in latex
    assert run(*BASE, "--format", "tsv", "--digits", "1")[1].endswith("B\t0.8\n")
    assert run(*BASE, "--format", "tsv", "--percent")[1].endswith("B\t83.33\n")


def test_percent_never_changes_json(run) -> None:
    assert run(*BASE, "--format", "json", "--percent") == run(*BASE, "--format", "json")


def test_gold_alone_gives_sources_and_texts(run) -> None:
    code, out, _ = run("-r", "gold.m2", "-m", "m2", "gleu", "--hyps", "A.txt", "--format", "json")
    assert code == 0
    assert "reftext:gold(um=skip, missing=other)" in out
    rules = ("--um", "apply", "--missing-annotator", "none")
    out = run("-r", "gold.m2", "-m", "gleu", "--hyps", "A.txt", *rules, "--format", "json")[1]
    assert "reftext:gold(um=apply, missing=none)" in out


def test_names(run) -> None:
    out = run(*BASE, "--names", "eins", "zwei", "--format", "tsv")[1]
    assert [line.split("\t")[0] for line in out.splitlines()[1:]] == ["eins", "zwei"]


def test_standard_input(run, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("--hyps", "-s", "-r"):
        text = GOLD if part == "-r" else FILES["A.txt" if part == "--hyps" else "src.txt"]
        buffer = io.BytesIO(gzip.compress(text.encode()))
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))
        files = {"-s": "src.txt", "-r": "gold.m2", "--hyps": "A.txt", part: "-"}
        arguments = [word for pair in files.items() for word in pair]
        code, out, _ = run(*arguments, "-m", "m2", "--format", "tsv")
        assert (code, out.splitlines()[1].split("\t")[1]) == (0, "1.0000")


def test_packed_files_give_the_same_bytes(run, folder: Path) -> None:
    plain = run(*BASE, "--format", "json")[1]
    for name in ("src.txt", "gold.m2", "A.txt", "B.txt"):
        (folder / f"{name}.gz").write_bytes(gzip.compress(FILES[name].encode()))
    packed = [f"{word}.gz" if word.endswith((".txt", ".m2")) else word for word in BASE]
    assert run(*packed, "--format", "json")[1] == plain


def test_notices_go_to_standard_error_unless_quiet(run, folder: Path) -> None:
    (folder / "A.txt").write_bytes(b"\xef\xbb\xbfhe  goes\thome .\r\nall\xc2\xa0fine .\r\n")
    code, out, err = run(*BASE)
    assert code == 0
    assert out == run(*BASE[:-2], "A.txt", "B.txt", "--quiet")[1]
    notes = err.splitlines()
    assert all(note.startswith("note: A.txt: ") for note in notes)
    for word in ("byte order mark", "CR LF", "white space"):
        assert sum(word in note for note in notes) == 1
    assert out.splitlines()[2].split() == ["A", "1.0000"]
    assert run(*BASE, "--quiet")[2] == ""


def test_unicode_forms(run, folder: Path) -> None:
    for name, form in (("s", "cafe\u0301"), ("r", "caf\u00e9"), ("h", "caf\u00e9")):
        (folder / name).write_text(f"{form} is open now\n", encoding="utf-8")
    arguments = ("-s", "s", "-r", "r", "-m", "green", "--hyps", "h", "s", "--format", "json")
    scores = json.loads(run(*arguments)[1])["metrics"]["green"]
    assert scores["systems"]["s"]["value"] < scores["systems"]["h"]["value"]
    scores = json.loads(run(*arguments, "--normalise", "NFC")[1])["metrics"]["green"]
    assert scores["systems"]["s"]["value"] == scores["systems"]["h"]["value"] == 1.0
    assert "|unicode:NFC|" in scores["signature"]


def test_lenient_passes_over_and_says_so(run) -> None:
    for name, line in (("outside.m2", 5), ("rubbish.m2", 5)):
        arguments = ("-r", name, "-m", "m2", "--hyps", "A.txt")
        assert run(*arguments)[0] == 3
        code, out, err = run(*arguments, "--lenient", "--quiet")
        assert (code, err) == (0, "")
        assert f"\nnote: {name}:{line}: " in out
        assert "passed over" in out


@pytest.mark.parametrize(
    ("limits", "code", "missed"),
    [
        (["m2=0.8"], 0, []),
        (["m2=0.9"], 1, ["B scores 0.833333 in m2, limit 0.9"]),
        (["m2=0.8", "gleu(order=1)=1"], 1, ["in gleu(order=1), limit 1"]),
    ],
)
def test_fail_under(run, limits: list[str], code: int, missed: list[str]) -> None:
    arguments = [*BASE[:6], "gleu(order=1)", *BASE[6:], "--fail-under", *limits, "--quiet"]
    found, out, err = run(*arguments)
    assert found == code
    assert out
    assert all(text in err for text in missed)
    assert bool(err) == bool(missed)


def test_a_missing_score_misses_every_threshold(run) -> None:
    name = "sentm2(annotator=1)"
    arguments = ("-r", "gold.m2", "-m", name, "--hyps", "A.txt", "--fail-under", f"{name}=0")
    assert run(*arguments)[0] == 1


def test_a_corpus_in_one_table(run, folder: Path) -> None:
    row = {"source": "a b", "references": ["a c"], "systems": {"x": "a c"}}
    (folder / "c.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    code, out, _ = run("--corpus", "c.jsonl", "-m", "green(order=1)", "--format", "tsv")
    assert (code, out) == (0, "system\tgreen(order=1)\nx\t1.0000\n")
    others = ["-s src.txt", "--hyps A.txt", "--names y", "--normalise NFC", "--lenient"]
    for words in others:
        code, out, err = run("--corpus", "c.jsonl", "-m", "gleu", *words.split())
        assert (code, out) == (2, "")
        assert "--corpus" in err


def call(**parts: Any) -> list[str]:
    files = {"source": "src.txt", "references": "gold.m2", "metrics": "m2", "hyps": "A.txt"}
    words = []
    for name, value in (files | parts).items():
        if value is not None:
            words += [f"--{name}", *(value if isinstance(value, list) else [value])]
    return words


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"hyps": "short.txt"}, ["short.txt: 1 lines, but src.txt has 2"]),
        ({"hyps": "blank.txt"}, ["blank.txt: 3 lines, but src.txt has 2", "trailing blank line"]),
        ({"references": "short.txt", "metrics": "gleu"}, ["short.txt: 1 lines", "src.txt has 2"]),
        ({"references": ["ref.txt", "blank.txt"], "metrics": "gleu"}, ["blank.txt: 3 lines"]),
        ({"source": "short.txt"}, ["short.txt: 1 lines, but gold.m2 has 2"]),
        ({"source": None, "hyps": "short.txt"}, ["short.txt: 1 lines, but gold.m2 has 2"]),
        ({"source": "nowhere"}, ["nowhere: there is no such file"]),
        ({"hyps": "."}, ["this is a folder"]),
        ({"hyps": "empty.txt"}, ["empty.txt: the file is empty"]),
        ({"references": "empty.m2"}, ["empty.m2: no sentence in this file"]),
        ({"source": "latin.txt"}, ["latin.txt:2: not UTF-8: byte 0xe9"]),
        ({"hyps": "damaged.gz"}, ["damaged.gz: damaged gzip data"]),
        ({"references": "outside.m2"}, ["outside.m2:5: edit 0 9 lies outside", "--lenient"]),
        ({"references": "rubbish.m2"}, ["rubbish.m2:5: unknown line: 'rubbish'"]),
        ({"references": "two.m2"}, ["two.m2:3: a second S line"]),
        ({"references": "fields.m2"}, ["fields.m2:2: not an edit: 4 fields"]),
        ({"references": "foreign.m2"}, ["src.txt:2: differs from sentence 2 of foreign.m2"]),
        ({"output": "no/such/folder.json"}, ["no/such/folder.json: cannot be written"]),
        ({"segments": "no/such/folder.tsv"}, ["no/such/folder.tsv: cannot be written"]),
        ({"corpus": "x.jsonl", "source": None, "references": None, "hyps": None}, ["x.jsonl: "]),
    ],
)
def test_wrong_data_is_3_with_a_place_and_no_score(
    run, parts: dict[str, Any], words: list[str]
) -> None:
    code, out, err = run(*call(**parts))
    assert (code, out) == (3, "")
    assert all(word in err for word in words), err
    assert "Traceback" not in err
    assert err.startswith("grammeter: ")
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"metrics": "gleo"}, ["unknown metric 'gleo'", "Did you mean 'gleu'"]),
        ({"metrics": "gleu(ordr=3)"}, ["unknown option of gleu 'ordr'", "'order'"]),
        ({"metrics": "gleu(order=x)"}, ["gleu: order=x is not possible", "a whole number"]),
        ({"metrics": "gleu(order=3"}, ["cannot read 'gleu(order=3'"]),
        ({"metrics": ["m2", "m2"]}, ["a metric is named twice"]),
        ({"references": "ref.txt"}, ["m2 needs gold edits", ".m2 file"]),
        ({"references": None, "metrics": "gleu"}, ["gleu needs references"]),
        ({"source": None, "references": None}, ["no sources"]),
        ({"hyps": None}, ["no system outputs", "--hyps"]),
        ({"hyps": ["A.txt", "./A.txt"]}, ["two systems are called 'A'", "--names"]),
        ({"names": ["x", "y"]}, ["2 names for 1 outputs"]),
        ({"source": "-", "hyps": "-"}, ["standard input is read twice"]),
        ({"fail-under": "m2"}, ["METRIC=VALUE"]),
        ({"fail-under": "m2=high"}, ["METRIC=VALUE"]),
        ({"fail-under": "=1"}, ["--fail-under"]),
        ({"fail-under": "m2=35"}, ["m2=35", "between 0 and 1", "Did you mean m2=0.35"]),
        ({"fail-under": "m2=-0.1"}, ["m2=-0.1", "between 0 and 1", "own units"]),
        ({"fail-under": "m2=nan"}, ["m2=nan", "between 0 and 1"]),
        ({"fail-under": "imeasure=-2", "metrics": "imeasure"}, ["between -1 and 1", "=-0.02"]),
        ({"fail-under": "bleu=35.1", "metrics": "bleu"}, ["Did you mean bleu=0.351"]),
        ({"fail-under": "some=inf", "metrics": "some"}, ["between -inf and inf"]),
        ({"fail-under": "gleu=1"}, ["unknown metric in --fail-under 'gleu'"]),
        ({"output": "-"}, ["'-' is standard input"]),
        ({"corpus": "c.xyz", "source": None, "references": None, "hyps": None}, ["c.xyz"]),
    ],
)
def test_wrong_usage_is_2_and_no_score(run, parts: dict[str, Any], words: list[str]) -> None:
    code, out, err = run(*call(**parts))
    assert (code, out) == (2, "")
    assert all(word in err for word in words), err
    assert "Traceback" not in err


@pytest.mark.parametrize("digits", ["-1", "18", "x"])
def test_digits_that_cannot_be_printed(digits: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["score", *BASE, "--digits", digits])
    assert caught.value.code == 2
    assert "--digits" in capsys.readouterr().err


def test_spellings_are_checked_before_files_are_read(run) -> None:
    code, _, err = run(*call(metrics="gleo", source="nowhere"))
    assert code == 2
    assert "gleo" in err


def test_long_sentences(run, folder: Path) -> None:
    words = " ".join(f"w{number}" for number in range(300))
    (folder / "long.m2").write_text(
        f"S {words}\nA 299 300|||X|||end|||REQUIRED|||-NONE-|||0\n", encoding="utf-8"
    )
    (folder / "h.txt").write_text(words.replace("w299", "end") + "\n", encoding="utf-8")
    out = run("-r", "long.m2", "-m", "m2", "gleu", "--hyps", "h.txt", "--format", "tsv")[1]
    assert out.splitlines()[1] == "h\t1.0000\t1.0000"
