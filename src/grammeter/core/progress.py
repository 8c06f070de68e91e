"""Progress of long work: loops report here, the shell decides whether anything is shown."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

Step = TypeVar("Step")
Value = TypeVar("Value")

Reporter = Callable[[str, int, int], None]
"""Called with a label, how many items are done, and how many there are."""

_reporter: ContextVar[Reporter | None] = ContextVar("reporter", default=None)


@contextmanager
def in_force(variable: ContextVar[Value], value: Value) -> Generator[Value]:
    """Give a variable a value inside the block."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def reporting(reporter: Reporter) -> AbstractContextManager[Reporter | None]:
    """Send the progress of everything inside to ``reporter``; without it nothing is sent."""
    return in_force(_reporter, reporter)


def track(items: Iterable[Step], label: str, total: int | None = None) -> Iterator[Step]:
    """Pass items on and report how many are done; costs nothing where nobody listens."""
    reporter = _reporter.get()
    if reporter is None:
        yield from items
        return
    size = total if total is not None else len(items) if isinstance(items, Sized) else 0
    reporter(label, 0, size)
    for done, item in enumerate(items, start=1):
        yield item
        reporter(label, done, size)


@contextmanager
def labelled(label: str) -> Generator[None, None, None]:
    """Put a label before those of everything inside: which of several parts is at work."""
    reporter = _reporter.get()
    if reporter is None:
        yield
        return
    with reporting(lambda inner, done, total: reporter(f"{label}, {inner}", done, total)):
        yield


def silent() -> AbstractContextManager[Reporter | None]:
    """Let nothing inside report: short loops within one that reports itself."""
    return in_force(_reporter, None)


def tell(label: str, done: int, total: int) -> None:
    """Report that ``done`` of ``total`` items are finished; 0 of them: not known how many."""
    reporter = _reporter.get()
    if reporter is not None:
        reporter(label, done, total)
