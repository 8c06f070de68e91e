"""A signal at any moment of a run: 128 and its number, one word, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import grammeter as gm

SAMPLE = gm.sample_corpus()
RUNS = {
    "score": ["score", "-r", str(SAMPLE / "gold.m2"), "-m", "m2", "bleu", "gleu", "--hyps",
              str(SAMPLE / "systems" / "Echo.txt"), "-o", "out.json", "--quiet"],
    "rank": ["rank", str(SAMPLE / "judgments.xml"), "--by", "trueskill", "--resamples", "20",
             "--quiet"],
}  # fmt: skip
SIGNALS = {"SIGINT": (130, "interrupted\n"), "SIGTERM": (143, "terminated\n"),
           "SIGHUP": (129, "terminated\n")}  # fmt: skip

CODE = """
import os, signal, sys
from grammeter.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who started the tests may ignore both
name, at, events = sys.argv[1], int(sys.argv[2]), 0
def listen(event, arguments):
    global events
    if event in ("import", "open", "compile", "exec"):
        events += 1
        if events == at:
            os.kill(os.getpid(), getattr(signal, name))
sys.addaudithook(listen)
del sys.argv[1:3]
code = main()
if name == "none":
    print("events", events, file=sys.stderr)
sys.exit(code)
"""
"""Sends a signal at the so-many-th file that is opened or module that is loaded."""


def run(folder: Path, verb: str, name: str, at: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CODE, name, str(at), *RUNS[verb]],
        cwd=folder, capture_output=True, text=True, timeout=100,
    )  # fmt: skip


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("verb", ["score", "rank"])
def test_a_signal_at_any_import_ends_with_its_number(verb: str, name: str, tmp_path: Path) -> None:
    events = int(run(tmp_path, verb, "none", 0).stderr.split()[-1])
    (tmp_path / "out.json").unlink(missing_ok=True)
    random = Random(f"{verb} {name}")
    for at in [1, *sorted(random.sample(range(2, events), 4))]:
        done = run(tmp_path, verb, name, at)
        assert (done.returncode, done.stderr) == SIGNALS[name], f"event {at} of {events}"
        for path in tmp_path.iterdir():  # whole, where the signal came after the last import
            assert path.name == "out.json"
            assert gm.read_scores(path).systems == ("Echo",)
            path.unlink()


def test_to_be_ready_for_signals_little_is_loaded() -> None:
    code = (
        "import sys; before = set(sys.modules); import grammeter.cli.main;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "grammeter", "grammeter.cli", "grammeter.cli.main", "grammeter.cli.signals",
        "grammeter.version",
    ]  # fmt: skip
