"""Verbs that are stopped at a random moment, and what must hold afterwards."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from robust.places import CORPUS, environment, run

SIGNALS = {"SIGINT": 130, "SIGTERM": 143, "SIGKILL": -9}
"""Signal -> the exit code it must lead to."""

WAIT = 60.0
"""Seconds after which a stopped run counts as hanging."""

_TIMED = ("card.json", "README.md", "out.jsonl")
_TIMES = re.compile(rb'"seconds": [0-9.]+|\| [0-9]+ \|$', re.MULTILINE)
"""What the page of a model tells of the clock."""


@dataclass(frozen=True)
class Case:
    """A verb, and what it makes.

    Attributes
    ----------
    words
        The command line.
    makes
        Files and folders that it makes: whole or absent.
    again
        Added to the command line that goes on.
    keeps
        Whether what a stopped run left in ``makes`` is its business: a folder that is resumed.
    needs
        What :func:`robust.places.make` must have made.
    codes
        Exit codes of a run that begins where another one was stopped.
    program
        What Python is told to run.
    """

    words: str
    makes: tuple[str, ...] = ()
    again: str = ""
    keeps: bool = False
    needs: tuple[str, ...] = ()
    codes: tuple[int, ...] = (0,)
    program: tuple[str, ...] = ("-m", "grammeter")
    env: Mapping[str, str] = field(default_factory=dict[str, str])


_FIT = "--encoder encoder --epochs 2 --batch-size 16 --device cpu --format json -o out"
_DATA = ("-c", "import robust.data; robust.data.main()")
CASES: dict[str, Case] = {
    "score": Case(
        f"score {CORPUS} -m m2 gleu(iterations=50) imeasure -o out.json --segments out.tsv",
        ("out.json", "out.tsv"),
    ),
    "compare": Case(
        "compare scores.json --baseline Echo --resamples 4000 -o out.json",
        ("out.json",),
        needs=("scores",),
    ),
    "explain": Case("explain scores.json --system Eager --line 2", needs=("scores",)),
    "rank": Case("rank judgments.xml --bootstrap 4000 -o out.json", ("out.json",)),
    "rank trueskill": Case(
        "rank judgments.xml --by trueskill --bootstrap 60 --processes 2 -o out.json", ("out.json",)
    ),
    "agree": Case("agree judgments.xml --correlate -o out.json", ("out.json",)),
    "sample": Case(f"sample {CORPUS} -n 20 --judges a b -o out.jsonl", ("out.jsonl",)),
    "meta system": Case(
        "meta system scores.json judgments.xml --resamples 2000 -o out.json",
        ("out.json",),
        needs=("scores",),
    ),
    "meta sentence": Case(
        "meta sentence scores.json judgments.xml --bootstrap 300 -o out.json",
        ("out.json",),
        needs=("scores",),
    ),
    "meta maege": Case(
        "meta maege -r gold.m2 -m gleu(iterations=5) m2 --chains 3 -o out.json", ("out.json",)
    ),
    "batch": Case(
        "batch pairs-0.jsonl pairs-1.jsonl pairs-2.jsonl --reference reference -m green gleu"
        " --edits list -o out --block 50",
        ("out",),
        keeps=True,
    ),
    "batch jobs": Case(
        "batch pairs-0.jsonl pairs-1.jsonl --reference reference -m green -o out --jobs 2"
        " --block 50 --output-form jsonl",
        ("out",),
        keeps=True,
    ),
    "edits extract": Case("edits extract -orig source.txt -cor Eager.txt -out out.m2", ("out.m2",)),
    "edits convert": Case("edits convert -auto gold.m2 -out out.m2", ("out.m2",)),
    "report": Case(
        "report scores.json judgments.xml -o out.html --resamples 300",
        ("out.html",),
        needs=("scores",),
    ),
    "reproduce": Case("reproduce grundkiewicz2015 --format json -o out.json", ("out.json",)),
    "demo": Case("demo -o out.json", ("out.json", "grammeter-demo-report.html")),
    "judge": Case(
        f"judge {CORPUS} -m llm-s(model=tiny) -o out.jsonl --base-url URL --cache-dir kept"
        " --concurrency 4",
        ("out.jsonl",),
    ),
    "data get": Case("data get made --from archive.zip", ("data/made",), program=_DATA),
    "campaign create": Case(
        f"campaign create pilot {CORPUS} -n 30 --judges 2 --seed 1", codes=(0, 2)
    ),
    "campaign import": Case(
        f"campaign import pilot {CORPUS} --judgments judgments.xml", codes=(0, 2)
    ),
    "campaign export": Case(
        "campaign export pilot -o out.xml --details out.jsonl",
        ("out.xml", "out.jsonl"),
        needs=("campaign",),
    ),
    "campaign backup": Case("campaign backup copy.db", codes=(0, 2), needs=("campaign",)),
    "train impara": Case(
        f"train impara --parallel training.m2 --pairs 60 {_FIT}",
        ("out",),
        again="--resume",
        keeps=True,
        needs=("encoder",),
    ),
    "train some": Case(
        f"train some --scores ratings.csv {_FIT}",
        ("out",),
        again="--resume",
        keeps=True,
        needs=("encoder",),
    ),
}


@dataclass(frozen=True)
class Whole:
    """What an undisturbed run makes, and how long it takes."""

    files: Mapping[str, bytes]
    out: str
    seconds: float


@dataclass
class Told:
    """What one stopped run did."""

    code: int
    reached: bool
    faults: list[str]


class Trial:
    """A case in folders of its own.

    Parameters
    ----------
    template
        A folder of :func:`robust.places.make`; it is copied.
    url
        Of an endpoint for judges.
    """

    def __init__(self, case: Case, template: Path, room: Path, url: str = "") -> None:
        self.case, self.template, self.room = case, template, room
        self.words = case.words.replace("URL", url).split()
        folder = self._fresh("whole")
        process = self._start(folder, self.words)
        clock = time.monotonic()
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        self.whole = Whole(_files(folder), out.replace(str(folder), ""), time.monotonic() - clock)

    def stopped(self, name: str, random: Random) -> Told:
        """Stop a run at a random moment, look at what it left, and run again."""
        folder = self._fresh("stopped")
        process = self._start(folder, self.words)
        time.sleep(random.random() * 0.9 * self.whole.seconds)
        process.send_signal(getattr(signal, name))
        try:
            out, err = process.communicate(timeout=WAIT)
        except subprocess.TimeoutExpired:
            _end(process)
            return Told(0, True, [f"hangs for {WAIT} s after {name}"])
        told = Told(process.returncode, process.returncode != 0, [])
        self._check_end(told, name, err)
        self._check_files(told, folder, out, killed=name == "SIGKILL")
        told.faults += [f"a process is left: {left}" for left in _left(process.pid)]
        self._check_again(told, folder)
        return told

    def _check_end(self, told: Told, name: str, err: str) -> None:
        finished = (0, -getattr(signal, name))  # the signal came when all was done
        if told.code not in (SIGNALS[name], *finished):
            told.faults.append(f"exit code {told.code} after {name}")
        # killed while it started a process, which then finds half a message
        if name != "SIGKILL" and ("Traceback" in err or "Exception ignored" in err):
            told.faults.append(f"standard error: {err[-2000:]}")

    def _check_files(self, told: Told, folder: Path, out: str, *, killed: bool) -> None:
        files, whole = _files(folder), self.whole.files
        strays = [name for name in files if name not in whole and not self._is_kept(name)]
        if not killed:
            told.faults += [f"a stray file: {name}" for name in strays]
        for name in whole:
            if name in files and files[name] != whole[name] and not self._is_kept(name):
                told.faults.append(f"not whole: {name}")
        if told.code == 0 and (
            out.replace(str(folder), "") != self.whole.out or set(files) != set(whole)
        ):
            told.faults.append("exit code 0, but not all is there")

    def _check_again(self, told: Told, folder: Path) -> None:
        """Run it again: as if it had never been stopped."""
        words = [*self.words, *self.case.again.split()]
        done = self._start(folder, words)
        _, err = done.communicate(timeout=300)
        files = _files(folder)
        if done.returncode not in self.case.codes:
            told.faults.append(f"the next run ends with {done.returncode}: {err[-2000:]}")
        lacking = [name for name in self.whole.files if files.get(name) != self.whole.files[name]]
        told.faults += [f"differs after the next run: {name}" for name in lacking]
        if self.case.keeps:  # what is resumed is cleaned, too
            more = [name for name in files if name not in self.whole.files]
            told.faults += [f"left after the next run: {name}" for name in more]
        self._check_campaign(told, folder)

    def _check_campaign(self, told: Told, folder: Path) -> None:
        if self.words[0] != "campaign":
            return
        done = run(folder, "campaign export pilot")
        if done.returncode or done.stdout != self._exported():
            told.faults.append(f"the campaign differs: {done.returncode} {done.stderr}")

    def _exported(self) -> str:
        return run(self.room / "whole", "campaign export pilot").stdout

    def _is_kept(self, name: str) -> bool:
        return self.case.keeps and name.startswith(tuple(f"{made}/" for made in self.case.makes))

    def _fresh(self, name: str) -> Path:
        folder = self.room / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.template, folder)
        if "campaign" not in self.case.needs:
            (folder / "campaign.db").unlink(missing_ok=True)
        return folder

    def _start(self, folder: Path, words: list[str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *self.case.program, *words],
            cwd=folder, env=environment(folder, **self.case.env), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        _wait_for_handlers(process)
        return process


def _wait_for_handlers(process: subprocess.Popen[str]) -> None:
    """Wait until the program has begun: what Python itself does before is not ours."""
    wanted = 1 << (signal.SIGTERM - 1)
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        for line in status.read_text("ascii", "replace").splitlines():
            if line.startswith("SigCgt:") and int(line.split()[1], 16) & wanted:
                return
        time.sleep(0.002)


def _files(folder: Path) -> dict[str, bytes]:
    """Return all files but caches and databases, by name."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        cached = name.startswith(("cache/", "kept/", "home/")) or ".db" in name
        if path.is_file() and not cached:
            data = path.read_bytes().replace(os.fsencode(folder), b"")
            found[name] = _TIMES.sub(b"", data) if path.name in _TIMED else data
    return found


def _left(number: int) -> list[str]:
    """Return the processes of a group that are still there after five seconds."""
    found: list[str] = []
    for _ in range(100):
        found = group(number)
        if not found:
            break
        time.sleep(0.05)
    return found


def group(number: int) -> list[str]:
    """Return the processes of a group."""
    found: list[str] = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                text = (path / "stat").read_text("ascii", "replace")
                fields = text.rpartition(")")[2].split()
                if int(fields[2]) == number and fields[0] != "Z":
                    found.append(f"{path.name} {(path / 'cmdline').read_bytes()[:200]!r}")
            except (OSError, IndexError):
                continue
    return found


def _end(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
