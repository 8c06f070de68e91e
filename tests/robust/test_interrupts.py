"""Verbs that are stopped in their middle; ``long.py`` does so for all of them, at any moment."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from robust.places import environment, make
from robust.stops import CASES, Trial, group
from scripted_endpoint import ScriptedEndpoint

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs /proc to see what a process waits for"
)
SOME = {
    "compare": ("SIGTERM",),
    "rank trueskill": ("SIGINT",),
    "judge": ("SIGTERM", "SIGKILL"),
    "batch": ("SIGKILL",),
    "data get": ("SIGTERM",),
    "campaign import": ("SIGKILL",),
}
"""A few, for the time they take."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that they read."""
    return make(tmp_path_factory.mktemp("stops") / "template", ["scores"])


@pytest.mark.parametrize("name", SOME)
def test_whole_or_absent_and_the_next_run_goes_on(
    name: str, template: Path, tmp_path: Path
) -> None:
    if name.startswith("campaign"):
        pytest.importorskip("django", reason="the extra 'campaign' is not installed")
    if name == "judge":
        pytest.importorskip("aiohttp", reason="the extra 'llm' is not installed")
    with ScriptedEndpoint(delay=0.02) as server:
        trial = Trial(CASES[name], template, tmp_path, server.url)
        for number, each in enumerate(SOME[name]):
            told = trial.stopped(each, Random(f"{name}-{number}"))
            assert not told.faults, "\n".join(told.faults)


# --- found and mended ----------------------------------------------------------------------


def test_sigterm_in_a_text_that_python_executes_ends_with_143(tmp_path: Path) -> None:
    """Python would end itself as after Ctrl-C, which it noted there."""
    code = (
        "import os, signal, sys\n"
        "from grammeter.cli import results\n"
        "def run(args): exec('os.kill(os.getpid(), signal.SIGTERM)', globals())\n"
        "results.run_list = run\n"
        "from grammeter.cli.main import main\n"
        "sys.argv[1:] = ['list']\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (143, "terminated\n")


def test_sigterm_in_a_verb_that_calls_others_ends_with_143(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from grammeter import verbs\n"
        "def score(*_, **__): os.kill(os.getpid(), signal.SIGTERM)\n"
        "verbs.score = score\n"
        "from grammeter.cli.main import main\n"
        "sys.argv[1:] = ['demo']\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path,
        env=environment(tmp_path),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (143, "terminated\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["tmp"]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_processes_end_with_the_one_they_work_for(name: str, template: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "grammeter", "rank", "judgments.xml", "--by", "trueskill",
         "--bootstrap", "20000", "--processes", "2"],
        cwd=template, env=environment(template), start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    end = time.monotonic() + 60
    while len(group(process.pid)) < 4 and time.monotonic() < end and process.poll() is None:
        time.sleep(0.05)  # itself, what cleans up after it, and two that work
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=60)
    assert process.returncode == (143 if name == "SIGTERM" else -signal.SIGKILL), err
    while group(process.pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not group(process.pid)


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    line = f"trap '' HUP; exec {sys.executable} -c 'import os, signal, sys; \
from grammeter.cli import results; \
results.run_list = lambda args: os.kill(os.getpid(), signal.SIGHUP) or 0; \
from grammeter.cli.main import main; sys.argv[1:] = [\"list\"]; sys.exit(main())'"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
