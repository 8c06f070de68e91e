"""Other packages: optional ones, imported on use, and those that bring classes of their own."""

import importlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any, cast

from grammeter.core.errors import MissingResourceError

METRICS = "grammeter.metrics"
"""The entry point group in which other packages announce their metrics."""

_alone = False  # whether this process does nothing but run the command line


def require(module: str, *, extra: str, instead: str = "") -> ModuleType:
    """Import an optional module by its dotted name, ``"pyarrow.parquet"``.

    ``extra`` is the extra of this package that brings it, ``"records"``: if it is not installed,
    the MissingResourceError has the pip line, and what does without (``instead``).
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or package != error.name.partition(".")[0]:
            raise  # the module is there, something that it needs is broken: show that
        fault = f"this needs the package {package!r}, which is not installed"
        fix = f"Run: {how_to_install(extra)}{instead and f'. {instead}'}"
        raise MissingResourceError(fault, fix=fix) from None


def how_to_install(extra: str) -> str:
    """Return the command that brings an extra, and what it assumes."""
    return f"pip install 'grammeter[{extra}]'; in a checkout: pip install '.[{extra}]'"


def stand_alone() -> None:
    """Say that this process runs the command line and nothing else."""
    global _alone  # noqa: PLW0603
    _alone = True


@contextmanager
def kept_out(module: str) -> Generator[None]:
    """Let imports of an installed module fail for a while.

    For libraries that load another one, seconds long, in case somebody has a use for it. Only
    where the process stands alone: elsewhere the caller may have one later. A module that is
    loaded already stays.
    """
    if not _alone or module in sys.modules:
        yield
        return
    modules = cast("dict[str, Any]", sys.modules)
    modules[module] = None
    try:
        yield
    finally:
        del modules[module]


@cache
def distribution_of(cls: type, group: str = METRICS) -> str | None:
    """Return name and version of the package that announces a class, ``grammeter-exact 0.1``.

    A class that is not announced itself belongs to the package whose announced classes stand in
    the same top-level module. ``None`` for classes of this package, of scripts and of packages
    that announce nothing.
    """
    top = cls.__module__.partition(".")[0]
    if top == __name__.partition(".")[0]:
        return None
    from importlib.metadata import entry_points

    points = [point for point in entry_points(group=group) if point.module.split(".")[0] == top]
    points.sort(key=lambda point: point.value != f"{cls.__module__}:{cls.__qualname__}")
    brought = next((point.dist for point in points if point.dist is not None), None)
    return None if brought is None else f"{brought.name} {brought.version}"
