"""No output takes the place of a file that the same command reads or writes."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from os.path import exists  # false for what is no name, too
from pathlib import Path
from typing import NamedTuple, cast

from grammeter.core import UsageError

WRITTEN = frozenset({
    "output", "out", "segments", "figure", "figure_williams", "probabilities", "details", "people",
    "target", "copy",
})  # fmt: skip
"""Arguments, by their names in Python, that say where results go."""

READ = frozenset({
    "FILE", "FILE_OR_URL", "SCORES", "JUDGMENTS", "HUMAN", "DATA", "NAME=DATA", "PATH",
    "TEXT|@FILE",
})  # fmt: skip
"""What usage lines call arguments that name files to read."""

STDOUT = "standard output"


class _Named(NamedTuple):
    """A file, and the argument that names it."""

    argument: str
    path: str


def check_outputs(actions: Iterable[argparse.Action], args: argparse.Namespace) -> None:
    """Refuse an output that is an input, or two outputs in one file, links followed.

    Raises
    ------
    UsageError
        Before anything is read or written.
    """
    outputs = [
        *(one for action in actions if action.dest in WRITTEN for one in _named(action, args)),
        *_redirected(),
    ]
    inputs = [
        one
        for action in actions
        if action.dest not in WRITTEN and _shown(action) in READ
        for one in _named(action, args)
    ]
    for at, output in enumerate(outputs):
        for taken in (one for one in inputs if _is_part(output.path, one.path)):
            raise UsageError(
                f"{output.path}: {output.argument} would take the place of a file that it is made"
                f" from ({taken.argument})",
                fix="Name another file.",
            )
        for other in (one for one in outputs[at + 1 :] if _same(output.path, one.path)):
            raise UsageError(
                f"{output.path}: {output.argument} and {other.argument} would be one file",
                fix="Name two files.",
            )


def _named(action: argparse.Action, args: argparse.Namespace) -> Iterator[_Named]:
    """Yield the files that an argument names."""
    value: object = getattr(args, action.dest, None)
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    argument = action.option_strings[-1] if action.option_strings else _shown(action)
    return (_Named(argument, text) for text in values if isinstance(text, str) and text != "-")


def _is_part(path: str, spelled: str) -> bool:
    """Whether a file is named by an argument: ``FILE``, ``@FILE``, ``NAME=FILE``, ``FILE:FILE``."""
    value = spelled.partition("=")[2]
    pieces = [spelled, spelled.removeprefix("@"), value, *spelled.split(":"), *value.split(":")]
    return any(_same(path, piece) for piece in pieces if piece)


def _shown(action: argparse.Action) -> str:
    return action.metavar if isinstance(action.metavar, str) else action.dest.upper()


def _redirected() -> Iterator[_Named]:
    """Yield the file that the shell has opened for standard output, if it is one."""
    try:
        if stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode):
            yield _Named(STDOUT, f"/dev/fd/{sys.stdout.fileno()}")
    except (OSError, ValueError, AttributeError):
        return


def _same(one: str, other: str) -> bool:
    """Whether two names are of one file; devices such as ``/dev/null`` take any number."""
    try:
        if exists(one) and exists(other):
            return not _is_device(one) and os.path.samefile(one, other)
        return Path(one).resolve() == Path(other).resolve()
    except (OSError, ValueError, RuntimeError):  # no possible name, a loop of links
        return False


def _is_device(path: str) -> bool:
    return not stat.S_ISREG(mode := Path(path).stat().st_mode) and not stat.S_ISDIR(mode)
