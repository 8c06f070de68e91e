"""Ctrl-C between two steps, where the state of a training can be kept, and not inside one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def held_interrupts() -> Generator[Callable[[], bool]]:
    """Note the first Ctrl-C and raise it at the end of the block; a second one raises at once.

    Yields a function that says whether there was one, so that a loop may end early. Signals are
    left as they are outside the main thread, and where Ctrl-C does not raise
    :class:`KeyboardInterrupt` anyway.
    """
    noted: list[int] = []

    def note(number: int, frame: object) -> None:
        del frame
        if noted:
            raise KeyboardInterrupt
        noted.append(number)

    own = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or (
        own is not signal.default_int_handler
    ):
        yield lambda: False
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(noted)
    finally:
        signal.signal(signal.SIGINT, own)
    if noted:
        raise KeyboardInterrupt
