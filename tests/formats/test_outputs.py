"""Outputs of systems in M2 files: by every verb and function that takes outputs."""

from __future__ import annotations

import gzip
import json

import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.formats import read_outputs

SOURCES = "he go home\na cat sleep\nfine .\n"
TEXT = "he goes home\nthe cat sleep\nfine .\n"
ONE = """S he go home
A 1 2|||R|||goes|||REQUIRED|||-NONE-|||0

S a cat sleep
A 0 1|||R|||the|||REQUIRED|||-NONE-|||0

S fine .

"""
TWO = ONE.replace("S a cat", "A 2 2|||M|||back|||REQUIRED|||-NONE-|||1\n\nS a cat", 1)
JUDGMENT = {"judge": "j", "groups": [["X"], ["Y"]], "ranks": [1, 2], "skipped": False}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "src.txt").write_text(SOURCES)
    (tmp_path / "Y.txt").write_text(SOURCES)
    (tmp_path / "X.m2").write_text(ONE)
    (tmp_path / "two.m2").write_text(TWO.replace("\n\nA 2", "\nA 2"))
    (tmp_path / "text.txt").write_text(TEXT)
    lines = [json.dumps({**JUDGMENT, "segment": n}) for n in (1, 2)]
    (tmp_path / "j.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def read(files, *outputs, **more):
    return gm.read_corpus(
        source=files / "src.txt", systems=[f"{files}/{name}" for name in outputs], **more
    ).systems


def test_the_output_is_the_corrected_text(files):
    assert read(files, "X.m2") == {"X": TEXT.splitlines()}
    (files / "out.gz").write_bytes(gzip.compress(ONE.encode()))  # told by what is in it
    assert read(files, "out.gz") == {"out": TEXT.splitlines()}


def test_one_annotator_whatever_its_number(files):
    (files / "X.m2").write_text(ONE.replace("|||0\n", "|||3\n"))
    assert read(files, "X.m2", missing_annotator="none") == {"X": TEXT.splitlines()}
    with pytest.raises(gm.UsageError, match=r"two\.m2: M2 with 2 annotators"):
        read(files, "two.m2")


def test_edits_of_other_sentences_are_refused(files):
    (files / "X.m2").write_text(ONE.replace("S fine .", "S fine !"))
    with pytest.raises(gm.DataError, match="differs from sentence 3"):
        read(files, "X.m2")
    (files / "X.m2").write_text(ONE.replace("S fine .\n\n", ""))
    with pytest.raises(gm.DataError, match="2"):
        read(files, "X.m2")


def test_edits_that_overlap_are_a_note(files):
    (files / "X.m2").write_text(
        ONE.replace("\n\nS a", "\nA 1 3|||R|||went|||REQUIRED|||-NONE-|||0\n\nS a")
    )
    corpus = gm.read_corpus(source=files / "src.txt", systems=[files / "X.m2"])
    assert "1 edits overlap" in corpus.notes[0]
    assert corpus.systems["X"][0] == "he goes home"


def test_judged_outputs_may_be_m2(files):
    assert read_outputs([files / "X.m2"]) == {"X": TEXT.splitlines()}
    with pytest.raises(gm.UsageError, match="2 annotators"):
        read_outputs([files / "two.m2"])


VERBS = {
    "score": ["score", "-s", "src.txt", "-r", "text.txt", "-m", "gleu"],
    "sample": ["sample", "-s", "src.txt", "-n", "2", "-o", "-"],
    "rank": ["rank", "j.jsonl"],
    "agree": ["agree", "j.jsonl"],
    "judge": ["judge", "-s", "src.txt", "-m", "llm-s(model=x)", "--dry-run"],
    "campaign create": ["campaign", "create", "pilot", "-s", "src.txt", "-n", "2", "--judges", "2",
                        "--database", "c.sqlite"],
}  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_m2_as_it_takes_the_text(files, capsys, monkeypatch, verb):
    monkeypatch.chdir(files)
    if verb.startswith("campaign"):
        pytest.importorskip("django")
        monkeypatch.setenv("GRAMMETER_CAMPAIGN_DB", "c.sqlite")
        assert main([*VERBS[verb][:-2], "--hyps", "two.m2", "Y.txt", "--quiet"]) == 2
        assert "2 annotators" in capsys.readouterr().err
        return
    printed = []
    for name in ("X.m2", "X.txt"):
        (files / "X.txt").write_text(TEXT)
        assert main([*VERBS[verb], "--hyps", name, "Y.txt", "--quiet"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert main([*VERBS[verb], "--hyps", "two.m2", "Y.txt", "--quiet"]) == 2
    assert "2 annotators" in capsys.readouterr().err
