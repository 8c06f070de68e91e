"""Optional packages: imported on use, with the command that installs them when absent."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, cast

from grammeter.core.errors import MissingResourceError

_alone = False
"""Whether this process does nothing but run the command line."""


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional module by its dotted name, ``"pyarrow.parquet"``.

    ``extra`` is the extra of this package that brings it, ``"records"``: if it is not installed,
    the MissingResourceError has the pip line.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or package != error.name.partition(".")[0]:
            raise  # the module is there, something that it needs is broken: show that
        fault = f"this needs the package {package!r}, which is not installed"
        raise MissingResourceError(fault, fix=f"Run: {how_to_install(extra)}") from None


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
