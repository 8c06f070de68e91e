"""Whose fault an unexpected error is: a metric of another package is named, with its line."""

from __future__ import annotations

import traceback

from grammeter.core import GrammeterError, UsageError


def plugin_fault(error: Exception) -> GrammeterError | None:
    """Return what to tell of an error that came out of a plug-in's code; else ``None``.

    The last line of the plug-in that took part is named: below it may stand numpy's or ours.
    """
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
    told = UsageError(
        f"metric {metric!r} failed: {type(error).__name__}: {error}",
        where=where,
        fix="Mend the package that brings it; --debug shows the whole way there.",
    )
    told.__cause__ = error
    return told
