"""Processes that work for this one: Ctrl-C is its affair, and they end when it does."""

import os
import signal
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from typing import Any

_NAMES = "SIGINT", "SIGTERM", "SIGHUP"
_STOPPING = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


@contextmanager
def workers(
    count: int, prepare: Callable[..., None] | None = None, arguments: tuple[Any, ...] = ()
) -> Generator[ProcessPoolExecutor]:
    """Start a pool of ``count`` processes; each calls ``prepare``; an exception ends them at once.

    Without one they are waited for.
    """
    context = get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    of: Any = {"initializer": _begin, "initargs": (theirs, prepare, arguments)}
    pool = ProcessPoolExecutor(count, context, **of)
    try:
        # the pool starts a process with each of its first tasks, whatever it is: do so here
        with suppress(BrokenProcessPool):
            with _held_signals():
                started = [pool.submit(os.getpid) for _ in range(count)]
            for ready in started:
                ready.result()
        yield pool
        pool.shutdown()
    finally:
        ours.close()
        pool.shutdown(cancel_futures=True)
        theirs.close()


@contextmanager
def _held_signals() -> Generator[None, None, None]:
    """Hold back signals that end programs, inside and in started processes until :func:`_begin`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it would let the signals through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(
    life: Connection, prepare: Callable[..., None] | None, arguments: tuple[Any, ...]
) -> None:
    """Make a process ready: the shell's interrupt is the parent's affair, its end is ours."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
    threading.Thread(target=_end_with, args=(life,), daemon=True).start()
    if prepare is not None:
        prepare(*arguments)


def _end_with(life: Connection) -> None:
    """End this process when the other end of a pipe is closed, as it is when its holder dies."""
    try:
        life.poll(None)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
