"""CPU time, wall time and memory: of a piece of work here, and of a command."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

SHARED = Path(os.environ.get("GRAMMETER_SHARED", Path(__file__).parents[2] / "shared"))
"""Where the data sets are, in ``data/``, and what others computed from them, in ``golden/``."""


@dataclass(frozen=True)
class Cost:
    """What a command took: seconds, and the peak of its largest process."""

    wall: float
    cpu: float
    megabytes: float
    printed: str = ""


def cpu(work: Callable[[], Result], *, best_of: int = 1) -> tuple[float, Result]:
    """CPU seconds of the fastest run, and its result."""
    seconds = float("inf")
    for _ in range(best_of):
        start = time.process_time()
        result = work()
        seconds = min(seconds, time.process_time() - start)
    return seconds, result


def peak() -> float:
    """Return the peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def command(
    words: Sequence[object], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Cost:
    """Run a command to its good end; what it waited for counts, too.

    A small process starts it: a child's peak is at least what its parent held.
    """
    with tempfile.NamedTemporaryFile() as told:
        done = subprocess.run(
            [sys.executable, "-I", "-S", __file__, told.name, *map(str, words)],
            cwd=cwd,
            env=os.environ | dict(env or {}),
            capture_output=True,
            check=False,
        )
        if done.returncode:
            shown = " ".join(map(str, words))
            raise RuntimeError(f"{shown}: exit {done.returncode}: {done.stderr.decode()}")
        return Cost(**json.loads(told.read()), printed=done.stdout.decode("utf-8", "replace"))


def start_and_wait(words: Sequence[str]) -> tuple[int, dict[str, float]]:
    """Run a command as a child of this process; return its exit code and its cost."""
    start = time.perf_counter()
    process = os.posix_spawnp(words[0], words, os.environ)
    _, status, usage = os.wait4(process, 0)
    seconds = usage.ru_utime + usage.ru_stime
    cost = {
        "wall": time.perf_counter() - start,
        "cpu": seconds,
        "megabytes": usage.ru_maxrss / 1024,
    }
    return os.waitstatus_to_exitcode(status), cost


def grammeter(
    *words: object, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Cost:
    """Run the command line of this environment."""
    return command([sys.executable, "-m", "grammeter", *words], env=env, cwd=cwd)


def median(costs: Sequence[Cost]) -> Cost:
    """Return the cost in the middle by CPU time."""
    return sorted(costs, key=lambda cost: cost.cpu)[len(costs) // 2]


@contextmanager
def compiled() -> Iterator[dict[str, str]]:
    """Give an environment in which Python keeps byte code, as after ``pip install``."""
    with tempfile.TemporaryDirectory() as folder:
        yield {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}


def machine_unit() -> float:
    """CPU seconds of a million steps of plain Python: how fast this machine is at the moment."""

    def count() -> None:
        table: dict[int, int] = {}
        for number in range(1_000_000):
            key = (number * 7919) & 4095
            table[key] = table.get(key, 0) + number

    return statistics.median(cpu(count)[0] for _ in range(3))


if __name__ == "__main__":
    code, found = start_and_wait(sys.argv[2:])
    Path(sys.argv[1]).write_text(json.dumps(found))
    sys.exit(code)
