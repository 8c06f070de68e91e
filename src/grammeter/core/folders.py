"""Where caches lie, and what belongs to the user."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "GRAMMETER_CACHE"
"""Names the folder of caches; ``off`` does without."""

OFF = "off"


def cache_folder(given: str | Path | None = None) -> Path | None:
    """Return the folder of caches; ``None`` where there shall be none, or no place for one.

    ``given`` is a folder, ``off``, or ``None``: that of ``GRAMMETER_CACHE``, else the user's.
    """
    chosen = str(given or os.environ.get(VARIABLE) or "")
    if chosen == OFF:
        return None
    if chosen:
        return expanded(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "grammeter"
    own = home()
    return None if own is None else own / ".cache" / "grammeter"


def expanded(path: str | Path) -> Path:
    """Return a path whose ``~`` stands for a user's folder; as it is where nobody has one."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def home() -> Path | None:
    """Return the user's own folder; services and containers may have none."""
    try:
        return Path.home()
    except RuntimeError:
        return None
