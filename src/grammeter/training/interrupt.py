"""Ctrl-C delayed to the end of a step, when the state of a training can be written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def held_interrupts() -> Generator[Callable[[], bool]]:
    """Delay the first Ctrl-C to the end of the block; a second one raises at once.

    Yields a function that says whether there was one, so that a loop can end early. Nothing
    changes outside the main thread, or where Ctrl-C does not raise :class:`KeyboardInterrupt`.
    """
    noted: list[int] = []

    def note(number: int, frame: object) -> None:
        del frame
        if noted:
            raise KeyboardInterrupt
        noted.append(number)

    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or (
        handler is not signal.default_int_handler
    ):
        yield lambda: False
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(noted)
    finally:
        signal.signal(signal.SIGINT, handler)
    if noted:
        raise KeyboardInterrupt
