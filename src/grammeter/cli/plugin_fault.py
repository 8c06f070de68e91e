"""Name the plug-in metric, and its line, that caused an unexpected error."""

from __future__ import annotations

import traceback

from grammeter.core import GrammeterError, UsageError


def plugin_fault(error: Exception) -> GrammeterError | None:
    """Return the error for an exception from a plug-in, with the last line of its code."""
    from grammeter.metrics import announced

    owners = {
        target.partition(":")[0].partition(".")[0]: name for name, target in announced().items()
    }
    named = [
        (owners[package], f"{frame.f_code.co_filename}:{line}")
        for frame, line in traceback.walk_tb(error.__traceback__)
        if (package := str(frame.f_globals.get("__name__")).partition(".")[0]) in owners
    ]
    if not named:
        return None
    metric, where = named[-1]
    fault = UsageError(
        f"metric {metric!r} failed: {type(error).__name__}: {error}",
        where=where,
        fix="Mend the package that brings it; --debug shows the whole way there.",
    )
    fault.__cause__ = error
    return fault
