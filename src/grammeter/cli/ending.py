"""How a run ends that cannot go on: a signal, a standard stream that takes nothing, no memory."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType

from grammeter.core.errors import DataError, GrammeterError

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_stopped: list[int] = []
"""The signals that came; shared by a verb and the verbs that it calls."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


class Terminated(KeyboardInterrupt):
    """A signal other than Ctrl-C.

    Python notes a plain :class:`KeyboardInterrupt` that leaves a text it executes, as those of
    dataclasses are, and ends as after Ctrl-C, whatever exit code we return.
    """


@contextmanager
def stopping(*, alone: bool) -> Generator[Callable[[], int]]:
    """Let what else ends programs end the work as Ctrl-C does, so that it is cleaned up.

    Yields a function that says how the work was stopped and returns the exit code: 128 and the
    number of the signal.

    Parameters
    ----------
    alone
        Whether nothing but the end of the process comes afterwards: signals then end it at once.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        _stopped.append(number)
        interrupt = signal.getsignal(signal.SIGINT)  # of asyncio, of a training, of Python
        if not callable(interrupt) or interrupt is signal.default_int_handler:
            raise Terminated
        interrupt(signal.SIGINT, frame)

    def told() -> int:
        if alone:  # a second Ctrl-C while the first one is being told
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        say("terminated" if _stopped else "interrupted")
        return 128 + (_stopped[0] if _stopped else signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        yield told
        return
    ours = [number for number in _SIGNALS if signal.getsignal(number) == signal.SIG_DFL]
    for number in ours:
        signal.signal(number, stop)
    try:
        yield told
    finally:
        if ours:
            _stopped.clear()
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
        if alone and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # nobody is left to tell of it


def open_streams() -> None:
    """Replace standard streams that were closed: what is opened next would take their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def say(text: str) -> None:
    """Print to standard error, if it takes anything."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        drop(sys.stderr)


def drop(stream: object) -> None:
    """Send what a standard stream still holds nowhere: Python would complain at its exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # pyright: ignore


def explained(error: OSError | MemoryError) -> GrammeterError:
    """Return the error of ours for one that no part of the work has explained."""
    if isinstance(error, MemoryError):
        return DataError(
            "there is not enough memory for this",
            fix="Give it less at a time; 'grammeter batch' needs little memory for any length.",
        )
    told = error.strerror or str(error)
    if error.filename is None and error.errno in _FULL:
        drop(sys.stdout)
        return DataError(
            f"cannot be written: {told}",
            where="standard output",
            fix="Make room where it goes to.",
        )
    where = None if error.filename is None else os.fsdecode(error.filename)
    return DataError(told, where=where, fix="Check the path, its permissions, and the disk.")
