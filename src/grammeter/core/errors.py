"""The errors of the package, one class per cause.

::

    GrammeterError
    +-- UsageError              exit 2   a wrong option, name or combination of arguments
    |   +-- UnknownNameError             a name that does not exist; suggests near ones
    +-- DataError               exit 3   what was read is wrong; names file and line
    |   +-- LengthMismatchError          two inputs that must be parallel are not
    +-- MissingResourceError    exit 4   a model, package or data set is absent or damaged
    +-- RemoteError             exit 5   a remote service failed
    +-- LimitReachedError       exit 1   a limit that the user set ended the work; nothing is lost

Every message says what is wrong, where, and what to do about it.
"""

import difflib
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar


class GrammeterError(Exception):
    """Base of all errors that a user can cause or mend.

    ``message`` says in one sentence what is wrong, ``fix`` in one what to do about it; ``where`` is
    ``file`` or ``file:line``, if known.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, where: str | None = None, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        head = f"{self.where}: {self.message}" if self.where else self.message
        return f"{head}\n  {self.fix}" if self.fix else head

    def __reduce__(self) -> tuple[Any, ...]:
        # the parameters of subclasses differ; what travels between processes are the attributes
        return type(self).__new__, (type(self), *self.args), self.__dict__


class UsageError(GrammeterError):
    """A wrong option, name or combination of arguments (exit code 2)."""

    exit_code = 2


class UnknownNameError(UsageError, KeyError):
    """A name that does not exist; the message suggests near ones (exit code 2).

    It is a :class:`KeyError` too, so that ``in`` and ``get`` work on the tables that raise it.
    ``kind`` says what the name should be (``metric``, ``option of gleu``, ``system`` ...),
    ``known`` has all names that exist.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = _near(str(name), names)  # whatever stands in its place
        there = f"There are: {', '.join(names)}." if names else "There is none."
        fix = f"Did you mean {' or '.join(map(repr, near))}?" if near else there
        super().__init__(f"unknown {kind} {name!r}", fix=fix)
        self.name = name
        self.suggestions: tuple[str, ...] = tuple(near)

    @classmethod
    def check(cls, kind: str, name: str, known: Collection[str]) -> None:
        """Raise it unless the name is one of those that exist."""
        if name not in known:
            raise cls(kind, name, known)


def check_drawing(resamples: int, seed: int, confidence: float = 0.95, *, least: int = 0) -> None:
    """Raise UsageError unless resamples of this number, seed and confidence can be drawn."""
    if resamples < least or seed < 0 or not 0 < confidence < 1:
        fault = f"{resamples} resamples or rounds, seed {seed}, confidence {confidence}"
        fix = f"Take {least} or more of them, a seed from 0, a confidence between 0 and 1."
        raise UsageError(fault, fix=fix)


class DataError(GrammeterError):
    """What was read is wrong (exit code 3)."""


class LengthMismatchError(DataError):
    """Two inputs that must be parallel have different numbers of lines (exit code 3)."""

    def __init__(self, first: str, first_count: int, second: str, second_count: int) -> None:
        fix = "Files that are scored together need one line per sentence, in the same order;"
        fix += " look for a missing, an extra or a trailing blank line."
        fault = f"{first_count} lines, but {second} has {second_count}"
        super().__init__(fault, where=first, fix=fix)


class MissingResourceError(GrammeterError):
    """A model, package or data set is not here (exit code 4)."""

    exit_code = 4


class RemoteError(GrammeterError):
    """A remote service failed (exit code 5)."""

    exit_code = 5


class LimitReachedError(GrammeterError):
    """A limit that the user set ended the work; what was done is kept (exit code 1)."""

    exit_code = 1


def words_of(error: BaseException) -> str:
    """Return type and message of somebody else's error on one line, cut where it is long."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _near(name: str, names: list[str]) -> list[str]:
    by_letters = {known.casefold(): known for known in reversed(names)}
    found = difflib.get_close_matches(name.casefold(), by_letters, n=3, cutoff=0.5)
    return [by_letters[letters] for letters in found]


@contextmanager
def disk_faults(
    path: Path, fix: str, fault: str = "cannot be written",
    *, kind: type[GrammeterError] = DataError,
) -> Generator[None]:  # fmt: skip
    """Raise an error, which names ``path``, where the operating system refuses a file."""
    try:
        yield
    except OSError as error:
        raise kind(f"{fault}: {error.strerror or error}", where=str(path), fix=fix) from error
