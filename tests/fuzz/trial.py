"""One call that must end well: with a value or an error of ours, soon and without much memory."""

from __future__ import annotations

import resource
import signal
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grammeter.core import GrammeterError

Call = Callable[[Path], Any]
Seeds = Callable[[], tuple[bytes, ...]]


@dataclass(frozen=True)
class Reader:
    """What reads a file, valid files, and what their names end in."""

    call: Call
    seeds: Seeds
    suffix: str = ".txt"


CPU_SECONDS = 10
MEMORY = 2**30
"""Bytes that one call may take beyond what the process has."""


class HangError(BaseException):
    """A call that took too long; no ``except Exception`` hides it."""


@dataclass(frozen=True)
class Failure:
    """What one input did."""

    what: str
    seed: str
    told: str
    files: dict[str, bytes]

    def __str__(self) -> str:
        inputs = "".join(f"\n    {name}: {data[:300]!r}" for name, data in self.files.items())
        return f"{self.what} [{self.seed}]{inputs}\n{self.told}"


def trial(call: Callable[[], Any]) -> str:
    """Return what went wrong, as a traceback; nothing if all is well."""
    try:
        with limits():
            call()
    except GrammeterError as error:
        return "" if str(error) else "an error without a word"
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        return traceback.format_exc(limit=-6)
    return ""


@contextmanager
def limits() -> Generator[None]:
    """Limit processor time and memory of what is done inside."""
    old = signal.signal(signal.SIGPROF, _too_long)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_size() + MEMORY, hard))
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGPROF, old)


def _size() -> int:
    pages = Path("/proc/self/statm").read_text("ascii").split()[0]
    return int(pages) * resource.getpagesize()


def _too_long(number: int, frame: object) -> None:
    raise HangError(f"more than {CPU_SECONDS} s of processor time")
