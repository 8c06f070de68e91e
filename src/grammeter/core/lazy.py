"""Optional packages: imported on use, with the command that installs them when absent."""

from __future__ import annotations

import importlib
from types import ModuleType

from grammeter.core.errors import MissingResourceError


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional module.

    Parameters
    ----------
    module
        Dotted name, ``"pyarrow.parquet"``.
    extra
        The extra of this package that brings it, ``"records"``.

    Raises
    ------
    MissingResourceError
        If the module is not installed; the message has the pip line.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or package != error.name.partition(".")[0]:
            raise  # the module is there, something that it needs is broken: show that
        raise MissingResourceError(
            f"this needs the package {package!r}, which is not installed",
            fix=f"Run: pip install 'grammeter[{extra}]'",
        ) from None
