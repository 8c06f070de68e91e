"""References of a system's own: the laws, the files, the errors, and what verbs make of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.core import DataError, UsageError
from grammeter.formats import read_records, write_records
from grammeter.rendering import html

SOURCES = ["She go to school .", "I has two cat .", "They is happy .", "We was here ."]
OUTPUTS = {
    "A": ["She goes to school .", "I have two cat .", "They is happy .", "We were here ."],
    "B": ["She went to the school .", "I own some cats .", "They is happy .", "We were there ."],
}
POSTS = {
    "A": ["She goes to school .", "I have two cats .", "They are happy .", "We were here ."],
    "B": ["She went to school .", "I own some cats .", "They are so happy .", "We were there ."],
}
METRICS = [
    "wer",
    "ter",
    "nld",
    "gleu",
    "errant(pipeline=neutral)",
    "imeasure",
    "green",
    "chrf",
    "bleu",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, lines):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    write("source.txt", SOURCES)
    write("ref.txt", POSTS["A"])
    for name, lines in OUTPUTS.items():
        write(f"out/{name}.txt", lines)
        write(f"post/{name}.txt", POSTS[name])
    return tmp_path


def read(references, systems=("A", "B"), **options):
    files = [f"out/{name}.txt" for name in systems]
    return gm.read_corpus(source="source.txt", references=references, systems=files, **options)


def values(corpus, metrics=METRICS):
    table = gm.score(corpus, metrics)
    return {m: {s: score.value for s, score in column.items()} for m, column in table.items()}


def m2(sources, corrected) -> str:
    """Write each correction as one edit of the whole sentence."""
    blocks = [
        f"S {s}\nA 0 {len(s.split())}|||R:OTHER|||{t}|||REQUIRED|||-NONE-|||0\n"
        for s, t in zip(sources, corrected, strict=True)
    ]
    return "\n".join(blocks)


@pytest.mark.parametrize("references", [["post/{system}.txt"], ["ref.txt", "post/{system}.txt"]])
def test_all_systems_together_are_each_alone(folder, references) -> None:
    together = values(read(references))
    for name in OUTPUTS:
        files = [path.replace("{system}", name) for path in references]
        alone = values(read(files, [name]))
        assert {m: of[name] for m, of in together.items()} == {
            m: of[name] for m, of in alone.items()
        }


def test_equal_files_are_a_shared_reference(folder) -> None:
    for name in OUTPUTS:
        (folder / "post" / f"{name}.txt").write_bytes((folder / "ref.txt").read_bytes())
    assert values(read(["post/{system}.txt"])) == values(read(["ref.txt"]))


def test_a_system_alone_may_have_its_own(folder) -> None:
    assert values(read(["post/{system}.txt"], ["B"]))["wer"] == {"B": 3 / 19}


def test_gold_edits_of_its_own(folder) -> None:
    for name, lines in POSTS.items():
        (folder / "post" / f"{name}.m2").write_text(m2(SOURCES, lines), encoding="utf-8")
    together = values(read(["post/{system}.m2"]), ["m2", "gleu", "imeasure"])
    for name in POSTS:
        alone = values(read([f"post/{name}.m2"], [name]), ["m2", "gleu", "imeasure"])
        assert {m: of[name] for m, of in together.items()} == {
            m: of[name] for m, of in alone.items()
        }
    assert gm.score(read(["post/{system}.m2"]), ["m2"])["m2"].signature["references"] == "own"


def test_competing_metrics_and_equal_gold(folder) -> None:
    for name in POSTS:
        (folder / "post" / f"{name}.m2").write_text(m2(SOURCES, POSTS["A"]), encoding="utf-8")
    metrics = ["gotoscorer(pipeline=neutral)"]
    assert values(read(["post/{system}.m2"]), metrics) == values(read(["post/A.m2"]), metrics)


def test_a_table_has_them(folder) -> None:
    corpus = read(["ref.txt", "post/{system}.txt"])
    expected = values(corpus)
    write_records(folder / "c.jsonl", corpus)
    assert values(gm.read_corpus(corpus="c.jsonl")) == expected
    rows = [json.dumps({n: [POSTS[n][at]] for n in POSTS}) for at in range(len(SOURCES))]
    lines = ["source\treferences\tsystem.A\tsystem.B"]
    lines += map("\t".join, zip(SOURCES, rows, OUTPUTS["A"], OUTPUTS["B"], strict=True))
    (folder / "c.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    only = values(read(["post/{system}.txt"]))
    assert values(gm.read_corpus(corpus="c.tsv")) == only
    head = "source\tA.reference\tB.reference\tC.reference\tsystem.A\tsystem.B\n"
    cells = (SOURCES, POSTS["A"], POSTS["B"], POSTS["B"], OUTPUTS["A"], OUTPUTS["B"])
    body = "".join("\t".join(row) + "\n" for row in zip(*cells, strict=True))
    (folder / "c.tsv").write_text(head + body, encoding="utf-8")
    named = gm.read_corpus(corpus="c.tsv")
    assert values(named) == only
    assert named.notices == ("no system has the references C; they are not read",)


@pytest.mark.parametrize(
    ("head", "row", "fault"),
    [
        ("source\tA.reference\tsystem.A\tsystem.B", "a\ta\ta\ta", "references of its own for B"),
        ("source\treferences\tsystem.A", "a\t[]\ta", "no JSON object"),
        ("source\treferences\tsystem.A", 'a\t{"A": "a"}\ta', "references is no list, or object"),
    ],
)
def test_a_damaged_table(tmp_path, head, row, fault) -> None:
    (tmp_path / "c.tsv").write_text(f"{head}\n{row}\n", encoding="utf-8")
    with pytest.raises(DataError, match=fault):
        read_records(tmp_path / "c.tsv")


def ratings(by_judge) -> str:
    items = [
        {
            "original": source,
            "systems": {
                name: {
                    "output": OUTPUTS[name][at],
                    "annotators": {j: {"corrected": of[name][at]} for j, of in by_judge.items()},
                }
                for name in OUTPUTS
            },
        }
        for at, source in enumerate(SOURCES)
    ]
    return json.dumps({"data": items})


def test_ratings_have_them(folder) -> None:
    (folder / "one.json").write_text(ratings({"ann": POSTS}), encoding="utf-8")
    assert values(read(["one.json"])) == values(read(["post/{system}.txt"]))
    shared = dict.fromkeys(POSTS, POSTS["A"])
    (folder / "two.json").write_text(ratings({"bea": shared, "ann": POSTS}), encoding="utf-8")
    assert values(read(["two.json"])) == values(read(["ref.txt", "post/{system}.txt"]))
    (folder / "out" / "A.txt").write_text("x\n" * 4, encoding="utf-8")
    assert "4 outputs of A are not those" in " ".join(read(["one.json"]).notes)


def test_bad_input(folder, capsys) -> None:
    (folder / "broken.json").write_text('{"data": [{"systems": {"A": {}}}]}', encoding="utf-8")
    (folder / "post" / "C.txt").write_text("x\n", encoding="utf-8")
    with pytest.raises(DataError, match="sentence 1: output is None"):
        read(["broken.json"])
    with pytest.raises(UsageError, match="there is no system"):
        read(["post/{system}.txt"], [])
    own = read(["post/{system}.txt"]).own
    with pytest.raises(DataError, match="both are given"):
        gm.Corpus(sources=SOURCES, references=[SOURCES], systems=OUTPUTS, own=own)
    (folder / "post" / "A.any").write_text(m2(SOURCES, POSTS["A"]), encoding="utf-8")
    (folder / "post" / "B.any").write_bytes((folder / "post" / "B.txt").read_bytes())
    with pytest.raises(DataError, match="different references"):
        read(["post/{system}.any"])
    command = ["score", "-s", "source.txt", "--hyps", "out/A.txt", "out/B.txt", "-m", "wer", "-r"]
    assert main([*command, "post/{system}.txt"]) == 0
    assert "no system has the references post/C.txt" in capsys.readouterr().err
    (folder / "post" / "B.txt").write_text("x\n", encoding="utf-8")
    assert main([*command, "post/{system}.txt"]) == 3
    assert "post/B.txt: 1 lines" in capsys.readouterr().err
    (folder / "post" / "B.txt").unlink()
    assert main([*command, "post/{system}.txt"]) == 3
    error = capsys.readouterr().err
    assert "the system B" in error
    assert "post/B.txt" in error


def test_a_missing_reference_takes_the_sentence_out_for_all(folder) -> None:
    (folder / "one.json").write_text(ratings({"ann": POSTS}), encoding="utf-8")
    data = json.loads((folder / "one.json").read_text())
    del data["data"][1]["systems"]["A"]["annotators"]["ann"]["corrected"]
    (folder / "one.json").write_text(json.dumps(data), encoding="utf-8")
    corpus = read(["one.json"])
    assert corpus.unjudgeable == {1: "no reference"}
    rest = read(["post/{system}.txt"]).take([0, 2, 3])
    assert values(corpus) == values(rest)


def test_what_verbs_make_of_them(folder, capsys) -> None:
    command = ["score", "-s", "source.txt", "--hyps", "out/A.txt", "out/B.txt", "-m", "wer", "gleu"]
    command += ["-r", "ref.txt", "post/{system}.txt", "--format", "json", "-o", "scores.json"]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["references"] == "own"
    table = gm.read("scores.json")
    assert isinstance(table, gm.ScoreTable)
    assert table["gleu"].signature["references"] == "own,sampled"
    assert table["wer"].signature["refs"] == "2"
    compared = gm.compare(table, baseline="A", resamples=100)
    assert any("own" in note for note in compared.notes)
    wer = compared["wer"]["B"]
    assert wer.difference == pytest.approx(table["wer"]["B"].value - table["wer"]["A"].value)
    explained = gm.explain(table, system="B", line=1)
    assert explained.references == (POSTS["A"][0], POSTS["B"][0])
    for metric, alone in explained.metrics.items():
        assert alone.value == table[metric].segments["B"].values[0]
    assert main(["report", "scores.json", "-o", "report.html"]) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert POSTS["B"][1] in page
    assert "2 of each system's own" in page.replace("&#x27;", "'").replace("&#39;", "'")


def test_a_report_tells_equal_outputs_with_other_references_apart(folder) -> None:
    from grammeter.verbs._report.browser import make_browser

    corpus = read(["post/{system}.txt"])
    browser, _ = make_browser(gm.score(corpus, ["wer"]), corpus)
    first, third = browser.sentences[0].outputs, browser.sentences[2].outputs
    assert {output.references for output in third} == {(POSTS[n][2],) for n in POSTS}
    assert {output.references for output in first} == {(POSTS[n][0],) for n in POSTS}
    pieces = [json.loads(text) for text in html.packed(browser)]
    assert {output[4][0] for output in pieces[1][2][3]} == {POSTS[n][2] for n in POSTS}


def test_a_stored_corpus_keeps_them(folder) -> None:
    corpus = read(["post/{system}.txt"])
    again = gm.Corpus.from_dict(json.loads(json.dumps(corpus.to_dict())))
    assert values(again) == values(corpus)
    assert np.isclose(values(corpus.take([0, 3]), ["wer"])["wer"]["B"], 1 / 9)


def test_raw_outputs_and_documents(folder) -> None:
    corpus = read(["post/{system}.txt"], tokenize="chars")
    assert corpus.own["B"].references[0][0] == " ".join("Shewenttoschool.")
    (folder / "docs.tsv").write_text("document\n1\n1\n2\n2\n", encoding="utf-8")
    whole = read(["post/{system}.txt"], documents="docs.tsv:document", level="text")
    assert whole.own["B"].references[0] == [" ".join(POSTS["B"][:2]), " ".join(POSTS["B"][2:])]
