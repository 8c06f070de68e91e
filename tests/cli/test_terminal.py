"""What a terminal gets beside the text: colours; and the page for man."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grammeter.cli.main import main
from grammeter.cli.parser import VERBS
from grammeter.resources import sample_corpus

ESCAPE = "\x1b["
EXPLAIN = ["explain", "scores.json", "--system", "Careful", "--line", "1"]


@pytest.fixture
def scored(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    hyps = sorted(map(str, (sample_corpus() / "systems").glob("*.txt")))
    gold = str(sample_corpus() / "gold.m2")
    assert main(["score", "-r", gold, "-m", "m2", "-o", "scores.json", "--hyps", *hyps]) == 0
    capsys.readouterr()


def in_a_terminal(*words: str, **settings: str) -> str:
    """Return what a command prints where standard output is a terminal."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "grammeter", *words]
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm", **settings}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.Popen(command, stdout=follower, stderr=subprocess.DEVNULL, env=environment)
    os.close(follower)
    read = b""
    try:
        while block := os.read(leader, 65536):
            read += block
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(leader)
    assert done.wait() == 0
    return read.decode().replace("\r\n", "\n")


def test_verdicts_and_headings_have_colours(scored, capsys):
    shown = in_a_terminal(*EXPLAIN)
    assert re.search(r"\x1b\[1m *verdict +span .*\x1b\[0m\n", shown)
    assert f"{ESCAPE}32m  + matched" in shown
    assert f"{ESCAPE}33m  ? missed" in shown
    main(EXPLAIN)
    assert re.sub(r"\x1b\[\d+m", "", shown) == capsys.readouterr().out


@pytest.mark.parametrize("settings", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colours_gets_none(scored, settings):
    assert ESCAPE not in in_a_terminal(*EXPLAIN, **settings)


def test_other_forms_and_pipes_have_none(scored, capsys):
    assert ESCAPE not in in_a_terminal(*EXPLAIN, "--format", "json")
    main(EXPLAIN)
    assert ESCAPE not in capsys.readouterr().out


def test_the_page_for_man_has_every_verb_and_is_clean(tmp_path: Path, capsys):
    assert main(["completion", "man"]) == 0
    page = capsys.readouterr().out
    heads = re.findall(r'^\.SH "?([^"\n]+)"?$', page, re.M)
    assert {f"GRAMMETER {verb.upper()}" for verb in VERBS} <= {*heads}
    assert "GRAMMETER META SYSTEM" in heads
    commands = {line.split(" ")[0] for line in page.splitlines() if line[:1] in {".", "'"}}
    assert commands == {".TH", ".SH", ".nf", ".fi"}
    if shutil.which("groff"):
        (tmp_path / "page").write_text(page, "utf-8")
        options = ["-man", "-Tutf8", "-ww", str(tmp_path / "page")]
        done = subprocess.run(["groff", *options], capture_output=True, text=True, check=True)
        assert "GRAMMETER(1)" in done.stdout
