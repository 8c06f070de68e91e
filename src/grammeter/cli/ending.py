"""Runs that must stop: a stream that cannot be written, no memory, a fault of a plug-in."""

import errno
import os
import sys
from contextlib import suppress

from grammeter.core import DataError, GrammeterError, UsageError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def open_streams() -> None:
    """Replace closed standard streams: other files would get their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def say(text: str) -> None:
    """Print to standard error, if possible."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        drop(sys.stderr)


def drop(stream: object) -> None:
    """Discard the buffer of a standard stream: Python would complain at its exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # pyright: ignore


def explained(error: OSError | MemoryError) -> GrammeterError:
    """Convert an error of the system to one of ours."""
    if isinstance(error, MemoryError):
        fix = "Give it less at a time; 'grammeter batch' needs little memory for any length."
        return DataError("there is not enough memory for this", fix=fix)
    reason = error.strerror or str(error)
    if error.filename is None and error.errno in _FULL:
        drop(sys.stdout)
        fix = "Make room where it goes to."
        return DataError(f"cannot be written: {reason}", where="standard output", fix=fix)
    where = None if error.filename is None else os.fsdecode(error.filename)
    return DataError(reason, where=where, fix="Check the path, its permissions, and the disk.")


def plugin_fault(error: Exception) -> GrammeterError | None:
    """Return the error for an exception from a plug-in, with the last line of its code."""
    import traceback

    from grammeter.metrics import announced

    owners = {target.split(":")[0].split(".")[0]: name for name, target in announced().items()}
    named = [
        (owners[package], f"{frame.f_code.co_filename}:{line}")
        for frame, line in traceback.walk_tb(error.__traceback__)
        if (package := str(frame.f_globals.get("__name__")).partition(".")[0]) in owners
    ]
    if not named:
        return None
    metric, where = named[-1]
    text = f"metric {metric!r} failed: {type(error).__name__}: {error}"
    fix = "Mend the package that brings it; --debug shows the whole way there."
    fault = UsageError(text, where=where, fix=fix)
    fault.__cause__ = error
    return fault
